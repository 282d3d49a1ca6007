"""Session files of agents: a file of JSON lines is one trace, or the lines of one say whose they are.

What a file's lines do not say themselves its `Owner` says, who is found at its beginning: the trace, and the depth and
name of the agent that wrote the file. A file of a sub-agent belongs to the trace of its parent where that is part of
the input. A session that was killed may end in half a line: it is rejected, and the trace is not complete.
"""

from __future__ import annotations

import copy
import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import SPANS, TEXT, Remark, numbers, one_chunk, table, valid
from tracelens.projection import Found, Projected
from tracelens.sources.base import Options
from tracelens.sources.chats.messages import Steps
from tracelens.sources.gather import GatheredSource, Pieces, Seen
from tracelens.sources.reading.files import File
from tracelens.sources.reading.index import Gathered
from tracelens.sources.reading.io import Block, is_compressed, read_head
from tracelens.sources.talk import I32, I64, Talk

TIED = "a call was made at the same instant as one in another file of its session; their order is that of the files"

TAIL = 1 << 26
"""Bytes at the end of a file in which its last line is looked for."""


class Owner(NamedTuple):
    """Whose a file's lines are, where they do not say it themselves.

    Attributes:
        key: The trace.
        depth: 0, or more for the file of a sub-agent.
        agent: The sub-agent.
        cut: Whether the file ends in the middle of a line.
    """

    key: str
    depth: int = 0
    agent: str | None = None
    cut: bool = False

    @property
    def label(self) -> str:
        """All but the trace, as a label of pieces."""
        return json.dumps([self.depth, self.agent, self.cut])


class SessionSource(GatheredSource):
    """A format whose file is a session."""

    _owners: Mapping[str, Owner] = {}
    _same: Mapping[str, str] = {}

    @abstractmethod
    def owner(self, name: str, lines: Iterable[Mapping[str, Any]]) -> tuple[Owner, str | None]:
        """Whose the lines of a file are, and the trace that a sub-agent's file belongs to if that is in the input.

        Args:
            name: The file's name.
            lines: The first objects of the file.
        """

    def blocks(self, inputs: Sequence[File], options: Options) -> Iterator[Any]:
        """What is no part of a trace, then the traces."""
        run = copy.copy(self)
        heads = {file.name: FirstObjects(file) for file in inputs}
        run._owners = self._resolved(inputs, options, heads)  # noqa: SLF001  a copy of this very source, for one input
        run._same = self.same(heads)  # noqa: SLF001
        yield from super(SessionSource, run).blocks(inputs, options)

    def same(self, heads: Mapping[str, Iterable[Mapping[str, Any]]]) -> dict[str, str]:  # noqa: ARG002  for those that need it
        """Traces that are another one under a new name, by the first objects of each file; most formats have none."""
        return {}

    def _resolved(
        self, inputs: Sequence[File], options: Options, heads: Mapping[str, Iterable[Mapping[str, Any]]]
    ) -> dict[str, Owner]:
        found: dict[str, Owner] = {}
        parents: dict[str, str | None] = {}
        for file in inputs:
            owner, parent = self.owner(file.name, heads[file.name])
            lines = options.layouts.get(file.name, "lines") == "lines"
            found[file.name] = owner._replace(cut=lines and ends_cut(file))
            parents.setdefault(owner.key, parent)
        return {name: _below(owner, parents) for name, owner in found.items()}

    def trace_keys(self, found: Projected, block: Block) -> pa.LargeStringArray:
        """The owner's trace for every line."""
        return pa.repeat(pa.scalar(self._owners[block.source].key, TEXT), found.top.n)

    def pieces_of(self, block: Block) -> Seen:
        """The lines of a block, labelled with what the owner of the file says."""
        seen = super().pieces_of(block)
        return replace(seen, pieces=seen.pieces._replace(labels=(self._owners[block.source].label,)))


def _below(owner: Owner, parents: Mapping[str, str | None]) -> Owner:
    """The owner with the trace at the top, and the steps down from there."""
    key, depth, met = owner.key, owner.depth, {owner.key}
    while (parent := parents.get(key)) is not None and parent in parents and parent not in met:
        key, depth = parent, depth + 1
        met.add(parent)
    return owner._replace(key=key, depth=depth, agent=owner.agent or (owner.key if depth else None))


class FirstObjects:
    """The first objects of a file of lines, of an array or of a document, read as far as somebody looks.

    Args:
        file: The file; what is broken in it is left out.
        most: Lines, or elements, that are looked at.
    """

    def __init__(self, file: File, most: int = 50) -> None:
        self._rest = _objects(file, most)
        self._seen: list[Mapping[str, Any]] = []

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """Those that were looked at before, then the next ones."""
        yield from self._seen
        for each in self._rest:
            self._seen.append(each)
            yield each


def _objects(file: File, most: int) -> Iterator[Mapping[str, Any]]:
    start, found = read_head(file.path), False
    for line in start.split(b"\n", most)[:most]:
        with suppress(ValueError, RecursionError):
            each = json.loads(line)
            if isinstance(each, dict):
                found = True
                yield each
    if not found:
        with suppress(ValueError, RecursionError):
            whole = json.loads(start)
            yield from (
                each for each in (whole if isinstance(whole, list) else [whole])[:most] if isinstance(each, dict)
            )


def ends_cut(file: File) -> bool:
    """Whether a file ends in the middle of a line; unknown of compressed files, and then it does not."""
    if is_compressed(file.path):
        return False
    with file.path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - TAIL))
        last = stream.read().rsplit(b"\n", 1)[-1]
    if not last.strip():
        return False
    try:
        json.loads(last)
    except (ValueError, RecursionError):
        return True
    return False


@dataclass(frozen=True, slots=True)
class Labels:
    """What the owners of files say of each line: int32[lines] depth, str?[lines] agent, bool[lines] cut."""

    depth: I32
    agent: pa.Array
    cut: npt.NDArray[np.bool_]


def labels_of(pieces: Pieces) -> Labels:
    """What the owners of the files say of the lines of whole traces."""
    block: Gathered = pieces.block
    known = [json.loads(label or "[0, null, false]") for label in block.labels]
    row = block.label[pieces.number]
    agents = pa.array([agent for _, agent, _ in known], TEXT)
    return Labels(
        np.array([depth for depth, _, _ in known], np.int32)[row],
        agents.take(pa.array(row)),
        np.array([cut for _, _, cut in known], np.bool_)[row],
    )


def by_time(pieces: Pieces, line: Found, name: str = "at") -> I64:
    """int64[lines]: the place of each line in its trace: by time where a trace lies in several files, else as it stands."""
    file = pieces.block.file[pieces.number]
    trace = pieces.trace
    several = np.zeros(pieces.n_traces, np.bool_)
    several[trace[1:][(file[1:] != file[:-1]) & (trace[1:] == trace[:-1])]] = True
    place = np.arange(line.n, dtype=np.int64)
    if not several.any():
        return place
    times = line.time(name)
    known = valid(times)
    several &= np.bincount(trace[~known], minlength=pieces.n_traces) == 0
    time = np.where(several[trace] & known, numbers(times.cast(pa.int64()), default=0), 0)
    place[np.lexsort((place, time, trace))] = np.arange(line.n)
    return place


def ties(pieces: Pieces, line: Found, rows: I64, name: str = "at") -> list[Remark]:
    """A remark where calls of several files of one trace were made at one instant, so that the files gave the order.

    Args:
        pieces: The lines of whole traces.
        line: Their rows.
        rows: int64[calls], the line of each call.
        name: The column with the time.
    """
    file, trace = pieces.block.file[pieces.number][rows], pieces.trace[rows]
    if not rows.size or (file == file[0]).all():
        return []
    times = line.taken(rows).time(name)
    time, known = numbers(times.cast(pa.int64()), default=0), valid(times)
    order = np.lexsort((np.arange(rows.size), time, trace))
    before, after = order[:-1], order[1:]
    same = (trace[before] == trace[after]) & (time[before] == time[after]) & known[before] & known[after]
    tied = after[same & (file[before] != file[after])]
    return [Remark(TIED, tied.size, pieces.place(int(rows[tied[0]])))] if tied.size else []


def span_table(steps: Steps, turn: npt.NDArray[Any], calls: pa.Table, n: int) -> pa.Table:
    """The calls of the model and of tools as spans: a model's call is ``llm-<turn>``, its tools' are inside.

    Args:
        steps: The calls of the model.
        turn: int[steps], the turn of each.
        calls: The calls, with their times.
        n: Number of traces.
    """
    trace = numbers(calls["trace"]).astype(np.int64)
    index = numbers(calls["call_index"])
    of_turn = one_chunk(calls["turn"]).cast(TEXT)
    model = {"span_id": _numbered("llm-", pa.array(turn).cast(TEXT)), "kind": _same("llm", steps.trace.size)}
    parts = [table(SPANS, steps.trace.size, trace=steps.trace.astype(np.uint32), **model, **steps.columns)]
    parts.append(
        table(
            SPANS,
            trace.size,
            trace=trace.astype(np.uint32),
            span_id=_numbered("call-", pa.array(index).cast(TEXT)),
            parent_id=pc.if_else(_known(steps, turn, trace, calls), _numbered("llm-", of_turn), pa.scalar(None, TEXT)),
            kind=_same("tool", trace.size),
            call_index=index,
            **{name: calls[name] for name in ("name", "agent", "status", "started_at", "duration_ms")},
        )
    )
    of_call = numbers(calls["turn"], default=-1)
    order = np.lexsort(
        (
            np.concatenate([np.full(steps.trace.size, -1), index]),
            np.concatenate([np.asarray(turn, np.int64), of_call]),
            np.concatenate([steps.trace, trace]),
        )
    )
    return pa.concat_tables(parts).take(pa.array(order)).combine_chunks() if n else SPANS.empty_table()


def _known(steps: Steps, turn: npt.NDArray[Any], trace: I64, calls: pa.Table) -> pa.Array:
    """Which calls belong to a call of the model that is there."""
    key = steps.trace << 32 | np.asarray(turn, np.int64)
    return pa.array(np.isin(trace << 32 | numbers(calls["turn"], default=-1).astype(np.int64), key))


def _numbered(prefix: str, number: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(pa.scalar(prefix, TEXT), number, pa.scalar("", TEXT))


def _same(text: str, n: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, TEXT), n)


def tags(**members: pa.Array) -> pa.Array:
    """Objects as JSON text, of members that are JSON text; null members are left out, and null stands for no member.

    Example:
        >>> tags(a=pa.array(["1", None], TEXT), b=pa.array(['"x"', None], TEXT)).to_pylist()
        ['{"a": 1, "b": "x"}', None]
    """
    empty = pa.scalar("", TEXT)
    parts = [
        pc.coalesce(pc.binary_join_element_wise(pa.scalar(f', "{name}": ', TEXT), values, empty), empty)
        for name, values in members.items()
    ]
    inner = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*parts, empty), 2)
    some = np.logical_or.reduce([valid(values) for values in members.values()])
    whole = pc.binary_join_element_wise(pa.scalar("{", TEXT), inner, pa.scalar("}", TEXT), empty)
    return pc.if_else(pa.array(some), whole, pa.scalar(None, TEXT))


def waited(started: pa.Array, ended: pa.Array) -> pa.Array:
    """Milliseconds between two instants, null where one is unknown or they stand the wrong way round."""
    micro = pc.subtract(ended.cast(pa.int64()), started.cast(pa.int64()))
    return pc.if_else(
        pc.greater_equal(micro, 0), pc.divide(micro.cast(pa.float64()), 1000.0), pa.scalar(None, pa.float64())
    )


def ended_at(talk: Talk, of_unit: I64, times: pa.Array) -> tuple[pa.Array, pa.Array]:
    """When each call was asked for and when its result came.

    Args:
        talk: The calls.
        of_unit: int64[units], the line of each unit.
        times: The times (or other values) of lines.
    """
    asked = times.take(pa.array(of_unit[talk.asked]))
    there = talk.answered >= 0
    if not there.any():
        return asked, pa.nulls(there.size, times.type)
    return asked, times.take(pa.array(of_unit[np.where(there, talk.answered, 0)], mask=~there))


def in_order(calls: pa.Table, place: I64) -> pa.Table:
    """The calls of each trace by their places, numbered anew.

    Args:
        calls: The calls by trace.
        place: int64[calls].
    """
    trace = numbers(calls["trace"]).astype(np.int64)
    order = np.lexsort((place, trace))
    if not bool((order == np.arange(order.size)).all()):
        calls = calls.take(pa.array(order)).combine_chunks()
    index = np.arange(trace.size) - np.searchsorted(trace, trace)
    return with_columns(calls, call_index=pa.array(index.astype(np.int32)))


def not_complete(pieces: Pieces) -> pa.Array:
    """False for the traces of which a file ends in the middle of a line; null for others."""
    cut = np.zeros(pieces.n_traces, np.bool_)
    cut[pieces.trace[labels_of(pieces).cut]] = True
    return pa.array(np.zeros(pieces.n_traces, np.bool_), mask=~cut)


def with_columns(calls: pa.Table, **columns: Any) -> pa.Table:
    """The calls with some columns replaced."""
    for name, values in columns.items():
        at = calls.schema.get_field_index(name)
        calls = calls.set_column(at, calls.schema.field(at), values)
    return calls
