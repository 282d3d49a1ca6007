"""Calls as kernels see them, and the two questions pairing asks about two: are they equal, how far do they agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracelens.kernels.jit import lean
from tracelens.kernels.words import pointer

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]
B1 = NDArray[np.bool_]

UNIT = 1_000_000_000
"""Agreement is counted in integers of 1e-9, so that sums compare exactly."""

USABLE, CAPTURED, MALFORMED_ENTRY, JOINED = 1, 2, 4, 8
"""Flags of a call. USABLE: its arguments are known and can be compared (so CAPTURED too); CAPTURED: they were
recorded; MALFORMED_ENTRY: it is no call at all; JOINED: it may be reordered with its predecessor."""


class Calls(NamedTuple):
    """The calls of one side.

    Attributes:
        code: int32[n], name codes, shared by both sides; -1 equals nothing.
        flags: uint8[n].
        hi: uint64[n], digest of the canonical arguments.
        lo: uint64[n], its low half.
        top_first: int64[n], where a call's top-level arguments stand in ``top``.
        top_count: int64[n], how many it has.
        top: uint64[3 * arguments]: hash of the name, ascending within a call, and digest of the canonical value.
        link_first: int64[n], where a call's links to expected calls stand in ``links``; actual calls only.
        link_count: int64[n], how many it has.
        links: int64[3 * links]: expected call, ascending within a call, agreement in 1e-9, and whether they are exact:
            what matchers and tolerances decided.
    """

    code: I32
    flags: U8
    hi: U64
    lo: U64
    top_first: I64
    top_count: I64
    top: U64
    link_first: I64
    link_count: I64
    links: I64


@lean
def call_pointers(calls: Calls) -> Calls:
    """The same calls with a pointer for each array."""
    return Calls(
        pointer(calls.code),
        pointer(calls.flags),
        pointer(calls.hi),
        pointer(calls.lo),
        pointer(calls.top_first),
        pointer(calls.top_count),
        pointer(calls.top),
        pointer(calls.link_first),
        pointer(calls.link_count),
        pointer(calls.links),
    )


@lean
def link_of(a: Calls, i: int, j: int) -> int:
    """Where the link of actual call i and expected call j stands, or -1."""
    low = a.link_first[i]
    stop = low + a.link_count[i]
    high = stop
    while low < high:
        middle = (low + high) // 2
        if a.links[3 * middle] < j:
            low = middle + 1
        else:
            high = middle
    return 3 * low if low < stop and a.links[3 * low] == j else np.int64(-1)


@lean
def is_exact(a: Calls, e: Calls, i: int, j: int) -> bool:
    """Whether two calls of one name have equal arguments; never where those are unknown or unusable."""
    if not a.flags[i] & USABLE:
        return False
    if a.link_count[i]:
        link = link_of(a, i, j)
        if link >= 0:
            return bool(a.links[link + 2])
    return bool(a.hi[i] == e.hi[j] and a.lo[i] == e.lo[j] and e.flags[j] & USABLE)


@lean
def shared_arguments(a: Calls, e: Calls, i: int, j: int) -> int:
    """Agreement by value: equal top-level arguments over the union of their names; 0 where there are none."""
    p, q = 3 * a.top_first[i], 3 * e.top_first[j]
    p_stop, q_stop = p + 3 * a.top_count[i], q + 3 * e.top_count[j]
    union = a.top_count[i] + e.top_count[j]
    equal = 0
    while p < p_stop and q < q_stop:
        if a.top[p] == e.top[q]:
            union -= 1
            equal += a.top[p + 1] == e.top[q + 1] and a.top[p + 2] == e.top[q + 2]
            p += 3
            q += 3
        elif a.top[p] < e.top[q]:
            p += 3
        else:
            q += 3
    if union == 0:
        return 0
    return (2 * UNIT * equal + union) // (2 * union)


@lean
def agreement_of(a: Calls, e: Calls, i: int, j: int) -> int:
    """Agreement of two calls of one name that are not exact, in 1e-9."""
    if not a.flags[i] & USABLE:
        return 0
    if a.link_count[i]:
        link = link_of(a, i, j)
        if link >= 0:
            return a.links[link + 1]
    if not e.flags[j] & USABLE:
        return 0
    return shared_arguments(a, e, i, j)


@lean
def worth_of(a: Calls, e: Calls, i: int, j: int, bonus: int) -> int:
    """What pairing two calls of one name is worth: their agreement, and the bonus where they are exact.

    One unit more where the arguments were captured. Taking such a call instead of one that was not never costs
    agreement, so of all pairings that agree most this finds one with most known arguments, and no other.
    """
    if is_exact(a, e, i, j):
        return bonus + UNIT + 1
    return agreement_of(a, e, i, j) + (1 if a.flags[i] & CAPTURED else 0)
