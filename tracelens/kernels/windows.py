"""Which texts of a column hold one of many short byte patterns: a cheap first look before a regular expression.

A *window* is four sets of bytes, one per position. Up to 64 windows share one table, one bit each, so a look at one
position of a text is four table loads and three ``and``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from tracelens.kernels.words import pointer

WIDTH = 4
"""Bytes of a window."""

MOST = 63
"""Windows a table has room for; the last bit is taken by the back-slash."""

HIT = 1
"""Bit of a mark: some window occurs."""

ESCAPED = 2
"""Bit of a mark: the text holds a back-slash."""

_ESCAPE_BIT = np.uint64(1 << 63)
_WINDOW_BITS = np.uint64((1 << 63) - 1)


def table_of(windows: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """The table that `mark_texts` reads.

    Args:
        windows: bool[n, 4, 256], n at most `MOST`: whether window w allows a byte at a position.

    Returns:
        uint64[1024]; bit w of entry ``4 * byte + position`` says so. The back-slash is a window of its own.

    Example:
        >>> bool(table_of(np.zeros((0, WIDTH, 256), np.bool_))[4 * 92] == 1 << 63)
        True
    """
    bits = np.uint64(1) << np.arange(len(windows), dtype=np.uint64)
    table = (windows * bits[:, None, None]).sum(axis=0, dtype=np.uint64)
    table[0, ord("\\")] |= _ESCAPE_BIT
    table[1:] |= _ESCAPE_BIT
    return np.ascontiguousarray(table.T).ravel()


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
        table: See `table_of`.
        out: uint8[n], overwritten.
    """
    at = pointer(data)
    allowed = pointer(table)
    for row in range(offsets.size - 1):
        found = np.uint64(0)
        # windows of which the last one, two, three bytes read were the first one, two, three
        one, two, three = allowed[0], np.uint64(0), np.uint64(0)
        for i in range(offsets[row], offsets[row + 1]):
            line = np.int64(at[i]) * WIDTH
            found |= three & allowed[line + 3]
            three = two & allowed[line + 2]
            two = one & allowed[line + 1]
            one = allowed[line]
        for _ in range(WIDTH - 1):
            found |= three & allowed[3]
            three = two & allowed[2]
            two = one & allowed[1]
            one = np.uint64(0)
        mark = np.uint8(HIT) if found & _WINDOW_BITS else np.uint8(0)
        out[row] = mark | (np.uint8(ESCAPED) if found & _ESCAPE_BIT else np.uint8(0))
