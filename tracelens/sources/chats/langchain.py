"""LangChain and LangGraph messages, as any of its serialisations writes them.

A message is flat (``model_dump``), has its members in ``data`` (``messages_to_dict``) or in ``kwargs`` (the ``lc``
constructor form); the fourth form is that of OpenAI, read as ``chat``. Calls are ``tool_calls``, then
``invalid_tool_calls``, whose arguments are kept as the broken text that they are. ``additional_kwargs`` repeat the
provider's own form of the calls and count only in a message that has no others. A call's agent is the message's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ARRAY, NUMBER, STRING, Found, Projected, Projection, Row
from tracelens.sources.chats.messages import MessageSource, Reading, Steps, record_row
from tracelens.sources.oddities import Oddities
from tracelens.sources.talk import I64, Asked, Mask, Results, call_table, chosen, contents, is_in, last_said

INSIDE = ("", "data.", "kwargs.")
MODEL = ("ai", "AIMessage", "AIMessageChunk")
TOOL = ("tool", "function", "ToolMessage", "ToolMessageChunk", "FunctionMessage")
KINDS = {*MODEL, *TOOL, "human", "system", "HumanMessage", "SystemMessage", "remove", "developer"}


def _at(path: str) -> tuple[str, ...]:
    """A path in each of the forms."""
    return tuple(prefix + path for prefix in INSIDE)


MESSAGE = {
    "outer": "type",
    "inner": ("data.type", "kwargs.type"),
    "class": "id",
    "content": _at("content"),
    "name": _at("name"),
    "tool_call_id": _at("tool_call_id"),
    "status": _at("status"),
    "input_tokens": _at("usage_metadata.input_tokens"),
    "output_tokens": _at("usage_metadata.output_tokens"),
    "model": [*_at("response_metadata.model_name"), *_at("response_metadata.model")],
}
CALL = {"name": "name", "arguments": "args", "call_id": "id", "error": "error"}
RAW = {"name": "function.name", "arguments": "function.arguments", "call_id": "id"}


class LangChain(MessageSource):
    """LangChain messages."""

    name = "langchain"
    title = "LangChain and LangGraph messages: a conversation a line, in any of their serialisations"
    sample = "langchain.jsonl"
    projection = Projection(
        record_row(
            Row(
                "message",
                ("messages[*]", "[*]", "values.messages[*]"),
                MESSAGE,
                [
                    Row("call", _at("tool_calls[*]"), CALL),
                    Row("invalid", _at("invalid_tool_calls[*]"), CALL),
                    Row("raw", _at("additional_kwargs.tool_calls[*]"), RAW),
                    Row("part", _at("content[*]"), {"text": "text"}),
                ],
            ),
            messages=("messages", "values.messages"),
        )
    )
    holders: ClassVar[tuple[str, ...]] = ("messages",)

    def messages_of(self, record: Any) -> Any:
        """The messages of a record, or of the state in it."""
        inner = record.get("values") if isinstance(record, dict) else None
        return super().messages_of(inner if isinstance(inner, dict) else record)

    def is_message(self, item: Mapping[str, Any]) -> str:
        """A message in one of the forms."""
        if item.get("lc") == 1 and item.get("type") == "constructor":
            return "messages are LangChain constructors"
        if item.get("type") not in KINDS or "role" in item:
            return ""
        if isinstance(item.get("data"), dict) and "content" in item["data"]:
            return f"messages have the type {item['type']} and data"
        return f"messages have the type {item['type']} and content" if "content" in item else ""

    def reading(self, found: Projected, odd: Oddities) -> Reading:  # noqa: ARG002  nothing is odd here
        """What the conversations hold."""
        message, n = found["message"], found.top.n
        kind = _kinds(message)
        speaks = is_in(kind, *MODEL)
        turn = np.full(message.n, -1, np.int32)
        turn[speaks] = positions_in(group_offsets(message.parent[speaks], n))
        asked = _asked(found, speaks, turn)
        calls, _ = call_table(asked, _results(found, kind), n)
        cell, part = message.cells("content"), found["part"]
        text = message.has("content", STRING) & (cell.end > cell.start)
        text[part.parent[part.has("text", STRING)]] = True
        said = np.flatnonzero(speaks & text)
        trace = message.parent[said].astype(np.int64)
        final = last_said(trace, turn[said], asked, n, lambda rows: contents(message, part, said[rows]))
        return Reading(calls, final, _steps(message.taken(np.flatnonzero(speaks))))


def _kinds(message: Found) -> pa.Array:
    """The type of each message; in a constructor without one it is the end of the class's name."""
    kind = pc.coalesce(message.text("inner"), message.text("outer"))
    if message.has("class", ARRAY).any():
        named = pc.extract_regex(message.text("class", ARRAY), r'"(?P<name>\w+)"\s*\]$')
        kind = pc.coalesce(message.text("inner"), pc.struct_field(named, "name").cast(TEXT), kind)
    return kind


def _asked(found: Projected, speaks: Mask, turn: npt.NDArray[np.int32]) -> Asked:
    """The calls of messages of the model: those that are good, then those that are not."""
    message, call, invalid, raw = (found[name] for name in ("message", "call", "invalid", "raw"))
    has = np.zeros(message.n, np.bool_)
    has[call.parent] = True
    has[invalid.parent] = True
    parts = [(call, speaks[call.parent]), (invalid, speaks[invalid.parent]), (raw, (speaks & ~has)[raw.parent])]
    at = np.concatenate([rows.parent[mask] for rows, mask in parts]).astype(np.int64)
    tables = [_columns(rows.taken(np.flatnonzero(mask)), message) for rows, mask in parts]
    order = np.argsort(at, kind="stable")
    whole = pa.concat_tables(tables)
    if not bool((order == np.arange(order.size)).all()):
        whole = whole.take(pa.array(order))
    at = at[order]
    columns = {name: whole[name].combine_chunks() for name in whole.column_names}
    return Asked(message.parent[at].astype(np.int64), at, turn[at], columns)


def _columns(call: Found, message: Found) -> pa.Table:
    arguments, form = call.arguments("arguments")
    named = call.has("name", STRING)
    failed = "error" in call.table.columns
    return pa.table(
        {
            "name": call.text("name"),
            "malformed": ~named,
            "arguments": arguments,
            "arguments_form": form,
            "call_id": call.text("call_id", STRING, NUMBER),
            "agent": message.taken(call.parent).text("name"),
            "error": call.text("error") if failed else pa.nulls(call.n, TEXT),
        }
    )


def _results(found: Projected, kind: pa.Array) -> Results:
    message, part = found["message"], found["part"]
    at = np.flatnonzero(is_in(kind, *TOOL))
    mine = message.taken(at)

    def columns(rows: I64) -> dict[str, pa.Array]:
        status = mine.taken(rows).text("status")
        said = pc.coalesce(chosen(is_in(status, "error"), "error"), chosen(is_in(status, "success"), "ok"))
        return {"result": contents(message, part, at[rows]), "status": said}

    ids = mine.text("tool_call_id", STRING, NUMBER)
    return Results(mine.parent.astype(np.int64), at, ids, mine.text("name"), columns)


def _steps(mine: Found) -> Steps:
    trace = mine.parent.astype(np.int64)
    if not (mine.has("input_tokens", NUMBER) | mine.has("output_tokens", NUMBER) | mine.has("model", STRING)).any():
        return Steps(trace)
    names = ("input_tokens", "output_tokens")
    return Steps(
        trace, {"model": mine.text("model"), "agent": mine.text("name"), **{k: mine.integer(k) for k in names}}
    )
