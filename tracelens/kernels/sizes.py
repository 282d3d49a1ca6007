"""The longest of many texts, for rooms that one of them has to fit in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tracelens.kernels.words import lean, pointer


@lean
def longest_text(offsets: npt.NDArray[np.int64]) -> int:
    """Bytes of the longest of n texts that stand back to back.

    Args:
        offsets: int64[n + 1], where each begins.

    Example:
        >>> longest_text(np.array([0, 2, 7])), longest_text(np.array([0]))
        (5, 0)
    """
    at, most = pointer(offsets), np.int64(0)
    for text in range(offsets.size - 1):
        most = max(most, at[text + 1] - at[text])
    return most


@lean
def longest_value(first: npt.NDArray[np.int64], start: npt.NDArray[np.int32], end: npt.NDArray[np.int32]) -> int:
    """Bytes of the longest whole value on a tape (see `kernels.shred.Tape`); texts without entries have none."""
    root, begin, stop = pointer(first), pointer(start), pointer(end)
    most = np.int64(0)
    for text in range(first.size - 1):
        entry = root[text]
        if entry < root[text + 1]:
            most = max(most, np.int64(stop[entry]) - np.int64(begin[entry]))
    return most
