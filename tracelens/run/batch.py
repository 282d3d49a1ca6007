"""One batch, every rung: a pure function from whole traces to rows of every table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.columns import Batch
from tracelens.flatten import flatten
from tracelens.run.arrow import by_trace
from tracelens.run.assemble import finding_counts, trace_rows
from tracelens.run.calls import call_facts, call_table, read_calls
from tracelens.run.details import pair_details
from tracelens.run.dialects import dialect_values
from tracelens.run.expected import expected_of
from tracelens.run.hidden import known_repetition
from tracelens.run.judging import failures, judge
from tracelens.run.masks import (
    masked_differences,
    masked_findings,
    masked_tables,
    masked_texts,
    suspect_arguments,
)
from tracelens.run.matching import Forms, digest_pool, match
from tracelens.run.names import NameCodes
from tracelens.run.plan import Plan
from tracelens.run.pool import Side, pool_arguments
from tracelens.run.rows import difference_table, expected_table, pair_table, place, step_table
from tracelens.run.schemas import check_schemas
from tracelens.run.select import NOTHING_LEFT_OUT, LeftOut
from tracelens.run.stopwatch import Stopwatch
from tracelens.rungs.diagnostics import diagnose
from tracelens.rungs.facts import CallFacts
from tracelens.rungs.findings import concat_findings
from tracelens.rungs.routing import Failures, Gap, check_thresholds, decide
from tracelens.rungs.waivers import apply_waivers, waived_until

OPTIMAL = "optimal"


@dataclass(frozen=True, slots=True)
class Scored:
    """A scored batch.

    Attributes:
        batch: What the source said of it; of its rows only the ids of traces, so that what waits to be stored is small.
        tables: Rows by table, as Arrow and without ``run_id``; ``trace`` (row number in the batch) beside ``trace_id``.
        content: uint64[traces], digest of each record.
        id_given: bool[traces], whether the input gave the trace's id.
        cases: int64[traces], row of the suite's cases, -1 for none.
        seconds: What it took, by stage.
        left_out: Traces that were not selected, and are in none of these.
    """

    batch: Batch
    tables: dict[str, pa.Table]
    content: npt.NDArray[np.uint64]
    id_given: npt.NDArray[np.bool_]
    cases: npt.NDArray[np.int64]
    seconds: dict[str, float]
    left_out: LeftOut = NOTHING_LEFT_OUT


def score_batch(batch: Batch, plan: Plan, watch: Stopwatch | None = None) -> Scored:
    """Score whole traces with every rung.

    Args:
        batch: The traces.
        plan: The compiled suite.
        watch: Told what each stage takes.

    Returns:
        Rows of every table, by trace; the same whatever else is in the batch.
    """
    watch = watch or Stopwatch()
    if plan.suite.wrappers:
        batch = flatten(batch, plan.suite.wrappers)
    codes = NameCodes(plan.suite)
    expected = expected_of(batch, plan.cases)
    names, expected_names = codes.resolve(batch.calls["name"]), codes.resolve(expected.calls["name"])
    pool = pool_arguments(Side.of(batch.calls, names), Side.of(expected.calls, expected_names), codes.names)
    digests = digest_pool(pool, codes, plan)
    calls = read_calls(batch, names, pool.actual, plan.suite)
    actual = Forms.of(names, pool.actual, digests, codes, plan)
    wanted = Forms.of(expected_names, pool.expected, digests, codes, plan)
    call_rows = call_table(batch, calls, codes, actual.hi, actual.lo)
    facts = call_facts(batch, calls, codes.names, actual.hi, actual.lo)
    watch.lap("arguments")
    schemas = check_schemas(batch, calls, (expected, expected_names), pool, facts, codes, plan)
    watch.lap("schemas")
    matched = match(batch, calls, expected, (actual, wanted), digests, plan)
    watch.lap("matching")
    marks = pool.marks(plan.safety)
    judged = judge(batch, calls, pool, marks, facts, call_rows, schemas, plan)
    watch.lap("rungs without references")
    findings = masked_findings(judged.findings, plan)
    held = {name: place(matched, calls, name) for name in dict.fromkeys([OPTIMAL, *plan.suite.match.rows])}
    differs = {
        name: masked_differences(difference_table(rows, matched, plan, codes), plan) for name, rows in held.items()
    }
    watch.lap("differences")
    told = {**judged.columns, **_diagnostics(batch, facts, plan)}
    told |= dialect_values(batch, calls, matched, pool, codes.names, findings, plan.suite)
    traces = trace_rows(batch, calls, matched, told, plan)

    def details(wanted: npt.NDArray[np.bool_]) -> list[Failures]:
        return pair_details(held[OPTIMAL], differs[OPTIMAL], facts, wanted)

    traces, findings = _routed(traces, findings, judged.gaps, details, plan)
    watch.lap("routes")
    stored = plan.suite.match.rows
    tables = {
        "calls": call_rows.append_column("schema_state", schemas.stored),
        "expected": expected_table(matched, expected_names.raw, codes, schemas.expected),
        "pairs": by_trace(
            [pair_table(held[name], matched, codes) for name in stored]
            or [pair_table(held[OPTIMAL], matched, codes)[:0]]
        ),
        "argument_diffs": by_trace([differs[name] for name in stored] or [differs[OPTIMAL][:0]]),
        "steps": step_table(matched, calls, codes),
        "findings": findings.to_arrow(),
        "state_results": judged.state_results.to_arrow(),
        "rejects": batch.rejects,
        "traces": traces,
    }
    if batch.spans.num_rows:
        tables["spans"] = batch.spans
    given = columns.numbers(batch.traces["id_given"]).astype(np.bool_)
    content = columns.numbers(batch.traces["record_lo"])
    ids = columns.one_chunk(masked_texts(batch.traces["trace_id"], plan))
    suspects = {} if marks is None else suspect_arguments(marks, pool, expected)
    rows = {name: getattr(batch, name).schema.empty_table() for name in ("calls", "expected", "rejects", "spans")}
    said = replace(batch, traces=batch.traces.select(["trace_id"]), **rows)
    tables = _with_ids(masked_tables(tables, suspects, plan), ids)
    watch.lap("tables")
    return Scored(said, tables, content, given, matched.expected.case, watch.seconds)


def _diagnostics(batch: Batch, facts: CallFacts, plan: Plan) -> dict[str, pa.Array]:
    """The diagnostics of every trace, as far as masks let them be known."""
    return known_repetition(batch, facts.tool, diagnose(facts, batch.calls, batch.traces, plan.prices))


def _routed(
    traces: pa.Table,
    findings: pl.DataFrame,
    gaps: list[Gap],
    details: Callable[[npt.NDArray[np.bool_]], list[Failures]],
    plan: Plan,
) -> tuple[pa.Table, pl.DataFrame]:
    """The traces with their routes, and the findings with the waivers that cover them."""
    missed, null_scores = check_thresholds(traces, plan.routing)
    findings = concat_findings([findings, missed])
    routes = decide(traces, [failures(findings)], details, [*gaps, *null_scores], plan.routing)
    findings = apply_waivers(findings, pl.DataFrame(traces.select(["trace", "case_id"])), plan.suite.waive)
    routes["waived_until"] = waived_until(findings, traces.num_rows)
    for name, column in {**finding_counts(findings, traces.num_rows), **routes}.items():
        traces = traces.append_column(name, column)
    return traces, findings


def _with_ids(tables: dict[str, pa.Table], ids: pa.Array) -> dict[str, pa.Table]:
    """Every table with ``trace_id`` beside ``trace``."""
    return {
        name: table
        if "trace" not in table.column_names or "trace_id" in table.column_names
        else table.append_column("trace_id", _ids_of(table["trace"], ids))
        for name, table in tables.items()
    }


def _ids_of(trace: pa.ChunkedArray, ids: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(columns.one_chunk(trace).view(pa.int32()), ids, safe=False)
