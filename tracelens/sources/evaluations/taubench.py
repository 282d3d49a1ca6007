"""tau-bench result files: an array of runs, each a task's conversation with its reward.

The task's golden actions are the inline reference (``kwargs`` are the arguments), ``task_id`` is the case, reward and
trial become tags. The trace id is ``<task_id>-<trial>``, behind the file's name where several files are read. A tool
of the benchmark says that it failed with a result that starts with ``Error``; every other result is a success.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import CALLS, EXPECTED, TEXT, TRACES, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ANYTHING, ARRAY, NONE, NULL, NUMBER, OBJECT, STRING, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables, some_inside
from tracelens.sources.chats.chat import conversation, message_faults, messages_at
from tracelens.sources.evaluations.alike import joined


class TauBench(JsonSource):
    """Result files of tau-bench."""

    name = "tau-bench"
    title = "tau-bench results: an array of runs with traj, reward and golden actions"
    sample = "tau-bench.json"
    projection = Projection(
        Row(
            "line",
            capture={
                "task_id": "task_id",
                "trial": "trial",
                "reward": "reward",
                "actions": "info.task.actions",
                "messages": "traj",
            },
            rows=[
                messages_at("traj[*]"),
                Row("golden", "info.task.actions[*]", capture={"name": "name", "arguments": "kwargs"}),
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``traj``, ``task_id`` and ``reward``."""
        objects = [record for record in head.records if isinstance(record, dict)]
        if any({"traj", "task_id", "reward"} <= record.keys() for record in objects):
            return Sniff(98, "records have traj, task_id and reward")
        return Sniff(0, "records have no traj with task_id and reward")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A run without a conversation or a task, or with a golden action that is no call."""
        line, golden = found["line"], found["golden"]
        yield ~line.has("@", OBJECT), "a run must be a JSON object"
        yield ~line.has("messages", ARRAY), "traj is no array"
        yield ~line.has("task_id", NUMBER, STRING), "there is no task_id"
        yield from message_faults(found)
        yield some_inside(found, "golden", ~golden.has("name", STRING)), "a golden action has no name"
        usable = golden.has("arguments", NONE, NULL, OBJECT)
        yield some_inside(found, "golden", ~usable), "kwargs of a golden action are no object"

    def tables(self, records: Records) -> Tables:
        """The tables of the good records."""
        line, block = records.found["line"], records.block
        talk = conversation(records.found)
        case = line.text("task_id", NUMBER, STRING)
        trial = line.text("trial", NUMBER, STRING)
        name = pc.coalesce(pc.binary_join_element_wise(case, trial, pa.scalar("-", TEXT)), case)
        if not block.alone:
            name = pc.binary_join_element_wise(pa.scalar(block.source, TEXT), name, pa.scalar(":", TEXT))
        counts = line.has("actions", ARRAY)
        traces = table(
            TRACES,
            line.n,
            trace=np.arange(line.n, dtype=np.uint32),
            trace_id=name,
            id_given=np.ones(line.n, np.bool_),
            case_id=case,
            tags=_tags(line),
            has_calls=np.ones(line.n, np.bool_),
            final_answer=talk.final_answer,
            llm_calls=talk.llm_calls,
            n_references=pa.array(np.ones(line.n, np.int32), mask=~counts),
            source=pa.repeat(pa.scalar(block.source, TEXT), line.n),
            line=records.lines,
            record_hi=records.digests[:, 0],
            record_lo=records.digests[:, 1],
        )
        return Tables(traces, _with_errors(talk.calls), _golden(records.found))


def _tags(line: Found) -> pa.Array:
    """``{"reward": …, "trial": …}`` with the members that are there, as written."""
    parts = []
    for name in ("reward", "trial"):
        value = line.text(name, *[kind for kind in ANYTHING if kind != STRING])
        parts.append(pc.binary_join_element_wise(pa.scalar(f'"{name}"', TEXT), value, pa.scalar(": ", TEXT)))
    inner = joined(*parts, by=", ")
    return pc.binary_join_element_wise(pa.scalar("{", TEXT), inner, pa.scalar("}", TEXT), pa.scalar("", TEXT))


def _with_errors(calls: pa.Table) -> pa.Table:
    """The calls with the status that their results say."""
    result = calls["result"]
    failed = pc.fill_null(pc.starts_with(result, "Error"), False)
    answered = pc.if_else(pc.is_valid(result), pa.scalar("ok", TEXT), pa.scalar(None, TEXT))
    status = pc.if_else(failed, pa.scalar("error", TEXT), answered)
    error = pc.if_else(failed, result, pa.scalar(None, TEXT))
    for name, column in (("status", status), ("error", error)):
        calls = calls.set_column(CALLS.get_field_index(name), CALLS.field(name), column)
    return calls


def _golden(found: Projected) -> pa.Table:
    """The golden actions as the reference of each run."""
    golden = found["golden"]
    arguments, form = golden.arguments("arguments")
    return table(
        EXPECTED,
        golden.n,
        trace=golden.parent.astype(np.uint32),
        reference_index=np.zeros(golden.n, np.int32),
        expected_index=positions_in(group_offsets(golden.parent, found.top.n)),
        name=golden.text("name"),
        arguments=arguments,
        arguments_form=form,
    )
