"""Google ``contents``: a conversation or a response a record; a content has a role and parts.

Calls are the ``functionCall`` parts of the model (or ``function_call``), their results the ``functionResponse`` parts.
Ids are usually absent, so results are paired with calls by order and name. Code that the provider runs
(``executableCode``) is a call ``code_execution`` of kind ``server``. A response with a member ``error`` is an error; of
several candidates the first one counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT
from tracelens.projection import (
    ANYTHING,
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
from tracelens.sources.chats.messages import MessageSource, Reading, Steps, joined, record_row, total
from tracelens.sources.oddities import Oddities
from tracelens.sources.talk import (
    BESIDE,
    CALL,
    HEARD,
    I64,
    RESULT,
    SAID,
    THOUGHT,
    Stream,
    Told,
    chosen,
    is_in,
    read_stream,
    stream_of,
)


def _both(member: str, *inner: str) -> list[str]:
    """A member in both spellings, camel case and snake case."""
    snake = "".join("_" + c.lower() if c.isupper() else c for c in member)
    return [".".join([name, *inner]) for name in (member, snake)]


PART = {
    "text": "text",
    "thought": "thought",
    "call": _both("functionCall"),
    "call_id": _both("functionCall", "id"),
    "call_name": _both("functionCall", "name"),
    "args": _both("functionCall", "args"),
    "answer": _both("functionResponse"),
    "answer_id": _both("functionResponse", "id"),
    "answer_name": _both("functionResponse", "name"),
    "response": _both("functionResponse", "response"),
    "problem": _both("functionResponse", "response", "error"),
    "code": _both("executableCode"),
    "ran": _both("codeExecutionResult"),
    "outcome": _both("codeExecutionResult", "outcome"),
    "output": _both("codeExecutionResult", "output"),
}
CODE = "code_execution"
WRITTEN = ("candidatesTokenCount", "candidates_token_count")


class Google(MessageSource):
    """Google contents."""

    name = "google"
    title = "Google contents: a conversation or a response a line, with functionCall parts"
    sample = "google.jsonl"
    seen = False
    holders: ClassVar[tuple[str, ...]] = ("contents", "history", "candidates")
    also_called: ClassVar[Mapping[str, Sequence[str]]] = {"codeExecution|code_execution": (CODE,)}
    whose: ClassVar[str] = "a conversation must be an object with contents or candidates, or a list of contents"
    projection = Projection(
        record_row(
            Row("content", ("contents[*]", "history[*]", "[*]"), {"role": "role"}, [Row("part", "parts[*]", PART)]),
            Row(
                "candidate",
                "candidates[*]",
                {"role": "content.role"},
                [Row("own_part", "content.parts[*]", PART)],
            ),
            contents="contents",
            history="history",
            candidates="candidates",
            model=_both("modelVersion"),
            read=_both("usageMetadata", "promptTokenCount"),
            thought=_both("usageMetadata", "thoughtsTokenCount"),
            written=_both("usageMetadata", "candidatesTokenCount"),
        )
    )

    def is_message(self, item: Mapping[str, Any]) -> str:
        """A content with parts that only this format has."""
        inner = item.get("content")
        parts = item.get("parts") if "parts" in item else inner.get("parts") if isinstance(inner, dict) else None
        if not isinstance(parts, list) or "kind" in item:
            return ""
        keys = {key for part in parts if isinstance(part, dict) for key in part}
        mine = sorted(keys & {key for name in ("call", "answer", "code", "ran") for key in PART[name]})
        if mine:
            return f"contents have parts with {mine[0]}"
        plain = item.get("role") in {"user", "model"} and keys <= {"text", "thought", "thoughtSignature"}
        return "contents have a role and parts" if plain and keys else ""

    def reading(self, found: Projected, odd: Oddities) -> Reading:  # noqa: ARG002  nothing is odd here
        """What the conversations hold."""
        line, candidate = found["line"], found["candidate"]
        content, part = found["content"], found["part"]
        model = is_in(content.text("role"), "model", "assistant")
        if candidate.n:
            first = np.ones(candidate.n, np.bool_)
            first[1:] = candidate.parent[1:] != candidate.parent[:-1]
            kept = found.keeping(first, "candidate")
            content, part = joined((content, part), (kept["candidate"], kept["own_part"]))
            order = np.argsort(np.concatenate([found["content"].parent, kept["candidate"].parent]), kind="stable")
            model = np.concatenate([model, np.ones(kept["candidate"].n, np.bool_)])[order]
        stream = stream_of(part, _kinds(part, model[part.parent]), np.full(content.n, BESIDE, np.uint8), content.parent)
        talk = read_stream(stream, _told(part, stream), line.n)
        return Reading(talk.calls, talk.final_answer, _steps(line, content.parent[model].astype(np.int64)))


def _kinds(part: Found, model: np.ndarray[Any, np.dtype[np.bool_]]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """uint8[parts]: the kind of unit that each part is."""
    out = np.where(model, THOUGHT, HEARD).astype(np.uint8)
    text = part.cells("text")
    out[model & part.has("text", STRING) & (text.end > text.start) & ~part.has("thought", TRUE)] = SAID
    out[model & ~part.has("call", NONE, NULL)] = CALL
    out[model & part.has("code", OBJECT)] = CALL
    out[part.has("answer", OBJECT) | part.has("ran", OBJECT)] = RESULT
    return out


def _told(part: Found, stream: Stream) -> Told:
    def asks(rows: I64) -> dict[str, Any]:
        mine = part.taken(rows)
        arguments, form = mine.arguments("args")
        code = mine.has("code", OBJECT)
        of_code, form_of_code = mine.arguments("code")
        name = pc.if_else(pa.array(code), pa.scalar(CODE, TEXT), mine.text("call_name"))
        return {
            "name": name,
            "malformed": ~code & ~mine.has("call_name", STRING),
            "arguments": pc.if_else(pa.array(code), of_code, arguments),
            "arguments_form": np.where(code, form_of_code, form).astype(np.uint8),
            "call_id": mine.text("call_id", STRING, NUMBER),
            "kind": chosen(code, "server"),
        }

    def answers(units: I64) -> dict[str, Any]:
        rows = stream.row[units]
        mine = part.taken(rows)
        ran = mine.has("ran", OBJECT)
        outcome = mine.text("outcome")
        failed = ~mine.has("problem", NONE, NULL, FALSE) | (ran & ~is_in(outcome, "OUTCOME_OK"))
        good = pc.if_else(pa.array(ran), pa.scalar("ok", TEXT), pa.scalar(None, TEXT))
        return {
            "call_id": mine.text("answer_id", STRING, NUMBER),
            "name": pc.if_else(pa.array(ran), pa.scalar(CODE, TEXT), mine.text("answer_name")),
            "result": pc.if_else(pa.array(ran), mine.text("output"), mine.text("response", *ANYTHING)),
            "status": pc.if_else(pa.array(failed), pa.scalar("error", TEXT), good),
            "error": mine.text("problem", *ANYTHING),
        }

    return Told(asks, answers, lambda units: part.taken(stream.row[units]).text("text"))


def _steps(line: Found, trace: I64) -> Steps:
    """The calls of the language model; a response says what it used."""
    known = line.has("written", NUMBER) | line.has("read", NUMBER)
    alone = known[trace] & (np.bincount(trace, minlength=line.n)[trace] == 1)
    if not alone.any():
        return Steps(trace)
    mine = line.taken(trace)
    off = pa.array(alone)
    read = pc.if_else(off, mine.integer("read"), pa.scalar(None, pa.int64()))
    written = pc.if_else(off, total(mine.integer("written"), mine.integer("thought")), pa.scalar(None, pa.int64()))
    return Steps(trace, {"model": mine.text("model"), "input_tokens": read, "output_tokens": written})
