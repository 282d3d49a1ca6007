"""Projection: walk JSON records against a trie of wanted paths and note where the wanted values stand.

A *table* is begun by a row marker of the trie: each value that stands at such a place becomes a row. Tables nest
(record > message > call). A *cell* is a value wanted for a row: its kind, flags and byte range in the buffer; the
range of a string is its contents. Everything outside the trie is checked strictly and skipped. In an object with a
repeated key the last value counts, and what the earlier ones gave is taken back. A bad record leaves its code and
position and no rows.

The arrays, which many functions share (few and plain, since Numba pays for every array it hands over):

- ``nodes`` int32[nodes, 9]: the trie in pre-order, columns ``N_…`` below, -1 for none.
- ``edges`` int64[edges, 4]: named members, columns ``E_…``; ``names`` uint8: their keys back to back, padded.
- ``tables`` int64[tables, 5]: columns ``T_…``.
- ``base`` int64[columns]: column c's cell of row r is cell ``base[c] + r``. A table's columns are its own value, its
  own key, then its slots.
- ``kind`` uint8[cells], zero at first: kind of `kernels.scan` plus one, and flags shifted by `FLAG_SHIFT`;
  ``span`` int32[cells, 2]: start and end.
- ``lines`` int32[rows, 3]: columns ``R_…`` of row r of table t at ``tables[t, T_ROWS] + r``.
- ``frames`` int64[depth, 3]: node, start and stamp of the open containers; ``seen`` int64[edges]: stamp of the object
  in which an edge was last met; ``hint`` int32[nodes]: the edge to try first; ``nest`` bool[MAX_DEPTH + 2]: scratch;
  ``state`` int64[4]: number of objects opened, then range and flags of the key of an unnamed member (-1: none).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tracelens.kernels.scan import (
    ARRAY,
    E_CHAR,
    E_END,
    E_TRAILING,
    OBJECT,
    STRING,
    decode_string,
    scan_key,
    scan_scalar,
    skip_space,
    skip_value_in,
)
from tracelens.kernels.words import PADDING, byte_at, inlined, lean, load8

MAX_DEPTH = 1024
"""Containers a record may nest. Wider than the limit for arguments, so that one deep call does not lose a record."""

FLAG_SHIFT = 4
"""A cell's byte holds its kind in the low bits (0 = absent) and the scanner's flags above them."""

FULL = -1
"""Outcome of a walk that ran out of room."""

# Named members of a node; nodes of array elements and of other members; table begun here; column filled here, its
# table and the node where that table's row began; last node below.
N_FIRST, N_COUNT, N_ELEMENT, N_MEMBER, N_TABLE, N_SLOT, N_OWNER, N_MARKER, N_LAST = range(9)
# First eight bytes of the key, its length, the node it leads to, its place in `names`.
E_WORD, E_SIZE, E_NODE, E_NAME = range(4)
# Room for rows, rows so far, first row's place in `lines`, first column, enclosing table.
T_ROOM, T_COUNT, T_ROWS, T_COLUMN, T_PARENT = range(5)
# Row of the enclosing table (record number in the first table), row marker, 1 where it was taken back.
R_PARENT, R_NODE, R_DEAD = range(3)


@lean
def same_bytes(a: np.ndarray, i: int, b: np.ndarray, j: int, size: int) -> bool:
    """Whether ``size`` bytes at ``a[i]`` and ``b[j]`` are equal."""
    for k in range(size):
        if a[i + k] != b[j + k]:
            return False
    return True


@inlined
def find_edge(
    buf: np.ndarray, start: int, size: int, first: int, n: int, guess: int, edges: np.ndarray, names: np.ndarray
) -> int:
    """The edge among ``n`` from ``first`` for the key of ``size`` bytes at ``start``, or -1; ``guess`` is tried first."""
    word = np.int64(load8(buf, start))
    if size < 8:
        word &= (np.int64(1) << (8 * size)) - 1
    edge = first + guess
    for _ in range(n):
        if edge >= first + n:
            edge = first
        if edges[edge, E_WORD] == word and edges[edge, E_SIZE] == size:
            if size <= 8 or same_bytes(buf, start + 8, names, edges[edge, E_NAME] + 8, size - 8):
                return edge
        edge += 1
    return -1


@lean
def find_escaped(
    buf: np.ndarray,
    start: int,
    end: int,
    first: int,
    n: int,
    edges: np.ndarray,
    names: np.ndarray,
    plain: np.ndarray,
) -> int:
    """`find_edge` for a key that holds escapes, unescaped into ``plain``; one too long for it is no wanted key."""
    if end - start > plain.size - PADDING:
        return -1
    plain[:] = 0
    size = decode_string(buf, start, end, plain, 0)
    return find_edge(plain, 0, size, first, n, 0, edges, names)


@lean
def forget(
    node: int,
    since: int,
    nodes: np.ndarray,
    tables: np.ndarray,
    base: np.ndarray,
    kind: np.ndarray,
    span: np.ndarray,
    lines: np.ndarray,
) -> None:
    """Take back what the earlier value of a repeated key gave: cells at or below ``node``, rows begun since there."""
    last = nodes[node, N_LAST]
    for table in range(tables.shape[0]):
        own = base[tables[table, T_COLUMN]]
        for r in range(tables[table, T_COUNT] - 1, -1, -1):
            if span[own + r, 0] < since:
                break
            row = tables[table, T_ROWS] + r
            if node <= lines[row, R_NODE] <= last:
                lines[row, R_DEAD] = 1
    for k in range(node, last + 1):
        if nodes[k, N_SLOT] >= 0 and nodes[k, N_MARKER] < node:
            kind[base[nodes[k, N_SLOT]] + tables[nodes[k, N_OWNER], T_COUNT] - 1] = 0


@inlined
def begin_row(
    node: int,
    table: int,
    record: int,
    at: int,
    tables: np.ndarray,
    base: np.ndarray,
    kind: np.ndarray,
    span: np.ndarray,
    lines: np.ndarray,
    state: np.ndarray,
) -> bool:
    """Begin a row of a table at position ``at``; False where there is no room for it."""
    r = tables[table, T_COUNT]
    if r >= tables[table, T_ROOM]:
        return False
    tables[table, T_COUNT] = r + 1
    row = tables[table, T_ROWS] + r
    above = tables[table, T_PARENT]
    lines[row, R_PARENT] = record if above < 0 else tables[above, T_COUNT] - 1
    lines[row, R_NODE] = node
    lines[row, R_DEAD] = 0
    column = tables[table, T_COLUMN]
    span[base[column] + r, 0] = at
    if state[1] >= 0:
        cell = base[column + 1] + r
        kind[cell] = (STRING + 1) | (state[3] << FLAG_SHIFT)
        span[cell, 0] = state[1]
        span[cell, 1] = state[2]
    return True


@inlined
def put(
    node: int,
    what: int,
    flags: int,
    start: int,
    end: int,
    nodes: np.ndarray,
    tables: np.ndarray,
    base: np.ndarray,
    kind: np.ndarray,
    span: np.ndarray,
) -> None:
    """Fill the cell that a value of ``node`` belongs to: the row's own value, or a column of the row around it."""
    table = nodes[node, N_TABLE]
    if table >= 0:
        cell = base[tables[table, T_COLUMN]] + tables[table, T_COUNT] - 1
    else:
        if nodes[node, N_SLOT] < 0:
            return
        cell = base[nodes[node, N_SLOT]] + tables[nodes[node, N_OWNER], T_COUNT] - 1
    inset = 1 if what == STRING else 0
    kind[cell] = (what + 1) | ((flags & 7) << FLAG_SHIFT)
    span[cell, 0] = start + inset
    span[cell, 1] = end - inset


@inlined
def plain_value(buf: np.ndarray, i: int, end: int, depth: int, nest: np.ndarray) -> tuple[int, int, int]:
    """Check the value at ``i`` as a whole: ``(next, kind, flags)`` or ``(-code, position, 0)``."""
    c = byte_at(buf, i)
    if c != 123 and c != 91:
        return scan_scalar(buf, i, end)
    p, at = skip_value_in(buf, i, end, MAX_DEPTH - depth, nest)
    if p < 0:
        return p, at, 0
    return p, OBJECT if c == 123 else ARRAY, 0


@inlined
def skip_member(buf: np.ndarray, i: int, end: int, depth: int, nest: np.ndarray) -> tuple[int, int, bool]:
    """Skip a member's value at ``i``: ``(next key or behind the brace, error position, whether the object ended)``."""
    i, at, _ = plain_value(buf, i, end, depth, nest)
    if i < 0:
        return i, at, True
    i = skip_space(buf, i, end)
    if i >= end:
        return -E_END, end, True
    if byte_at(buf, i) == 125:
        return i + 1, 0, True
    if byte_at(buf, i) != 44:
        return -E_CHAR, i, True
    return skip_space(buf, i + 1, end), 0, False


@inlined
def next_member(
    buf: np.ndarray,
    i: int,
    end: int,
    depth: int,
    nodes: np.ndarray,
    edges: np.ndarray,
    names: np.ndarray,
    hint: np.ndarray,
    frames: np.ndarray,
    nest: np.ndarray,
    state: np.ndarray,
    plain: np.ndarray,
) -> tuple[int, int, int]:
    """From a key on, skip to a member that is wanted: ``(index of its value, its edge, 0)``.

    The edge is -1 where the object ended first (the index is then behind its brace) and -2 for an unnamed member. On
    an error the index is ``-code`` and the last item the position.
    """
    node = frames[depth, 0]
    first, n = nodes[node, N_FIRST], nodes[node, N_COUNT]
    while True:
        key = i + 1
        i, stop, flags = scan_key(buf, i, end)
        if i < 0:
            return i, -1, stop
        if flags & 1:
            edge = find_escaped(buf, key, stop, first, n, edges, names, plain)
        else:
            edge = find_edge(buf, key, stop - key, first, n, hint[node], edges, names)
        if edge >= 0:
            hint[node] = edge - first + 1
            state[1] = -1
            return i, edge, 0
        if nodes[node, N_MEMBER] >= 0:
            state[1], state[2], state[3] = key, stop, flags
            return i, -2, 0
        i, at, ended = skip_member(buf, i, end, depth, nest)
        if ended:
            return i, -1, at


@inlined
def step_inside(buf: np.ndarray, i: int, end: int, opener: int, first: bool) -> tuple[int, int, bool]:
    """From behind the opening bracket (``first``) or a value to the next key or element, or behind the closing one.

    Returns:
        ``(next, error position, whether the container ended)``.
    """
    i = skip_space(buf, i, end)
    if i >= end:
        return -E_END, end, True
    if byte_at(buf, i) == opener + 2:
        return i + 1, 0, True
    if not first:
        if byte_at(buf, i) != 44:
            return -E_CHAR, i, True
        i = skip_space(buf, i + 1, end)
        if i >= end:
            return -E_END, end, True
    return i, 0, False


@inlined
def walk_record(
    buf: np.ndarray,
    i: int,
    end: int,
    record: int,
    nodes: np.ndarray,
    edges: np.ndarray,
    names: np.ndarray,
    tables: np.ndarray,
    base: np.ndarray,
    kind: np.ndarray,
    span: np.ndarray,
    lines: np.ndarray,
    frames: np.ndarray,
    seen: np.ndarray,
    hint: np.ndarray,
    nest: np.ndarray,
    state: np.ndarray,
    plain: np.ndarray,
) -> tuple[int, int]:
    """Walk one record whose value starts at ``i``: ``(0, 0)``, ``(error code, position)`` or ``(FULL, table)``."""
    depth = 0
    node = 0
    state[1] = -1
    while True:
        table = nodes[node, N_TABLE]
        if table >= 0 and not begin_row(node, table, record, i, tables, base, kind, span, lines, state):
            return FULL, table
        c = byte_at(buf, i)
        first = False
        if c == 123:
            first = nodes[node, N_COUNT] > 0 or nodes[node, N_MEMBER] >= 0
        elif c == 91:
            first = nodes[node, N_ELEMENT] >= 0
        if first:
            depth += 1
            state[0] += 1
            frames[depth, 0], frames[depth, 1], frames[depth, 2] = node, i, state[0]
            i += 1
        else:
            start = i
            i, what, flags = plain_value(buf, i, end, depth, nest)
            if i < 0:
                return -i, what
            put(node, what, flags, start, i, nodes, tables, base, kind, span)
        node = -1
        while depth > 0 and node < 0:
            opener = byte_at(buf, frames[depth, 1])
            i, at, ended = step_inside(buf, i, end, opener, first)
            first = False
            if not ended:
                if opener == 91:
                    node = nodes[frames[depth, 0], N_ELEMENT]
                    state[1] = -1
                    break
                i, edge, at = next_member(buf, i, end, depth, nodes, edges, names, hint, frames, nest, state, plain)
                if edge == -2:
                    node = nodes[frames[depth, 0], N_MEMBER]
                elif edge >= 0:
                    node = edges[edge, E_NODE]
                    if seen[edge] == frames[depth, 2]:
                        forget(node, frames[depth, 1], nodes, tables, base, kind, span, lines)
                    seen[edge] = frames[depth, 2]
            if i < 0:
                return -i, at
            if node < 0:
                what = OBJECT if opener == 123 else ARRAY
                put(frames[depth, 0], what, 0, frames[depth, 1], i, nodes, tables, base, kind, span)
                depth -= 1
        if node < 0:
            i = skip_space(buf, i, end)
            return (E_TRAILING, i) if i < end else (0, 0)


@lean
def roll_back(counts: np.ndarray, tables: np.ndarray, base: np.ndarray, kind: np.ndarray) -> None:
    """Take back all rows behind ``counts``."""
    for table in range(counts.size):
        stop = tables[table + 1, T_COLUMN] if table + 1 < counts.size else base.size
        for column in range(tables[table, T_COLUMN], stop):
            kind[base[column] + counts[table] : base[column] + tables[table, T_COUNT]] = 0
        tables[table, T_COUNT] = counts[table]


@njit(nogil=True, cache=True)
def project(
    buf: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    record: int,
    nodes: np.ndarray,
    edges: np.ndarray,
    names: np.ndarray,
    tables: np.ndarray,
    base: np.ndarray,
    kind: np.ndarray,
    span: np.ndarray,
    lines: np.ndarray,
    frames: np.ndarray,
    seen: np.ndarray,
    hint: np.ndarray,
    nest: np.ndarray,
    state: np.ndarray,
    plain: np.ndarray,
    errors: np.ndarray,
) -> tuple[int, int]:
    """Walk records from number ``record`` on; see the top of this module for the shared arrays.

    Args:
        buf: Padded bytes.
        starts: int64[records], where each record starts.
        ends: int64[records], where it ends.
        record: The first record to walk.
        errors: int64[records, 2]: code and position of a bad record; code -1 for a blank one, 0 for a good one.

    Returns:
        ``(records, -1)``, or ``(record, table)`` where that table has no room for that record: make room and go on
        from there.
    """
    counts = tables[:, T_COUNT].copy()
    for r in range(record, starts.size):
        i = skip_space(buf, starts[r], ends[r])
        if i >= ends[r]:
            errors[r, 0] = -1
            continue
        counts[:] = tables[:, T_COUNT]
        code, at = walk_record(
            buf,
            i,
            ends[r],
            r,
            nodes,
            edges,
            names,
            tables,
            base,
            kind,
            span,
            lines,
            frames,
            seen,
            hint,
            nest,
            state,
            plain,
        )
        if code != 0:
            roll_back(counts, tables, base, kind)
            if code == FULL:
                return r, at
            errors[r, 0] = code
            errors[r, 1] = at
    return starts.size, -1
