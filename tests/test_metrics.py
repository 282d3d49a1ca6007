"""The public scores of one pair of lists: cases where scorers are known to go wrong."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

import tracelens as tl
from tracelens import metrics
from tracelens.errors import UsageError


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


SEARCH = call("search_flights", origin="SFO", destination="JFK", date="2026-11-03")
ACTUAL = [SEARCH, SEARCH, call("book_flight", flight_id="UA-512", seat="12A")]
EXPECTED = [
    call("search_flights", origin="SFO", destination="JFK", date="2026-11-02"),
    call("book_flight", flight_id="UA-512"),
]


@pytest.mark.parametrize(
    ("score", "want"),
    [
        ("strict", 0.33),
        ("unordered", 1),
        ("subset", 1),
        ("superset", 1),
        ("subset_partial", 1),
        ("superset_partial", 1),
        ("precision", 0.67),
        ("recall", 1),
        ("f1", 0.8),
        ("lcs", 0.67),
        ("in_order", 1),
        ("any_order", 1),
        ("exact_order", 0),
        ("first_divergence", 1),
        ("accuracy_positional", 0.17),
        ("accuracy_best_unused", 0.33),
        ("accuracy_optimal", 0.33),
        ("accuracy_graded", 0.53),
        ("golden_score", 100),
    ],
)
def test_worked_example(score: str, want: float) -> None:
    assert round(getattr(tl.metrics, score)(ACTUAL, EXPECTED), 2) == want
    assert round(metrics.all_scores(ACTUAL, EXPECTED)[score], 2) == want


@pytest.mark.parametrize(
    ("pairing", "want"),
    [
        ("positional", ["partial", "wrong_name", "extra"]),
        ("best_unused", ["partial", "extra", "partial"]),
        ("optimal", ["partial", "extra", "partial"]),
    ],
)
def test_worked_example_pairs(pairing: str, want: list[str]) -> None:
    assert [row["status"] for row in metrics.pairs(ACTUAL, EXPECTED, pairing)] == want


def test_optimal_accuracy_does_not_depend_on_order() -> None:
    actual = [call("reserve", room=7, nights=9), call("reserve", room=1, nights=2)]
    expected = [call("reserve", room=1, nights=2), call("reserve", room=3, nights=4)]
    for a in permutations(actual):
        for e in permutations(expected):
            assert metrics.accuracy_optimal(a, e) == 0.75
            assert sorted(row["status"] for row in metrics.pairs(a, e)) == ["exact", "partial"]
    assert metrics.accuracy_positional(actual, expected) == 0.5


def test_nothing_expected_and_nothing_done_is_perfect() -> None:
    scores = metrics.all_scores([], [])
    assert scores.pop("first_divergence") is None
    assert {name: value for name, value in scores.items() if not name.startswith("n_")} == {
        name: 100.0 if name == "golden_score" else 1.0 for name in scores if not name.startswith("n_")
    }


def test_identical_calls_are_not_used_up_by_value() -> None:
    polls = [call("poll", job=5)] * 2
    assert metrics.accuracy_optimal(polls, polls) == metrics.accuracy_best_unused(polls, polls) == 1.0


@pytest.mark.parametrize(
    ("actual", "expected", "want"),
    [
        ({"level": True, "tags": [1, 0]}, {"level": 1, "tags": [True, False]}, 0.5),
        ({"n": 1.0}, {"n": 1}, 1.0),
        ({"amount": "100"}, {"amount": 100}, 0.5),
        ({"q": "x", "limit": None}, {"q": "x"}, 0.5),
        ({"id": 9007199254740993}, {"id": 9007199254740992}, 0.5),
        ('{"id": 9007199254740993}', {"id": 9007199254740993}, 1.0),
        ({"city": " Zürich "}, {"city": "ZÜRICH"}, 1.0),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}, 1.0),
        ("", {}, 1.0),
        (None, {}, 1.0),
        ({"x": 1}, {}, 0.5),
        ({"x": 1}, None, 1.0),
        ("{broken", None, 0.5),
        ([1, 2], {"x": 1}, 0.5),
        ('"{\\"x\\": 1}"', {"x": 1}, 1.0),
        ({"x": float("nan")}, {"x": 1}, 0.5),
        ({"id": "UA-512"}, {"id": {"$regex": "^UA"}}, 1.0),
        ({"n": 3}, {"n": {"$range": [1, 2]}}, 0.5),
    ],
)
def test_arguments_compare_as_json(actual: Any, expected: Any, want: float) -> None:
    found = metrics.accuracy_optimal([{"name": "t", "arguments": actual}], [{"name": "t", "arguments": expected}])
    assert found == want


def test_matcher_pairs_are_assigned_best() -> None:
    """A greedy reading gives the exact partner of the second call to the first, which any value satisfies."""
    actual = [call("t", x=1), call("t", x=2)]
    expected = [call("t", x={"$any": True}), call("t", x=1)]
    assert [row["expected"] for row in metrics.pairs(actual, expected)] == [1, 0]
    assert metrics.accuracy_optimal(actual, expected) == 1.0


def test_set_modes_have_a_direction() -> None:
    actual, expected = ["auth", "fetch", "log"], ["auth", "fetch"]
    assert (metrics.subset(actual, expected), metrics.superset(actual, expected)) == (1.0, 0.0)
    assert metrics.strict(actual, expected) == metrics.unordered(actual, expected) == 2 / 3


def test_an_empty_name_equals_nothing() -> None:
    actual = [call("Web_Search", q="a"), call("", q="b")]
    expected = [call("Web Search", q="a"), call("搜索工具", q="b")]
    assert metrics.unordered(actual, expected) == metrics.accuracy_optimal(actual, expected) == 0.0
    assert metrics.strict([call("")], [call("")]) == 0.0


@pytest.mark.parametrize("junk", [None, "a plain string", 7, {"arguments": {}}, {"name": None}, {"name": 5}])
def test_a_malformed_entry_counts_and_hurts_nobody_else(junk: Any) -> None:
    actual, expected = [call("a"), junk, call("b")], [call("a"), call("b")]
    assert [row["status"] for row in metrics.pairs(actual, expected)] == ["exact", "malformed", "exact"]
    assert metrics.accuracy_optimal(actual, expected) == metrics.precision(actual, expected) == 2 / 3


@pytest.mark.parametrize("state", ["not_captured", "truncated"])
def test_arguments_nobody_recorded_are_not_judged(state: str) -> None:
    actual = [{"name": "a", "arguments_state": state}]
    scores = metrics.all_scores(actual, [call("a", x=1)])
    assert scores["accuracy_optimal"] is scores["accuracy_graded"] is scores["n_partial_optimal"] is None
    assert (scores["strict"], scores["n_name_only_optimal"]) == (1.0, 1)
    assert metrics.accuracy_optimal(actual, [call("b")]) == 0.0


def test_parallel_calls_may_come_in_any_order() -> None:
    actual = [{**call(name), "turn": turn} for name, turn in (("a", 0), ("c", 1), ("b", 1))]
    expected = [call("a"), call("b"), call("c")]
    assert metrics.strict(actual, expected) == 1 / 3
    assert metrics.strict(actual, expected, parallel=True) == 1.0
    assert metrics.first_divergence(actual, expected, parallel=True) is None
    assert metrics.accuracy_positional(actual, expected, parallel=True) == 1.0
    assert metrics.golden_score(actual, expected, parallel=True) == 100.0


def test_credits_are_the_callers_to_change() -> None:
    assert metrics.accuracy_optimal([call("a", x=1)], [call("a", x=2)], name=0.25) == 0.25
    assert metrics.accuracy_graded([call("a", x=1, y=1)], [call("a", x=2, y=1)], exact=0.8, name=0.2) == pytest.approx(
        0.5
    )


def test_agreement() -> None:
    assert metrics.agreement(call("a", x=1, y=2, z=3), call("a", x=1, y=2, z=4)) == 0.666666667
    assert metrics.agreement({"name": "a", "arguments": "[]"}, call("a", x=1)) == 0.0
    assert metrics.agreement(call("a"), call("a")) == 1.0


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ([{"arguments": {}}], "expected call 0: it has no name"),
        (["a", {"name": "b", "arguments": [1]}], "expected call 1: its arguments are no JSON object"),
        ([{"name": "b", "arguments": {"x": {"$regex": 5}}}], r"expected call 0, x: \$regex should be a string, not 5"),
    ],
)
def test_a_broken_reference_is_an_error(expected: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        metrics.accuracy_optimal([], expected)


def test_wrong_options_are_errors() -> None:
    with pytest.raises(UsageError, match="did you mean 'optimal'"):
        metrics.pairs([], [], "optimum")
    with pytest.raises(UsageError, match="out of order"):
        metrics.accuracy_optimal([], [], exact=0.5, name=0.75)
