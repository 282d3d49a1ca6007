"""Texts of an Arrow column that may hold a matcher: a string that begins with a dollar sign, written in whatever way."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracelens.kernels.lanes import LANES, equal_to
from tracelens.kernels.words import byte_at, inlined, lean, pointer, trailing_zeros

QUOTE, DOLLAR, BACKSLASH = 0x22, 0x24, 0x5C
ESCAPE = np.frombuffer(rb"\u0024", np.uint8)


@inlined
def begins_string(buf: Any, i: int, first: int, end: int) -> bool:
    """Whether a dollar sign, escaped or not, stands at ``i`` behind a quote."""
    if i == first or byte_at(buf, i - 1) != QUOTE:
        return False
    if byte_at(buf, i) == DOLLAR:
        return True
    if i + ESCAPE.size > end:
        return False
    for k in range(ESCAPE.size):
        if byte_at(buf, i + k) != ESCAPE[k]:
            return False
    return True


@lean
def mark_dollars(data: np.ndarray, offsets: np.ndarray, out: np.ndarray) -> None:
    """Mark the texts in which a string begins with a dollar sign; a few others may be marked too, none is missed.

    Args:
        data: Bytes of n texts; nothing outside them is read.
        offsets: Where they stand.
        out: bool[n], false at first.
    """
    buf = pointer(data)
    first, end = offsets[0], offsets[offsets.size - 1]
    row, i = 0, first
    while i < end:
        if i + LANES <= end:
            hits = equal_to(buf, i, DOLLAR) | equal_to(buf, i, BACKSLASH)
            if hits == 0:
                i += LANES
                continue
            i += trailing_zeros(hits)
        if begins_string(buf, i, first, end):
            while offsets[row + 1] <= i:
                row += 1
            out[row] = True
        i += 1
