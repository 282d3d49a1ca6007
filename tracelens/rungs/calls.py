"""Rung two: function calls. How many pairs of each status, and the pairs themselves."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.kernels.pairing import MALFORMED, MISSING, WRONG_NAME, pair_rows
from tracelens.kernels.reference.pairing import PAIRINGS, STATUSES
from tracelens.rungs.units import B1, I32, I64, Paired

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
    counts = np.ascontiguousarray(paired.counts.astype(np.int32).transpose(1, 2, 0))
    for p, pairing in enumerate(PAIRINGS):
        for status in COUNTED:
            name = f"n_{status}_{pairing}"
            values = pl.Series(name, counts[p, STATUSES.index(status)])
            columns[name] = mask(values, paired.unknown) if status in {"exact", "partial"} else values
    for name, code in (("n_wrong_name_positional", WRONG_NAME), ("n_malformed", MALFORMED)):
        columns[name] = pl.Series(name, counts[0, code])
    return columns


def mask(values: pl.Series, null: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> pl.Series:
    """The values, null where told."""
    if not null.any():
        return values
    return values.to_frame().select(pl.when(pl.lit(pl.Series(~null))).then(pl.col(values.name)))[values.name]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The rows of one pairing: the actual calls of each unit in order, then the expected calls nobody made.

    Attributes:
        unit: int64[rows].
        actual: int32[rows], the call counted from the unit's first; -1 where the expected call was not made.
        expected: int32[rows], likewise; -1 where the call was not expected.
        status: uint8[rows], place in `STATUSES`.
        agreement: int64[rows], in 1e-9; below zero unless exact or partial.
    """

    unit: I64
    actual: I32
    expected: I32
    status: npt.NDArray[np.uint8]
    agreement: I64

    def __len__(self) -> int:
        return len(self.unit)

    def of(self, rows: B1) -> Pairs:
        """Some of the rows."""
        return Pairs(*(getattr(self, each.name)[rows] for each in fields(self)))


def pairs_of(paired: Paired, pairing: str = "optimal") -> Pairs:
    """The rows of one pairing.

    Args:
        paired: The pairings.
        pairing: `positional`, `best_unused` or `optimal`.
    """
    p = PAIRINGS.index(pairing)
    sizes = paired.units[:, 1] + paired.counts[:, p, MISSING]
    row = np.cumsum(sizes) - sizes
    total = int(sizes.sum())
    unit, actual, expected = np.empty(total, np.int64), np.empty(total, np.int32), np.empty(total, np.int32)
    status, agreement = np.empty(total, np.uint8), np.empty(total, np.int64)
    sides = (paired.units, *paired.sides, paired.slot, paired.partner[p], paired.status[p])
    pair_rows(*sides, row, unit, actual, expected, status, agreement)
    return Pairs(unit, actual, expected, status, agreement)
