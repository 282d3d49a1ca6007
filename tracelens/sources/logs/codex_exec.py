"""What ``codex exec --json`` prints: JSON lines of events of a thread, its turns and their items.

A file is a trace, named by its thread. An item that is completed is a call: a command (``shell``), a tool of a server
(``mcp__<server>__<tool>``), a change of files, or a search; one that only started has no result, and its status is not
known. Messages are what the agent said, the last one is the answer. Lists of things to do are no calls. Events have no
times, and tokens are counted for a turn, in which the model may have been called several times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import JSON_VALUE, TEXT, TRACES, numbers, table
from tracelens.projection import ANYTHING, NONE, NULL, OBJECT, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, Sniff, Tables
from tracelens.sources.chats.messages import Steps, wrapped
from tracelens.sources.gather import Pieces
from tracelens.sources.logs.sessions import Owner, SessionSource, not_complete, span_table
from tracelens.sources.talk import BESIDE, CALL, I64, SAID, THOUGHT, Stream, Told, chosen, is_in, read_stream

LINE = {
    "event": "type",
    "id": "item.id",
    "type": ("item.item_type", "item.type"),
    "status": "item.status",
    "text": "item.text",
    "command": "item.command",
    "output": "item.aggregated_output",
    "exit_code": "item.exit_code",
    "server": "item.server",
    "tool": "item.tool",
    "arguments": "item.arguments",
    "result": "item.result",
    "error": "item.error.message",
    "changes": "item.changes",
    "query": "item.query",
    "input_tokens": "usage.input_tokens",
    "output_tokens": "usage.output_tokens",
}

NAMES = {"command_execution": "shell", "file_change": "file_change", "web_search": "web_search"}
"""Types of items that are calls, and the tool of each; calls of servers name theirs."""


class CodexExec(SessionSource):
    """Events of ``codex exec --json``."""

    name = "codex-exec"
    title = "Codex events: what codex exec --json prints, JSON lines of a thread"
    sample = "codex-exec.jsonl"
    seen = False
    merges = False
    keys = Projection(Row("line"))
    projection = Projection(Row("line", capture=LINE))

    def sniff(self, head: Head) -> Sniff:
        """The start of a thread, or events of items."""
        types = {each.get("type") for each in head.records if isinstance(each, dict)}
        found = sorted(types & {"thread.started", "turn.started", "item.started", "item.completed"}, key=str)
        return Sniff(95, f"lines are of type {found[0]}") if found else Sniff(0, "no line is an event of a thread")

    def owner(self, name: str, lines: Iterable[Mapping[str, Any]]) -> tuple[Owner, str | None]:
        """The thread, else the file."""
        begun = (each for each in lines if isinstance(each.get("thread_id"), str))
        return Owner(str(next(begun, {"thread_id": name})["thread_id"])), None

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line that is no object."""
        yield ~found.top.has("@", OBJECT), "an event must be an object"

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole threads."""
        line, n = pieces.found["line"], pieces.n_traces
        trace = pieces.trace.astype(np.int64)
        stream = Stream(trace, np.arange(line.n), _kinds(line, trace), np.arange(line.n))
        talk = read_stream(stream, _told(line), n)
        nothing = Steps(np.zeros(0, np.int64))
        columns = pieces.columns() | {"final_answer": talk.final_answer, "complete": not_complete(pieces)}
        columns |= {"session_id": columns["trace_id"], "agent": pa.repeat(pa.scalar("codex", TEXT), n)}
        counted = Steps(trace, {name: line.integer(name) for name in ("input_tokens", "output_tokens")})
        columns |= {name: values for name, values in counted.per_trace(n).items() if name != "llm_calls"}
        spans = span_table(nothing, nothing.trace, talk.calls, n)
        return Tables(table(TRACES, n, **columns), talk.calls, spans=spans)


def _kinds(line: Found, trace: I64) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """uint8[lines]: completed items, and those that never were."""
    event, kind = line.text("event"), line.text("type")
    done = is_in(event, "item.completed")
    ids = numbers(line.text("id").dictionary_encode().indices, default=-1).astype(np.int64)
    item = trace << 32 | (ids + 1)
    known = (ids >= 0) & np.isin(item, item[done])
    begun = np.zeros(line.n, np.bool_)
    begun[np.unique(np.where(is_in(event, "item.started") & ~known, item, -1), return_index=True)[1]] = True
    shown = done | (begun & is_in(event, "item.started") & ~known)
    out = np.full(line.n, BESIDE, np.uint8)
    out[shown & is_in(kind, *NAMES, "mcp_tool_call")] = CALL
    out[done & is_in(kind, "agent_message", "assistant_message")] = SAID
    out[done & is_in(kind, "reasoning")] = THOUGHT
    return out


def _told(line: Found) -> Told:
    def asks(rows: I64) -> dict[str, Any]:
        mine = line.taken(rows)
        kind, status = mine.text("type"), mine.text("status")
        code = mine.integer("exit_code")
        failed = is_in(status, "failed") | numbers(pc.fill_null(pc.not_equal(code, 0), False)).astype(np.bool_)
        failed |= mine.has("error", *ANYTHING)
        good = is_in(status, "completed") | numbers(pc.fill_null(pc.equal(code, 0), False)).astype(np.bool_)
        arguments = pc.coalesce(
            mine.text("arguments", *ANYTHING),
            wrapped("command", mine.json("command")),
            wrapped("changes", mine.json("changes")),
            wrapped("query", mine.json("query")),
            pa.scalar("{}", TEXT),
        )
        form = np.where(mine.has("arguments", NONE, NULL), np.uint8(JSON_VALUE), mine.arguments("arguments")[1])
        name = _names(mine, kind)
        return {
            "name": name,
            "malformed": pc.is_null(name),
            "arguments": arguments,
            "arguments_form": form,
            "call_id": mine.text("id"),
            "status": pc.coalesce(
                chosen(is_in(status, "declined"), "denied"), chosen(failed, "error"), chosen(good, "ok")
            ),
            "result": pc.coalesce(mine.text("output"), mine.text("result", *ANYTHING)),
            "error": mine.text("error"),
        }

    def answers(units: I64) -> dict[str, Any]:
        nothing = pa.nulls(units.size, TEXT)
        return {"call_id": nothing, "name": nothing, "result": nothing}

    return Told(asks, answers, lambda units: line.taken(units).text("text"))


def _names(mine: Found, kind: pa.Array) -> pa.Array:
    of_server = pc.binary_join_element_wise(
        pa.scalar("mcp", TEXT), mine.text("server"), mine.text("tool"), pa.scalar("__", TEXT)
    )
    own = pa.array(list(NAMES.values()), TEXT).take(pc.index_in(kind, pa.array(list(NAMES), TEXT)))
    return pc.coalesce(own, of_server, mine.text("tool"))
