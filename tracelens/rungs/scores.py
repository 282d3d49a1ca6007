"""The reference-based rungs together: everything about units that needs both lists of calls."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tracelens.rungs.accuracy import accuracy_columns
from tracelens.rungs.calls import count_columns
from tracelens.rungs.golden import golden_column
from tracelens.rungs.trajectory import trajectory_columns
from tracelens.rungs.units import B1, CallArrays, Credit, Paired, Related, Units, compare_names, pair_calls


@dataclass(frozen=True, slots=True)
class UnitScores:
    """Scores of units.

    Attributes:
        frame: One row per unit: the columns of rungs two to four and `golden_score`.
        paired: The pairings behind them, for `pairs_of`.
    """

    frame: pl.DataFrame
    paired: Paired


def score_units(
    units: Units,
    a: CallArrays,
    e: CallArrays,
    *,
    related: Related | None = None,
    joined: B1 | None = None,
    credit: Credit = Credit(),  # noqa: B008 - frozen
) -> UnitScores:
    """Score every unit.

    Args:
        units: The units.
        a: Actual calls that count.
        e: Expected calls.
        related: What matchers and tolerances decided.
        joined: Whether an actual call may be reordered with the one before; ``None`` where order counts.
        credit: What an exact pair and a name-only pair earn.

    Returns:
        The scores; what is null and why stands with `count_columns` and `accuracy_columns`.
    """
    names = compare_names(units, a, e, joined)
    paired = pair_calls(units, a, e, related, joined, credit)
    columns = trajectory_columns(names) | count_columns(paired) | accuracy_columns(paired, credit)
    columns["golden_score"] = golden_column(names)
    return UnitScores(pl.DataFrame(list(columns.values())), paired)
