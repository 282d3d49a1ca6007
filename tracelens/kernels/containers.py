"""Digests of objects and arrays, from the digests of their leaves (`kernels.digest`)."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.digest import R_DEFAULT, R_SET, R_UNORDERED, RuleTrie, is_dropped, trie_pointers
from tracelens.kernels.hash import SEED_A, SEED_B, finish, step_a, step_b
from tracelens.kernels.scan import OBJECT
from tracelens.kernels.shred import Tape, tape_pointers
from tracelens.kernels.words import inlined, lean, pointer

FEW = 24
"""So many entries are sorted by insertion alone."""


@lean
def sort_entries(order: np.ndarray, n: int, major: np.ndarray, minor: np.ndarray) -> None:
    """Sort ``order[:n]`` (entries) by ``(major, minor)``: by insertion, over ever smaller gaps where there are many."""
    gap = 1
    while gap * FEW < n:
        gap = gap * 9 // 4 + 1
    while True:
        for k in range(gap, n):
            e = order[k]
            first, second = major[e], minor[e]
            j = k - gap
            while j >= 0:
                other = order[j]
                if major[other] < first or (major[other] == first and minor[other] <= second):
                    break
                order[j + gap] = other
                j -= gap
            order[j + gap] = e
        if gap == 1:
            return
        gap = max(1, gap * 4 // 9)


@inlined
def live_children(
    tape: Tape, node: np.ndarray, trie: RuleTrie, hi: np.ndarray, lo: np.ndarray, e: int, order: np.ndarray
) -> int:
    """Write the children of container ``e`` that take part to ``order`` and return their number."""
    n = 0
    child, stop = np.int64(e + 1), np.int64(tape.next[e])
    while child < stop:
        if not is_dropped(tape, node, trie, hi, lo, child):
            order[n] = child
            n += 1
        child = np.int64(tape.next[child])
    return n


@inlined
def combined(
    tape: Tape, kind: int, is_set: bool, hi: np.ndarray, lo: np.ndarray, order: np.ndarray, n: int
) -> tuple[np.uint64, np.uint64]:
    """The digest of a container with the children ``order[:n]``, sorted where their order does not count."""
    a, b = SEED_A ^ np.uint64(kind), SEED_B + np.uint64(kind)
    count = 0
    for k in range(n):
        child = order[k]
        high, low = hi[child], lo[child]
        if is_set and k > 0 and high == hi[order[k - 1]] and low == lo[order[k - 1]]:
            continue
        if kind == OBJECT:
            a, b = step_a(a, tape.key_hash[child]), step_b(b, tape.key_hash[child])
        a, b = step_a(step_a(a, high), low), step_b(step_b(b, low), high)
        count += 1
    return finish(step_a(a, np.uint64(count))), finish(step_b(b, np.uint64(count)))


@lean
def container_digests(
    tape: Tape,
    wanted: np.ndarray,
    node: np.ndarray,
    trie: RuleTrie,
    scratch: np.ndarray,
    slow: np.ndarray,
    hi: np.ndarray,
    lo: np.ndarray,
    first: np.ndarray,
    entry: np.ndarray,
) -> None:
    """Digest every container from its children, innermost first, and list the members of each text's object.

    Args:
        tape: the values.
        wanted: bool[n], texts to digest; nothing is written for the others.
        node: int32, trie node of each entry.
        trie: the rules.
        scratch: int64 scratch with room for the largest container.
        slow: int32; containers that are not -1 keep the digest that they have.
        hi: uint64, digests of leaves; out, of containers.
        lo: uint64, their low halves.
        first: int64[n + 1] out, where each text's members that take part begin in ``entry``.
        entry: int64[entries] out, these members, by key hash; they fill its end.
    """
    values, rules, order = tape_pointers(tape), trie_pointers(trie), pointer(scratch)
    nodes, left_open, high, low = pointer(node), pointer(slow), pointer(hi), pointer(lo)
    at = np.int64(entry.size)
    first[wanted.size] = at
    for t in range(wanted.size - 1, -1, -1):
        begin = tape.first[t]
        stop = tape.first[t + 1] if wanted[t] else begin
        for e in range(stop - 1, begin - 1, -1):
            kind = values.kind[e]
            if kind < OBJECT or (left_open[e] >= 0 and e > begin):
                continue
            n = live_children(values, nodes, rules, high, low, e, order)
            rule = np.int64(rules.rule[nodes[e]]) if nodes[e] >= 0 else R_DEFAULT
            if kind == OBJECT:
                sort_entries(order, n, values.key_hash, high)
            elif rule == R_UNORDERED or rule == R_SET:
                sort_entries(order, n, high, low)
            if left_open[e] < 0:
                high[e], low[e] = combined(values, kind, rule == R_SET, high, low, order, n)
            if e == begin and kind == OBJECT:
                at -= n
                for k in range(n):
                    entry[at + k] = order[k]
        first[t] = at
