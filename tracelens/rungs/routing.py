"""Rung five: each trace's route, with every reason.

Failures and gaps arrive as frames, one row each, whatever found them; this module only decides. A failure sends a
trace to triage; a gap (something needed that was not evaluated) makes it unscored; what is left has passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens.columns import group_offsets
from tracelens.kernels.loops import first_equal
from tracelens.rungs.facts import nothing

FAILURES = pl.Schema({"trace": pl.UInt32(), "rung": pl.Int8(), "text": pl.String()})
"""One row per failure: the trace, the rung it belongs to (1 to 4) and a sentence."""

GAPS = pl.Schema({"trace": pl.UInt32(), "rung": pl.Int8(), "reason": pl.String()})
"""One row per thing that was needed and not evaluated: the trace, the rung and a short reason."""

_NONE = 127
"""Above every rung."""

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
                "trace",
                pl.lit(3, pl.Int8).alias("rung"),
                pl.coalesce("null_reason", pl.lit("no_reference")).alias("reason"),
            )
        )
    return _stack(failures, FAILURES), _stack(gaps, GAPS)


def decide(
    traces: pl.DataFrame,
    failures: pl.DataFrame,
    details: Callable[[npt.NDArray[np.bool_]], pl.DataFrame],
    gaps: pl.DataFrame,
    routing: Routing,
) -> pl.DataFrame:
    """Give each trace its route.

    Args:
        traces: One row per trace: ``trace``, its row number, and ``state_ok`` (null where no state check decided).
        failures: See `FAILURES`; every error finding, missed threshold and failed check.
        details: Given bool[traces], says what lies behind missed thresholds of those traces, as failures: missing,
            extra and differing calls. It is asked for traces that failed a rung from two to four; its answers stand
            among the reasons and fail nothing by themselves.
        gaps: See `GAPS`.
        routing: The suite's say.

    Returns:
        One row per trace, in order: ``route``, ``passed``, ``failed_rung``, ``reasons``, ``unscored_reason``.

    Example:
        >>> traces = pl.DataFrame(
        ...     {"trace": [0, 1], "state_ok": [None, None]}, schema={"trace": pl.UInt32, "state_ok": pl.Boolean}
        ... )
        >>> failures = pl.DataFrame({"trace": [1], "rung": [1], "text": ["x: bad"]}, schema=FAILURES)
        >>> nothing = pl.DataFrame(schema=FAILURES)
        >>> decide(traces, failures, lambda wanted: nothing, pl.DataFrame(schema=GAPS), Routing())["route"].to_list()
        ['settled', 'triage']
    """
    n = traces.height
    if routing.state_decides:
        decided = traces["state_ok"].fill_null(value=False).to_numpy()
        failures, gaps = _unless(decided, failures), _unless(decided, gaps)
    below = np.zeros(n, np.bool_)
    below[failures["trace"].filter(failures["rung"] >= 2).to_numpy()] = True
    reasons = _reasons(pl.concat([failures, details(below)]), n)
    failed_rung = np.full(n, _NONE, np.int8)
    np.minimum.at(failed_rung, failures["trace"].to_numpy(), failures["rung"].to_numpy())
    failed = failed_rung != _NONE
    first = gaps.sort("trace", "rung", "reason").unique("trace", keep="first", maintain_order=True)
    unscored = np.zeros(n, np.bool_)
    unscored[first["trace"].to_numpy()] = True
    unscored &= ~failed
    why = nothing("unscored_reason", pl.String, n)
    if unscored.any():
        first = first.filter(pl.Series(unscored[first["trace"].to_numpy()]))
        why = why.scatter(first["trace"], first["reason"])
    routes = pl.Series("route", ["triage", "unscored", "judge" if routing.has_questions else "settled"])
    return pl.DataFrame(
        [
            routes.gather(np.where(failed, 0, np.where(unscored, 1, 2))),
            pl.Series("passed", pa.array(~failed, mask=unscored)),
            pl.Series("failed_rung", pa.array(failed_rung, mask=~failed)),
            reasons,
            why,
        ]
    )


def _unless(decided: npt.NDArray[np.bool_], rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that do not belong to rungs two to four of traces whose state decides."""
    beyond = (rows["rung"] >= 2).to_numpy()
    return rows.filter(pl.Series(~(beyond & decided[rows["trace"].to_numpy()])))


def _reasons(failures: pl.DataFrame, n: int) -> pl.Series:
    """``reasons`` by trace: lists of texts, lower rungs first, equal rungs in the order given, each text once."""
    ordered = failures.sort("trace", "rung", maintain_order=True)
    offsets = group_offsets(ordered["trace"].to_numpy(), n)
    high, low = (ordered["text"].hash(seed).to_numpy() for seed in (0, 1))
    first = np.empty(ordered.height, np.int64)
    first_equal(offsets, np.zeros(first.size, np.int64), high, low, first)
    once = first == np.arange(first.size)
    texts = ordered["text"]
    if not once.all():
        texts = texts.filter(pl.Series(once))
        offsets = group_offsets(ordered["trace"].to_numpy()[once], n)
    return pl.Series("reasons", pa.LargeListArray.from_arrays(pa.array(offsets), texts.to_arrow()))


def _stack(frames: list[pl.DataFrame], schema: pl.Schema) -> pl.DataFrame:
    """The frames below each other, in the schema."""
    return pl.concat([pl.DataFrame(schema=schema), *(frame.cast(schema) for frame in frames)])


def _plain(value: float) -> str:
    """A threshold as people write it."""
    return f"{value:g}"
