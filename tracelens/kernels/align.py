"""Laying two lists of names side by side along a longest common subsequence.

Among all longest ones the alignment is fixed by one rule, read from the front: equal names match; otherwise the
actual call is left out if that loses nothing, else the expected one.

`lines[j]` holds one bit per actual call: whether leaving it out, with the expected names from j on still to come,
would cost a match. Only every `STRIDE`-th line is kept and the others are computed again block by block, so memory
grows with the lengths and not with their product.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tracelens.kernels.jit import lean
from tracelens.kernels.parallel import best_order
from tracelens.kernels.sequence import B1, I32, I64, U64, WORD, places_of_names, step_row

STRIDE = 256
CORRECT, UNEXPECTED, MISSING = 0, 1, 2


@njit(nogil=True, cache=True, _nrt=True)
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
    back, front = np.ascontiguousarray(a[::-1]), np.ascontiguousarray(e[::-1])
    places, bounds = places_of_names(back, front)
    words = (a.size + WORD - 1) // WORD + 1
    match = np.zeros(words, np.uint64)
    blocks = e.size // STRIDE + 1
    kept = np.full((blocks, words), ~np.uint64(0))
    line = kept[0].copy()
    for done in range(1, e.size + 1):
        step_row(line, match, places, bounds[done - 1], bounds[e.size + done - 1])
        if done % STRIDE == 0:
            kept[done // STRIDE] = line
    lines = np.empty((STRIDE, words), np.uint64)
    block = -1
    i, j, steps = 0, 0, 0
    while i < a.size or j < e.size:
        left = e.size - j
        if left // STRIDE != block:
            block = left // STRIDE
            lines[0] = kept[block]
            for k in range(1, min(STRIDE, e.size - block * STRIDE + 1)):
                lines[k] = lines[k - 1]
                name = block * STRIDE + k - 1
                step_row(lines[k], match, places, bounds[name], bounds[e.size + name])
        status = _step(a, e, i, j, lines[left - block * STRIDE])
        out_a[steps] = i if status != MISSING else -1
        out_e[steps] = j if status != UNEXPECTED else -1
        out_status[steps] = status
        i += status != MISSING
        j += status != UNEXPECTED
        steps += 1
    return steps


@lean
def _step(a: I32, e: I32, i: int, j: int, line: U64) -> int:
    """What comes next in the alignment."""
    if j == e.size:
        return UNEXPECTED
    if i == a.size:
        return MISSING
    if a[i] == e[j] and a[i] >= 0:
        return CORRECT
    place = a.size - 1 - i
    keeps = (line[place // WORD] >> np.uint64(place % WORD)) & np.uint64(1)
    return UNEXPECTED if keeps else MISSING


@njit(nogil=True, cache=True, _nrt=True)
def align_units(
    units: I64,
    a_code: I32,
    joined: B1,
    e_code: I32,
    row: I64,
    out_unit: I64,
    out_a: I64,
    out_e: I64,
    out_status: I64,
) -> int:
    """Align every unit, parallel calls in the order that matches most.

    Args:
        units: First actual call, how many, first expected call, how many, int64 [units, 4].
        a_code: Name codes of all actual calls, int32.
        joined: Whether a call may be reordered with its predecessor, bool.
        e_code: Name codes of all expected calls.
        row: Filled: first step of each unit, int64 [units + 1].
        out_unit: Filled: the unit of each step; room for all calls of all units.
        out_a: Filled: actual call counted from the unit's first, or -1.
        out_e: Filled: expected call counted from the unit's first, or -1.
        out_status: Filled: CORRECT, UNEXPECTED or MISSING.

    Returns:
        How many steps there are.
    """
    steps = 0
    for u in range(units.shape[0]):
        row[u] = steps
        start, stop = units[u, 0], units[u, 0] + units[u, 1]
        a, e = a_code[start:stop], e_code[units[u, 2] : units[u, 2] + units[u, 3]]
        behind = joined[start:stop]
        if a.size > 1 and behind[1:].any():
            behind = behind.copy()
            behind[0] = False
            order = best_order(a, behind, e)
        else:
            order = np.arange(a.size)
        found = align(a[order], e, out_a[steps:], out_e[steps:], out_status[steps:])
        for k in range(steps, steps + found):
            out_unit[k] = u
            if out_a[k] >= 0:
                out_a[k] = order[out_a[k]]
        steps += found
    row[units.shape[0]] = steps
    return steps
