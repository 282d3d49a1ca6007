"""OpenAI chat messages: a conversation a record, as ``{"messages": […]}`` or as a bare list.

Calls are those that assistant messages ask for (``tool_calls``, or the older ``function_call``); their results are the
later messages of role ``tool`` or ``function``. A call's turn is the number of its assistant message. The format has
no error flag, so the status of a call is unknown unless a result message says ``is_error`` or ``status``; calls
without an id are joined to results by name. The final answer is the last assistant text that asks for no call.
Beside ``messages`` a record may have the fields of the native format; ``id`` and ``metadata`` stand in for ``trace_id``
and ``tags``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import FREE_TEXT, TEXT, TRACES, one_chunk, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import (
    ANYTHING,
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
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables, some_inside
from tracelens.sources.envelope import (
    ENVELOPE,
    REFERENCES,
    envelope_faults,
    expected_table,
    trace_columns,
)
from tracelens.sources.oddities import Oddities
from tracelens.sources.talk import I64, Asked, Mask, Results, call_table, contents, is_in, last_said

KNOWN_STATUSES = ("ok", "success", "error")
"""What a result message may say of its call: that it went well, in two ways, or that it did not."""


def messages_at(*paths: str) -> Row:
    """The tables of a conversation whose messages stand at those paths."""
    return Row(
        "message",
        paths,
        capture={
            "role": "role",
            "content": "content",
            "tool_call_id": "tool_call_id",
            "name": "name",
            "tool_calls": "tool_calls",
            "is_error": "is_error",
            "status": "status",
        },
        rows=[
            Row(
                "call",
                "tool_calls[*]",
                capture={
                    "call_id": "id",
                    "name": "function.name",
                    "arguments": "function.arguments",
                    "custom_name": "custom.name",
                    "custom_input": "custom.input",
                },
            ),
            Row("legacy", "function_call", capture={"name": "name", "arguments": "arguments"}),
            Row("part", "content[*]", capture={"text": "text"}),
        ],
    )


class Chat(JsonSource):
    """OpenAI chat conversations."""

    name = "chat"
    title = "OpenAI chat messages: a conversation a line, with tool_calls"
    sample = "chat.jsonl"
    projection = Projection(
        Row(
            "line",
            capture={**ENVELOPE, "id": "id", "metadata": "metadata", "messages": "messages"},
            rows=[messages_at("messages[*]", "[*]"), *REFERENCES],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Records with ``messages``, or lists of messages; a message has a ``role`` and ``content`` or ``tool_calls``."""
        if head.layout == "array" and self.is_record(head.records):
            return Sniff(90, "the file is one list of messages")
        lists = [record.get("messages") if isinstance(record, dict) else record for record in head.records]
        talks = [messages for messages in lists if isinstance(messages, list)]
        if not talks:
            return Sniff(0, "records have no messages")
        if any(self.is_record(messages) for messages in talks):
            return Sniff(90, "records have messages with roles")
        return Sniff(10, "messages have no role with content or tool_calls")

    @staticmethod
    def is_record(elements: Sequence[Any]) -> bool:
        """Whether a list is one conversation: its elements are messages."""
        known = [item for item in elements if isinstance(item, dict) and isinstance(item.get("role"), str)]
        blocks = any(isinstance(item.get("content"), list) and _has_tool_blocks(item["content"]) for item in known)
        written = any("content" in item or "tool_calls" in item for item in known)
        return len(known) == len(elements) > 0 and written and not blocks

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A record without a list of messages, or with shared fields of a wrong type."""
        line = found["line"]
        yield ~line.has("@", OBJECT, ARRAY), "a conversation must be an object with messages, or a list of messages"
        yield line.has("@", OBJECT) & ~line.has("messages", ARRAY), "messages is no array"
        yield from message_faults(found)
        yield from envelope_faults(found, line)

    def tables(self, records: Records) -> Tables:
        """The tables of the good records."""
        line = records.found["line"]
        talk = conversation(records.found)
        odd = Oddities(records)
        columns = trace_columns(records, line, odd, stand_in="id")
        _note_statuses(records.found["message"], odd)
        columns["tags"] = pc.coalesce(columns["tags"], line.text("metadata", OBJECT))
        columns["has_calls"] = np.ones(line.n, np.bool_)
        columns["final_answer"] = pc.coalesce(columns["final_answer"], talk.final_answer)
        columns["llm_calls"] = pc.coalesce(columns["llm_calls"], talk.llm_calls)
        return Tables(table(TRACES, line.n, **columns), talk.calls, expected_table(records.found), remarks=odd.found)


def _has_tool_blocks(content: Sequence[Any]) -> bool:
    """Whether content parts hold calls themselves, as other providers' messages do."""
    kinds = {part.get("type") for part in content if isinstance(part, dict)}
    return bool(kinds & {"tool_use", "tool_result", "tool_call", "tool-call"})


def message_faults(found: Projected) -> Iterator[Fault]:
    """What makes a conversation unreadable."""
    message = found["message"]
    yield some_inside(found, "message", ~message.has("@", OBJECT)), "a message is no object"
    yield some_inside(found, "message", ~message.has("role", STRING)), "a message has no role"
    yield some_inside(found, "message", ~message.has("tool_calls", NONE, NULL, ARRAY)), "tool_calls is no array"


@dataclass(frozen=True, slots=True)
class Conversation:
    """What conversations hold, by trace.

    Attributes:
        calls: See `tracelens.columns.CALLS`.
        final_answer: str?[traces].
        llm_calls: int64[traces], the assistant messages.
    """

    calls: pa.Table
    final_answer: pa.Array
    llm_calls: pa.Array


def conversation(found: Projected) -> Conversation:
    """Read the messages of projected conversations."""
    message, n = found["message"], found.top.n
    role = message.text("role")
    is_assistant = is_in(role, "assistant")
    turns = group_offsets(message.parent[is_assistant], n)
    turn = np.full(message.n, -1, np.int32)
    turn[is_assistant] = positions_in(turns)
    asked = _requested(found, is_assistant, turn)
    calls, _ = call_table(asked, _results(found, role), n)
    said = np.flatnonzero(is_assistant & _has_text(found))
    trace = message.parent[said].astype(np.int64)
    answers = last_said(trace, turn[said], asked, n, lambda rows: contents(message, found["part"], said[rows]))
    return Conversation(calls, answers, pa.array(np.diff(turns)))


def _has_text(found: Projected) -> Mask:
    """bool[messages]: which have a text that is not empty, in whatever form."""
    message, part = found["message"], found["part"]
    cell = message.cells("content")
    some = message.has("content", STRING) & (cell.end > cell.start)
    some |= message.has("content", OBJECT, NUMBER, TRUE, FALSE)
    if part.n:
        cell = part.cells("text")
        some[part.parent[part.has("text", STRING) & (cell.end > cell.start)]] = True
    return some


def _requested(found: Projected, is_assistant: Mask, turn: npt.NDArray[np.int32]) -> Asked:
    """The calls that assistant messages ask for, both ways of asking, in order."""
    message, call, legacy = found["message"], found["call"], found["legacy"]
    asks = is_assistant[call.parent]
    older = is_assistant[legacy.parent] & legacy.has("@", OBJECT)
    at = np.concatenate([call.parent[asks], legacy.parent[older]]).astype(np.int64)
    rows = pa.concat_tables([_modern(call).filter(pa.array(asks)), _older(legacy).filter(pa.array(older))])
    if older.any():
        order = np.argsort(at, kind="stable")
        at, rows = at[order], rows.take(order)
    columns = {name: one_chunk(rows[name]) for name in rows.column_names}
    return Asked(message.parent[at].astype(np.int64), at, turn[at], columns)


def _modern(call: Found) -> pa.Table:
    """Entries of ``tool_calls``: functions, custom tools with free text, and malformed ones."""
    custom = call.has("custom_name", STRING) & ~call.has("name", STRING)
    arguments, form = call.arguments("arguments")
    free = pa.array(custom)
    return pa.table(
        {
            "name": pc.if_else(free, call.text("custom_name"), call.text("name")),
            "malformed": ~custom & ~call.has("name", STRING),
            "arguments": pc.if_else(free, call.text("custom_input", *ANYTHING), arguments),
            "arguments_form": np.where(custom, FREE_TEXT, form).astype(np.uint8),
            "call_id": call.text("call_id", STRING, NUMBER),
            "kind": pc.if_else(free, pa.scalar("custom", TEXT), pa.scalar(None, TEXT)),
        }
    )


def _older(legacy: Found) -> pa.Table:
    """The single call of a ``function_call`` member, which has no id."""
    arguments, form = legacy.arguments("arguments")
    return pa.table(
        {
            "name": legacy.text("name"),
            "malformed": ~legacy.has("name", STRING),
            "arguments": arguments,
            "arguments_form": form,
            "call_id": pa.nulls(legacy.n, TEXT),
            "kind": pa.nulls(legacy.n, TEXT),
        }
    )


def _results(found: Projected, role: pa.Array) -> Results:
    """The messages with a call's result."""
    message = found["message"]
    at = np.flatnonzero(is_in(role, "tool", "function"))
    mine = message.taken(at)

    def columns(rows: I64) -> dict[str, pa.Array]:
        return {"result": contents(message, found["part"], at[rows]), "status": _statuses(mine.taken(rows))}

    ids = mine.text("tool_call_id", STRING, NUMBER)
    return Results(mine.parent.astype(np.int64), at, ids, mine.text("name"), columns)


def _statuses(message: Found) -> pa.Array:
    """What result messages say about success themselves: ``is_error`` or ``status``; null where they say nothing."""
    status = message.text("status")
    flag = message.boolean("is_error")
    said = pc.if_else(pc.is_in(status, pa.array(KNOWN_STATUSES[:2], TEXT)), "ok", None)
    said = pc.if_else(pc.is_in(status, pa.array(KNOWN_STATUSES[2:], TEXT)), "error", said)
    return pc.coalesce(pc.if_else(flag, "error", "ok"), said).cast(TEXT)


def _note_statuses(message: Found, odd: Oddities) -> None:
    """Note what result messages say about success that is not understood."""
    odd.note_unless(message, "is_error", "flag", TRUE, FALSE)
    given = ~message.has("status", NONE, NULL)
    if given.any():
        results = is_in(message.text("role"), "tool", "function")
        strange = results & given & ~is_in(message.text("status"), *KNOWN_STATUSES)
        odd.note(message, strange, "status", f"is none of {', '.join(KNOWN_STATUSES)} and counts as unknown")
