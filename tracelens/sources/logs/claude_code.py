"""Claude Code session files: JSON lines with ``sessionId``, and the files of sub-agents beside them.

A session is a trace; a file of a sub-agent (``agent-….jsonl``) belongs to the session that it names, and lines of a
side chain are at depth 1. One answer of the model may be spread over several lines that share ``message.id``, early
snapshots among them: its calls are collected over all of them, each once by its id, with the arguments that were
written last. Lines that repeat a ``uuid`` are one, and a session that begins with the first line of another one was
resumed or forked from it and is the same trace. A result that says that the user or a permission refused the call
makes it ``denied``; the time of a call is that from its line to the line of its result. Where a session lies in several
files its lines stand by time. A message that the program wrote itself (an API error) is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, TRACES, numbers, table
from tracelens.projection import OBJECT, STRING, TRUE, Found, Projected, Projection, Row, run
from tracelens.sources.base import Fault, Head, Sniff, Tables
from tracelens.sources.chats.anthropic import MESSAGE, block_kinds, blocks, steps_of, told_by_blocks
from tracelens.sources.chats.messages import firsts
from tracelens.sources.gather import Pieces, Seen
from tracelens.sources.logs.sessions import (
    Owner,
    SessionSource,
    by_time,
    ended_at,
    labels_of,
    not_complete,
    span_table,
    tags,
    ties,
    waited,
    with_columns,
)
from tracelens.sources.reading.digests import digests_of
from tracelens.sources.reading.index import Found as FoundPieces
from tracelens.sources.reading.io import Block
from tracelens.sources.talk import (
    BESIDE,
    CALL,
    HEARD,
    I32,
    I64,
    SAID,
    Mask,
    Stream,
    Talk,
    is_in,
    read_stream,
    stream_of,
)

TYPES = {"user", "assistant", "system", "summary", "attachment", "progress", "queue-operation", "file-history-snapshot"}
REFUSED = (
    r"^(The user doesn't want to (proceed|take this action)|User rejected tool use|Tool use rejected"
    r"|Permission (to use|for) .* (was |has been )?denied|Claude requested permissions? to )"
)
LINE = {
    "type": "type",
    "session": "sessionId",
    "uuid": "uuid",
    "at": "timestamp",
    "side": "isSidechain",
    "agent": "agentId",
    "failed": "isApiErrorMessage",
    "cwd": "cwd",
    "version": "version",
    "branch": "gitBranch",
    "took": "toolUseResult.totalDurationMs",
    "message_id": "message.id",
    "message": "message",
    **{name: f"message.{path}" for name, path in MESSAGE.items()},
}


class ClaudeCode(SessionSource):
    """Claude Code sessions."""

    name = "claude-code"
    title = "Claude Code sessions: JSON lines with sessionId, sub-agents' files included"
    sample = "claude-code.jsonl"
    keys = Projection(Row("line", capture={"trace": "sessionId"}, rows=[Row("logline", "loglines[*]")]))
    projection = Projection(Row("line", capture=LINE, rows=[blocks("message.content[*]")]))

    def sniff(self, head: Head) -> Sniff:
        """Lines of the types of a session, with a message or a session's id."""
        lines = [each for each in head.records if isinstance(each, dict)]
        if any("loglines" in each for each in lines):
            return Sniff(95, "the record has loglines")
        known = [each for each in lines if each.get("type") in TYPES]
        if any("sessionId" in each and ("uuid" in each or "message" in each) for each in known):
            return Sniff(95, "lines have sessionId and a message")
        spoken = [each for each in known if each["type"] in {"user", "assistant"}]
        if any(isinstance(each.get("message"), dict) and "timestamp" in each for each in spoken):
            return Sniff(80, "lines are of type user or assistant with a message and a timestamp")
        return Sniff(0, "no line has a sessionId with a message")

    def owner(self, name: str, lines: Iterable[Mapping[str, Any]]) -> tuple[Owner, str | None]:
        """The session that the first line with one names, else the file."""
        for each in lines:
            inner = each.get("loglines")
            for line in [each, *(inner if isinstance(inner, list) else ())]:
                if isinstance(line, dict) and isinstance(line.get("sessionId"), str):
                    return Owner(line["sessionId"]), None
        return Owner(name), None

    def trace_keys(self, found: Projected, block: Block) -> pa.LargeStringArray:
        """The session that a line names, else that of its file; a copy is the session that it was copied from."""
        keys = pc.coalesce(found.top.text("trace"), super().trace_keys(found, block))
        if not self._same:
            return keys
        known = keys.dictionary_encode()
        names = pa.array([self._same.get(name, name) for name in known.dictionary.to_pylist()], TEXT)
        return names.take(known.indices)

    def same(self, heads: Mapping[str, Iterable[Mapping[str, Any]]]) -> dict[str, str]:
        """Sessions that begin with the first line of another one: resumed or forked, with its lines copied."""
        begun: dict[str, str] = {}
        out: dict[str, str] = {}
        for name, lines in heads.items():
            first = next((each["uuid"] for each in lines if isinstance(each.get("uuid"), str)), None)
            key = self.owner(name, lines)[0].key
            if first is not None and begun.setdefault(first, key) != key:
                out[key] = begun[first]
        return out

    def pieces_of(self, block: Block) -> Seen:
        """The lines of a block; a document holds them as ``loglines``."""
        seen = super().pieces_of(block)
        if block.layout == "lines" or not seen.pieces.start.size:
            return seen
        marks = block.records()
        inner = run(self.keys, block.data, marks.starts, marks.ends)["logline"]
        if not inner.n:
            return seen
        cell = inner.cells("@")
        start, end = cell.start.astype(np.int64), cell.end.astype(np.int64)
        key = pa.repeat(pa.scalar(self._owners[block.source].key, TEXT), inner.n)
        zeros = np.zeros(inner.n, np.int32)
        pieces = FoundPieces(key, start, end, marks.lines[inner.parent], zeros, seen.pieces.labels)
        return Seen(pieces, seen.rejects, seen.blank, digests_of(block.data, start, end))

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line that is no object."""
        yield ~found.top.has("@", OBJECT), "a line of a session must be an object"

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole sessions."""
        whole = pieces.found["line"]
        kept = _first_of_uuid(pieces.trace, whole)
        found = pieces.found if kept.all() else pieces.found.keeping(kept)
        line, block, piece = found["line"], found["block"], found["piece"]
        trace = pieces.trace[kept].astype(np.int64)
        place = by_time(pieces, whole)[kept]
        speaks, own = is_in(line.text("type"), "assistant"), _written_by_program(line)
        stream, turn = _stream(line, block, trace, place, speaks)
        said = stream.kind == SAID
        side = line.has("side", TRUE)
        may = said & ~(own | side)[stream.message]
        last = np.zeros(said.size, np.bool_)
        last[_last_text(stream, turn, np.flatnonzero(may))] = True
        talk = read_stream(
            stream,
            told_by_blocks(line, block, piece, stream),
            pieces.n_traces,
            may_answer=last,
            turns=(place[stream.message], turn),
        )
        depth = np.maximum(side, labels_of(pieces).depth[kept])
        calls = _finished(talk, stream, line, depth)
        steps, at = _steps(line, stream, turn, speaks & ~own, trace)
        columns = pieces.columns() | steps.per_trace(pieces.n_traces)
        columns |= _about(pieces, line, trace)
        traces = table(TRACES, pieces.n_traces, **columns, final_answer=talk.final_answer)
        spans = span_table(steps, at, calls, pieces.n_traces)
        tied = ties(pieces, whole, np.flatnonzero(kept)[stream.message[talk.asked]])
        return Tables(traces, calls, spans=spans, n_merged=int(np.count_nonzero(~kept)), remarks=tied)


def _first_of_uuid(trace: npt.NDArray[np.int32], line: Found) -> Mask:
    """bool[lines]: all but those that repeat the uuid of an earlier line of their trace."""
    ids = line.text("uuid").dictionary_encode()
    code = numbers(ids.indices, default=-1).astype(np.int64)
    key = trace.astype(np.int64) * (len(ids.dictionary) + 1) + code
    keep = np.zeros(line.n, np.bool_)
    keep[np.unique(key, return_index=True)[1]] = True
    return keep | (code < 0)


def _written_by_program(line: Found) -> Mask:
    """bool[lines]: messages that no model wrote."""
    return line.has("failed", TRUE) | is_in(line.text("model"), "<synthetic>")


def _groups(line: Found, trace: I64, place: I64, speaks: Mask) -> I64:
    """int64[lines]: a number of the answer that each line is a part of, by first appearance; -1 for other lines."""
    rows = np.flatnonzero(speaks)
    rows = rows[np.argsort(place[rows], kind="stable")]
    ids = line.taken(rows).text("message_id").dictionary_encode()
    code = numbers(ids.indices, default=-1).astype(np.int64)
    alone = np.flatnonzero(code < 0)
    code[alone] = len(ids.dictionary) + alone
    key = trace[rows] * (len(ids.dictionary) + line.n + 1) + code
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    out = np.full(line.n, -1, np.int64)
    out[rows] = rank[which]
    return out


def _stream(line: Found, block: Found, trace: I64, place: I64, speaks: Mask) -> tuple[Stream, I32]:
    """The units of the sessions in order, each call once, and the turn of each unit in its trace."""
    plain = np.full(line.n, BESIDE, np.uint8)
    written = line.has("content", STRING)
    plain[written] = np.where(speaks[written], SAID, HEARD)
    raw = stream_of(block, block_kinds(block, speaks[block.parent]), plain, trace)
    order = np.argsort(place[raw.message], kind="stable")
    group = _groups(line, trace, place, speaks)
    stream = Stream(raw.trace[order], raw.message[order], raw.kind[order], raw.row[order])
    stream = _calls_once(stream, block, group)
    of_unit = group[stream.message]
    lowest = np.full(int(trace.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(lowest, trace[group >= 0], group[group >= 0])
    turn = np.where(of_unit >= 0, of_unit - lowest[stream.trace], -1)
    return stream, turn.astype(np.int32)


def _calls_once(stream: Stream, block: Found, group: I64) -> Stream:
    """Each call of an answer once: where it was first asked for, with the arguments that were written last."""
    calls = stream.where(CALL)
    ids = block.taken(stream.row[calls]).text("id").dictionary_encode()
    code = numbers(ids.indices, default=-1).astype(np.int64)
    key = group[stream.message[calls]] * (len(ids.dictionary) + 1) + code
    known = np.flatnonzero(code >= 0)
    _, first, which = np.unique(key[known], return_index=True, return_inverse=True)
    if first.size == known.size:
        return stream
    last = np.zeros(first.size, np.int64)
    np.maximum.at(last, which, np.arange(known.size))
    row, keep = stream.row.copy(), np.ones(stream.kind.size, np.bool_)
    row[calls[known[first]]] = stream.row[calls[known[last]]]
    keep[np.delete(calls[known], first)] = False
    return Stream(stream.trace[keep], stream.message[keep], stream.kind[keep], row[keep])


def _last_text(stream: Stream, turn: I32, units: I64) -> I64:
    """Of those units the last one of each turn: earlier ones may be snapshots of it."""
    key = (stream.trace[units] << 32 | turn[units])[::-1]
    return units[::-1][np.unique(key, return_index=True)[1]]


def _finished(talk: Talk, stream: Stream, line: Found, depth: npt.NDArray[Any]) -> pa.Table:
    """The calls with agent, depth and times, and refusals told from errors."""
    calls = talk.calls
    asked = stream.message[talk.asked]
    mine = line.taken(asked)
    started, ended = ended_at(talk, stream.message, line.time("at"))
    _, took = ended_at(talk, stream.message, line.float("took"))
    refused = pc.and_(pc.equal(calls["status"], "error"), pc.match_substring_regex(calls["result"], REFUSED))
    status = pc.if_else(pc.fill_null(refused, False), pa.scalar("denied", TEXT), calls["status"])
    return with_columns(
        calls,
        status=status,
        agent=mine.text("agent"),
        depth=pa.array(depth[asked].astype(np.int32)),
        started_at=started,
        duration_ms=pc.coalesce(took, waited(started, ended)),
    )


def _steps(line: Found, stream: Stream, turn: I32, speaks: Mask, trace: I64) -> tuple[Any, I64]:
    """The answers of the model, each with what its last line says it used, and the turn of each."""
    of_line = np.full(line.n, -1, np.int64)
    of_line[stream.message] = turn
    rows = np.flatnonzero(speaks & (of_line >= 0))
    key = trace[rows] << 32 | of_line[rows]
    _, first = np.unique(key, return_index=True)
    _, last = np.unique(key[::-1], return_index=True)
    at = rows[rows.size - 1 - last]
    steps = steps_of(line, at, trace[at])
    columns = {"started_at": line.taken(rows[first]).time("at"), "agent": line.taken(at).text("agent"), **steps.columns}
    return type(steps)(steps.trace, columns), of_line[at]


def _about(pieces: Pieces, line: Found, trace: I64) -> dict[str, Any]:
    """What a session says about itself."""
    n = pieces.n_traces
    members = {
        name: firsts(trace, line.json(path), n)
        for name, path in (("cwd", "cwd"), ("gitBranch", "branch"), ("version", "version"))
    }
    return {
        "session_id": firsts(trace, line.text("session"), n),
        "started_at": firsts(trace, line.time("at"), n),
        "complete": not_complete(pieces),
        "tags": tags(**members),
    }
