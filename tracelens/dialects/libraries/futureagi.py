"""The built-in code evaluations `trajectory_match` and `tool_call_accuracy` of the Future AGI platform."""

from __future__ import annotations

from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, Number, View, number, share, where


def _expecting(v: View, score: Number) -> Any:
    """The score, and where nothing is expected whether nothing was called."""
    return where(v.m == 0, number(v.n == 0), score)


def strict(v: View) -> Any:
    """Common prefix of the names over the longer list."""
    return _expecting(v, share(v.names.prefix, v.names.longer, of_nothing=1.0))


def unordered(v: View) -> Any:
    """Jaccard index of the sets of names."""
    names = v.names
    return _expecting(v, share(names.both, names.distinct_a + names.distinct_e - names.both, of_nothing=1.0))


def subset(v: View) -> Any:
    """Share of the expected names that were called."""
    return _expecting(v, share(v.names.both, v.names.distinct_e, of_nothing=1.0))


def superset(v: View) -> Any:
    """Share of the called names that were expected."""
    return _expecting(v, share(v.names.both, v.names.distinct_a, of_nothing=1.0))


def trajectory_match(v: View, *, mode: str = "strict") -> Any:
    """One of the four."""
    return {"strict": strict, "unordered": unordered, "subset": subset, "superset": superset}[mode](v)


def tool_call_accuracy(v: View) -> Any:
    """Credit where each call takes its best unused expected call, over the longer list."""
    exact, named = v.best_unused(Equality.PYTHON)
    return _expecting(v, share(exact + named * 0.5, v.names.longer, of_nothing=1.0))


futureagi = Dialect(
    name="futureagi",
    library="Future AGI platform (trajectory_match, tool_call_accuracy)",
    version="repository at 5dc9ff237fe0, 2026-08-22",
    source="github.com/future-agi/future-agi, futureagi/model_hub/system_evals/function",
    reading=Reading("parses", broken="keeps", whole_entries=True),
    metrics=(
        Metric("strict", strict, "|common prefix of a and e| / max(n, m)", "share", names_only=True),
        Metric("unordered", unordered, "|S(a) ∩ S(e)| / |S(a) ∪ S(e)|", "share", names_only=True),
        Metric("subset", subset, "|S(e) ∩ S(a)| / |S(e)|", "share", names_only=True),
        Metric("superset", superset, "|S(a) ∩ S(e)| / |S(a)|", "share", names_only=True),
        Metric(
            "trajectory_match",
            trajectory_match,
            "strict, unordered, subset or superset by its mode",
            "share",
            choices={"mode": ("strict", "unordered", "subset", "superset")},
            names_only=True,
            column=False,
        ),
        Metric(
            "tool_call_accuracy",
            tool_call_accuracy,
            "Σ over pairs (1 where A = E, ½ where only a = e) / max(n, m); each call of A takes the best unused of E",
            "share",
        ),
    ),
    equality="names as they are; arguments by ==, JSON text is read first; text that is no JSON is a string",
    empties=(
        "where m = 0 every score is 1 if n = 0, else 0; where only n = 0, superset is 1 and the others are 0; a call "
        "without arguments has {}, one with null, or with blank text, does not"
    ),
    duplicates="the sets do not see them; in tool_call_accuracy each expected call is used once",
    bugs=(
        "subset and superset are shares, not verdicts; tool_call_accuracy depends on the order of the calls: an early "
        "name-only pair takes the expected call that a later one equals; == takes true for 1; it reads calls within "
        "OpenAI's function only for tool_call_accuracy, while trajectory_match compares the text of such entries"
    ),
)
