"""Everything that is found in a batch, and what follows from it: findings, failures, gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.columns import Batch, coded
from tracelens.run.calls import Calls
from tracelens.run.hidden import answer_gaps, known_answers, unseen, with_states_before
from tracelens.run.plan import Plan
from tracelens.run.pool import Pool, of_calls, rounds
from tracelens.rungs.answers import check_answers
from tracelens.rungs.facts import nothing
from tracelens.rungs.fields import check_fields
from tracelens.rungs.findings import concat_findings, finding_frame
from tracelens.rungs.invariants import check_invariants
from tracelens.rungs.milestones import check_milestones
from tracelens.rungs.routing import Failures, Gap
from tracelens.rungs.safety.scan import scan
from tracelens.rungs.schema.catalogue import EXEMPT
from tracelens.rungs.schema.check import COLUMNS, STATES, check
from tracelens.rungs.state import state_findings
from tracelens.suite import Suite


@dataclass(frozen=True, slots=True)
class Schemas:
    """Rung one of a batch: ``schema_state`` by call, for rungs and as it is stored, and its findings."""

    state: pl.Series
    stored: pa.DictionaryArray
    findings: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rungs that need no reference say.

    Attributes:
        findings: All findings, by trace and call.
        traces: One row per trace: verdict columns of the table `traces`, and the reasons of nulls.
        state_results: Rows of the table `state_results`, with ``trace``.
    """

    findings: pl.DataFrame
    traces: pl.DataFrame
    state_results: pl.DataFrame


def check_schemas(batch: Batch, calls: Calls, pool: Pool, frame: pl.DataFrame, plan: Plan) -> Schemas:
    """Hold every call against the schema of its tool.

    Args:
        batch: The batch.
        calls: Its calls.
        pool: Their arguments.
        frame: The same as rungs get them.
        plan: The compiled suite.
    """
    catalogue = plan.catalogue
    tools = batch.traces["tools"]
    definitions, texts = None, list[str]()
    if tools.null_count < len(tools):
        encoded = columns.one_chunk(tools).dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        definitions = columns.numbers(encoded.indices, default=-1).astype(np.int32)[calls.trace]
    agents = frame["agent"]
    if agents.null_count() and batch.traces["agent"].null_count < batch.traces.num_rows:
        of_trace = pl.Series(columns.one_chunk(batch.traces["agent"])).gather(calls.trace)
        agents = agents.zip_with(agents.is_not_null(), of_trace)
    of_call = catalogue.assign(frame["tool"], agents, definitions, texts)
    # What a format writes as JSON text is decoded once; more than that is the sender's doing, and worth a note.
    prescribed = (pool.form == columns.JSON_STRING).astype(np.uint8)
    row, state, parts = calls.arguments.row, np.empty(len(calls.arguments), np.uint8), [pl.DataFrame(schema=COLUMNS)]
    for told, asked in rounds(row, of_call, len(pool.arguments), EXEMPT):
        found = check(pool.arguments, asked, catalogue, pool.tools, prescribed)
        state[told] = found.state[row[told]]
        parts.append(of_calls(found.findings, told, row[told]))
    stored = coded(state, STATES)
    findings = pl.concat(parts)
    if len(parts) > 2:
        findings = findings.sort("call", maintain_order=True)
    return Schemas(pl.Series("schema_state", stored).cast(pl.String), stored, _by_call(findings, frame))


def _fields(calls: Calls, pool: Pool, frame: pl.DataFrame, suite: Suite) -> pl.DataFrame:
    """Findings of the field checks."""
    found = check_fields(pool.arguments, pool.tools, suite.fields)
    return _by_call(of_calls(found, np.arange(len(calls.arguments)), calls.arguments.row), frame)


def _by_call(found: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    """Findings that name rows of calls, as findings of a batch."""
    rows = found["call"]
    return finding_frame(
        {
            "trace": frame["trace"].gather(rows),
            "call_index": frame["call_index"].gather(rows),
            "rung": 1,
            "severity": found["severity"],
            "code": found["code"],
            "tool": frame["tool"].gather(rows),
            "path": found["path"],
            "message": found["message"],
            "value": found["value"],
        }
    )


def _answers(batch: Batch, traces: pl.DataFrame, plan: Plan) -> tuple[pl.Series, pl.DataFrame]:
    """``answer_ok`` by trace, and the findings of the answer checks."""
    checks = plan.suite.answer
    if checks is None:
        return nothing("answer_ok", pl.Boolean, traces.height), finding_frame({"trace": []})
    result = check_answers(known_answers(batch, traces["final_answer"]), checks)
    found = result.findings
    of_trace = {name: found[name] for name in ("severity", "code", "path", "message", "value")}
    findings = finding_frame({"trace": traces["trace"].gather(found["row"]), "rung": 1, **of_trace})
    return result.ok.alias("answer_ok"), findings


def judge(batch: Batch, calls: Calls, pool: Pool, frame: pl.DataFrame, schemas: Schemas, plan: Plan) -> Judged:
    """Run every rung that needs no reference.

    Args:
        batch: The batch.
        calls: Its calls.
        pool: Their arguments.
        frame: The same as rungs get them, with ``schema_state`` and canonical digests.
        schemas: Rung one.
        plan: The compiled suite.
    """
    suite = plan.suite
    traces = pl.DataFrame(batch.traces.drop_columns(["tools"]))
    safety = scan(with_states_before(batch, frame), traces, plan.safety, pool.as_stored)
    invariants = check_invariants(frame, traces, suite.invariants)
    milestones = check_milestones(frame, traces, plan.milestones)
    answer_ok, answers = _answers(batch, traces, plan)
    fields = _fields(calls, pool, frame, suite)
    state = plan.state.evaluate(traces.select("trace", "trace_id", "case_id"))
    verdicts = pl.concat([invariants.traces, milestones.traces.drop("trace")], how="horizontal").with_columns(
        answer_ok, *_safety(batch, traces, safety, plan), *_state(traces, state)
    )
    findings = concat_findings(
        [schemas.findings, fields, safety, invariants.findings, answers, milestones.findings, state_findings(state)]
    )
    return Judged(findings, verdicts, state)


def _safety(batch: Batch, traces: pl.DataFrame, findings: pl.DataFrame, plan: Plan) -> list[pl.Series]:
    """``safety_hits`` and ``safety_ok`` by trace."""
    n = traces.height
    if not plan.safety.active:
        return [nothing("safety_hits", pl.Int32, n), nothing("safety_ok", pl.Boolean, n)]
    errors = findings.filter(pl.col("severity") == "error")["trace"].to_numpy()
    hits = pl.Series("safety_hits", np.bincount(errors, minlength=n).astype(np.int32))
    whole = traces["has_calls"] & traces["complete"].fill_null(value=True) & ~pl.Series(unseen(batch, plan))
    ok = pl.select(pl.when(hits > 0).then(False).when(whole).then(True).alias("safety_ok")).to_series()
    return [hits, ok]


def _state(traces: pl.DataFrame, results: pl.DataFrame) -> list[pl.Series]:
    """``state_ok`` by trace (false: some check failed; null: none applied, or some was vacuous) and why it is null."""
    if results.height == 0:
        return [nothing("state_ok", pl.Boolean, traces.height), nothing("state_reason", pl.String, traces.height)]
    by_trace = results.group_by("trace").agg(
        (pl.col("passed") == False).any().alias("failed"),  # noqa: E712 - null is not false
        pl.col("passed").is_null().any().alias("vacuous"),
        pl.col("reason").filter(pl.col("passed").is_null()).first().alias("why"),
    )
    joined = traces.select("trace").join(by_trace, on="trace", how="left", maintain_order="left")
    ok = pl.when("failed").then(False).when(pl.col("vacuous") == False).then(True)  # noqa: E712
    chosen = joined.select(
        ok.alias("state_ok"), pl.when(~pl.col("failed") & pl.col("vacuous")).then("why").alias("state_reason")
    )
    return chosen.get_columns()


def failures(findings: pl.DataFrame) -> Failures:
    """One failure per error finding; what a trace says twice counts at the lower rung.

    Returns:
        Failures; the text names tool and path.
    """
    place = pl.concat_str(["tool", pl.col("path").replace("", None)], separator=".", ignore_nulls=True)
    text = pl.when(place != "").then(pl.format("{}: {}", place, "message")).otherwise("message").alias("text")
    said = findings.filter(pl.col("severity") == "error").select("trace", "rung", text)
    said = said.sort("trace", "rung", maintain_order=True).unique(["trace", "text"], keep="first", maintain_order=True)
    trace = said["trace"].to_numpy().astype(np.int64)
    return Failures(trace, said["rung"].to_numpy(), columns.texts(said["text"].to_arrow()), np.zeros_like(trace))


def gaps(batch: Batch, frame: pl.DataFrame, judged: Judged, plan: Plan) -> list[Gap]:
    """What was needed and not evaluated, references aside."""
    recorded = columns.numbers(batch.traces["has_calls"])
    complete = columns.numbers(batch.traces["complete"], default=True)
    found = [_gap(~recorded, 1, "calls_not_recorded"), _gap(recorded & ~complete, 1, "incomplete")]
    if plan.suite.has_tools:
        for state, reason in (("not_captured", "arguments_not_captured"), ("unusable", "schema_unusable")):
            found.append(Gap(frame["trace"].filter(frame["schema_state"] == state).to_numpy(), 1, reason))
    for name, rung in (("invariants", 1), ("milestones", 3), ("state", 4)):
        why = judged.traces[f"{name}_reason"]
        found += [
            _gap((why == each).fill_null(False).to_numpy(), rung, f"{name}: {each}")
            for each in why.drop_nulls().unique()
        ]
    if plan.suite.answer is not None:
        found += answer_gaps(batch, judged.traces["answer_ok"].is_null().to_numpy())
    if batch.masked_answers is not None:
        found.append(_gap(unseen(batch, plan), 1, "safety: arguments_masked"))
    return [each for each in found if each.trace.size]


def _gap(traces: npt.NDArray[np.bool_], rung: int, reason: str) -> Gap:
    return Gap(np.flatnonzero(traces), rung, reason)
