"""Texts out of parts: each row is put together from texts that other rows use as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tracelens.kernels.words import byte_at, inlined, lean, load8, pointer, store8

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
def add_sizes(
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    which: npt.NDArray[np.int32],
    sizes: npt.NDArray[np.int64],
) -> None:
    """Make each row longer by one of some texts.

    Args:
        begin: int64[k], where the texts begin.
        end: int64[k], where they end.
        which: int32[n], the text of each row; below zero for none.
        sizes: int64[n], changed.
    """
    first, last, chosen, sums = pointer(begin), pointer(end), pointer(which), pointer(sizes)
    for row in range(which.size):
        text = np.int64(chosen[row])
        if text >= 0:
            sums[row] += last[text] - first[text]


@lean
def append_texts(
    data: npt.NDArray[np.uint8],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    which: npt.NDArray[np.int32],
    at: npt.NDArray[np.int64],
    out: npt.NDArray[np.uint8],
) -> None:
    """Write one of some texts into each row.

    Args:
        data: uint8, padded bytes that hold the texts.
        begin: int64[k], where they begin.
        end: int64[k], where they end.
        which: int32[n], the text of each row; below zero for none.
        at: int64[n], where to write; moved on.
        out: uint8, padded bytes of all rows.
    """
    source, first, last, chosen = pointer(data), pointer(begin), pointer(end), pointer(which)
    places, target = pointer(at), pointer(out)
    for row in range(which.size):
        text = np.int64(chosen[row])
        if text >= 0:
            size = last[text] - first[text]
            copy_exactly(source, first[text], size, target, places[row])
            places[row] += size


@lean
def cut_long(
    data: npt.NDArray[np.uint8],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    most: int,
    kept: int,
    cut: npt.NDArray[np.int32],
) -> None:
    """Let texts of too many characters end earlier.

    Args:
        data: uint8, UTF-8.
        begin: int64[n], where the texts begin.
        end: int64[n], where they end; changed.
        most: Most characters.
        kept: Characters that are left of a longer text.
        cut: int32[n], filled: 0 for a longer text, -1 for others.
    """
    at = pointer(data)
    for text in range(begin.size):
        cut[text] = -1
        if end[text] - begin[text] <= most:
            continue
        stop, characters = end[text], 0
        for i in range(begin[text], end[text]):
            if byte_at(at, i) & 0xC0 == 0x80:  # not the first byte of a character
                continue
            if characters == kept:
                stop = i
            characters += 1
            if characters > most:
                end[text], cut[text] = stop, 0
                break
