"""Canonical digests of shredded values: equal digests mean equal canonical values.

This module has the rules and the digests of strings and words; `kernels.numbers` has those of numbers,
`kernels.containers` those of objects and arrays, and `kernels.canonical` puts them together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracelens.kernels.fold import fold_into, fold_word, is_ascii_space
from tracelens.kernels.hash import SEED_A, SEED_B, finish, hash_bytes, step_a, step_b, tail_word
from tracelens.kernels.scan import DEAD, ESCAPED, NON_ASCII, decode_string
from tracelens.kernels.shred import Tape
from tracelens.kernels.words import byte_at, inlined, lean, load8, pointer

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
N_PLAIN_DATE = 4
"""Under `R_SLOW`: the value is a date, and one that is written plainly is what it stands for."""

# Seeds keep kinds apart: the string "1" is not the number 1 (`numbers.SEED_NUMBER`).
SEED_STRING = np.uint64(0x53)
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
        flags: uint8[n], `N_NULL_IS_MISSING`, `N_HAS_DEFAULT`, `N_PLAIN_DATE`.
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


WAITS = -1
"""In place of the number of top-level arguments: the text has open values."""

FREE = -1


class Found(NamedTuple):
    """What is found out about n texts with so many entries.

    Attributes:
        node: int32[entries], trie node of each entry, -1 where the trie has none.
        hi: uint64[entries], digest of each entry.
        lo: uint64[entries], its low half.
        slow: int32[entries], -1 where the loop decided, else the number of the open value.
        changed: uint8[n]; where it is 0, the rules do nothing to the text's value: its digest is the one before
            normalisation.
        root_hi: uint64[n], digest of each text, 0 where it has no entries.
        root_lo: uint64[n].
        top_first: int64[n], where the members of each text's object stand in ``top``.
        top_count: int64[n], how many take part; `WAITS` where the text has open values.
        top: uint64[3 * entries], key hash and digest of these members, by key hash.
    """

    node: np.ndarray
    hi: np.ndarray
    lo: np.ndarray
    slow: np.ndarray
    changed: np.ndarray
    root_hi: np.ndarray
    root_lo: np.ndarray
    top_first: np.ndarray
    top_count: np.ndarray
    top: np.ndarray


class Opened(NamedTuple):
    """Distinct open values: what the loop cannot decide, by bytes and rules.

    Attributes:
        slots: int32[2^k], hash table: number of an open value, or `FREE`. Where it gets full, equal values are listed
            more than once.
        entry: int32, first entry of each.
        rules: int32, 0 for a string that the default rules have to see as a whole (see `kernels.fold`), k + 1 for a
            value under rule list k.
        key_hi: uint64, digest of its bytes and rules.
        key_lo: uint64.
    """

    slots: np.ndarray
    entry: np.ndarray
    rules: np.ndarray
    key_hi: np.ndarray
    key_lo: np.ndarray


@lean
def found_pointers(found: Found) -> Found:
    """The same with a pointer for each array."""
    return Found(
        pointer(found.node),
        pointer(found.hi),
        pointer(found.lo),
        pointer(found.slow),
        pointer(found.changed),
        pointer(found.root_hi),
        pointer(found.root_lo),
        pointer(found.top_first),
        pointer(found.top_count),
        pointer(found.top),
    )


@inlined
def hash_folded(buf: np.ndarray, start: int, end: int) -> tuple[np.uint64, np.uint64, bool]:
    """The digest of an ASCII string after trimming and case folding, and whether these changed it.

    It is `hash_bytes` of the folded bytes.
    """
    size = end - start
    if is_ascii_space(byte_at(buf, start)) or is_ascii_space(byte_at(buf, end - 1)):
        while start < end and is_ascii_space(byte_at(buf, start)):
            start += 1
        while end > start and is_ascii_space(byte_at(buf, end - 1)):
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


@inlined
def hash_word(kind: int) -> tuple[np.uint64, np.uint64]:
    """The digest of null, false or true."""
    return finish(step_a(SEED_A ^ SEED_WORD, np.uint64(kind))), finish(step_b(SEED_B + SEED_WORD, np.uint64(kind)))


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
