"""The trajectory evaluator of Google's Agent Development Kit."""

from __future__ import annotations

from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, Sequence, View, number


def _compared(v: View, *, ignore_args: bool) -> Sequence:
    return v.names if ignore_args else v.calls(Equality.PYTHON)


def exact(v: View, *, ignore_args: bool = False) -> Any:
    """Equal lists."""
    return number(_compared(v, ignore_args=ignore_args).equal)


def in_order(v: View, *, ignore_args: bool = False) -> Any:
    """The expected calls one after the other."""
    return number(_compared(v, ignore_args=ignore_args).followed == v.m)


def any_order(v: View, *, ignore_args: bool = False) -> Any:
    """All expected calls."""
    return number(_compared(v, ignore_args=ignore_args).overlap == v.m)


def average(v: View, *, match_type: str = "EXACT", ignore_args: bool = False, turns: int | None = None) -> Any:  # noqa: ARG001 - read before there is a view
    """One of the three."""
    chosen = {"EXACT": exact, "IN_ORDER": in_order, "ANY_ORDER": any_order}[match_type]
    return chosen(v, ignore_args=ignore_args)


adk = Dialect(
    name="adk",
    library="google-adk",
    version="2.13.0",
    source="google.adk.evaluation.trajectory_evaluator of the package",
    reading=Reading(
        "refuses",
        "ValidationError: 1 validation error for FunctionCall: args: Input should be a valid dictionary",
        missing="null",
    ),
    metrics=(
        Metric("exact", exact, "1 if A = E, in order, else 0", "share"),
        Metric("in_order", in_order, "1 if E is a subsequence of A, else 0", "share"),
        Metric("any_order", any_order, "1 if E ⊆ A as multisets, else 0", "share"),
        Metric(
            "tool_trajectory_avg_score",
            average,
            "the mean over the turns of exact, in_order or any_order by match_type",
            "share",
            choices={"match_type": ("EXACT", "IN_ORDER", "ANY_ORDER")},
            column=False,
        ),
    ),
    equality="names as they are; arguments by ==, unless ignore_args",
    empties=(
        "where m = 0, in_order and any_order are 1; no turns at all give no value; a call without arguments, or with "
        "null, is no call with {}"
    ),
    duplicates="each call is used once",
    bugs="== takes true for 1; a trace is one turn, lists of lists are turns and their mean counts",
    turns=True,
)
