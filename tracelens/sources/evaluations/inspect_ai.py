"""Inspect logs: ``.eval`` files (a zip of JSON members) and their ``.json`` form.

A sample (and epoch) is a trace; its id is the case. Calls and results come from the messages: events of models repeat
the whole conversation every turn. Events of tools add times, and those of models are the steps, with tokens and cost.
Arguments that could not be parsed stand as the text that the log keeps of them. Long texts are kept apart as
``attachment://`` and are put back. Scores become tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import JSON_STRING, SPANS, TEXT, TIME, TRACES, Batch, padded, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ARRAY, NUMBER, OBJECT, STRING, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, Options, Sniff, Tables, some_inside
from tracelens.sources.chats.messages import Steps
from tracelens.sources.evaluations.alike import (
    Scores,
    column_tags,
    encode,
    first_of,
    joined,
    json_texts,
    origin,
    put_together,
    summed,
    tags_of,
    trace_names,
)
from tracelens.sources.evaluations.inspect_zip import ZIP, is_zip, members, zipped
from tracelens.sources.evaluations.steps import step_spans
from tracelens.sources.logs.sessions import waited
from tracelens.sources.nested import Nested, NestedSource
from tracelens.sources.reading.files import File
from tracelens.sources.reading.io import Block
from tracelens.sources.talk import Asked, Results, call_table, is_in, last_said

I64 = npt.NDArray[np.int64]

NO_NUMBER = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b')
REFERENCE = re.compile(r'"attachment://([0-9a-f]+)"')
WHOLE = "attachment://"

NOT_JSON = "NaN and infinite numbers, which Inspect writes and JSON does not have, are read as null"


class Inspect(NestedSource):
    """Logs of Inspect evaluations."""

    name = "inspect"
    title = "Inspect logs: .eval and .json, a sample is a trace, scores become tags"
    seen = True
    sample = "inspect.json"
    inner = "sample"
    shared = ("task", "model", "eval_id")
    projection = Projection(
        Row(
            "line",
            capture={"task": "eval.task", "model": "eval.model", "eval_id": "eval.eval_id", "run_id": "eval.run_id"},
            rows=[
                Row(
                    "sample",
                    "samples[*]",
                    capture={
                        "id": "id",
                        "epoch": "epoch",
                        "uuid": "uuid",
                        "completion": "output.completion",
                        "total_time": "total_time",
                        "failure": "error.message",
                        "limit": "limit.type",
                        "messages": "messages",
                    },
                    rows=[
                        Row(
                            "message",
                            "messages[*]",
                            {
                                "id": "id",
                                "role": "role",
                                "model": "model",
                                "content": "content",
                                "tool_call_id": "tool_call_id",
                                "name": "function",
                                "error": "error",
                                "error_message": "error.message",
                            },
                            [
                                Row(
                                    "call",
                                    "tool_calls[*]",
                                    {
                                        "call_id": "id",
                                        "name": "function",
                                        "arguments": "arguments",
                                        "parse_error": "parse_error",
                                    },
                                ),
                                Row("part", "content[*]", {"text": "text"}),
                            ],
                        ),
                        Row(
                            "event",
                            "events[*]",
                            {
                                "event": "event",
                                "id": "id",
                                "timestamp": "timestamp",
                                "seconds": "working_time",
                                "completed": "completed",
                                "model": "model",
                                "error": "error",
                                "input_tokens": "output.usage.input_tokens",
                                "output_tokens": "output.usage.output_tokens",
                                "cost": "output.usage.total_cost",
                                "tools": "tools",
                            },
                            [Row("choice", "output.choices[*]", {"id": "message.id"})],
                        ),
                        Row("score", "scores.*", {"value": "value"}),
                        Row(
                            "usage",
                            "model_usage.*",
                            {"input": "input_tokens", "output": "output_tokens", "cost": "total_cost"},
                        ),
                        Row("attachment", "attachments.*"),
                    ],
                )
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """A zip with a header and samples, or objects with ``eval``, ``version`` and ``samples``."""
        if head.start.startswith(ZIP):
            names = members(head.file)
            if {"header.json", "_journal/start.json"} & set(names):
                return Sniff(99, "the file is a zip with a header of a log")
            return Sniff(20, "the file is a zip without header.json")
        keys = {key for record in head.records if isinstance(record, dict) for key in record}
        if {"eval", "version"} <= keys and keys & {"samples", "status", "plan"}:
            return Sniff(97, "there are version, eval and samples of a log")
        return Sniff(0, "there is no eval with version and samples")

    def blocks(self, inputs: Sequence[File], options: Options) -> Iterator[Block]:
        """The samples, with their header around them."""
        for file in inputs:
            if is_zip(file):
                yield from zipped(file, options)
                continue
            yield from super().blocks([file], options)

    def parse(self, block: Block) -> Batch:
        """The traces of a block."""
        plain = _json_only(block)
        batch = super().parse(plain)
        return batch if plain is block else replace(batch, notes=(*batch.notes, NOT_JSON))

    def faults(self, found: Projected, whole: Projected) -> Iterator[Fault]:  # noqa: ARG002  traces tell it all
        """A sample that is none, or whose messages are none."""
        sample, message = found["sample"], found["message"]
        yield ~sample.has("@", OBJECT), "a sample is no object"
        yield ~sample.has("id", STRING, NUMBER), "a sample has no id"
        yield some_inside(found, "message", ~message.has("role", STRING)), "a message has no role"

    def tables(self, records: Nested) -> Tables:
        """The tables of the good samples."""
        found, sample, message = records.found, records.found["sample"], records.found["message"]
        n = sample.n
        put_back = _Attachments(found)
        by_agent = is_in(message.text("role"), "assistant")
        turn = np.full(message.n, -1, np.int32)
        turn[by_agent] = positions_in(group_offsets(message.parent[by_agent], n))
        content = put_back(_contents(found), message.parent)
        asked = _asked(found, turn, put_back)
        said = np.flatnonzero(by_agent & (pc.fill_null(pc.binary_length(content), 0).to_numpy() > 0))
        answer = last_said(message.parent[said], turn[said], asked, n, lambda rows: content.take(pa.array(said[rows])))
        calls, _ = call_table(asked, _results(message, content), n)
        document, of = records.document, pa.array(records.of)
        case, epoch = sample.text("id", STRING, NUMBER), sample.text("epoch", NUMBER)
        log = pc.coalesce(document.text("eval_id"), document.text("run_id")).take(of)
        event, usage, score = found["event"], found["usage"], found["score"]
        completion = put_back(sample.text("completion"), np.arange(n))
        steps, of_message = _steps(found, by_agent, n)
        sums = steps.per_trace(n)
        traces = table(
            TRACES,
            n,
            **origin(records),
            **trace_names(records, pc.coalesce(sample.text("uuid"), joined(log, case, epoch, by=":")), unique=True),
            case_id=case,
            started_at=first_of(event.time("timestamp"), event.parent, n),
            tags=tags_of(
                n,
                *_of_documents(document, records.of),
                *column_tags(sample, "epoch", "limit", "failure"),
                (score.parent.tolist(), score.text("@key").to_pylist(), json_texts(score, "value")),
            ),
            tools=put_back(first_of(event.text("tools", ARRAY), event.parent, n), np.arange(n)),
            has_calls=sample.has("messages", ARRAY),
            final_answer=pc.coalesce(pc.if_else(pc.equal(completion, ""), None, completion), answer),
            llm_calls=np.bincount(message.parent[by_agent], minlength=n),
            input_tokens=pc.coalesce(summed(usage.integer("input"), usage.parent, n), sums["input_tokens"]),
            output_tokens=pc.coalesce(summed(usage.integer("output"), usage.parent, n), sums["output_tokens"]),
            cost=pc.coalesce(summed(usage.float("cost"), usage.parent, n), sums["cost"]),
        )
        calls = _with_times(calls, event)
        return Tables(traces, calls, spans=step_spans(steps, of_message[asked.at], calls, n))


def _of_documents(document: Found, of: I64) -> list[Scores]:
    tags: list[Scores] = []
    for name in ("task", "model"):
        values = json_texts(document, name)
        tags.append((list(range(of.size)), [name] * of.size, [values[k] for k in of.tolist()]))
    return tags


def _contents(found: Projected) -> pa.Array:
    """The text of every message."""
    message, part = found["message"], found["part"]
    content = message.text("content", STRING)
    some = part.has("text", STRING)
    if not some.any():
        return content
    offsets = pa.array(group_offsets(part.parent[some], message.n))
    lists = pa.LargeListArray.from_arrays(offsets, part.text("text").filter(pa.array(some)))
    return pc.coalesce(content, pc.binary_join(lists, pa.scalar("", TEXT)))


def _asked(found: Projected, turn: npt.NDArray[np.int32], put_back: _Attachments) -> Asked:
    message, call = found["message"], found["call"]
    arguments, form = call.arguments("arguments")
    broken = call.has("parse_error", STRING)
    at = call.parent.astype(np.int64)
    trace = message.parent[at].astype(np.int64)
    columns = {
        "name": call.text("name"),
        "malformed": ~call.has("name", STRING),
        "arguments": pc.if_else(pa.array(broken), call.text("parse_error"), put_back(arguments, trace)),
        "arguments_form": np.where(broken, np.uint8(JSON_STRING), form),
        "call_id": call.text("call_id", STRING, NUMBER),
    }
    return Asked(trace, at, turn[at], columns)


def _results(message: Found, content: pa.Array) -> Results:
    rows = np.flatnonzero(is_in(message.text("role"), "tool"))
    some = pa.array(rows)
    failed = pa.array(message.has("error", OBJECT)).take(some)
    result, error = content.take(some), message.text("error_message").take(some)
    status = pc.if_else(failed, pa.scalar("error", TEXT), pa.scalar("ok", TEXT))

    def columns(at: I64) -> dict[str, pa.Array]:
        chosen = pa.array(at)
        return {"result": result.take(chosen), "status": status.take(chosen), "error": error.take(chosen)}

    ids = message.text("tool_call_id", STRING, NUMBER).take(some)
    return Results(message.parent[rows].astype(np.int64), rows, ids, message.text("name").take(some), columns)


def _with_times(calls: pa.Table, event: Found) -> pa.Table:
    """The calls with the times of their events; the k-th event of an id is that of the k-th call."""
    known: dict[tuple[int, str | None], list[int]] = {}
    of_tools = np.flatnonzero(is_in(event.text("event"), "tool"))
    ids = event.text("id").take(pa.array(of_tools)).to_pylist()
    for row, call_id in zip(of_tools.tolist(), ids, strict=True):
        known.setdefault((int(event.parent[row]), call_id), []).append(row)
    keys = zip(calls["trace"].to_pylist(), calls["call_id"].to_pylist(), strict=True)
    rows = [known[key].pop(0) if known.get(key) else None for key in keys]
    at = pa.array(rows, pa.int64())
    started = event.time("timestamp").take(at)
    lasted = pc.multiply(event.float("seconds"), 1000.0).take(at)
    for name, values in (("started_at", started.cast(TIME)), ("duration_ms", lasted)):
        place = calls.schema.get_field_index(name)
        calls = calls.set_column(place, calls.schema.field(place), values)
    return calls


def _steps(found: Projected, by_agent: npt.NDArray[np.bool_], n: int) -> tuple[Steps, I64]:
    """The calls of the model, and int64[messages]: which of them wrote each message, -1 where that is not known.

    Events tell of them, also of those that graded the sample; a sample without such events has its messages alone.
    """
    message, event = found["message"], found["event"]
    told = np.flatnonzero(is_in(event.text("event"), "model"))
    by_events = np.zeros(n, np.bool_)
    by_events[event.parent[told]] = True
    alone = np.flatnonzero(by_agent & ~by_events[message.parent])
    places = [rows.parent[at].astype(np.int64) << 32 | at for rows, at in ((event, told), (message, alone))]
    place, columns = put_together(
        (places[0], _of_events(event.taken(told))),
        (places[1], {"model": message.text("model").take(pa.array(alone))} | _nothing(alone.size)),
    )
    trace, row = place >> 32, place & 0xFFFFFFFF
    of_event, of_message = np.full(event.n, -1, np.int64), np.full(message.n, -1, np.int64)
    of_event[row[by_events[trace]]] = np.flatnonzero(by_events[trace])
    of_message[row[~by_events[trace]]] = np.flatnonzero(~by_events[trace])
    _match(found, by_agent, of_event, of_message)
    return Steps(trace, columns), of_message


def _of_events(event: Found) -> dict[str, pa.Array]:
    """Columns of `tracelens.columns.SPANS` of events of models."""
    started = event.time("timestamp")
    worked = pc.multiply(event.float("seconds"), 1000.0)
    failed = pc.if_else(pa.array(event.has("error", STRING, OBJECT)), pa.scalar("error", TEXT), pa.scalar("ok", TEXT))
    return {
        "model": event.text("model"),
        "status": failed,
        "started_at": started,
        "duration_ms": pc.coalesce(worked, waited(started, event.time("completed"))),
        "input_tokens": event.integer("input_tokens"),
        "output_tokens": event.integer("output_tokens"),
        "cost": event.float("cost"),
    }


def _nothing(n: int) -> dict[str, pa.Array]:
    """The columns of events where there are none, the model aside."""
    names = ("status", "started_at", "duration_ms", "input_tokens", "output_tokens", "cost")
    return {name: pa.nulls(n, SPANS.field(name).type) for name in names}


def _match(found: Projected, by_agent: npt.NDArray[np.bool_], of_event: I64, of_message: I64) -> None:
    """Which event wrote each message: the one with its id; where no ids are kept, by order if there are as many."""
    message, event, choice = found["message"], found["event"], found["choice"]
    written = event.parent[choice.parent].tolist(), choice.text("id").to_pylist()
    known = dict(zip(zip(*written, strict=True), of_event[choice.parent].tolist(), strict=True))
    rows = np.flatnonzero(by_agent & (of_message < 0))
    ids = message.text("id").take(pa.array(rows)).to_pylist()
    keys = zip(message.parent[rows].tolist(), ids, strict=True)
    of_message[rows] = [known.get(key, -1) if key[1] is not None else -1 for key in keys]
    n = found.top.n
    open_, models = rows[of_message[rows] < 0], np.flatnonzero(of_event >= 0)
    counts = np.bincount(message.parent[rows], minlength=n), np.bincount(message.parent[open_], minlength=n)
    same = (counts[0] == counts[1]) & (counts[0] == np.bincount(event.parent[models], minlength=n))
    of_message[open_[same[message.parent[open_]]]] = of_event[models[same[event.parent[models]]]]


class _Attachments:
    """Texts that samples keep apart, put back where they are referred to."""

    def __init__(self, found: Projected) -> None:
        rows = found["attachment"]
        keys = zip(rows.parent.tolist(), rows.text("@key").to_pylist(), strict=True)
        self._texts: dict[tuple[int, str], str | None] = {}
        if rows.n:
            self._texts = dict(zip(keys, rows.text("@").to_pylist(), strict=True))

    def __call__(self, texts: pa.Array, trace: npt.NDArray[Any]) -> pa.Array:
        """Texts with their attachments, those inside JSON text as well; an attachment that is not there stays."""
        if not self._texts:
            return texts
        rows = np.flatnonzero(pc.fill_null(pc.match_substring(texts, WHOLE), False).to_numpy(zero_copy_only=False))
        if not rows.size:
            return texts
        values = texts.to_pylist()
        for row in rows.tolist():
            values[row] = self._whole(values[row], int(trace[row]))
        return pa.array(values, TEXT)

    def _whole(self, text: str, trace: int) -> str:
        if text.startswith(WHOLE):
            return self._texts.get((trace, text.removeprefix(WHOLE))) or text

        def found(match: re.Match[str]) -> str:
            kept = self._texts.get((trace, match[1]))
            return match[0] if kept is None else encode(kept)

        return REFERENCE.sub(found, text)


def _json_only(block: Block) -> Block:
    """The block without numbers that are no JSON; the same one where there are none."""
    raw = block.data[: block.size].tobytes()
    if b"NaN" not in raw and b"Infinity" not in raw:
        return block
    marks = block.records()
    parts = [NO_NUMBER.sub(_null, raw[a:b]) for a, b in zip(marks.starts, marks.ends, strict=True)]
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    starts = ends - np.array([len(part) for part in parts], np.int64)
    if all(len(part) == b - a for part, a, b in zip(parts, marks.starts, marks.ends, strict=True)):
        return block
    text = b"".join(parts)
    failure = None if block.failure is None else (block.failure[0], len(text))
    lines = np.array([starts, ends, marks.lines - block.line], np.int64)
    return replace(block, data=padded(text), size=len(text), begin=0, marks=lines, failure=failure)


def _null(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].startswith(b'"') else b"null"
