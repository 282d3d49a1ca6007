"""The trajectory tools and evaluators of Strands Evals."""

from __future__ import annotations

from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, Sequence, View, number, share

_CHOICES = {"trajectory": ("names", "json of call")}


def _steps(v: View, trajectory: str) -> Sequence:
    return v.names if trajectory == "names" else v.calls(Equality.JSON_TEXT)


def exact_match_scorer(v: View, *, trajectory: str = "names") -> Any:
    """Equal steps by position over the expected ones."""
    v.refuse(v.m == 0, "ZeroDivisionError: division by zero")
    return share(_steps(v, trajectory).same, v.m, of_nothing=0.0)


def in_order_match_scorer(v: View, *, trajectory: str = "names") -> Any:
    """Expected steps found one after the other."""
    return share(_steps(v, trajectory).followed, v.m, of_nothing=1.0)


def any_order_match_scorer(v: View, *, trajectory: str = "names") -> Any:
    """Different expected steps found, over all expected ones."""
    return share(_steps(v, trajectory).both, v.m, of_nothing=1.0)


def tool_called(v: View, *, tool_name: str) -> Any:
    """Whether a tool was called."""
    return number(v.called(tool_name))


strands = Dialect(
    name="strands",
    library="strands-agents-evals",
    version="1.7.0",
    source="strands_evals.tools.evaluation_tools and strands_evals.evaluators.deterministic of the package",
    reading=Reading("keeps", missing="apart"),
    metrics=(
        Metric("exact_match_scorer", exact_match_scorer, "|{i : aᵢ = eᵢ}| / m", "share", choices=_CHOICES),
        Metric(
            "in_order_match_scorer",
            in_order_match_scorer,
            "expected steps found one after the other, each as early as possible, / m",
            "share",
            choices=_CHOICES,
        ),
        Metric("any_order_match_scorer", any_order_match_scorer, "|S(a) ∩ S(e)| / m", "share", choices=_CHOICES),
        Metric(
            "tool_called",
            tool_called,
            "1 if tool_name ∈ S(a), else 0",
            "share",
            also=("ToolCalled",),
            names_only=True,
            column=False,
        ),
    ),
    equality="of steps, which are names; with trajectory = json of call the JSON text of name and arguments, keys sorted",
    empties=(
        "where m = 0 exact_match_scorer raises, the other two are 1; as JSON a call without arguments, one with null and "
        "one with {} are three steps"
    ),
    duplicates="any_order_match_scorer takes a set but divides by the length: an expected step that repeats keeps it below 1",
    bugs="extra steps cost nothing; a step missed early costs in_order_match_scorer all steps after it",
)
