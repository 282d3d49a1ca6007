"""One batch, every rung: a pure function from whole traces to rows of every table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens import columns
from tracelens.arguments import S_EMPTY, S_OBJECT, S_TEXT
from tracelens.columns import Batch
from tracelens.flatten import flatten
from tracelens.run.assemble import trace_rows
from tracelens.run.calls import call_frame, read_calls
from tracelens.run.details import pair_details
from tracelens.run.judging import check_schemas, failures, gaps, judge
from tracelens.run.masks import masked
from tracelens.run.matching import Forms, Matched, digest_calls, match
from tracelens.run.names import NameCodes
from tracelens.run.plan import Plan
from tracelens.run.rows import difference_rows, expected_rows, pair_rows, step_rows
from tracelens.rungs.diagnostics import diagnose
from tracelens.rungs.routing import decide, threshold_failures
from tracelens.rungs.waivers import apply_waivers, waived_traces

OPTIMAL = "optimal"


@dataclass(frozen=True, slots=True)
class Scored:
    """A scored batch.

    Attributes:
        batch: The batch.
        tables: Rows by table, without ``run_id``, ``trace`` (row number in the batch) beside ``trace_id``.
        content: uint64[traces], digest of each record.
        id_given: bool[traces], whether the input gave the trace's id.
        cases: int64[traces], row of the suite's cases, -1 for none.
    """

    batch: Batch
    tables: dict[str, pl.DataFrame]
    content: npt.NDArray[np.uint64]
    id_given: npt.NDArray[np.bool_]
    cases: npt.NDArray[np.int64]


def score_batch(batch: Batch, plan: Plan) -> Scored:
    """Score whole traces with every rung.

    Args:
        batch: The traces.
        plan: The compiled suite.

    Returns:
        Rows of every table, by trace; the same whatever else is in the batch.
    """
    if plan.suite.wrappers:
        batch = flatten(batch, plan.suite.wrappers)
    codes = NameCodes(plan.suite)
    calls = read_calls(batch, plan.suite, codes)
    frame = call_frame(batch, calls, codes)
    actual = digest_calls(calls.names.code, codes.names, calls.arguments, plan)
    schemas = check_schemas(batch, calls, frame, plan)
    frame = frame.with_columns(schemas.state, *_digest_columns(actual))
    matched = match(batch, calls, actual, codes, plan)
    judged = judge(batch, calls, frame, schemas, plan)
    pairings = dict.fromkeys([OPTIMAL, *plan.suite.match.rows])
    pairs = {name: pair_rows(matched, calls, batch, codes, name) for name in pairings}
    differs = {name: difference_rows(rows, matched, plan) for name, rows in pairs.items()}
    tables = {
        "calls": frame.drop("scored"),
        "expected": expected_rows(matched, codes),
        "pairs": pl.concat([pairs[name] for name in plan.suite.match.rows]).drop("actual_row", "expected_row"),
        "argument_diffs": pl.concat([differs[name] for name in plan.suite.match.rows]),
        "steps": step_rows(matched, batch, codes),
        "findings": judged.findings,
        "state_results": judged.state_results,
        "rejects": pl.DataFrame(batch.rejects),
    }
    tables = masked(tables, plan)
    shown = masked({"argument_diffs": differs[OPTIMAL]}, plan)["argument_diffs"]
    details = pair_details(pairs[OPTIMAL], shown, frame)
    needless = _needless(batch, matched)
    diagnostics = diagnose(frame, _trace_frame(batch), prices=plan.prices, needless=needless)
    traces = trace_rows(batch, calls, matched, judged.traces, diagnostics, tables["findings"], plan)
    missed, null_scores = threshold_failures(traces, plan.routing)
    found = pl.concat([failures(tables["findings"]), missed])
    open_questions = pl.concat([gaps(batch, frame, judged, plan), null_scores])
    routes = decide(traces, found, details, open_questions, plan.routing)
    traces = pl.concat([traces, routes], how="horizontal")
    tables["findings"] = apply_waivers(tables["findings"], traces.select("trace", "case_id"), plan.suite.waive)
    waived = waived_traces(tables["findings"])
    traces = traces.join(waived, on="trace", how="left", maintain_order="left")
    tables["traces"] = masked({"traces": traces}, plan)["traces"]
    given = columns.numbers(batch.traces["id_given"]).astype(np.bool_)
    content = columns.numbers(batch.traces["record_lo"])
    return Scored(batch, _with_ids(tables, batch), content, given, matched.expected.case)


def _trace_frame(batch: Batch) -> pl.DataFrame:
    return pl.DataFrame(batch.traces.select(["trace", "has_calls", "started_at"]))


def _digest_columns(forms: Forms) -> list[pl.Series]:
    """``digest_hi`` and ``digest_lo`` of every call, null where arguments are neither object nor text."""
    state = forms.arguments.state
    known = (state == S_OBJECT) | (state == S_EMPTY) | (state == S_TEXT)
    frame = pl.DataFrame({"digest_hi": forms.hi, "digest_lo": forms.lo, "known": known})
    return frame.select(pl.when("known").then(name).alias(name) for name in ("digest_hi", "digest_lo")).get_columns()


def _needless(batch: Batch, matched: Matched) -> pl.Series:
    """Extra calls under the optimal pairing by trace, null without a reference."""
    n = batch.traces.num_rows
    extra = matched.scores.frame["n_extra_optimal"].to_numpy()[matched.best]
    values, known = np.zeros(n, np.int32), np.zeros(n, np.bool_)
    values[matched.expected.trace[matched.best]] = extra
    known[matched.expected.trace[matched.best]] = True
    return pl.DataFrame({"v": values, "k": known}).select(pl.when("k").then("v").alias("needless")).to_series()


def _with_ids(tables: dict[str, pl.DataFrame], batch: Batch) -> dict[str, pl.DataFrame]:
    """Every table with ``trace_id`` beside ``trace``."""
    ids = pl.Series("trace_id", columns.one_chunk(batch.traces["trace_id"]))
    return {
        name: frame
        if "trace" not in frame.columns or "trace_id" in frame.columns
        else frame.with_columns(ids.gather(frame["trace"]))
        for name, frame in tables.items()
    }

