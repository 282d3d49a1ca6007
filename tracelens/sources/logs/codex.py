"""Codex session files (rollouts): JSON lines of ``{timestamp, type, payload}``.

A file is a trace, named by its ``session_meta``; the rollout of a spawned agent belongs to the thread that spawned it
where that is part of the input, and is then a depth down. Calls are the items of ``response_item`` lines, see
`tracelens.sources.chats.items`; arguments that are absent were not captured. ``event_msg`` lines repeat what items say and are
no calls of their own: they give exit codes, durations and tokens. A command failed where its exit code is not 0, a
call was denied where its result says that the user rejected it. In older files lines are the items themselves, behind
a line with the id of the session. What ``codex exec --json`` prints is another format, `tracelens.sources.logs.codex_exec`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, TRACES, numbers, one_chunk, places, table
from tracelens.projection import FALSE, NUMBER, OBJECT, TRUE, Found, Projected, Projection, Row
from tracelens.projection.rows import Cells
from tracelens.sources.base import Fault, Head, Sniff, Tables
from tracelens.sources.chats.items import ASKING, ITEM, SERVER, item_kinds, item_row, told_by_items
from tracelens.sources.chats.messages import Steps, firsts
from tracelens.sources.gather import Pieces
from tracelens.sources.logs.sessions import (
    Owner,
    SessionSource,
    by_time,
    ended_at,
    in_order,
    labels_of,
    not_complete,
    span_table,
    tags,
    ties,
    waited,
    with_columns,
)
from tracelens.sources.talk import (
    BESIDE,
    CALL,
    I64,
    SAID,
    SERVED,
    THOUGHT,
    Keyed,
    Mask,
    Stream,
    Talk,
    chosen,
    is_in,
    matched,
    read_stream,
)

BARE = {f"bare_{name}": path for name, path in ITEM.items() if name != "type"}
"""The members of items that are lines themselves; their type is that of the line."""

TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
ITEM_TYPES = ("message", "reasoning", "function_call_output", "custom_tool_call_output", *ASKING, *SERVER)
"""Types of lines in older files, which are items."""

EXIT_CODE = r'(?m)(?:^\{.*"exit_code":\s*|^Process exited with code |^Exit code: )(?P<code>-?\d+)'
REFUSED = r"(?i)(rejected by (the )?user|^user rejected)"


class Codex(SessionSource):
    """Codex rollouts."""

    name = "codex"
    title = "Codex rollouts: JSON lines of timestamp, type and payload"
    sample = "codex.jsonl"
    keys = Projection(Row("line"))
    projection = Projection(
        item_row(
            "line",
            "",
            within=("payload.", ""),
            line_type="type",
            payload="payload",
            **BARE,
            at="timestamp",
            cwd="payload.cwd",
            originator="payload.originator",
            version="payload.cli_version",
            model="payload.model",
            exit_code="payload.exit_code",
            success="payload.success",
            seconds="payload.duration.secs",
            nanos="payload.duration.nanos",
            input_tokens="payload.info.last_token_usage.input_tokens",
            output_tokens="payload.info.last_token_usage.output_tokens",
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Lines of the types of a rollout, with a payload."""
        lines = [each for each in head.records if isinstance(each, dict)]
        known = [each["type"] for each in lines if each.get("type") in TYPES and isinstance(each.get("payload"), dict)]
        if known:
            return Sniff(95, f"lines are of type {known[0]} with a payload")
        if _is_older(lines):
            return Sniff(96, "a line with an id and a timestamp stands before items")
        return Sniff(0, "no line has a payload and a type of a rollout")

    def owner(self, name: str, lines: Iterable[Mapping[str, Any]]) -> tuple[Owner, str | None]:
        """The id of the first ``session_meta``, else the file; and the thread that spawned it."""
        known = list(lines)
        metas = (each.get("payload") for each in known if each.get("type") == "session_meta")
        older = known[0] if _is_older(known) else {}
        meta: Any = next((each for each in metas if isinstance(each, dict)), older)
        spawn: Any = meta.get("source")
        for key in ("subagent", "thread_spawn", "parent_thread_id"):
            spawn = spawn.get(key) if isinstance(spawn, dict) else None
        key = meta.get("id")
        return Owner(key if isinstance(key, str) else name), spawn if isinstance(spawn, str) else None

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line that is no object."""
        yield ~found.top.has("@", OBJECT), "a line of a rollout must be an object"

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole rollouts."""
        n, trace, label = pieces.n_traces, pieces.trace.astype(np.int64), labels_of(pieces)
        line, bare = _with_bare(pieces.found["line"])
        kinds = item_kinds(line)
        kinds[~(bare | is_in(line.text("line_type"), "response_item"))] = BESIDE
        stream = Stream(trace, pieces.block.file[pieces.number].astype(np.int64), kinds, np.arange(line.n))
        told = told_by_items(line, pieces.found["said"], pieces.found["given"], lambda units: units)
        talk = read_stream(stream, told, n, may_answer=label.depth == 0)
        calls = _with_events(talk, line, stream)
        started, ended = ended_at(talk, stream.row, line.time("at"))
        calls = with_columns(
            calls,
            started_at=started,
            duration_ms=pc.coalesce(calls["duration_ms"], waited(started, ended)),
            depth=pa.array(label.depth[talk.asked]),
            agent=label.agent.take(pa.array(talk.asked)),
        )
        tied = ties(pieces, line, talk.asked)
        calls = in_order(calls, by_time(pieces, line)[talk.asked])
        steps, turn = _steps(line, stream)
        columns = pieces.columns() | steps.per_trace(n) | {"final_answer": talk.final_answer}
        columns |= {"started_at": firsts(trace, line.time("at"), n), "complete": not_complete(pieces)}
        columns |= {"session_id": columns["trace_id"], "tags": _tags(line, trace, n)}
        spans = span_table(steps, turn, calls, n)
        return Tables(table(TRACES, n, **columns), calls, spans=spans, remarks=tied)


def _is_older(lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects are an older file: a line that only says which session it is, then items."""
    begun = bool(lines) and {"id", "timestamp"} <= lines[0].keys() and "type" not in lines[0]
    return begun and all(each.get("type") in ITEM_TYPES or "record_type" in each for each in lines[1:])


def _with_bare(line: Found) -> tuple[Found, Mask]:
    """The lines with items that are lines themselves as if they stood in a payload, and which lines those are."""
    bare = ~line.has("payload", OBJECT) & is_in(line.text("line_type"), *ITEM_TYPES)
    if not bare.any():
        return line, bare
    cells = dict(zip(line.table.columns, line.columns, strict=True))
    for name in ITEM:
        mine, other = cells[name], cells["line_type" if name == "type" else f"bare_{name}"]
        raw, start, end = (np.where(bare, getattr(other, at), getattr(mine, at)) for at in ("raw", "start", "end"))
        cells[name] = Cells(raw, start, end)
    return Found(line.data, line.table, line.parent, list(cells.values())), bare


def _tags(line: Found, trace: I64, n: int) -> pa.Array:
    names = {"cwd": "cwd", "originator": "originator", "cli_version": "version"}
    return tags(**{name: firsts(trace, line.json(path), n) for name, path in names.items()})


def _with_events(talk: Talk, line: Found, stream: Stream) -> pa.Table:
    """The calls with what events and the texts of results say about their success and their time."""
    calls, trace, (at, _) = talk.calls, stream.trace, stream.turns()
    event = np.flatnonzero(
        is_in(line.text("line_type"), "event_msg")
        & (line.has("exit_code", NUMBER) | line.has("success", TRUE, FALSE) | line.has("seconds", NUMBER))
    )
    mine = line.taken(event)
    asked = Keyed(trace[talk.asked], at[talk.asked], calls["call_id"])
    of_call = matched(asked, Keyed(trace[event], at[event], mine.text("call_id")))
    index = places(of_call)
    written = pc.extract_regex(calls["result"], EXIT_CODE)
    read = pc.struct_field(written, "code").cast(pa.int64()) if calls.num_rows else pa.nulls(0, pa.int64())
    code = pc.coalesce(mine.integer("exit_code").take(index), one_chunk(read))
    worked = pc.coalesce(mine.boolean("success").take(index), pc.equal(code, 0))
    said = pc.if_else(worked, pa.scalar("ok", TEXT), pa.scalar("error", TEXT))
    refused = pc.fill_null(pc.match_substring_regex(calls["result"], REFUSED), False)
    status = pc.coalesce(chosen(numbers(refused), "denied"), calls["status"], said)
    seconds = pc.add(mine.float("seconds"), pc.divide(pc.fill_null(mine.float("nanos"), 0.0), 1e9))
    failed = pc.if_else(pc.equal(status, "error"), calls["result"], pa.scalar(None, TEXT))
    return with_columns(
        calls,
        status=status,
        error=pc.coalesce(calls["error"], failed),
        duration_ms=pc.multiply(seconds, 1000.0).take(index),
    )


def _steps(line: Found, stream: Stream) -> tuple[Steps, I64]:
    """The stretches in which the model spoke, each with the tokens that were counted behind it, and their turns."""
    at = np.flatnonzero(stream.begins(CALL, SAID, THOUGHT, SERVED))
    turn = stream.turns()[1][at].astype(np.int64)
    trace = stream.trace[at]
    counted = np.flatnonzero(line.has("output_tokens", NUMBER))
    of_step = np.searchsorted(at, counted, side="right") - 1
    good = (of_step >= 0) & (trace[of_step] == stream.trace[counted]) if at.size else np.zeros(counted.size, np.bool_)
    row = np.full(at.size, -1, np.int64)
    row[of_step[good]] = counted[good]
    index = places(row)
    columns = {"model": _models(line, stream.trace, at), "started_at": line.taken(at).time("at")}
    columns |= {name: line.integer(name).take(index) for name in ("input_tokens", "output_tokens")}
    return Steps(trace, columns), turn


def _models(line: Found, trace: I64, at: I64) -> pa.Array:
    """The model that the last ``turn_context`` before each of those lines names."""
    named = np.flatnonzero(is_in(line.text("line_type"), "turn_context"))
    which = np.searchsorted(named, at, side="right") - 1
    good = which >= 0
    good[good] = trace[named[which[good]]] == trace[at[good]]
    rows = named[np.maximum(which, 0)] if named.size else np.zeros(at.size, np.int64)
    return line.text("model").take(pa.array(rows, mask=~good))
