"""The calls that models asked for: in the messages they wrote, wherever a dialect keeps those."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import ABSENT, JSON_STRING, TEXT, one_of, texts, valid
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ANYTHING, OBJECT, STRING, Projected, Projection, Row, run
from tracelens.sources.otlp.attributes import Mask, plain_map, scattered
from tracelens.sources.otlp.dialects import LLM
from tracelens.sources.otlp.spans import Spans, climb

I64 = npt.NDArray[np.int64]

CALL = {
    "type": "type",
    "id": ("id", "call_id", "toolUseId", "toolUse.toolUseId", "functionCall.id", "function_call.id"),
    "name": ("name", "function.name", "toolUse.name", "functionCall.name", "function_call.name"),
    "arguments": (
        "arguments", "args", "input", "function.arguments", "toolUse.input", "functionCall.args", "function_call.args",
    ),
    "content": ("content", "text"),
    "response": ("response", "result", "functionResponse.response", "function_response.response"),
    "answers": ("tool_call_id", "tool_use_id"),
}  # fmt: skip

LIST = Projection(
    Row(
        "list",
        rows=[
            Row(
                "message",
                "[*]",
                capture={
                    "role": ("role", "message.role"),
                    "content": ("message.content", "content", "text"),
                    "answers": ("tool_call_id", "message.tool_call_id"),
                    "id": ("toolCallId", "toolUse.toolUseId"),
                    "name": ("toolName", "toolUse.name"),
                    "arguments": ("args", "input", "toolUse.input"),
                },
                rows=[
                    Row(
                        "part",
                        ("parts[*]", "tool_calls[*]", "message.tool_calls[*]", "content[*]", "message.content[*]"),
                        capture=CALL,
                    )
                ],
            )
        ],
    )
)
"""Messages as a list: parts of the conventions, ``tool_calls`` of OpenAI, blocks of others, or bare calls."""

CALLS = ("tool_call", "tool-call", "function", "tool_use", "custom", "server_tool_call", "server_tool_use")
"""Types of parts that are calls, malformed ones without a name; a part without a type is one if it has a name."""

SERVER = ("server_tool_call", "server_tool_use")

DETAILS = "gen_ai.client.inference.operation.details"
CHOICES = ("gen_ai.choice", "gen_ai.assistant.message")
"""Events with what a model wrote, in the newer and the older form; the last one only where a span has no other."""

FLAT = re.compile(
    r"(?:llm\.output_messages|gen_ai\.output\.messages)\.(\d+)\.message\.tool_calls\.(\d+)\.tool_call\.(?:function\.)?(id|name|arguments)"
    r"|gen_ai\.completion\.(\d+)\.tool_calls\.(\d+)\.(?:function\.)?(id|name|arguments)"
    r"|(?:llm\.output_messages|gen_ai\.output\.messages)\.(\d+)\.message\.()(function_call_name|function_call_arguments_json)"
    r"|gen_ai\.completion\.(\d+)\.()function_call\.(name|arguments)"
)
"""Keys of calls that are spread over attributes: number of the message, number of the call, and what it is."""

FLAT_TEXT = re.compile(
    r"(?:llm\.output_messages|gen_ai\.output\.messages)\.(\d+)\.message\.content|gen_ai\.completion\.(\d+)\.content"
)
FLAT_FIELDS = {
    "id": "id",
    "name": "name",
    "arguments": "arguments",
    "function_call_name": "name",
    "function_call_arguments_json": "arguments",
}


@dataclass(frozen=True, slots=True)
class Requested:
    """Calls that models asked for, by span and position.

    Attributes:
        span: int64[calls], the row of `Spans` whose output asked.
        position: int64[calls], position in that output.
        id: str?[calls].
        name: str?[calls].
        arguments: str?[calls].
        form: uint8[calls].
        server: bool[calls], run by the model's provider.
        said: str?[spans], the text that the model wrote in that span.
    """

    span: I64
    position: I64
    id: pa.Array
    name: pa.Array
    arguments: pa.Array
    form: npt.NDArray[np.uint8]
    server: Mask
    said: pa.Array


def requested(spans: Spans) -> Requested:
    """Every call that a model asked for, once, as far as messages were recorded."""
    owner, written = _outputs(spans)
    found, parts_of = _projected(written)
    listed = _listed(found, owner[parts_of])
    flat = _flat(spans)
    said = _said(found, owner[parts_of], spans)
    said = pc.coalesce(said, _flat_text(spans))
    columns = [pa.concat_arrays([a, b]) for a, b in zip(listed[2:5], flat[2:5], strict=True)]
    span = np.concatenate([listed[0], flat[0]])
    place = np.concatenate([listed[1], flat[1]])
    form, server = np.concatenate([listed[5], flat[5]]), np.concatenate([listed[6], flat[6]])
    keep = np.flatnonzero(~_inside_another(spans, span)[span])
    order = keep[np.lexsort((place[keep], span[keep]))]
    span = span[order]
    position = positions_in(group_offsets(span, spans.n)).astype(np.int64)
    ids, names, arguments = (column.take(pa.array(order)) for column in columns)
    return Requested(span, position, ids, names, arguments, form[order], server[order], said)


def _inside_another(spans: Spans, span: I64) -> Mask:
    """bool[spans]: model spans inside a model span that asked for calls too: the same answer once more."""
    asks = np.zeros(spans.n, np.bool_)
    asks[span] = True
    return climb(spans.parent, asks) >= 0


def _outputs(spans: Spans) -> tuple[I64, pa.Array]:
    """Texts with messages that models wrote, and the span of each."""
    is_llm = spans.kind == LLM
    row = spans.row("output", is_llm)
    at = np.flatnonzero(row >= 0)
    owners, written = [at], [spans.attributes.text(row[at])]
    told = np.zeros(spans.n, np.bool_)
    told[at] = True
    if spans.events.n:
        owner, text = _event_outputs(spans, is_llm & ~told)
        owners.append(owner)
        written.append(text)
    if spans.is_log.any():
        owner, text = _log_outputs(spans, told)
        owners.append(owner)
        written.append(text)
    owner, text = np.concatenate(owners), pa.concat_arrays(written)
    order = np.argsort(owner, kind="stable")
    text = text.take(pa.array(order))
    single = pc.starts_with(pc.utf8_ltrim_whitespace(text), "{")
    if pc.any(single).as_py():
        wrapped = pc.binary_join_element_wise(pa.scalar("[", TEXT), text, pa.scalar("]", TEXT), pa.scalar("", TEXT))
        text = pc.if_else(single, wrapped, text)
    return owner[order], text


def _event_outputs(spans: Spans, wanted: Mask) -> tuple[I64, pa.Array]:
    """Messages in the events of model spans that have them nowhere else."""
    name, events = spans.event_name, spans.events
    of_model = wanted[spans.event_span]
    details = one_of(name, DETAILS) & of_model
    row = events.row(("gen_ai.output.messages",), among=details)
    row = events.row(
        ("message", "gen_ai.event.content", "content", "tool_calls"), row, one_of(name, CHOICES[0]) & of_model
    )
    chose = np.zeros(spans.n, np.bool_)
    chose[spans.event_span[row >= 0]] = True
    at = np.flatnonzero(row >= 0)
    return spans.event_span[at], events.text(row[at])


def _log_outputs(spans: Spans, told: Mask) -> tuple[I64, pa.Array]:
    """Messages in log records, and the span that each belongs to: its own row where that was not recorded."""
    attributes = spans.attributes
    named = attributes.row(("event.name", "event_name"), among=spans.is_log)
    name = pc.coalesce(spans.span.text("event", STRING), attributes.text(named))
    row = attributes.row(("gen_ai.output.messages",), among=one_of(name, DETAILS) & spans.is_log)
    at = np.flatnonzero(row >= 0)
    choice = np.flatnonzero(one_of(name, CHOICES[0]) & spans.is_log)
    bodies = [text and plain_map(text) for text in spans.span.text("map", OBJECT).take(pa.array(choice)).to_pylist()]
    said = pc.coalesce(pa.array(bodies, TEXT), spans.span.text("said", STRING).take(pa.array(choice)))
    rows = np.concatenate([at, choice])
    text = pa.concat_arrays([attributes.text(row[at]), said])
    owner = np.where(spans.parent[rows] >= 0, spans.parent[rows], rows)
    keep = np.flatnonzero(~told[owner] & valid(text))
    return owner[keep], text.take(pa.array(keep))


def _projected(written: pa.Array) -> tuple[Projected, I64]:
    """The messages of texts; a text that is no JSON has none."""
    inner = texts(written)
    found = run(LIST, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())
    return found, found["list"].parent.astype(np.int64)


Columns = tuple[I64, I64, pa.Array, pa.Array, pa.Array, npt.NDArray[np.uint8], Mask]


def _listed(found: Projected, owner: I64) -> Columns:
    """Calls in lists of messages: parts, and messages that are calls themselves."""
    message, part = found["message"], found["part"]
    kind = part.text("type")
    is_call = one_of(kind, *CALLS) | (part.has("name", STRING) & ~valid(kind))
    bare = message.has("name", STRING)
    sizes = [int(np.count_nonzero(mask)) for mask in (is_call, bare)]
    parts, messages = np.flatnonzero(is_call), np.flatnonzero(bare)
    of_message = np.concatenate([part.parent[parts], messages]).astype(np.int64)
    columns = []
    for name, kinds in (("id", ()), ("name", ()), ("arguments", ANYTHING)):
        both = [
            part.text(name, *kinds).take(pa.array(parts)),
            message.text(name, *kinds).take(pa.array(messages)),
        ]
        columns.append(pa.concat_arrays(both))
    form = np.concatenate([part.arguments("arguments")[1][parts], message.arguments("arguments")[1][messages]])
    server = np.concatenate([one_of(kind, *SERVER)[parts], np.zeros(sizes[1], np.bool_)])
    place = of_message * (part.n + 1) + np.concatenate([parts, np.zeros(sizes[1], np.int64)])
    span = owner[message.parent[of_message]] if of_message.size else of_message
    return span, place, columns[0], columns[1], columns[2], form.astype(np.uint8), server


def _said(found: Projected, owner: I64, spans: Spans) -> pa.Array:
    """The last text of each span's messages, parts together."""
    message, part = found["message"], found["part"]
    kind = part.text("type")
    is_text = part.has("content", STRING) & (one_of(kind, "text", "output_text") | ~valid(kind))
    plain = message.text("content", STRING)
    rows = np.flatnonzero(is_text)
    last = np.full(spans.n, -1, np.int64)
    content = part.text("content", STRING)
    offsets = group_offsets(part.parent[rows], message.n) if message.n else np.zeros(1, np.int64)
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), content.take(pa.array(rows)))
    joined = pc.binary_join(lists, pa.scalar("", TEXT)) if message.n else plain
    whole = pc.coalesce(plain, pc.if_else(pc.equal(joined, ""), pa.scalar(None, TEXT), joined))
    at = np.flatnonzero(valid(whole))
    last[owner[message.parent[at]]] = at
    there = np.flatnonzero(last >= 0)
    return scattered(whole.take(pa.array(last[there])), there, spans.n)


def _flat(spans: Spans) -> Columns:
    """Calls that are spread over attributes with numbers in their keys."""
    attributes = spans.attributes
    named = [(key, match.groups()) for key in attributes.keys if (match := FLAT.fullmatch(key))]
    rows, places, fields = [], [], []
    for key, groups in named:
        message, call, what = (group for group in groups if group is not None)
        mine = attributes.rows_of(key)
        mine = mine[spans.kind[attributes.owner[mine]] == LLM]
        rows.append(mine)
        places.append(np.full(mine.size, min(int(message), 4095) << 12 | min(int(call or 0), 4095), np.int64))
        fields.append(np.full(mine.size, ("id", "name", "arguments").index(FLAT_FIELDS[what]), np.int64))
    if not rows or not sum(row.size for row in rows):
        none = np.zeros(0, np.int64)
        nulls = pa.nulls(0, TEXT)
        return none, none, nulls, nulls, nulls, np.zeros(0, np.uint8), np.zeros(0, np.bool_)
    row, place, field = np.concatenate(rows), np.concatenate(places), np.concatenate(fields)
    key = (attributes.owner[row] << 24) | place
    calls, of_call = np.unique(key, return_inverse=True)
    found = np.full((3, calls.size), -1, np.int64)
    found[field, of_call] = row
    arguments, form = attributes.value(found[2])
    columns = attributes.text(found[0]), attributes.text(found[1]), arguments
    named_calls = np.flatnonzero(found[1] >= 0)
    some = [column.take(pa.array(named_calls)) for column in columns]
    return (
        calls[named_calls] >> 24,
        calls[named_calls] & ((1 << 24) - 1),
        *some,
        np.where(form == ABSENT, ABSENT, JSON_STRING)[named_calls].astype(np.uint8),
        np.zeros(named_calls.size, np.bool_),
    )


def _flat_text(spans: Spans) -> pa.Array:
    """The text of messages that are spread over attributes; the first message counts."""
    keys = sorted(key for key in spans.attributes.keys if FLAT_TEXT.fullmatch(key))
    return spans.attributes.text(spans.attributes.row(keys, among=spans.kind == LLM))
