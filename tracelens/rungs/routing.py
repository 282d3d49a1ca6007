"""Rung five: each trace's route, with every reason.

Failures and gaps arrive as frames, one row each, whatever found them; this module only decides. A failure sends a
trace to triage; a gap (something needed that was not evaluated) makes it unscored; what is left has passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

FAILURES = pl.Schema({"trace": pl.UInt32(), "rung": pl.Int8(), "text": pl.String()})
"""One row per failure: the trace, the rung it belongs to (1 to 4) and a sentence."""

GAPS = pl.Schema({"trace": pl.UInt32(), "rung": pl.Int8(), "reason": pl.String()})
"""One row per thing that was needed and not evaluated: the trace, the rung and a short reason."""

RUNG_OF_SCORE: Mapping[str, int] = {
    **dict.fromkeys(
        (
            "strict",
            "unordered",
            "subset",
            "superset",
            "subset_partial",
            "superset_partial",
            "exact_order",
            "in_order",
            "any_order",
            "precision",
            "recall",
            "f1",
            "lcs",
            "golden_score",
        ),
        3,
    ),
    **dict.fromkeys(("accuracy_positional", "accuracy_best_unused", "accuracy_optimal", "accuracy_graded"), 4),
}
"""Which rung a threshold on a score belongs to; thresholds on pair counts belong to rung two."""

DEFAULT_THRESHOLDS: Mapping[str, float] = {"accuracy_optimal": 1.0}
"""What a trace with a reference needs where the suite sets no thresholds."""


@dataclass(frozen=True, slots=True)
class Routing:
    """What the suite says about routing.

    Attributes:
        thresholds: Least value by score; None = the suite has no such table.
        require_reference: Whether a trace without a reference is unscored.
        state_decides: Whether passed state checks replace rungs two to four.
        has_questions: Whether passed traces go to the judge.
    """

    thresholds: Mapping[str, float] | None = None
    require_reference: bool = False
    state_decides: bool = False
    has_questions: bool = False

    @property
    def effective(self) -> Mapping[str, float]:
        """The thresholds that apply to a trace with a reference."""
        return DEFAULT_THRESHOLDS if self.thresholds is None else self.thresholds


def threshold_failures(traces: pl.DataFrame, routing: Routing) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Hold the scores of traces against the thresholds.

    Args:
        traces: One row per trace: ``trace``, ``n_expected`` (null without a reference), ``null_reason`` and a
            column per thresholded score.
        routing: The suite's thresholds.

    Returns:
        Failures (a score below its threshold) and gaps (a needed score that is null).
    """
    has_reference = pl.col("n_expected").is_not_null()
    failures, gaps = [], []
    for name, least in sorted(routing.effective.items()):
        rung = RUNG_OF_SCORE.get(name, 2)
        value = pl.col(name).cast(pl.Float64)
        failures.append(
            traces.filter(value < least).select(
                "trace",
                pl.lit(rung, pl.Int8).alias("rung"),
                pl.format("{} is {}, below {}", pl.lit(name), value.round(4), pl.lit(_plain(least))).alias("text"),
            )
        )
        gaps.append(
            traces.filter(value.is_null() & has_reference).select(
                "trace",
                pl.lit(rung, pl.Int8).alias("rung"),
                pl.coalesce("null_reason", pl.lit(f"{name}_null")).alias("reason"),
            )
        )
    if routing.require_reference:
        gaps.append(
            traces.filter(~has_reference).select(
                "trace", pl.lit(3, pl.Int8).alias("rung"), pl.coalesce("null_reason", pl.lit("no_reference")).alias("reason")
            )
        )
    return _stack(failures, FAILURES), _stack(gaps, GAPS)


def decide(
    traces: pl.DataFrame, failures: pl.DataFrame, details: pl.DataFrame, gaps: pl.DataFrame, routing: Routing
) -> pl.DataFrame:
    """Give each trace its route.

    Args:
        traces: One row per trace: ``trace`` and ``state_ok`` (null where no state check decided).
        failures: See `FAILURES`; every error finding, missed threshold and failed check.
        details: As failures: what lies behind missed thresholds (missing, extra and differing calls). They are
            listed as reasons of traces that failed a rung from two to four, and fail nothing by themselves.
        gaps: See `GAPS`.
        routing: The suite's say.

    Returns:
        One row per trace, in order: ``route``, ``passed``, ``failed_rung``, ``reasons``, ``unscored_reason``.

    Example:
        >>> traces = pl.DataFrame({"trace": [0, 1], "state_ok": [None, None]},
        ...                       schema={"trace": pl.UInt32, "state_ok": pl.Boolean})
        >>> failures = pl.DataFrame({"trace": [1], "rung": [1], "text": ["x: bad"]}, schema=FAILURES)
        >>> nothing = pl.DataFrame(schema=FAILURES)
        >>> decide(traces, failures, nothing, pl.DataFrame(schema=GAPS), Routing())["route"].to_list()
        ['settled', 'triage']
    """
    if routing.state_decides:
        decided = traces.filter(pl.col("state_ok")).select("trace")
        beyond = pl.col("rung") >= 2
        failures = _without(failures, decided, beyond)
        gaps = _without(gaps, decided, beyond)
    below = failures.filter(pl.col("rung") >= 2).select("trace").unique()
    # Sorted by rung, with equal rungs in the order in which they were found: order of rows is order of reading.
    every = pl.concat([failures, details.join(below, on="trace", how="semi")])
    reasons = (
        every.unique(["trace", "text"], keep="first", maintain_order=True)
        .sort("trace", "rung", maintain_order=True)
        .group_by("trace", maintain_order=True)
        .agg(pl.col("text").alias("reasons"))
    )
    failed = failures.group_by("trace").agg(pl.col("rung").min().alias("failed_rung"))
    missing = gaps.sort("trace", "rung", "reason").group_by("trace", maintain_order=True).agg(pl.col("reason").first())
    passed_route = "judge" if routing.has_questions else "settled"
    route = (
        pl.when(pl.col("failed_rung").is_not_null())
        .then(pl.lit("triage"))
        .when(pl.col("reason").is_not_null())
        .then(pl.lit("unscored"))
        .otherwise(pl.lit(passed_route))
    )
    return (
        traces.select("trace")
        .join(failed, on="trace", how="left", maintain_order="left")
        .join(missing, on="trace", how="left", maintain_order="left")
        .join(reasons, on="trace", how="left", maintain_order="left")
        .with_columns(route.alias("route"))
        .select(
            "route",
            pl.when(pl.col("route") == "unscored")
            .then(None)
            .otherwise(pl.col("route").is_in(["judge", "settled"]))
            .alias("passed"),
            "failed_rung",
            pl.col("reasons").fill_null(pl.lit([], pl.List(pl.String))),
            pl.when(pl.col("route") == "unscored").then("reason").alias("unscored_reason"),
        )
    )


def _without(rows: pl.DataFrame, traces: pl.DataFrame, condition: pl.Expr) -> pl.DataFrame:
    """The rows that do not belong to one of the traces and meet the condition."""
    marked = rows.join(traces.with_columns(pl.lit(value=True).alias("decided")), on="trace", how="left", maintain_order="left")
    return marked.filter(~(pl.col("decided").fill_null(value=False) & condition)).drop("decided")


def _stack(frames: list[pl.DataFrame], schema: pl.Schema) -> pl.DataFrame:
    """The frames below each other, in the schema."""
    return pl.concat([pl.DataFrame(schema=schema), *(frame.cast(dict(schema)) for frame in frames)])


def _plain(value: float) -> str:
    """A threshold as people write it."""
    return f"{value:g}"
