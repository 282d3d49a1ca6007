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

import numpy as np
from numba import njit

from tracelens.kernels.assignment import smallest_column, solve, take_column
from tracelens.kernels.calls import (
    I32,
    I64,
    UNIT,
    USABLE,
    Calls,
    Links,
    Tops,
    is_exact,
    worth_of,
)
from tracelens.kernels.jit import lean
from tracelens.kernels.leftovers import pair_many
from tracelens.kernels.sorting import sort_numbers

DENSE = 64
"""Up to this many possible pairs of one name are assigned directly, without looking for equal calls first."""
FEW = 6
"""Up to this many calls against two all pairings are tried."""
SORTED = 64
"""From this many calls on grouping by name sorts instead of inserting."""


@njit(nogil=True, cache=True, _nrt=True)
def _sort_by_name(calls: Calls, first: int, count: int, order: I64) -> None:
    """`order_by_name` for many calls: name and position in one number, so that any sort is stable."""
    key = np.empty(count, np.int64)
    for k in range(count):
        key[k] = (np.int64(calls[first + k].code) << 32) + k
    sort_numbers(key, np.empty(count, np.int64))
    for k in range(count):
        order[k] = first + (key[k] & 0xFFFFFFFF)


@lean
def order_by_name(calls: Calls, first: int, count: int, order: I64) -> None:
    """Fill `order[:count]` with the calls from `first` on, sorted by name, in order within a name."""
    if count >= SORTED:
        _sort_by_name(calls, first, count, order)
        return
    for k in range(count):
        at = k
        while at > 0 and calls[order[at - 1]].code > calls[first + k].code:
            order[at] = order[at - 1]
            at -= 1
        order[at] = first + k


@lean
def run_of_name(calls: Calls, order: I64, start: int, count: int) -> int:
    """Where the run of one name that begins at `start` ends."""
    stop = start
    while stop < count and calls[order[stop]].code == calls[order[start]].code:
        stop += 1
    return stop


@lean
def pair_optimal(
    a: Calls,
    a_top: Tops,
    e: Calls,
    e_top: Tops,
    rel: Links,
    a_first: int,
    a_count: int,
    e_first: int,
    e_count: int,
    exact_first: bool,
    dense: int,
    a_order: I64,
    e_order: I64,
    partner: I32,
) -> None:
    """Pair one unit optimally.

    Args:
        a: The actual calls, records of `CALL`.
        a_top: Their top-level arguments, records of `TOP`.
        e: The expected calls.
        e_top: Their top-level arguments.
        rel: What matchers and tolerances decided, records of `LINK`.
        a_first: First actual call.
        a_count: How many.
        e_first: First expected call.
        e_count: How many.
        exact_first: Whether an exact pair earns more than a name-only pair.
        dense: Number of possible pairs of one name up to which they are assigned directly.
        a_order: Scratch space of at least `a_count`.
        e_order: Scratch space of at least `e_count`.
        partner: Filled: for each actual call its expected call, counted from `e_first`, or -1; int32 [a_count].
    """
    partner[:a_count] = -1
    order_by_name(a, a_first, a_count, a_order)
    order_by_name(e, e_first, e_count, e_order)
    p, q = 0, 0
    while p < a_count and q < e_count:
        mine, theirs = a[a_order[p]].code, e[e_order[q]].code
        if mine < 0 or mine < theirs:
            p += 1
        elif theirs < mine:
            q += 1
        else:
            p_stop = run_of_name(a, a_order, p, a_count)
            q_stop = run_of_name(e, e_order, q, e_count)
            if p_stop - p == 1 and q_stop - q == 1:
                partner[a_order[p] - a_first] = e_order[q] - e_first
                p, q = p_stop, q_stop
                continue
            _pair_name(
                a,
                a_top,
                e,
                e_top,
                rel,
                a_order[p:p_stop],
                e_order[q:q_stop],
                exact_first,
                dense,
                a_first,
                e_first,
                partner,
            )
            p, q = p_stop, q_stop


@lean
def _pair_name(
    a: Calls,
    a_top: Tops,
    e: Calls,
    e_top: Tops,
    rel: Links,
    rows: I64,
    columns: I64,
    exact_first: bool,
    dense: int,
    a_first: int,
    e_first: int,
    partner: I32,
) -> None:
    """Pair the calls of one name by the cheapest method that is exact for them."""
    by_value = exact_first
    for i in rows:
        by_value = by_value and a[i].link_count == 0
    start = 0
    if by_value:
        # Equal calls at the head of both lists pair: no best pairing is better, none is lexicographically smaller.
        while start < rows.size and start < columns.size and is_exact(a, e, rel, rows[start], columns[start]):
            partner[rows[start] - a_first] = columns[start] - e_first
            start += 1
    rows, columns = rows[start:], columns[start:]
    if by_value and rows.size > 1 and columns.size > 1 and rows.size * columns.size <= dense:
        left = _pair_equals(a, e, rows, columns, a_first, e_first, partner)
        rows, columns = rows[:left], columns[: columns.size - rows.size + left]
    if rows.size == 0 or columns.size == 0:
        return
    few = min(rows.size, columns.size)
    bonus = few * (UNIT + 1) + 1 if exact_first else 0
    if few == 1:
        _pair_one(a, a_top, e, e_top, rel, rows, columns, bonus, a_first, e_first, partner)
    elif few == 2 and max(rows.size, columns.size) <= FEW:
        _pair_two(a, a_top, e, e_top, rel, rows, columns, bonus, a_first, e_first, partner)
    elif by_value and rows.size * columns.size > dense:
        pair_many(a, a_top, e, e_top, rel, rows, columns, a_first, e_first, partner)
    else:
        _pair_directly(a, a_top, e, e_top, rel, rows, columns, bonus, a_first, e_first, partner)


@lean
def _equal(x: Calls, i: int, y: Calls, j: int) -> bool:
    """Whether two calls, of whichever side, have arguments that are known and equal."""
    return bool(x[i].hi == y[j].hi and x[i].lo == y[j].lo and x[i].flags & y[j].flags & USABLE)


@lean
def _pair_equals(a: Calls, e: Calls, rows: I64, columns: I64, a_first: int, e_first: int, partner: I32) -> int:
    """Pair those that are equal and equally many on both sides, in order: every best pairing pairs them so.

    What is left moves to the front of `rows` and `columns`; returns how many rows that is. As many columns go.
    """
    for p in range(rows.size):
        i = rows[p]
        if i < 0:
            continue
        balance = 0
        for q in range(rows.size):
            balance += rows[q] >= 0 and _equal(a, i, a, rows[q])
        for c in range(columns.size):
            balance -= columns[c] >= 0 and _equal(a, i, e, columns[c])
        if balance != 0 or not a[i].flags & USABLE:
            continue
        c = 0
        for q in range(p, rows.size):
            if rows[q] >= 0 and _equal(a, i, a, rows[q]):
                while columns[c] < 0 or not _equal(a, i, e, columns[c]):
                    c += 1
                partner[rows[q] - a_first] = columns[c] - e_first
                columns[c] = -1
                if q > p:
                    rows[q] = -1
        rows[p] = -1
    _close_gaps(columns)
    return _close_gaps(rows)


@lean
def _close_gaps(calls: I64) -> int:
    """Move what is not -1 to the front, in order; returns how many that are."""
    kept = 0
    for k in range(calls.size):
        if calls[k] >= 0:
            calls[kept] = calls[k]
            kept += 1
    return kept


@lean
def _pair_one(
    a: Calls,
    a_top: Tops,
    e: Calls,
    e_top: Tops,
    rel: Links,
    rows: I64,
    columns: I64,
    bonus: int,
    a_first: int,
    e_first: int,
    partner: I32,
) -> None:
    """One call on one side: it takes the first of the best on the other."""
    best, best_row, best_column = np.int64(-1), 0, 0
    for i in rows:
        for j in columns:
            worth = worth_of(a, a_top, e, e_top, rel, i, j, bonus)
            if worth > best:
                best, best_row, best_column = worth, i, j
    partner[best_row - a_first] = best_column - e_first


@lean
def _pair_two(
    a: Calls,
    a_top: Tops,
    e: Calls,
    e_top: Tops,
    rel: Links,
    rows: I64,
    columns: I64,
    bonus: int,
    a_first: int,
    e_first: int,
    partner: I32,
) -> None:
    """Two calls on one side and a few on the other: try all, in lexicographic order of the partners."""
    best = np.int64(-1)
    i, j, k, c = 0, 0, 0, 0  # the pairs (i, j) and (k, c)
    if rows.size == 2:
        for x in range(columns.size):
            first = worth_of(a, a_top, e, e_top, rel, rows[0], columns[x], bonus)
            for y in range(columns.size):
                if x != y:
                    total = first + worth_of(a, a_top, e, e_top, rel, rows[1], columns[y], bonus)
                    if total > best:
                        best, i, j, k, c = total, 0, x, 1, y
    else:
        for p in range(rows.size - 1):
            for x in range(2):
                first = worth_of(a, a_top, e, e_top, rel, rows[p], columns[x], bonus)
                for q in range(p + 1, rows.size):
                    total = first + worth_of(a, a_top, e, e_top, rel, rows[q], columns[1 - x], bonus)
                    if total > best:
                        best, i, j, k, c = total, p, x, q, 1 - x
    partner[rows[i] - a_first] = columns[j] - e_first
    partner[rows[k] - a_first] = columns[c] - e_first


@njit(nogil=True, cache=True, _nrt=True)
def _pair_directly(
    a: Calls,
    a_top: Tops,
    e: Calls,
    e_top: Tops,
    rel: Links,
    rows: I64,
    columns: I64,
    bonus: int,
    a_first: int,
    e_first: int,
    partner: I32,
) -> None:
    """Every call for itself: assign by worth, then settle each actual call in order."""
    weight = np.empty((rows.size, columns.size), np.int64)
    for r in range(rows.size):
        for c in range(columns.size):
            weight[r, c] = worth_of(a, a_top, e, e_top, rel, rows[r], columns[c], bonus)
    row_type, column_type = np.arange(rows.size), np.arange(columns.size)
    mate, owner, row_price, column_price = solve(weight, row_type, column_type)
    turned = np.ascontiguousarray(weight.T)
    size = mate.size
    settled, move, queue = np.zeros(size, np.bool_), np.empty(size, np.int64), np.empty(size + 1, np.int64)
    scratch = np.empty(size, np.int64)
    for r in range(rows.size):
        c = smallest_column(
            turned,
            row_type,
            column_type,
            row_price,
            column_price,
            r,
            column_type,
            mate,
            owner,
            settled,
            move,
            queue,
            scratch,
        )
        if c != mate[r]:
            take_column(r, c, mate, owner, move)
        settled[r] = True
        if c < columns.size:
            partner[rows[r] - a_first] = columns[c] - e_first
