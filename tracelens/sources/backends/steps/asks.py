"""What models said: the calls they asked for, their text and their usage, in any provider's shape.

An output may be one message (OpenAI, Anthropic, LangChain in all its serialisations, Google ``content``), a response
with ``choices``, ``candidates`` or LangChain ``generations``, a list of messages or of Responses items, a bare list of
calls (Vercel), or plain text. Only the first of several choices counts. LangChain's raw copies of the calls
(``additional_kwargs``) and Anthropic's blocks count only where the message has no calls in the common form; calls that
LangChain could not parse (``invalid_tool_calls``) come with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import FREE_TEXT, TEXT, one_chunk, one_of, valid
from tracelens.projection import (
    ANYTHING,
    NONE,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    Found,
    Projected,
    Projection,
    Row,
)
from tracelens.sources.backends.steps.model import ASKS, I64, Mask, asks_table, inside, taken

BODIES = ("", "kwargs.", "data.")
"""Where LangChain's serialisations keep the members of a message."""

ASK = {
    "id": "id",
    "call_id": ("call_id", "toolCallId", "tool_call_id", "callId"),
    "type": "type",
    "name": ("function.name", "toolName", "tool_name", "functionCall.name", "function_call.name", "name"),
    "arguments": (
        *("function.arguments", "functionCall.args", "function_call.args", "function_call.arguments"),
        *("arguments", "args", "input"),
    ),
    "google": ("functionCall", "function_call"),
    "custom_name": "custom.name",
    "custom_input": "custom.input",
    "error": "error",
    "text": ("text", "content"),
}
"""What a call, or a part of a message, may be made of."""

ASKING = ("tool_use", "tool_call", "tool-call", "function_call", "custom_tool_call", "mcp_call", "mcp_tool_use")
"""Types of parts and items that are calls."""

SAYING = ("text", "output_text")
"""Types of parts that are text."""

KINDS_OF_ASK = ("asked", "refused", "raw", "part")
"""Tables of calls inside a message, the most trusted first: as a list, unparseable, raw copies, parts."""

USAGE = {
    "input_tokens": ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count"),
    "output_tokens": ("completion_tokens", "output_tokens", "candidatesTokenCount", "candidates_token_count"),
}
USAGE_AT = (
    *("usage", "usage_metadata", "usageMetadata", "kwargs.usage_metadata", "data.usage_metadata"),
    *("output.usage_metadata", "llm_output.token_usage", "kwargs.response_metadata.token_usage"),
)


def message_rows(name: str, at: str | Sequence[str], bodies: Sequence[str] = BODIES) -> Row:
    """The tables of messages at those paths; tables inside are named ``<name>.<table>``."""

    def inside(*paths: str) -> list[str]:
        return [body + path for body in bodies for path in paths]

    capture: dict[str, str | Sequence[str]] = {
        "role": inside("role"),
        "type": "type",
        "content": inside("content"),
        "finish": "finish_reason",
    }
    for column, names in USAGE.items():
        capture[column] = [f"{usage}.{each}" for usage in USAGE_AT for each in names]
    if at != "":
        capture |= {column: paths for column, paths in ASK.items() if column not in {"type", "text"}}
    return Row(
        name,
        at,
        capture=capture,
        rows=[
            Row(f"{name}.asked", inside("tool_calls[*]", "toolCalls[*]"), ASK),
            Row(f"{name}.refused", inside("invalid_tool_calls[*]"), ASK),
            Row(f"{name}.raw", inside("additional_kwargs.tool_calls[*]"), ASK),
            Row(f"{name}.part", inside("content[*]", "parts[*]"), ASK),
        ],
    )


@cache
def outputs() -> Projection:
    """The declaration of what a model may have said."""
    top = message_rows("said", "", ("", "kwargs.", "data.", "output.", "output.kwargs."))
    chosen = message_rows(
        "chosen",
        (
            *("choices[*].message", "message", "candidates[*].content"),
            *("generations[*][*].message", "generations[*].message", "response.candidates[*].content"),
        ),
    )
    listed = message_rows("listed", ("[*]", "output[*]"))
    return Projection(Row("said", top.at, {**top.capture, "text": "text"}, [*top.rows, chosen, listed]))


@cache
def inner_calls() -> Projection:
    """A list of calls that stands as text in the content of a message."""
    return Projection(Row("list", rows=[Row("call", "[*]", ASK)]))


@dataclass(frozen=True, slots=True)
class Said:
    """What models said, by output.

    Attributes:
        asks: See `tracelens.sources.backends.steps.model.ASKS`; ``step`` is the row of the output.
        text: str?[outputs]: the text.
        input_tokens: int64?[outputs].
        output_tokens: int64?[outputs].
    """

    asks: pa.Table
    text: pa.Array
    input_tokens: pa.Array
    output_tokens: pa.Array


def said(given: pa.Array) -> Said:
    """Read outputs.

    Args:
        given: str?[n], JSON text or plain text.

    Example:
        >>> found = said(pa.array(['{"role": "assistant", "tool_calls": [{"name": "f", "args": {}}]}', "Done."], TEXT))
        >>> found.asks["name"].to_pylist(), found.text.to_pylist()
        (['f'], [None, 'Done.'])
    """
    n = len(given)
    found = inside(outputs(), given)
    found = _first_choices(found)
    record = found["said"].parent.astype(np.int64)
    asks, words = [], [_plain(given, found)]
    tokens: dict[str, list[tuple[I64, pa.Array]]] = {name: [] for name in USAGE}
    for name in ("said", "chosen", "listed"):
        rows = found[name]
        owner = record if name == "said" else record[rows.parent]
        asks.append(_asks_of(found, name, owner))
        words.append((owner, _words(found, name)))
        for column, parts in tokens.items():
            parts.append((owner, rows.integer(column)))
    every = pa.concat_tables(asks).combine_chunks()
    every = every.take(np.argsort(every["step"].to_numpy(), kind="stable")) if every.num_rows else every
    return Said(every, _last(words, n, TEXT), *(_last(parts, n, pa.int64()) for parts in tokens.values()))


def _first_choices(found: Projected) -> Projected:
    """Without the second and later choices of a response."""
    parent = found["chosen"].parent
    first = np.ones(parent.size, np.bool_)
    first[1:] = parent[1:] != parent[:-1]
    return found if first.all() else found.keeping(first, "chosen")


def _plain(given: pa.Array, found: Projected) -> tuple[I64, pa.Array]:
    """Outputs that are no JSON, or a JSON string: their text."""
    broken = np.flatnonzero((found.errors[:, 0] > 0) & valid(given))
    top = found["said"]
    bare = np.flatnonzero(top.has("@", STRING))
    rows = np.concatenate([broken, top.parent[bare].astype(np.int64)])
    return rows, pa.concat_arrays([given.take(pa.array(broken)), top.text("@").take(pa.array(bare))])


def _last(parts: Sequence[tuple[I64, pa.Array]], n: int, kind: pa.DataType) -> pa.Array:
    """The last value of each of n rows that is not null, over several columns."""
    owner = np.concatenate([rows for rows, _ in parts])
    values = pa.concat_arrays([one_chunk(each).cast(kind) for _, each in parts])
    there = np.flatnonzero(valid(values))
    at = np.full(n, -1, np.int64)
    at[owner[there]] = there
    return taken(values, at) if len(values) else pa.nulls(n, kind)


def _is(values: pa.Array, known: Sequence[str]) -> Mask:
    return one_of(values, *known)


def _words(found: Projected, name: str) -> pa.Array:
    """str?[messages]: the text of messages; parts are put together, null where there is none."""
    rows, part = found[name], found[f"{name}.part"]
    content = rows.text("content")
    if name == "said":
        content = pc.coalesce(content, rows.text("text"))
    content = pc.if_else(pc.equal(content, ""), pa.scalar(None, TEXT), content)
    kind = part.text("type")
    plain = part.has("text", STRING) & (_is(kind, SAYING) | part.has("type", NONE))
    if not plain.any():
        return content
    keep = np.flatnonzero(plain)
    counts = np.bincount(part.parent[keep], minlength=rows.n)
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]))
    values = part.text("text").take(pa.array(keep))
    joined = pc.binary_join(pa.LargeListArray.from_arrays(offsets, values), pa.scalar("", TEXT))
    return pc.coalesce(content, pc.if_else(pa.array(counts > 0), joined, pa.scalar(None, TEXT)))


def _asks_of(found: Projected, name: str, owner: I64) -> pa.Table:
    """The calls that the messages of one table ask for."""
    rows = found[name]
    parts = {kind: found[f"{name}.{kind}"] for kind in KINDS_OF_ASK}
    has = {kind: np.bincount(part.parent, minlength=rows.n) > 0 for kind, part in parts.items()}
    own = np.zeros(rows.n, np.bool_) if name == "said" else _is_call(rows)
    settled = has["asked"] | has["refused"] | own
    made: list[tuple[I64, pa.Table]] = []
    if own.any():
        made.append((np.flatnonzero(own), _calls(rows, own)))
    for kind, part in parts.items():
        keep = np.ones(part.n, np.bool_)
        if kind == "part":
            keep = _is_call(part) & ~(settled | has["raw"])[part.parent]
        elif kind == "raw":
            keep = ~settled[part.parent]
        if keep.any():
            made.append((part.parent[keep].astype(np.int64), _calls(part, keep)))
    made += _written(rows, settled | has["raw"])
    if not made:
        return ASKS.empty_table()
    at = np.concatenate([message for message, _ in made])
    order = np.argsort(at, kind="stable")
    every = pa.concat_tables([calls for _, calls in made]).combine_chunks().take(order)
    return every.set_column(0, ASKS.field("step"), pa.array(owner[at[order]]))


def _is_call(rows: Found) -> Mask:
    """Which parts or items are calls: by type, Google's by their member, Vercel's without a type by their names."""
    bare = rows.has("type", NONE) & rows.has("name", STRING) & rows.has("call_id", STRING) & ~_answers(rows)
    return _is(rows.text("type"), ASKING) | rows.has("google", OBJECT) | bare


def _answers(rows: Found) -> Mask:
    """Which items are messages, whatever ids they carry."""
    return rows.has("role", STRING) if "role" in rows.table.columns else np.zeros(rows.n, np.bool_)


def _calls(rows: Found, keep: Mask) -> pa.Table:
    """Some rows that ask for a call, with ``step`` left at 0."""
    custom = rows.has("custom_name", STRING)
    free = pa.array(custom)
    arguments, form = rows.arguments("arguments")
    name = pc.if_else(free, rows.text("custom_name"), rows.text("name"))
    typed = _is(rows.text("type"), ["custom_tool_call"])
    refused = rows.table.name.endswith(".refused")
    made = asks_table(
        rows.n,
        step=np.zeros(rows.n, np.int64),
        name=name,
        malformed=~valid(name),
        arguments=pc.if_else(free, rows.text("custom_input", *ANYTHING), arguments),
        arguments_form=np.where(custom | typed, FREE_TEXT, form).astype(np.uint8),
        call_id=pc.coalesce(rows.text("call_id", STRING, NUMBER), rows.text("id", STRING, NUMBER)),
        error=rows.text("error", *ANYTHING) if refused else pa.nulls(rows.n, TEXT),
        kind=pc.if_else(pa.array(custom | typed), pa.scalar("custom", TEXT), pa.scalar(None, TEXT)),
    )
    return made.filter(pa.array(keep))


def _written(rows: Found, settled: Mask) -> list[tuple[I64, pa.Table]]:
    """Calls that stand as JSON text in the content of messages that finished with tool calls."""
    finished = ~rows.has("finish", NONE, NULL) & rows.has("content", STRING) & ~settled
    at = np.flatnonzero(finished & _is(rows.text("finish"), ["tool_calls", "tool-calls"]))
    if not at.size:
        return []
    calls = inside(inner_calls(), rows.text("content").take(pa.array(at)))
    call = calls["call"]
    message = at[calls["list"].parent[call.parent]]
    return [(message, _calls(call, np.ones(call.n, np.bool_)))] if call.n else []
