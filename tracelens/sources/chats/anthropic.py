"""Anthropic messages: a conversation a record, or a single response; content is text or a list of blocks.

Calls are the ``tool_use`` blocks of assistant messages, their results the ``tool_result`` blocks of the next user
message. Tools that the provider runs (``server_tool_use``, ``mcp_tool_use``) are calls of kind ``server``; their results
stand in the same message, and what follows them is a turn of its own. A result is an error where ``is_error`` says so
or where its content is an error of a server tool. Input tokens count those read from and written to the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT
from tracelens.projection import NUMBER, STRING, TRUE, Found, Projected, Projection, Row
from tracelens.sources.chats.messages import MessageSource, Reading, Steps, as_messages, joined, record_row, total
from tracelens.sources.oddities import Oddities
from tracelens.sources.talk import (
    BESIDE,
    CALL,
    HEARD,
    I64,
    RESULT,
    SAID,
    THOUGHT,
    U8,
    Stream,
    Told,
    chosen,
    contents,
    is_in,
    read_stream,
    stream_of,
)

ASKING = ("tool_use", "server_tool_use", "mcp_tool_use")
SERVER = ASKING[1:]

MESSAGE = {
    "role": "role",
    "content": "content",
    "model": "model",
    "input_tokens": "usage.input_tokens",
    "cache_read": "usage.cache_read_input_tokens",
    "cache_write": "usage.cache_creation_input_tokens",
    "output_tokens": "usage.output_tokens",
}
BLOCK = {
    "type": "type",
    "id": "id",
    "name": "name",
    "input": "input",
    "text": "text",
    "tool_use_id": "tool_use_id",
    "content": "content",
    "is_error": "is_error",
    "inner": "content.type",
}


def blocks(at: str, prefix: str = "") -> Row:
    """The tables of a message's blocks and of the pieces of a result."""
    return Row(f"{prefix}block", at, BLOCK, [Row(f"{prefix}piece", "content[*]", {"text": "text"})])


class Anthropic(MessageSource):
    """Anthropic messages."""

    name = "anthropic"
    title = "Anthropic messages: a conversation or a response a line, with tool_use blocks"
    sample = "anthropic.jsonl"
    holders: ClassVar[tuple[str, ...]] = ("messages", "final_message", "content")
    also_called: ClassVar[Mapping[str, Sequence[str]]] = {
        r"code_execution_\d+": ("bash_code_execution", "text_editor_code_execution"),
    }
    projection = Projection(
        record_row(
            Row("message", ("messages[*]", "[*]", "final_message"), MESSAGE, [blocks("content[*]")]),
            blocks("content[*]", "own_"),
            messages="messages",
            final_message="final_message.content",
            **MESSAGE,
        )
    )

    def is_message(self, item: Mapping[str, Any]) -> str:
        """A message with blocks that only this format has, or a response."""
        content = item.get("content")
        if item.get("type") == "message" and item.get("role") == "assistant" and "stop_reason" in item:
            return "a record is a response with blocks"
        kinds = (
            {str(part.get("type")) for part in content if isinstance(part, dict)}
            if isinstance(content, list)
            else set()
        )
        found = sorted(kinds & {*ASKING, "tool_result", "thinking"})
        return f"messages have blocks of type {found[0]}" if "role" in item and found else ""

    def messages_of(self, record: Any) -> list[Any]:
        """The messages of a record, the final one of a stream and a record that is a response included."""
        found = list(super().messages_of(record)) if not isinstance(record, dict) or "messages" in record else []
        if isinstance(record, dict):
            found += [each for each in (record, record.get("final_message")) if isinstance(each, dict)]
        return found

    def reading(self, found: Projected, odd: Oddities) -> Reading:  # noqa: ARG002  nothing is odd here
        """What the conversations hold."""
        tables: Sequence[Found] = (found["message"], found["block"], found["piece"])
        line = found["line"]
        alone = is_in(line.text("role"), "assistant")
        if alone.any():
            own = found.keeping(alone, "line") if not alone.all() else found
            tables = joined(tables, (as_messages(line, alone, tables[0]), own["own_block"], own["own_piece"]))
        message, block, piece = tables
        role = message.text("role")
        speaks = is_in(role, "assistant")
        kinds = block_kinds(block, speaks[block.parent])
        plain = np.full(message.n, BESIDE, np.uint8)
        plain[message.has("content", STRING)] = HEARD
        plain[message.has("content", STRING) & speaks] = SAID
        stream = stream_of(block, kinds, plain, message.parent)
        talk = read_stream(stream, told_by_blocks(message, block, piece, stream), line.n)
        spoken = np.flatnonzero(speaks)
        steps = steps_of(message, spoken, message.parent[spoken].astype(np.int64))
        return Reading(talk.calls, talk.final_answer, steps)


def block_kinds(block: Found, speaks: np.ndarray[Any, np.dtype[np.bool_]]) -> U8:
    """uint8[blocks]: the kind of unit that each block is, given whether the model speaks in its message."""
    kind = block.text("type")
    out = np.where(speaks, THOUGHT, HEARD).astype(np.uint8)
    out[speaks & is_in(kind, "text") & (block.cells("text").end > block.cells("text").start)] = SAID
    out[speaks & is_in(kind, *ASKING)] = CALL
    out[block.has("tool_use_id", STRING, NUMBER)] = RESULT
    return out


def told_by_blocks(message: Found, block: Found, piece: Found, stream: Stream) -> Told:
    """How blocks are read."""

    def asks(rows: I64) -> dict[str, Any]:
        mine = block.taken(rows)
        arguments, form = mine.arguments("input")
        return {
            "name": mine.text("name"),
            "malformed": ~mine.has("name", STRING),
            "arguments": arguments,
            "arguments_form": form,
            "call_id": mine.text("id", STRING, NUMBER),
            "kind": chosen(is_in(mine.text("type"), *SERVER), "server"),
        }

    def answers(units: I64) -> dict[str, Any]:
        rows = stream.row[units]
        mine = block.taken(rows)
        failed = mine.has("is_error", TRUE) | np.asarray(
            pc.fill_null(pc.ends_with(mine.text("inner"), "_error"), False).to_numpy(zero_copy_only=False), np.bool_
        )
        return {
            "call_id": mine.text("tool_use_id", STRING, NUMBER),
            "name": pa.nulls(rows.size, TEXT),
            "result": contents(block, piece, rows),
            "status": pc.if_else(pa.array(failed), pa.scalar("error", TEXT), pa.scalar("ok", TEXT)),
        }

    def says(units: I64) -> pa.Array:
        rows, at = stream.row[units], stream.message[units]
        plain = rows < 0
        if not plain.any():
            return block.taken(rows).text("text")
        if plain.all():
            return message.taken(at).text("content")
        texts = block.taken(np.where(plain, 0, rows)).text("text")
        return pc.if_else(pa.array(plain), message.taken(at).text("content"), texts)

    return Told(asks, answers, says)


def steps_of(message: Found, rows: I64, trace: I64) -> Steps:
    """The calls of the language model: the messages at those rows, with model and tokens where they are known.

    Args:
        message: The messages.
        rows: int64[n].
        trace: int64[n], the trace of each of them.
    """
    mine = message.taken(rows)
    known = mine.has("model", STRING) | mine.has("output_tokens", NUMBER) | mine.has("input_tokens", NUMBER)
    if not known.any():
        return Steps(trace)
    read = total(*(mine.integer(name) for name in ("input_tokens", "cache_read", "cache_write")))
    written = mine.integer("output_tokens")
    return Steps(trace, {"model": mine.text("model"), "input_tokens": read, "output_tokens": written})
