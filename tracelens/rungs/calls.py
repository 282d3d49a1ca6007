"""Rung two: function calls. How many pairs of each status, and the pairs themselves."""

from __future__ import annotations

import numpy as np
import polars as pl

from tracelens.kernels.pairing import EXACT, MALFORMED, MISSING, PARTIAL, WRONG_NAME, pair_rows
from tracelens.kernels.reference.pairing import PAIRINGS, STATUSES, UNIT
from tracelens.rungs.units import CallArrays, Paired

COUNTED = ("exact", "partial", "name_only", "missing", "extra")
"""Statuses that are counted under every pairing."""


def count_columns(paired: Paired) -> dict[str, pl.Series]:
    """Counts by pairing and status.

    Args:
        paired: The pairings.

    Returns:
        `n_<status>_<pairing>` for the statuses of `COUNTED`, `n_wrong_name_positional` and `n_malformed`; Int32, one
        value per unit. Exact and partial counts are null where arguments of a call that matters were not captured.
    """
    columns: dict[str, pl.Series] = {}
    for p, pairing in enumerate(PAIRINGS):
        for status in COUNTED:
            name = f"n_{status}_{pairing}"
            values = pl.Series(name, paired.counts[:, p, STATUSES.index(status)].astype(np.int32))
            columns[name] = mask(values, paired.unknown) if status in {"exact", "partial"} else values
    for name, code in (("n_wrong_name_positional", WRONG_NAME), ("n_malformed", MALFORMED)):
        columns[name] = pl.Series(name, paired.counts[:, 0, code].astype(np.int32))
    return columns


def mask(values: pl.Series, null: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> pl.Series:
    """The values, null where told."""
    if not null.any():
        return values
    return values.to_frame().select(pl.when(pl.lit(pl.Series(~null))).then(pl.col(values.name)))[values.name]


def pair_frame(paired: Paired, a: CallArrays, e: CallArrays, pairing: str = "optimal") -> pl.DataFrame:
    """The rows of one pairing: the actual calls of a unit in order, then the expected calls nobody made.

    Args:
        paired: The pairings.
        a: Actual calls.
        e: Expected calls.
        pairing: `positional`, `best_unused` or `optimal`.

    Returns:
        A frame with
        `unit` Int64; `pairing` Enum; `pair_index` Int32, from 0 in each unit;
        `actual` Int32, the call counted from the unit's first, null where the expected call was not made;
        `expected` Int32, likewise; `status` Enum;
        `exact_raw` Boolean, whether arguments were equal as JSON before any rule, null unless a pair of equal names
        with captured arguments (or if raw digests were not given);
        `agreement` Float64 from 0 to 1, null unless exact or partial.
    """
    p = PAIRINGS.index(pairing)
    sizes = paired.units[:, 1] + paired.counts[:, p, MISSING]
    row = np.cumsum(sizes) - sizes
    total = int(sizes.sum())
    unit, actual, expected = np.empty(total, np.int64), np.empty(total, np.int32), np.empty(total, np.int32)
    status, agreement = np.empty(total, np.uint8), np.empty(total, np.int64)
    pair_rows(
        paired.units,
        *paired.sides,
        paired.slot,
        paired.partner[p],
        paired.status[p],
        row,
        unit,
        actual,
        expected,
        status,
        agreement,
    )
    raw = np.zeros(total, np.bool_)
    known = np.zeros(total, np.bool_)
    if len(a.raw_hi) == len(a) and len(e.raw_hi) == len(e):
        known = (status == EXACT) | (status == PARTIAL)
        i = (paired.units[unit, 0] + actual)[known]
        j = (paired.units[unit, 2] + expected)[known]
        raw[known] = (a.raw_hi[i] == e.raw_hi[j]) & (a.raw_lo[i] == e.raw_lo[j])
    return pl.DataFrame(
        {
            "unit": unit,
            "pairing": pl.Series(np.full(total, p, np.uint8)).cat.to(pl.Enum(PAIRINGS)),
            "pair_index": (np.arange(total) - np.repeat(row, sizes)).astype(np.int32),
            "actual": mask(pl.Series("actual", actual), actual < 0),
            "expected": mask(pl.Series("expected", expected), expected < 0),
            "status": pl.Series(status).cat.to(pl.Enum(STATUSES)),
            "exact_raw": mask(pl.Series("exact_raw", raw), ~known),
            "agreement": mask(pl.Series("agreement", agreement / UNIT), agreement < 0),
        }
    )
