"""The optimal pairing: greatest credit, then greatest agreement, then the lexicographically smallest list of partners.

Calls of different names never pair, so every name is solved for itself. Within a name everything can pair, so as many
pairs are made as possible, and only their being exact and their agreement are at stake:

- Exactness by value, exact worth more than name only: calls that are equal to each other pair up as multisets, and
  only what is left over has to be assigned by agreement. If all agreements among what is left are equal (nothing in
  common, or the same constant arguments in common), nothing has to be assigned either. Both take n log n time.
- Otherwise an assignment problem is solved: cubic in the calls *of one name* in the worst case, its memory quadratic
  in the *distinct* calls left over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracelens.kernels.calls import I32, I64, UNIT, USABLE, Calls, is_exact
from tracelens.kernels.few import COLUMNS, ROWS, pair_few, pair_one
from tracelens.kernels.jit import kernel, lean
from tracelens.kernels.leftovers import pair_directly, pair_many
from tracelens.kernels.sorting import sort_numbers

DENSE = 64
"""Up to this many possible pairs of one name are assigned directly, without looking for equal calls first."""
SORTED = 64
"""From this many calls on grouping by name sorts instead of inserting."""


class Unit(NamedTuple):
    """One unit, or a part of it: first actual call, how many, first expected call, how many."""

    a_first: int
    a_count: int
    e_first: int
    e_count: int


class Way(NamedTuple):
    """How to pair: whether an exact pair earns more than a name-only pair, and the limits `DENSE` and `LINEAR`."""

    exact_first: bool
    dense: int
    linear: int


class Room(NamedTuple):
    """Scratch space: int64 for all actual calls of a unit, for all expected calls, for the latter once more, `few.ROOM`."""

    a_order: I64
    e_order: I64
    used: I64
    few: I64


@kernel
def _sort_many(calls: Calls, first: int, count: int, order: I64) -> None:
    """`sort_by_name` for many calls."""
    key = np.empty(count, np.int64)  # name and position in one number, so that any sort is stable
    for k in range(count):
        key[k] = (np.int64(calls.code[first + k]) << 32) + k
    sort_numbers(key, np.empty(count, np.int64))
    for k in range(count):
        order[k] = first + (key[k] & 0xFFFFFFFF)


@lean
def sort_by_name(calls: Calls, first: int, count: int, order: I64) -> None:
    """Fill `order[:count]` with the calls from `first` on, sorted by name, in order within a name."""
    if count >= SORTED:
        _sort_many(calls, first, count, order)
        return
    for k in range(count):
        at = k
        while at > 0 and calls.code[order[at - 1]] > calls.code[first + k]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = first + k


@lean
def run_of_name(calls: Calls, order: I64, start: int, count: int) -> int:
    """Where the run of one name that begins at `start` ends."""
    stop = start
    while stop < count and calls.code[order[stop]] == calls.code[order[start]]:
        stop += 1
    return stop


@lean
def pair_optimal(a: Calls, e: Calls, unit: Unit, way: Way, room: Room, partner: I32, base: int) -> None:
    """Pair one unit optimally.

    Args:
        a: The actual calls.
        e: The expected calls.
        unit: The unit.
        way: How.
        room: Scratch space.
        partner: Filled from `base` on: for each actual call its expected call, counted from the unit's first, or -1.
        base: See `partner`.
    """
    n, m = unit.a_count, unit.e_count
    for k in range(n):
        partner[base + k] = -1
    sort_by_name(a, unit.a_first, n, room.a_order)
    sort_by_name(e, unit.e_first, m, room.e_order)
    p, q = 0, 0
    while p < n and q < m:
        mine, theirs = a.code[room.a_order[p]], e.code[room.e_order[q]]
        if mine < 0 or mine < theirs:
            p += 1
        elif theirs < mine:
            q += 1
        else:
            p_stop, q_stop = run_of_name(a, room.a_order, p, n), run_of_name(e, room.e_order, q, m)
            _pair_name(a, e, unit, way, room, p, p_stop, q, q_stop, partner, base)
            p, q = p_stop, q_stop


@lean
def _pair_name(
    a: Calls,
    e: Calls,
    unit: Unit,
    way: Way,
    room: Room,
    p: int,
    p_stop: int,
    q: int,
    q_stop: int,
    partner: I32,
    base: int,
) -> None:
    """Pair the calls of one name, `room.a_order[p:p_stop]` and `room.e_order[q:q_stop]`, by the cheapest exact method."""
    rows, columns, offset = room.a_order, room.e_order, base - unit.a_first
    by_value = way.exact_first
    for r in range(p, p_stop):
        by_value = by_value and a.link_count[rows[r]] == 0
    if by_value:
        # Equal calls at the head of both lists pair: no best pairing is better, none is lexicographically smaller.
        while p < p_stop and q < q_stop and is_exact(a, e, rows[p], columns[q]):
            partner[offset + rows[p]] = columns[q] - unit.e_first
            p += 1
            q += 1
    n, m = p_stop - p, q_stop - q
    if by_value and n > 1 and m > 1 and n * m <= way.dense:
        gone = n - _pair_equals(a, e, unit, rows, p, p_stop, columns, q, q_stop, partner, offset)
        p_stop, q_stop, n, m = p_stop - gone, q_stop - gone, n - gone, m - gone
    if n == 0 or m == 0:
        return
    bonus = min(n, m) * (UNIT + 1) + 1 if way.exact_first else 0
    if n == 1 or m == 1:
        pair_one(a, e, rows, p, n, columns, q, m, bonus, unit.e_first, partner, offset)
    elif n <= ROWS and m <= COLUMNS:
        pair_few(a, e, rows, p, n, columns, q, m, bonus, unit.e_first, partner, offset, room.few)
    elif by_value and n * m > way.dense:
        pair_many(a, e, rows, p, p_stop, columns, q, q_stop, unit.e_first, partner, offset)
    else:
        pair_directly(a, e, rows, p, p_stop, columns, q, q_stop, bonus, unit.e_first, partner, offset)


@lean
def _equal(x: Calls, i: int, y: Calls, j: int) -> bool:
    """Whether two calls, of whichever side, have arguments that are known and equal."""
    return bool(x.hi[i] == y.hi[j] and x.lo[i] == y.lo[j] and x.flags[i] & y.flags[j] & USABLE)


@lean
def _pair_equals(
    a: Calls,
    e: Calls,
    unit: Unit,
    rows: I64,
    p: int,
    p_stop: int,
    columns: I64,
    q: int,
    q_stop: int,
    partner: I32,
    offset: int,
) -> int:
    """Pair those that are equal and equally many on both sides, in order: every best pairing pairs them so.

    What is left moves to the front; returns how many rows that is. As many columns go as rows.
    """
    for start in range(p, p_stop):
        i = rows[start]
        if i < 0:
            continue
        balance = 0
        for r in range(p, p_stop):
            balance += rows[r] >= 0 and _equal(a, i, a, rows[r])
        for c in range(q, q_stop):
            balance -= columns[c] >= 0 and _equal(a, i, e, columns[c])
        if balance != 0 or not a.flags[i] & USABLE:
            continue
        c = q
        for r in range(start, p_stop):
            if rows[r] >= 0 and _equal(a, i, a, rows[r]):
                while columns[c] < 0 or not _equal(a, i, e, columns[c]):
                    c += 1
                partner[offset + rows[r]] = columns[c] - unit.e_first
                columns[c] = rows[r] = -1
    _close_gaps(columns, q, q_stop)
    return _close_gaps(rows, p, p_stop)


@lean
def _close_gaps(calls: I64, start: int, stop: int) -> int:
    """Move what is not -1 to the front, in order; returns how many that are."""
    kept = start
    for k in range(start, stop):
        if calls[k] >= 0:
            calls[kept] = calls[k]
            kept += 1
    return kept - start
