"""Rung four: tool-call accuracy, by pairing."""

from __future__ import annotations

import numpy as np
import polars as pl

from tracelens.kernels.pairing import EXACT, PARTIAL
from tracelens.kernels.reference.pairing import PAIRINGS, UNIT
from tracelens.rungs.units import I64, Credit, Paired


def accuracy_columns(paired: Paired, credit: Credit = Credit()) -> dict[str, pl.Series]:  # noqa: B008 - frozen
    """The credit of all pairs over the longer list; 1 where both are empty.

    Args:
        paired: The pairings, made with the same credit.
        credit: What an exact pair and a name-only pair earn.

    Returns:
        `accuracy_positional`, `accuracy_best_unused`, `accuracy_optimal` and `accuracy_graded` (the optimal pairs, a
        partial one also earning its agreement's share of what an exact one earns more); Float64, 0 to 1, one value
        per unit, null where arguments of a call that matters were not captured.
    """
    longer = np.maximum(paired.units[:, 1], paired.units[:, 3])
    earned = credit.exact * paired.counts[:, :, EXACT] + credit.name * paired.counts[:, :, PARTIAL]
    totals = {f"accuracy_{pairing}": earned[:, p] for p, pairing in enumerate(PAIRINGS)}
    more = (credit.exact - credit.name) * (paired.agreed / UNIT)
    totals["accuracy_graded"] = earned[:, PAIRINGS.index("optimal")] + more
    known = pl.Series(~paired.unknown)
    frame = pl.DataFrame({name: _over(total, longer) for name, total in totals.items()})
    if paired.unknown.any():
        frame = frame.select(pl.when(pl.lit(known)).then(pl.all()))
    return {name: frame[name] for name in totals}


def _over(earned: np.ndarray[tuple[int], np.dtype[np.float64]], longer: I64) -> pl.Series:
    return pl.Series(np.divide(earned, longer, out=np.ones(len(earned)), where=longer > 0))
