"""What may be said of traces in which secrets were masked before they were scored: see `tracelens.run.again`.

All of it leaves a batch as it is where nothing is masked, as in every batch that comes from a source.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tracelens import columns
from tracelens.columns import MASKED, TEXT, Batch
from tracelens.run.plan import Plan
from tracelens.rungs.facts import nothing
from tracelens.rungs.routing import Gap

B1 = npt.NDArray[np.bool_]

REPETITION = ("n_identical_repeats", "longest_loop", "oscillation", "n_repeated_errors")
"""Diagnostics that compare the arguments of calls."""


def masked_calls(batch: Batch) -> B1:
    """bool[calls]: whose arguments are hidden by a mask."""
    return np.asarray(columns.numbers(batch.calls["arguments_form"]) == MASKED, np.bool_)


def known_answers(batch: Batch, answers: pl.Series) -> pl.Series:
    """The final answers, null where something of them is masked."""
    if batch.masked_answers is None:
        return answers
    return answers.zip_with(~pl.Series(batch.masked_answers), nothing(answers.name, pl.String, len(answers)))


def answer_gaps(batch: Batch, unchecked: B1) -> list[Gap]:
    """Why answers were not checked."""
    masked = np.zeros(unchecked.size, np.bool_) if batch.masked_answers is None else batch.masked_answers
    return [
        Gap(np.flatnonzero(unchecked & masked), 1, "answer_masked"),
        Gap(np.flatnonzero(unchecked & ~masked), 1, "answer_not_recorded"),
    ]


def with_states_before(batch: Batch, rows: pa.Table) -> pa.Table:
    """The calls with the states of masked arguments as they were: safety finds in them what it found before."""
    if batch.masked_answers is None:
        return rows
    free = pc.fill_null(pc.equal(batch.calls["kind"], "custom"), fill_value=False)
    before = pc.if_else(free, pa.scalar("text", TEXT), pa.scalar("object", TEXT))
    states = pc.if_else(pa.array(masked_calls(batch)), before, rows["arguments_state"].cast(TEXT))
    return rows.set_column(rows.column_names.index("arguments_state"), "arguments_state", states)


def unseen(batch: Batch, plan: Plan) -> B1:
    """bool[traces]: where a pattern may have hit what is masked; none where the suite masks before it looks."""
    out = np.zeros(batch.traces.num_rows, np.bool_)
    if batch.masked_answers is not None and plan.safety.active and not plan.safety.masks:
        out[columns.numbers(batch.calls["trace"])[masked_calls(batch)]] = True
    return out


def known_repetition(
    batch: Batch, tools: npt.NDArray[np.int32], diagnostics: dict[str, pa.Array]
) -> dict[str, pa.Array]:
    """Diagnostics, null where masked arguments of a tool that is called again may or may not be equal.

    Args:
        batch: The batch.
        tools: int32[calls], a number by tool.
        diagnostics: Columns of `traces`.
    """
    if batch.masked_answers is None:
        return diagnostics
    trace = columns.numbers(batch.calls["trace"]).astype(np.int64)
    _, which, counts = np.unique(trace << 32 | (tools + 1), return_inverse=True, return_counts=True)
    doubtful = np.zeros(batch.traces.num_rows, np.bool_)
    doubtful[trace[masked_calls(batch) & (counts[which] > 1)]] = True
    known = pa.array(~doubtful)
    return diagnostics | {name: pc.if_else(known, diagnostics[name], None) for name in REPETITION}
