"""The golden trace: how much of it was followed, and step by step which call was correct, unexpected or missing."""

from __future__ import annotations

import numpy as np
import polars as pl

from tracelens.kernels.align import align_units
from tracelens.rungs.units import B1, CallArrays, Names, Units

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


def step_frame(units: Units, a: CallArrays, e: CallArrays, joined: B1 | None = None) -> pl.DataFrame:
    """Both lists side by side along a longest common subsequence.

    Args:
        units: The units.
        a: Actual calls.
        e: Expected calls.
        joined: Whether an actual call may be reordered with the one before; ``None`` where order counts.

    Returns:
        A frame with `unit` Int64; `step_index` Int32, from 0 in each unit; `actual` Int32, the call counted from the
        unit's first, null for a missing step; `expected` Int32, null for an unexpected one; `status` Enum.
    """
    room = int(units.a_count.sum() + units.e_count.sum())
    unit, actual, expected, status = (np.empty(room, np.int64) for _ in range(4))
    row = np.empty(len(units) + 1, np.int64)
    a_code = np.where(a.malformed, np.int32(-1), a.code)
    flags = np.zeros(len(a), np.bool_) if joined is None else joined
    count = align_units(units.table, a_code, flags, e.code, row, unit, actual, expected, status)
    frame = pl.DataFrame(
        {
            "unit": unit[:count],
            "step_index": (np.arange(count) - row[unit[:count]]).astype(np.int32),
            "actual": actual[:count].astype(np.int32),
            "expected": expected[:count].astype(np.int32),
            "status": pl.Series(status[:count].astype(np.uint8)).cat.to(pl.Enum(STEP_STATUSES)),
        }
    )
    sides = [pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in ("actual", "expected")]
    return frame.with_columns(sides)
