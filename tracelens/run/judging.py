"""Everything that is found in a batch without a reference, and what follows from it: findings, failures, gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.columns import Batch, nullable
from tracelens.run.calls import Calls
from tracelens.run.hidden import answer_gaps, known_answers, unseen, with_states_before
from tracelens.run.plan import Plan
from tracelens.run.pool import Pool, of_calls
from tracelens.run.schemas import Schemas, by_call
from tracelens.rungs.answers import check_answers
from tracelens.rungs.facts import CallFacts
from tracelens.rungs.fields import check_fields
from tracelens.rungs.findings import concat_findings, finding_frame
from tracelens.rungs.invariants import check_invariants
from tracelens.rungs.milestones import check_milestones
from tracelens.rungs.routing import Failures, Gap
from tracelens.rungs.safety.scan import scan
from tracelens.rungs.schema.check import S_NOT_CAPTURED, S_UNUSABLE
from tracelens.rungs.sentences import sentences, together
from tracelens.rungs.state import STATE_RESULTS, state_findings
from tracelens.suite import Suite

B1 = npt.NDArray[np.bool_]
U64 = npt.NDArray[np.uint64]


class Said(NamedTuple):
    """What one rung says.

    Attributes:
        findings: Its findings; None for none.
        columns: Its columns of the table `traces`.
        gaps: What it could not judge.
    """

    findings: pl.DataFrame | None
    columns: dict[str, pa.Array]
    gaps: list[Gap]


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rungs that need no reference say.

    Attributes:
        findings: All findings, by trace and call.
        columns: Their columns of the table `traces`.
        gaps: What was needed and not evaluated.
        state_results: Rows of the table `state_results`, with ``trace``.
    """

    findings: pl.DataFrame
    columns: dict[str, pa.Array]
    gaps: list[Gap]
    state_results: pl.DataFrame


def judge(
    batch: Batch,
    calls: Calls,
    pool: Pool,
    marks: U64 | None,
    facts: CallFacts,
    rows: pa.Table,
    schemas: Schemas,
    plan: Plan,
) -> Judged:
    """Run every rung that needs no reference.

    Args:
        batch: The batch.
        calls: Its calls.
        pool: Their arguments.
        marks: What of them safety has to look at, see `Pool.marks`.
        facts: What is known of the calls.
        rows: The calls as they are stored.
        schemas: Rung one.
        plan: The compiled suite.
    """
    results = _state_results(batch, plan)
    said = [
        _calls(batch, facts, schemas, plan.suite),
        _fields(calls, pool, facts, plan.suite),
        _safety(batch, pool, marks, facts, rows, plan),
        _invariants(batch, facts, plan.suite),
        _answers(batch, plan.suite),
        _milestones(batch, facts, rows, plan),
        _state(results, batch.traces.num_rows),
    ]
    findings = concat_findings(each.findings for each in said if each.findings is not None)
    told = {name: column for each in said for name, column in each.columns.items()}
    return Judged(findings, told, [gap for each in said for gap in each.gaps if gap.trace.size], results)


def _gap(traces: B1, rung: int, reason: str) -> Gap:
    return Gap(np.flatnonzero(traces), rung, reason)


def _recorded(batch: Batch) -> B1:
    """bool[traces]: whose calls are recorded."""
    return np.asarray(columns.numbers(batch.traces["has_calls"]))


def _complete(batch: Batch) -> B1:
    """bool[traces]: those that nobody says to be incomplete."""
    return np.asarray(columns.numbers(batch.traces["complete"], default=True))


def _calls(batch: Batch, facts: CallFacts, schemas: Schemas, suite: Suite) -> Said:
    """The calls as such, and their schemas."""
    recorded = _recorded(batch)
    gaps = [_gap(~recorded, 1, "calls_not_recorded"), _gap(recorded & ~_complete(batch), 1, "incomplete")]
    if suite.has_tools:
        for state, reason in ((S_NOT_CAPTURED, "arguments_not_captured"), (S_UNUSABLE, "schema_unusable")):
            gaps.append(Gap(facts.trace[schemas.state == state], 1, reason))
    return Said(schemas.findings, {}, gaps)


def _fields(calls: Calls, pool: Pool, facts: CallFacts, suite: Suite) -> Said:
    """The field checks."""
    if not suite.fields:
        return Said(None, {}, [])
    found = check_fields(pool.arguments, pool.tools, suite.fields)
    return Said(by_call(of_calls(found, np.arange(len(calls.arguments)), calls.arguments.row), facts), {}, [])


def _safety(batch: Batch, pool: Pool, marks: U64 | None, facts: CallFacts, rows: pa.Table, plan: Plan) -> Said:
    """The safety patterns."""
    n = batch.traces.num_rows
    if not plan.safety.active:
        return Said(None, {"safety_hits": pa.nulls(n, pa.int32()), "safety_ok": pa.nulls(n, pa.bool_())}, [])
    seen = None if marks is None else marks[pool.actual.row]
    findings = scan(with_states_before(batch, rows), batch.traces, plan.safety, seen, facts.names)
    errors = findings["trace"].filter(findings["severity"] == "error").to_numpy()
    hits, hidden = np.bincount(errors, minlength=n).astype(np.int32), unseen(batch, plan)
    doubtful = ~(_recorded(batch) & _complete(batch)) | hidden
    told = {"safety_hits": pa.array(hits), "safety_ok": nullable(hits == 0, (hits == 0) & doubtful)}
    return Said(findings, told, [_gap(hidden, 1, "safety: arguments_masked")])


def _invariants(batch: Batch, facts: CallFacts, suite: Suite) -> Said:
    """The invariants."""
    found = check_invariants(facts, batch.calls, batch.traces, suite.invariants)
    gaps = [
        _gap(found.incomplete, 1, "invariants: incomplete"),
        _gap(found.not_captured, 1, "invariants: not_captured"),
    ]
    return Said(found.findings, {"invariants_ok": found.ok}, gaps)


def _answers(batch: Batch, suite: Suite) -> Said:
    """The checks on final answers."""
    if suite.answer is None:
        return Said(None, {"answer_ok": pa.nulls(batch.traces.num_rows, pa.bool_())}, [])
    answers = pl.Series("final_answer", batch.traces["final_answer"], dtype=pl.String)
    result = check_answers(known_answers(batch, answers), suite.answer)
    found = result.findings
    told = {name: found[name] for name in ("severity", "code", "path", "message", "value")}
    findings = finding_frame({"trace": found["row"], "rung": 1, **told})
    return Said(findings, {"answer_ok": result.ok.to_arrow()}, answer_gaps(batch, result.ok.is_null().to_numpy()))


def _milestones(batch: Batch, facts: CallFacts, rows: pa.Table, plan: Plan) -> Said:
    """The milestones."""
    if not plan.milestones.active:
        n, types = batch.traces.num_rows, {"met": pa.int32(), "total": pa.int32(), "ok": pa.bool_()}
        return Said(None, {f"milestones_{name}": pa.nulls(n, kind) for name, kind in types.items()}, [])
    found = check_milestones(facts, rows, batch.traces, plan.milestones)
    told = {"milestones_met": found.met, "milestones_total": found.total, "milestones_ok": found.ok}
    gaps = [
        _gap(found.incomplete, 3, "milestones: incomplete"),
        _gap(found.not_captured, 3, "milestones: arguments_not_captured"),
    ]
    return Said(found.findings, told, gaps)


def _state_results(batch: Batch, plan: Plan) -> pl.DataFrame:
    """The verdicts of the state checks."""
    if not plan.state.names:
        return STATE_RESULTS.to_frame()
    return plan.state.evaluate(pl.DataFrame(batch.traces.select(["trace", "trace_id", "case_id"])))


def _state(results: pl.DataFrame, n: int) -> Said:
    """The state checks: false where some check failed; null where none applied, or some was vacuous."""
    if results.height == 0:
        return Said(None, {"state_ok": pa.nulls(n, pa.bool_())}, [])
    failed, open_ = np.zeros(n, np.bool_), np.ones(n, np.bool_)
    failed[results["trace"].filter(~results["passed"]).to_numpy()] = True
    vacuous = results.filter(pl.col("passed").is_null()).unique("trace", keep="first", maintain_order=True)
    open_[results["trace"].to_numpy()] = False
    open_[vacuous["trace"].to_numpy()] = True
    unknown = vacuous.filter(pl.Series(~failed[vacuous["trace"].to_numpy()]))
    gaps = [Gap(rows["trace"].to_numpy(), 4, f"state: {reason}") for (reason,), rows in unknown.group_by("reason")]
    return Said(state_findings(results), {"state_ok": nullable(~failed, open_ & ~failed)}, gaps)


def failures(findings: pl.DataFrame) -> Failures:
    """One failure per error finding; what a trace says twice counts once, at the lowest rung.

    Returns:
        Failures; the text names tool and path.
    """
    errors = findings.filter(findings["severity"] == "error")
    tool, path, message = (columns.texts(errors[name].to_arrow()) for name in ("tool", "path", "message"))
    row, named, placed = np.arange(errors.height), np.diff(tool.offsets) > 0, np.diff(path.offsets) > 0
    text = sentences(
        [
            (tool, row),
            (["."], np.where(named & placed, 0, -1)),
            (path, row),
            ([": "], np.where(named | placed, 0, -1)),
            (message, row),
        ]
    )
    trace, rung = errors["trace"].to_numpy().astype(np.int64), errors["rung"].to_numpy()
    said = columns.text_array(text.data, text.offsets).dictionary_encode().indices.to_numpy()
    order = np.argsort(rung, kind="stable")
    _, first = np.unique((trace << 32 | said)[order], return_index=True)
    once = np.sort(order[first])
    return Failures(trace[once], rung[once], together([text], once), np.zeros(once.size, np.int64))
