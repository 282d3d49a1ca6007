"""The three pairings: kernels against the plain-Python definitions, and these against trying everything."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.kernels.call_lists import arguments, call, for_kernels, matches, one_unit
from tracelens.kernels.calls import CAPTURED, USABLE, Calls
from tracelens.kernels.matching import pair_all
from tracelens.kernels.optimal import DENSE
from tracelens.kernels.pairing import LINEAR, MISSING, Pairings, pair_rows
from tracelens.kernels.reference.pairing import PAIRINGS, STATUSES, Match, agreement, best_unused, optimal, pairs
from tracelens.kernels.reference.scores import accuracy, accuracy_in_closed_form, arguments_unknown, counts

CREDITS = ((1.0, 0.5), (1.0, 1.0), (0.25, 0.0))


def run(match: Match, credit: tuple[float, float] = (1.0, 0.5), dense: int = DENSE, linear: int = LINEAR) -> Pairings:
    """Pair one unit with the kernels; the one for short plain units says what the other one says."""
    sides, exact_first = for_kernels(match), credit[0] > credit[1]
    ways = [
        pair_all(one_unit(match), *sides, exact_first=exact_first, dense=dense, linear=linear, short=short)
        for short in (False, True)
    ]
    assert all((one == other).all() for one, other in zip(*ways, strict=True))
    return ways[1]


def rows_of(match: Match, pairing: int, found: Pairings) -> list[tuple[int, int, str, int]]:
    """The rows of one pairing as the kernel writes them."""
    total = len(match.actual) + found.counts[0, pairing, MISSING]
    out = [np.empty(total, t) for t in (np.int64, np.int32, np.int32, np.uint8, np.int64)]
    zero = np.zeros(1, np.int64)
    pair_rows(one_unit(match), *for_kernels(match), zero, found.partner[pairing], found.status[pairing], zero, *out)
    return [(i, j, STATUSES[s], g) for _, i, j, s, g in zip(*(x.tolist() for x in out), strict=True)]


def assert_same(
    match: Match, credit: tuple[float, float] = (1.0, 0.5), dense: int = DENSE, linear: int = LINEAR
) -> None:
    found = run(match, credit, dense, linear)
    for p, pairing in enumerate(PAIRINGS):
        want = pairs(match, pairing, credit)
        none = [tuple(-1 if x is None else x for x in row) for row in want]
        assert rows_of(match, p, found) == none, pairing
        assert dict(zip(STATUSES, found.counts[0, p].tolist(), strict=True)) == counts(match, pairing, credit)
    assert found.unknown[0] == arguments_unknown(match)


@given(matches(), st.sampled_from(CREDITS))
@settings(max_examples=100, deadline=None)
def test_kernel_equals_reference(match: Match, credit: tuple[float, float]) -> None:
    assert_same(match, credit)


@given(matches(8, names=("a",)), st.sampled_from(CREDITS), st.sampled_from([0, 64]))
@settings(max_examples=100, deadline=None)
def test_kernel_equals_reference_on_one_name(match: Match, credit: tuple[float, float], dense: int) -> None:
    assert_same(match, credit, dense=dense, linear=0)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_kernel_equals_reference_on_many_equal_calls(data: st.DataObject) -> None:
    """Few distinct calls, many copies: multisets, slots, and the case that needs no assignment."""
    some = data.draw(st.lists(arguments(), min_size=2, max_size=4))
    lists = st.lists(st.sampled_from(some), min_size=4, max_size=14)
    match = Match.by_value([call("a", x) for x in data.draw(lists)], [call("a", x) for x in data.draw(lists)])
    assert_same(match, dense=0, linear=0)


def test_long_lists_group_by_sorting() -> None:
    """More calls than the insertion sort takes."""
    rng = np.random.default_rng(3)
    both = [
        [call("abcdef"[k], {"x": int(v)}) for k, v in zip(rng.integers(0, 6, 80), rng.integers(0, 9, 80), strict=True)]
        for _ in range(2)
    ]
    assert_same(Match.by_value(*both))


def every_pairing(n: int, m: int) -> list[tuple[int | None, ...]]:
    """All lists of partners without repetition."""
    return sorted(
        {tuple(j if j < m else None for j in order[:n]) for order in permutations(range(m + n))},
        key=lambda partners: [m if j is None else j for j in partners],
    )


@given(matches(4), st.sampled_from(CREDITS))
@settings(max_examples=60, deadline=None)
def test_optimal_is_the_best_of_all(match: Match, credit: tuple[float, float]) -> None:
    """Trying every pairing in lexicographic order, the first of the best is the optimal one."""

    def total(partners: tuple[int | None, ...]) -> tuple[float, int, int] | None:
        chosen = [(i, j) for i, j in enumerate(partners) if j is not None]
        if not all(match.same_name(i, j) for i, j in chosen):
            return None
        earned = sum(credit[not match.is_exact(i, j)] for i, j in chosen)
        known = sum(match.actual[i].captured for i, _ in chosen)
        return earned, sum(match.agree(i, j) for i, j in chosen), known

    totals = {p: total(p) for p in every_pairing(len(match.actual), len(match.expected))}
    best = max(t for t in totals.values() if t is not None)
    assert tuple(optimal(match, credit)) == next(p for p, t in totals.items() if t == best)


@settings(deadline=None)
@given(matches(5, related=False), st.randoms())
def test_order_changes_no_optimal_score(match: Match, random: object) -> None:
    """No permutation of either list changes the accuracy or a count."""
    actual, expected = list(match.actual), list(match.expected)
    random.shuffle(actual)  # type: ignore[attr-defined] # a random.Random
    random.shuffle(expected)  # type: ignore[attr-defined] # a random.Random
    shuffled = Match.by_value(actual, expected)
    plain = Match.by_value(match.actual, match.expected)
    assert accuracy(shuffled, "optimal") == accuracy(plain, "optimal")
    assert counts(shuffled, "optimal") == counts(plain, "optimal")


@settings(deadline=None)
@given(matches(6, related=False), st.sampled_from(CREDITS[:2]))
def test_closed_form(match: Match, credit: tuple[float, float]) -> None:
    assert accuracy_in_closed_form(match, credit) == accuracy(match, "optimal", credit)


def orders_of(match: Match) -> list[Match]:
    """The match under every order within its parallel groups."""
    orders: list[list[int]] = [[]]
    for group in match.groups():
        orders = [head + list(tail) for head in orders for tail in permutations(group)]
    return [Match.by_value([match.actual[i] for i in order], match.expected) for order in orders]


@given(matches(5, names=("a", "b"), related=False))
@settings(max_examples=60, deadline=None)
def test_parallel_accuracies_are_the_best_over_orders(match: Match) -> None:
    for pairing in PAIRINGS:
        every = [accuracy(order, pairing) for order in orders_of(match)]
        assert accuracy(match, pairing) == (None if None in every else max(every, default=1.0))


def test_early_call_does_not_take_a_later_exact_partner() -> None:
    """Greedy pairing scores lower than optimal pairing where an early call is in the way."""
    actual = [call("reserve", {"x": 7, "y": 9}), call("reserve", {"x": 1, "y": 2})]
    expected = [call("reserve", {"x": 1, "y": 2}), call("reserve", {"x": 3, "y": 4})]
    match = Match.by_value(actual, expected)
    assert optimal(match) == [1, 0]
    assert best_unused(match) == [0, 1]
    assert (accuracy(match, "optimal"), accuracy(match, "positional")) == (0.75, 0.5)
    assert_same(match)


def test_identical_calls_are_used_one_by_one() -> None:
    match = Match.by_value([call("poll", {"x": 5})] * 2, [call("poll", {"x": 5})] * 2)
    assert [counts(match, p)["exact"] for p in PAIRINGS] == [2, 2, 2]
    assert_same(match)


def test_malformed_call_leaves_its_neighbours_alone() -> None:
    match = Match.by_value([call("a"), call(None, malformed=True), call("b")], [call("a"), call("b")])
    assert [row.status for row in pairs(match, "optimal")] == ["exact", "malformed", "exact"]
    assert [row.status for row in pairs(match, "positional")] == ["exact", "malformed", "extra"]
    assert_same(match)


@pytest.mark.parametrize(
    ("part", "whole", "want"), [(1, 3, 333333333), (2, 3, 666666667), (1, 2, 500000000), (0, 4, 0)]
)
def test_agreement_is_rounded_to_nine_decimals(part: int, whole: int, want: int) -> None:
    left = dict.fromkeys(map(str, range(whole)), 0)
    assert agreement(left, {k: int(int(k) >= part) for k in left}) == want


@settings(deadline=None)
@given(matches())
@example(Match.by_value([call("a", {"x": 1})] * 3, [call("a", {"x": 1}), call("a")]))
def test_partners_are_used_once(match: Match) -> None:
    """A partner is somebody's only once, and every expected call is taken or missing."""
    found = run(match)
    for p in range(3):
        taken = [j for j in found.partner[p].tolist() if j >= 0]
        assert len(taken) == len(set(taken))
        assert found.counts[0, p, MISSING] == len(match.expected) - len(taken)


@pytest.mark.parametrize("shift", [0, 10_000], ids=["equal but shuffled", "nothing in common"])
def test_thousands_of_calls_of_one_name(shift: int) -> None:
    """Time would show it if these were assigned one by one."""
    size = 10_000
    rng = np.random.default_rng(11)
    none, size_one = np.zeros(size, np.int64), np.ones(size, np.int64)
    sides = []
    for start in (0, shift):
        low = (start + rng.permutation(size)).astype(np.uint64)
        top = np.stack([np.zeros(size, np.uint64), np.zeros(size, np.uint64), low], axis=1).ravel()
        flags = np.full(size, USABLE | CAPTURED, np.uint8)
        links = (none, none, np.zeros(0, np.int64))
        place = (np.arange(size), size_one, top, *links)
        sides.append(Calls(none.astype(np.int32), flags, none.astype(np.uint64), low, *place))
    found = pair_all(np.array([[0, size, 0, size]]), *sides, exact_first=True)
    counts, partner = found.counts, found.partner
    assert counts[0, 2].tolist() == ([0, size, 0, 0, 0, 0, 0] if shift else [size, 0, 0, 0, 0, 0, 0])
    assert sorted(partner[2].tolist()) == list(range(size))
    assert not shift or partner[2].tolist() == list(range(size))
