"""Anthropic streams: the events of streamed messages, as server-sent events or as JSON lines.

A file is a trace; a message begins with ``message_start``. Arguments are put together from the fragments of
``input_json_delta``; a block that began with its whole input and got no fragments keeps it. Where the stream ends
before the message does, the block that was being written is truncated, and the trace is not complete; where the model
itself stopped, what it wrote is judged as it is. Lines of ``event:`` and comments are blank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import JSON_STRING, TEXT, TRACES, TRUNCATED, one_chunk, places, table
from tracelens.groups import offsets_of
from tracelens.projection import NUMBER, STRING, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, Sniff, Tables
from tracelens.sources.chats.anthropic import BLOCK, block_kinds, told_by_blocks
from tracelens.sources.chats.messages import Steps, total
from tracelens.sources.gather import Pieces, Seen
from tracelens.sources.logs.sessions import Owner, SessionSource
from tracelens.sources.reading.digests import digests_of
from tracelens.sources.reading.io import Block
from tracelens.sources.talk import I64, Mask, Stream, Told, is_in, read_stream

DATA = np.frombuffer(b"data:", np.uint8)
EVENT = {
    "type": "type",
    "index": "index",
    "model": "message.model",
    "message_id": "message.id",
    "input": "message.usage.input_tokens",
    "cache_read": "message.usage.cache_read_input_tokens",
    "cache_write": "message.usage.cache_creation_input_tokens",
    "output": "usage.output_tokens",
    "fragment": "delta.partial_json",
    "said": "delta.text",
}
STARTS = "content_block_start"


class AnthropicStream(SessionSource):
    """Anthropic streams."""

    name = "anthropic-stream"
    title = "Anthropic streams: server-sent events (or JSON lines of them) put together again"
    sample = "anthropic-stream.jsonl"
    merges = False
    keys = Projection(Row("line"))
    projection = Projection(
        Row(
            "line",
            capture=EVENT,
            rows=[Row("block", "content_block", BLOCK, [Row("piece", "content[*]", {"text": "text"})])],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Events of a stream: as lines, or behind ``data:``."""
        if head.start.lstrip().startswith((b"event: message_start", b"event:message_start")):
            return Sniff(95, "it begins with the event message_start")
        if b'"type":"message_start"' in head.start.replace(b" ", b"")[:4096] and head.start.lstrip().startswith(
            b"data:"
        ):
            return Sniff(95, "its data begins with message_start")
        lines = [each for each in head.records if isinstance(each, dict)]
        started = any(each.get("type") in {"message_start", "content_block_delta"} for each in lines)
        return Sniff(95, "lines are events of a stream") if started else Sniff(0, "there is no event message_start")

    def owner(self, name: str, lines: Iterable[Mapping[str, Any]]) -> tuple[Owner, str | None]:  # noqa: ARG002
        """The file."""
        return Owner(name), None

    def pieces_of(self, block: Block) -> Seen:
        """The events of a block, without what stands around their data."""
        marks = block.records()
        starts = marks.starts
        is_data = (block.data[starts[:, None] + np.arange(5)] == DATA).all(axis=1)
        begun = block.data[np.where(is_data, starts + 5, starts)]
        first = block.data[starts]
        named = ~is_data & np.isin(first, np.frombuffer(b"eir:", np.uint8))  # event, id, retry, a comment
        kept = np.flatnonzero(~named & (begun != ord("[")))
        starts = np.where(is_data, starts + 5, starts)[kept]
        some = np.stack([starts, marks.ends[kept], marks.lines[kept] - block.line])
        seen = super().pieces_of(replace(block, marks=some))
        digests = digests_of(block.data, marks.starts, marks.ends)
        return replace(seen, blank=seen.blank + marks.starts.size - kept.size, digests=digests)

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line that is no event."""
        yield ~found.top.has("type", STRING), "an event must be an object with a type"

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole streams."""
        line, block, n = pieces.found["line"], pieces.found["block"], pieces.n_traces
        kind, trace = line.text("type"), pieces.trace.astype(np.int64)
        begins = is_in(kind, "message_start")
        message = np.cumsum(begins | np.concatenate([[True], trace[1:] != trace[:-1]])[: line.n])
        opened = block.parent[is_in(kind, STARTS)[block.parent]].astype(np.int64)
        mine = np.flatnonzero(is_in(kind, STARTS)[block.parent])
        of_delta = _blocks_of(line, message, opened)
        ends = np.zeros(opened.size, np.bool_)
        ends[of_delta[(of_delta >= 0) & is_in(kind, "content_block_stop")]] = True
        stopped = np.isin(message, message[is_in(kind, "message_stop")])
        parts = {name: _together(line.text(name), of_delta, opened.size) for name in ("fragment", "said")}
        blocks = block.taken(mine)
        kinds = block_kinds(blocks, np.ones(mine.size, np.bool_))
        kinds[is_in(blocks.text("type"), "text")] = 3
        stream = Stream(trace[opened], message[opened], kinds, np.arange(mine.size))
        cut = ~ends & ~stopped[opened]
        told = _told(told_by_blocks(line, blocks, pieces.found["piece"], stream), parts, cut)
        talk = read_stream(stream, told, n)
        steps = _steps(line, begins, message, trace)
        columns = pieces.columns() | steps.per_trace(n) | {"final_answer": talk.final_answer}
        broken = np.bincount(trace[begins & ~stopped], minlength=n) > 0
        columns |= {"id_given": np.zeros(n, np.bool_), "complete": pa.array(np.zeros(n, np.bool_), mask=~broken)}
        return Tables(table(TRACES, n, **columns), talk.calls, spans=steps.spans(n))


def _blocks_of(line: Found, message: I64, opened: I64) -> I64:
    """int64[lines]: the opened block that each event is about, by message and index, -1 for none."""
    index = np.asarray(pc.fill_null(line.integer("index"), -1), np.int64)
    key = message << 24 | (index & 0xFFFFFF)
    order = np.argsort(key[opened], kind="stable")
    at = np.searchsorted(key[opened][order], key, side="right") - 1
    good = (at >= 0) & (index >= 0)
    good[good] = key[opened][order][at[good]] == key[good]
    return np.where(good, order[np.maximum(at, 0)] if order.size else -1, -1)


def _together(values: pa.Array, block: I64, n: int) -> pa.Array:
    """The fragments of each block together, null where there is none."""
    rows = np.flatnonzero((block >= 0) & values.is_valid().to_numpy(zero_copy_only=False))
    rows = rows[np.argsort(block[rows], kind="stable")]
    counts = np.bincount(block[rows], minlength=n)
    lists = pa.LargeListArray.from_arrays(pa.array(offsets_of(counts)), values.take(pa.array(rows)))
    return pc.if_else(pa.array(counts > 0), pc.binary_join(lists, pa.scalar("", TEXT)), pa.scalar(None, TEXT))


def _told(plain: Told, parts: Mapping[str, pa.Array], cut: Mask) -> Told:
    """How the blocks are read, with what came in fragments."""

    def asks(rows: I64) -> dict[str, Any]:
        columns = dict(plain.asks(rows))
        fragments = one_chunk(parts["fragment"]).take(pa.array(rows))
        there = fragments.is_valid().to_numpy(zero_copy_only=False)
        form: npt.NDArray[np.uint8] = np.where(there, np.uint8(JSON_STRING), columns["arguments_form"]).astype(np.uint8)
        form[cut[rows]] = TRUNCATED
        columns["arguments"] = pc.coalesce(fragments, columns["arguments"])
        columns["arguments_form"] = form
        return columns

    def says(units: I64) -> pa.Array:
        return pc.coalesce(one_chunk(parts["said"]).take(pa.array(units)), plain.says(units))

    return Told(asks, plain.answers, says)


def _steps(line: Found, begins: Mask, message: I64, trace: I64) -> Steps:
    """The messages with their model and what they used."""
    at = np.flatnonzero(begins)
    mine = line.taken(at)
    read = total(*(mine.integer(name) for name in ("input", "cache_read", "cache_write")))
    counted = np.flatnonzero(line.has("output", NUMBER))
    row = np.full(at.size, -1, np.int64)
    which = np.searchsorted(message[at], message[counted])
    row[which[which < at.size]] = counted[which < at.size]
    written = line.integer("output").take(places(row))
    return Steps(trace[at], {"model": mine.text("model"), "input_tokens": read, "output_tokens": written})
