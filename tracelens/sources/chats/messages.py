"""Formats whose record is a conversation: a list of messages, or an object that holds one.

A format declares where its messages stand and says what it `Reading` finds in them; ids, tags, references and usage of
the record around them (`tracelens.sources.envelope`), sums of tokens and the rows of language model calls are alike.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import SPANS, TEXT, TIME, TRACES, one_chunk, places, table, valid
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ARRAY, NONE, NULL, OBJECT, STRING, Found, Projected, Row
from tracelens.projection.rows import Cells
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables
from tracelens.sources.envelope import ENVELOPE, REFERENCES, envelope_faults, expected_table, trace_columns
from tracelens.sources.oddities import Oddities
from tracelens.sources.talk import I64, Mask

NO_TEXT = pa.scalar(None, TEXT)


@dataclass(frozen=True, slots=True)
class Steps:
    """Calls of the language model, by trace.

    Attributes:
        trace: int64[n], ascending.
        columns: Columns of `tracelens.columns.SPANS`, such as tokens and the model.
    """

    trace: I64
    columns: Mapping[str, Any] = field(default_factory=dict)

    def per_trace(self, n: int) -> dict[str, pa.Array]:
        """Columns of `tracelens.columns.TRACES`: how many, and sums of what is known of them."""
        out = {"llm_calls": pa.array(np.bincount(self.trace, minlength=n))}
        for name, kind in (("input_tokens", pa.int64()), ("output_tokens", pa.int64()), ("cost", pa.float64())):
            if name in self.columns:
                values = one_chunk(self.columns[name])
                known = valid(values)
                sums = np.zeros(n, kind.to_pandas_dtype())
                np.add.at(sums, self.trace[known], values.drop_null().to_numpy(zero_copy_only=False))
                out[name] = pa.array(sums, mask=np.bincount(self.trace[known], minlength=n) == 0)
        return out

    def spans(self, n: int) -> pa.Table:
        """The rows of `tracelens.columns.SPANS` of those of which anything is known, numbered in each trace."""
        known = np.zeros(self.trace.size, np.bool_)
        for values in self.columns.values():
            known |= valid(values)
        if not known.any():
            return SPANS.empty_table()
        ordinal = pa.array(positions_in(group_offsets(self.trace, n)))
        names = pc.binary_join_element_wise(pa.scalar("llm-", TEXT), ordinal.cast(TEXT), pa.scalar("", TEXT))
        kind = pa.repeat(pa.scalar("llm", TEXT), self.trace.size)
        given = {"trace": self.trace.astype(np.uint32), "span_id": names, "kind": kind}
        rows = table(SPANS, self.trace.size, **given, **self.columns)
        return rows if known.all() else rows.filter(pa.array(known)).combine_chunks()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a format reads out of conversations.

    Attributes:
        calls: See `tracelens.columns.CALLS`.
        final_answer: str?[traces].
        steps: Calls of the language model.
        columns: More columns of `tracelens.columns.TRACES`; they count where the record itself gives none.
        notes: See `tracelens.columns.Batch`.
    """

    calls: pa.Table
    final_answer: pa.Array
    steps: Steps
    columns: Mapping[str, pa.Array] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def record_row(*rows: Row, **capture: str | Sequence[str]) -> Row:
    """The outermost table of such a format: what may stand beside the messages, and the tables inside."""
    about = {"id": "id", "metadata": "metadata"}
    return Row("line", capture={**ENVELOPE, **about, **capture}, rows=[*rows, *REFERENCES])


class MessageSource(JsonSource):
    """A format whose record is a conversation.

    Attributes:
        holders: Columns of the outermost table that hold the messages where a record is an object.
        held_as: Kinds of values that hold messages.
        also_called: Patterns of a provider's own tools in recorded definitions, and names that their calls have.
        whose: What a record is, for rejects.
    """

    holders: ClassVar[tuple[str, ...]] = ("messages",)
    held_as: ClassVar[tuple[int, ...]] = (ARRAY, OBJECT)
    also_called: ClassVar[Mapping[str, Sequence[str]]] = {}
    whose: ClassVar[str] = "a conversation must be an object with messages, or a list of messages"

    @abstractmethod
    def is_message(self, item: Mapping[str, Any]) -> str:
        """Why an element is a message of this format and of no other; an empty text where it is not."""

    @abstractmethod
    def reading(self, found: Projected, odd: Oddities) -> Reading:
        """What the conversations hold."""

    def is_record(self, elements: Sequence[Any]) -> bool:
        """Whether a list is one conversation: its elements are messages, and one of them shows the format."""
        known = [item for item in elements if isinstance(item, dict)]
        return len(known) == len(elements) and any(self.is_message(item) for item in known)

    def messages_of(self, record: Any) -> Sequence[Any]:
        """The messages of a record as `json.loads` reads it."""
        if isinstance(record, dict):
            held = [record[name] for name in self.holders if isinstance(record.get(name), list)]
            return [item for some in held for item in some] or [record]
        return record if isinstance(record, list) else []

    def sniff(self, head: Head) -> Sniff:
        """Records with messages that show the format, or one list of them."""
        if head.layout == "array" and self.is_record(head.records):
            return Sniff(92, f"the file is one list of messages: {self._why(head.records)}")
        for record in head.records:
            why = self._why(self.messages_of(record))
            if why:
                return Sniff(92, why)
        return Sniff(0, f"no record has {self.holders[0]} of this format")

    def _why(self, items: Sequence[Any]) -> str:
        return next((why for item in items if isinstance(item, dict) and (why := self.is_message(item))), "")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A record without messages, or with shared fields of a wrong type."""
        line = found["line"]
        yield ~line.has("@", OBJECT, ARRAY), self.whose
        held = line.has("@", ARRAY)
        for name in self.holders:
            yield ~line.has(name, NONE, NULL, ARRAY, OBJECT, STRING), f"{name} is no array"
            held |= line.has(name, *self.held_as)
        yield ~held, self.whose
        yield from envelope_faults(found, line)

    def tables(self, records: Records) -> Tables:
        """The tables of the good records."""
        line, odd = records.found["line"], Oddities(records)
        read = self.reading(records.found, odd)
        columns = trace_columns(records, line, odd, stand_in="id")
        columns["tags"] = pc.coalesce(columns["tags"], line.text("metadata", OBJECT))
        columns["has_calls"] = np.ones(line.n, np.bool_)
        found = {"final_answer": read.final_answer, **read.columns, **read.steps.per_trace(line.n)}
        for name, values in found.items():
            given = columns.get(name)
            mine = name == "tools" or name.endswith("_tokens")  # with what servers listed, and with what was cached
            both = (values, given) if mine else (given, values)
            columns[name] = pc.coalesce(*both) if given is not None else values
        columns["tools"] = _with_names(columns["tools"], self.also_called)
        traces = table(TRACES, line.n, **columns)
        spans = read.steps.spans(line.n)
        return Tables(traces, read.calls, expected_table(records.found), read.notes, odd.found, spans)


def _with_names(tools: pa.Array, also_called: Mapping[str, Sequence[str]]) -> pa.Array:
    """Tool definitions with the names that calls of a provider's own tools have beside what the definition calls them."""
    for pattern, names in also_called.items():
        found = pc.fill_null(pc.match_substring_regex(tools, rf'^\s*\[(?s:.*)"(?:{pattern})"'), False)
        if pc.any(found, min_count=0).as_py():
            more = ", ".join(f'{{"type": "{name}"}}' for name in names)
            ends = (pa.scalar('[{"tools": ', TEXT), pa.scalar(f'}}, {{"tools": [{more}]}}]', TEXT), pa.scalar("", TEXT))
            tools = pc.if_else(found, pc.binary_join_element_wise(ends[0], tools, *ends[1:]), tools)
    return tools


def total(*columns: pa.Array) -> pa.Array:
    """Sums of whole numbers, row by row; null where none of them is there.

    Example:
        >>> total(pa.array([1, None]), pa.array([None, None], pa.int64())).to_pylist()
        [1, None]
    """
    there = np.logical_or.reduce([valid(one) for one in columns])
    out = columns[0].fill_null(0)
    for one in columns[1:]:
        out = pc.add(out, one.fill_null(0))
    return pc.if_else(pa.array(there), out, pa.scalar(None, pa.int64()))


def firsts(trace: I64, values: pa.Array, n: int) -> pa.Array:
    """The first value of each trace that is not null.

    Example:
        >>> firsts(np.array([0, 0, 2]), pa.array([None, "a", "b"], TEXT), 3).to_pylist()
        ['a', None, 'b']
    """
    rows = np.flatnonzero(valid(values))
    at = np.full(n, -1, np.int64)
    at[trace[rows][::-1]] = rows[::-1]
    return values.take(places(at)) if len(values) else pa.nulls(n, values.type)


def wrapped(key: str, values: pa.Array) -> pa.Array:
    """JSON texts, each as the only member of an object; null stays null.

    Example:
        >>> wrapped("code", pa.array(['"x"', None], TEXT)).to_pylist()
        ['{"code": "x"}', None]
    """
    return pc.binary_join_element_wise(
        pa.scalar(f'{{"{key}": ', TEXT), values, pa.scalar("}", TEXT), pa.scalar("", TEXT)
    )


def epoch(values: pa.Array, per_second: int) -> pa.Array:
    """Instants from numbers that count since 1970."""
    micro = pc.multiply(values.cast(pa.float64()), 1_000_000 // per_second)
    return pc.round(micro).cast(pa.int64(), safe=False).cast(TIME) if len(values) else pa.nulls(0, TIME)


def joined(first: Sequence[Found], second: Sequence[Found]) -> tuple[Found, ...]:
    """Two kinds of messages as one: tables of equal columns, each but the first inside the one before it.

    Within a trace the messages of ``second`` stand behind those of ``first``.

    Args:
        first: Messages, their blocks, and so on.
        second: The same of the other kind; the first one's parents are traces too.
    """
    out: list[Found] = []
    moved: Sequence[I64] = ()
    for one, other in zip(first, second, strict=True):
        parents = [each.parent.astype(np.int64) for each in (one, other)]
        if moved:
            parents = [place[parent] for place, parent in zip(moved, parents, strict=True)]
        parent = np.concatenate(parents)
        order = np.argsort(parent, kind="stable")
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        names = list(one.table.columns)
        cells = []
        for name in names:
            a, b = one.cells(name), other.cells(name)
            raw = np.concatenate([a.raw, b.raw])[order]
            start, end = (np.concatenate(pair)[order] for pair in ((a.start, b.start), (a.end, b.end)))
            cells.append(Cells(raw, start, end))
        out.append(Found(one.data, one.table, parent[order].astype(np.int32), cells))
        moved = (place[: one.n], place[one.n :])
    return tuple(out)


def as_messages(line: Found, rows: Mask, like: Found) -> Found:
    """Records that are themselves a message, as rows of the messages' table."""
    some = np.flatnonzero(rows)
    taken = line.taken(some)
    return Found(line.data, like.table, some.astype(np.int32), [taken.cells(name) for name in like.table.columns])
