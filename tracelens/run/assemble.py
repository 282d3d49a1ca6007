"""Rows of `traces`, all but the route: what the source said, what matching and the other rungs found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.columns import Batch, coded, nullable
from tracelens.run.calls import Calls
from tracelens.run.matching import Matched
from tracelens.run.plan import Plan

B1 = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]

GIVEN = (
    "trace", "trace_id", "id_given", "session_id", "case_id", "agent", "started_at", "tags", "complete", "has_calls",
    "tools", "final_answer", "llm_calls", "input_tokens", "output_tokens", "cost", "source", "line",
)  # fmt: skip

REASONS = ("calls_not_recorded", "incomplete", "no_reference", "arguments_not_captured")
"""Values of ``null_reason``; the first that applies."""


def trace_rows(
    batch: Batch,
    calls: Calls,
    matched: Matched,
    told: dict[str, pa.Array],
    plan: Plan,
) -> pa.Table:
    """One row per trace with every column of `traces` but the counts of findings and those of the route.

    Args:
        batch: The batch.
        calls: Its calls.
        matched: Scores of its units.
        told: Further columns: diagnostics, and verdicts of the rungs that need no reference.
        plan: The compiled suite.
    """
    n = batch.traces.num_rows
    recorded = columns.numbers(batch.traces["has_calls"])
    complete = columns.numbers(batch.traces["complete"], default=True)
    unit = np.full(n, -1, np.int64)
    unit[matched.expected.trace[matched.best]] = matched.best
    return pa.table(
        {name: batch.traces[name] for name in GIVEN}
        | _counts(calls, recorded)
        | _reference_columns(matched, unit)
        | {"checks_ok": pa.array(np.ones(n, np.bool_)) if plan.suite.check else pa.nulls(n, pa.bool_())}
        | _scores(matched, np.where(recorded & complete, unit, -1))
        | {"n_needless": _taken(matched.scores.frame["n_extra_optimal"].to_arrow(), unit)}
        | told
        | {"null_reason": _null_reason(matched, unit, recorded, complete)}
    )


def finding_counts(findings: pl.DataFrame, n: int) -> dict[str, pa.Array]:
    """``n_findings`` and ``n_notes`` by trace.

    Args:
        findings: All findings, with ``trace`` and ``severity``.
        n: Number of traces.
    """
    trace = findings["trace"].to_numpy()
    error = (findings["severity"] == "error").to_numpy()
    return {"n_findings": pa.array(_number(trace[error], n)), "n_notes": pa.array(_number(trace[~error], n))}


def _counts(calls: Calls, recorded: B1) -> dict[str, pa.Array]:
    """Numbers of calls; null where they were not recorded."""
    which = {
        "n_calls": calls.trace[calls.in_score],
        "n_calls_total": calls.trace,
        "n_malformed": calls.trace[calls.in_score & calls.malformed],
    }
    return {name: nullable(_number(trace, recorded.size), ~recorded) for name, trace in which.items()}


def _number(trace: npt.NDArray[np.integer], n: int) -> npt.NDArray[np.int32]:
    """int32[n], how many rows each trace has."""
    return np.bincount(trace, minlength=n).astype(np.int32)


def _reference_columns(matched: Matched, unit: I64) -> dict[str, pa.Array]:
    """Which reference counted, and how long it is; null without one."""
    expected, none = matched.expected, unit < 0
    source = np.where(none, -1, expected.from_suite)
    index, count = expected.reference.astype(np.int32), matched.units.e_count.astype(np.int32)
    return {
        "reference_index": _taken(pa.array(index), unit),
        "n_expected": _taken(pa.array(count), unit),
        "n_references": nullable(_number(expected.trace, unit.size), none),
        "reference_source": coded(source, ("trace", "suite")),
    }


def _scores(matched: Matched, unit: I64) -> dict[str, pa.Array]:
    """The scores of each trace's unit."""
    scores = {series.name: series.to_arrow() for series in matched.scores.frame.get_columns()}
    del scores["n_malformed"]
    return {name: _taken(values, unit) for name, values in scores.items()}


def _taken(values: pa.Array, unit: I64) -> pa.Array:
    """Values of units, null for none; untouched where that is all of them in order."""
    if unit.size == len(values) and np.array_equal(unit, np.arange(unit.size)):
        return values
    return values.take(nullable(unit, unit < 0))


def _null_reason(matched: Matched, unit: I64, recorded: B1, complete: B1) -> pa.DictionaryArray:
    """Why scores are null."""
    unknown = np.zeros(unit.size, np.bool_)
    unknown[unit >= 0] = matched.scores.paired.unknown[unit[unit >= 0]]
    applies = [~recorded, ~complete, unit < 0, unknown]
    return coded(np.select(applies, range(len(REASONS)), -1), REASONS)
