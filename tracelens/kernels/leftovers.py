"""The optimal pairing of many calls of one name: equal calls as multisets, and only what is left over is assigned."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.assignment import FAR, smallest_column, solve, take_column
from tracelens.kernels.calls import CAPTURED, I32, I64, U64, USABLE, Calls, worth_of
from tracelens.kernels.jit import kernel, lean
from tracelens.kernels.sorting import stable_order


@kernel
def kinds(a: Calls, e: Calls, rows: I64, columns: I64) -> tuple[I64, int]:
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
        whole[k] = a.flags[rows[k]] & USABLE != 0
    for k in range(columns.size):
        hi[n + k], lo[n + k] = e.hi[columns[k]], e.lo[columns[k]]
        whole[n + k] = e.flags[columns[k]] & USABLE != 0
    order = stable_order(hi, lo)
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


@kernel
def _samples(kind: I64, left: I64) -> I64:
    """The first call of every kind that leaves calls over, by kind."""
    first, copies = copies_of(kind, left.size)
    which = np.flatnonzero(left)
    return copies[first[which]]


@kernel
def copies_of(kind: I64, count: int) -> tuple[I64, I64]:
    """Positions by kind, ascending within one: bounds [count + 1] and positions."""
    first, copies = np.zeros(count + 1, np.int64), np.empty(kind.size, np.int64)
    for k in range(kind.size):
        first[kind[k] + 1] += 1
    for k in range(count):
        first[k + 1] += first[k]
    place = first.copy()
    for k in range(kind.size):
        copies[place[kind[k]]] = k
        place[kind[k]] += 1
    return first, copies


@kernel
def _copied(order: I64, start: int, stop: int) -> I64:
    """Some of the calls as an array of their own."""
    out = np.empty(stop - start, np.int64)
    for k in range(out.size):
        out[k] = order[start + k]
    return out


@kernel
def pair_many(
    a: Calls,
    e: Calls,
    a_order: I64,
    p: int,
    p_stop: int,
    e_order: I64,
    q: int,
    q_stop: int,
    e_first: int,
    partner: I32,
    offset: int,
) -> None:
    """Pair calls of one name: equal ones as multisets; what is left over is assigned only if it makes a difference.

    Args:
        a: The actual calls.
        e: The expected calls.
        a_order: From `p` to `p_stop`, the actual calls of the name.
        p: See `a_order`.
        p_stop: See `a_order`.
        e_order: From `q` to `q_stop`, the expected calls of the name.
        q: See `e_order`.
        q_stop: See `e_order`.
        e_first: First expected call of the unit.
        partner: Filled: at `offset` and the actual call, its expected call counted from `e_first`.
        offset: See `partner`.
    """
    rows, columns = _copied(a_order, p, p_stop), _copied(e_order, q, q_stop)
    kind, count = kinds(a, e, rows, columns)
    row_kind, column_kind = kind[: rows.size], kind[rows.size :]
    exact, row_left, column_left = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    for k in range(row_kind.size):
        row_left[row_kind[k]] += 1
    for k in range(column_kind.size):
        column_left[column_kind[k]] += 1
    for k in range(count):
        exact[k] = min(row_left[k], column_left[k])
        row_left[k] -= exact[k]
        column_left[k] -= exact[k]
    chosen = np.full(rows.size, -1, np.int64)
    mine, theirs = rows[_samples(row_kind, row_left)], columns[_samples(column_kind, column_left)]
    if mine.size == 0 or theirs.size == 0 or _no_difference(a, e, mine, theirs):
        _settle_freely(row_kind, column_kind, exact, row_left, column_left, chosen)
    else:
        weight = np.empty((mine.size, theirs.size), np.int64)
        for r in range(mine.size):
            for c in range(theirs.size):
                weight[r, c] = worth_of(a, e, mine[r], theirs[c], 0)
        _settle_assigned(weight, row_kind, column_kind, exact, row_left, column_left, chosen)
    for r in range(rows.size):
        if chosen[r] >= 0:
            partner[offset + rows[r]] = columns[chosen[r]] - e_first


@kernel
def pair_directly(
    a: Calls,
    e: Calls,
    a_order: I64,
    p: int,
    p_stop: int,
    e_order: I64,
    q: int,
    q_stop: int,
    bonus: int,
    e_first: int,
    partner: I32,
    offset: int,
) -> None:
    """The same, every call for itself: assign by worth (see `worth_of`), then settle each actual call in order."""
    rows, columns = _copied(a_order, p, p_stop), _copied(e_order, q, q_stop)
    weight = np.empty((rows.size, columns.size), np.int64)
    for r in range(rows.size):
        for c in range(columns.size):
            weight[r, c] = worth_of(a, e, rows[r], columns[c], bonus)
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
            partner[offset + rows[r]] = columns[c] - e_first


@kernel
def _settle_freely(row_kind: I64, column_kind: I64, exact: I64, row_left: I64, column_left: I64, chosen: I64) -> None:
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


@kernel
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
    turned = np.ascontiguousarray(weight.T)
    size = mate.size
    settled, move, queue = np.zeros(size, np.bool_), np.empty(size, np.int64), np.empty(size + 1, np.int64)
    scratch = np.empty(size, np.int64)
    rank = np.empty(column_type.size, np.int64)
    for c in range(rank.size):
        rank[c] = copies[first[column_kinds[column_type[c]]]]
    for r in range(row_kind.size):
        mine = row_kind[r]
        equal = copies[first[mine]] if exact[mine] > 0 else FAR
        if row_left[mine] > 0:
            slot = row_slot[mine]
            c = smallest_column(
                turned,
                row_type,
                column_type,
                row_price,
                column_price,
                slot,
                rank,
                mate,
                owner,
                settled,
                move,
                queue,
                scratch,
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


@kernel
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


@kernel
def _no_difference(a: Calls, e: Calls, mine: I64, theirs: I64) -> bool:
    """Whether all agreements between these calls are certainly equal, found by sorting their arguments.

    They are 0 if no argument has a value that occurs on both sides. They are equal if every call has the same
    arguments and each of these is either one constant everywhere or never equal across the sides.
    """
    total, captured = 0, 0
    for i in mine:
        total += a.top_count[i]
        captured += a.flags[i] & CAPTURED != 0
    if captured not in (0, mine.size):
        return False
    for j in theirs:
        total += e.top_count[j]
    key, hi, lo = np.empty(total, np.uint64), np.empty(total, np.uint64), np.empty(total, np.uint64)
    split = _copy_arguments(a, mine, 0, key, hi, lo)
    _copy_arguments(e, theirs, split, key, hi, lo)
    order = stable_order(hi, lo)
    order = order[stable_order(key[order], key[order])]
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


@lean
def _same(hi: U64, lo: U64, x: int, y: int) -> bool:
    """Whether two entries have one value."""
    return hi[x] == hi[y] and lo[x] == lo[y]


@lean
def _copy_arguments(side: Calls, calls: I64, at: int, key: U64, hi: U64, lo: U64) -> int:
    """Copy the top-level arguments of some calls to `key`, `hi`, `lo` from `at` on; returns where they end."""
    for call in calls:
        for k in range(side.top_first[call], side.top_first[call] + side.top_count[call]):
            key[at], hi[at], lo[at] = side.top[3 * k], side.top[3 * k + 1], side.top[3 * k + 2]
            at += 1
    return at
