"""Gemini CLI sessions: a JSON document with ``sessionId`` and ``messages``, of which those of type gemini hold calls.

A call brings its status and result along: ``success``, ``error``, or ``cancelled``, which means that the user refused it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import NUMBER, STRING, Found, Projected, Projection, Row
from tracelens.sources.chats.messages import MessageSource, Reading, Steps, record_row
from tracelens.sources.oddities import Oddities
from tracelens.sources.talk import Asked, Results, call_table, chosen, contents, is_in, last_said

MESSAGE = {
    "type": "type",
    "content": "content",
    "at": "timestamp",
    "model": "model",
    "input_tokens": "tokens.input",
    "output_tokens": "tokens.output",
}
CALL = {"name": "name", "args": "args", "call_id": "id", "status": "status", "result": "result", "at": "timestamp"}


class GeminiCLI(MessageSource):
    """Gemini CLI sessions."""

    name = "gemini-cli"
    title = "Gemini CLI sessions: a document with sessionId and messages of type gemini"
    sample = "gemini-cli.json"
    seen = False
    whose: ClassVar[str] = "a session must be an object with messages"
    projection = Projection(
        record_row(
            Row(
                "message",
                "messages[*]",
                MESSAGE,
                [
                    Row(
                        "call",
                        "toolCalls[*]",
                        CALL,
                        [Row("given", "result[*]", {"text": "functionResponse.response.output"})],
                    ),
                    Row("part", "content[*]", {"text": "text"}),
                ],
            ),
            messages="messages",
            id="sessionId",
            begun="startTime",
        )
    )

    def is_record(self, elements: Any) -> bool:  # noqa: ARG002
        """A list of messages is no session."""
        return False

    def messages_of(self, record: Any) -> list[Any]:
        """The messages of a session: records that have an id of one."""
        return list(super().messages_of(record)) if isinstance(record, dict) and "sessionId" in record else []

    def is_message(self, item: Mapping[str, Any]) -> str:
        """A message of one of the types."""
        known = item.get("type") in {"gemini", "user", "info", "error", "warning"} and "content" in item
        return f"a session has messages of type {item['type']}" if known and "message" not in item else ""

    def reading(self, found: Projected, odd: Oddities) -> Reading:  # noqa: ARG002  nothing is odd here
        """What the conversations hold."""
        line, message, call, part = (found[name] for name in ("line", "message", "call", "part"))
        speaks = is_in(message.text("type"), "gemini")
        turn = np.full(message.n, -1, np.int32)
        turn[speaks] = positions_in(group_offsets(message.parent[speaks], line.n))
        at = call.parent.astype(np.int64)
        asked = Asked(message.parent[at].astype(np.int64), at, turn[at], _columns(call, found["given"]))
        nothing = pa.nulls(0, TEXT)
        none = np.zeros(0, np.int64)
        calls, _ = call_table(asked, Results(none, none, nothing, nothing, lambda _: {}), line.n)
        cell = message.cells("content")
        text = message.has("content", STRING) & (cell.end > cell.start)
        text[part.parent[part.has("text", STRING)]] = True
        said = np.flatnonzero(speaks & text)
        trace = message.parent[said].astype(np.int64)
        final = last_said(trace, turn[said], asked, line.n, lambda rows: contents(message, part, said[rows]))
        columns = {"session_id": line.text("id"), "started_at": line.time("begun")}
        return Reading(calls, final, _steps(message.taken(np.flatnonzero(speaks))), columns)


def _columns(call: Found, given: Found) -> dict[str, Any]:
    arguments, form = call.arguments("args")
    status = call.text("status")
    said = pc.coalesce(
        chosen(is_in(status, "success"), "ok"),
        chosen(is_in(status, "error"), "error"),
        chosen(is_in(status, "cancelled", "canceled"), "denied"),
    )
    return {
        "name": call.text("name"),
        "malformed": ~call.has("name", STRING),
        "arguments": arguments,
        "arguments_form": form,
        "call_id": call.text("call_id", STRING, NUMBER),
        "status": said,
        "result": contents(call, given, np.arange(call.n), "result"),
        "started_at": call.time("at"),
    }


def _steps(mine: Found) -> Steps:
    columns = {"model": mine.text("model"), "started_at": mine.time("at")}
    tokens = {name: mine.integer(name) for name in ("input_tokens", "output_tokens")}
    return Steps(mine.parent.astype(np.int64), columns | tokens if mine.n else {})
