"""What libraries call strict, unordered, subset, superset and accuracy, side by side, in one notation."""

from __future__ import annotations

from typing import Any, NamedTuple

from tracelens.dialects import DIALECTS

NOTATION = (
    "A, E: actual and expected calls; a, e: their names; n = |A|, m = |E|; S(x): the set of x; "
    "∩ and ⊆ of lists are those of multisets; E′: E where every call of a tool has the arguments of its last one"
)
EXAMPLE = (
    "values: expected were a search and a booking, made were two searches for another day and a booking with a seat; "
    "– where nothing can be said"
)
"""What the values of `Mode` are about, in words."""

_SEARCH = {"name": "search_flights", "arguments": {"origin": "SFO", "destination": "JFK", "date": "2026-11-03"}}
ACTUAL: tuple[dict[str, Any], ...] = (
    _SEARCH,
    _SEARCH,
    {"name": "book_flight", "arguments": {"flight_id": "UA-512", "seat": "12A"}},
)
"""The worked example: the wrong day searched for twice, and a seat that nobody asked for."""

EXPECTED: tuple[dict[str, Any], ...] = (
    {"name": "search_flights", "arguments": {"origin": "SFO", "destination": "JFK", "date": "2026-11-02"}},
    {"name": "book_flight", "arguments": {"flight_id": "UA-512"}},
)
"""What was expected there."""

OWN = "tracelens"
"""In place of a dialect: the scores of this package."""

_OWN: dict[str, tuple[tuple[str, str, float], ...]] = {
    "strict": (
        ("strict", "|common prefix of a and e| / max(n, m)", 1 / 3),
        ("exact_order", "1 if a = e, in order, else 0", 0.0),
    ),
    "unordered": (
        ("unordered", "|S(a) ∩ S(e)| / |S(a) ∪ S(e)|", 1.0),
        ("any_order", "1 if e ⊆ a as multisets, else 0", 1.0),
    ),
    "subset": (("subset", "1 if S(e) ⊆ S(a), else 0", 1.0),),
    "superset": (("superset", "1 if S(a) ⊆ S(e), else 0", 1.0),),
    "accuracy": (
        ("accuracy_optimal", "largest Σ over pairs (1 where A = E, ½ where only a = e) / max(n, m)", 1 / 3),
        ("accuracy_positional", "the same by position", 1 / 6),
    ),
}

_WORDS: dict[str, tuple[tuple[str, str], ...]] = {
    "strict": (
        ("article", "strict"), ("futureagi", "strict"), ("agentevals", "trajectory_strict_match"),
        ("agentevals", "graph_trajectory_strict_match"), ("adk", "exact"), ("azure", "exact_match"),
        ("deepeval", "tool_correctness_exact"), ("mlflow", "tool_call_correctness_ordered"),
        ("pydantic-evals", "trajectory_exact"), ("strands", "exact_match_scorer"), ("vertex", "trajectory_exact_match"),
    ),
    "unordered": (
        ("article", "unordered"), ("futureagi", "unordered"), ("agentevals", "trajectory_unordered_match"),
        ("adk", "any_order"), ("azure", "any_order_match"), ("mlflow", "tool_call_correctness"),
        ("pydantic-evals", "tool_correctness"), ("strands", "any_order_match_scorer"),
        ("vertex", "trajectory_any_order_match"),
    ),
    "subset": (("article", "subset"), ("futureagi", "subset"), ("agentevals", "trajectory_subset_match")),
    "superset": (("article", "superset"), ("futureagi", "superset"), ("agentevals", "trajectory_superset_match")),
    "accuracy": (
        ("article", "tool_call_accuracy"), ("futureagi", "tool_call_accuracy"), ("azure", "f1_score"),
        ("ragas", "tool_call_accuracy"), ("ragas", "tool_call_f1"), ("deepeval", "tool_correctness"),
        ("pydantic-evals", "trajectory_in_order"), ("tau2", "action_reward"), ("strands", "in_order_match_scorer"),
        ("vertex", "trajectory_precision"), ("vertex", "trajectory_recall"),
    ),
}  # fmt: skip
WORDS = tuple(_WORDS)
"""The words that libraries share."""


class Mode(NamedTuple):
    """What one library means by a word.

    Attributes:
        word: strict, unordered, subset, superset or accuracy.
        dialect: The dialect, or `OWN`.
        metric: Its name there.
        meaning: In the notation of `NOTATION`.
        value: What it says of the worked example.
    """

    word: str
    dialect: str
    metric: str
    meaning: str
    value: Any

    @property
    def column(self) -> str:
        """The column of `traces` that holds it."""
        return self.metric if self.dialect == OWN else f"{self.dialect}__{self.metric}"


def modes() -> list[Mode]:
    """Every meaning of every word, those of this package first.

    Example:
        >>> [mode.value for mode in modes() if mode.word == "subset"]
        [1.0, 1.0, 1.0, False]
    """
    found = []
    for word, places in _WORDS.items():
        found += [Mode(word, OWN, *own) for own in _OWN[word]]
        for name, metric in places:
            meaning = DIALECTS[name].metric(metric).meaning
            found.append(Mode(word, name, metric, meaning, example(name, metric)))
    return found


def example(dialect: str, metric: str, **params: Any) -> Any:
    """What a library says of the worked example."""
    return DIALECTS[dialect].verdict(metric, list(ACTUAL), list(EXPECTED), **params).value
