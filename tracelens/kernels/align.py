"""Laying two lists of names side by side along a longest common subsequence.

Among all longest ones the alignment is fixed by one rule, read from the front: equal names match; otherwise the
actual call is left out if that loses nothing, else the expected one.

`lines[j]` holds one bit per actual call: whether leaving it out, with the expected names from j on still to come,
would cost a match. Only every `STRIDE`-th line is kept and the others are computed again block by block, so memory
grows with the lengths and not with their product. Lists of which one word holds the actual calls keep all their lines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracelens.kernels.jit import kernel, lean
from tracelens.kernels.parallel import any_joined, best_order
from tracelens.kernels.sequence import B1, I32, I64, U64, WORD, places_of_names, step_row
from tracelens.kernels.words import inlined, pointer

STRIDE = 256
CORRECT, UNEXPECTED, MISSING = 0, 1, 2


class Steps(NamedTuple):
    """The alignments of many units, step by step.

    Attributes:
        unit: The unit of each step, int64.
        index: Its place in the unit, int32.
        actual: Actual call counted from the unit's first, or -1, int32.
        expected: Expected call counted from the unit's first, or -1, int32.
        status: CORRECT, UNEXPECTED or MISSING, int32.
    """

    unit: I64
    index: I32
    actual: I32
    expected: I32
    status: I32


@lean
def step_pointers(steps: Steps) -> Steps:
    """The same with a pointer for each array."""
    return Steps(
        pointer(steps.unit),
        pointer(steps.index),
        pointer(steps.actual),
        pointer(steps.expected),
        pointer(steps.status),
    )


@inlined
def put(out: Steps, at: int, unit: int, index: int, actual: int, expected: int, status: int) -> None:
    """Write one step."""
    out.unit[at], out.index[at], out.status[at] = unit, index, status
    out.actual[at] = actual if status != MISSING else -1
    out.expected[at] = expected if status != UNEXPECTED else -1


@inlined
def next_status(a: I32, i: int, a_left: int, e: I32, j: int, e_left: int, word: np.uint64) -> int:
    """What comes next: so many calls are left from `a[i]` and `e[j]` on, and `word` is that of `a[i]` in the line."""
    if e_left == 0:
        return UNEXPECTED
    if a_left == 0:
        return MISSING
    if a[i] == e[j] and a[i] >= 0:
        return CORRECT
    keeps = (word >> np.uint64((a_left - 1) % WORD)) & np.uint64(1)
    return UNEXPECTED if keeps else MISSING


@kernel
def _turned(codes: I32) -> I32:
    """The codes from the last to the first."""
    out = np.empty(codes.size, np.int32)
    for k in range(codes.size):
        out[k] = codes[codes.size - 1 - k]
    return out


@lean
def _copy_line(line: U64, to: U64) -> None:
    """Copy a line; assigning a slice would compile messages of errors that cannot happen."""
    for w in range(line.size):
        to[w] = line[w]


@lean
def common_start(a: I32, e: I32) -> int:
    """How many names both lists begin with: equal names match first of all."""
    k = 0
    while k < a.size and k < e.size and a[k] == e[k] and a[k] >= 0:
        k += 1
    return k


@kernel
def align(a: I32, e: I32, out_a: I64, out_e: I64, out_status: I64) -> int:
    """Align two lists.

    Args:
        a: Name codes of the actual calls; -1 equals nothing.
        e: Name codes of the expected calls.
        out_a: Filled: position in a, or -1; room for a.size + e.size.
        out_e: Filled: position in e, or -1.
        out_status: Filled: CORRECT, UNEXPECTED or MISSING.

    Returns:
        How many steps there are.
    """
    begun = common_start(a, e)
    for k in range(begun):
        out_a[k] = out_e[k] = k
        out_status[k] = CORRECT
    if begun == a.size and begun == e.size:
        return begun
    steps = align_rest(a[begun:], e[begun:], out_a[begun:], out_e[begun:], out_status[begun:])
    for k in range(begun, begun + steps):
        out_a[k] += begun if out_a[k] >= 0 else 0
        out_e[k] += begun if out_e[k] >= 0 else 0
    return begun + steps


@kernel
def align_rest(a: I32, e: I32, out_a: I64, out_e: I64, out_status: I64) -> int:
    """`align` where the first names differ, or whatever they are: its lines take time by the product of the lengths."""
    back, front = _turned(a), _turned(e)
    places, bounds = places_of_names(back, front)
    words = (a.size + WORD - 1) // WORD + 1
    match = np.zeros(words, np.uint64)
    blocks = e.size // STRIDE + 1
    kept = np.empty((blocks, words), np.uint64)
    line = np.empty(words, np.uint64)
    for w in range(words):
        kept[0, w] = line[w] = ~np.uint64(0)
    for done in range(1, e.size + 1):
        step_row(line, match, places, bounds[done - 1], bounds[e.size + done - 1])
        if done % STRIDE == 0:
            _copy_line(line, kept[done // STRIDE])
    lines = np.empty((STRIDE, words), np.uint64)
    block = -1
    i, j, steps = 0, 0, 0
    while i < a.size or j < e.size:
        left = e.size - j
        if left // STRIDE != block:
            block = left // STRIDE
            _copy_line(kept[block], lines[0])
            for k in range(1, min(STRIDE, e.size - block * STRIDE + 1)):
                _copy_line(lines[k - 1], lines[k])
                name = block * STRIDE + k - 1
                step_row(lines[k], match, places, bounds[name], bounds[e.size + name])
        word = lines[left - block * STRIDE, max(a.size - i - 1, 0) // WORD]
        status = next_status(a, i, a.size - i, e, j, left, word)
        out_a[steps] = i if status != MISSING else -1
        out_e[steps] = j if status != UNEXPECTED else -1
        out_status[steps] = status
        i += status != MISSING
        j += status != UNEXPECTED
        steps += 1
    return steps


@inlined
def is_short(n: int, m: int) -> bool:
    """Whether a unit of so many actual and expected calls is short enough for `align_short`."""
    return bool(n <= WORD and m <= STRIDE)


@lean
def short_lines(a: I32, stop: int, n: int, e: I32, end: int, m: int, lines: U64) -> None:
    """Fill `lines[:m + 1]` for the `n` actual calls before `stop`, at most a word of them, and `m` expected ones."""
    line = ~np.uint64(0)
    lines[0] = line
    for j in range(1, m + 1):
        name, match = e[end - j], np.uint64(0)
        for k in range(n):
            match |= np.uint64(a[stop - 1 - k] == name) << np.uint64(k)
        if name >= 0:
            hit = line & match
            line = (line + hit) | (line - hit)
        lines[j] = line


@lean
def align_short(
    a: I32, first: int, n: int, e: I32, begin: int, m: int, lines: U64, unit: int, at: int, out: Steps
) -> int:
    """Align one unit of at most `WORD` actual and `STRIDE` expected calls, none parallel; returns how many steps.

    `first` and `begin` are its first calls; its steps go to `out` from `at` on.
    """
    i = 0
    while i < n and i < m and a[first + i] == e[begin + i] and a[first + i] >= 0:
        put(out, at + i, unit, i, i, i, CORRECT)
        i += 1
    j, steps = i, i
    if i < n and j < m:
        short_lines(a, first + n, n - i, e, begin + m, m - j, lines)
    while i < n or j < m:
        status = next_status(a, first + i, n - i, e, begin + j, m - j, lines[m - j])
        put(out, at + steps, unit, steps, i, j, status)
        i += status != MISSING
        j += status != UNEXPECTED
        steps += 1
    return steps


@kernel
def align_long(a: I32, joined: B1, e: I32, unit: int, at: int, out: Steps) -> int:
    """Align one unit of any size, parallel calls in the order that matches most; returns how many steps."""
    order, codes = np.empty(a.size, np.int64), np.empty(a.size, np.int32)
    for i in range(a.size):
        order[i] = i
    if any_joined(joined, 0, a.size):
        order = best_order(a, joined, e)
    for i in range(a.size):
        codes[i] = a[order[i]]
    room = a.size + e.size
    actual, expected, status = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    steps = align(codes, e, actual, expected, status)
    for k in range(steps):
        i = order[actual[k]] if actual[k] >= 0 else actual[k]
        put(out, at + k, unit, k, i, expected[k], status[k])
    return steps


@lean
def align_short_units(units: I64, a_code: I32, e_code: I32, lines: U64, steps: Steps) -> int:
    """`align_units` where every unit is short and no calls are parallel: small, so that it is compiled in no time."""
    a, e, kept, out = pointer(a_code), pointer(e_code), pointer(lines), step_pointers(steps)
    at = 0
    for u in range(units.shape[0]):
        at += align_short(a, units[u, 0], units[u, 1], e, units[u, 2], units[u, 3], kept, u, at, out)
    return at


@kernel
def align_units(units: I64, a_code: I32, joined: B1, e_code: I32, lines: U64, steps: Steps) -> int:
    """Align every unit, parallel calls in the order that matches most.

    Args:
        units: First actual call, how many, first expected call, how many, int64 [units, 4].
        a_code: Name codes of all actual calls, int32.
        joined: Whether a call may be reordered with its predecessor, bool.
        e_code: Name codes of all expected calls.
        lines: Scratch space, uint64 [STRIDE + 1].
        steps: Filled, unit by unit; room for all calls of all units.

    Returns:
        How many steps there are.
    """
    a, e, kept, out = pointer(a_code), pointer(e_code), pointer(lines), step_pointers(steps)
    at = 0
    for u in range(units.shape[0]):
        first, n, begin, m = units[u, 0], units[u, 1], units[u, 2], units[u, 3]
        if is_short(n, m) and not any_joined(joined, first, first + n):
            at += align_short(a, first, n, e, begin, m, kept, u, at, out)
        else:
            mine, theirs = a_code[first : first + n], e_code[begin : begin + m]
            at += align_long(mine, joined[first : first + n], theirs, u, at, out)
    return at
