"""A whole run: from a source to a run folder."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from tracelens.columns import Batch
from tracelens.errors import NothingScoredError, counted
from tracelens.run.batch import Scored, score_batch
from tracelens.run.checks import Held
from tracelens.run.duplicates import Duplicates
from tracelens.run.masks import masked_rows
from tracelens.run.plan import Plan
from tracelens.run.select import select
from tracelens.run.settle import settle
from tracelens.run.stopwatch import Stopwatch
from tracelens.run.tally import Tally
from tracelens.rungs.safety import mask
from tracelens.selection import EVERYTHING, Selection
from tracelens.sources.detect import Opened, open_input
from tracelens.sources.reading.io import BLOCK
from tracelens.store import RunWriter
from tracelens.threads import default_threads, ordered_map
from tracelens.version import __version__

if TYPE_CHECKING:
    from tracelens.suite import Suite

Report = Callable[[Tally], None]
"""Called after every batch, on the thread that called `score_run`."""


def score_run(
    source: Any,
    suite: Suite,
    *,
    out: Path,
    format: str = "auto",
    selection: Selection = EVERYTHING,
    report: Report | None = None,
    threads: int | None = None,
    block_size: int = BLOCK,
) -> Path:
    """Score every trace of a source and store the results.

    Args:
        source: A path, glob, folder or list of them, a table of call rows in memory, or an input opened before.
        suite: What to score against.
        out: The results folder, to which the run is added.
        format: Name of the input format, or ``auto``.
        selection: Which of its traces.
        report: Told after every batch how far the run is.
        threads: Batches that are scored at once; as many as there are processors by default. No result depends on it.
        block_size: Bytes of input in a batch. No result depends on it.

    Returns:
        The run folder.

    Raises:
        InputError: The input cannot be read, or holds no trace at all.
        SuiteError: Something in the suite cannot be used.
        StateError: A database of a state check cannot be reached.
        StoreError: The results cannot be written.
    """
    opened = source if isinstance(source, Opened) else open_input(source, format, block_size=block_size)
    start, watch = time.process_time(), Stopwatch()
    plan = Plan.take(suite)
    tally = Tally.after(plan.cases, opened.before)
    tally.selection = selection.text or tally.selection
    extra = [name for request in suite.dialects for name in request.columns]
    with RunWriter(out, extra=extra) as writer:
        held = Held(writer) if suite.check else None
        write = writer.write if held is None else held.write
        watch.lap("prepare")
        for tables in _in_order(opened, plan, selection, threads or default_threads(), tally, watch):
            with watch.stage("write"):
                while tables:
                    write(*tables.popitem())
            if report is not None:
                report(tally)
        if tally.n_traces == 0:
            raise _nothing(opened, tally)
        write("findings", masked_rows(_unusable(plan), plan))
        if held is not None:
            with watch.stage("own checks"):
                held.apply(plan)
        left, more = opened.aside() if opened.aside is not None else ("", {})
        run_id = tally.run_id(suite.digest, f"{opened.format_name}\n{left}" if left else opened.format_name)
        writer.write("runs", masked_rows(_run_row(opened, plan, tally), plan))
        with watch.stage("write"):
            writer.complete(threads or default_threads())
        explanation = _masked(opened.explanation, plan)
        info = {"format": opened.format_name, "explanation": explanation, "n_left_out": tally.n_left_out}
        selected = None if tally.selection is None else json.loads(_masked(tally.selection, plan))
        seconds = watch.all(since=start)
        run = writer.commit(run_id, {**info, "selection": selected, "seconds": seconds, **more})
    plan.put_away()
    return run


def _masked(text: str, plan: Plan) -> str:
    return mask(text) if plan.safety.masks else text


def _in_order(
    opened: Opened, plan: Plan, selection: Selection, threads: int, tally: Tally, watch: Stopwatch
) -> Iterator[dict[str, pa.Table]]:
    """The rows of scored batches in order, repeated traces settled."""
    seen = Duplicates()

    def job(item: tuple[Callable[[Any], Batch], Any]) -> Scored:
        mine = Stopwatch()
        parse, block = item
        del item
        batch = parse(block)
        del block  # a block that is parsed is as large as all that is made of it
        mine.lap("parse")
        if selection == EVERYTHING:
            return score_batch(batch, plan, mine)
        batch, left_out = select(batch, selection, plan)
        mine.lap("select")
        return replace(score_batch(batch, plan, mine), left_out=left_out)

    for scored in ordered_map(job, watch.over("read", opened.blocks()), threads):
        with watch.stage("settle"):
            tables = settle(scored, seen, tally)
        watch.add(scored.seconds)
        del scored
        yield tables


def _unusable(plan: Plan) -> pl.DataFrame:
    """A note per tool whose schema cannot be used, in order of agents and tools; it concerns the whole run."""
    from tracelens.tables import polars_schema

    tools = sorted(plan.catalogue.unusable, key=lambda each: (each.agent or "", each.tool))
    rows = [
        {
            "rung": 1,
            "severity": "note",
            "code": "schema.unusable",
            "tool": each.tool,
            "message": f"not checked{f' for agent {each.agent}' if each.agent else ''}: {each.reason}",
        }
        for each in tools
    ]
    return pl.DataFrame(rows, schema=polars_schema("findings", without=["run_id"]), orient="row")


def _nothing(opened: Opened, tally: Tally) -> NothingScoredError:
    """The error for an input without a single trace."""
    where = ", ".join(opened.names[:3]) or "the table"
    if tally.n_left_out:
        message = f"no trace is selected: {tally.why_left_out()}"
        return NothingScoredError(message, where=where, hint="choose a larger sample, a longer time or other tags")
    if tally.n_rejects:
        message = (
            f"no trace could be read; {counted(tally.n_rejects, 'record')} rejected, the first: {tally.first_reject}"
        )
    else:
        message = "no trace in the input"
    return NothingScoredError(
        message, where=where, hint=f"read as {opened.format_name} ({opened.explanation}); or name its format"
    )


def _run_row(opened: Opened, plan: Plan, tally: Tally) -> pl.DataFrame:
    """The row of the table `runs`."""
    suite = plan.suite
    from tracelens.tables import polars_schema

    row = {
        "suite": suite.name,
        "suite_digest": suite.digest,
        "input_digest": tally.input_digest,
        "version": __version__,
        "format": opened.format_name,
        "sources": list(opened.names),
        "selection": tally.selection,
        "n_records": tally.n_records,
        "n_traces": tally.n_traces,
        "n_calls": tally.n_calls,
        "n_merged": tally.n_merged,
        "n_left_out": tally.n_left_out,
        "n_blank": tally.n_blank,
        "n_rejects": tally.n_rejects,
        "missing_cases": tally.missing_cases(),
        "notes": tally.all_notes(),
        "thresholds": json.dumps(dict(plan.routing.effective), sort_keys=True),
        "tool_prices": json.dumps(plan.prices, sort_keys=True),
        "questions": list(suite.judge.questions),
        "judge_price_per_1k_tokens": suite.judge.price_per_1k_tokens,
    }
    return pl.DataFrame([row], schema=polars_schema("runs", without=["run_id"]), orient="row")
