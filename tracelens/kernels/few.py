"""The optimal pairing of few calls of one name, by trying all: which columns are still free says all about the past."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.calls import I32, I64, Calls, worth_of
from tracelens.kernels.jit import lean

ROWS = 8
COLUMNS = 6
"""Up to so many actual and expected calls are few."""

TABLE = (ROWS + 1) << COLUMNS
"""Room that `pair_few` needs, and for the worths of all pairs behind it."""

ROOM = TABLE + ROWS * COLUMNS


@lean
def pair_one(
    a: Calls,
    e: Calls,
    rows: I64,
    p: int,
    n: int,
    columns: I64,
    q: int,
    m: int,
    bonus: int,
    e_first: int,
    partner: I32,
    offset: int,
) -> None:
    """One call on one side: it takes the first of the best on the other. The arguments are those of `pair_few`."""
    best, row, column = np.int64(-1), rows[p], columns[q]
    for r in range(p, p + n):
        for c in range(q, q + m):
            worth = worth_of(a, e, rows[r], columns[c], bonus)
            if worth > best:
                best, row, column = worth, rows[r], columns[c]
    partner[offset + row] = column - e_first


@lean
def pair_few(
    a: Calls,
    e: Calls,
    rows: I64,
    p: int,
    n: int,
    columns: I64,
    q: int,
    m: int,
    bonus: int,
    e_first: int,
    partner: I32,
    offset: int,
    room: I64,
) -> None:
    """Pair few calls of one name: as many as possible, worth most in sum, and then the smallest list of partners.

    Args:
        a: The actual calls.
        e: The expected calls.
        rows: From ``p`` on, the actual calls of the name, ascending.
        p: See ``rows``.
        n: How many, at most `ROWS`.
        columns: From ``q`` on, its expected calls, ascending.
        q: See ``columns``.
        m: How many, at most `COLUMNS`.
        bonus: See `worth_of`.
        e_first: First expected call of the unit.
        partner: Filled: at ``offset`` and the actual call, its expected call counted from ``e_first``.
        offset: See ``partner``.
        room: Scratch space, `ROOM`.
    """
    width, whole = 1 << m, (1 << m) - 1
    for r in range(n):
        for c in range(m):
            room[TABLE + r * m + c] = worth_of(a, e, rows[p + r], columns[q + c], bonus)
    for free in range(width):
        room[n * width + free] = 0
    for r in range(n - 1, -1, -1):
        for free in range(width):
            best = np.int64(-1)
            left = n - r - _ones(free)
            if left > 0:  # more calls than columns: this one may go without
                best = room[(r + 1) * width + free]
            for c in range(m):
                if (free >> c) & 1:
                    best = max(best, room[TABLE + r * m + c] + room[(r + 1) * width + free - (1 << c)])
            room[r * width + free] = best
    free = whole
    for r in range(n):
        for c in range(m):
            if (free >> c) & 1:
                after = free - (1 << c)
                if room[TABLE + r * m + c] + room[(r + 1) * width + after] == room[r * width + free]:
                    partner[offset + rows[p + r]] = columns[q + c] - e_first
                    free = after
                    break


@lean
def _ones(bits: int) -> int:
    """The number of set bits."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count
