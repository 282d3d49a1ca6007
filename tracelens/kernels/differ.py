"""Leaf by leaf: which leaves of two shredded values stand at the same path, and whether they are equal.

A leaf is a scalar, an empty container (but no arguments at all are no leaf), or anything that is compared as a whole
(an ignored value, an array as a multiset or set, a value under a rule list). Paths are compared by their hashes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracelens.kernels.containers import sort_entries
from tracelens.kernels.digest import R_DEFAULT, R_EXACT, R_IGNORE, RuleTrie, is_dropped, trie_pointers
from tracelens.kernels.hash import SEED_A, SEED_B, finish, step_a
from tracelens.kernels.scan import DEAD, OBJECT
from tracelens.kernels.shred import Tape, tape_pointers
from tracelens.kernels.words import inlined, lean, pointer

EQUAL, DIFFERS, MISSING, UNEXPECTED, IGNORED, NOT_COMPARED = range(6)
STATUSES = ("equal", "differs", "missing", "unexpected", "ignored", "not_compared")
"""Values of ``argument_diffs.status``, in the order of the codes."""

FEW = 48
FREE = -1


class Side(NamedTuple):
    """One side of a comparison: shredded values with their rules and digests, per entry.

    Attributes:
        tape: the values.
        node: int32, trie node or -1.
        hi: uint64, digest.
        lo: uint64, digest.
    """

    tape: Tape
    node: np.ndarray
    hi: np.ndarray
    lo: np.ndarray


class Leaves(NamedTuple):
    """Scratch space for the leaves of one text, with room for the entries of the largest.

    Attributes:
        entry: int64, the leaves.
        path: uint64, the hash of each one's path.
        below: uint64, the hash of the path of each entry of the text.
        order: int64, places of the leaves by path, where there are many.
        used: uint8, whether a leaf has a partner.
    """

    entry: np.ndarray
    path: np.ndarray
    below: np.ndarray
    order: np.ndarray
    used: np.ndarray


class Paths(NamedTuple):
    """Distinct paths, numbered in the order of their first row.

    Attributes:
        slots: int32[2^k], hash table that is never full: number of a path, or `FREE`.
        path: uint64, the hash of each.
        row: int64, the first row of each.
    """

    slots: np.ndarray
    path: np.ndarray
    row: np.ndarray


class Rows(NamedTuple):
    """The leaves of all pairs: actual leaves of a pair in their order, then expected leaves without a partner.

    Attributes:
        pair: int64, number of the pair of each row.
        entry_a: int64, actual leaf or -1.
        entry_e: int64, expected leaf or -1.
        status: uint8, index into `STATUSES`.
        path: int32, number of the path.
    """

    pair: np.ndarray
    entry_a: np.ndarray
    entry_e: np.ndarray
    status: np.ndarray
    path: np.ndarray


@lean
def side_pointers(side: Side) -> Side:
    """The same side with a pointer for each array."""
    return Side(tape_pointers(side.tape), pointer(side.node), pointer(side.hi), pointer(side.lo))


@lean
def leaf_pointers(leaves: Leaves) -> Leaves:
    """The same space with a pointer for each array."""
    return Leaves(
        pointer(leaves.entry),
        pointer(leaves.path),
        pointer(leaves.below),
        pointer(leaves.order),
        pointer(leaves.used),
    )


@lean
def row_pointers(rows: Rows) -> Rows:
    """The same rows with a pointer for each array."""
    return Rows(
        pointer(rows.pair), pointer(rows.entry_a), pointer(rows.entry_e), pointer(rows.status), pointer(rows.path)
    )


@inlined
def path_of(tape: Tape, e: int, first: int, below: np.ndarray) -> np.uint64:
    """The hash of an entry's path (keys and array indices from the root), from that of its container."""
    parent = np.int64(tape.parent[e])
    if parent < 0:
        return SEED_A
    if tape.key_start[e] < 0:
        return finish(step_a(below[parent - first] ^ SEED_B, np.uint64(tape.index[e])))
    return finish(step_a(below[parent - first], tape.key_hash[e]))


@lean
def leaves_of(side: Side, trie: RuleTrie, text: int, out: Leaves) -> int:
    """Write the leaves of one text to ``out`` in order and return their number."""
    n = 0
    tape = side.tape
    first, stop = tape.first[text], tape.first[text + 1]
    e = first
    while e < stop:
        rule = trie.rule[side.node[e]] if side.node[e] >= 0 else R_DEFAULT
        if tape.flags[e] & DEAD:
            e = np.int64(tape.next[e])
            continue
        path = path_of(tape, e, first, out.below)
        is_arguments = tape.kind[e] == OBJECT and e == first
        if tape.kind[e] >= OBJECT and (tape.size[e] > 0 or is_arguments) and rule <= R_EXACT:
            out.below[e - first] = path
            e += 1
        else:
            out.entry[n], out.path[n], out.used[n] = e, path, 0
            n += 1
            e = np.int64(tape.next[e])
    return n


@lean
def sort_leaves(leaves: Leaves, n: int) -> None:
    """Prepare many leaves for `find_leaf`."""
    if n > FEW:
        for k in range(n):
            leaves.order[k] = k
        sort_entries(leaves.order, n, leaves.path, leaves.path)


@lean
def find_leaf(leaves: Leaves, n: int, hint: int, wanted: np.uint64) -> int:
    """The place of the leaf with the wanted path, or -1.

    Few leaves are tried one by one from ``hint`` on; many are found by halving.
    """
    if n <= FEW:
        for k in range(n):
            at = hint + k if hint + k < n else hint + k - n
            if leaves.path[at] == wanted:
                return at
        return -1
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if leaves.path[leaves.order[middle]] < wanted:
            low = middle + 1
        else:
            high = middle
    return leaves.order[low] if low < n and leaves.path[leaves.order[low]] == wanted else -1


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


@lean
def number_of(path: np.uint64, row: int, count: int, paths: Paths) -> int:
    """The number of a path; ``count`` says that it is new, and now listed."""
    mask = np.uint64(paths.slots.size - 1)
    slot = path & mask
    while paths.slots[np.int64(slot)] != FREE:
        k = np.int64(paths.slots[np.int64(slot)])
        if paths.path[k] == path:
            return k
        slot = (slot + np.uint64(1)) & mask
    paths.slots[np.int64(slot)] = count
    paths.path[count], paths.row[count] = path, row
    return count


@lean
def align_leaves(
    a: Side,
    e: Side,
    trie: RuleTrie,
    pair_a: np.ndarray,
    pair_e: np.ndarray,
    room_a: Leaves,
    room_e: Leaves,
    paths: Paths,
    rows: Rows,
) -> tuple[int, int]:
    """Compare pairs of texts leaf by leaf.

    Args:
        a: the actual side.
        e: the expected side.
        trie: the rules.
        pair_a: int64[p], actual text of each pair.
        pair_e: int64[p], expected text of each pair.
        room_a: scratch space.
        room_e: scratch space.
        paths: out.
        rows: out.

    Returns:
        The number of rows, and of paths.
    """
    n, known = 0, 0
    side_a, side_e, rules, out = side_pointers(a), side_pointers(e), trie_pointers(trie), row_pointers(rows)
    leaves_a, leaves_e = leaf_pointers(room_a), leaf_pointers(room_e)
    for p in range(pair_a.size):
        n_a, n_e = leaves_of(side_a, rules, pair_a[p], leaves_a), leaves_of(side_e, rules, pair_e[p], leaves_e)
        sort_leaves(leaves_e, n_e)
        hint = 0
        for k in range(n_a):
            at = find_leaf(leaves_e, n_e, hint, leaves_a.path[k])
            i, j = leaves_a.entry[k], np.int64(-1)
            if at >= 0:
                j = leaves_e.entry[at]
                leaves_e.used[at] = 1
                hint = at + 1 if at + 1 < n_e else 0
            path = number_of(leaves_a.path[k], n, known, paths)
            known += path == known
            out.pair[n], out.entry_a[n], out.entry_e[n], out.path[n] = p, i, j, path
            out.status[n] = verdict(side_a, side_e, rules, i, j)
            n += 1
        for k in range(n_e):
            if not leaves_e.used[k]:
                path = number_of(leaves_e.path[k], n, known, paths)
                known += path == known
                out.pair[n], out.entry_a[n], out.entry_e[n], out.path[n] = p, -1, leaves_e.entry[k], path
                out.status[n] = verdict(side_a, side_e, rules, -1, leaves_e.entry[k])
                n += 1
    return n, known
