"""The golden trace: how much of it was followed, and step by step which call was correct, unexpected or missing."""

from __future__ import annotations

import numpy as np
import polars as pl

from tracelens.kernels.align import STRIDE, Steps, align_short_units, align_units, is_short
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


def steps_of(units: Units, a: CallArrays, e: CallArrays, joined: B1 | None = None) -> Steps:
    """Align the calls of every unit.

    Args:
        units: The units.
        a: Actual calls.
        e: Expected calls.
        joined: Whether an actual call may be reordered with the one before; ``None`` where order counts.
    """
    room = int(units.a_count.sum() + units.e_count.sum())
    index, actual, expected, status = (np.empty(room, np.int32) for _ in range(4))
    steps = Steps(np.empty(room, np.int64), index, actual, expected, status)
    lines = np.empty(STRIDE + 1, np.uint64)
    a_code = np.where(a.malformed, np.int32(-1), a.code)
    flags = np.zeros(len(a), np.bool_) if joined is None else joined
    if is_short(units.a_count.max(initial=0), units.e_count.max(initial=0)) and not flags.any():
        n = align_short_units(units.table, a_code, e.code, lines, steps)
    else:
        n = align_units(units.table, a_code, flags, e.code, lines, steps)
    return Steps(steps.unit[:n], index[:n], actual[:n], expected[:n], status[:n])
