"""Pi session files: JSON lines that begin with the session, then messages with ``toolCall`` blocks.

A file is a trace; its id is that of the session. A result is a message of role ``toolResult`` that says whether it is an
error. Tokens read count those of the cache. Sessions of other harnesses that are written in the same form
(``{"type": "session", "harness": …}``) are read alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, TRACES, table
from tracelens.projection import FALSE, NUMBER, OBJECT, STRING, TRUE, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, Sniff, Tables
from tracelens.sources.chats.messages import Steps, epoch, firsts, total
from tracelens.sources.gather import Pieces
from tracelens.sources.logs.sessions import (
    Owner,
    SessionSource,
    ended_at,
    not_complete,
    span_table,
    tags,
    waited,
    with_columns,
)
from tracelens.sources.talk import (
    BESIDE,
    CALL,
    HEARD,
    I64,
    RESULT,
    SAID,
    THOUGHT,
    Mask,
    Stream,
    Told,
    chosen,
    contents,
    is_in,
    read_stream,
    stream_of,
)

LINE = {
    "type": "type",
    "at": "timestamp",
    "cwd": "cwd",
    "harness": "harness",
    "role": "message.role",
    "content": "message.content",
    "call_id": "message.toolCallId",
    "name": "message.toolName",
    "is_error": "message.isError",
    "sent": "message.timestamp",
    "model": "message.model",
    "input": "message.usage.input",
    "cache_read": "message.usage.cacheRead",
    "cache_write": "message.usage.cacheWrite",
    "output_tokens": "message.usage.output",
    "cost": "message.usage.cost.total",
}
BLOCK = {"type": "type", "id": "id", "name": "name", "arguments": "arguments", "text": "text"}


class Pi(SessionSource):
    """Pi sessions."""

    name = "pi"
    title = "Pi sessions: JSON lines of a session and its messages, with toolCall blocks"
    sample = "pi.jsonl"
    keys = Projection(Row("line"))
    projection = Projection(Row("line", capture=LINE, rows=[Row("block", "message.content[*]", BLOCK)]))

    def sniff(self, head: Head) -> Sniff:
        """A line of a session with a folder or a harness, and messages with roles."""
        lines = [each for each in head.records if isinstance(each, dict)]
        begun = any(each.get("type") == "session" and each.keys() & {"cwd", "harness"} for each in lines)
        spoken = any(each.get("type") == "message" and isinstance(each.get("message"), dict) for each in lines)
        if begun:
            return Sniff(95, "a line of type session has a cwd or a harness")
        return Sniff(70 if spoken else 0, f"{'lines' if spoken else 'no lines'} of type message have a message")

    def owner(self, name: str, lines: Iterable[Mapping[str, Any]]) -> tuple[Owner, str | None]:
        """The id of the session, else the file."""
        begun = (each for each in lines if each.get("type") == "session" and isinstance(each.get("id"), str))
        return Owner(str(next(begun, {"id": name})["id"])), None

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line that is no object."""
        yield ~found.top.has("@", OBJECT), "a line of a session must be an object"

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole sessions."""
        line, block, n = pieces.found["line"], pieces.found["block"], pieces.n_traces
        trace = pieces.trace.astype(np.int64)
        role = line.text("role")
        speaks, answers = is_in(role, "assistant"), is_in(role, "toolResult", "tool")
        plain = np.full(line.n, BESIDE, np.uint8)
        written = line.has("content", STRING)
        plain[written] = np.where(speaks[written], SAID, HEARD)
        plain[answers] = RESULT
        stream = stream_of(block, _kinds(block, speaks, answers), plain, trace)
        talk = read_stream(stream, _told(line, block, stream), n)
        started, ended = ended_at(talk, stream.message, line.time("at"))
        calls = with_columns(talk.calls, started_at=started, duration_ms=waited(started, ended))
        steps, turn = _steps(line, stream, speaks, trace)
        columns = pieces.columns() | steps.per_trace(n) | {"final_answer": talk.final_answer}
        columns |= {"started_at": firsts(trace, line.time("at"), n), "complete": not_complete(pieces)}
        columns["tags"] = tags(**{name: firsts(trace, line.json(name), n) for name in ("cwd", "harness")})
        columns["session_id"] = columns["trace_id"]
        spans = span_table(steps, turn, calls, n)
        return Tables(table(TRACES, n, **columns), calls, spans=spans)


def _kinds(block: Found, speaks: Mask, answers: Mask) -> npt.NDArray[np.uint8]:
    """uint8[blocks]: the kind of unit that each block is; those of a result are part of it."""
    mine, kind, text = speaks[block.parent], block.text("type"), block.cells("text")
    out = np.where(mine, THOUGHT, HEARD).astype(np.uint8)
    out[mine & is_in(kind, "text") & (text.end > text.start)] = SAID
    out[mine & is_in(kind, "toolCall")] = CALL
    out[answers[block.parent]] = BESIDE
    return out


def _told(line: Found, block: Found, stream: Stream) -> Told:
    def asks(rows: I64) -> dict[str, Any]:
        mine = block.taken(rows)
        arguments, form = mine.arguments("arguments")
        return {
            "name": mine.text("name"),
            "malformed": ~mine.has("name", STRING),
            "arguments": arguments,
            "arguments_form": form,
            "call_id": mine.text("id", STRING, NUMBER),
        }

    def answers(units: I64) -> dict[str, Any]:
        rows = stream.message[units]
        mine = line.taken(rows)
        status = pc.coalesce(chosen(mine.has("is_error", TRUE), "error"), chosen(mine.has("is_error", FALSE), "ok"))
        return {
            "call_id": mine.text("call_id", STRING, NUMBER),
            "name": mine.text("name"),
            "result": contents(line, block, rows),
            "status": status,
        }

    def says(units: I64) -> pa.Array:
        rows = stream.row[units]
        texts = block.taken(np.maximum(rows, 0)).text("text") if block.n else pa.nulls(rows.size, TEXT)
        return pc.if_else(pa.array(rows < 0), line.taken(stream.message[units]).text("content"), texts)

    return Told(asks, answers, says)


def _steps(line: Found, stream: Stream, speaks: Mask, trace: I64) -> tuple[Steps, I64]:
    """The messages of the model with what they used, and the turn of each; one without any block has none."""
    of_line = np.full(line.n, -1, np.int64)
    of_line[stream.message] = stream.turns()[1]
    at = np.flatnonzero(speaks & (of_line >= 0))
    mine = line.taken(at)
    read = total(*(mine.integer(name) for name in ("input", "cache_read", "cache_write")))
    sent = epoch(mine.float("sent"), 1000)
    columns = {"model": mine.text("model"), "input_tokens": read, "started_at": pc.coalesce(sent, mine.time("at"))}
    columns |= {"output_tokens": mine.integer("output_tokens"), "cost": mine.float("cost")}
    return Steps(trace[at], columns), of_line[at]
