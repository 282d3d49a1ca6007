"""Texts out of parts: each row is put together from texts that other rows use as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tracelens.kernels.words import inlined, lean, load8, pointer, store8

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def copy_exactly(source: Any, start: int, size: int, target: Any, at: int) -> None:
    """Copy bytes, eight at a time, and leave those behind them as they are (both padded)."""
    while size > 8:
        store8(target, at, load8(source, start))
        start += 8
        at += 8
        size -= 8
    kept = ALL << np.uint64(8 * size) if size < 8 else np.uint64(0)
    store8(target, at, (load8(target, at) & kept) | (load8(source, start) & ~kept))


@lean
def add_sizes(offsets: npt.NDArray[np.int64], which: npt.NDArray[np.int32], sizes: npt.NDArray[np.int64]) -> None:
    """Make each row longer by one of some texts.

    Args:
        offsets: int64[k + 1], where the texts begin.
        which: int32[n], the text of each row; below zero for none.
        sizes: int64[n], changed.
    """
    first, chosen, sums = pointer(offsets), pointer(which), pointer(sizes)
    for row in range(which.size):
        text = np.int64(chosen[row])
        if text >= 0:
            sums[row] += first[text + 1] - first[text]


@lean
def append_texts(
    data: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    which: npt.NDArray[np.int32],
    at: npt.NDArray[np.int64],
    out: npt.NDArray[np.uint8],
) -> None:
    """Write one of some texts into each row.

    Args:
        data: uint8, padded bytes of the texts.
        offsets: int64[k + 1], where they begin.
        which: int32[n], the text of each row; below zero for none.
        at: int64[n], where to write; moved on.
        out: uint8, padded bytes of all rows.
    """
    source, first, chosen = pointer(data), pointer(offsets), pointer(which)
    places, target = pointer(at), pointer(out)
    for row in range(which.size):
        text = np.int64(chosen[row])
        if text >= 0:
            size = first[text + 1] - first[text]
            copy_exactly(source, first[text], size, target, places[row])
            places[row] += size
