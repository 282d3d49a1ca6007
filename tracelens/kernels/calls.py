"""Calls as records, and the two questions pairing asks about two of them: are they equal, and how far do they agree.

One record holds all that is asked of a call, so a comparison touches one cache line, and a kernel takes one array a
side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracelens.kernels.jit import lean

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]
B1 = NDArray[np.bool_]
Calls = NDArray[np.void]
Tops = NDArray[np.void]
Links = NDArray[np.void]

UNIT = 1_000_000_000
"""Agreement is counted in integers of 1e-9, so that sums compare exactly."""

USABLE, CAPTURED, MALFORMED_ENTRY, JOINED = 1, 2, 4, 8
"""Flags of a call. USABLE: its arguments are known and can be compared (so CAPTURED too); CAPTURED: they were
recorded; MALFORMED_ENTRY: it is no call at all; JOINED: it may be reordered with its predecessor."""

CALL = np.dtype(
    [
        ("code", np.int32),
        ("flags", np.int32),
        ("hi", np.uint64),
        ("lo", np.uint64),
        ("top_first", np.int64),
        ("link_first", np.int64),
        ("top_count", np.int32),
        ("link_count", np.int32),
    ]
)
"""One call: name code (-1 equals nothing), flags, digest of the canonical arguments, where its top-level arguments
stand, and where its links to expected calls stand."""

TOP = np.dtype([("key", np.uint64), ("hi", np.uint64), ("lo", np.uint64)])
"""One top-level argument: hash of its name, ascending within a call, and digest of its canonical value."""

LINK = np.dtype([("expected", np.int64), ("agreement", np.int64), ("exact", np.int64)])
"""What matchers and tolerances decided for an actual and an expected call; ascending by expected call."""


@lean
def link_of(a: Calls, rel: Links, i: int, j: int) -> int:
    """Link of actual call i and expected call j, or -1."""
    low = a[i].link_first
    stop = low + a[i].link_count
    high = stop
    while low < high:
        middle = (low + high) // 2
        if rel[middle].expected < j:
            low = middle + 1
        else:
            high = middle
    return low if low < stop and rel[low].expected == j else -1


@lean
def is_exact(a: Calls, e: Calls, rel: Links, i: int, j: int) -> bool:
    """Whether two calls of one name have equal arguments; never where those are unknown or unusable."""
    if not a[i].flags & USABLE:
        return False
    if a[i].link_count:
        link = link_of(a, rel, i, j)
        if link >= 0:
            return bool(rel[link].exact)
    return bool(a[i].hi == e[j].hi and a[i].lo == e[j].lo and e[j].flags & USABLE)


@lean
def shared_arguments(a: Calls, a_top: Tops, e: Calls, e_top: Tops, i: int, j: int) -> int:
    """Agreement by value: equal top-level arguments over the union of their names; 0 where there are none."""
    p, q = a[i].top_first, e[j].top_first
    p_stop, q_stop = p + a[i].top_count, q + e[j].top_count
    union = (p_stop - p) + (q_stop - q)
    equal = 0
    while p < p_stop and q < q_stop:
        if a_top[p].key == e_top[q].key:
            union -= 1
            equal += a_top[p].hi == e_top[q].hi and a_top[p].lo == e_top[q].lo
            p += 1
            q += 1
        elif a_top[p].key < e_top[q].key:
            p += 1
        else:
            q += 1
    if union == 0:
        return 0
    return (2 * UNIT * equal + union) // (2 * union)


@lean
def agreement_of(a: Calls, a_top: Tops, e: Calls, e_top: Tops, rel: Links, i: int, j: int) -> int:
    """Agreement of two calls of one name that are not exact, in 1e-9."""
    if not a[i].flags & USABLE:
        return 0
    if a[i].link_count:
        link = link_of(a, rel, i, j)
        if link >= 0:
            return rel[link].agreement
    if not e[j].flags & USABLE:
        return 0
    return shared_arguments(a, a_top, e, e_top, i, j)


@lean
def worth_of(a: Calls, a_top: Tops, e: Calls, e_top: Tops, rel: Links, i: int, j: int, bonus: int) -> int:
    """What pairing two calls of one name is worth: their agreement, and the bonus where they are exact.

    One unit more where the arguments were captured. Taking such a call instead of one that was not never costs
    agreement, so of all pairings that agree most this finds one with most known arguments, and no other.
    """
    if is_exact(a, e, rel, i, j):
        return bonus + UNIT + 1
    return agreement_of(a, a_top, e, e_top, rel, i, j) + (1 if a[i].flags & CAPTURED else 0)
