"""Digests of objects and arrays, from the digests of their leaves (`kernels.digest`)."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.digest import R_DEFAULT, R_SET, R_UNORDERED, Found, RuleTrie, is_dropped
from tracelens.kernels.hash import SEED_A, SEED_B, finish, step_a, step_b
from tracelens.kernels.scan import OBJECT
from tracelens.kernels.shred import Tape
from tracelens.kernels.words import inlined, lean

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
def settle(order: np.ndarray, k: int, major: np.ndarray, minor: np.ndarray) -> None:
    """Put the entries at ``k`` and ``k + 1`` in order, without a branch: which comes first is anybody's guess."""
    x, y = order[k], order[k + 1]
    after = (major[x] > major[y]) | ((major[x] == major[y]) & (minor[x] > minor[y]))
    order[k] = y if after else x
    order[k + 1] = x if after else y


@inlined
def sort_few(order: np.ndarray, n: int, major: np.ndarray, minor: np.ndarray) -> None:
    """`sort_entries`; most objects have two or three members."""
    if n > 3:
        sort_entries(order, n, major, minor)
    elif n > 1:
        settle(order, 0, major, minor)
        if n == 3:
            settle(order, 1, major, minor)
            settle(order, 0, major, minor)


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
def digest_containers(
    tape: Tape, trie: RuleTrie, containers: np.ndarray, count: int, order: np.ndarray, text: int, found: Found
) -> None:
    """Digest the containers of a text from their children, innermost first, and list the members of its object.

    Args:
        tape: the values.
        trie: the rules.
        containers: the containers of the text in the order of the tape.
        count: how many.
        order: scratch with room for the children of one.
        text: the text.
        found: has the digests of the leaves; out, the digest of the text, and its top-level arguments from where
            ``top_first`` says. Containers that are open values keep the digest that they have.
    """
    begin = np.int64(tape.first[text])
    for c in range(count - 1, -1, -1):
        e = containers[c]
        if found.slow[e] >= 0 and e > begin:
            continue
        kind, rule = tape.kind[e], R_DEFAULT
        if found.node[e] >= 0:
            rule = np.int64(trie.rule[found.node[e]])
        n = live_children(tape, found.node, trie, found.hi, found.lo, e, order)
        if kind == OBJECT:
            sort_few(order, n, tape.key_hash, found.hi)
        elif rule == R_UNORDERED or rule == R_SET:
            sort_entries(order, n, found.hi, found.lo)
        if found.slow[e] < 0:
            found.hi[e], found.lo[e] = combined(tape, kind, rule == R_SET, found.hi, found.lo, order, n)
    found.root_hi[text], found.root_lo[text] = found.hi[begin], found.lo[begin]
    found.top_count[text] = 0
    if tape.kind[begin] == OBJECT:  # the outermost came last, so that its children still stand in `order`
        found.top_count[text] = n
        at = 3 * found.top_first[text]
        for k in range(n):
            child = order[k]
            found.top[at], found.top[at + 1], found.top[at + 2] = tape.key_hash[child], found.hi[child], found.lo[child]
            at += 3
