"""Leaf by leaf: which leaves of two shredded values stand at the same path, and whether they are equal.

A leaf is a scalar, an empty container (but no arguments at all are no leaf), or anything that is compared as a whole (an ignored value, an array as a
multiset or set, a value under a rule list).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tracelens.kernels.digest import R_DEFAULT, R_EXACT, R_IGNORE, RuleTrie, is_dropped, trie_pointers
from tracelens.kernels.fold import fold_into, quote_into
from tracelens.kernels.hash import SEED_A, SEED_B, finish, step_a
from tracelens.kernels.scan import DEAD, ESCAPED, NUMBER, OBJECT, STRING, decode_string
from tracelens.kernels.shred import Tape, tape_pointers
from tracelens.kernels.words import inlined, lean, load8, pointer, store8

EQUAL, DIFFERS, MISSING, UNEXPECTED, IGNORED, NOT_COMPARED = range(6)
STATUSES = ("equal", "differs", "missing", "unexpected", "ignored", "not_compared")
"""Values of ``argument_diffs.status``, in the order of the codes."""

FEW = 48


class Side(NamedTuple):
    """One side of a comparison: shredded values with their rules and digests, per entry.

    Attributes:
        tape: the values.
        node: int32, trie node or -1.
        path: uint64, hash of the path.
        hi: uint64, digest.
        lo: uint64, digest.
    """

    tape: Tape
    node: np.ndarray
    path: np.ndarray
    hi: np.ndarray
    lo: np.ndarray


@lean
def side_pointers(side: Side) -> Side:
    """The same side with a pointer for each array."""
    return Side(tape_pointers(side.tape), pointer(side.node), pointer(side.path), pointer(side.hi), pointer(side.lo))


@lean
def path_hashes(tape: Tape, path: np.ndarray) -> None:
    """Write the hash of every entry's path (keys and array indices from the root) to ``path`` (uint64)."""
    for e in range(path.size):
        parent = tape.parent[e]
        if parent < 0:
            path[e] = SEED_A
        elif tape.key_start[e] < 0:
            path[e] = finish(step_a(path[parent] ^ SEED_B, np.uint64(tape.index[e])))
        else:
            path[e] = finish(step_a(path[parent], tape.key_hash[e]))


@lean
def leaves_of(side: Side, trie: RuleTrie, text: int, out: np.ndarray) -> int:
    """Write the leaf entries of one text to ``out`` in order and return their number."""
    n = 0
    tape = side.tape
    e, stop = tape.first[text], tape.first[text + 1]
    while e < stop:
        rule = trie.rule[side.node[e]] if side.node[e] >= 0 else R_DEFAULT
        if tape.flags[e] & DEAD:
            e = np.int64(tape.next[e])
        elif (
            tape.kind[e] >= OBJECT
            and rule <= R_EXACT
            and (tape.size[e] > 0 or (tape.parent[e] < 0 and tape.kind[e] == OBJECT))
        ):
            e += 1
        else:
            out[n] = e
            n += 1
            e = np.int64(tape.next[e])
    return n


@lean
def find_leaf(path: np.ndarray, leaves: np.ndarray, n: int, order: np.ndarray, hint: int, wanted: np.uint64) -> int:
    """The position in ``leaves[:n]`` of the leaf with the wanted path hash, or -1.

    Few leaves are tried one by one from ``hint`` on; many are found by halving over ``order`` (sorted by path hash).
    """
    if n <= FEW:
        for k in range(n):
            at = hint + k if hint + k < n else hint + k - n
            if path[leaves[at]] == wanted:
                return at
        return -1
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if path[leaves[order[middle]]] < wanted:
            low = middle + 1
        else:
            high = middle
    return order[low] if low < n and path[leaves[order[low]]] == wanted else -1


@lean
def verdict(a: Side, e: Side, trie: RuleTrie, i: int, j: int) -> int:
    """The status of two leaves at one path; -1 stands for a side that has none."""
    node = a.node[i] if i >= 0 else e.node[j]
    if node >= 0 and trie.rule[node] == R_IGNORE:
        return IGNORED
    if i >= 0 and j >= 0:
        same = a.hi[i] == e.hi[j] and a.lo[i] == e.lo[j]
        return EQUAL if same else DIFFERS
    if i >= 0:
        return EQUAL if is_dropped(a.tape, a.node, trie, a.hi, a.lo, i) else UNEXPECTED
    return EQUAL if is_dropped(e.tape, e.node, trie, e.hi, e.lo, j) else MISSING


@njit(nogil=True, cache=True)
def align_leaves(
    a: Side,
    e: Side,
    trie: RuleTrie,
    pair_a: np.ndarray,
    pair_e: np.ndarray,
    room_a: np.ndarray,
    room_e: np.ndarray,
    taken: np.ndarray,
    pair: np.ndarray,
    entry_a: np.ndarray,
    entry_e: np.ndarray,
    status: np.ndarray,
) -> int:
    """Compare pairs of texts leaf by leaf.

    Args:
        a: the actual side.
        e: the expected side.
        trie: the rules.
        pair_a: int64[p], actual text of each pair.
        pair_e: int64[p], expected text of each pair.
        room_a: int64 scratch, room for the entries of the largest actual text.
        room_e: int64 scratch, room for the entries of the largest expected text.
        taken: uint8 scratch, as much.
        pair: int64 out, number of the pair of each row.
        entry_a: int64 out, actual leaf or -1.
        entry_e: int64 out, expected leaf or -1.
        status: uint8 out, index into `STATUSES`.

    Returns:
        The number of rows: actual leaves in their order, then expected leaves without a partner.
    """
    n = 0
    side_a, side_e, rules = side_pointers(a), side_pointers(e), trie_pointers(trie)
    leaves_a, leaves_e, used = pointer(room_a), pointer(room_e), pointer(taken)
    order = np.zeros(0, dtype=np.int64)
    for p in range(pair_a.size):
        n_a = leaves_of(side_a, rules, pair_a[p], leaves_a)
        n_e = leaves_of(side_e, rules, pair_e[p], leaves_e)
        for k in range(n_e):
            used[k] = 0
        if n_e > FEW:
            order = np.argsort(e.path[room_e[:n_e]], kind="mergesort")
        hint = 0
        for k in range(n_a):
            at = find_leaf(side_e.path, leaves_e, n_e, pointer(order), hint, side_a.path[leaves_a[k]])
            pair[n], entry_a[n], entry_e[n] = p, leaves_a[k], -1
            if at >= 0:
                entry_e[n] = leaves_e[at]
                used[at] = 1
                hint = at + 1 if at + 1 < n_e else 0
            status[n] = verdict(side_a, side_e, rules, entry_a[n], entry_e[n])
            n += 1
        for k in range(n_e):
            if not used[k]:
                pair[n], entry_a[n], entry_e[n] = p, -1, leaves_e[k]
                status[n] = verdict(side_a, side_e, rules, -1, leaves_e[k])
                n += 1
    return n


@inlined
def is_plain(data: np.ndarray, tape: Tape, slow: np.ndarray, e: int, as_sent: bool) -> bool:
    """Whether `write_plain` can write the canonical text of a leaf."""
    kind, start, end = tape.kind[e], np.int64(tape.start[e]), np.int64(tape.end[e])
    if slow[e] >= 0 and not (as_sent and kind == STRING):
        return False
    if kind == NUMBER:
        # A longer literal may have so many zeros that its canonical text has an exponent.
        return end - start <= 20 and not has_exponent(data, start, end)
    return kind < OBJECT or end - start == 2


@lean
def has_exponent(data: np.ndarray, start: int, end: int) -> bool:
    """Whether a number literal is written with an exponent."""
    for i in range(start, end):
        if data[i] | 32 == 101:
            return True
    return False


@lean
def number_span(data: np.ndarray, start: int, end: int) -> tuple[int, int]:
    """The part of a number literal (without exponent) that is its canonical text; an empty part stands for 0."""
    point, zero = False, True
    for i in range(start, end):
        point |= data[i] == 46
        zero &= not 49 <= data[i] <= 57
    if zero:
        return start, start
    while point and (data[end - 1] == 48 or data[end - 1] == 46):
        end -= 1
        if data[end] == 46:
            break
    return start, end


@inlined
def copy_bytes(buf: np.ndarray, start: int, end: int, out: np.ndarray, pos: int) -> int:
    """Copy ``buf[start:end]`` to ``out[pos:]``, eight bytes at a time (both padded); returns the index after it."""
    for i in range(start, end, 8):
        store8(out, pos + i - start, load8(buf, i))
    return pos + end - start


@inlined
def write_string(
    buf: np.ndarray, start: int, end: int, flags: int, folds: bool, table: np.ndarray, room: np.ndarray,
    out: np.ndarray, pos: int,
) -> int:  # fmt: skip
    """Write the canonical JSON text of a string to ``out`` and return the index after it; ``room`` is scratch."""
    out[pos] = 34
    pos += 1
    if flags & ESCAPED:
        if folds:
            size, _ = fold_into(buf, start, end, room, 0, table)
        else:
            size = decode_string(buf, start, end, room, 0)
        pos = quote_into(room, 0, size, out, pos)
    elif folds:
        # Without escapes there is nothing that would have to be escaped.
        pos, _ = fold_into(buf, start, end, out, pos, table)
    else:
        pos = copy_bytes(buf, start, end, out, pos)
    out[pos] = 34
    return pos + 1


@lean
def mark_plain(
    data: np.ndarray, tape: Tape, slow: np.ndarray, entries: np.ndarray, as_sent: np.ndarray, plain: np.ndarray
) -> int:
    """Mark the entries that `write_plain` can write; returns the room that their texts need.

    A canonical text is never longer than the text that was sent: folding makes no character longer, and only what
    has to be escaped stays so.
    """
    buf, values, left_open = pointer(data), tape_pointers(tape), pointer(slow)
    room = 0
    for k in range(entries.size):
        e = entries[k]
        plain[k] = e >= 0 and is_plain(buf, values, left_open, e, as_sent[k])
        if plain[k]:
            room += np.int64(values.end[e]) - values.start[e] + 2
    return room


@lean
def write_plain(
    data: np.ndarray,
    tape: Tape,
    node: np.ndarray,
    trie: RuleTrie,
    entries: np.ndarray,
    as_sent: np.ndarray,
    plain: np.ndarray,
    table: np.ndarray,
    scratch: np.ndarray,
    out: np.ndarray,
    offsets: np.ndarray,
) -> int:
    """Write the canonical JSON text of the marked entries; the others are empty texts.

    Args:
        data: uint8, padded.
        tape: the values.
        node: int32, trie node of each entry.
        trie: the rules.
        entries: int64[n].
        as_sent: bool[n], entries whose strings are written as they are.
        plain: bool[n], see `mark_plain`.
        table: int32, `fold.folds`.
        scratch: uint8, room for the longest string and padding.
        out: uint8 out, padded.
        offsets: int64[n + 1] out.

    Returns:
        The number of bytes.
    """
    buf, values, to, room, points = pointer(data), tape_pointers(tape), pointer(out), pointer(scratch), pointer(table)
    nodes, rules = pointer(node), pointer(trie.rule)
    pos = 0
    for k in range(entries.size):
        offsets[k] = pos
        if not plain[k]:
            continue
        e = entries[k]
        start, end = np.int64(values.start[e]), np.int64(values.end[e])
        if values.kind[e] == STRING:
            folds = not as_sent[k] and not (nodes[e] >= 0 and rules[nodes[e]] == R_EXACT)
            pos = write_string(buf, start, end, values.flags[e], folds, points, room, to, pos)
            continue
        if values.kind[e] == NUMBER:
            start, end = number_span(buf, start, end)
            if start == end:
                to[pos] = 48
                pos += 1
        pos = copy_bytes(buf, start, end, to, pos)
    offsets[entries.size] = pos
    return pos
