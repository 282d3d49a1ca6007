"""Canonical digests of shredded values: equal digests mean equal canonical values.

Leaves are hashed under the rule of their path, containers from their children upwards (members sorted by key hash,
so the order of keys is invisible), all in the order of the tape. What a loop over ASCII bytes cannot decide is left
to the caller, who fills it in before containers are combined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tracelens.kernels.hash import SEED_A, SEED_B, finish, hash_bytes, step_a, step_b, tail_word
from tracelens.kernels.scan import ARRAY, DEAD, ESCAPED, NON_ASCII, NUMBER, OBJECT, STRING, decimal_parts, decode_string
from tracelens.kernels.shred import Tape
from tracelens.kernels.words import HIGH_BITS, PADDING, inlined, lean, load8, pointer

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

LOWER_A = np.uint64(0x3F3F3F3F3F3F3F3F)
ABOVE_Z = np.uint64(0x2525252525252525)


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
def fold_word(word: np.uint64) -> np.uint64:
    """Eight ASCII bytes in lower case."""
    upper = (word + LOWER_A) & ~(word + ABOVE_Z) & HIGH_BITS
    return word + (upper >> np.uint64(2))


@inlined
def is_ascii_space(c: int) -> bool:
    """Whether a byte is one of the ASCII characters with the White_Space property."""
    return c == 32 or 9 <= c <= 13


@inlined
def hash_folded(buf: np.ndarray, start: int, end: int) -> tuple[np.uint64, np.uint64]:
    """The digest of an ASCII string after trimming and case folding: `hash_bytes` of the folded bytes."""
    while start < end and is_ascii_space(buf[start]):
        start += 1
    while end > start and is_ascii_space(buf[end - 1]):
        end -= 1
    a, b = SEED_A ^ SEED_STRING, SEED_B + SEED_STRING
    i = start
    while i + 8 <= end:
        word = fold_word(load8(buf, i))
        a, b = step_a(a, word), step_b(b, word)
        i += 8
    word, length = fold_word(tail_word(buf, i, end - i)), np.uint64(end - start)
    return finish(step_a(step_a(a, word), length)), finish(step_b(step_b(b, word), length))


@lean
def is_ascii(buf: np.ndarray, start: int, end: int) -> bool:
    """Whether no byte has its high bit set."""
    for k in range(start, end):
        if buf[k] >= 128:
            return False
    return True


@inlined
def hash_string(
    buf: np.ndarray, start: int, end: int, flags: int, rule: int, scratch: np.ndarray
) -> tuple[np.uint64, np.uint64, bool]:
    """The digest of a string under `R_DEFAULT` or `R_EXACT`: ``(hi, lo, decided)``."""
    if flags & ESCAPED:
        end = decode_string(buf, start, end, scratch, 0)
        start = 0
        for k in range(PADDING):
            scratch[end + k] = 0
        buf = scratch
    if rule == R_EXACT:
        hi, lo = hash_bytes(buf, start, end, SEED_STRING)
        return hi, lo, True
    if flags & NON_ASCII or (flags & ESCAPED and not is_ascii(buf, start, end)):
        return np.uint64(0), np.uint64(0), False
    hi, lo = hash_folded(buf, start, end)
    return hi, lo, True


@lean
def leaf_digests(
    data: np.ndarray,
    tape: Tape,
    node: np.ndarray,
    trie: RuleTrie,
    fallback: int,
    scratch: np.ndarray,
    hi: np.ndarray,
    lo: np.ndarray,
    slow: np.ndarray,
) -> int:
    """Digest every leaf that a loop can decide.

    Args:
        data: uint8, padded.
        tape: the values.
        node: int32, trie node of each entry.
        trie: the rules.
        fallback: the rule where the trie has no node (`R_DEFAULT`, or `R_EXACT` for digests before normalisation).
        scratch: uint8, room for the longest text and padding.
        hi: uint64 out.
        lo: uint64 out.
        slow: int32 out; -1 decided, 0 a string under the default rules with non-ASCII characters, k + 1 a value
            under rule list k. These are the caller's to fill in.

    Returns:
        How many leaves are left to the caller.
    """
    buf, room = pointer(data), pointer(scratch)
    left = 0
    for e in range(tape.kind.size):
        slow[e] = -1
        kind = tape.kind[e]
        if kind >= OBJECT and not (node[e] >= 0 and trie.rule[node[e]] == R_SLOW):
            continue
        rule = fallback if node[e] < 0 else np.int64(trie.rule[node[e]])
        if rule == R_SLOW:
            slow[e] = trie.slow[node[e]] + 1
            left += 1
        elif kind == STRING:
            rule = R_EXACT if rule == R_EXACT else R_DEFAULT
            hi[e], lo[e], decided = hash_string(buf, tape.start[e], tape.end[e], tape.flags[e], rule, room)
            if not decided:
                slow[e] = 0
                left += 1
        elif kind == NUMBER:
            hi[e], lo[e] = hash_number(buf, tape.start[e], tape.end[e])
        else:
            hi[e] = finish(step_a(SEED_A ^ SEED_WORD, np.uint64(kind)))
            lo[e] = finish(step_b(SEED_B + SEED_WORD, np.uint64(kind)))
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


@njit(nogil=True, cache=True)
def sort_entries(order: np.ndarray, n: int, major: np.ndarray, minor: np.ndarray) -> None:
    """Sort ``order[:n]`` (entries) by ``(major, minor)``: insertion for few, library sort for many."""
    if n > 32:
        chosen = order[:n].copy()
        by_minor = chosen[np.argsort(minor[chosen], kind="mergesort")]
        order[:n] = by_minor[np.argsort(major[by_minor], kind="mergesort")]
        return
    for k in range(1, n):
        e = order[k]
        j = k - 1
        while j >= 0 and (
            major[order[j]] > major[e] or (major[order[j]] == major[e] and minor[order[j]] > minor[e])
        ):
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = e


@lean
def live_children(
    tape: Tape, node: np.ndarray, trie: RuleTrie, hi: np.ndarray, lo: np.ndarray, e: int, order: np.ndarray
) -> int:
    """Write the children of container ``e`` that take part to ``order`` and return their number."""
    n = 0
    child, stop = np.int64(e + 1), tape.next[e]
    while child < stop:
        if not is_dropped(tape, node, trie, hi, lo, child):
            order[n] = child
            n += 1
        child = np.int64(tape.next[child])
    return n


@njit(nogil=True, cache=True)
def container_digests(
    tape: Tape, node: np.ndarray, trie: RuleTrie, order: np.ndarray, slow: np.ndarray, hi: np.ndarray, lo: np.ndarray
) -> None:
    """Digest every container from its children, innermost first.

    ``order`` is int64 scratch with room for the largest container. Containers whose ``slow`` is not -1 are kept.
    """
    for e in range(tape.kind.size - 1, -1, -1):
        kind = tape.kind[e]
        if kind < OBJECT or slow[e] >= 0:
            continue
        n = live_children(tape, node, trie, hi, lo, e, order)
        rule = trie.rule[node[e]] if node[e] >= 0 else R_DEFAULT
        if kind == OBJECT:
            sort_entries(order, n, tape.key_hash, hi)
        elif rule == R_UNORDERED or rule == R_SET:
            sort_entries(order, n, hi, lo)
        a, b = SEED_A ^ np.uint64(kind), SEED_B + np.uint64(kind)
        count = 0
        for k in range(n):
            child = order[k]
            if rule == R_SET and k > 0 and hi[child] == hi[order[k - 1]] and lo[child] == lo[order[k - 1]]:
                continue
            if kind == OBJECT:
                a, b = step_a(a, tape.key_hash[child]), step_b(b, tape.key_hash[child])
            a, b = step_a(step_a(a, hi[child]), lo[child]), step_b(step_b(b, lo[child]), hi[child])
            count += 1
        hi[e], lo[e] = finish(step_a(a, np.uint64(count))), finish(step_b(b, np.uint64(count)))


@njit(nogil=True, cache=True)
def top_level(
    tape: Tape,
    node: np.ndarray,
    trie: RuleTrie,
    hi: np.ndarray,
    lo: np.ndarray,
    order: np.ndarray,
    first: np.ndarray,
    entry: np.ndarray,
) -> int:
    """List, per text, the members of its object that take part, sorted by key hash.

    Args:
        tape: the values.
        node: int32, trie node of each entry.
        trie: the rules.
        hi: uint64, digests.
        lo: uint64, digests.
        order: int64 scratch with room for the largest container.
        first: int64[n + 1] out, where each text's members begin in ``entry``.
        entry: int64 out, entries.

    Returns:
        The number of members.
    """
    n = 0
    for t in range(first.size - 1):
        first[t] = n
        root = tape.first[t]
        if root == tape.first[t + 1] or tape.kind[root] != OBJECT:
            continue
        count = live_children(tape, node, trie, hi, lo, root, order)
        sort_entries(order, count, tape.key_hash, hi)
        for k in range(count):
            entry[n] = order[k]
            n += 1
    first[first.size - 1] = n
    return n


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
def hash_rows(
    data: np.ndarray, offsets: np.ndarray, seeds: np.ndarray, hi: np.ndarray, lo: np.ndarray
) -> None:
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

CONTAINERS = (OBJECT, ARRAY)
