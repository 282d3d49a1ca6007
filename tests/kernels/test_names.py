"""Scores from names: kernels against the plain-Python definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens.kernels.align import (
    CORRECT,
    MISSING,
    STRIDE,
    UNEXPECTED,
    Steps,
    align_short_units,
    align_units,
    is_short,
)
from tracelens.kernels.multiset import multiset_scores
from tracelens.kernels.parallel import parallel_scores
from tracelens.kernels.reference import trajectory
from tracelens.kernels.reference.trajectory import Names, parallel_groups
from tracelens.kernels.sequence import sequence_scores

CODES = {None: -1, "": -1, "a": 0, "b": 1, "c": 2}
names = st.lists(st.sampled_from(["a", "a", "b", "b", "c", "", None]), max_size=9)


def coded(*lists: Names) -> list[np.ndarray]:
    return [np.array([CODES.get(x) if x in CODES else ord(str(x)) for x in some], np.int32) for some in lists]


def unit(a: Names, e: Names) -> np.ndarray:
    return np.array([[0, len(a), 0, len(e)]], np.int64)


def joined(turns: list[int | None], n: int) -> np.ndarray:
    flags = np.ones(n, np.bool_)
    for group in parallel_groups(turns, n):
        flags[group.start] = False
    return flags


def sequence(a: Names, e: Names) -> list[int]:
    return sequence_scores(unit(a, e), *coded(a, e))[0].tolist()


def defined(a: Names, e: Names, turns: list[int | None] | None = None) -> list[float]:
    return [trajectory.prefix(a, e, turns), trajectory.in_order(a, e, turns), trajectory.common(a, e, turns)]


@given(names, names)
@settings(max_examples=200, deadline=None)
def test_sequence(a: Names, e: Names) -> None:
    assert sequence(a, e) == defined(a, e)


@pytest.mark.parametrize(("n", "m"), [(70, 65), (200, 130), (64, 300), (65, 64)])
def test_sequence_over_several_words(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    a, e = (rng.choice(["a", "b", "c", ""], size).tolist() for size in (n, m))
    assert sequence(a, e) == defined(a, e)


@given(names, names)
@settings(max_examples=200, deadline=None)
def test_multiset(a: Names, e: Names) -> None:
    left, right = (set(trajectory.identities(x)) for x in (a, e))
    want = [len(left), len(right), len(left & right), trajectory.overlap(a, e)]
    for small in (4096, -1):
        assert multiset_scores(unit(a, e), *coded(a, e), small)[0].tolist() == want


@given(names, names, st.data())
@settings(max_examples=200, deadline=None)
def test_parallel(a: Names, e: Names, data: st.DataObject) -> None:
    turns = data.draw(st.lists(st.sampled_from([0, 1, 2, None]), min_size=len(a), max_size=len(a)))
    found = sequence_scores(unit(a, e), *coded(a, e))
    x, y = coded(a, e)
    parallel_scores(unit(a, e), x, joined(turns, len(a)), y, found)
    assert found[0].tolist() == defined(a, e, turns)


@given(st.lists(st.sampled_from("abc"), max_size=5), st.lists(st.sampled_from("abc"), max_size=4), st.data())
@settings(max_examples=60, deadline=None)
def test_parallel_scores_are_the_best_over_orders(a: list[str], e: list[str], data: st.DataObject) -> None:
    turns = data.draw(st.lists(st.sampled_from([0, 1, None]), min_size=len(a), max_size=len(a)))
    orders: list[list[int]] = [[]]
    for group in parallel_groups(turns, len(a)):
        orders = [head + list(tail) for head in orders for tail in permutations(group)]
    every = [defined([a[i] for i in order], e) for order in orders]
    assert defined(a, e, turns) == [max(column) for column in zip(*every, strict=True)]


def steps(a: Names, e: Names, flags: np.ndarray) -> list[tuple[int, int, int]]:
    """What the kernel says of two units with the same calls, which it says twice."""
    room = 2 * (len(a) + len(e))
    out = Steps(np.empty(room, np.int64), *(np.empty(room, np.int32) for _ in range(4)))
    x, y = coded(a, e)
    lines = np.empty(STRIDE + 1, np.uint64)
    count = align_units(np.repeat(unit(a, e), 2, axis=0), x, flags, y, lines, out)
    half = count // 2
    assert out.unit[:count].tolist() == [0] * half + [1] * half
    assert out.index[:count].tolist() == [*range(half), *range(half)]
    rows = list(zip(*(column[:count].tolist() for column in out[2:]), strict=True))
    if is_short(len(a), len(e)) and not flags.any():
        assert align_short_units(unit(a, e), x, y, lines, out) == half
        assert list(zip(*(column[:half].tolist() for column in out[2:]), strict=True)) == rows[:half]
    assert rows[:half] == rows[half:]
    return rows[:half]


def aligned(a: Names, e: Names) -> list[tuple[int, int, int]]:
    """The alignment by its rule, and the longest common subsequence of what is left."""
    i = j = 0
    rows = []
    while i < len(a) or j < len(e):
        if i < len(a) and j < len(e) and a[i] and a[i] == e[j]:
            rows.append((i, j, CORRECT))
            i, j = i + 1, j + 1
        elif i < len(a) and trajectory.common(a[i + 1 :], e[j:]) == trajectory.common(a[i:], e[j:]):
            rows.append((i, -1, UNEXPECTED))
            i += 1
        else:
            rows.append((-1, j, MISSING))
            j += 1
    return rows


@given(names, names)
@settings(max_examples=100, deadline=None)
def test_alignment(a: Names, e: Names) -> None:
    assert steps(a, e, np.zeros(len(a), np.bool_)) == aligned(a, e)


@pytest.mark.parametrize("n", [64, 65])
def test_alignment_of_a_word_and_more(n: int) -> None:
    rng = np.random.default_rng(n)
    a, e = (rng.choice(["a", "b", "c", ""], size).tolist() for size in (n, 40))
    assert steps(a, e, np.zeros(n, np.bool_)) == aligned(a, e)


def test_long_alignment_crosses_blocks() -> None:
    rng = np.random.default_rng(5)
    a, e = (rng.choice(["a", "b", "c"], size).tolist() for size in (150, 600))
    found = steps(a, e, np.zeros(150, np.bool_))
    assert sum(status == CORRECT for *_, status in found) == sequence(a, e)[2]
    assert [i for i, _, _ in found if i >= 0] == list(range(150))
    assert [j for _, j, _ in found if j >= 0] == list(range(600))
    assert all(a[i] == e[j] for i, j, status in found if status == CORRECT)


@given(names, names, st.data())
@settings(max_examples=100, deadline=None)
def test_parallel_alignment_matches_most(a: Names, e: Names, data: st.DataObject) -> None:
    turns = data.draw(st.lists(st.sampled_from([0, 1, None]), min_size=len(a), max_size=len(a)))
    found = steps(a, e, joined(turns, len(a)))
    assert sum(status == CORRECT for *_, status in found) == trajectory.common(a, e, turns)
    assert sorted(i for i, _, _ in found if i >= 0) == list(range(len(a)))


def test_long_lists_take_little_memory_and_time() -> None:
    """Lengths whose product would be ten thousand million cells."""
    rng = np.random.default_rng(7)
    a = rng.integers(0, 5000, 100_000, dtype=np.int32)
    e = a[rng.random(a.size) < 0.5]
    found = sequence_scores(np.array([[0, a.size, 0, e.size]]), a, e)
    assert found[0].tolist()[1:] == [1, e.size]


@pytest.mark.parametrize("rest", [("", ""), ("b", ""), ("", "c"), ("bcb", "cbc"), ("acab", "baca")])
def test_alignment_of_long_lists_that_begin_alike(rest: tuple[str, str]) -> None:
    begin = ["a", "b", "a"] * 25
    a, e = ([*begin, *each] for each in rest)
    assert steps(a, e, np.zeros(len(a), np.bool_)) == aligned(a, e)
