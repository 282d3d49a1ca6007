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

from tracelens.columns import (
    CALLS,
    FREE_TEXT,
    TEXT,
    TRACES,
    group_offsets,
    numbers,
    one_chunk,
    positions_in,
    table,
    valid,
)
from tracelens.kernels.join import join_results
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

Mask = npt.NDArray[np.bool_]

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
        columns = trace_columns(records, line, odd)
        _note_statuses(records.found["message"], odd)
        if columns["id_given"].null_count or not pc.all(columns["id_given"]).as_py():
            own = pc.if_else(columns["id_given"], pa.scalar(None, TEXT), line.text("id", STRING, NUMBER))
            columns["trace_id"] = pc.coalesce(own, columns["trace_id"])
            columns["id_given"] = pc.or_(columns["id_given"], pc.is_valid(own))
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
        result: int64[calls]: the message that holds a call's result, -1 for none.
    """

    calls: pa.Table
    final_answer: pa.Array
    llm_calls: pa.Array
    result: npt.NDArray[np.int64]


def conversation(found: Projected) -> Conversation:
    """Read the messages of projected conversations."""
    message, n = found["message"], found.top.n
    role = message.text("role")
    is_assistant = _is(role, "assistant")
    turns = group_offsets(message.parent[is_assistant], n)
    turn = np.full(message.n, -1, np.int32)
    turn[is_assistant] = positions_in(turns)
    content = _contents(found)
    calls, at = _requested(found, is_assistant, turn)
    result = _results(calls, at, message, role)
    answered = result >= 0
    index = pa.array(np.where(answered, result, 0), mask=~answered)
    calls = calls.set_column(CALLS.get_field_index("result"), CALLS.field("result"), content.take(index))
    status = _statuses(message).take(index)
    calls = calls.set_column(CALLS.get_field_index("status"), CALLS.field("status"), status)
    asked = np.zeros(message.n, np.bool_)
    asked[at] = True
    answers = _final_answers(message, content, is_assistant & ~asked, n)
    return Conversation(calls, answers, pa.array(np.diff(turns)), result)


def _is(values: pa.Array, *texts: str) -> Mask:
    known = pc.is_in(values, pa.array(texts, TEXT))
    return np.asarray(known.to_numpy(zero_copy_only=False), np.bool_)


def _contents(found: Projected) -> pa.Array:
    """The text of every message: a string's contents, the texts of content parts together, JSON text otherwise."""
    message, part = found["message"], found["part"]
    content = message.text("content", STRING, OBJECT, NUMBER, TRUE, FALSE)
    if not part.n:
        return content
    offsets = pa.array(group_offsets(part.parent, message.n))
    plain = pc.coalesce(part.text("text"), pa.scalar("", TEXT))
    said = pa.LargeListArray.from_arrays(offsets, one_chunk(plain))
    some = part.has("text", STRING)
    texts = np.zeros(message.n, np.bool_)
    texts[part.parent[some]] = True
    joined = pc.binary_join(said, pa.scalar("", TEXT))
    raw = message.text("content", ARRAY)
    return pc.if_else(pa.array(texts), joined, pc.coalesce(content, raw))


def _requested(
    found: Projected, is_assistant: Mask, turn: npt.NDArray[np.int32]
) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """The calls that assistant messages ask for, and the message of each; both ways of asking, in order."""
    message, call, legacy = found["message"], found["call"], found["legacy"]
    asks = is_assistant[call.parent]
    older = is_assistant[legacy.parent] & legacy.has("@", OBJECT)
    at = np.concatenate([call.parent[asks], legacy.parent[older]]).astype(np.int64)
    rows = pa.concat_tables([_modern(call).filter(pa.array(asks)), _older(legacy).filter(pa.array(older))])
    if older.any():
        order = np.argsort(at, kind="stable")
        at, rows = at[order], rows.take(order)
    trace = message.parent[at]
    columns = {name: one_chunk(rows[name]) for name in rows.column_names}
    calls = table(
        CALLS,
        at.size,
        trace=trace.astype(np.uint32),
        call_index=positions_in(group_offsets(trace, found.top.n)),
        turn=turn[at],
        depth=np.zeros(at.size, np.int32),
        **columns,
    )
    return calls, at


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


def _results(calls: pa.Table, at: npt.NDArray[np.int64], message: Found, role: pa.Array) -> npt.NDArray[np.int64]:
    """int64[calls]: the message with each call's result, -1 for none; joined by id, or by name where there is none."""
    answers = np.flatnonzero(_is(role, "tool", "function"))
    ids = message.text("tool_call_id", STRING, NUMBER).take(pa.array(answers))
    names = message.text("name").take(pa.array(answers))
    codes = _codes(one_chunk(calls["call_id"]), ids)
    unnamed = codes < 0
    if unnamed.any():
        codes[unnamed] = codes.size + _codes(one_chunk(calls["name"]), names)[unnamed]
    taken = np.full(at.size, -1, np.int64)
    trace = message.parent.astype(np.int64)
    join_results(trace[at], at, codes[: at.size], trace[answers], answers, codes[at.size :], taken)
    return np.where(taken >= 0, answers[taken], -1) if answers.size else taken


def _codes(of_calls: pa.Array, of_results: pa.Array) -> npt.NDArray[np.int64]:
    """int64[calls + results]: equal texts have equal numbers below their count; -1 for null."""
    both = pa.concat_arrays([of_calls, of_results]).dictionary_encode()
    return numbers(both.indices, default=-1).astype(np.int64)


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
        results = _is(message.text("role"), "tool", "function")
        strange = results & given & ~_is(message.text("status"), *KNOWN_STATUSES)
        odd.note(message, strange, "status", f"is none of {', '.join(KNOWN_STATUSES)} and counts as unknown")


def _final_answers(message: Found, content: pa.Array, may_answer: Mask, n: int) -> pa.Array:
    """The last text of each trace among the messages that may be an answer."""
    length = np.asarray(pc.fill_null(pc.binary_length(content), 0).to_numpy(zero_copy_only=False))
    rows = np.flatnonzero(may_answer & valid(content) & (length > 0))
    last = np.full(n, -1, np.int64)
    last[message.parent[rows]] = rows
    return content.take(pa.array(np.where(last < 0, 0, last), mask=last < 0)) if message.n else pa.nulls(n, TEXT)
