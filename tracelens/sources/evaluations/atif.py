"""ATIF, the trajectory format of Harbor (versions 1.0 to 1.8).

Steps of the agent hold calls and, in their observation, the results; steps that were copied from an earlier trajectory
are skipped. Trajectories of sub-agents inside are read to a depth of four: their calls stand behind those of the
trajectory around them, one level deeper. The format has no flag for errors, so the status of a call is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, TRACES, one_chunk, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ARRAY, FALSE, NUMBER, OBJECT, STRING, TRUE, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables, some_inside
from tracelens.sources.chats.messages import Steps
from tracelens.sources.evaluations.alike import (
    column_tags,
    first_of,
    json_texts,
    origin,
    put_together,
    summed,
    tags_of,
    trace_names,
)
from tracelens.sources.evaluations.steps import at_steps, step_spans
from tracelens.sources.talk import Asked, Results, call_table, is_in, last_said

I64 = npt.NDArray[np.int64]

DEEPEST = 4
"""Sub-agents inside of each other that are read."""

BY_TEXT = "some ATIF trajectories have observations without tool_calls: their agent acts by text, and its calls are not recorded"


def steps_at(depth: int) -> Row:
    """The steps of trajectories that many levels down, with the name of the agent at each."""
    call = {"call_id": "tool_call_id", "name": "function_name", "arguments": "arguments"}
    result = {"call_id": "source_call_id", "content": "content"}
    said = {
        "source": "source",
        "message": "message",
        "timestamp": "timestamp",
        "copied": "is_copied_context",
        "model": "model_name",
        "asked": "llm_call_count",
        "input_tokens": "metrics.prompt_tokens",
        "output_tokens": "metrics.completion_tokens",
        "cost": "metrics.cost_usd",
    }
    inner = [
        Row(f"call{depth}", "tool_calls[*]", call),
        Row(f"result{depth}", "observation.results[*]", result, [Row(f"text{depth}", "content[*]", {"text": "text"})]),
    ]
    return Row(f"step{depth}", "steps[*]", said, inner)


def agent_at(depth: int) -> Row:
    """A trajectory of a sub-agent, and those inside of it."""
    inside = [agent_at(depth + 1)] if depth < DEEPEST else []
    return Row(
        f"agent{depth}",
        "subagent_trajectories[*]",
        {"name": "agent.name", "model_name": "agent.model_name"},
        [steps_at(depth), *inside],
    )


class Atif(JsonSource):
    """Trajectories in ATIF."""

    name = "atif"
    title = "ATIF trajectories (Harbor): steps with tool_calls and observations, sub-agents one level deeper"
    seen = True
    sample = "atif.json"
    projection = Projection(
        Row(
            "line",
            capture={
                "version": "schema_version",
                "session_id": "session_id",
                "id": "trajectory_id",
                "agent": "agent.name",
                "model_name": "agent.model_name",
                "tools": "agent.tool_definitions",
                "steps": "steps",
                "input_tokens": "final_metrics.total_prompt_tokens",
                "output_tokens": "final_metrics.total_completion_tokens",
                "cost": "final_metrics.total_cost_usd",
            },
            rows=[steps_at(0), agent_at(1), Row("extra", "final_metrics.extra.*")],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects whose ``schema_version`` starts with ATIF."""
        for record in head.records:
            if isinstance(record, dict) and str(record.get("schema_version", "")).startswith("ATIF-"):
                return Sniff(99, f"schema_version is {record['schema_version']}")
        return Sniff(0, "there is no schema_version of ATIF")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """What has no steps."""
        line, step = found["line"], found["step0"]
        yield ~line.has("@", OBJECT), "a trajectory must be an object"
        yield ~line.has("steps", ARRAY), "a trajectory has no steps"
        yield some_inside(found, "step0", ~step.has("@", OBJECT)), "a step is no object"

    def tables(self, records: Records) -> Tables:
        """The tables of the good trajectories."""
        found, line, step = records.found, records.found["line"], records.found["step0"]
        n = line.n
        parts = [_calls_at(found, depth) for depth in range(DEEPEST + 1)]
        of_results = [_results_at(found, depth) for depth in range(DEEPEST + 1)]
        order, columns = put_together(*[(_order(trace, place), each) for trace, place, each in parts])
        trace = order >> 32
        asked = Asked(trace, order, columns.pop("turn").to_numpy(), columns)
        told, given = put_together(*[(_order(trace, place), each) for trace, place, each in of_results])
        results = Results(
            told >> 32,
            told,
            given["call_id"],
            pa.nulls(told.size, TEXT),
            lambda rows: {"result": given["result"].take(pa.array(rows))},
        )
        calls, _ = call_table(asked, results, n)
        own = _own(step)
        message = step.text("message")
        said = np.flatnonzero(own & (pc.fill_null(pc.binary_length(message), 0).to_numpy() > 0))
        turn = _turns(step, own)
        top = asked.trace[columns["depth"].to_numpy() == 0]
        level = Asked(top, top, asked.turn[columns["depth"].to_numpy() == 0], {})
        answer = last_said(step.parent[said], turn[said], level, n, lambda rows: message.take(pa.array(said[rows])))
        extra = found["extra"]
        acted = np.bincount(found["step0"].parent[found["result0"].parent], minlength=n) > 0
        recorded = (np.bincount(found["step0"].parent[found["call0"].parent], minlength=n) > 0) | ~acted
        session = line.text("session_id", STRING, NUMBER)
        traces = table(
            TRACES,
            n,
            **origin(records),
            **trace_names(records, pc.coalesce(line.text("id", STRING, NUMBER), session)),
            session_id=session,
            agent=line.text("agent"),
            started_at=first_of(step.time("timestamp"), step.parent, n),
            tags=tags_of(
                n,
                *column_tags(line, "model_name"),
                (extra.parent.tolist(), extra.text("@key").to_pylist(), json_texts(extra, "@")),
            ),
            tools=line.text("tools", ARRAY),
            has_calls=recorded,
            final_answer=answer,
            llm_calls=np.bincount(step.parent[own], minlength=n),
            input_tokens=pc.coalesce(
                line.integer("input_tokens"), summed(step.integer("input_tokens"), step.parent, n)
            ),
            output_tokens=pc.coalesce(
                line.integer("output_tokens"), summed(step.integer("output_tokens"), step.parent, n)
            ),
            cost=pc.coalesce(line.float("cost"), summed(step.float("cost"), step.parent, n)),
        )
        asking, said_by = put_together(*[_steps_at(found, depth) for depth in range(DEEPEST + 1)])
        steps = Steps(asking >> 32, said_by)
        spans = step_spans(steps, at_steps(asking, order), calls, n)
        return Tables(traces, calls, spans=spans, notes=() if recorded.all() else (BY_TEXT,))


def _order(trace: I64, place: I64) -> I64:
    """One number by which steps are in order: trace and place in the block."""
    return trace << 32 | place


def _own(step: Found) -> npt.NDArray[np.bool_]:
    """bool[steps]: steps that the agent made in this very trajectory."""
    return is_in(step.text("source"), "agent") & ~step.has("copied", TRUE)


def _steps_at(found: Projected, depth: int) -> tuple[I64, dict[str, pa.Array]]:
    """Order and columns of the calls of the model at a depth; a step may say that it made none."""
    step = found[f"step{depth}"]
    none = pc.fill_null(pc.equal(step.integer("asked"), 0), False).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(_own(step) & ~none)
    mine = step.taken(rows)
    owner = found[f"agent{depth}" if depth else "line"]
    above = pa.array(step.parent[rows])
    columns = {
        "agent": owner.text("name" if depth else "agent").take(above),
        "model": pc.coalesce(mine.text("model"), owner.text("model_name").take(above)),
        "started_at": mine.time("timestamp"),
        "input_tokens": mine.integer("input_tokens"),
        "output_tokens": mine.integer("output_tokens"),
        "cost": mine.float("cost"),
    }
    return _order(_trace_of(found, depth)[rows], mine.cells("@").start.astype(np.int64)), columns


def _trace_of(found: Projected, depth: int) -> I64:
    """int64[steps]: the trace of each step at a depth."""
    rows = found[f"step{depth}"].parent
    for level in range(depth, 0, -1):
        rows = found[f"agent{level}"].parent[rows]
    return rows.astype(np.int64)


def _turns(step: Found, own: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    turn = np.full(step.n, -1, np.int32)
    turn[own] = positions_in(group_offsets(step.parent[own], int(step.parent.max(initial=-1)) + 1))
    return turn


def _calls_at(found: Projected, depth: int) -> tuple[I64, I64, dict[str, pa.Array]]:
    """Trace, place and columns of the calls at a depth."""
    step, call = found[f"step{depth}"], found[f"call{depth}"]
    own = _own(step)
    rows = np.flatnonzero(own[call.parent])
    some, at = pa.array(rows), call.parent[rows]
    arguments, form = call.arguments("arguments")
    who = pa.nulls(rows.size, TEXT)
    if depth:
        who = found[f"agent{depth}"].text("name").take(pa.array(step.parent[at]))
    columns = {
        "name": call.text("name").take(some),
        "malformed": pa.array(~call.has("name", STRING)[rows]),
        "arguments": arguments.take(some),
        "arguments_form": pa.array(form[rows]),
        "call_id": call.text("call_id", STRING, NUMBER).take(some),
        "started_at": step.time("timestamp").take(pa.array(at)),
        "depth": pa.array(np.full(rows.size, depth, np.int32)),
        "agent": who,
        "turn": pa.array(_turns(step, own)[at] if depth == 0 else np.full(rows.size, -1, np.int32)),
    }
    trace, place = _trace_of(found, depth)[at], step.cells("@").start[at].astype(np.int64)
    return trace, place, {name: one_chunk(each) for name, each in columns.items()}


def _results_at(found: Projected, depth: int) -> tuple[I64, I64, dict[str, pa.Array]]:
    """Trace, place and columns of the results at a depth; a step without ids answers its calls in order."""
    step, result, text = (found[f"{name}{depth}"] for name in ("step", "result", "text"))
    call = found[f"call{depth}"]
    own = _own(step)
    rows = np.flatnonzero(own[result.parent])
    at = result.parent[rows]
    content = result.text("content", STRING, NUMBER, TRUE, FALSE, OBJECT)
    some = text.has("text", STRING)
    if some.any():
        offsets = pa.array(group_offsets(text.parent[some], result.n))
        lists = pa.LargeListArray.from_arrays(offsets, text.text("text").filter(pa.array(some)))
        content = pc.coalesce(content, pc.binary_join(lists, pa.scalar("", TEXT)))
    ids = result.text("call_id", STRING, NUMBER).take(pa.array(rows))
    if ids.null_count and call.n:
        first = group_offsets(call.parent, step.n)
        nth = first[at] + positions_in(group_offsets(result.parent, step.n))[rows]
        inside = nth < first[at + 1]
        by_place = call.text("call_id", STRING, NUMBER).take(pa.array(np.where(inside, nth, 0), mask=~inside))
        ids = pc.coalesce(ids, by_place)
    columns = {"call_id": ids, "result": one_chunk(content.take(pa.array(rows)))}
    return _trace_of(found, depth)[at], step.cells("@").start[at].astype(np.int64), columns
