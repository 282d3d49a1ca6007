"""Where the records of a block stand: lines of JSON lines, elements of one top-level array."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracelens.kernels.hash import hash_bytes
from tracelens.kernels.lanes import LANES, equal_to
from tracelens.kernels.scan import skip_space
from tracelens.kernels.words import byte_at, lean, ones, pointer, trailing_zeros

NEWLINE = 0x0A

BEFORE, INSIDE, AFTER, NO_ARRAY = range(4)
"""Where the splitting of an array stands: before its bracket, between elements, behind it; or there is none."""


@lean
def split_lines(data: np.ndarray, begin: int, size: int, starts: np.ndarray, ends: np.ndarray) -> int:
    r"""Where the lines of ``data[begin:size]`` start and end; only ``\n`` ends a line. Returns their number.

    The arrays have room for every line (``\n`` count plus one); a last line without ``\n`` counts if it has bytes.
    """
    buf = pointer(data)
    n = 0
    start = begin
    for i in range(begin, size, LANES):
        hits = equal_to(buf, i, NEWLINE)
        while hits != 0:
            at = i + trailing_zeros(hits)
            if at >= size:
                break
            starts[n], ends[n] = start, at
            n += 1
            start = at + 1
            hits &= hits - np.uint64(1)
    if start < size:
        starts[n], ends[n] = start, size
        n += 1
    return n


@lean
def count_lines(buf: Any, start: int, end: int) -> int:
    """The number of line ends in ``buf[start:end]``."""
    n = 0
    i = start
    while i + LANES <= end:
        n += ones(equal_to(buf, i, NEWLINE))
        i += LANES
    if i < end:
        n += ones(equal_to(buf, i, NEWLINE) & ((np.uint64(1) << np.uint64(end - i)) - np.uint64(1)))
    return n


@lean
def last_newline(data: np.ndarray, size: int) -> int:
    r"""The index of the last ``\n`` in ``data[:size]``, or -1."""
    buf = pointer(data)
    i = size - 1
    while i >= 0 and byte_at(buf, i) != 10:
        i -= 1
    return i


@lean
def newlines(data: np.ndarray, begin: int, end: int) -> int:
    r"""The number of ``\n`` in ``data[begin:end]``."""
    return count_lines(pointer(data), begin, end)


@lean
def string_end(buf: Any, i: int, size: int) -> int:
    """The index behind the string whose quote stands at ``i``, unchecked; ``size`` where it does not end."""
    i += 1
    while i < size:
        c = byte_at(buf, i)
        if c == 34:
            return i + 1
        i += 2 if c == 92 else 1
    return size


@lean
def element_end(buf: Any, i: int, size: int) -> int:
    """The index of the comma or bracket behind the array element at ``i``, by nesting alone; -1 where it is not there."""
    depth = 0
    while i < size:
        c = byte_at(buf, i)
        if c == 34:
            i = string_end(buf, i, size)
            continue
        if c == 123 or c == 91:
            depth += 1
        elif c == 44 and depth == 0:
            return i
        elif c == 125 or c == 93:
            if depth == 0 and c == 93:
                return i
            depth = max(depth - 1, 0)
        i += 1
    return -1


@lean
def split_elements(
    data: np.ndarray, begin: int, size: int, phase: int, starts: np.ndarray, ends: np.ndarray, lines: np.ndarray
) -> tuple[int, int, int]:
    """Where the complete elements of a JSON array in ``data[begin:size]`` start and end.

    Args:
        data: Padded bytes.
        begin: Where to go on: the array's bracket, an element, or what follows the array.
        size: Where the bytes end (for now).
        phase: `BEFORE`, `INSIDE` or `AFTER`.
        starts: int64, filled; its size limits how many are found.
        ends: int64, filled.
        lines: int64, filled: line ends between ``begin`` and the element.

    Returns:
        ``(number of elements, where to go on, phase)``.
    """
    buf = pointer(data)
    n, line = 0, 0
    i = begin
    while n < starts.size and phase < AFTER:
        at = skip_space(buf, i, size)
        line += count_lines(buf, i, at)
        i = at
        if i >= size:
            break
        if phase == BEFORE:
            phase = INSIDE if byte_at(buf, i) == 91 else NO_ARRAY
            i += 1
            continue
        end = i if byte_at(buf, i) == 93 else element_end(buf, i, size)
        if end < 0:
            break
        if end > i:
            starts[n], ends[n], lines[n] = i, end, line
            n += 1
        line += count_lines(buf, i, end)
        phase = AFTER if byte_at(buf, end) == 93 else INSIDE
        i = end + 1
    return n, i, phase


@lean
def hash_records(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, out: np.ndarray) -> None:
    """128-bit digest (high, low) of each record's bytes without the white space around them, to uint64[n, 2]."""
    buf = pointer(data)
    for r in range(starts.size):
        start = skip_space(buf, starts[r], ends[r])
        end = ends[r]
        while end > start and (byte_at(buf, end - 1) == 32 or 9 <= byte_at(buf, end - 1) <= 13):
            end -= 1
        out[r, 0], out[r, 1] = hash_bytes(buf, start, end, np.uint64(0))
