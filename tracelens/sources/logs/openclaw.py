"""OpenClaw telemetry: JSON lines of events, of which ``tool.start`` and ``tool.end`` make a call.

A file is a trace. Events have no ids and no times, so equal lines are not one, and an end belongs to the first start of
the same session and tool that has none. Calls of a session whose key names a sub-agent are at depth 1. Calls that begin
before another one of their session has ended are parallel. Results are not recorded; the messages that ``agent.start``
repeats are history and are not read. The final answer is the last message that went out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, TRACES, numbers, table
from tracelens.projection import ANYTHING, FALSE, OBJECT, STRING, TRUE, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, Sniff, Tables
from tracelens.sources.chats.messages import Steps, firsts
from tracelens.sources.gather import Pieces
from tracelens.sources.logs.sessions import Owner, SessionSource, in_order, not_complete, span_table, with_columns
from tracelens.sources.talk import BESIDE, CALL, HEARD, I64, RESULT, Stream, Told, chosen, is_in, read_stream

LINE = {
    "type": "type",
    "name": "toolName",
    "arguments": "params",
    "session": "sessionKey",
    "agent": "agentId",
    "duration": "durationMs",
    "success": "success",
    "error": "error",
    "result": "result",
    "content": "content",
}


class OpenClaw(SessionSource):
    """OpenClaw telemetry."""

    name = "openclaw"
    title = "OpenClaw telemetry: JSON lines of tool.start and tool.end events"
    sample = "openclaw.jsonl"
    merges = False
    keys = Projection(Row("line"))
    projection = Projection(Row("line", capture=LINE))

    def sniff(self, head: Head) -> Sniff:
        """Events of tools or agents with a session's key."""
        lines = [each for each in head.records if isinstance(each, dict)]
        types = {each.get("type") for each in lines if "sessionKey" in each}
        found = sorted(str(each) for each in types & {"tool.start", "tool.end", "agent.start", "agent.end"})
        return (
            Sniff(95, f"lines are of type {found[0]} with a sessionKey")
            if found
            else Sniff(0, "no line is an event of a tool")
        )

    def owner(self, name: str, lines: Iterable[Mapping[str, Any]]) -> tuple[Owner, str | None]:  # noqa: ARG002
        """The file."""
        return Owner(name), None

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line that is no object."""
        yield ~found.top.has("@", OBJECT), "an event must be an object"

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole files."""
        line, n = pieces.found["line"], pieces.n_traces
        trace, kind = pieces.trace.astype(np.int64), line.text("type")
        kinds = np.full(line.n, BESIDE, np.uint8)
        for code, name in ((CALL, "tool.start"), (RESULT, "tool.end"), (HEARD, "agent.start")):
            kinds[is_in(kind, name)] = code
        stream = _by_session(line, trace, kinds)
        talk = read_stream(stream, _told(line, stream), n)
        calls = _in_order(talk.calls, stream.row[talk.asked], line)
        out = is_in(kind, "message.out")
        sent = pc.if_else(
            pa.array(out[::-1]), line.text("content").take(pa.array(np.arange(line.n)[::-1])), pa.scalar(None, TEXT)
        )
        last = firsts(trace[::-1], sent, n)
        columns = pieces.columns() | {"final_answer": last, "complete": not_complete(pieces)}
        columns["id_given"] = np.zeros(n, np.bool_)
        spans = span_table(Steps(np.zeros(0, np.int64)), np.zeros(0, np.int64), calls, n)
        return Tables(table(TRACES, n, **columns), calls, spans=spans)


def _by_session(line: Found, trace: I64, kinds: np.ndarray[Any, np.dtype[np.uint8]]) -> Stream:
    """The events of each session behind one another: sessions of sub-agents run at the same time."""
    session = numbers(line.text("session").dictionary_encode().indices, default=-1)
    order = np.lexsort((np.arange(line.n), session, trace))
    return Stream(trace[order], session[order].astype(np.int64), kinds[order], order.astype(np.int64))


def _told(line: Found, stream: Stream) -> Told:
    def key(mine: Found) -> pa.Array:
        return pc.binary_join_element_wise(
            pc.fill_null(mine.text("session"), ""), pc.fill_null(mine.text("name"), ""), pa.scalar("\x1f", TEXT)
        )

    def asks(rows: I64) -> dict[str, Any]:
        mine = line.taken(rows)
        arguments, form = mine.arguments("arguments")
        below = np.asarray(pc.fill_null(pc.match_substring(mine.text("session"), ":subagent:"), False), np.bool_)
        tail = pc.struct_field(pc.extract_regex(mine.text("session"), r":(?P<tail>[^:]+)$"), "tail").cast(TEXT)
        return {
            "name": mine.text("name"),
            "malformed": ~mine.has("name", STRING),
            "arguments": arguments,
            "arguments_form": form,
            "call_id": key(mine),
            "agent": pc.if_else(pa.array(below), tail, mine.text("agent")),
            "depth": below.astype(np.int32),
        }

    def answers(units: I64) -> dict[str, Any]:
        mine = line.taken(stream.row[units])
        status = pc.coalesce(chosen(mine.has("success", TRUE), "ok"), chosen(mine.has("success", FALSE), "error"))
        return {
            "call_id": key(mine),
            "name": pa.nulls(units.size, TEXT),
            "result": mine.text("result", *ANYTHING),
            "status": status,
            "error": mine.text("error", *ANYTHING),
            "duration_ms": mine.float("duration"),
        }

    return Told(asks, answers, lambda units: line.taken(stream.row[units]).text("content"))


def _in_order(calls: pa.Table, rows: I64, line: Found) -> pa.Table:
    """The calls in the order of their events, turns numbered anew over all sessions; the format has no ids."""
    session = numbers(line.taken(rows).text("session").dictionary_encode().indices, default=-1)
    calls = calls.append_column("session", pa.array(session))
    ordered = in_order(calls, rows)
    trace = numbers(ordered["trace"]).astype(np.int64)
    key = trace << 40 | (numbers(ordered["session"]).astype(np.int64) + 1) << 20 | numbers(ordered["turn"], default=0)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    turn = rank[which]
    turn -= turn[np.searchsorted(trace, trace)]
    ordered = ordered.drop_columns("session")
    return with_columns(ordered, turn=pa.array(turn.astype(np.int32)), call_id=pa.nulls(trace.size, TEXT))
