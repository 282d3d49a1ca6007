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


def best_units(trace: I64, accuracy: pl.Series, f1: pl.Series) -> I64:
    """The unit that counts for each trace: the reference with the highest `accuracy_optimal`.

    Where that is null the highest `f1` decides; among equals the first.

    Args:
        trace: Trace of each unit, ascending, references in order.
        accuracy: `accuracy_optimal` of each unit.
        f1: `f1` of each unit.

    Returns:
        One unit per trace, ascending, int64.

    Example:
        >>> best_units(np.array([0, 0, 1]), pl.Series([0.5, 1.0, None]), pl.Series([1.0, 0.5, 0.2])).tolist()
        [1, 2]
    """
    # A null accuracy ranks below every other one, so that `f1` decides only where all are null.
    first = accuracy.fill_null(-1.0).to_numpy()
    order = np.lexsort((np.arange(len(trace)), np.where(accuracy.is_null(), -f1.to_numpy(), 0.0), -first, trace))
    head = np.ones(len(trace), np.bool_)
    head[1:] = trace[order][1:] != trace[order][:-1]
    return order[head].astype(np.int64)


def _over(earned: np.ndarray[tuple[int], np.dtype[np.float64]], longer: I64) -> pl.Series:
    return pl.Series(np.divide(earned, longer, out=np.ones(len(earned)), where=longer > 0))
