"""Rows of `traces`, all but the route: what the source said, what matching and the other rungs found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.columns import Batch
from tracelens.run.arrow import nullable
from tracelens.run.calls import Calls
from tracelens.run.matching import Matched
from tracelens.run.plan import Plan
from tracelens.tables import table

B1 = npt.NDArray[np.bool_]

GIVEN = (
    "trace", "trace_id", "id_given", "session_id", "case_id", "agent", "started_at", "tags", "complete", "has_calls",
    "tools", "final_answer", "llm_calls", "input_tokens", "output_tokens", "cost", "source", "line",
)  # fmt: skip


def trace_rows(
    batch: Batch,
    calls: Calls,
    matched: Matched,
    verdicts: pl.DataFrame,
    diagnostics: pl.DataFrame,
    findings: pl.DataFrame,
    plan: Plan,
) -> pl.DataFrame:
    """One row per trace with every column of `traces` but those of the route.

    Args:
        batch: The batch.
        calls: Its calls.
        matched: Scores of its units.
        verdicts: Verdicts of the rungs that need no reference.
        diagnostics: Diagnostics.
        findings: All findings.
        plan: The compiled suite.
    """
    given = pl.DataFrame(batch.traces.select(list(GIVEN)))
    n = given.height
    whole = _whole(given)
    out = given.with_columns(
        *_counts(calls, n),
        *_reference_columns(matched, n),
        *_finding_counts(findings, n),
        pl.lit(None if not plan.suite.check else True, pl.Boolean).alias("checks_ok"),
    )
    scores = _scores(matched, n, whole)
    known = {column.name for column in table("traces").columns}
    extra = [
        s for frame in (verdicts, diagnostics) for s in frame.get_columns() if s.name in known and s.name != "trace"
    ]
    out = out.with_columns(*scores, *extra)
    recorded = pl.col("has_calls")
    out = out.with_columns(
        pl.when(recorded).then(name).alias(name) for name in ("n_calls", "n_calls_total", "n_malformed")
    )
    return out.with_columns(_null_reason(matched, n).alias("null_reason"))


def _whole(given: pl.DataFrame) -> B1:
    """bool[n], traces whose calls are recorded and that are not said to be incomplete."""
    return (given["has_calls"] & given["complete"].fill_null(value=True)).to_numpy()


def _counts(calls: Calls, n: int) -> list[pl.Series]:
    """Numbers of calls, whether recorded or not."""

    def count(which: B1 | None, name: str) -> pl.Series:
        trace = calls.trace if which is None else calls.trace[which]
        return pl.Series(name, np.bincount(trace, minlength=n).astype(np.int32))

    malformed = calls.malformed & calls.in_score
    return [count(calls.in_score, "n_calls"), count(None, "n_calls_total"), count(malformed, "n_malformed")]


def _reference_columns(matched: Matched, n: int) -> list[pl.Series]:
    """Which reference counted, and how long it is; null without one."""
    best, expected = matched.best, matched.expected
    trace = expected.trace[best]
    number = np.bincount(expected.trace, minlength=n).astype(np.int32)
    source = pl.Series(np.where(expected.from_suite, "suite", "trace"))
    return [
        _spread(pl.Series("reference_index", expected.reference[best].astype(np.int32)), trace, n),
        _spread(pl.Series("n_expected", matched.units.e_count[best].astype(np.int32)), trace, n),
        _spread(pl.Series("n_references", number[trace]), trace, n),
        _spread(source.gather(trace).alias("reference_source"), trace, n),
    ]


def _spread(values: pl.Series, trace: npt.NDArray[np.int64], n: int) -> pl.Series:
    """Values of some traces as a column of all, null elsewhere."""
    where = np.full(n, -1, np.int64)
    where[trace] = np.arange(trace.size)
    return values.gather(pl.Series(nullable(where, where < 0)))


def _scores(matched: Matched, n: int, whole: B1) -> list[pl.Series]:
    """The scores of each trace's best unit; null without a reference and for traces that are not whole."""
    frame = matched.scores.frame.drop("n_malformed")
    trace = matched.expected.trace[matched.best]
    keep = whole[trace]
    chosen, trace = matched.best[keep], trace[keep]
    where = np.full(n, -1, np.int64)
    where[trace] = chosen
    return pl.DataFrame(frame.to_arrow().take(nullable(where, where < 0))).get_columns()


def _finding_counts(findings: pl.DataFrame, n: int) -> list[pl.Series]:
    """``n_findings`` and ``n_notes`` by trace."""
    trace = findings["trace"].to_numpy()
    error = (findings["severity"] == "error").to_numpy()
    return [
        pl.Series("n_findings", np.bincount(trace[error], minlength=n).astype(np.int32)),
        pl.Series("n_notes", np.bincount(trace[~error], minlength=n).astype(np.int32)),
    ]


def _null_reason(matched: Matched, n: int) -> pl.Expr:
    """Why scores are null, the first reason that applies."""
    trace = matched.expected.trace[matched.best]
    unknown = np.zeros(n, np.bool_)
    unknown[trace] = matched.scores.paired.unknown[matched.best]
    return (
        pl.when(~pl.col("has_calls"))
        .then(pl.lit("calls_not_recorded"))
        .when(pl.col("complete") == False)  # noqa: E712 - null is not false
        .then(pl.lit("incomplete"))
        .when(pl.col("n_expected").is_null())
        .then(pl.lit("no_reference"))
        .when(pl.lit(pl.Series(unknown)))
        .then(pl.lit("arguments_not_captured"))
    )
