"""The golden trace: how much of it was followed, and step by step which call was correct, unexpected or missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.kernels.align import align_units
from tracelens.rungs.units import B1, I64, CallArrays, Names, Units

STEP_STATUSES = ("correct", "unexpected", "missing")


def golden_column(names: Names) -> pl.Series:
    """`golden_score`: 100 times the longest common subsequence over the number of golden steps.

    Args:
        names: What names alone say about each unit.

    Returns:
        Float64, 0 to 100, never null, one value per unit; without golden steps 100 if nothing was called, else 0.
    """
    none = np.where(names.n == 0, 100.0, 0.0)
    return pl.Series("golden_score", np.divide(100.0 * names.common, names.m, out=none, where=names.m > 0))


@dataclass(frozen=True, slots=True)
class Steps:
    """Both lists of each unit side by side along a longest common subsequence.

    Attributes:
        unit: int64[steps].
        index: int32[steps], from 0 in each unit.
        actual: int64[steps], the call counted from the unit's first; -1 for a missing step.
        expected: int64[steps], likewise; -1 for an unexpected one.
        status: int64[steps], place in `STEP_STATUSES`.
    """

    unit: I64
    index: npt.NDArray[np.int32]
    actual: I64
    expected: I64
    status: I64

    def __len__(self) -> int:
        return len(self.unit)


def steps_of(units: Units, a: CallArrays, e: CallArrays, joined: B1 | None = None) -> Steps:
    """Align the calls of every unit.

    Args:
        units: The units.
        a: Actual calls.
        e: Expected calls.
        joined: Whether an actual call may be reordered with the one before; ``None`` where order counts.
    """
    room = int(units.a_count.sum() + units.e_count.sum())
    unit, actual, expected, status = (np.empty(room, np.int64) for _ in range(4))
    row = np.empty(len(units) + 1, np.int64)
    a_code = np.where(a.malformed, np.int32(-1), a.code)
    flags = np.zeros(len(a), np.bool_) if joined is None else joined
    n = align_units(units.table, a_code, flags, e.code, row, unit, actual, expected, status)
    index = (np.arange(n) - row[unit[:n]]).astype(np.int32)
    return Steps(unit[:n], index, actual[:n], expected[:n], status[:n])
