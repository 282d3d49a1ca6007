"""The exact mode of MLflow's tool call correctness."""

from __future__ import annotations

from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, View, true

_NO_EXPECTATIONS = (
    "MlflowException: should_exact_match=True requires expectations to be provided. Cannot perform exact matching "
    "without ground truth."
)
_NO_DICT = (
    "ValidationError: 2 validation errors for FunctionCall: arguments: Input should be a valid string or dictionary"
)


def tool_call_correctness(v: View, *, should_consider_ordering: bool = False, should_exact_match: bool = True) -> Any:
    """Equal calls, as a set or in order."""
    v.refuse(not should_exact_match, "the judgement of a language model is not reproduced")
    made, wanted = v.odd
    v.refuse(any(not isinstance(call.arguments, str) for call in made), _NO_DICT)
    v.refuse(v.m == 0, _NO_EXPECTATIONS)
    for call in wanted:
        v.refuse(True, _invalid(call.given))
    names, given = v.names, v.all_given
    if made and given and v.n == v.m:
        v.refuse(True, _invalid(made[0].arguments))
    same = names.equal if should_consider_ordering else _one_set(names)
    calls = v.calls(Equality.JSON_TEXT)
    alike = calls.equal if should_consider_ordering else _one_set(calls)
    return true((v.n == v.m) & ((given & alike) | (_not(given) & same)))


def _invalid(arguments: Any) -> str:
    return f"MlflowException: Invalid arguments type: {type(arguments)}. Arguments must be a dict."


def _one_set(things: Any) -> Any:
    return (things.both == things.distinct_a) & (things.both == things.distinct_e)


def _not(truth: Any) -> Any:
    return ~truth if hasattr(truth, "any") else not truth


def ordered(v: View) -> Any:
    """With should_consider_ordering."""
    return tool_call_correctness(v, should_consider_ordering=True)


mlflow = Dialect(
    name="mlflow",
    library="mlflow (ToolCallCorrectness)",
    version="3.17.2",
    source="mlflow.genai.scorers.builtin_scorers of the package, with should_exact_match = true",
    reading=Reading("parses", broken="keeps", null="none", others="empties", named_by=("call", "tool_name")),
    metrics=(
        Metric(
            "tool_call_correctness",
            tool_call_correctness,
            "n = m and S(A) = S(E)",
            also=("ToolCallCorrectness",),
            said=("yes", "no"),
        ),
        Metric("tool_call_correctness_ordered", ordered, "A = E, in order", said=("yes", "no")),
    ),
    equality="name and json.dumps(arguments, sort_keys=True): 1, 1.0 and true are three values",
    empties="nothing expected is refused; null, and no arguments at all, are {} in a call that was made",
    duplicates="the lists must be equally long, but repeated calls are one: a, a, b equals a, b, b",
    bugs=(
        "arguments count only if every expected call has some: one name-only entry switches them off for all; without "
        "order two lists of equal length and equal sets are equal; arguments that are a string are refused only where "
        "they are compared, so not between lists of unequal length, and a list or a number always, but an empty list, "
        "0, false and null are no arguments; a call whose arguments hold a tool_name under call has that name"
    ),
)
