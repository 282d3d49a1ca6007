"""The pass rate against a threshold, to choose thresholds by."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tracelens.errors import UsageError, did_you_mean, shown_type
from tracelens.tables import SCORES

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tracelens.store import Run

STEPS = 101
"""Points of a curve at most: few enough to draw, whatever the size of the run."""


@dataclass(frozen=True, repr=False)
class ThresholdCurve:
    """What the pass rate of a run would be for each threshold of one score.

    Attributes:
        score: The score.
        threshold: The threshold that the run was scored with; None: none.
        points: One row per threshold, rising: ``threshold``; ``reached``, the share of the traces with this score that
            reach it; ``pass_rate``, the share of the scored traces that would pass, were this the threshold of the
            score and all else as it was (other thresholds met, no error finding); ``n_reached``, ``n_passed``.
        n_with_score: Traces that have the score.
        n_scored: Traces that were scored.
    """

    score: str
    threshold: float | None
    points: pl.DataFrame
    n_with_score: int
    n_scored: int

    def chart(self) -> alt.LayerChart | alt.FacetChart:
        """The curve as an Altair chart."""
        from tracelens.report.altair_charts import curve_chart

        return curve_chart(self.points, score=self.score, threshold=self.threshold)

    def __repr__(self) -> str:
        """Its size in one line."""
        set_to = "no threshold" if self.threshold is None else f"threshold {self.threshold:g}"
        return (
            f"ThresholdCurve({self.score}: {self.n_with_score:,} of {self.n_scored:,} scored traces have it, {set_to})"
        )

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.chart()._repr_mimebundle_(**options)


def threshold_curve(run: Run, score: Any) -> ThresholdCurve:
    """Work out the curve of one score.

    Args:
        run: The run.
        score: A score of `traces`.

    Returns:
        The curve; a state check that replaces thresholds is not taken into account.

    Raises:
        UsageError: No such score.
    """
    import polars as pl

    if score not in SCORES:
        known = did_you_mean(score, SCORES) if isinstance(score, str) else f"give its name, not {shown_type(score)}"
        raise UsageError(f"no score {score!r}", hint=known or f"scores are {', '.join(SCORES)}")
    thresholds: dict[str, float] = json.loads(run.read("runs", ["thresholds"])["thresholds"][0] or "{}")
    others = (pl.col("severity") == "error") & (pl.col("code") != f"threshold.{score}")
    failed = run.scan("findings").filter(others).select("trace_id").unique().with_columns(failed=pl.lit(value=True))
    facts = run.scan("traces").filter(pl.col("route") != "unscored").select("trace_id", pl.col(score).alias("value"))
    well = facts.join(failed, on="trace_id", how="left").with_columns(well=pl.col("failed").is_null())
    counted = well.group_by("value").agg(n=pl.len(), well=pl.col("well").sum()).collect()
    return _curve(score, thresholds.get(score), counted)


def _curve(score: str, threshold: float | None, counted: pl.DataFrame) -> ThresholdCurve:
    """The curve from the number of traces by value of the score (null: without one)."""
    import polars as pl

    without = int(counted.filter(pl.col("value").is_null())["well"].sum())
    values = counted.drop_nulls("value").sort("value")
    most = 100.0 if score == "golden_score" else 1.0
    known = values["value"].to_list() if values.height < STEPS else [most * step / 100 for step in range(STEPS)]
    at = sorted({*known, 0.0, most, *([] if threshold is None else [threshold])})
    first = np.searchsorted(values["value"].to_numpy(), at)
    points = pl.DataFrame(
        {
            "threshold": at,
            "n_reached": _from_the_end(values["n"])[first],
            "n_passed": _from_the_end(values["well"])[first] + without,
        }
    )
    n, scored = int(values["n"].sum()), int(counted["n"].sum())
    points = points.select(
        "threshold",
        (pl.col("n_reached") / (n or None)).alias("reached"),
        (pl.col("n_passed") / (scored or None)).alias("pass_rate"),
        "n_reached",
        "n_passed",
    )
    return ThresholdCurve(score, threshold, points, n, scored)


def _from_the_end(numbers: pl.Series) -> npt.NDArray[np.int64]:
    """Sums from each place to the end, and 0 behind it."""
    return np.concatenate([np.cumsum(numbers.to_numpy()[::-1].astype(np.int64))[::-1], [0]]).astype(np.int64)
