"""Texts of an Arrow column, which no zero bytes follow: where runs of equal ones start, and a copy of some of them.

A column is its bytes (uint8) and offsets (int64[n + 1]); nothing outside the texts is read.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.words import copy_exactly, equal_bytes, lean, pointer


@lean
def run_starts(data: np.ndarray, offsets: np.ndarray, out: np.ndarray) -> int:
    """The rows whose text differs from that of the row before, the first row included.

    Args:
        data: Bytes of n texts.
        offsets: Where they stand.
        out: int64[n]; filled from its beginning.

    Returns:
        How many there are.
    """
    buf = pointer(data)
    n = 0
    before, size = 0, -1
    for r in range(offsets.size - 1):
        start = offsets[r]
        length = offsets[r + 1] - start
        if length != size or not equal_bytes(buf, before, buf, start, size):
            out[n] = r
            n += 1
        before, size = start, length
    return n


@lean
def text_bytes(offsets: np.ndarray, rows: np.ndarray) -> int:
    """How many bytes the texts of some rows have."""
    size = 0
    for k in range(rows.size):
        size += offsets[rows[k] + 1] - offsets[rows[k]]
    return size


@lean
def gather_texts(
    data: np.ndarray, offsets: np.ndarray, rows: np.ndarray, out: np.ndarray, out_offsets: np.ndarray, first: int
) -> None:
    """Copy texts behind those that stand already in a column being made.

    Args:
        data: Bytes of the texts.
        offsets: Where they stand.
        rows: int64[k], which texts; those in a row are copied together.
        out: uint8, room for them.
        out_offsets: int64, set from place ``first + 1`` on; what stands at ``first`` says where to write.
        first: How many texts stand there already.
    """
    source, target = pointer(data), pointer(out)
    at = out_offsets[first]
    k = 0
    while k < rows.size:
        begin = rows[k]
        start, row = offsets[begin], begin
        while k < rows.size and rows[k] == row:
            row += 1
            k += 1
            out_offsets[first + k] = at + offsets[row] - start
        copy_exactly(source, start, target, at, offsets[row] - start)
        at += offsets[row] - start
