"""tau2-bench: results (simulations with the tasks they ran), and task files, which are references.

A simulation is a trace; ``task_id`` is its case, reward, its parts (``reward.ACTION`` …), trial and seed become tags.
The golden actions of its task are its reference, those of the assistant alone. Calls that the simulated user makes
are not the agent's: they are left out and counted. Results may be a folder, with a file a simulation beside the
tasks. An action with ``compare_args`` is compared in those arguments only: the others may be anything, or be missing.
A task file holds no run: its tasks are traces whose calls were not recorded, so that `tracelens init` takes their
references.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import CALLS, TEXT, TIME, TRACES, Remark, one_chunk, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import (
    ARRAY,
    FALSE,
    NONE,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    Found,
    Projected,
    Projection,
    Row,
)
from tracelens.sources.base import Fault, Head, JsonSource, Options, Records, Sniff, Tables, some_inside
from tracelens.sources.chats.messages import Steps
from tracelens.sources.evaluations.alike import (
    Scores,
    column_tags,
    encode,
    expected_rows,
    joined,
    json_texts,
    origin,
    put_together,
    tags_of,
    trace_names,
)
from tracelens.sources.evaluations.steps import at_steps, step_spans
from tracelens.sources.evaluations.tau2_folder import (
    ALONE,
    as_document,
    headers,
    is_results,
    is_simulation,
    results_of,
)
from tracelens.sources.limits import within
from tracelens.sources.logs.sessions import FirstObjects, waited, with_columns
from tracelens.sources.nested import Nested, NestedSource
from tracelens.sources.reading.files import File
from tracelens.sources.reading.io import Block
from tracelens.sources.talk import Asked, Results, call_table, is_in, last_said

I64 = npt.NDArray[np.int64]
B1 = npt.NDArray[np.bool_]

OF_USER = "a call of the simulated user is not the agent's and is left out"

ANYTHING_OR_NOTHING = {"$optional": {"$any": True}}

ACTIONS = Row(
    "action",
    "evaluation_criteria.actions[*]",
    {"requestor": "requestor", "name": "name", "arguments": "arguments", "compared": "compare_args"},
)

MESSAGE = {
    "role": "role",
    "content": "content",
    "id": "id",
    "error": "error",
    "requestor": "requestor",
    "cost": "cost",
    "timestamp": "timestamp",
    "seconds": "generation_time_seconds",
    "input_tokens": "usage.prompt_tokens",
    "output_tokens": "usage.completion_tokens",
}


def golden(action: Found, task: I64, n: int) -> pa.Table:
    """The golden actions of the assistant as the reference of each task.

    Args:
        action: The actions.
        task: int64[actions], ascending.
        n: Number of tasks.
    """
    keep = ~is_in(action.text("requestor"), "user")
    for bad, _ in action_faults(action):
        keep &= ~bad  # nobody uses the task of such an action
    kept = pa.array(keep)
    arguments, form = action.arguments("arguments")
    compared = action.text("compared", ARRAY).filter(kept).to_pylist()
    texts = [
        text if which is None or text is None else _only(text, which)
        for text, which in zip(arguments.filter(kept).to_pylist(), compared, strict=True)
    ]
    return expected_rows(task[keep], action.text("name").filter(kept), pa.array(texts, TEXT), form[keep], n)


def action_faults(action: Found) -> Iterator[Fault]:
    """Which golden actions are no calls, and why."""
    yield ~action.has("name", STRING), "an action has no name"
    yield ~action.has("arguments", NONE, NULL, OBJECT), "arguments of an action are no object"


def _only(arguments: str, compared: str) -> str:
    """Expected arguments of which only some are compared."""
    which = {name for name in json.loads(compared) if isinstance(name, str)}
    value = json.loads(arguments)
    kept = {key: each if key in which else ANYTHING_OR_NOTHING for key, each in value.items()}
    return arguments if kept == value else encode(kept)


class Tau2Results(NestedSource):
    """Result files of tau2-bench."""

    name = "tau2"
    title = "tau2-bench results, a file or a folder: simulations with their tasks, rewards and golden actions"
    seen = False
    sample = "tau2.json"
    inner = "run"
    shared = ("tasks", "model")
    projection = Projection(
        Row(
            "line",
            capture={"tasks": "tasks", "model": "info.agent_info.llm"},
            rows=[
                Row(
                    "run",
                    "simulations[*]",
                    capture={
                        "id": "id",
                        "task_id": "task_id",
                        "trial": "trial",
                        "seed": "seed",
                        "termination_reason": "termination_reason",
                        "reward": "reward_info.reward",
                        "started_at": "start_time",
                        "cost": "agent_cost",
                        "messages": "messages",
                    },
                    rows=[
                        Row("part", "reward_info.reward_breakdown.*"),
                        Row(
                            "message",
                            "messages[*]",
                            MESSAGE,
                            [
                                Row("inner", "tool_messages[*]", MESSAGE),
                                Row(
                                    "call",
                                    "tool_calls[*]",
                                    {
                                        "call_id": "id",
                                        "name": "name",
                                        "arguments": "arguments",
                                        "requestor": "requestor",
                                    },
                                ),
                            ],
                        ),
                    ],
                ),
                Row("task", "tasks[*]", {"id": "id", "actions": "evaluation_criteria.actions"}, [ACTIONS]),
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``simulations`` and ``tasks``."""
        keys = {key for record in head.records if isinstance(record, dict) for key in record}
        if {"simulations", "tasks"} <= keys:
            return Sniff(98, "there are simulations and tasks")
        if any(is_simulation(record) for record in head.records):
            return Sniff(97, "a record is a simulation with a task_id and messages")
        if any(is_results(record) for record in head.records):
            return Sniff(90, "there are info and tasks of results that lie in a folder")
        return Sniff(40 if "simulations" in keys else 0, "there are no simulations with tasks")

    def blocks(self, inputs: Sequence[File], options: Options) -> Iterator[Block]:
        """The files' documents; of a folder, every simulation with the results around it."""
        around = results_of(inputs)
        heads = dict(headers(around))
        for file in inputs:
            results = around.get(file.name)
            if results is not None and results.name in heads:
                yield as_document(file, heads[results.name], alone=False)
            elif any(is_simulation(record) for record in FirstObjects(file, 1)):
                yield as_document(file, ALONE, alone=options.alone)
            elif file.name not in heads:
                yield from super().blocks([file], options)

    def faults(self, found: Projected, whole: Projected) -> Iterator[Fault]:
        """A simulation without a task or messages."""
        run, message = found["run"], found["message"]
        yield ~run.has("@", OBJECT), "a simulation is no object"
        yield ~run.has("task_id", STRING, NUMBER), "a simulation has no task_id"
        yield ~run.has("messages", ARRAY), "a simulation has no messages (voice runs with ticks are not read)"
        yield some_inside(found, "message", ~message.has("role", STRING)), "a message has no role"
        which = _task_rows(whole["task"], whole["run"].parent, run.text("task_id", STRING, NUMBER))
        for bad, why in action_faults(whole["action"]):
            tasks = np.zeros(whole["task"].n + 1, np.bool_)
            tasks[whole["action"].parent[bad]] = True
            yield tasks[which], f"its task cannot be used: {why}"

    def tables(self, records: Nested) -> Tables:
        """The tables of the good simulations."""
        found, run = records.found, records.found["run"]
        message, call = found["message"], found["call"]
        n = run.n
        asked, left_out = _asked(message, call)
        role, content = message.text("role"), message.text("content")
        by_agent = is_in(role, "assistant")
        said = np.flatnonzero(by_agent & (pc.fill_null(pc.binary_length(content), 0).to_numpy() > 0))
        turn = _turns(message, by_agent, n)
        case = run.text("task_id", STRING, NUMBER)
        task, which, has_actions = _tasks(records, case)
        speaking = np.flatnonzero(by_agent)
        steps = _steps(records, message, speaking)
        sums = steps.per_trace(n)
        sums["cost"] = pc.coalesce(run.float("cost"), sums["cost"])
        traces = table(
            TRACES,
            n,
            **origin(records),
            **trace_names(records, pc.coalesce(run.text("id", STRING, NUMBER), _by_trial(run, case))),
            case_id=case,
            started_at=run.time("started_at"),
            tags=tags_of(
                n, *column_tags(run, "reward", "trial", "seed", "termination_reason"), _parts(records.found["part"])
            ),
            has_calls=np.ones(n, np.bool_),
            final_answer=last_said(
                message.parent[said], turn[said], asked, n, lambda rows: content.take(pa.array(said[rows]))
            ),
            **sums,
            n_references=pa.array(np.ones(n, np.int32), mask=~has_actions),
        )
        results, answered_at = _results(message, found["inner"])
        calls, taken = call_table(asked, results, n)
        ended = answered_at.take(pa.array(taken, mask=taken < 0))
        calls = with_columns(calls, duration_ms=waited(one_chunk(calls["started_at"]), ended))
        spans = step_spans(steps, at_steps(speaking, asked.at), calls, n)
        remarks = [Remark(OF_USER, left_out, records.place(0))] if left_out else []
        return Tables(traces, calls, _expected(records, task, which, n), remarks=remarks, spans=spans)


def _parts(part: Found) -> Scores:
    """What the reward is the product of, as tags."""
    names = [f"reward.{name}" for name in part.text("@key").to_pylist()]
    return part.parent.tolist(), names, json_texts(part, "@")


def _by_trial(run: Found, case: pa.Array) -> pa.Array:
    return joined(case, run.text("trial", NUMBER, STRING), by="-")


def _turns(message: Found, by_agent: B1, n: int) -> npt.NDArray[np.int32]:
    """int32[messages]: number of the agent's message in its trace."""
    turn = np.full(message.n, -1, np.int32)
    turn[by_agent] = positions_in(group_offsets(message.parent[by_agent], n))
    return turn


def _asked(message: Found, call: Found) -> tuple[Asked, int]:
    """The agent's calls, and how many calls of the user there are."""
    role = message.text("role")
    of_user = is_in(call.text("requestor"), "user") | is_in(role, "user")[call.parent]
    keep = pa.array(~of_user)
    at = call.parent[~of_user].astype(np.int64)
    arguments, form = call.arguments("arguments")
    turn = _turns(message, is_in(role, "assistant"), int(message.parent.max(initial=-1)) + 1)
    columns = {
        "name": call.text("name").filter(keep),
        "malformed": ~call.has("name", STRING)[~of_user],
        "arguments": arguments.filter(keep),
        "arguments_form": form[~of_user],
        "call_id": call.text("call_id", STRING, NUMBER).filter(keep),
        "started_at": message.time("timestamp").take(pa.array(at)),
    }
    return Asked(message.parent[at].astype(np.int64), at, turn[at], columns), int(of_user.sum())


def _steps(records: Nested, message: Found, speaking: I64) -> Steps:
    """The agent's messages as calls of its model. Their times are those of the end, and the start where it is told."""
    mine = message.taken(speaking)
    of = records.of[mine.parent]
    seconds, done = mine.float("seconds"), mine.time("timestamp")
    begun = pc.subtract(done.cast(pa.int64()), pc.round(pc.multiply(seconds, 1e6)).cast(pa.int64(), safe=False))
    columns = {
        "model": records.document.text("model").take(pa.array(of)),
        "started_at": pc.coalesce(within("started_at", begun.cast(TIME)), done),
        "duration_ms": pc.multiply(seconds, 1000.0),
        "input_tokens": mine.integer("input_tokens"),
        "output_tokens": mine.integer("output_tokens"),
        "cost": mine.float("cost"),
    }
    return Steps(mine.parent.astype(np.int64), columns)


def _results(message: Found, inner: Found) -> tuple[Results, pa.Array]:
    """The messages with results, alone or several in one, and their times; their id is that of the call."""
    parts = []
    for rows, at in ((message, np.arange(message.n)), (inner, inner.parent)):
        there = is_in(rows.text("role"), "tool") & ~is_in(rows.text("requestor"), "user")
        content = rows.text("content", STRING, OBJECT, ARRAY, NUMBER, TRUE, FALSE)
        columns = {
            "id": rows.text("id", STRING, NUMBER),
            "at": rows.time("timestamp"),
            "result": content,
            "status": pc.if_else(rows.boolean("error"), pa.scalar("error", TEXT), pa.scalar("ok", TEXT)),
        }
        keep = pa.array(there)
        parts.append(
            (at[there].astype(np.int64), {name: one_chunk(each.filter(keep)) for name, each in columns.items()})
        )
    at, found = put_together(*parts)

    def columns_of(rows: I64) -> dict[str, pa.Array]:
        return {name: found[name].take(pa.array(rows)) for name in ("result", "status")}

    ids = found["id"]
    return Results(message.parent[at].astype(np.int64), at, ids, pa.nulls(at.size, TEXT), columns_of), found["at"]


def _task_rows(task: Found, document: npt.NDArray[Any], case: pa.Array) -> I64:
    """int64[traces]: the row of each trace's task in its document, -1 for none."""
    ids = zip(task.parent.tolist(), task.text("id", STRING, NUMBER).to_pylist(), strict=True)
    known = dict(zip(ids, range(task.n), strict=True))
    return np.array([known.get(key, -1) for key in zip(document.tolist(), case.to_pylist(), strict=True)], np.int64)


def _tasks(records: Nested, case: pa.Array) -> tuple[Found, I64, B1]:
    """The tasks, the row of each trace's task (-1 for none), and whether that one lists actions."""
    task = records.beside["task"]
    which = _task_rows(task, records.of, case)
    lists = np.append(task.has("actions", ARRAY), False)
    return task, which, lists[which]


def _expected(records: Nested, task: Found, which: I64, n: int) -> pa.Table:
    """The golden actions of each trace's task."""
    action = records.beside["action"]
    of_tasks = golden(action, action.parent.astype(np.int64), task.n)
    first = group_offsets(of_tasks["trace"].to_numpy(), task.n)
    counts = np.append(np.diff(first), 0)[which]
    rows = np.repeat(np.append(first[:-1], 0)[which], counts) + positions_in(np.append(0, np.cumsum(counts)))
    some = of_tasks.take(pa.array(rows))
    trace = np.repeat(np.arange(n), counts)
    return expected_rows(trace, some["name"], some["arguments"], some["arguments_form"], n)


class Tau2Tasks(JsonSource):
    """Task files of tau2-bench."""

    name = "tau2-tasks"
    title = "tau2-bench tasks: golden actions as references, without runs"
    seen = True
    sample = "tau2-tasks.json"
    projection = Projection(
        Row(
            "line",
            capture={"id": "id", "criteria": "evaluation_criteria", "actions": "evaluation_criteria.actions"},
            rows=[ACTIONS],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``user_scenario`` and ``evaluation_criteria``."""
        objects = [record for record in head.records if isinstance(record, dict)]
        if any({"id", "user_scenario", "evaluation_criteria"} <= record.keys() for record in objects):
            return Sniff(97, "tasks have user_scenario and evaluation_criteria")
        return Sniff(0, "no task has user_scenario and evaluation_criteria")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A task without an id, or with an action that is no call."""
        line, action = found["line"], found["action"]
        yield ~line.has("@", OBJECT), "a task must be an object"
        yield ~line.has("id", STRING, NUMBER), "a task has no id"
        for bad, why in action_faults(action):
            yield some_inside(found, "action", bad), why

    def tables(self, records: Records) -> Tables:
        """The tables of the good tasks."""
        line, action = records.found["line"], records.found["action"]
        case = line.text("id", STRING, NUMBER)
        traces = table(
            TRACES,
            line.n,
            **origin(records),
            **trace_names(records, case),
            case_id=case,
            has_calls=np.zeros(line.n, np.bool_),
            n_references=pa.array(np.ones(line.n, np.int32), mask=~line.has("actions", ARRAY)),
        )
        return Tables(traces, CALLS.empty_table(), golden(action, action.parent.astype(np.int64), line.n))
