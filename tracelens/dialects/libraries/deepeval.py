"""The tool correctness metric of DeepEval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, View, number, share

INPUT, OUTPUT = "input_parameters", "output"
_NO_KEY = (
    "DeepEvalError: OpenAI API key is not configured. Set OPENAI_API_KEY in your environment or pass `api_key` to "
    "OpenAIModel(...)."
)


def tool_correctness(
    v: View,
    *,
    evaluation_params: Sequence[str] = (),
    should_exact_match: bool = False,
    should_consider_ordering: bool = False,
    model: str | None = None,
) -> Any:
    """Similar calls over the expected ones."""
    v.refuse(model is not None, _NO_KEY)
    inputs, outputs = INPUT in evaluation_params, OUTPUT in evaluation_params
    if should_exact_match:
        return _exact(v, inputs=inputs, outputs=outputs)
    if inputs or outputs:
        found = v.similarity(ordered=should_consider_ordering, inputs=inputs, outputs=outputs)
    elif should_consider_ordering:
        found = v.names.lcs
    else:
        found = v.unlike_calls(Equality.PYTHON)
    return share(found, v.m, of_nothing=0.0) + ((v.n == 0) & (v.m == 0))


def _exact(v: View, *, inputs: bool, outputs: bool) -> Any:
    equal = (v.calls(Equality.PYTHON) if inputs else v.names).equal
    return number(equal & v.same_outputs if outputs else equal)


def ordered(v: View, *, evaluation_params: Sequence[str] = ()) -> Any:
    """With should_consider_ordering."""
    return tool_correctness(v, evaluation_params=evaluation_params, should_consider_ordering=True)


def exact(v: View, *, evaluation_params: Sequence[str] = ()) -> Any:
    """With should_exact_match."""
    return tool_correctness(v, evaluation_params=evaluation_params, should_exact_match=True)


deepeval = Dialect(
    name="deepeval",
    library="deepeval (ToolCorrectnessMetric)",
    version="4.3.1",
    source="deepeval.metrics.tool_correctness of the package, without available_tools",
    reading=Reading(
        "refuses",
        "ValidationError: 1 validation error for ToolCall: input_parameters: Input should be a valid dictionary",
        missing="null",
    ),
    metrics=(
        Metric(
            "tool_correctness",
            tool_correctness,
            "|e ∩ names of S(A)| / m, of multisets; with input_parameters each pair counts by its similar arguments",
            "share",
            also=("ToolCorrectnessMetric",),
        ),
        Metric("tool_correctness_ordered", ordered, "LCS(a, e) / m; with input_parameters weighted", "share"),
        Metric("tool_correctness_exact", exact, "1 if a = e (with input_parameters: A = E), in order, else 0", "share"),
    ),
    equality=(
        "names as they are; with evaluation_params = input_parameters the share of all names of arguments whose values "
        "are equal by ==, objects within counting by their own share"
    ),
    empties="1 where both are empty, 0 where only E is; a call without arguments, or with null, is no call with {}",
    duplicates="a call equal to one already used (name, arguments and output) is used with it",
    bugs=(
        "calls are told apart by their values, so two equal calls answer to one expected call, even where only names "
        "are compared; calls beyond the expected ones cost nothing; arguments that are None raise where they meet "
        "others; without a model the constructor asks for an API key it does not need"
    ),
)
