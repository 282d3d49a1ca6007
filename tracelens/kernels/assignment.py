"""The best one-to-one assignment over int64 weights, and the lexicographically smallest of all best ones.

Weights are given once per *type*: many calls are equal to each other, and equal calls weigh the same. Time is cubic
in the worst case and much less where a row finds a free column it likes best.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracelens.kernels.jit import kernel, lean

I64 = NDArray[np.int64]
B1 = NDArray[np.bool_]
FAR = np.iinfo(np.int64).max


@kernel
def heaviest(weight: I64, row_type: I64, column_type: I64) -> tuple[I64, I64, I64]:
    """The assignment of greatest weight (Hungarian method, shortest augmenting paths).

    Args:
        weight: Weight of each row type with each column type, >= 0, int64 [row types, column types].
        row_type: Type of each row; at most as many rows as columns.
        column_type: Type of each column.

    Returns:
        The row of each column (-1: none), and prices of rows and columns: the two prices of a pair are never below
        its weight, equal to it for assigned pairs, and 0 for a column without a row.
    """
    rows, columns = row_type.size, column_type.size
    row_price, column_price = np.zeros(rows, np.int64), np.zeros(columns, np.int64)
    owner = np.full(columns, -1, np.int64)
    slack, origin = np.empty(columns, np.int64), np.empty(columns, np.int64)
    tree, reached = np.empty(columns, np.int64), np.empty(columns, np.bool_)
    for start in range(rows):
        line = weight[row_type[start]]
        best = np.int64(0)
        for c in range(columns):
            best = max(best, line[column_type[c]] - column_price[c])
        row_price[start] = best
        slack[:] = FAR
        reached[:] = False
        _grow(weight, row_type, column_type, start, row_price, column_price, owner, slack, origin, tree, reached)
    return owner, row_price, column_price


@lean
def _grow(
    weight: I64,
    row_type: I64,
    column_type: I64,
    start: int,
    row_price: I64,
    column_price: I64,
    owner: I64,
    slack: I64,
    origin: I64,
    tree: I64,
    reached: B1,
) -> None:
    """Find the shortest path from row `start` to a free column, adjust prices, and reassign along it."""
    row, via, total, size = start, -1, np.int64(0), 0
    columns = column_type.size
    while True:
        line = weight[row_type[row]]
        lower = total + row_price[row]
        nearest, free = -1, False
        for c in range(columns):
            if reached[c]:
                continue
            distance = lower + column_price[c] - line[column_type[c]]
            if distance < slack[c]:
                slack[c], origin[c] = distance, via
            if nearest < 0 or slack[c] < slack[nearest] or (slack[c] == slack[nearest] and not free and owner[c] < 0):
                nearest, free = c, owner[c] < 0
        total = slack[nearest]
        if free:
            break
        reached[nearest] = True
        tree[size] = nearest
        size += 1
        row, via = owner[nearest], nearest
    row_price[start] -= total
    for k in range(size):
        rise = total - slack[tree[k]]
        row_price[owner[tree[k]]] -= rise
        column_price[tree[k]] += rise
    while True:
        via = origin[nearest]
        owner[nearest] = start if via < 0 else owner[via]
        if via < 0:
            return
        nearest = via


@kernel
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


@lean
def is_tight(turned: I64, row_type: I64, column_type: I64, row_price: I64, column_price: I64, r: int, c: int) -> bool:
    """Whether some best assignment may pair r and c, both prices spent.

    Rows or columns beyond the given ones stand for "nobody": they weigh nothing and cost nothing.
    """
    if r >= row_type.size:
        return column_price[c] == 0
    if c >= column_type.size:
        return row_price[r] == 0
    return row_price[r] + column_price[c] == turned[column_type[c], row_type[r]]


@lean
def smallest_column(
    turned: I64,
    row_type: I64,
    column_type: I64,
    row_price: I64,
    column_price: I64,
    r: int,
    rank: I64,
    mate: I64,
    owner: I64,
    settled: B1,
    move: I64,
    queue: I64,
    scratch: I64,
) -> int:
    """The column of lowest rank that row r has in some best assignment which keeps all settled rows.

    Args:
        turned: Weights as in `heaviest`, but by column type first: rows are looked through for one column.
        row_type: Type of each row.
        column_type: Type of each column.
        row_price: Price of each row.
        column_price: Price of each column.
        r: The row.
        rank: Rank of each real column; ties go to the column r has now.
        mate: Column of each row in the current assignment, padded to a square.
        owner: Row of each column.
        settled: Rows that must keep their column.
        move: Filled: where each row that can make room would go, else -1.
        queue: Scratch space, one longer than `mate`.
        scratch: Scratch space.

    Returns:
        The column; `move` then holds the path that frees it.
    """
    now = mate[r]
    bound = rank[now] if now < rank.size else FAR
    goal, goal_rank = -1, bound
    for c in range(rank.size):
        if rank[c] < goal_rank and not settled[owner[c]]:
            if is_tight(turned, row_type, column_type, row_price, column_price, r, c):
                goal, goal_rank = owner[c], rank[c]
    if goal < 0:
        return now
    rest, tail = 0, 1  # scratch[:rest]: rows not reached yet; queue[:tail]: columns they might move to
    for other in range(mate.size):
        move[other] = -1
        if other != r and not settled[other]:
            scratch[rest] = other
            rest += 1
    queue[0] = now
    head = 0
    while head < tail and move[goal] < 0:
        c = queue[head]
        head += 1
        kept = 0
        for k in range(rest):
            other = scratch[k]
            if is_tight(turned, row_type, column_type, row_price, column_price, other, c):
                move[other] = c
                queue[tail] = mate[other]
                tail += 1
            else:
                scratch[kept] = other
                kept += 1
        rest = kept
    best = now
    for c in range(rank.size):
        if rank[c] < bound and move[owner[c]] >= 0:
            if is_tight(turned, row_type, column_type, row_price, column_price, r, c):
                best, bound = c, rank[c]
    return best


@lean
def take_column(r: int, c: int, mate: I64, owner: I64, move: I64) -> None:
    """Give row r the column that `smallest_column` found; the rows in its way move on."""
    free = mate[r]
    mover, place = r, c
    while True:
        evicted = owner[place]
        owner[place], mate[mover] = mover, place
        if place == free:
            return
        mover, place = evicted, move[evicted]
