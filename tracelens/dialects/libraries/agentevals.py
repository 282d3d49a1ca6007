"""The trajectory evaluators of LangChain's agentevals."""

from __future__ import annotations

from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, Mode, Overrides, View, true

MODES = ("exact", "ignore", "subset", "superset")
_PARAMS = {"tool_args_match_mode": MODES}


def strict(
    v: View,
    *,
    tool_args_match_mode: Mode = "exact",
    tool_args_match_overrides: Overrides = None,
    parallel: bool = False,
) -> Any:
    """The same messages in order; within a message the calls in any order."""
    v.read_all()
    args = (Equality.PYTHON, tool_args_match_mode, tool_args_match_overrides)
    if getattr(v, "messages", (None, None))[1] is not None:
        return _same_messages(v, args)
    if parallel:
        return true((v.n == v.m) & (v.fitted(*args, of="actual") == v.n))
    return true((v.n == v.m) & (v.agreeing(*args) == v.n))


def _same_messages(v: Any, args: tuple[Any, ...]) -> bool:
    """`strict` over chat messages."""
    made, wanted = v.messages
    if made is None or len(made) != len(wanted):
        return False
    for (role, calls), (expected_role, expected) in zip(made, wanted, strict=True):
        if role != expected_role or (calls is None) != (expected is None):
            return False
        if calls is not None and len(calls) != len(expected):
            return False
        part = object.__new__(type(v))
        part.a, part.e = calls or [], expected or []
        if part.fitted(*args, of="actual") != len(part.a):
            return False
    return True


def unordered(v: View, *, tool_args_match_mode: Mode = "exact", tool_args_match_overrides: Overrides = None) -> Any:
    """A superset in both directions."""
    v.read_all()
    args = (Equality.PYTHON, tool_args_match_mode, tool_args_match_overrides)
    covered = v.fitted(*args) == v.m
    return true(covered & (v.fitted(*args, of="actual", swapped=True) == v.n))


def subset(v: View, *, tool_args_match_mode: Mode = "exact", tool_args_match_overrides: Overrides = None) -> Any:
    """Every call made is expected."""
    v.read_all()
    args = (Equality.PYTHON, tool_args_match_mode, tool_args_match_overrides)
    return true(v.fitted(*args, of="actual", swapped=True) == v.n)


def superset(v: View, *, tool_args_match_mode: Mode = "exact", tool_args_match_overrides: Overrides = None) -> Any:
    """Every expected call is made."""
    v.read_all()
    return true(v.fitted(Equality.PYTHON, tool_args_match_mode, tool_args_match_overrides) == v.m)


def graph(v: View) -> Any:
    """The same steps in order."""
    return true(v.names.equal)


agentevals = Dialect(
    name="agentevals",
    library="agentevals",
    version="0.0.9",
    source="agentevals.trajectory and agentevals.graph_trajectory of the package",
    reading=Reading(
        "parses",
        "ValidationError: 1 validation error for AIMessage: tool_calls.args: Input should be a valid dictionary",
        null="refuses",
        others="refuses",
    ),
    metrics=(
        Metric(
            "trajectory_strict_match", strict, "A = E, in order, one call a message", also=("strict",), choices=_PARAMS
        ),
        Metric("trajectory_unordered_match", unordered, "A = E as multisets", also=("unordered",), choices=_PARAMS),
        Metric("trajectory_subset_match", subset, "A ⊆ E as multisets", also=("subset",), choices=_PARAMS),
        Metric("trajectory_superset_match", superset, "A ⊇ E as multisets", also=("superset",), choices=_PARAMS),
        Metric("graph_trajectory_strict_match", graph, "a = e, in order", names_only=True),
    ),
    equality=(
        "names as they are; arguments by == of the parsed JSON, or by tool_args_match_mode: ignore, subset (every "
        "argument made is expected), superset; tool_args_match_overrides may give a mode, key paths or a function a tool"
    ),
    empties=(
        "an empty list is a subset of any and equal only to another empty one; null for arguments raises; calls "
        "without any, of which its messages have none, are taken for calls with {}"
    ),
    duplicates="each call is used once, the first that fits",
    bugs=(
        "subset means the actual calls, the opposite of other libraries; where subset and unordered look from the other "
        "side, the argument modes change sides, too: there superset asks that every argument made is expected; "
        "with argument modes that are no equality the first fit may miss a perfect match; an empty list of keys "
        "falls back to the mode, and a key absent on both sides matches; strict compares messages, so one message "
        "fewer fails; == takes true for 1; text that is no JSON raises, and so do arguments that are no object"
    ),
)
