"""A stored run as input: what rests on masked secrets is unknown, never judged by the mask.

A mask is another text than the secret was: longer, of other characters, equal to nothing that a suite expects. So
arguments that hold one count as not captured, and so do those of a trace whose own reference or tool definitions hold
one; an answer that holds one is not checked. A trace whose id, case, agent or tools are masked cannot be told from
others any more and is rejected.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.columns import CALLS, MASKED, NOT_CAPTURED, REJECTS, TRUNCATED, Batch
from tracelens.rungs.safety.masking import MASKED as MASK
from tracelens.sources.detect import Opened
from tracelens.sources.native import Native
from tracelens.store import Run, before, replay

B1 = npt.NDArray[np.bool_]

NOTE = (
    "the run was scored from stored traces in which secrets are masked; whatever rests on a masked value is null or "
    "rejected: score the source again to judge it"
)


def stored_input(run: Run) -> Opened:
    """The traces of a run as an input that is opened already.

    Args:
        run: The run.

    Returns:
        A source for `score_run`; the same suite gives the same tables, as far as nothing was masked.
    """
    facts = run.read("runs", ["format", "sources"]).to_dicts()
    given = bool(facts) and facts[0]["format"] == Native.name
    return Opened(
        format_name=facts[0]["format"] if facts else "run",
        explanation=f"the traces of run {run.run_id} are scored again",
        names=tuple(facts[0]["sources"]) if facts else (),
        blocks=lambda: ((unmasked, replace(batch, text_is_given=given)) for batch in replay(run)),
        before=before(run),
    )


def unmasked(batch: Batch) -> Batch:
    """The batch with everything unknown that rests on a masked value; the same one where nothing is masked."""
    nameless, why = _nameless(batch)
    calls, answers, wanted = _hidden(batch), _masked(batch.traces["final_answer"]), _masked(batch.expected["arguments"])
    if not (nameless.any() or calls.any() or answers.any() or wanted.any()):
        return batch
    form = columns.numbers(batch.calls["arguments_form"])
    at = CALLS.get_field_index("arguments_form")
    hidden = batch.calls.set_column(at, CALLS.field(at), pa.array(np.where(calls, np.uint8(MASKED), form)))
    known = replace(batch, calls=hidden, masked_answers=answers, notes=(*batch.notes, NOTE))
    return _without(known, nameless, why) if nameless.any() else known


def _masked(texts: pa.ChunkedArray) -> B1:
    """bool[n]: texts in which something is masked."""
    found = pl.Series(texts, dtype=pl.String).str.contains(MASK.pattern)
    return np.asarray(found.fill_null(value=False).to_numpy())


def _by_trace(batch: Batch, table: pa.Table, rows: B1) -> B1:
    """bool[traces]: which have such a row."""
    out = np.zeros(batch.traces.num_rows, np.bool_)
    out[columns.numbers(table["trace"])[rows]] = True
    return out


def _hidden(batch: Batch) -> B1:
    """bool[calls]: whose arguments nobody can judge."""
    form = columns.numbers(batch.calls["arguments_form"])
    of_trace = _masked(batch.traces["tools"])
    of_trace |= _by_trace(batch, batch.expected, _masked(batch.expected["arguments"]))
    hidden = _masked(batch.calls["arguments"]) | of_trace[columns.numbers(batch.calls["trace"])] | (form == MASKED)
    return np.asarray(hidden & (form != TRUNCATED) & (form != NOT_CAPTURED), np.bool_)


def _nameless(batch: Batch) -> tuple[B1, list[str]]:
    """bool[traces]: those that can not be told from others, and by trace what of it is masked."""
    places = {name: _masked(batch.traces[name]) for name in ("trace_id", "case_id", "agent")}
    for table, name in ((batch.calls, "name"), (batch.calls, "agent"), (batch.expected, "name")):
        what = "an agent" if name == "agent" else "the name of a tool"
        rows = _by_trace(batch, table, _masked(table[name]))
        places[what] = places.get(what, False) | rows
    why = [""] * batch.traces.num_rows
    for what, rows in places.items():
        for row in np.flatnonzero(rows):
            why[row] = why[row] or what
    return np.array([bool(text) for text in why], np.bool_), why


def _without(batch: Batch, bad: B1, why: list[str]) -> Batch:
    """The batch with some traces among the rejects."""
    traces = batch.traces.filter(pa.array(bad))
    rejects = columns.table(
        REJECTS,
        traces.num_rows,
        source=traces["source"],
        line=traces["line"],
        reason=[f"{why[row]} is masked in the stored run; score the source again" for row in np.flatnonzero(bad)],
        text=traces["trace_id"],
    )
    return replace(batch.keeping(~bad), rejects=pa.concat_tables([batch.rejects, rejects])).checked()
