"""The task navigation efficiency of Azure AI Evaluation."""

from __future__ import annotations

from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, Sequence, View, f1, number, share

GIVEN = ("names+params", "names")
_CHOICES = {"ground_truth": GIVEN}
_NAMES = "EvaluationException: (UserError) Tool names list in 'expected_actions' (also accepted as 'ground_truth') cannot be empty."
_REQUIRED = (
    "EvaluationException: (UserError) 'expected_actions' (also accepted as 'ground_truth') parameter is required and "
    "cannot be None or empty."
)


def _steps(v: View, ground_truth: str) -> Sequence:
    with_params = ground_truth == "names+params"
    v.refuse(v.m == 0, _NAMES if with_params else _REQUIRED)
    v.read_all(expected=False)
    if with_params and (tool := v.last_odd) is not None:
        v.refuse(True, f"EvaluationException: (UserError) Parameters for tool '{tool}' must be a dictionary.")
    v = v.with_trimmed_names()
    return v.calls(Equality.PLAIN_TEXT, last_given=True) if with_params else v.names


def exact_match(v: View, *, ground_truth: str = "names+params") -> Any:
    """Equal lists."""
    return number(_steps(v, ground_truth).equal)


def in_order_match(v: View, *, ground_truth: str = "names+params") -> Any:
    """The expected steps one after the other."""
    return number(_steps(v, ground_truth).followed == v.m)


def any_order_match(v: View, *, ground_truth: str = "names+params") -> Any:
    """All expected steps."""
    return number(_steps(v, ground_truth).overlap == v.m)


def efficiency(v: View, *, matching_mode: str = "exact_match", ground_truth: str = "names+params") -> Any:
    """One of the three."""
    chosen = {"exact_match": exact_match, "in_order_match": in_order_match, "any_order_match": any_order_match}
    return chosen[matching_mode](v, ground_truth=ground_truth)


def precision_score(v: View, *, ground_truth: str = "names+params") -> Any:
    """Overlap over the steps taken."""
    return share(_steps(v, ground_truth).overlap, v.n, of_nothing=0.0)


def recall_score(v: View, *, ground_truth: str = "names+params") -> Any:
    """Overlap over the steps expected."""
    return share(_steps(v, ground_truth).overlap, v.m, of_nothing=0.0)


def f1_score(v: View, *, ground_truth: str = "names+params") -> Any:
    """Their harmonic mean."""
    return f1(precision_score(v, ground_truth=ground_truth), recall_score(v, ground_truth=ground_truth))


azure = Dialect(
    name="azure",
    library="azure-ai-evaluation (TaskNavigationEfficiency)",
    version="1.18.10",
    source="azure.ai.evaluation._evaluators._task_navigation_efficiency of the package",
    reading=Reading(
        "parses",
        broken_complaint="EvaluationException: (UserError) Failed to parse tool call arguments as JSON.",
        null="none",
        others="none",
    ),
    metrics=(
        Metric("exact_match", exact_match, "1 if A = E′, in order, else 0", "share", choices=_CHOICES),
        Metric("in_order_match", in_order_match, "1 if E′ is a subsequence of A, else 0", "share", choices=_CHOICES),
        Metric("any_order_match", any_order_match, "1 if E′ ⊆ A as multisets, else 0", "share", choices=_CHOICES),
        Metric("precision_score", precision_score, "|A ∩ E′| / n, of multisets", "share", choices=_CHOICES),
        Metric("recall_score", recall_score, "|A ∩ E′| / m, of multisets", "share", choices=_CHOICES),
        Metric("f1_score", f1_score, "harmonic mean of both", "share", choices=_CHOICES),
        Metric(
            "task_navigation_efficiency",
            efficiency,
            "exact_match, in_order_match or any_order_match by matching_mode",
            "share",
            also=("TaskNavigationEfficiency",),
            choices={**_CHOICES, "matching_mode": ("exact_match", "in_order_match", "any_order_match")},
            column=False,
        ),
    ),
    equality=(
        "names trimmed; with ground_truth = names+params each argument by its text: str() of plain values, "
        'json.dumps(sort_keys=True) of objects and lists, a string as it is, so 1 equals "1" but not 1.0'
    ),
    empties=(
        "nothing expected is refused; where n = 0, precision, recall and F1 are 0; a call without arguments, or with "
        "null, has {}, but expected parameters that are null or text are refused"
    ),
    duplicates="counted",
    bugs=(
        "the ground truth has one set of parameters per tool name, so every expected call of a tool is taken to have "
        "those of the last one (E′), and one whose name has blanks around it to have none; arguments that are no object "
        "count as none"
    ),
)
