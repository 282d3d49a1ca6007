"""Azure AI evaluation rows: ``query``, ``response`` and ``tool_definitions``, a response of an agent a record.

The calls are those of the response: what the query holds are earlier turns of the same thread, which are history. They
are ``tool_call`` items of a message's content, their results ``tool_result`` items of messages of role tool. Content, or
the whole response, may be JSON text of what it should be; it is then read out of it (repair ``json_text`` of its calls).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, one_chunk, texts, valid
from tracelens.projection import ANYTHING, ARRAY, NUMBER, OBJECT, STRING, Found, Projected, Projection, Row, run
from tracelens.sources.chats.messages import MessageSource, Reading, Steps, firsts, record_row
from tracelens.sources.oddities import Oddities
from tracelens.sources.talk import CALL, HEARD, I64, RESULT, SAID, THOUGHT, Stream, Told, chosen, is_in, read_stream

MESSAGE = {"role": "role", "content": "content", "call_id": "tool_call_id", "run": "run_id", "at": "createdAt"}
ITEM = {
    "type": "type",
    "text": "text",
    "call_id": "tool_call_id",
    "name": "name",
    "arguments": "arguments",
    "result": "tool_result",
}
IN_TEXT = Projection(Row("content", rows=[Row("item", "[*]", ITEM)]))
MESSAGES_IN_TEXT = Projection(Row("response", rows=[Row("message", "[*]", MESSAGE, [Row("item", "content[*]", ITEM)])]))


class AzureEvaluation(MessageSource):
    """Azure AI evaluation rows."""

    name = "azure-evaluation"
    title = "Azure AI evaluation rows: query, response and tool_definitions"
    sample = "azure-evaluation.jsonl"
    holders: ClassVar[tuple[str, ...]] = ("response",)
    held_as: ClassVar[tuple[int, ...]] = (ARRAY, OBJECT, STRING)
    whose: ClassVar[str] = "a row must be an object with a response"
    projection = Projection(
        record_row(
            Row("message", "response[*]", MESSAGE, [Row("item", "content[*]", ITEM)]),
            response="response",
            definitions="tool_definitions",
        )
    )

    def is_record(self, elements: Sequence[Any]) -> bool:  # noqa: ARG002
        """A list of messages is no row."""
        return False

    def messages_of(self, record: Any) -> list[Any]:
        """The record itself, if it has a query and a response."""
        return [record] if isinstance(record, dict) else []

    def is_message(self, item: Mapping[str, Any]) -> str:
        """A record with the members of a row."""
        return "records have query and response" if {"query", "response"} <= item.keys() else ""

    def reading(self, found: Projected, odd: Oddities) -> Reading:  # noqa: ARG002  nothing is odd here
        """What the responses hold."""
        line = found["line"]
        messages, items = _opened(line, found["message"], found["item"])
        columns = {"tools": line.text("definitions", ARRAY, OBJECT, STRING), "final_answer": _plain(line)}
        speaks, answers = (is_in(messages["role"], role) for role in ("assistant", "tool"))
        at, trace = items["message"].to_numpy(), messages["trace"].to_numpy()
        kind = one_chunk(items["type"])
        kinds = np.where(speaks[at], THOUGHT, HEARD).astype(np.uint8)
        kinds[speaks[at] & is_in(kind, "text", "output_text") & valid(items["text"])] = SAID
        kinds[speaks[at] & is_in(kind, "tool_call")] = CALL
        kinds[is_in(kind, "tool_result") & answers[at]] = RESULT
        stream = Stream(trace[at].astype(np.int64), at, kinds, np.arange(at.size))
        talk = read_stream(stream, _told(messages, items, at), line.n)
        steps = Steps(trace[speaks].astype(np.int64))
        columns["final_answer"] = pc.coalesce(talk.final_answer, columns["final_answer"])
        columns["started_at"] = firsts(trace.astype(np.int64), one_chunk(messages["at"]), line.n)
        return Reading(talk.calls, columns["final_answer"], steps, columns)


def _opened(line: Found, message: Found, item: Found) -> tuple[pa.Table, pa.Table]:
    """All messages and items, what was written as JSON text among them."""
    messages = [_messages(message, message.parent)]
    items = [_items(item, item.parent.astype(np.int64), False)]
    written = np.flatnonzero(line.has("response", STRING))
    n = message.n
    for inner, parent in _inside(line.taken(written).text("response"), MESSAGES_IN_TEXT, written):
        messages.append(_messages(inner["message"], parent[inner["message"].parent]))
        items.append(_items(inner["item"], n + inner["item"].parent.astype(np.int64), True))
        n += inner["message"].n
    whole = pa.concat_tables(messages)
    text = np.flatnonzero(np.asarray(pc.fill_null(pc.match_substring_regex(whole["content"], r"^\s*\["), False)))
    opened = np.zeros(n, np.bool_)
    for inner, parent in _inside(one_chunk(whole["content"]).take(pa.array(text)), IN_TEXT, text):
        items.append(_items(inner["item"], parent[inner["item"].parent], True))
        opened[items[-1]["message"].to_numpy()] = True
    said = np.flatnonzero(valid(whole["content"]) & ~opened)
    items.append(_said(one_chunk(whole["content"]).take(pa.array(said)), said))
    order = np.argsort(whole["trace"].to_numpy(), kind="stable")
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    every = pa.concat_tables(items)
    moved = place[every["message"].to_numpy()]
    by = np.argsort(moved, kind="stable")
    every = every.set_column(0, "message", pa.array(moved)).take(pa.array(by))
    return whole.take(pa.array(order)), every


def _inside(values: pa.Array, wanted: Projection, rows: I64) -> list[tuple[Projected, I64]]:
    """What JSON texts hold, and the row that each record of it came from; nothing where there are no texts."""
    if not len(values):
        return []
    inner = texts(values)
    found = run(wanted, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())
    return [(found, rows[found.top.parent])]


def _messages(message: Found, trace: np.ndarray[Any, Any]) -> pa.Table:
    return pa.table(
        {
            "trace": pa.array(trace.astype(np.int64)),
            "role": message.text("role"),
            "content": message.text("content"),
            "call_id": message.text("call_id", STRING, NUMBER),
            "at": message.time("at"),
        }
    )


def _items(item: Found, message: I64, opened: bool) -> pa.Table:
    arguments, form = item.arguments("arguments")
    return pa.table(
        {
            "message": pa.array(message),
            "type": item.text("type"),
            "text": item.text("text"),
            "call_id": item.text("call_id", STRING, NUMBER),
            "name": item.text("name"),
            "arguments": arguments,
            "form": pa.array(form),
            "result": item.text("result", *ANYTHING),
            "repair": chosen(np.full(item.n, opened), "json_text"),
        }
    )


def _said(content: pa.Array, message: I64) -> pa.Table:
    """Messages of plain text as items: a text, and a result where the message is one."""
    n = len(content)
    rows = pa.table({"message": pa.array(message), "type": pa.repeat(pa.scalar("text", TEXT), n), "text": content})
    for name, kind in (
        ("call_id", TEXT),
        ("name", TEXT),
        ("arguments", TEXT),
        ("form", pa.uint8()),
        ("result", TEXT),
        ("repair", TEXT),
    ):
        rows = rows.append_column(name, pa.nulls(n, kind))
    return rows


def _plain(line: Found) -> pa.Array:
    """A response that is neither a list nor the text of one is the answer itself."""
    text = line.text("response")
    return pc.if_else(pc.match_substring_regex(text, r"^\s*\["), pa.scalar(None, TEXT), text)


def _told(messages: pa.Table, items: pa.Table, at: I64) -> Told:
    def asks(rows: I64) -> dict[str, Any]:
        mine = items.take(pa.array(rows)).combine_chunks()
        name = one_chunk(mine["name"])
        return {
            "name": name,
            "malformed": ~valid(name),
            "arguments": one_chunk(mine["arguments"]),
            "arguments_form": one_chunk(mine["form"]),
            "call_id": one_chunk(mine["call_id"]),
            "repair": one_chunk(mine["repair"]),
        }

    def answers(units: I64) -> dict[str, Any]:
        mine = items.take(pa.array(units)).combine_chunks()
        of_message = one_chunk(messages["call_id"]).take(pa.array(at[units]))
        return {
            "call_id": pc.coalesce(one_chunk(mine["call_id"]), of_message),
            "name": one_chunk(mine["name"]),
            "result": one_chunk(mine["result"]),
        }

    return Told(asks, answers, lambda units: one_chunk(items["text"]).take(pa.array(units)))
