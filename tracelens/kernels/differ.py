"""Leaf by leaf: which leaves of two shredded values stand at the same path, and whether they are equal.

A leaf is a scalar, an empty container, or anything that is compared as a whole (an ignored value, an array as a
multiset or set, a value under a rule list).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tracelens.kernels.digest import R_DEFAULT, R_EXACT, R_IGNORE, RuleTrie, fold_word, is_ascii_space, is_dropped
from tracelens.kernels.hash import SEED_A, SEED_B, finish, step_a
from tracelens.kernels.scan import DEAD, ESCAPED, NUMBER, OBJECT, STRING
from tracelens.kernels.shred import Tape, tape_pointers
from tracelens.kernels.words import lean, load8, pointer, store8

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
def trie_pointers(trie: RuleTrie) -> RuleTrie:
    """The same trie with a pointer for each array."""
    return RuleTrie(
        pointer(trie.first_child),
        pointer(trie.child_hash),
        pointer(trie.child_node),
        pointer(trie.element),
        pointer(trie.rule),
        pointer(trie.flags),
        pointer(trie.slow),
        pointer(trie.default_hi),
        pointer(trie.default_lo),
    )


@lean
def side_pointers(side: Side) -> Side:
    """The same side with a pointer for each array."""
    return Side(
        tape_pointers(side.tape), pointer(side.node), pointer(side.path), pointer(side.hi), pointer(side.lo)
    )


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
        elif tape.kind[e] >= OBJECT and tape.size[e] > 0 and rule <= R_EXACT:
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


@njit(nogil=True, cache=True)
def is_plain(tape: Tape, slow: np.ndarray, e: int) -> bool:
    """Whether `write_plain` can write the canonical text of a leaf."""
    if slow[e] >= 0:
        return False
    kind = tape.kind[e]
    if kind == STRING:
        return tape.flags[e] & ESCAPED == 0
    if kind == NUMBER:
        # A longer literal may have so many zeros that its canonical text has an exponent.
        return tape.end[e] - tape.start[e] <= 20
    return kind < OBJECT or tape.end[e] - tape.start[e] == 2


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


@njit(nogil=True, cache=True)
def mark_plain(data: np.ndarray, tape: Tape, slow: np.ndarray, entries: np.ndarray, plain: np.ndarray) -> int:
    """Mark the entries that `write_plain` can write; returns the room that their texts need."""
    room = 0
    for k in range(entries.size):
        e = entries[k]
        plain[k] = e >= 0 and is_plain(tape, slow, e)
        if plain[k] and tape.kind[e] == NUMBER and has_exponent(data, tape.start[e], tape.end[e]):
            plain[k] = False
        if plain[k]:
            room += tape.end[entries[k]] - tape.start[entries[k]] + 2
    return room


@njit(nogil=True, cache=True)
def write_plain(
    data: np.ndarray,
    tape: Tape,
    node: np.ndarray,
    trie: RuleTrie,
    entries: np.ndarray,
    plain: np.ndarray,
    out: np.ndarray,
    offsets: np.ndarray,
) -> int:
    """Write the canonical JSON text of the marked entries to ``out``; the others are empty texts.

    ``out`` is padded; ``offsets`` is int64[n + 1]. Returns the number of bytes.
    """
    pos = 0
    for k in range(entries.size):
        offsets[k] = pos
        if not plain[k]:
            continue
        e = entries[k]
        start, end = np.int64(tape.start[e]), np.int64(tape.end[e])
        folds = tape.kind[e] == STRING and not (node[e] >= 0 and trie.rule[node[e]] == R_EXACT)
        if folds:
            while start < end and is_ascii_space(data[start]):
                start += 1
            while end > start and is_ascii_space(data[end - 1]):
                end -= 1
        if tape.kind[e] == STRING:
            out[pos] = 34
            pos += 1
        elif tape.kind[e] == NUMBER:
            start, end = number_span(data, start, end)
            if start == end:
                out[pos] = 48
                pos += 1
        for i in range(start, end, 8):
            word = load8(data, i)
            store8(out, pos + i - start, fold_word(word) if folds else word)
        pos += end - start
        if tape.kind[e] == STRING:
            out[pos] = 34
            pos += 1
    offsets[entries.size] = pos
    return pos
