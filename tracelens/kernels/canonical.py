"""Canonical digests of whole texts: leaves in the order of the tape, then containers from their children upwards.

A text is done while all that is known of it is at hand. What a loop over bytes cannot decide is left open: the text
waits until the caller has looked at the open values, each of which is listed once (`finish_values`).
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.containers import digest_containers
from tracelens.kernels.dates import is_date
from tracelens.kernels.digest import (
    FREE,
    N_PLAIN_DATE,
    R_DEFAULT,
    R_EXACT,
    R_SLOW,
    WAITS,
    Found,
    Opened,
    RuleTrie,
    found_pointers,
    hash_string,
    hash_word,
    trie_pointers,
)
from tracelens.kernels.hash import hash_bytes
from tracelens.kernels.numbers import hash_number
from tracelens.kernels.scan import NUMBER, OBJECT, STRING
from tracelens.kernels.shred import Tape, tape_pointers
from tracelens.kernels.words import inlined, lean, pointer


@inlined
def node_of(tape: Tape, trie: RuleTrie, node: np.ndarray, root: int, e: int) -> int:
    """The trie node of an entry, from that of its container."""
    parent = np.int64(tape.parent[e])
    if parent < 0:
        return root
    at = np.int64(node[parent])
    if at < 0:
        return at
    if tape.key_start[e] < 0:
        return np.int64(trie.element[at])
    for child in range(trie.first_child[at], trie.first_child[at + 1]):
        if trie.child_hash[child] == tape.key_hash[e]:
            return np.int64(trie.child_node[child])
    return np.int64(-1)


@inlined
def is_plain_date(buf: np.ndarray, tape: Tape, e: int) -> bool:
    """Whether a string is a date, and nothing around it."""
    start = np.int64(tape.start[e])
    return tape.end[e] - start == 10 and is_date(buf, start)


@lean
def enter_open(buf: np.ndarray, tape: Tape, e: int, rules: int, count: int, mask: int, opened: Opened) -> int:
    """The number of an open value; ``count`` says that it is new, and now listed."""
    seed = np.uint64(rules * 8 + tape.kind[e])
    hi, lo = hash_bytes(buf, np.int64(tape.start[e]), np.int64(tape.end[e]), seed)
    slot, free = np.int64(hi & np.uint64(mask)), 2 * count <= mask
    while opened.slots[slot] != FREE:
        k = np.int64(opened.slots[slot])
        if opened.key_hi[k] == hi and opened.key_lo[k] == lo:
            return k
        slot = (slot + 1) & mask
    if free:
        opened.slots[slot] = count
    opened.entry[count], opened.rules[count] = e, rules
    opened.key_hi[count], opened.key_lo[count] = hi, lo
    return count


@lean
def digest_values(
    data: np.ndarray,
    tape: Tape,
    wanted: np.ndarray,
    roots: np.ndarray,
    trie: RuleTrie,
    fallback: int,
    folds: np.ndarray,
    scratch: np.ndarray,
    room: np.ndarray,
    opened: Opened,
    found: Found,
) -> int:
    """Digest all that a loop can decide.

    Args:
        data: uint8, padded.
        tape: the values.
        wanted: bool[n], texts to digest; the others count as texts without entries.
        roots: int32[n], trie node of each text's whole value, or -1.
        trie: the rules.
        fallback: the rule where the trie has no node (`R_DEFAULT`, or `R_EXACT` for digests before normalisation).
        folds: int32, `fold.folds`.
        scratch: uint8, room for the longest text and padding.
        room: int64[2, m], scratch; m as large as the largest number of entries of a text.
        opened: out, open values.
        found: out.

    Returns:
        How many open values there are.
    """
    buf, bytes_room, table = pointer(data), pointer(scratch), pointer(folds)
    values, rules, out = tape_pointers(tape), trie_pointers(trie), found_pointers(found)
    containers, order, mask = pointer(room[0]), pointer(room[1]), opened.slots.size - 1
    n_open, top = 0, np.int64(0)
    for t in range(wanted.size):
        begin, stop = values.first[t], values.first[t + 1]
        out.changed[t] = 0
        out.root_hi[t] = out.root_lo[t] = 0
        out.top_first[t], out.top_count[t] = top, 0
        if not wanted[t] or begin == stop:
            continue
        root, n_containers, differs, waits = np.int64(roots[t]), 0, False, False
        for e in range(begin, stop):
            at, rule, kind = np.int64(-1), np.int64(fallback), np.int64(values.kind[e])
            if root >= 0:
                at = node_of(values, rules, out.node, root, e)
                if at >= 0:
                    rule = np.int64(rules.rule[at])
                    differs |= rule > R_EXACT or rules.flags[at] != 0
            out.node[e], out.slow[e] = at, -1
            if kind >= OBJECT:
                containers[n_containers] = e
                n_containers += 1
            left = 0
            if rule == R_SLOW and not (
                kind == STRING and rules.flags[at] & N_PLAIN_DATE and is_plain_date(buf, values, e)
            ):
                left = np.int64(rules.slow[at]) + 2
            elif kind == STRING:
                rule = R_EXACT if rule == R_EXACT else R_DEFAULT
                out.hi[e], out.lo[e], decided, folded = hash_string(
                    buf, values.start[e], values.end[e], values.flags[e], rule, bytes_room, table
                )
                differs |= folded
                left = 0 if decided else 1
            elif kind == NUMBER:
                out.hi[e], out.lo[e] = hash_number(buf, np.int64(values.start[e]), np.int64(values.end[e]))
            elif kind < OBJECT:
                out.hi[e], out.lo[e] = hash_word(kind)
            if left:
                k = enter_open(buf, values, e, left - 1, n_open, mask, opened)
                n_open += k == n_open
                out.slow[e], waits = k, True
        out.changed[t] = differs
        if waits:
            out.top_count[t] = WAITS
        else:
            digest_containers(values, rules, containers, n_containers, order, t, out)
        if values.kind[begin] == OBJECT:
            top += values.size[begin]
    return n_open


@lean
def finish_values(
    tape: Tape, trie: RuleTrie, open_hi: np.ndarray, open_lo: np.ndarray, room: np.ndarray, found: Found
) -> None:
    """Digest the texts that wait, with ``open_hi`` and ``open_lo`` the digests of the open values."""
    values, rules, out = tape_pointers(tape), trie_pointers(trie), found_pointers(found)
    containers, order = pointer(room[0]), pointer(room[1])
    for t in range(found.top_count.size):
        if out.top_count[t] != WAITS:
            continue
        n_containers = 0
        for e in range(values.first[t], values.first[t + 1]):
            if out.slow[e] >= 0:
                out.hi[e], out.lo[e] = open_hi[out.slow[e]], open_lo[out.slow[e]]
            if values.kind[e] >= OBJECT:
                containers[n_containers] = e
                n_containers += 1
        digest_containers(values, rules, containers, n_containers, order, t, out)
