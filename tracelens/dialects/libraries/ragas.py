"""The tool call metrics of Ragas."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, View, f1, share, where


def tool_call_accuracy(v: View, *, strict_order: bool = True) -> Any:
    """Arguments that agree, where the names do."""
    if not strict_order:
        v = v.in_text_order()
    aligned = v.names.equal
    score = share(v.matched_arguments(Equality.STR), v.m, of_nothing=0.0) * aligned
    return where((v.n == 0) & (v.m == 0), 1.0, score)


def tool_call_f1(v: View) -> Any:
    """F1 of the sets of calls."""
    calls = v.calls(Equality.PYTHON)
    precision = share(calls.both, calls.distinct_a, of_nothing=0.0)
    recall = share(calls.both, calls.distinct_e, of_nothing=0.0)
    return _rounded(f1(precision, recall))


def _rounded(value: Any) -> Any:
    """To four digits, as Python rounds."""
    if not isinstance(value, np.ndarray):
        return round(value, 4)
    known, at = np.unique(value, return_inverse=True)
    return np.array([round(each, 4) for each in known.tolist()])[at]


ragas = Dialect(
    name="ragas",
    library="ragas (ToolCallAccuracy, ToolCallF1)",
    version="0.4.3",
    source="ragas.metrics and ragas.metrics.collections of the package, which agree",
    reading=Reading(
        "refuses",
        "ValidationError: 1 validation error for ToolCall: args: Input should be a valid dictionary",
        null="refuses",
    ),
    metrics=(
        Metric(
            "tool_call_accuracy",
            tool_call_accuracy,
            "0 unless a = e; else the mean over E of (expected arguments with equal text / expected arguments)",
            "share",
            also=("ToolCallAccuracy",),
        ),
        Metric("tool_call_f1", tool_call_f1, "F1 of S(A) and S(E), to four digits", "share", also=("ToolCallF1",)),
    ),
    equality='accuracy: each expected argument by str(), so 1 equals "1" but not 1.0; F1: name and arguments by ==',
    empties="accuracy is 1 where both are empty, 0 where one is; F1 is 0 where either is, also where both are; null for "
    "arguments is refused, calls without any, which its types do not know, are taken for calls with {}",
    duplicates="accuracy goes by position; F1 does not see them",
    bugs=(
        "accuracy ignores arguments that were not expected, and an expected call with none is wrong as soon as one is "
        "made; one call too many or too few makes it 0; text of objects depends on the order of their keys; "
        "with strict_order = false both lists are sorted by name and text and then held against each other"
    ),
)
