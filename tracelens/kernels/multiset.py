"""Scores that ignore the order of tool names: sizes of sets and multisets.

Codes are int32, shared by both sides; -1 is a call without a usable name: it equals nothing, so each one is an
element of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracelens.kernels.jit import kernel, lean
from tracelens.kernels.sorting import first_at_least, sort_numbers

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

SMALL = 4096
"""Up to this product of lengths two nested loops beat sorting."""


@lean
def _small(a: I32, e: I32, out: I64) -> None:
    """Count by comparing everything with everything."""
    for i in range(a.size):
        before = 0
        for k in range(i):
            before += a[k] == a[i]
        there = 0
        for j in range(e.size):
            there += e[j] == a[i]
        named = a[i] >= 0
        out[0] += before == 0 or not named
        out[2] += named and before == 0 and there > 0
        out[3] += named and before < there
    for j in range(e.size):
        first = True
        for k in range(j):
            first &= e[k] != e[j]
        out[1] += first or e[j] < 0


@lean
def _distinct(x: I64) -> int:
    """Distinct names of a sorted list, each unnamed call for itself."""
    found = 0
    for i in range(x.size):
        found += i == 0 or x[i] != x[i - 1] or x[i] < 0
    return found


@kernel
def _sorted(codes: I32) -> I64:
    """The codes in ascending order."""
    out = np.empty(codes.size, np.int64)
    for k in range(codes.size):
        out[k] = codes[k]
    sort_numbers(out, np.empty(codes.size, np.int64))
    return out


@kernel
def _large(actual: I32, expected: I32, out: I64) -> None:
    """Count by walking both lists sorted."""
    a, e = _sorted(actual), _sorted(expected)
    out[0] = _distinct(a)
    out[1] = _distinct(e)
    i, j = first_at_least(a, 0), first_at_least(e, 0)
    last = np.int64(-1)
    while i < a.size and j < e.size:
        if a[i] == e[j]:
            out[2] += a[i] != last
            out[3] += 1
            last = a[i]
            i += 1
            j += 1
        elif a[i] < e[j]:
            i += 1
        else:
            j += 1


@kernel
def multiset_scores(units: I64, a_code: I32, e_code: I32, small: int) -> I64:
    """The order-free numbers of every unit.

    Args:
        units: First actual call, how many, first expected call, how many, int64 [units, 4].
        a_code: Name codes of all actual calls, int32.
        e_code: Name codes of all expected calls.
        small: Product of lengths up to which nested loops are used.

    Returns:
        int64 [units, 4]: distinct actual names, distinct expected names, distinct names in both, multiset overlap.
    """
    out = np.zeros((units.shape[0], 4), np.int64)
    for u in range(units.shape[0]):
        a = a_code[units[u, 0] : units[u, 0] + units[u, 1]]
        e = e_code[units[u, 2] : units[u, 2] + units[u, 3]]
        if max(a.size, e.size) ** 2 <= small:
            _small(a, e, out[u])
        else:
            _large(a, e, out[u])
    return out
