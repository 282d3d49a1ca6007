"""Projection: walk JSON records against a trie of wanted paths and note where the wanted values stand.

A *table* is begun by a row marker of the trie: each value that stands at such a place becomes a row. Tables nest
(record > message > call). A *cell* is a value wanted for a row: its kind, flags and byte range in the buffer; the
range of a string is its contents. Everything outside the trie is checked strictly and skipped. In an object with a
repeated key the last value counts, and what the earlier ones gave is taken back. A bad record leaves its code and
position and no rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tracelens.kernels.jit import kernel
from tracelens.kernels.known import WINDOW, known_end, remember, slot_of
from tracelens.kernels.scan import (
    ARRAY,
    E_CHAR,
    E_END,
    E_TRAILING,
    OBJECT,
    STRING,
    decode_string,
    scan_scalar,
    scan_string,
    skip_space,
    skip_value_in,
)
from tracelens.kernels.words import PADDING, byte_at, equal_bytes, inlined, lean, load8, pointer

MAX_DEPTH = 1024
"""Containers a record may nest. Wider than the limit for arguments, so that one deep call does not lose a record."""

FLAG_SHIFT = 4
"""A cell's byte holds its kind in the low bits (0 = absent) and the scanner's flags above them."""

FULL = -1
"""Outcome of a walk that ran out of room."""


class Trie(NamedTuple):
    """The wanted paths. Nodes are numbered in pre-order; -1 means none.

    Attributes:
        first, count: int32[nodes]: a node's named members are edges ``first`` to ``first + count``.
        element, member: int32[nodes]: node of array elements; node of members that are not named.
        table: int32[nodes]: table that a value here begins a row of.
        slot, owner, marker: int32[nodes]: column that a value here fills (the row's own where one begins), its table,
            and the node where the row that it belongs to began.
        last: int32[nodes]: last node below this one.
        edge_word, edge_size, edge_node, edge_name: int64[edges]: the key's first eight bytes, its length, the node it
            leads to, and where the key stands in ``names``.
        edge_plain: uint8[edges]: 1 where the key reads the same in JSON text and may be known by its bytes alone.
        names: uint8, the keys back to back, padded.
    """

    first: np.ndarray
    count: np.ndarray
    element: np.ndarray
    member: np.ndarray
    table: np.ndarray
    slot: np.ndarray
    owner: np.ndarray
    marker: np.ndarray
    last: np.ndarray
    edge_word: np.ndarray
    edge_size: np.ndarray
    edge_node: np.ndarray
    edge_name: np.ndarray
    edge_plain: np.ndarray
    names: np.ndarray


class Rows(NamedTuple):
    """What the walk fills.

    Attributes:
        room, count, first: int64[tables]: rows a table has room for, rows it has, its first row's place in ``parent``.
        column: int64[tables + 1]: first column of a table: its own value, then its own key, then its slots.
        above: int64[tables]: the enclosing table, -1 for the outermost.
        base: int64[columns]: column c's cell of row r is cell ``base[c] + r``.
        kind: uint8[cells], zero at first: kind of `kernels.scan` plus one, and flags shifted by `FLAG_SHIFT`.
        start, end: int32[cells].
        parent: int32[rows]: row of the enclosing table (record number in the outermost one).
        node: int32[rows]: the row marker. dead: uint8[rows]: 1 where a later duplicate key took the row back.
    """

    room: np.ndarray
    count: np.ndarray
    first: np.ndarray
    column: np.ndarray
    above: np.ndarray
    base: np.ndarray
    kind: np.ndarray
    start: np.ndarray
    end: np.ndarray
    parent: np.ndarray
    node: np.ndarray
    dead: np.ndarray


class Scratch(NamedTuple):
    """Working memory of a walk.

    Attributes:
        node, start, stamp: int64[depth]: the open containers: trie node, position, running number.
        seen: int64[edges]: running number of the object in which an edge was last met.
        hint: int64[nodes]: the edge to try first.
        state: int64[4]: containers opened so far; range and flags of the key of an unnamed member (-1: none).
        nest: uint8[MAX_DEPTH + 2]: for skipping values.
        key: uint8: room to unescape a key in.
        known: what `kernels.known` remembers of the same bytes.
    """

    node: np.ndarray
    start: np.ndarray
    stamp: np.ndarray
    seen: np.ndarray
    hint: np.ndarray
    state: np.ndarray
    nest: np.ndarray
    key: np.ndarray
    known: np.ndarray


@lean
def trie_pointers(t: Trie) -> Trie:
    """The same trie with a pointer for each array."""
    return Trie(
        pointer(t.first),
        pointer(t.count),
        pointer(t.element),
        pointer(t.member),
        pointer(t.table),
        pointer(t.slot),
        pointer(t.owner),
        pointer(t.marker),
        pointer(t.last),
        pointer(t.edge_word),
        pointer(t.edge_size),
        pointer(t.edge_node),
        pointer(t.edge_name),
        pointer(t.edge_plain),
        pointer(t.names),
    )


@lean
def row_pointers(r: Rows) -> Rows:
    """The same rows with a pointer for each array."""
    return Rows(
        pointer(r.room),
        pointer(r.count),
        pointer(r.first),
        pointer(r.column),
        pointer(r.above),
        pointer(r.base),
        pointer(r.kind),
        pointer(r.start),
        pointer(r.end),
        pointer(r.parent),
        pointer(r.node),
        pointer(r.dead),
    )


@lean
def scratch_pointers(w: Scratch) -> Scratch:
    """The same scratch with a pointer for each array."""
    return Scratch(
        pointer(w.node),
        pointer(w.start),
        pointer(w.stamp),
        pointer(w.seen),
        pointer(w.hint),
        pointer(w.state),
        pointer(w.nest),
        pointer(w.key),
        pointer(w.known),
    )


@inlined
def is_key(buf: Any, start: int, edge: int, trie: Trie) -> bool:
    """Whether the bytes at ``start`` begin with the key of an edge."""
    size = trie.edge_size[edge]
    differ = load8(buf, start) ^ np.uint64(trie.edge_word[edge])
    if size < 8:
        return bool(size == 0 or differ << np.uint64(64 - 8 * size) == 0)
    return bool(differ == 0) and equal_bytes(buf, start, trie.names, trie.edge_name[edge], size)


@lean
def find_edge(buf: Any, start: int, size: int, node: int, trie: Trie) -> int:
    """The edge of a node for the key of ``size`` bytes at ``start``, or -1."""
    first = np.int64(trie.first[node])
    for edge in range(first, first + trie.count[node]):
        if trie.edge_size[edge] == size and is_key(buf, start, edge, trie):
            return edge
    return -1


@lean
def find_escaped(buf: Any, start: int, end: int, node: int, trie: Trie, plain: Any, room: int) -> int:
    """`find_edge` for a key that holds escapes; one that does not fit in ``plain`` is longer than any wanted key."""
    if end - start > room - PADDING:
        return -1
    size = decode_string(buf, start, end, plain, 0)
    for k in range(size, size + PADDING):
        plain[k] = 0
    return find_edge(plain, 0, size, node, trie)


@lean
def forget(node: int, since: int, n_tables: int, trie: Trie, rows: Rows) -> None:
    """Take back what the earlier value of a repeated key gave: cells at or below ``node``, rows begun since there."""
    last = trie.last[node]
    for table in range(n_tables):
        own = rows.base[rows.column[table]]
        for r in range(rows.count[table] - 1, -1, -1):
            if rows.start[own + r] < since:
                break
            if node <= rows.node[rows.first[table] + r] <= last:
                rows.dead[rows.first[table] + r] = 1
    for k in range(node, last + 1):
        if trie.slot[k] >= 0 and trie.table[k] < 0 and trie.marker[k] < node:
            rows.kind[rows.base[trie.slot[k]] + rows.count[trie.owner[k]] - 1] = 0


@inlined
def begin_row(node: int, record: int, at: int, rows: Rows, trie: Trie, state: Any) -> bool:
    """Begin a row of a table at position ``at``; False where there is no room for it."""
    table = trie.table[node]
    r = rows.count[table]
    if r >= rows.room[table]:
        return False
    rows.count[table] = r + 1
    place = rows.first[table] + r
    above = rows.above[table]
    rows.parent[place] = record if above < 0 else rows.count[above] - 1
    rows.node[place] = node
    rows.dead[place] = 0
    own = rows.column[table]
    rows.start[rows.base[own] + r] = at
    if state[1] >= 0:
        cell = rows.base[own + 1] + r
        rows.kind[cell] = (STRING + 1) | (state[3] << FLAG_SHIFT)
        rows.start[cell] = state[1]
        rows.end[cell] = state[2]
    return True


@inlined
def put(node: int, what: int, flags: int, start: int, end: int, trie: Trie, rows: Rows) -> None:
    """Fill the cell that a value of ``node`` belongs to: the row's own value, or a column of the row around it."""
    if trie.slot[node] >= 0:
        cell = rows.base[trie.slot[node]] + rows.count[trie.owner[node]] - 1
        inset = what == STRING
        rows.kind[cell] = (what + 1) | ((flags & 7) << FLAG_SHIFT)
        rows.start[cell] = start + inset
        rows.end[cell] = end - inset


@inlined
def plain_value(buf: Any, i: int, end: int, depth: int, work: Scratch) -> tuple[int, int, int]:
    """Check the value at ``i`` as a whole: ``(next, kind, flags)`` or ``(-code, position, 0)``."""
    c = byte_at(buf, i)
    if c != 123 and c != 91:
        return scan_scalar(buf, i, end)
    kind, slot = OBJECT if c == 123 else ARRAY, -1
    if i + WINDOW <= end:
        slot = slot_of(buf, i)
        p = known_end(buf, i, end, depth, slot, work.known)
        if p >= 0:
            return p, kind, 0
    p, at = skip_value_in(buf, i, end, MAX_DEPTH - depth, work.nest)
    if p < 0:
        return p, at, 0
    if slot >= 0:
        remember(i, p, depth, slot, work.known)
    return p, kind, 0


@inlined
def guessed_key(buf: Any, i: int, end: int, node: int, trie: Trie, work: Scratch) -> int:
    """The edge whose key came next the last time, if that key stands at ``i`` again; else -1."""
    edge = work.hint[node]
    if edge < trie.first[node] + trie.count[node] and trie.edge_plain[edge] and is_key(buf, i + 1, edge, trie):
        close = i + 1 + trie.edge_size[edge]
        if close < end and byte_at(buf, i) == 34 and byte_at(buf, close) == 34:
            return edge
    return -1


@inlined
def meet_edge(edge: int, depth: int, n_tables: int, trie: Trie, rows: Rows, work: Scratch) -> int:
    """Note that a member was met, taking an earlier one of the same key back; returns its node."""
    node = np.int64(trie.edge_node[edge])
    if work.seen[edge] == work.stamp[depth]:
        forget(node, work.start[depth], n_tables, trie, rows)
    work.seen[edge] = work.stamp[depth]
    work.hint[work.node[depth]] = edge + 1
    work.state[1] = -1
    return node


@lean
def meet_key(
    buf: Any, i: int, end: int, depth: int, n_tables: int, trie: Trie, rows: Rows, work: Scratch, key_room: int
) -> tuple[int, int]:
    """Read the key at ``i``: ``(index behind it, node of its value)``, -1 where it is not wanted, or an error."""
    p, flags = scan_string(buf, i, end) if byte_at(buf, i) == 34 else (-E_CHAR, i)
    if p < 0:
        return p, flags
    node = work.node[depth]
    if flags & 1:
        edge = find_escaped(buf, i + 1, p - 1, node, trie, work.key, key_room)
    else:
        edge = find_edge(buf, i + 1, p - i - 2, node, trie)
    if edge >= 0:
        return p, meet_edge(edge, depth, n_tables, trie, rows, work)
    work.state[1], work.state[2], work.state[3] = i + 1, p - 1, flags
    return p, np.int64(trie.member[node])


@inlined
def goes_on(c: int, node: int, trie: Trie) -> bool:
    """Whether the trie goes on inside a value of ``node`` that starts with the byte ``c``."""
    if c == 123:
        return bool(trie.count[node] > 0 or trie.member[node] >= 0)
    return bool(c == 91 and trie.element[node] >= 0)


@inlined
def walk_record(
    buf: Any, i: int, end: int, record: int, n_tables: int, key_room: int, trie: Trie, rows: Rows, work: Scratch
) -> tuple[int, int]:
    """Walk one record whose value starts at ``i``: ``(0, 0)``, ``(error code, position)`` or ``(FULL, table)``."""
    depth, node = 0, 0
    work.state[1] = -1
    while True:
        # A value of the node (-1: not wanted) starts at i.
        c = byte_at(buf, i)
        if node >= 0 and trie.table[node] >= 0 and not begin_row(node, record, i, rows, trie, work.state):
            return FULL, trie.table[node]
        ended = node < 0 or not goes_on(c, node, trie)
        if ended:
            start = i
            i, what, flags = plain_value(buf, i, end, depth, work)
            if i < 0:
                return -i, what
            if node >= 0:
                put(node, what, flags, start, i, trie, rows)
        else:
            depth += 1
            work.state[0] += 1
            work.node[depth], work.start[depth], work.stamp[depth] = node, i, work.state[0]
            i = skip_space(buf, i + 1, end)
            ended = i < end and byte_at(buf, i) == c + 2
        # Behind a value, or at the bracket of an empty container: close what ends.
        while ended and depth > 0:
            i = skip_space(buf, i, end)
            if i >= end:
                return E_END, end
            opener = byte_at(buf, work.start[depth])
            c = byte_at(buf, i)
            i += 1
            if c == opener + 2:
                put(work.node[depth], OBJECT if opener == 123 else ARRAY, 0, work.start[depth], i, trie, rows)
                depth -= 1
            elif c == 44:
                i = skip_space(buf, i, end)
                ended = False
            else:
                return E_CHAR, i - 1
        if depth == 0:
            i = skip_space(buf, i, end)
            return (E_TRAILING, i) if i < end else (0, 0)
        if i >= end:
            return E_END, end
        # The next element or key starts at i.
        if byte_at(buf, work.start[depth]) == 91:
            node = np.int64(trie.element[work.node[depth]])
            work.state[1] = -1
            continue
        edge = guessed_key(buf, i, end, work.node[depth], trie, work)
        if edge >= 0:
            i += trie.edge_size[edge] + 2
            node = meet_edge(edge, depth, n_tables, trie, rows, work)
        else:
            i, node = meet_key(buf, i, end, depth, n_tables, trie, rows, work, key_room)
            if i < 0:
                return -i, node
        i = skip_space(buf, i, end)
        if i < end and byte_at(buf, i) != 58:
            return E_CHAR, i
        i = skip_space(buf, i + 1, end)
        if i >= end:
            return E_END, end


@lean
def roll_back(counts: np.ndarray, rows: Rows) -> None:
    """Take back all rows behind ``counts``."""
    for table in range(counts.size):
        for column in range(rows.column[table], rows.column[table + 1]):
            for r in range(counts[table], rows.count[table]):
                rows.kind[rows.base[column] + r] = 0
        rows.count[table] = counts[table]


@kernel
def project(
    data: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    record: int,
    trie_arrays: Trie,
    row_arrays: Rows,
    work_arrays: Scratch,
    errors: np.ndarray,
) -> tuple[int, int]:
    """Walk records from number ``record`` on.

    Args:
        data: uint8, padded.
        starts: int64[records], where each record starts.
        ends: int64[records], where it ends.
        record: The first record to walk.
        trie_arrays: The wanted paths.
        row_arrays: Filled by the walk.
        work_arrays: Working memory.
        errors: int64[records, 2]: code and position of a bad record; code -1 for a blank one, 0 for a good one.

    Returns:
        ``(records, -1)``, or ``(record, table)`` where that table has no room for that record: make room and go on
        from there.
    """
    buf, trie, rows = pointer(data), trie_pointers(trie_arrays), row_pointers(row_arrays)
    work = scratch_pointers(work_arrays)
    counts = row_arrays.count.copy()
    for r in range(record, starts.size):
        i = skip_space(buf, starts[r], ends[r])
        if i >= ends[r]:
            errors[r, 0] = -1
            continue
        for table in range(counts.size):
            counts[table] = rows.count[table]
        code, at = walk_record(buf, i, ends[r], r, counts.size, work_arrays.key.size, trie, rows, work)
        if code != 0:
            roll_back(counts, rows)
            if code == FULL:
                return r, at
            errors[r, 0] = code
            errors[r, 1] = at
    return starts.size, -1
