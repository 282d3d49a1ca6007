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
from numpy.typing import NDArray

from tracelens.kernels.assignment import FAR, heaviest, smallest_column, take_column
from tracelens.kernels.calls import I32, I64, U64, UNIT, CallColumns, Relations, agreement_of, is_exact, worth_of

B1 = NDArray[np.bool_]

DENSE = 64
"""Up to this many possible pairs of one name are assigned directly, without looking for equal calls first."""
SORTED = 64
"""From this many calls on grouping by name sorts instead of inserting."""


@njit(nogil=True, cache=True)
def order_by_name(code: I32, first: int, count: int, order: I64) -> None:
    """Fill `order[:count]` with the calls from `first` on, sorted by name, in order within a name."""
    if count >= SORTED:
        order[:count] = np.argsort(code[first : first + count], kind="mergesort") + first
        return
    for k in range(count):
        at = k
        while at > 0 and code[order[at - 1]] > code[first + k]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = first + k


@njit(nogil=True, cache=True)
def run_of_name(code: I32, order: I64, start: int, count: int) -> int:
    """Where the run of one name that begins at `start` ends."""
    stop = start
    while stop < count and code[order[stop]] == code[order[start]]:
        stop += 1
    return stop


@njit(nogil=True, cache=True)
def pair_optimal(
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
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
        a: The actual calls.
        e: The expected calls.
        rel: What matchers and tolerances decided.
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
    order_by_name(a.code, a_first, a_count, a_order)
    order_by_name(e.code, e_first, e_count, e_order)
    p, q = 0, 0
    while p < a_count and q < e_count:
        mine, theirs = a.code[a_order[p]], e.code[e_order[q]]
        if mine < 0 or mine < theirs:
            p += 1
        elif theirs < mine:
            q += 1
        else:
            p_stop = run_of_name(a.code, a_order, p, a_count)
            q_stop = run_of_name(e.code, e_order, q, e_count)
            _pair_name(
                a, e, rel, a_order[p:p_stop], e_order[q:q_stop], exact_first, dense, a_first, e_first, partner
            )
            p, q = p_stop, q_stop


@njit(nogil=True, cache=True)
def _pair_name(
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
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
        by_value = by_value and rel.first[i] == rel.first[i + 1]
    start = 0
    if by_value:
        # Equal calls at the head of both lists pair: no best pairing is better, none is lexicographically smaller.
        while start < rows.size and start < columns.size and is_exact(a, e, rel, rows[start], columns[start]):
            partner[rows[start] - a_first] = columns[start] - e_first
            start += 1
    rows, columns = rows[start:], columns[start:]
    if rows.size == 0 or columns.size == 0:
        return
    few = min(rows.size, columns.size)
    bonus = few * UNIT + 1 if exact_first else 0
    if rows.size == 1 and columns.size == 1:
        partner[rows[0] - a_first] = columns[0] - e_first
    elif few == 1:
        _pair_one(a, e, rel, rows, columns, bonus, a_first, e_first, partner)
    elif rows.size == 2 and columns.size == 2:
        _pair_two(a, e, rel, rows, columns, bonus, a_first, e_first, partner)
    elif by_value and rows.size * columns.size > dense:
        _pair_many(a, e, rel, rows, columns, a_first, e_first, partner)
    else:
        _pair_directly(a, e, rel, rows, columns, bonus, a_first, e_first, partner)


@njit(nogil=True, cache=True)
def _pair_one(
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
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
            worth = worth_of(a, e, rel, i, j, bonus)
            if worth > best:
                best, best_row, best_column = worth, i, j
    partner[best_row - a_first] = best_column - e_first


@njit(nogil=True, cache=True)
def _pair_two(
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
    rows: I64,
    columns: I64,
    bonus: int,
    a_first: int,
    e_first: int,
    partner: I32,
) -> None:
    """Two calls on both sides: straight or crossed."""
    straight = worth_of(a, e, rel, rows[0], columns[0], bonus) + worth_of(a, e, rel, rows[1], columns[1], bonus)
    crossed = worth_of(a, e, rel, rows[0], columns[1], bonus) + worth_of(a, e, rel, rows[1], columns[0], bonus)
    cross = 1 if crossed > straight else 0
    partner[rows[0] - a_first] = columns[cross] - e_first
    partner[rows[1] - a_first] = columns[1 - cross] - e_first


@njit(nogil=True, cache=True)
def solve(weight: I64, row_type: I64, column_type: I64) -> tuple[I64, I64, I64, I64]:
    """A best assignment, padded to a square with nobodies.

    Returns:
        The column of each row, the row of each column, and the prices of rows and of columns.
    """
    rows, columns = row_type.size, column_type.size
    size = max(rows, columns)
    mate, owner = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    if rows <= columns:
        found, row_price, column_price = heaviest(weight, row_type, column_type)
        for c in range(columns):
            if found[c] >= 0:
                mate[found[c]], owner[c] = c, found[c]
    else:
        found, column_price, row_price = heaviest(np.ascontiguousarray(weight.T), column_type, row_type)
        for r in range(rows):
            if found[r] >= 0:
                mate[r], owner[found[r]] = found[r], r
    spare = 0
    for c in range(size):
        if owner[c] < 0:
            while mate[spare] >= 0:
                spare += 1
            owner[c], mate[spare] = spare, c
    return mate, owner, row_price, column_price


@njit(nogil=True, cache=True)
def _pair_directly(
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
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
            weight[r, c] = worth_of(a, e, rel, rows[r], columns[c], bonus)
    row_type, column_type = np.arange(rows.size), np.arange(columns.size)
    mate, owner, row_price, column_price = solve(weight, row_type, column_type)
    size = mate.size
    settled, move, queue = np.zeros(size, np.bool_), np.empty(size, np.int64), np.empty(size + 1, np.int64)
    for r in range(rows.size):
        c = smallest_column(
            weight, row_type, column_type, row_price, column_price, r, column_type, mate, owner, settled, move, queue
        )
        if c != mate[r]:
            take_column(r, c, mate, owner, move)
        settled[r] = True
        if c < columns.size:
            partner[rows[r] - a_first] = columns[c] - e_first


@njit(nogil=True, cache=True)
def kinds(a: CallColumns, e: CallColumns, rows: I64, columns: I64) -> tuple[I64, int]:
    """Number the distinct calls among `rows`, then `columns`: equal arguments, equal kind.

    A call whose arguments are unknown or unusable equals nothing and is a kind of its own.

    Returns:
        The kind of each row and, after them, of each column; and how many kinds there are.
    """
    n = rows.size
    total = n + columns.size
    hi, lo, whole = np.empty(total, np.uint64), np.empty(total, np.uint64), np.empty(total, np.bool_)
    for k in range(n):
        hi[k], lo[k] = a.hi[rows[k]], a.lo[rows[k]]
        whole[k] = a.captured[rows[k]] and a.usable[rows[k]]
    for k in range(columns.size):
        hi[n + k], lo[n + k] = e.hi[columns[k]], e.lo[columns[k]]
        whole[n + k] = e.captured[columns[k]] and e.usable[columns[k]]
    order = np.argsort(lo, kind="mergesort")
    order = order[np.argsort(hi[order], kind="mergesort")]
    kind, count = np.empty(total, np.int64), 0
    known, last = -1, 0  # kind and position of the last whole call
    for k in order:
        if whole[k] and known >= 0 and hi[k] == hi[last] and lo[k] == lo[last]:
            kind[k] = known
            continue
        kind[k] = count
        if whole[k]:
            known, last = count, k
        count += 1
    return kind, count


@njit(nogil=True, cache=True)
def _samples(kind: I64, left: I64) -> I64:
    """The first call of every kind that leaves calls over, by kind."""
    first, copies = copies_of(kind, left.size)
    which = np.flatnonzero(left)
    return copies[first[which]]


@njit(nogil=True, cache=True)
def copies_of(kind: I64, count: int) -> tuple[I64, I64]:
    """Positions by kind, ascending within one: bounds [count + 1] and positions."""
    first = np.zeros(count + 1, np.int64)
    for k in kind:
        first[k + 1] += 1
    first = np.cumsum(first)
    return first, np.argsort(kind, kind="mergesort")


@njit(nogil=True, cache=True)
def _pair_many(
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
    rows: I64,
    columns: I64,
    a_first: int,
    e_first: int,
    partner: I32,
) -> None:
    """Equal calls pair as multisets; what is left over is assigned only if it makes a difference."""
    kind, count = kinds(a, e, rows, columns)
    row_kind, column_kind = kind[: rows.size], kind[rows.size :]
    exact = np.minimum(np.bincount(row_kind, minlength=count), np.bincount(column_kind, minlength=count))
    row_left = np.bincount(row_kind, minlength=count) - exact
    column_left = np.bincount(column_kind, minlength=count) - exact
    chosen = np.full(rows.size, -1, np.int64)
    mine, theirs = rows[_samples(row_kind, row_left)], columns[_samples(column_kind, column_left)]
    if mine.size == 0 or theirs.size == 0 or _no_difference(a, e, mine, theirs):
        _settle_freely(row_kind, column_kind, exact, row_left, column_left, chosen)
    else:
        weight = np.empty((mine.size, theirs.size), np.int64)
        for r in range(mine.size):
            for c in range(theirs.size):
                weight[r, c] = agreement_of(a, e, rel, mine[r], theirs[c])
        _settle_assigned(weight, row_kind, column_kind, exact, row_left, column_left, chosen)
    for r in range(rows.size):
        if chosen[r] >= 0:
            partner[rows[r] - a_first] = columns[chosen[r]] - e_first


@njit(nogil=True, cache=True)
def _settle_freely(
    row_kind: I64, column_kind: I64, exact: I64, row_left: I64, column_left: I64, chosen: I64
) -> None:
    """Each actual call in order takes the first expected call it may have: an equal one, or any left over."""
    first, copies = copies_of(column_kind, exact.size)
    used = np.zeros(column_kind.size, np.bool_)
    spare = 0
    for r in range(row_kind.size):
        mine = row_kind[r]
        best = np.int64(FAR)
        if exact[mine] > 0:
            best = copies[first[mine]]
        if row_left[mine] > 0:
            while spare < used.size and (used[spare] or column_left[column_kind[spare]] == 0):
                spare += 1
            if spare < best and spare < used.size:
                best = spare
        if best == FAR:
            continue
        theirs = column_kind[best]
        if theirs == mine:
            exact[mine] -= 1
        else:
            row_left[mine] -= 1
            column_left[theirs] -= 1
        first[theirs] += 1
        used[best], chosen[r] = True, best


@njit(nogil=True, cache=True)
def _settle_assigned(
    weight: I64, row_kind: I64, column_kind: I64, exact: I64, row_left: I64, column_left: I64, chosen: I64
) -> None:
    """Assign what is left over by agreement, then settle each actual call in order: an equal call, or its share of that.

    A kind that leaves actual calls over owns as many *slots* in the assignment; which of its calls fill them is open
    until they are settled. The same goes for expected calls.
    """
    first, copies = copies_of(column_kind, exact.size)
    row_type, row_slot, _ = _slots(row_left)
    column_type, _, column_kinds = _slots(column_left)
    mate, owner, row_price, column_price = solve(weight, row_type, column_type)
    size = mate.size
    settled, move, queue = np.zeros(size, np.bool_), np.empty(size, np.int64), np.empty(size + 1, np.int64)
    rank = np.empty(column_type.size, np.int64)
    for c in range(rank.size):
        rank[c] = copies[first[column_kinds[column_type[c]]]]
    for r in range(row_kind.size):
        mine = row_kind[r]
        equal = copies[first[mine]] if exact[mine] > 0 else FAR
        if row_left[mine] > 0:
            slot = row_slot[mine]
            c = smallest_column(
                weight, row_type, column_type, row_price, column_price, slot, rank, mate, owner, settled, move, queue
            )
            place = rank[c] if c < rank.size else FAR
            if place < equal or exact[mine] == 0:
                if c != mate[slot]:
                    take_column(slot, c, mate, owner, move)
                settled[slot] = True
                row_slot[mine] += 1
                row_left[mine] -= 1
                equal = place
        if equal == FAR:
            continue
        theirs = column_kind[equal]
        exact[mine] -= theirs == mine
        first[theirs] += 1
        chosen[r] = equal
        if first[theirs] < copies.size:
            for c in range(rank.size):
                if column_kinds[column_type[c]] == theirs:
                    rank[c] = copies[first[theirs]]


@njit(nogil=True, cache=True)
def _slots(left: I64) -> tuple[I64, I64, I64]:
    """The type of each slot, the first slot of each kind, and the kind of each type; types are kinds with slots."""
    which = np.flatnonzero(left)
    place = np.empty(left.sum(), np.int64)
    start = np.zeros(left.size, np.int64)
    at = 0
    for k in range(which.size):
        start[which[k]] = at
        for _ in range(left[which[k]]):
            place[at] = k
            at += 1
    return place, start, which


@njit(nogil=True, cache=True)
def _no_difference(a: CallColumns, e: CallColumns, mine: I64, theirs: I64) -> bool:
    """Whether all agreements between these calls are certainly equal, found by sorting their arguments.

    They are 0 if no argument has a value that occurs on both sides. They are equal if every call has the same
    arguments and each of these is either one constant everywhere or never equal across the sides.
    """
    total = 0
    for i in mine:
        total += a.top_first[i + 1] - a.top_first[i]
    for j in theirs:
        total += e.top_first[j + 1] - e.top_first[j]
    key, hi, lo = np.empty(total, np.uint64), np.empty(total, np.uint64), np.empty(total, np.uint64)
    split = _copy_arguments(a, mine, 0, key, hi, lo)
    _copy_arguments(e, theirs, split, key, hi, lo)
    order = np.argsort(lo, kind="mergesort")
    order = order[np.argsort(hi[order], kind="mergesort")]
    order = order[np.argsort(key[order], kind="mergesort")]
    nothing, alike = True, True
    start = 0
    while start < total:
        stop, values, common = start, 0, False
        while stop < total and key[order[stop]] == key[order[start]]:
            value, ours, other = order[stop], False, False
            while stop < total and key[order[stop]] == key[value] and _same(hi, lo, order[stop], value):
                ours, other = ours or order[stop] < split, other or order[stop] >= split
                stop += 1
            values += 1
            common = common or (ours and other)
        nothing = nothing and not common
        alike = alike and stop - start == mine.size + theirs.size and (values == 1 or not common)
        start = stop
    return nothing or alike


@njit(nogil=True, cache=True)
def _same(hi: U64, lo: U64, x: int, y: int) -> bool:
    """Whether two entries have one value."""
    return hi[x] == hi[y] and lo[x] == lo[y]


@njit(nogil=True, cache=True)
def _copy_arguments(side: CallColumns, calls: I64, at: int, key: U64, hi: U64, lo: U64) -> int:
    """Copy the top-level arguments of some calls to `key`, `hi`, `lo` from `at` on; returns where they end."""
    for call in calls:
        for k in range(side.top_first[call], side.top_first[call + 1]):
            key[at], hi[at], lo[at] = side.top_key[k], side.top_hi[k], side.top_lo[k]
            at += 1
    return at
