"""Texts of few distinct values, by number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tracelens.kernels.jit import lean


@lean
def note_codes(codes: npt.NDArray[np.int32], used: npt.NDArray[np.bool_]) -> None:
    """Note which numbers occur.

    Args:
        codes: int32[n], from 0.
        used: bool, true is set where a number occurs.
    """
    for row in range(codes.size):
        used[codes[row]] = True


@lean
def renumber(codes: npt.NDArray[np.int32], place: npt.NDArray[np.int32], out: npt.NDArray[np.int32]) -> None:
    """Put other numbers in the place of numbers.

    Args:
        codes: int32[n], from 0.
        place: int32, the new number by old one.
        out: int32[n], overwritten; may be ``codes``.
    """
    for row in range(codes.size):
        out[row] = place[codes[row]]
