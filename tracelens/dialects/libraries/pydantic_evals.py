"""The span-based evaluators of Pydantic Evals."""

from __future__ import annotations

from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, Number, View, f1, number, share, true, where

_MODES = {"match_mode": ("exact", "subset")}


def _counted(v: View, *, include_failed: bool) -> View:
    return v if include_failed else v.without_failed()


def tool_correctness(v: View, *, allow_extra: bool = False, include_failed: bool = False) -> Any:
    """The expected multiset of names."""
    v = _counted(v, include_failed=include_failed)
    covered = v.names.overlap == v.m
    return true(covered if allow_extra else covered & (v.names.overlap == v.n))


def trajectory_exact(v: View, *, include_failed: bool = False) -> Any:
    """Equal lists of names."""
    return number(_counted(v, include_failed=include_failed).names.equal)


def trajectory_in_order(v: View, *, include_failed: bool = False) -> Any:
    """F1 of the longest common subsequence."""
    v = _counted(v, include_failed=include_failed)
    return _f1_of(v, v.names.lcs)


def trajectory_any_order(v: View, *, include_failed: bool = False) -> Any:
    """F1 of the multiset overlap."""
    v = _counted(v, include_failed=include_failed)
    return _f1_of(v, v.names.overlap)


def _f1_of(v: View, common: Number) -> Any:
    precision, recall = share(common, v.n, of_nothing=0.0), share(common, v.m, of_nothing=0.0)
    return where((v.n == 0) & (v.m == 0), 1.0, f1(precision, recall))


def trajectory_match(v: View, *, order: str = "in_order", include_failed: bool = False) -> Any:
    """One of the three."""
    chosen = {"exact": trajectory_exact, "in_order": trajectory_in_order, "any_order": trajectory_any_order}
    return chosen[order](v, include_failed=include_failed)


def argument_correctness(
    v: View, *, match_mode: Any = "subset", occurrence: str | int = "first", include_failed: bool = False
) -> Any:
    """The arguments of the first expected tool."""
    v.refuse(v.m == 0, "nothing is expected whose arguments could be checked")
    return true(_counted(v, include_failed=include_failed).first_expected(Equality.PYTHON, match_mode, occurrence))


pydantic_evals = Dialect(
    name="pydantic-evals",
    library="pydantic-evals (ToolCorrectness, TrajectoryMatch, ArgumentCorrectness)",
    version="2.62.0",
    source="pydantic_evals.evaluators.agentic of the package",
    reading=Reading("parses", broken="fails", missing="fails"),
    metrics=(
        Metric(
            "tool_correctness",
            tool_correctness,
            "a = e as multisets; with allow_extra e ⊆ a",
            also=("ToolCorrectness",),
            names_only=True,
        ),
        Metric("trajectory_exact", trajectory_exact, "1 if a = e, in order, else 0", "share", names_only=True),
        Metric("trajectory_in_order", trajectory_in_order, "2 · LCS(a, e) / (n + m)", "share", names_only=True),
        Metric(
            "trajectory_any_order",
            trajectory_any_order,
            "2 · |a ∩ e| / (n + m), of multisets",
            "share",
            names_only=True,
        ),
        Metric(
            "trajectory_match",
            trajectory_match,
            "trajectory_exact, trajectory_in_order or trajectory_any_order by its order",
            "share",
            also=("TrajectoryMatch",),
            choices={"order": ("exact", "in_order", "any_order")},
            names_only=True,
            column=False,
        ),
        Metric(
            "argument_correctness",
            argument_correctness,
            "args(e₁) ⊆ args of the first call of that tool in A; with match_mode = exact they are equal",
            also=("ArgumentCorrectness",),
            choices=_MODES,
        ),
    ),
    equality="names as they are; values of arguments by == of the parsed JSON",
    empties=(
        "the trajectories are 1 where both are empty, 0 where one is; argument_correctness needs an expected call, and "
        "is false for one that was made without arguments, or with null"
    ),
    duplicates="counted; argument_correctness looks at one occurrence of the tool",
    bugs=(
        "calls that ended in an error do not count unless include_failed; argument_correctness is made for one tool, "
        "here the first expected one, which has {} where it has no arguments, while null or text raise; == takes true for 1"
    ),
    skips_failed=True,
)
