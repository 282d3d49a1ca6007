"""SWE-agent trajectories (``.traj``) and those of mini-swe-agent.

Runs with function calling keep their calls in ``history``; demonstrations there were not made by the run. Older runs
know actions only, lines of a command language: the first word names the tool, the whole text is its input, which is
compared as one text. mini-swe-agent runs shell commands: calls of ``bash`` with the ``command``, whether it asked for
them as calls, noted them as actions, or wrote them into the text of its message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import FREE_TEXT, JSON_VALUE, TEXT, TRACES, numbers, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ARRAY, NUMBER, OBJECT, STRING, TRUE, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables, some_inside
from tracelens.sources.chats.messages import Steps
from tracelens.sources.evaluations.alike import (
    column_tags,
    encode,
    file_stem,
    first_of,
    origin,
    put_together,
    seconds,
    tags_of,
    trace_names,
)
from tracelens.sources.evaluations.steps import at_steps, step_spans
from tracelens.sources.talk import Asked, Results, call_table, is_in

I64 = npt.NDArray[np.int64]
B1 = npt.NDArray[np.bool_]

CALL = Row("call", "tool_calls[*]", {"call_id": "id", "name": "function.name", "arguments": "function.arguments"})

COMMAND = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)\n?```", re.DOTALL)
RETURNED = re.compile(r"<returncode>\s*(-?\d+)\s*</returncode>")
WRITTEN = "the command stands in the text of the message"
"""The rule by which a call is read from text."""


class SweAgent(JsonSource):
    """Trajectories of SWE-agent."""

    name = "swe-agent"
    title = "SWE-agent trajectories: calls of the history, or the actions of older runs as free text"
    seen = True
    sample = "swe-agent.traj"
    projection = Projection(
        Row(
            "line",
            capture={
                "environment": "environment",
                "instance": "replay_config.problem_statement.id",
                "exit_status": "info.exit_status",
                "submission": "info.submission",
                "trajectory": "trajectory",
                "cost": "info.model_stats.instance_cost",
                "input_tokens": "info.model_stats.tokens_sent",
                "output_tokens": "info.model_stats.tokens_received",
                "llm_calls": "info.model_stats.api_calls",
            },
            rows=[
                Row(
                    "step",
                    "trajectory[*]",
                    {"action": "action", "observation": "observation", "seconds": "execution_time"},
                ),
                Row(
                    "message",
                    "history[*]",
                    {"role": "role", "content": "content", "is_demo": "is_demo", "answers": "tool_call_ids"},
                    [CALL, Row("answer", "tool_call_ids[*]"), Row("part", "content[*]", {"text": "text"})],
                ),
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``trajectory``, ``history`` and ``info``."""
        keys = {key for record in head.records if isinstance(record, dict) for key in record}
        if {"trajectory", "history"} <= keys:
            return Sniff(97, "there are trajectory and history")
        steps = [record.get("trajectory") for record in head.records if isinstance(record, dict)]
        if any(isinstance(each, list) and each and isinstance(each[0], dict) and "action" in each[0] for each in steps):
            return Sniff(94, "there is a trajectory of actions")
        return Sniff(0, "there is no trajectory with history")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """What has no trajectory."""
        line, step = found["line"], found["step"]
        yield ~line.has("trajectory", ARRAY), "there is no list trajectory"
        yield some_inside(found, "step", ~step.has("@", OBJECT)), "a step is no object"

    def tables(self, records: Records) -> Tables:
        """The tables of the good runs."""
        found, line, message = records.found, records.found["line"], records.found["message"]
        n = line.n
        own = ~message.has("is_demo", TRUE)
        by_agent = is_in(message.text("role"), "assistant") & own
        call = found["call"]
        asks = by_agent[call.parent]
        calling = np.zeros(n, np.bool_)
        calling[message.parent[call.parent[asks]]] = True
        modern = call_table(_asked(message, call, asks, by_agent), _answers(found, own), n)[0]
        calls = pa.concat_tables([modern, _actions(found["step"], calling, n)]).sort_by("trace")
        stem = pa.repeat(pa.scalar(file_stem(records.block.source), TEXT), n)
        name = pc.coalesce(line.text("instance"), stem)
        traces = table(
            TRACES,
            n,
            **origin(records),
            **trace_names(records, name if n == 1 else line.text("instance")),
            case_id=name,
            tags=tags_of(n, *column_tags(line, "exit_status", "environment")),
            has_calls=np.ones(n, np.bool_),
            final_answer=line.text("submission"),
            llm_calls=_positive(line.integer("llm_calls")),
            input_tokens=_positive(line.integer("input_tokens")),
            output_tokens=_positive(line.integer("output_tokens")),
            cost=_positive(line.float("cost")),
        )
        calls = _with_times(calls, found["step"], n)
        return Tables(traces, calls, spans=step_spans(*_steps(found, by_agent, calls, calling), calls, n))


def _steps(found: Projected, by_agent: B1, calls: pa.Table, calling: B1) -> tuple[Steps, I64]:
    """The calls of the model, and which of them asked for each call: messages of the run, or its older steps."""
    message, step = found["message"], found["step"]
    talks = calling | (np.bincount(step.parent, minlength=calling.size) == 0)
    speaking = np.flatnonzero(by_agent & talks[message.parent])
    acting = np.flatnonzero(~talks[step.parent])
    places = [rows.parent[at].astype(np.int64) for rows, at in ((message, speaking), (step, acting))]
    trace, _ = put_together((places[0], {}), (places[1], {}))
    of_trace, turn = numbers(calls["trace"]).astype(np.int64), numbers(calls["turn"], default=-1).astype(np.int64)
    first = group_offsets(trace, calling.size)[of_trace]
    return Steps(trace), np.where(turn >= 0, first + turn, -1)


def _positive(values: pa.Array) -> pa.Array:
    """Counts; zero and below mean that nothing was counted."""
    return pc.if_else(pc.greater(values, 0), values, None)


def _turns(message: Found, by_agent: B1) -> npt.NDArray[np.int32]:
    """int32[messages]: number of the agent's message in its trace."""
    turn = np.full(message.n, -1, np.int32)
    n = int(message.parent.max(initial=-1)) + 1
    turn[by_agent] = positions_in(group_offsets(message.parent[by_agent], n))
    return turn


def _asked(message: Found, call: Found, asks: B1, by_agent: B1) -> Asked:
    keep = pa.array(asks)
    at = call.parent[asks].astype(np.int64)
    arguments, form = call.arguments("arguments")
    columns = {
        "name": call.text("name").filter(keep),
        "malformed": ~call.has("name", STRING)[asks],
        "arguments": arguments.filter(keep),
        "arguments_form": form[asks],
        "call_id": call.text("call_id", STRING, NUMBER).filter(keep),
    }
    return Asked(message.parent[at].astype(np.int64), at, _turns(message, by_agent)[at], columns)


def _answers(found: Projected, own: B1) -> Results:
    """Observations; one that names several calls answers each of them."""
    message, answer, part = found["message"], found["answer"], found["part"]
    content = message.text("content", STRING)
    some = part.has("text", STRING)
    if some.any():
        offsets = pa.array(group_offsets(part.parent[some], message.n))
        lists = pa.LargeListArray.from_arrays(offsets, part.text("text").filter(pa.array(some)))
        content = pc.coalesce(content, pc.binary_join(lists, pa.scalar("", TEXT)))
    rows = np.flatnonzero(own[answer.parent] & is_in(message.text("role"), "tool")[answer.parent])
    at = answer.parent[rows].astype(np.int64)

    def columns(chosen: I64) -> dict[str, pa.Array]:
        return {"result": content.take(pa.array(at[chosen]))}

    ids = answer.text("@", STRING, NUMBER).take(pa.array(rows))
    return Results(message.parent[at].astype(np.int64), at, ids, pa.nulls(rows.size, TEXT), columns)


def _actions(step: Found, calling: B1, n: int) -> pa.Table:
    """The actions of runs without calls, as free text."""
    action = pc.utf8_trim_whitespace(step.text("action"))
    there = pc.fill_null(pc.greater(pc.binary_length(action), 0), False).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(there & ~calling[step.parent])
    texts = action.take(pa.array(rows))
    first = pc.struct_field(pc.extract_regex(texts, r"^(?P<word>\S+)"), "word")
    trace = step.parent[rows].astype(np.int64)
    columns = {
        "name": first.cast(TEXT),
        "arguments": texts,
        "arguments_form": np.full(rows.size, FREE_TEXT, np.uint8),
        "call_id": pa.nulls(rows.size, TEXT),
        "kind": pa.repeat(pa.scalar("custom", TEXT), rows.size),
        "result": step.text("observation").take(pa.array(rows)),
    }
    at = np.arange(rows.size)
    turn = positions_in(group_offsets(step.parent, n))[rows]
    nobody = Results(at[:0], at[:0], pa.nulls(0, TEXT), pa.nulls(0, TEXT), lambda _: {})
    return call_table(Asked(trace, at, turn, columns), nobody, n)[0]


def _with_times(calls: pa.Table, step: Found, n: int) -> pa.Table:
    """The calls with the seconds of their steps, where a trace has as many calls as steps with an action."""
    acted = np.flatnonzero(step.has("action", STRING))
    of_steps = np.bincount(step.parent[acted], minlength=n)
    trace = calls["trace"].to_numpy().astype(np.int64)
    same = np.bincount(trace, minlength=n) == of_steps
    first = group_offsets(step.parent[acted], n)
    at = np.where(same[trace], first[trace] + calls["call_index"].to_numpy(), 0) if acted.size else trace
    seconds = pc.multiply(step.float("seconds"), 1000.0).take(pa.array(acted))
    lasted = seconds.take(pa.array(at, mask=~same[trace]))
    place = calls.schema.get_field_index("duration_ms")
    return calls.set_column(place, calls.schema.field(place), lasted)


class MiniSweAgent(JsonSource):
    """Trajectories of mini-swe-agent."""

    name = "mini-swe-agent"
    title = "mini-swe-agent trajectories: shell commands as calls of bash"
    seen = True
    sample = "mini-swe-agent.traj.json"
    projection = Projection(
        Row(
            "line",
            capture={
                "instance": "instance_id",
                "exit_status": "info.exit_status",
                "submission": "info.submission",
                "cost": "info.model_stats.instance_cost",
                "llm_calls": "info.model_stats.api_calls",
                "model": "info.config.model.model_name",
                "messages": "messages",
            },
            rows=[
                Row(
                    "message",
                    ("messages[*]", "[*]"),
                    {
                        "role": "role",
                        "content": "content",
                        "tool_call_id": "tool_call_id",
                        "returned": "extra.returncode",
                        "output": "extra.raw_output",
                        "at": ("timestamp", "extra.timestamp"),
                        "model": "extra.response.model",
                        "input_tokens": "extra.response.usage.prompt_tokens",
                        "output_tokens": "extra.response.usage.completion_tokens",
                        "cost": ("extra.response.cost", "extra.cost"),
                    },
                    [CALL, Row("action", "extra.actions[*]", {"command": "command", "call_id": "tool_call_id"})],
                )
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``trajectory_format``, or a list of messages whose commands stand in their texts."""
        for record in head.records:
            if isinstance(record, dict) and str(record.get("trajectory_format", "")).startswith("mini-swe-agent"):
                return Sniff(98, "there is trajectory_format mini-swe-agent")
        lists = [record.get("messages") if isinstance(record, dict) else record for record in head.records]
        if any(self.is_record(each) for each in [list(head.records), *lists] if isinstance(each, list)):
            return Sniff(95, "messages hold commands of mini-swe-agent")
        return Sniff(0, "there is no trajectory_format, and no message with a command")

    @staticmethod
    def is_record(elements: list[Any]) -> bool:
        """Whether a list is one conversation in which commands are written into messages, and answered."""
        messages = [each for each in elements if isinstance(each, dict) and isinstance(each.get("content"), str)]
        asked = any(each.get("role") == "assistant" and COMMAND.search(each["content"]) for each in messages)
        told = any(RETURNED.search(each["content"]) or "mswea_bash_command" in each["content"] for each in messages)
        return asked and told and not any("tool_calls" in each for each in messages)

    def faults(self, found: Projected) -> Iterator[Fault]:
        """What has no messages."""
        line, message = found["line"], found["message"]
        yield ~line.has("@", ARRAY) & ~line.has("messages", ARRAY), "there are no messages"
        yield some_inside(found, "message", ~message.has("role", STRING)), "a message has no role"

    def tables(self, records: Records) -> Tables:
        """The tables of the good runs."""
        found, line, message = records.found, records.found["line"], records.found["message"]
        n = line.n
        role, content = message.text("role"), message.text("content", STRING)
        by_agent = is_in(role, "assistant")
        asked = _commands(found, by_agent, content)
        speaking = np.flatnonzero(by_agent)
        steps = _messages(line, message, speaking)
        sums = steps.per_trace(n)
        calls, _ = call_table(asked, _outputs(message, role, content, asked), n)
        stem = pa.repeat(pa.scalar(file_stem(records.block.source), TEXT), n)
        name = pc.coalesce(line.text("instance"), stem)
        answer = pc.if_else(pa.array(by_agent & ~_asks(message.n, asked)), content, pa.scalar(None, TEXT))
        traces = table(
            TRACES,
            n,
            **origin(records),
            **trace_names(records, name if n == 1 else line.text("instance")),
            case_id=name,
            tags=tags_of(n, *column_tags(line, "exit_status")),
            has_calls=np.ones(n, np.bool_),
            final_answer=pc.coalesce(line.text("submission"), first_of(answer, message.parent, n, last=True)),
            llm_calls=pc.coalesce(_positive(line.integer("llm_calls")), sums["llm_calls"]),
            input_tokens=sums["input_tokens"],
            output_tokens=sums["output_tokens"],
            cost=pc.coalesce(_positive(line.float("cost")), sums["cost"]),
        )
        return Tables(traces, calls, spans=step_spans(steps, at_steps(speaking, asked.at), calls, n))


def _messages(line: Found, message: Found, speaking: I64) -> Steps:
    """The agent's messages as calls of its model."""
    mine = message.taken(speaking)
    columns = {
        "model": pc.coalesce(mine.text("model"), line.text("model").take(pa.array(mine.parent))),
        "started_at": pc.coalesce(seconds(mine.float("at")), mine.time("at")),
        "input_tokens": mine.integer("input_tokens"),
        "output_tokens": mine.integer("output_tokens"),
        "cost": mine.float("cost"),
    }
    return Steps(mine.parent.astype(np.int64), columns)


def _asks(n: int, asked: Asked) -> B1:
    out = np.zeros(n, np.bool_)
    out[asked.at] = True
    return out


def _commands(found: Projected, by_agent: B1, content: pa.Array) -> Asked:
    """The commands of each message: its calls, else its actions, else what stands in its text."""
    message, call, action = found["message"], found["call"], found["action"]
    asks = by_agent[call.parent]
    taken = np.zeros(message.n, np.bool_)
    taken[call.parent] = True
    acts = by_agent[action.parent] & ~taken[action.parent] & action.has("command", STRING)
    taken[action.parent] = True
    arguments, form = call.arguments("arguments")
    keep = pa.array(asks)
    parts = [
        (
            call.parent[asks].astype(np.int64),
            _columns(
                call.text("name").filter(keep),
                arguments.filter(keep),
                form[asks],
                call.text("call_id", STRING, NUMBER).filter(keep),
                None,
            ),
        ),
        _bash(action.parent[acts], action.text("command").filter(pa.array(acts)).to_pylist(), None),
        _bash(*_in_texts(by_agent & ~taken, content), WRITTEN),
    ]
    at, columns = put_together(*parts)
    trace = message.parent[at].astype(np.int64)
    return Asked(trace, at, _turns(message, by_agent)[at], columns)


def _columns(name: Any, arguments: Any, form: Any, call_id: Any, repair: str | None) -> dict[str, Any]:
    malformed = pc.is_null(name)
    n = len(arguments)
    return {
        "name": name,
        "malformed": malformed,
        "arguments": arguments,
        "arguments_form": form,
        "call_id": call_id,
        "repair": pa.repeat(pa.scalar(repair, TEXT), n),
    }


def _bash(at: Any, commands: list[str], repair: str | None) -> tuple[I64, dict[str, Any]]:
    n = len(commands)
    texts = pa.array([encode({"command": command}) for command in commands], TEXT)
    name = pa.repeat(pa.scalar("bash", TEXT), n)
    form = np.full(n, JSON_VALUE, np.uint8)
    return np.asarray(at, np.int64), _columns(name, texts, form, pa.nulls(n, TEXT), repair)


def _in_texts(silent: B1, content: pa.Array) -> tuple[list[int], list[str]]:
    """Messages and commands: what stands between fences."""
    rows, commands = [], []
    for row in np.flatnonzero(silent).tolist():
        for command in COMMAND.findall(content[row].as_py() or ""):
            rows.append(row)
            commands.append(command)
    return rows, commands


def _outputs(message: Found, role: pa.Array, content: pa.Array, asked: Asked) -> Results:
    """What commands gave: the messages of tools, and the users' after a message with a command."""
    rows = np.flatnonzero(is_in(role, "tool", "user"))
    before = np.searchsorted(asked.at, rows) - 1
    follows = (before >= 0) & (asked.trace.size > 0)
    if asked.at.size:
        follows &= asked.at[np.maximum(before, 0)] == rows - 1
        follows |= is_in(role, "tool")[rows]
    rows = rows[follows]
    texts = content.take(pa.array(rows))
    codes = message.integer("returned").take(pa.array(rows))
    written = pc.struct_field(pc.extract_regex(texts, r"<returncode>\s*(?P<code>-?\d{1,9})\s*</returncode>"), "code")
    codes = pc.coalesce(codes, written.cast(pa.int64()))
    status = pc.if_else(pc.equal(codes, 0), pa.scalar("ok", TEXT), pa.scalar("error", TEXT))
    result = pc.coalesce(message.text("output").take(pa.array(rows)), texts)

    def columns(at: I64) -> dict[str, pa.Array]:
        return {"result": result.take(pa.array(at)), "status": status.take(pa.array(at))}

    ids = message.text("tool_call_id", STRING, NUMBER).take(pa.array(rows))
    names = pa.repeat(pa.scalar("bash", TEXT), rows.size)
    return Results(message.parent[rows].astype(np.int64), rows, ids, names, columns)
