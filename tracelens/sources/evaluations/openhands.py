"""OpenHands: the events of a conversation as one list, or lines with a ``history``.

An action of the agent that came from a call is that call: its name and id stand beside it, its arguments as the model
wrote them in the response that is repeated with every event. Older histories know the action alone: it is the tool,
and what it says of itself are the arguments. What happened is the observation that names the action as its cause.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import ABSENT, JSON_VALUE, TEXT, TIME, TRACES, places, table
from tracelens.projection import (
    ARRAY,
    NUMBER,
    OBJECT,
    STRING,
    Found,
    Projected,
    Projection,
    Row,
)
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables, some_inside
from tracelens.sources.chats.messages import Steps
from tracelens.sources.evaluations.alike import column_tags, file_stem, first_of, origin, tags_of, trace_names
from tracelens.sources.evaluations.steps import step_spans
from tracelens.sources.limits import within
from tracelens.sources.talk import Asked, Results, call_table, is_in

I64 = npt.NDArray[np.int64]
B1 = npt.NDArray[np.bool_]

NO_CALLS = ("message", "system", "recall", "change_agent_state", "null", "condensation", "condensation_request")
"""Actions that are no calls of tools."""

ABOUT = {
    "action", "thought", "action_risk", "security_risk", "is_confirmed", "confirmation_state", "keep_prompt", "hidden",
    "kernel_init_code", "blocking", "include_extra", "wait_for_response", "args", "id", "timestamp", "source",
    "message", "cause", "timeout", "tool_call_metadata", "llm_metrics", "images_urls", "image_urls",
}  # fmt: skip
"""Members of an action of older histories that are no arguments."""


class OpenHands(JsonSource):
    """Trajectories of OpenHands."""

    name = "openhands"
    title = "OpenHands: events of a conversation, or evaluation outputs with their history"
    seen = True
    sample = "openhands.json"
    projection = Projection(
        Row(
            "line",
            capture={
                "instance": "instance_id",
                "history": "history",
                "error": "error",
                "success": "success",
                "resolved": "report.resolved",
                "cost": "metrics.accumulated_cost",
                "input_tokens": "metrics.accumulated_token_usage.prompt_tokens",
                "output_tokens": "metrics.accumulated_token_usage.completion_tokens",
                "agent": "metadata.agent_class",
                "model": "metadata.llm_config.model",
            },
            rows=[
                Row("waited", "metrics.response_latencies[*]", {"id": "response_id", "seconds": "latency"}),
                Row("paid", "metrics.costs[*]", {"cost": "cost"}),
                Row(
                    "event",
                    ("history[*]", "[*]"),
                    {
                        "id": "id",
                        "source": "source",
                        "timestamp": "timestamp",
                        "action": "action",
                        "args": "args",
                        "cause": "cause",
                        "observation": "observation",
                        "content": "content",
                        "said": "args.content",
                        "thought": ("thought", "args.final_thought"),
                        "success": "success",
                        "exit_code": ("exit_code", "extras.exit_code", "extras.metadata.exit_code"),
                        "name": "tool_call_metadata.function_name",
                        "call_id": "tool_call_metadata.tool_call_id",
                        "response": "tool_call_metadata.model_response.id",
                        "model": "tool_call_metadata.model_response.model",
                        "input_tokens": "tool_call_metadata.model_response.usage.prompt_tokens",
                        "output_tokens": "tool_call_metadata.model_response.usage.completion_tokens",
                        "tools": "args.tools",
                    },
                    [
                        Row(
                            "call",
                            "tool_call_metadata.model_response.choices[*].message.tool_calls[*]",
                            {"call_id": "id", "arguments": "function.arguments"},
                        )
                    ],
                ),
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Lists of events with ``action`` or ``observation``, or records with such a ``history``."""
        lists = [record.get("history") for record in head.records if isinstance(record, dict)]
        if any(isinstance(each, list) and self.is_record(each) for each in lists):
            return Sniff(96, "records have a history of actions and observations")
        if head.layout == "array" and self.is_record(list(head.records)):
            return Sniff(96, "the file is one list of actions and observations")
        return Sniff(0, "there is no list of actions and observations")

    @staticmethod
    def is_record(elements: list[Any]) -> bool:
        """Whether a list is one conversation: its elements are actions and observations."""
        return len(elements) > 0 and all(
            isinstance(each, dict) and each.keys() & {"action", "observation"} for each in elements
        )

    def faults(self, found: Projected) -> Iterator[Fault]:
        """What is no list of events."""
        line, event = found["line"], found["event"]
        yield ~line.has("@", ARRAY) & ~line.has("history", ARRAY), "there is no list of events"
        yield some_inside(found, "event", ~event.has("@", OBJECT)), "an event is no object"

    def tables(self, records: Records) -> Tables:
        """The tables of the good conversations."""
        line, event = records.found["line"], records.found["event"]
        n = line.n
        asked, acts = _asked(records.found)
        calls, _ = call_table(asked, _observed(event, acts), n)
        stem = pa.repeat(pa.scalar(file_stem(records.block.source), TEXT), n)
        instance = line.text("instance")
        of_agent = ~is_in(event.text("source"), "user", "environment")
        first = np.append(True, event.parent[1:] != event.parent[:-1])[: event.n]
        of_agent &= event.has("source", STRING) | ~first  # what nobody is named for comes first from the user
        speaks = of_agent & is_in(event.text("action"), "message", "finish")
        answers = pc.if_else(pa.array(speaks), _answer(event), pa.scalar(None, TEXT))
        speaks[acts] = True
        steps, of_event = _steps(records.found, np.flatnonzero(speaks))
        sums = steps.per_trace(n)
        traces = table(
            TRACES,
            n,
            **origin(records),
            **trace_names(records, pc.coalesce(instance, stem) if n == 1 else instance),
            case_id=instance,
            agent=line.text("agent"),
            started_at=first_of(event.time("timestamp"), event.parent, n),
            tags=tags_of(n, *column_tags(line, "success", "resolved", "error")),
            tools=first_of(event.text("tools", ARRAY), event.parent, n),
            has_calls=np.ones(n, np.bool_),
            final_answer=first_of(answers, event.parent, n, last=True),
            llm_calls=sums["llm_calls"],
            cost=pc.coalesce(line.float("cost"), sums["cost"]),
            input_tokens=pc.coalesce(line.integer("input_tokens"), sums["input_tokens"]),
            output_tokens=pc.coalesce(line.integer("output_tokens"), sums["output_tokens"]),
        )
        return Tables(traces, calls, spans=step_spans(steps, of_event[acts], calls, n))


def _answer(event: Found) -> pa.Array:
    """What the agent said: the content of a message, or the last thought of an end."""
    text = pc.coalesce(event.text("thought"), event.text("said"), event.text("content"))
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, TEXT), text)


def _asked(found: Projected) -> tuple[Asked, I64]:
    """The calls, and the event of each."""
    event = found["event"]
    action = event.text("action")
    called = event.has("name", STRING) & event.has("action", STRING)
    no_tool = is_in(action, *NO_CALLS) | is_in(event.text("source"), "user", "environment")
    rows = np.flatnonzero(called | (event.has("action", STRING) & ~no_tool))
    some = pa.array(rows)
    arguments, form = _arguments(found, called, rows)
    columns = {
        "name": pc.coalesce(event.text("name"), action).take(some),
        "arguments": arguments,
        "arguments_form": form,
        "call_id": event.text("call_id", STRING, NUMBER).take(some),
        "started_at": event.time("timestamp").take(some),
    }
    return Asked(event.parent[rows].astype(np.int64), rows, _turns(event, rows), columns), rows


def _begins(event: Found, rows: I64) -> B1:
    """bool[rows]: events that are the first of a response of the model; one without a response stands alone."""
    trace = event.parent[rows]
    response = event.text("response").take(pa.array(rows)).to_pylist()
    new = [
        k == 0 or trace[k] != trace[k - 1] or response[k] is None or response[k] != response[k - 1]
        for k in range(rows.size)
    ]
    return np.array(new, np.bool_)


def _turns(event: Found, rows: I64) -> npt.NDArray[np.int32]:
    """int32[calls]: number of the model's response in its trace; a call without one is a turn of its own."""
    count = np.cumsum(_begins(event, rows), dtype=np.int64)
    first = np.searchsorted(event.parent[rows], event.parent[rows])
    return (count - count[first]).astype(np.int32) if count.size else count.astype(np.int32)


def _steps(found: Projected, acting: I64) -> tuple[Steps, I64]:
    """The responses of the model, and int64[events]: which of them each event is part of, -1 for none.

    Args:
        found: All tables.
        acting: int64[k], events in which the agent acts or speaks.
    """
    line, event = found["line"], found["event"]
    begins = _begins(event, acting)
    of_event = np.full(event.n, -1, np.int64)
    of_event[acting] = np.cumsum(begins, dtype=np.int64) - 1
    mine = event.taken(acting[begins])
    seconds, done = _latencies(found["waited"], mine), mine.time("timestamp")
    begun = pc.subtract(done.cast(pa.int64()), pc.round(pc.multiply(seconds, 1e6)).cast(pa.int64(), safe=False))
    columns = {
        "model": pc.coalesce(mine.text("model"), line.text("model").take(pa.array(mine.parent))),
        "started_at": pc.coalesce(within("started_at", begun.cast(TIME)), done),
        "duration_ms": pc.multiply(seconds, 1000.0),
        "input_tokens": mine.integer("input_tokens"),
        "output_tokens": mine.integer("output_tokens"),
        "cost": _costs(found["paid"], mine, line.n),
    }
    return Steps(mine.parent.astype(np.int64), columns), of_event


def _latencies(waited: Found, mine: Found) -> pa.Array:
    """Seconds that the model took for each response, as the metrics of the run tell."""
    ids = zip(waited.parent.tolist(), waited.text("id").to_pylist(), strict=True)
    known = dict(zip(ids, waited.float("seconds").to_pylist(), strict=True))
    of = zip(mine.parent.tolist(), mine.text("response").to_pylist(), strict=True)
    return pa.array([None if key[1] is None else known.get(key) for key in of], pa.float64())


def _costs(paid: Found, mine: Found, n: int) -> pa.Array:
    """What each response cost, where the metrics of the run list as many costs as it has responses."""
    costs = pc.coalesce(paid.float("@"), paid.float("cost"))
    same = np.bincount(paid.parent, minlength=n) == np.bincount(mine.parent, minlength=n)
    out = np.full(mine.n, -1, np.int64)
    out[same[mine.parent]] = np.flatnonzero(same[paid.parent])
    return costs.take(pa.array(out, mask=out < 0))


def _arguments(found: Projected, called: B1, rows: I64) -> tuple[pa.Array, npt.NDArray[np.uint8]]:
    """What the model wrote for calls, what older actions say of themselves; as text, with their form."""
    event, call = found["event"], found["call"]
    own = np.full(event.n, -1, np.int64)
    ids = event.text("call_id", STRING, NUMBER).take(pa.array(call.parent))
    same = pc.fill_null(pc.equal(call.text("call_id", STRING, NUMBER), ids), False).to_numpy(zero_copy_only=False)
    mine = np.flatnonzero(same)[::-1]
    own[call.parent[mine]] = mine
    written, form = call.arguments("arguments")
    at = own[rows]
    texts = written.take(places(at)).to_pylist() if call.n else [None] * rows.size
    forms = np.where(at < 0, np.uint8(ABSENT), form[np.maximum(at, 0)] if call.n else np.uint8(ABSENT)).astype(np.uint8)
    older = np.flatnonzero(~called[rows])
    wholes = event.text("@", OBJECT).take(pa.array(rows[older])).to_pylist()
    for place, whole in zip(older.tolist(), wholes, strict=True):
        texts[place], forms[place] = _said_of_itself(whole), JSON_VALUE
    return pa.array(texts, TEXT), forms


def _said_of_itself(action: str) -> str:
    """The arguments of an older action: its ``args`` where it has some, and no remarks about them.

    Example:
        >>> _said_of_itself('{"action": "run", "args": {"command": "ls", "thought": "look"}}')
        '{"command": "ls"}'
        >>> _said_of_itself('{"action": "run", "command": "ls", "keep_prompt": true}')
        '{"command": "ls"}'
    """
    value = json.loads(action)
    inner = value.get("args")
    given = inner if isinstance(inner, dict) else value
    return json.dumps({key: each for key, each in given.items() if key not in ABOUT}, ensure_ascii=False)


def _observed(event: Found, acts: I64) -> Results:
    """Observations, keyed by the action that caused them; without ids the one right behind an action is its own."""
    rows = np.flatnonzero(event.has("observation", STRING))
    before = np.searchsorted(acts, rows) - 1
    ids = event.text("id", NUMBER).to_pylist()
    causes = event.text("cause", NUMBER).take(pa.array(rows)).to_pylist()
    trace = event.parent
    known = {(int(trace[act]), ids[act]): int(act) for act in acts.tolist() if ids[act] is not None}
    of = [
        known.get((int(trace[row]), cause), -1)
        if cause is not None
        else (int(acts[k]) if k >= 0 and acts[k] == row - 1 and ids[row] is None else -1)
        for row, cause, k in zip(rows.tolist(), causes, before.tolist(), strict=True)
    ]
    good = np.flatnonzero(np.array(of, np.int64) >= 0) if of else np.zeros(0, np.int64)
    rows, act = rows[good], np.array(of, np.int64)[good]
    call_ids = event.text("call_id", STRING, NUMBER).take(pa.array(act))
    names = pc.coalesce(event.text("name"), event.text("action")).take(pa.array(act))
    some = pa.array(rows)
    result = event.text("content", STRING, OBJECT, ARRAY).take(some)
    status = _statuses(event).take(some)

    def columns(at: I64) -> dict[str, pa.Array]:
        return {"result": result.take(pa.array(at)), "status": status.take(pa.array(at))}

    return Results(trace[rows].astype(np.int64), rows, call_ids, names, columns)


def _statuses(event: Found) -> pa.Array:
    """Whether what was observed is a success: an exit code, a flag, or an observation that is an error."""
    code = event.integer("exit_code")
    flag = pc.coalesce(event.boolean("success"), pc.equal(code, 0))
    flag = pc.if_else(pc.fill_null(pc.not_equal(code, 0), False), pa.scalar(False), flag)
    flag = pc.if_else(pa.array(is_in(event.text("observation"), "error")), pa.scalar(False), flag)
    return pc.if_else(flag, pa.scalar("ok", TEXT), pa.scalar("error", TEXT))
