"""Values that stood in the same bytes before: what was checked once needs no second look.

Expected calls repeat actual ones, histories repeat their beginnings and trials their task. A value of equal bytes is
as good as the one that was checked, and as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracelens.kernels.hash import A1, A2, B1, B2, F1, F2
from tracelens.kernels.words import equal_bytes, inlined, load8

WINDOW = 48
"""Bytes that a value is looked up by; those behind a shorter one count as well."""

SLOTS = 4096
"""Values that are remembered; a later one takes the place of an earlier one."""

_TOP = np.uint64(64 - SLOTS.bit_length() + 1)


def nothing_known() -> np.ndarray:
    """int32[3 * SLOTS]: start, end and depth of each remembered value; an empty one stands for none."""
    return np.zeros(3 * SLOTS, np.int32)


@inlined
def slot_of(buf: Any, i: int) -> int:
    """Where a value that starts at ``i`` is remembered, by `WINDOW` bytes."""
    some = (load8(buf, i) * A1) ^ (load8(buf, i + 8) * A2) ^ (load8(buf, i + 16) * B1)
    more = (load8(buf, i + 24) * B2) ^ (load8(buf, i + 32) * F1) ^ (load8(buf, i + 40) * F2)
    return 3 * np.int64((some ^ more) >> _TOP)


@inlined
def known_end(buf: Any, i: int, end: int, depth: int, slot: int, known: Any) -> int:
    """Where the value at ``i`` ends if it equals the one in a slot, which nested no deeper; else -1."""
    start = np.int64(known[slot])
    size = known[slot + 1] - start
    if 0 < size <= end - i and depth <= known[slot + 2] and equal_bytes(buf, i, buf, start, size):
        return i + size
    return -1


@inlined
def remember(start: int, end: int, depth: int, slot: int, known: Any) -> None:
    """Note a value that was checked inside ``depth`` containers."""
    known[slot], known[slot + 1], known[slot + 2] = start, end, depth
