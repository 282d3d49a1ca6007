"""Sorting and searching in kernels.

NumPy's own functions are compiled once per kernel that calls them, which takes longer than the kernel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracelens.kernels.jit import kernel, lean

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]


@lean
def sort_numbers(numbers: I64, room: I64) -> None:
    """Sort in place, by merging ever longer runs; `room` is scratch of the same size."""
    size = numbers.size
    width = 1
    while width < size:
        for start in range(0, size, 2 * width):
            middle, stop = min(start + width, size), min(start + 2 * width, size)
            if middle == stop or numbers[middle - 1] <= numbers[middle]:
                continue
            for k in range(start, middle):
                room[k] = numbers[k]
            p, q = start, middle
            for at in range(start, stop):
                if p == middle:
                    break
                if q == stop or room[p] <= numbers[q]:
                    numbers[at] = room[p]
                    p += 1
                else:
                    numbers[at] = numbers[q]
                    q += 1
        width *= 2


@lean
def first_at_least(numbers: I64, wanted: int) -> int:
    """The first place in ascending numbers that holds `wanted` or more; their count where none does."""
    low, high = 0, numbers.size
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def stable_order(x: U64, y: U64) -> I64:
    """Positions sorted by x, then y, then position, by merging ever longer runs."""
    size = x.size
    order, other = np.empty(size, np.int64), np.empty(size, np.int64)
    for k in range(size):
        order[k] = k
    width = 1
    while width < size:
        for start in range(0, size, 2 * width):
            middle, stop = min(start + width, size), min(start + 2 * width, size)
            p, q = start, middle
            for at in range(start, stop):
                left = q >= stop
                if not left and p < middle:
                    i, j = order[p], order[q]
                    left = x[i] < x[j] or (x[i] == x[j] and y[i] <= y[j])
                if left:
                    other[at] = order[p]
                    p += 1
                else:
                    other[at] = order[q]
                    q += 1
        order, other = other, order
        width *= 2
    return order
