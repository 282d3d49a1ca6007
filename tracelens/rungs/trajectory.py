"""Rung three: trajectory. Scores from tool names alone."""

from __future__ import annotations

import numpy as np
import polars as pl

from tracelens.columns import nullable
from tracelens.rungs.units import I64, Names


def trajectory_columns(names: Names) -> dict[str, pl.Series]:
    """All scores from names.

    Args:
        names: What names alone say about each unit.

    Returns:
        `strict`, `unordered`, `subset`, `superset`, `subset_partial`, `superset_partial`, `exact_order`, `in_order`,
        `any_order`, `precision`, `recall`, `f1`, `lcs` (Float64, 0 to 1, never null) and `first_divergence` (Int32,
        from 0, null where both lists are equal), one value per unit.
    """
    longer = np.maximum(names.n, names.m)
    equal = (names.n == names.m) & (names.prefix == names.n)
    scores = {
        "strict": _over(names.prefix, longer),
        "unordered": _over(names.distinct_both, names.distinct_a + names.distinct_e - names.distinct_both),
        "subset": names.distinct_both == names.distinct_e,
        "superset": names.distinct_both == names.distinct_a,
        "subset_partial": _over(names.distinct_both, names.distinct_e),
        "superset_partial": _over(names.distinct_both, names.distinct_a),
        "exact_order": equal,
        "in_order": names.in_order,
        "any_order": names.overlap == names.m,
        "precision": _over(names.overlap, names.n),
        "recall": _over(names.overlap, names.m),
        "f1": _over(2 * names.overlap, names.n + names.m),
        "lcs": _over(names.common, longer),
    }
    columns = {name: pl.Series(name, values.astype(np.float64)) for name, values in scores.items()}
    columns["first_divergence"] = pl.Series("first_divergence", nullable(names.prefix.astype(np.int32), equal))
    return columns


def _over(part: I64, whole: I64) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Shares, where the share of nothing is 1."""
    return np.divide(part, whole, out=np.ones(len(part)), where=whole > 0)
