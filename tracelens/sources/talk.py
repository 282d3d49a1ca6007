"""What conversations of every format have in common: calls, their results, turns, the final answer.

A format says which of its rows are calls, results and texts, in which order they stand, and what their columns hold;
everything else is done here. Formats whose messages hold calls as a list of their own use `call_table` and `last_said`;
those whose messages are made of blocks, or that are flat lists of items, describe them as a `Stream` of units.

A result belongs to a call of the same trace, by id and, where one of them has no id, by name. Ids are not trusted
alone: an id that comes again names the later call, see `tracelens.kernels.join`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import CALLS, TEXT, bytes_and_offsets, numbers, one_chunk, one_of, table, text_array, valid
from tracelens.groups import group_offsets, offsets_of, positions_in
from tracelens.kernels.join import join_results
from tracelens.projection import ANYTHING, STRING, Found

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
U8 = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

CALL, SERVED, RESULT, SAID, THOUGHT, HEARD, BESIDE = range(7)
"""Kinds of units: a call; a call that the model's provider ran and answered in the same place; a result; text of the
model; something else of the model; something the model was told; something that is no part of the conversation."""


def is_in(values: pa.Array, *texts: str) -> Mask:
    """bool[n]: which texts are among those; null is not.

    Example:
        >>> is_in(pa.array(["a", None, "b"], TEXT), "a").tolist()
        [True, False, False]
    """
    return one_of(values, *texts)


def chosen(mask: Mask, text: str) -> pa.Array:
    """That text where the mask is true, else null.

    Example:
        >>> chosen(np.array([True, False]), "server").to_pylist()
        ['server', None]
    """
    return pc.if_else(pa.array(mask), pa.scalar(text, TEXT), pa.scalar(None, TEXT))


def spread(values: pa.Array, there: Mask) -> pa.Array:
    """The values at the rows where the mask is true, null elsewhere.

    Example:
        >>> spread(pa.array(["a", "b"], TEXT), np.array([True, False, True])).to_pylist()
        ['a', None, 'b']
    """
    if there.all():
        return values
    if values.type != TEXT or not len(values):
        return values.take(pa.array(np.where(there, np.cumsum(there) - 1, 0), mask=~there))
    data, offsets = bytes_and_offsets(values)
    sizes = np.zeros(there.size, np.int64)
    sizes[there] = np.diff(offsets)
    known = there.copy()
    known[there] = valid(values)
    return text_array(data, offsets_of(sizes) + offsets[0], known)


def contents(holder: Found, piece: Found, rows: I64, name: str = "content") -> pa.Array:
    """What some rows hold as text: a string's contents, the texts of a list's pieces together, JSON text otherwise.

    Args:
        holder: The rows' table.
        piece: The pieces of its values that are lists, with a column ``text``.
        rows: int64[k].
        name: The column.
    """
    plain = holder.taken(rows).text(name, *ANYTHING)
    if not piece.n:
        return plain
    first = group_offsets(piece.parent, holder.n)
    counts = np.diff(first)[rows]
    if not counts.any():
        return plain
    inside = np.repeat(first[:-1][rows] - offsets_of(counts)[:-1], counts) + np.arange(counts.sum())
    mine = piece.taken(inside)
    said = pc.coalesce(mine.text("text"), pa.scalar("", TEXT))
    lists = pa.LargeListArray.from_arrays(pa.array(offsets_of(counts)), one_chunk(said))
    some = np.bincount(np.repeat(np.arange(rows.size), counts), mine.has("text", STRING), rows.size) > 0
    return pc.if_else(pa.array(some), pc.binary_join(lists, pa.scalar("", TEXT)), plain)


@dataclass(frozen=True, slots=True)
class Asked:
    """The calls of conversations, in order.

    Attributes:
        trace: int64[calls], ascending.
        at: int64[calls], ascending: number of the message that asks.
        turn: int32[calls].
        columns: Columns of `tracelens.columns.CALLS`; those of results only where a call brings its own.
    """

    trace: I64
    at: I64
    turn: I32
    columns: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Results:
    """The results of calls, in order.

    Attributes:
        trace: int64[results], ascending.
        at: int64[results], ascending: number of the message that holds it, counted as for calls.
        call_id: str?[results].
        name: str?[results].
        columns: Gives ``result``, ``status`` and ``error`` (or some of them) of the results at some rows.
    """

    trace: I64
    at: I64
    call_id: pa.Array
    name: pa.Array
    columns: Callable[[I64], Mapping[str, pa.Array]]


def call_table(asked: Asked, results: Results, n: int) -> tuple[pa.Table, I64]:
    """The calls with their results.

    A call that failed and has no error of its own has its result as the error.

    Args:
        asked: The calls.
        results: The results.
        n: Number of traces.

    Returns:
        A table, see `tracelens.columns.CALLS`, and int64[calls]: the row of each call's result, -1 for none.
    """
    columns = dict(asked.columns) | {"call_id": _not_blank(asked.columns["call_id"])}
    taken = _joined(replace(asked, columns=columns), results)
    answered = taken >= 0
    if answered.any():
        for name, values in results.columns(taken[answered]).items():
            found = spread(one_chunk(values), answered)
            columns[name] = pc.coalesce(columns[name], found) if name in columns else found
    if "status" in columns and "result" in columns:
        failed = pc.equal(columns["status"], "error")
        if pc.any(failed, min_count=0).as_py():
            why = pc.if_else(failed, columns["result"], pa.scalar(None, TEXT))
            columns["error"] = pc.coalesce(columns["error"], why) if "error" in columns else why
    calls = table(
        CALLS,
        asked.at.size,
        trace=asked.trace.astype(np.uint32),
        call_index=positions_in(group_offsets(asked.trace, n)),
        turn=pa.array(asked.turn, mask=asked.turn < 0),
        **{"malformed": np.zeros(asked.at.size, np.bool_), "depth": np.zeros(asked.at.size, np.int32), **columns},
    )
    return calls, taken


def _not_blank(ids: pa.Array) -> pa.Array:
    """The ids that are not empty."""
    blank = pc.equal(pc.binary_length(ids), 0)
    return one_chunk(pc.if_else(blank, pa.scalar(None, TEXT), ids) if pc.any(blank, min_count=0).as_py() else ids)


def _joined(asked: Asked, results: Results) -> I64:
    """int64[calls]: the result of each call, -1 for none; by id, and by name for results without an id."""
    taken = np.full(asked.at.size, -1, np.int64)
    if not asked.at.size or not results.at.size:
        return taken
    ids = _not_blank(results.call_id)
    _join(asked, results, _codes(one_chunk(asked.columns["call_id"]), ids), taken, np.flatnonzero(valid(ids)))
    nameless = np.flatnonzero(~valid(ids))
    if nameless.size:
        _join(asked, results, _codes(one_chunk(asked.columns["name"]), one_chunk(results.name)), taken, nameless)
    return taken


def _join(asked: Asked, results: Results, codes: I64, taken: I64, rows: I64) -> None:
    """Give calls without a result one of those rows, by code."""
    free = np.flatnonzero(taken < 0)
    n = asked.at.size
    calls = Keyed(asked.trace[free], asked.at[free], codes[:n][free])
    found = _matched(calls, Keyed(results.trace[rows], results.at[rows], codes[n:][rows]))
    taken[free] = np.where(found >= 0, rows[found] if rows.size else -1, -1)


class Keyed(NamedTuple):
    """Rows with a trace and a message, both int64 and ascending, and a key."""

    trace: I64
    at: I64
    key: Any


def matched(calls: Keyed, others: Keyed) -> I64:
    """int64[calls]: which of the other rows belongs to each call, -1 for none; keys are ids, see `call_table`."""
    codes = _codes(one_chunk(calls.key), one_chunk(others.key))
    n = calls.at.size
    return _matched(calls._replace(key=codes[:n]), others._replace(key=codes[n:]))


def _matched(calls: Keyed, others: Keyed) -> I64:
    found = np.full(calls.at.size, -1, np.int64)
    if found.size and others.at.size:  # what belongs to a call may stand in the message that asked
        join_results(calls.trace, 2 * calls.at, calls.key, others.trace, 2 * others.at + 1, others.key, found)
    return found


def _codes(of_calls: pa.Array, of_results: pa.Array) -> I64:
    """int64[calls + results]: equal texts have equal numbers from 0; a null has a number below 0 of its own."""
    both = pa.concat_arrays([of_calls, of_results]).dictionary_encode()
    codes = numbers(both.indices, default=-1).astype(np.int64)
    unknown = np.flatnonzero(codes < 0)
    codes[unknown] = -1 - unknown
    return codes


def last_said(
    trace: npt.NDArray[Any], turn: npt.NDArray[Any], asked: Asked, n: int, text: Callable[[I64], pa.Array]
) -> pa.Array:
    """The final answer of each trace: the texts of its last turn that has any and asks for no call, together.

    Args:
        trace: int[texts], ascending: texts of the model that are not empty.
        turn: int[texts].
        asked: The calls.
        n: Number of traces.
        text: Gives the texts at some rows.

    Returns:
        str?[traces].
    """
    key = trace.astype(np.int64) << 32 | turn.astype(np.int64)
    rows = np.flatnonzero(~_among(key, asked.trace << 32 | asked.turn))
    last = np.full(n, -1, np.int64)
    np.maximum.at(last, trace[rows], key[rows])
    rows = rows[key[rows] == last[trace[rows]]]
    counts = np.bincount(trace[rows], minlength=n)
    texts = one_chunk(text(rows))
    if counts.max(initial=0) > 1:
        lists = pa.LargeListArray.from_arrays(pa.array(offsets_of(counts)), pc.coalesce(texts, pa.scalar("", TEXT)))
        return pc.if_else(pa.array(counts > 0), pc.binary_join(lists, pa.scalar("", TEXT)), pa.scalar(None, TEXT))
    return spread(texts, counts > 0)


def _among(keys: I64, others: I64) -> Mask:
    """bool[keys]: which of them are among the others; quick where those ascend, as they mostly do."""
    if not others.size:
        return np.zeros(keys.size, np.bool_)
    known = others if bool((others[1:] >= others[:-1]).all()) else np.sort(others)
    return np.asarray(known[np.minimum(np.searchsorted(known, keys), known.size - 1)] == keys, np.bool_)


@dataclass(frozen=True, slots=True)
class Stream:
    """Conversations as units in order: blocks of messages, messages that are plain text, or items.

    Attributes:
        trace: int64[units], ascending.
        message: int64[units], number of the message that a unit belongs to.
        kind: uint8[units], see `CALL` and the others.
        row: int64[units], row of the blocks' (or items') table, -1 where a unit is a message of plain text.
    """

    trace: I64
    message: I64
    kind: U8
    row: I64

    def where(self, *kinds: int) -> I64:
        """The units of those kinds."""
        return np.flatnonzero(np.isin(self.kind, kinds))

    def begins(self, *speaking: int) -> Mask:
        """bool[units]: where a turn begins: the model says something, and the unit before was none of those kinds.

        Another message is another turn, whatever came before; units beside the conversation are looked through.
        """
        out = np.zeros(self.kind.size, np.bool_)
        units = np.flatnonzero(self.kind != BESIDE)
        kind, trace, message = self.kind[units], self.trace[units], self.message[units]
        first = np.isin(kind, (CALL, SERVED, SAID, THOUGHT))
        goes_on = np.isin(kind[:-1], speaking) & (message[1:] == message[:-1]) & (trace[1:] == trace[:-1])
        first[1:] &= ~goes_on
        out[units] = first
        return out

    def turns(self) -> tuple[I64, I32]:
        """The turn of each unit: int64[units], counted over all traces from 1; int32[units], in its trace from 0.

        What a provider's own tool gave back ends a turn, too. Before the first turn of a trace the second one is -1.
        """
        begins = self.begins(CALL, SAID, THOUGHT)
        count = np.cumsum(begins, dtype=np.int64)
        first = np.searchsorted(self.trace, self.trace)
        within: I32 = (count - count[first] + begins[first] - 1).astype(np.int32)
        return count, within

    def rounds(self) -> I64:
        """int64[rounds]: the trace of each stretch in which the model spoke, its provider's tools among it."""
        return self.trace[self.begins(CALL, SAID, THOUGHT, SERVED)]


def stream_of(block: Found, of_blocks: U8, of_texts: U8, trace: npt.NDArray[Any]) -> Stream:
    """The units of messages that are made of blocks or are plain text.

    Args:
        block: The blocks of the messages.
        of_blocks: uint8[blocks], kind of each block.
        of_texts: uint8[messages], kind of each message as a whole; `BESIDE` where it has blocks.
        trace: int[messages].
    """
    plain = np.flatnonzero(of_texts != BESIDE)
    at = np.concatenate([block.parent.astype(np.int64), plain])
    row = np.concatenate([np.arange(block.n), np.full(plain.size, -1, np.int64)])
    kind = np.concatenate([of_blocks, of_texts[plain]])
    if plain.size and block.n:
        order = np.argsort(at, kind="stable")
        at, row, kind = at[order], row[order], kind[order]
    return Stream(trace[at].astype(np.int64), at, kind, row)


@dataclass(frozen=True, slots=True)
class Told:
    """How a format reads the units of a `Stream`.

    Attributes:
        asks: Columns of `tracelens.columns.CALLS` of the rows of blocks that are calls.
        answers: ``call_id`` and ``name`` of the units that are results (or null), and what they say of their call.
        says: The texts of units, by unit.
    """

    asks: Callable[[I64], Mapping[str, Any]]
    answers: Callable[[I64], Mapping[str, Any]]
    says: Callable[[I64], pa.Array]


@dataclass(frozen=True, slots=True)
class Talk:
    """What conversations hold, by trace.

    Attributes:
        calls: See `tracelens.columns.CALLS`.
        final_answer: str?[traces].
        turn: int32[units], in its trace, see `Stream.turns`.
        asked: int64[calls], the unit of each call.
        answered: int64[calls], the unit of its result, -1 for none.
    """

    calls: pa.Table
    final_answer: pa.Array
    turn: I32
    asked: I64
    answered: I64


def read_stream(
    stream: Stream, told: Told, n: int, *, may_answer: Mask | None = None, turns: tuple[I64, I32] | None = None
) -> Talk:
    """The calls and the answers of conversations.

    Args:
        stream: Their units.
        told: How to read them.
        n: Number of traces.
        may_answer: bool[units]: texts that may be the final answer; all that the model said if None.
        turns: The turn of each unit, where a format knows better than `Stream.turns`.
    """
    at, turn = turns or stream.turns()
    calls, results, said = stream.where(CALL, SERVED), stream.where(RESULT), stream.where(SAID)
    asked = Asked(stream.trace[calls], at[calls], turn[calls], told.asks(stream.row[calls]))
    answers = told.answers(results)
    about = {name: values for name, values in answers.items() if name not in {"call_id", "name"}}
    given = Results(
        stream.trace[results],
        at[results],
        answers["call_id"],
        answers["name"],
        lambda rows: {name: one_chunk(values).take(pa.array(rows)) for name, values in about.items()},
    )
    rows, taken = call_table(asked, given, n)
    if may_answer is not None:
        said = said[may_answer[said]]
    final = last_said(stream.trace[said], turn[said], asked, n, lambda rows: told.says(said[rows]))
    return Talk(rows, final, turn, calls, np.where(taken >= 0, results[taken] if results.size else -1, -1))
