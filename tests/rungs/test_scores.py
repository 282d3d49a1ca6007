"""Rungs two to four as columns: equal to the plain-Python definitions, and the worked example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.call_lists import call, for_kernels, matches
from tracelens.kernels.calls import CAPTURED, JOINED, MALFORMED_ENTRY, USABLE, Calls
from tracelens.kernels.reference.pairing import PAIRINGS, STATUSES, Match, pairs
from tracelens.kernels.reference.scores import all_scores
from tracelens.rungs.calls import Pairs, pairs_of
from tracelens.rungs.golden import STEP_STATUSES, steps_of
from tracelens.rungs.scores import UnitScores, score_units
from tracelens.rungs.units import CallArrays, Credit, Related, Units, joined_calls


def call_arrays(calls: Calls) -> CallArrays:
    """Calls as the arrays rungs take."""
    flags = calls.flags
    return CallArrays(
        code=calls.code,
        hi=calls.hi,
        lo=calls.lo,
        captured=flags & CAPTURED != 0,
        usable=(flags & USABLE != 0) | (flags & CAPTURED == 0),
        malformed=flags & MALFORMED_ENTRY != 0,
        top_first=calls.top_first,
        top_count=calls.top_count,
        top=calls.top,
    )


Sides = tuple[Units, CallArrays, CallArrays, Related, np.ndarray]


def sides(match: Match) -> Sides:
    """A match as the arguments `score_units` takes."""
    a, e = for_kernels(match)
    units = Units(*(np.array([x], np.int64) for x in (0, len(a.code), 0, len(e.code))))
    actual, links = np.repeat(np.arange(len(a.code)), a.link_count), a.links.reshape(-1, 3)
    related = Related(actual, links[:, 0].copy(), links[:, 2] != 0, links[:, 1].copy())
    return units, call_arrays(a), call_arrays(e), related, a.flags & JOINED != 0


def score(match: Match, credit: tuple[float, float] = (1.0, 0.5)) -> UnitScores:
    units, a, e, related, joined = sides(match)
    return score_units(units, a, e, related=related, joined=joined, credit=Credit(*credit))


@given(matches(), st.sampled_from([(1.0, 0.5), (1.0, 0.25), (1.0, 1.0)]))
@settings(max_examples=80, deadline=None)
def test_columns_equal_the_definitions(match: Match, credit: tuple[float, float]) -> None:
    row = score(match, credit).frame.row(0, named=True)
    want = all_scores(match, credit)
    want["n_malformed"] = want["n_malformed_optimal"]
    assert row == {name: want[name] for name in row}
    assert not set(want) - set(row) - {f"n_{s}_{p}" for s in ("wrong_name", "malformed") for p in PAIRINGS}


@given(matches())
@settings(max_examples=60, deadline=None)
def test_pair_rows_equal_the_definitions(match: Match) -> None:
    units, a, e, related, joined = sides(match)
    paired = score_units(units, a, e, related=related, joined=joined).paired
    for pairing in PAIRINGS:
        rows = pairs_of(paired, pairing)
        found = zip(known(rows.actual), known(rows.expected), statuses_of(rows), known(rows.agreement), strict=True)
        assert list(found) == [tuple(row) for row in pairs(match, pairing)]


def known(numbers: np.ndarray) -> list[int | None]:
    """Numbers, None for those below zero."""
    return [number if number >= 0 else None for number in numbers.tolist()]


def statuses_of(rows: Pairs) -> list[str]:
    return [STATUSES[status] for status in rows.status]


def worked_example() -> Match:
    """Search with a wrong date, the same search again, and a booking with a seat nobody asked for."""
    actual = [
        call("search", {"x": 1, "y": 1, "z": 3}),
        call("search", {"x": 1, "y": 1, "z": 3}),
        call("book", {"x": 1, "y": 2}),
    ]
    expected = [call("search", {"x": 1, "y": 1, "z": 2}), call("book", {"x": 1})]
    return Match.by_value(actual, expected)


WORKED = {
    "strict": 1 / 3,
    "unordered": 1.0,
    "subset": 1.0,
    "superset": 1.0,
    "precision": 2 / 3,
    "recall": 1.0,
    "f1": 0.8,
    "lcs": 2 / 3,
    "in_order": 1.0,
    "any_order": 1.0,
    "exact_order": 0.0,
    "first_divergence": 1,
    "accuracy_positional": 0.5 / 3,
    "accuracy_best_unused": 1 / 3,
    "accuracy_optimal": 1 / 3,
    "golden_score": 100.0,
}


def test_worked_example() -> None:
    scores = score(worked_example())
    row = scores.frame.row(0, named=True)
    assert {name: row[name] for name in WORKED} == WORKED
    assert round(row["accuracy_graded"], 2) == 0.53
    statuses = {p: statuses_of(pairs_of(scores.paired, p)) for p in PAIRINGS}
    assert statuses == {
        "positional": ["partial", "wrong_name", "extra"],
        "best_unused": ["partial", "extra", "partial"],
        "optimal": ["partial", "extra", "partial"],
    }


def test_worked_example_step_by_step() -> None:
    units, a, e, *_ = sides(worked_example())
    steps = steps_of(units, a, e)
    assert steps.unit.tolist() == [0, 0, 0]
    assert steps.index.tolist() == [0, 1, 2]
    assert known(steps.actual) == [0, 1, 2]
    assert known(steps.expected) == [0, None, 1]
    assert [STEP_STATUSES[status] for status in steps.status] == ["correct", "unexpected", "correct"]


NOTHING = {
    "strict": 1.0,
    "unordered": 1.0,
    "subset": 1.0,
    "superset": 1.0,
    "accuracy_optimal": 1.0,
    "accuracy_positional": 1.0,
    "accuracy_graded": 1.0,
    "golden_score": 100.0,
    "precision": 1.0,
    "recall": 1.0,
    "f1": 1.0,
    "first_divergence": None,
}


@pytest.mark.parametrize(
    ("actual", "expected", "want"),
    [
        ("", "", NOTHING),
        (
            "",
            "a",
            {
                "strict": 0.0,
                "unordered": 0.0,
                "subset": 0.0,
                "superset": 1.0,
                "accuracy_optimal": 0.0,
                "precision": 1.0,
                "recall": 0.0,
                "superset_partial": 1.0,
                "first_divergence": 0,
            },
        ),
        (
            "a",
            "",
            {
                "subset": 1.0,
                "superset": 0.0,
                "any_order": 1.0,
                "in_order": 1.0,
                "golden_score": 0.0,
                "subset_partial": 1.0,
            },
        ),
        ("abc", "ab", {"subset": 1.0, "superset": 0.0, "strict": 2 / 3, "unordered": 2 / 3, "first_divergence": 2}),
        ("ab", "abc", {"first_divergence": 2, "subset": 0.0, "superset": 1.0}),
    ],
)
def test_edges(actual: Sequence[str], expected: Sequence[str], want: dict[str, float | None]) -> None:
    match = Match.by_value([call(name) for name in actual], [call(name) for name in expected])
    row = score(match).frame.row(0, named=True)
    assert {name: row[name] for name in want} == want


def test_arguments_not_captured_make_accuracy_unknown_and_nothing_else() -> None:
    match = Match.by_value([call("a", captured=False), call("b")], [call("a"), call("b")])
    row = score(match).frame.row(0, named=True)
    hidden = {f"n_{s}_{p}" for s in ("exact", "partial") for p in PAIRINGS} | {f"accuracy_{p}" for p in PAIRINGS}
    assert {name for name, value in row.items() if value is None} == hidden | {"accuracy_graded", "first_divergence"}
    assert row["n_name_only_optimal"] == 1


def test_arguments_not_captured_do_not_matter_where_the_name_is_not_expected() -> None:
    match = Match.by_value([call("other", captured=False), call("b")], [call("b")])
    assert score(match).frame["accuracy_optimal"].item() == 0.5


def test_parallel_calls_know_trace_and_turn() -> None:
    joined = joined_calls(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 5]), np.array([True, True, True, False]))
    assert joined.tolist() == [False, True, False, False]


def test_no_units() -> None:
    _, a, e, *_ = sides(Match.by_value([], []))
    none = Units(*(np.zeros(0, np.int64) for _ in range(4)))
    scores = score_units(none, a, e)
    assert scores.frame.height == 0
    assert len(pairs_of(scores.paired)) == len(steps_of(none, a, e).unit) == 0
