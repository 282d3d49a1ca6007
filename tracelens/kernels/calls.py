"""Calls as arrays, and the two questions pairing asks about two of them: are they equal, and how far do they agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]
B1 = NDArray[np.bool_]

UNIT = 1_000_000_000
"""Agreement is counted in integers of 1e-9, so that sums compare exactly."""


class CallColumns(NamedTuple):
    """One side's calls, column by column.

    Attributes:
        code: Name code, shared by both sides, int32; -1 equals nothing.
        hi: Upper half of the digest of the canonical arguments, uint64.
        lo: Lower half.
        captured: False where arguments were not recorded or cut off.
        usable: False where they were recorded but are no JSON object.
        malformed: True where the entry was no call at all.
        top_first: First top-level argument of each call, int64 [calls + 1].
        top_key: Hash of each top-level argument's name, ascending within a call, uint64.
        top_hi: Upper half of the digest of its canonical value.
        top_lo: Lower half.
    """

    code: I32
    hi: U64
    lo: U64
    captured: B1
    usable: B1
    malformed: B1
    top_first: I64
    top_key: U64
    top_hi: U64
    top_lo: U64


class Relations(NamedTuple):
    """What matchers and tolerances decided, for the pairs of calls they touch.

    Attributes:
        first: First entry of each actual call, int64 [calls + 1].
        expected: Row of the expected call, ascending within an actual call, int64.
        exact: Whether the arguments match, bool.
        agreement: How far they agree, in 1e-9, int64.
    """

    first: I64
    expected: I64
    exact: B1
    agreement: I64


class Units(NamedTuple):
    """Which stretch of the actual calls is held against which stretch of the expected ones, int64 [units] each."""

    a_first: I64
    a_count: I64
    e_first: I64
    e_count: I64


@njit(nogil=True, cache=True)
def relation_of(rel: Relations, i: int, j: int) -> int:
    """Entry of actual call i and expected call j, or -1."""
    low, high = rel.first[i], rel.first[i + 1]
    while low < high:
        middle = (low + high) // 2
        if rel.expected[middle] < j:
            low = middle + 1
        else:
            high = middle
    if low < rel.first[i + 1] and rel.expected[low] == j:
        return low
    return -1


@njit(nogil=True, cache=True)
def is_exact(a: CallColumns, e: CallColumns, rel: Relations, i: int, j: int) -> bool:
    """Whether two calls of one name have equal arguments; never where those are unknown or unusable."""
    if not (a.captured[i] and a.usable[i]):
        return False
    if rel.first[i] != rel.first[i + 1]:
        entry = relation_of(rel, i, j)
        if entry >= 0:
            return rel.exact[entry]
    return a.hi[i] == e.hi[j] and a.lo[i] == e.lo[j] and e.usable[j] and e.captured[j]


@njit(nogil=True, cache=True)
def shared_arguments(a: CallColumns, e: CallColumns, i: int, j: int) -> int:
    """Agreement by value: equal top-level arguments over the union of their names; 0 where there are none."""
    p, p_stop = a.top_first[i], a.top_first[i + 1]
    q, q_stop = e.top_first[j], e.top_first[j + 1]
    union = (p_stop - p) + (q_stop - q)
    equal = 0
    while p < p_stop and q < q_stop:
        if a.top_key[p] == e.top_key[q]:
            union -= 1
            equal += a.top_hi[p] == e.top_hi[q] and a.top_lo[p] == e.top_lo[q]
            p += 1
            q += 1
        elif a.top_key[p] < e.top_key[q]:
            p += 1
        else:
            q += 1
    if union == 0:
        return 0
    return (2 * UNIT * equal + union) // (2 * union)


@njit(nogil=True, cache=True)
def agreement_of(a: CallColumns, e: CallColumns, rel: Relations, i: int, j: int) -> int:
    """Agreement of two calls of one name that are not exact, in 1e-9."""
    if not (a.captured[i] and a.usable[i]):
        return 0
    if rel.first[i] != rel.first[i + 1]:
        entry = relation_of(rel, i, j)
        if entry >= 0:
            return rel.agreement[entry]
    if not (e.captured[j] and e.usable[j]):
        return 0
    return shared_arguments(a, e, i, j)


@njit(nogil=True, cache=True)
def worth_of(a: CallColumns, e: CallColumns, rel: Relations, i: int, j: int, bonus: int) -> int:
    """What pairing two calls of one name is worth: their agreement, and the bonus where they are exact."""
    if is_exact(a, e, rel, i, j):
        return bonus + UNIT
    return agreement_of(a, e, rel, i, j)
