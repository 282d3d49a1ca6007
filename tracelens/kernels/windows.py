"""Which texts of a column hold one of many short byte patterns: a cheap first look before a regular expression.

A *window* is four sets of bytes, one per position. Up to 64 windows share one table, one bit each, so a look at one
position of a text is four table loads and three ``and``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

WIDTH = 4
"""Bytes of a window."""

HIT = 1
"""Bit of a mark: some window occurs."""

ESCAPED = 2
"""Bit of a mark: the text holds a back-slash."""

_BACKSLASH = 92


@njit(nogil=True, cache=True)
def mark_texts(
    data: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    table: npt.NDArray[np.uint64],
    out: npt.NDArray[np.uint8],
) -> None:
    """Mark each text: `HIT` where a window occurs, `ESCAPED` where it holds a back-slash.

    In front of and behind a text stand zero bytes, as far as windows are concerned; a window may begin one byte
    before the text ("no letter before") and end up to three bytes behind it.

    Args:
        data: uint8, all texts back to back.
        offsets: int64[n + 1].
        table: uint64[4, 256]; bit w of ``table[p, b]``: window w allows byte b at position p.
        out: uint8[n], overwritten.
    """
    for row in range(offsets.size - 1):
        start, end = offsets[row], offsets[row + 1]
        found = np.uint64(0)
        mark = np.uint8(0)
        # t1..t3: windows whose first one, two, three bytes matched the bytes read so far
        t3 = table[0, 0]
        t2 = np.uint64(0)
        t1 = np.uint64(0)
        for i in range(start, end):
            byte = data[i]
            if byte == _BACKSLASH:
                mark |= np.uint8(ESCAPED)
            found |= t1 & table[3, byte]
            t1 = t2 & table[2, byte]
            t2 = t3 & table[1, byte]
            t3 = table[0, byte]
        for _ in range(WIDTH - 1):
            found |= t1 & table[3, 0]
            t1 = t2 & table[2, 0]
            t2 = t3 & table[1, 0]
            t3 = np.uint64(0)
        if found != 0:
            mark |= np.uint8(HIT)
        out[row] = mark
