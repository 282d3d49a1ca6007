"""Scores that depend on the order of tool names: common prefix, subsequence, longest common subsequence.

A *unit* is one trace held against one reference: a stretch of the actual calls' codes and a stretch of the expected
ones. Codes are int32 and shared by both sides; -1 is a call without a usable name, which equals nothing. `joined[i]`
says that actual call i may be reordered with its predecessor (parallel calls of one turn).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracelens.kernels.jit import kernel, lean
from tracelens.kernels.sorting import first_at_least, sort_numbers

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
B1 = NDArray[np.bool_]

WORD = 64


@lean
def common_prefix(a: I32, e: I32) -> int:
    """Length of the common prefix."""
    n = min(a.size, e.size)
    i = 0
    while i < n and a[i] == e[i] and a[i] >= 0:
        i += 1
    return i


@lean
def subsequence(a: I32, e: I32) -> bool:
    """Whether e is a subsequence of a: each name taken as early as possible."""
    j = 0
    for i in range(a.size):
        if j < e.size and a[i] == e[j] and a[i] >= 0:
            j += 1
    return j == e.size


@lean
def common_subsequence(a: I32, e: I32) -> int:
    """Length of the longest common subsequence; memory grows with the lengths, never with their product.

    What both share at their ends is in some longest one, so only the middles are compared: a word of bits at a time
    (Hyyrö's bit-vector method), 64 actual calls by one expected call per step.
    """
    head = common_prefix(a, e)
    stop = min(a.size, e.size) - head
    tail = 0
    while tail < stop and a[a.size - 1 - tail] == e[e.size - 1 - tail] and a[a.size - 1 - tail] >= 0:
        tail += 1
    a, e = a[head : a.size - tail], e[head : e.size - tail]
    if a.size > e.size:
        a, e = e, a
    if a.size == 0:
        return head + tail
    if a.size <= WORD:
        return head + tail + _within_word(a, e)
    return head + tail + _across_words(a, e)


@lean
def _within_word(a: I32, e: I32) -> int:
    """The middle part where the shorter list fits one word: a zero bit of `rows` marks a step up."""
    one = np.uint64(1)
    rows = ~np.uint64(0)
    for j in range(e.size):
        if e[j] < 0:
            continue
        match = np.uint64(0)
        for i in range(a.size):
            match |= np.uint64(a[i] == e[j]) << np.uint64(i)
        hit = rows & match
        rows = (rows + hit) | (rows - hit)
    length = 0
    for i in range(a.size):
        length += (rows >> np.uint64(i)) & one == 0
    return length


@kernel
def _across_words(a: I32, e: I32) -> int:
    """The middle part over many words."""
    places, first = places_of_names(a, e)
    words = (a.size + WORD - 1) // WORD
    rows = np.full(words, ~np.uint64(0))
    match = np.zeros(words, np.uint64)
    for j in range(e.size):
        step_row(rows, match, places, first[j], first[e.size + j])
    length = 0
    for i in range(a.size):
        length += (rows[i // WORD] >> np.uint64(i % WORD)) & np.uint64(1) == 0
    return length


@kernel
def places_of_names(a: I32, e: I32) -> tuple[I64, I64]:
    """Where each expected name stands in a.

    Returns:
        Positions in a sorted by name, and for each j of e the bounds of its positions (starts, then stops); empty for
        a name that equals nothing.
    """
    key = np.empty(a.size, np.int64)  # name and position in one number, so that any sort is stable
    for i in range(a.size):
        key[i] = (np.int64(a[i]) << 32) + i
    sort_numbers(key, np.empty(a.size, np.int64))
    bounds = np.zeros(2 * e.size, np.int64)
    for j in range(e.size):
        if e[j] >= 0:
            bounds[j] = first_at_least(key, np.int64(e[j]) << 32)
            bounds[e.size + j] = first_at_least(key, np.int64(e[j] + 1) << 32)
    for i in range(a.size):
        key[i] &= 0xFFFFFFFF
    return key, bounds


@lean
def step_row(rows: U64, match: U64, places: I64, start: int, stop: int) -> None:
    """Bring `rows` forward by one expected name whose positions are `places[start:stop]`; `match` stays all zero."""
    if start == stop:
        return
    one = np.uint64(1)
    for k in range(start, stop):
        match[places[k] // WORD] |= one << np.uint64(places[k] % WORD)
    carry = np.uint64(0)
    for w in range(rows.size):
        row = rows[w]
        hit = row & match[w]
        total = row + hit
        over = np.uint64(total < row)
        total += carry
        carry = over | np.uint64(total < carry)
        rows[w] = total | (row - hit)
    for k in range(start, stop):
        match[places[k] // WORD] = 0


@kernel
def sequence_scores(units: I64, a_code: I32, e_code: I32) -> I64:
    """The order-dependent numbers of every unit.

    Args:
        units: First actual call, how many, first expected call, how many, int64 [units, 4].
        a_code: Name codes of all actual calls, int32.
        e_code: Name codes of all expected calls.

    Returns:
        int64 [units, 3]: common prefix, whether e is a subsequence of a (0 or 1), longest common subsequence.
    """
    out = np.empty((units.shape[0], 3), np.int64)
    for u in range(units.shape[0]):
        a = a_code[units[u, 0] : units[u, 0] + units[u, 1]]
        e = e_code[units[u, 2] : units[u, 2] + units[u, 3]]
        out[u, 0] = common_prefix(a, e)
        out[u, 1] = out[u, 0] == e.size or subsequence(a, e)
        out[u, 2] = common_subsequence(a, e)
    return out
