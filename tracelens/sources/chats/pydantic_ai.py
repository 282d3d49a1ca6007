"""Pydantic AI messages: the list that ``all_messages_json`` writes, a conversation a record.

Calls are the ``tool-call`` parts of responses (``builtin-tool-call`` and ``native-tool-call``: kind ``server``), their
results ``tool-return`` parts and the ``retry-prompt`` parts that name a tool, which are errors. Arguments are an object
or JSON text; what the library put into ``{"INVALID_JSON": …}`` is taken out again (repair ``invalid_json``). The final
answer is the last text, or the arguments of a later call of ``final_result``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import JSON_STRING, numbers, one_chunk, valid
from tracelens.projection import ANYTHING, NUMBER, STRING, Found, Projected, Projection, Row
from tracelens.sources.chats.messages import MessageSource, Reading, Steps, firsts, record_row
from tracelens.sources.oddities import Oddities
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
    Talk,
    Told,
    chosen,
    is_in,
    read_stream,
    stream_of,
)

SERVER = ("builtin-tool-call", "native-tool-call")
RETURNS = ("tool-return", "builtin-tool-return", "native-tool-return")
RETRY = "retry-prompt"
ANSWER = "final_result"

MESSAGE = {
    "kind": "kind",
    "model": "model_name",
    "at": "timestamp",
    "conversation": "conversation_id",
    "input_tokens": ("usage.input_tokens", "usage.request_tokens"),
    "output_tokens": ("usage.output_tokens", "usage.response_tokens"),
    "cost": "usage.cost",
}
PART = {
    "kind": "part_kind",
    "name": "tool_name",
    "arguments": "args",
    "broken": "args.INVALID_JSON",
    "call_id": "tool_call_id",
    "content": "content",
    "outcome": "outcome",
    "at": "timestamp",
}


class PydanticAI(MessageSource):
    """Pydantic AI messages."""

    name = "pydantic-ai"
    title = "Pydantic AI messages: a conversation a line, of requests and responses with parts"
    sample = "pydantic-ai.jsonl"
    holders: ClassVar[tuple[str, ...]] = ("messages", "all_messages")
    projection = Projection(
        record_row(
            Row("message", ("messages[*]", "all_messages[*]", "[*]"), MESSAGE, [Row("part", "parts[*]", PART)]),
            messages="messages",
            all_messages="all_messages",
        )
    )

    def is_message(self, item: Mapping[str, Any]) -> str:
        """A request or a response with parts."""
        known = item.get("kind") in {"request", "response"} and isinstance(item.get("parts"), list)
        return f"messages are of kind {item['kind']} and have parts" if known else ""

    def reading(self, found: Projected, odd: Oddities) -> Reading:  # noqa: ARG002  nothing is odd here
        """What the conversations hold."""
        message, part, n = found["message"], found["part"], found.top.n
        speaks = is_in(message.text("kind"), "response")
        plain = np.full(message.n, BESIDE, np.uint8)
        stream = stream_of(part, _kinds(part, speaks[part.parent]), plain, message.parent)
        talk = read_stream(stream, _told(message, part, stream), n)
        trace = message.parent.astype(np.int64)
        columns = {
            "session_id": firsts(trace, message.text("conversation"), n),
            "started_at": firsts(trace, message.time("at"), n),
        }
        return Reading(talk.calls, _answers(talk, stream, n), _steps(message.taken(np.flatnonzero(speaks))), columns)


def _kinds(part: Found, speaks: Mask) -> npt.NDArray[np.uint8]:
    """uint8[parts]: the kind of unit that each part is."""
    kind, content = part.text("kind"), part.cells("content")
    out = np.where(speaks, THOUGHT, HEARD).astype(np.uint8)
    out[speaks & is_in(kind, "text") & part.has("content", STRING) & (content.end > content.start)] = SAID
    out[speaks & is_in(kind, "tool-call", *SERVER)] = CALL
    out[is_in(kind, *RETURNS) | (is_in(kind, RETRY) & part.has("name", STRING))] = RESULT
    return out


def _told(message: Found, part: Found, stream: Stream) -> Told:
    def asks(rows: I64) -> dict[str, Any]:
        mine = part.taken(rows)
        arguments, form = mine.arguments("arguments")
        broken = mine.has("broken", STRING)
        if broken.any():
            arguments = pc.if_else(pa.array(broken), mine.text("broken"), arguments)
            form = np.where(broken, np.uint8(JSON_STRING), form).astype(np.uint8)
        return {
            "name": mine.text("name"),
            "malformed": ~mine.has("name", STRING),
            "arguments": arguments,
            "arguments_form": form,
            "call_id": mine.text("call_id", STRING, NUMBER),
            "kind": chosen(is_in(mine.text("kind"), *SERVER), "server"),
            "repair": chosen(broken, "invalid_json"),
            "started_at": message.taken(mine.parent).time("at"),
        }

    def answers(units: I64) -> dict[str, Any]:
        rows = stream.row[units]
        mine = part.taken(rows)
        outcome = mine.text("outcome")
        failed = is_in(mine.text("kind"), RETRY) | is_in(outcome, "failed", "retried", "error")
        denied = is_in(outcome, "denied")
        status = pc.coalesce(chosen(denied, "denied"), chosen(failed, "error"), chosen(~failed, "ok"))
        return {
            "call_id": mine.text("call_id", STRING, NUMBER),
            "name": mine.text("name"),
            "result": mine.text("content", *ANYTHING),
            "status": status,
        }

    return Told(asks, answers, lambda units: part.taken(stream.row[units]).text("content"))


def _answers(talk: Talk, stream: Stream, n: int) -> pa.Array:
    """The final answers, a later one that was given as a call included."""
    calls = talk.calls
    named = np.flatnonzero(is_in(one_chunk(calls["name"]), ANSWER))
    if not named.size:
        return talk.final_answer
    trace = numbers(calls["trace"]).astype(np.int64)
    last = np.full(n, -1, np.int64)
    last[trace[named]] = named
    said = np.full(n, -1, np.int64)
    texts = stream.where(SAID)
    said[stream.trace[texts]] = texts
    later = (last >= 0) & (talk.asked[last] > said)
    later |= (last >= 0) & ~valid(talk.final_answer)
    given = one_chunk(calls["arguments"]).take(pa.array(np.maximum(last, 0), mask=~later))
    return pc.coalesce(given, talk.final_answer)


def _steps(mine: Found) -> Steps:
    columns = {"model": mine.text("model"), "started_at": mine.time("at"), "cost": mine.float("cost")}
    tokens = {name: mine.integer(name) for name in ("input_tokens", "output_tokens")}
    return Steps(mine.parent.astype(np.int64), {**columns, **tokens} if mine.n else {})
