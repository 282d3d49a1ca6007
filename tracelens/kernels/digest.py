"""Canonical digests of shredded values: equal digests mean equal canonical values.

Leaves are hashed under the rule of their path, containers from their children upwards (members sorted by key hash,
so the order of keys is invisible), all in the order of the tape. What a loop over bytes cannot decide is left to the
caller, who fills it in before containers are combined (`kernels.containers`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracelens.kernels.fold import fold_into, fold_word, is_ascii_space
from tracelens.kernels.hash import SEED_A, SEED_B, finish, hash_bytes, step_a, step_b, tail_word
from tracelens.kernels.scan import DEAD, ESCAPED, NON_ASCII, NUMBER, OBJECT, STRING, decimal_parts, decode_string
from tracelens.kernels.shred import Tape, tape_pointers
from tracelens.kernels.words import inlined, lean, load8, pointer

# Rules of a node.
R_DEFAULT = 0
R_EXACT = 1
R_SLOW = 2
R_IGNORE = 3
R_UNORDERED = 4
R_SET = 5

# Flags of a node.
N_NULL_IS_MISSING = 1
N_HAS_DEFAULT = 2

# Seeds keep kinds apart: the string "1" is not the number 1.
SEED_STRING = np.uint64(0x53)
SEED_NUMBER = np.uint64(0x4E)
SEED_WORD = np.uint64(0x57)
SEED_TIME = np.uint64(0x54)


class RuleTrie(NamedTuple):
    """Which rule holds at which path, for all tools at once.

    Attributes:
        first_child: int32[n + 1], where each node's named children begin.
        child_hash: uint64, key hash of a named child.
        child_node: int32, node of a named child.
        element: int32[n], node of array elements, or -1.
        rule: uint8[n], `R_DEFAULT` ….
        flags: uint8[n], `N_NULL_IS_MISSING`, `N_HAS_DEFAULT`.
        slow: int32[n], id of the rule list where the rule is `R_SLOW`.
        default_hi: uint64[n], digest of the default value.
        default_lo: uint64[n], its low half.
    """

    first_child: np.ndarray
    child_hash: np.ndarray
    child_node: np.ndarray
    element: np.ndarray
    rule: np.ndarray
    flags: np.ndarray
    slow: np.ndarray
    default_hi: np.ndarray
    default_lo: np.ndarray


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
def bind(tape: Tape, roots: np.ndarray, trie: RuleTrie, node: np.ndarray) -> None:
    """Write to ``node`` (int32) the trie node of every entry, -1 where the trie has none.

    ``roots`` (int32[n]) is the trie node of each text's whole value, or -1.
    """
    for t in range(roots.size):
        for e in range(tape.first[t], tape.first[t + 1]):
            parent = tape.parent[e]
            node[e] = roots[t] if parent < 0 else -1
            if parent >= 0 and node[parent] >= 0:
                at = node[parent]
                if tape.key_start[e] < 0:
                    node[e] = trie.element[at]
                    continue
                for c in range(trie.first_child[at], trie.first_child[at + 1]):
                    if trie.child_hash[c] == tape.key_hash[e]:
                        node[e] = trie.child_node[c]
                        break


@inlined
def hash_number(buf: np.ndarray, start: int, end: int) -> tuple[np.uint64, np.uint64]:
    """The digest of a number by its exact decimal value: sign, significant digits, exponent."""
    first, last, exponent = decimal_parts(buf, start, end)
    a, b = SEED_A ^ SEED_NUMBER, SEED_B + SEED_NUMBER
    packed, count = np.uint64(0), 0
    if first >= 0:
        for k in range(first, last + 1):
            if buf[k] == 46:
                continue
            packed = (packed << np.uint64(4)) | np.uint64(buf[k] - 48)
            count += 1
            if count & 15 == 0:
                a, b = step_a(a, packed), step_b(b, packed)
                packed = np.uint64(0)
    negative = first >= 0 and buf[start] == 45
    shape = np.uint64(count * 2 + np.int64(negative))
    a, b = step_a(step_a(a, packed), shape), step_b(step_b(b, packed), shape)
    return finish(step_a(a, np.uint64(exponent))), finish(step_b(b, np.uint64(exponent)))


@inlined
def hash_folded(buf: np.ndarray, start: int, end: int) -> tuple[np.uint64, np.uint64, bool]:
    """The digest of an ASCII string after trimming and case folding, and whether these changed it.

    It is `hash_bytes` of the folded bytes.
    """
    size = end - start
    while start < end and is_ascii_space(buf[start]):
        start += 1
    while end > start and is_ascii_space(buf[end - 1]):
        end -= 1
    a, b = SEED_A ^ SEED_STRING, SEED_B + SEED_STRING
    changed = np.uint64(size - (end - start))
    i = start
    while i + 8 <= end:
        given = load8(buf, i)
        word = fold_word(given)
        changed |= given ^ word
        a, b = step_a(a, word), step_b(b, word)
        i += 8
    given = tail_word(buf, i, end - i)
    word, length = fold_word(given), np.uint64(end - start)
    changed |= given ^ word
    return finish(step_a(step_a(a, word), length)), finish(step_b(step_b(b, word), length)), changed != 0


@inlined
def hash_string(
    buf: np.ndarray, start: int, end: int, flags: int, rule: int, scratch: np.ndarray, folds: np.ndarray
) -> tuple[np.uint64, np.uint64, bool, bool]:
    """The digest of a string under `R_DEFAULT` or `R_EXACT`: ``(hi, lo, decided, changed by the rule)``."""
    if rule == R_EXACT:
        if flags & ESCAPED:
            end = decode_string(buf, start, end, scratch, 0)
            hi, lo = hash_bytes(scratch, 0, end, SEED_STRING)
        else:
            hi, lo = hash_bytes(buf, start, end, SEED_STRING)
        return hi, lo, True, False
    if flags & (ESCAPED | NON_ASCII):
        end, changed = fold_into(buf, start, end, scratch, 0, folds)
        if end < 0:
            return np.uint64(0), np.uint64(0), False, True
        hi, lo = hash_bytes(scratch, 0, end, SEED_STRING)
        return hi, lo, True, changed
    hi, lo, changed = hash_folded(buf, start, end)
    return hi, lo, True, changed


@lean
def leaf_digests(
    data: np.ndarray,
    tape: Tape,
    wanted: np.ndarray,
    node: np.ndarray,
    trie: RuleTrie,
    fallback: int,
    folds: np.ndarray,
    scratch: np.ndarray,
    hi: np.ndarray,
    lo: np.ndarray,
    slow: np.ndarray,
    changed: np.ndarray,
) -> int:
    """Digest every leaf that a loop can decide.

    Args:
        data: uint8, padded.
        tape: the values.
        wanted: bool[n], texts to digest; nothing is written for the others.
        node: int32, trie node of each entry.
        trie: the rules.
        fallback: the rule where the trie has no node (`R_DEFAULT`, or `R_EXACT` for digests before normalisation).
        folds: int32, `fold.folds`.
        scratch: uint8, room for the longest text and padding.
        hi: uint64 out.
        lo: uint64 out.
        slow: int32 out; -1 decided, 0 a string under the default rules that has to be treated as a whole (see
            `kernels.fold`), k + 1 a value under rule list k. These are the caller's to fill in.
        changed: bool[n] out; where it is false, rules do nothing to the text's value: its digest is the one before
            normalisation.

    Returns:
        How many leaves are left to the caller.
    """
    buf, room, table = pointer(data), pointer(scratch), pointer(folds)
    values, rules = tape_pointers(tape), trie_pointers(trie)
    nodes, high, low, left_open = pointer(node), pointer(hi), pointer(lo), pointer(slow)
    left = 0
    for t in range(wanted.size):
        differs = False
        if wanted[t]:
            for e in range(tape.first[t], tape.first[t + 1]):
                left_open[e] = -1
                at, kind = nodes[e], values.kind[e]
                rule = fallback
                if at >= 0:
                    rule = np.int64(rules.rule[at])
                    differs |= rule > R_EXACT or rules.flags[at] != 0
                if rule == R_SLOW:
                    left_open[e] = rules.slow[at] + 1
                    left += 1
                elif kind == STRING:
                    rule = R_EXACT if rule == R_EXACT else R_DEFAULT
                    high[e], low[e], decided, folded = hash_string(
                        buf, values.start[e], values.end[e], values.flags[e], rule, room, table
                    )
                    differs |= folded
                    if not decided:
                        left_open[e] = 0
                        left += 1
                elif kind == NUMBER:
                    high[e], low[e] = hash_number(buf, values.start[e], values.end[e])
                elif kind < OBJECT:
                    high[e] = finish(step_a(SEED_A ^ SEED_WORD, np.uint64(kind)))
                    low[e] = finish(step_b(SEED_B + SEED_WORD, np.uint64(kind)))
        changed[t] = differs
    return left


@inlined
def is_dropped(tape: Tape, node: np.ndarray, trie: RuleTrie, hi: np.ndarray, lo: np.ndarray, e: int) -> bool:
    """Whether a child does not take part: overridden, ignored, null where null is missing, or at its default."""
    if tape.flags[e] & DEAD:
        return True
    at = node[e]
    if at < 0:
        return False
    if trie.rule[at] == R_IGNORE:
        return True
    if trie.flags[at] & N_NULL_IS_MISSING and tape.kind[e] == 0:
        return True
    has_default = trie.flags[at] & N_HAS_DEFAULT != 0
    return bool(has_default and hi[e] == trie.default_hi[at] and lo[e] == trie.default_lo[at])


@lean
def with_lone_member(tape: Tape, hashes: np.ndarray, found: np.ndarray) -> None:
    """Mark in ``found`` (bool[n]) the texts that hold an object whose only member's key hash is in ``hashes``."""
    for t in range(found.size):
        found[t] = False
        for e in range(tape.first[t], tape.first[t + 1]):
            if tape.key_start[e] < 0 or tape.size[tape.parent[e]] != 1:
                continue
            for h in hashes:
                if h == tape.key_hash[e]:
                    found[t] = True


@lean
def hash_rows(data: np.ndarray, offsets: np.ndarray, seeds: np.ndarray, hi: np.ndarray, lo: np.ndarray) -> None:
    """The digest of each text ``data[offsets[i]:offsets[i + 1]]`` under its own seed."""
    buf = pointer(data)
    for i in range(seeds.size):
        hi[i], lo[i] = hash_bytes(buf, offsets[i], offsets[i + 1], seeds[i])


EMPTY_TRIE = RuleTrie(
    np.zeros(1, np.int32),
    np.zeros(0, np.uint64),
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros(0, np.uint8),
    np.zeros(0, np.uint8),
    np.zeros(0, np.int32),
    np.zeros(0, np.uint64),
    np.zeros(0, np.uint64),
)
"""No rules: every path has the fallback rule."""
