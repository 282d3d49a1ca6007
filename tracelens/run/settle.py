"""Settling a scored batch into the run: repeated traces out, counts up, row numbers of the batch gone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.kernels.seen import NEW, OTHER, SAME
from tracelens.run.batch import Scored
from tracelens.run.duplicates import Duplicates
from tracelens.run.tally import Tally


def settle(scored: Scored, seen: Duplicates, tally: Tally) -> dict[str, pa.Table]:
    """Take the next batch, in order, into the run.

    Args:
        scored: The batch.
        seen: Trace ids of the batches before; this one's are entered.
        tally: Counts; brought up to date.

    Returns:
        Its rows by table as they are to be stored.
    """
    outcome = seen.outcome(scored.batch.traces["trace_id"], scored.content, scored.id_given)
    tables = dict(scored.tables)
    if (outcome != NEW).any():
        tables = {name: _kept(table, outcome) for name, table in tables.items()}
        tables["rejects"] = _with_repeated(tables["rejects"], scored.tables["traces"], outcome)
    tally.n_records += scored.batch.n_records
    tally.n_blank += scored.batch.n_blank
    tally.n_merged += int(np.count_nonzero(outcome == SAME)) + scored.batch.n_merged
    tally.n_rejects += tables["rejects"].num_rows
    tally.left_out(scored.left_out.counts)
    tally.saw_cases(scored.left_out.cases)
    tally.n_traces += tables["traces"].num_rows
    tally.n_calls += tables["calls"].num_rows
    tally.note(scored.batch.notes)
    tally.remark(scored.batch.remarks)
    tally.masked |= scored.batch.masked_answers is not None
    tally.saw_cases(scored.cases[outcome == NEW])
    tally.saw_records(scored.batch.records)
    if not tally.first_reject and tables["rejects"].num_rows:
        first = tables["rejects"].slice(0, 1).to_pylist()[0]
        tally.first_reject = f"{first['source']}:{first['line']}: {first['reason']}"
    return {name: _without_trace(table) for name, table in tables.items()}


def _without_trace(table: pa.Table) -> pa.Table:
    return table.drop_columns("trace") if "trace" in table.column_names else table


def _kept(table: pa.Table, outcome: npt.NDArray[np.uint8]) -> pa.Table:
    """The rows of traces that are new."""
    if "trace" not in table.column_names:
        return table
    return table.filter(pa.array(outcome[columns.numbers(table["trace"])] == NEW))


def _with_repeated(rejects: pa.Table, traces: pa.Table, outcome: npt.NDArray[np.uint8]) -> pa.Table:
    """The rejects with those traces whose id came before with other content, in the order of the input."""
    rows = np.flatnonzero(outcome == OTHER)
    if rows.size == 0:
        return rejects
    found = pl.DataFrame(traces.select(["trace_id", "source", "line"]))[rows.tolist()]
    repeated = found.select(
        "source",
        "line",
        pl.lit(None, pl.Int64).alias("offset"),
        pl.format("trace_id {} came before with other content", pl.col("trace_id")).alias("reason"),
        pl.col("trace_id").alias("text"),
    )
    every = pl.concat([pl.DataFrame(rejects), repeated.select(rejects.column_names)])
    return every.sort("source", "line", maintain_order=True).to_arrow()
