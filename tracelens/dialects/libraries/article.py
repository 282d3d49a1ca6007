"""The worked example of the article on four rungs: its own functions for structure, calls, trajectory and accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, View, number, share


def strict(v: View) -> Any:
    """Common prefix of the names over the longer list."""
    return share(v.names.prefix, v.names.longer, of_nothing=0.0)


def unordered(v: View) -> Any:
    """Jaccard index of the sets of names."""
    names = v.names
    return share(names.both, names.distinct_a + names.distinct_e - names.both, of_nothing=0.0)


def subset(v: View) -> Any:
    """Whether every expected name was called."""
    return number(v.names.both == v.names.distinct_e)


def superset(v: View) -> Any:
    """Whether every called name was expected."""
    return number(v.names.both == v.names.distinct_a)


def tool_call_accuracy(v: View) -> Any:
    """Credit by position over the longer list."""
    v.read_met()
    exact, named = v.calls(Equality.FOLDED).same, v.names.same
    return share(exact + 0.5 * (named - exact), v.names.longer, of_nothing=0.0)


def exact_match(v: View) -> Any:
    """Verdicts by position."""
    v.read_met()
    return v.positions(Equality.FOLDED)


def trace_score(v: View) -> Any:
    """Calls that stand in the golden trace, over its length."""
    return 100 * share(v.names.known_a, v.m, of_nothing=0.0)


def structure_errors(v: View, *, schemas: Mapping[str, Any] | None = None) -> Any:
    """Errors of the schemas."""
    return v.schema_errors(schemas)


article = Dialect(
    name="article",
    library="the listings of the article on evaluating agents in four rungs",
    version="jsonschema 4.26.0",
    source="the article; values obtained by running its listings",
    reading=Reading("keeps"),
    metrics=(
        Metric("strict", strict, "|common prefix of a and e| / max(n, m)", "share", names_only=True),
        Metric("unordered", unordered, "|S(a) ∩ S(e)| / |S(a) ∪ S(e)|", "share", names_only=True),
        Metric("subset", subset, "1 if S(e) ⊆ S(a), else 0", "share", names_only=True),
        Metric("superset", superset, "1 if S(a) ⊆ S(e), else 0", "share", names_only=True),
        Metric(
            "tool_call_accuracy",
            tool_call_accuracy,
            "Σ over positions (1 where A = E, ½ where only a = e) / max(n, m)",
            "share",
        ),
        Metric(
            "exact_match_rows",
            exact_match,
            "by position: whether A = E, or extra, or missing",
            "verdicts",
            also=("exact_match",),
        ),
        Metric("trace_score", trace_score, "100 · |{i : aᵢ ∈ S(e)}| / m", "score", names_only=True),
        Metric(
            "structure_errors",
            structure_errors,
            "errors of the tools' schemas over A, 1 for an unknown tool",
            "count",
        ),
    ),
    equality="names as they are; arguments by ==, strings that are arguments themselves trimmed and in upper case",
    empties=(
        "strict, unordered and tool_call_accuracy are 0 where both lists are empty; trace_score is 0 where m = 0; calls "
        "without arguments are taken for calls with {}"
    ),
    duplicates="strict and tool_call_accuracy go by position; sets do not see them; trace_score counts each",
    bugs=(
        "trace_score exceeds 100 where expected tools are called again; == takes true for 1; arguments as JSON text, or "
        "null, raise where they meet a call of their name"
    ),
)
