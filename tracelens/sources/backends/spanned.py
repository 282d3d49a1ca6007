"""Formats whose records are spans: what they share beside the calls, the tables of traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import NOT_CAPTURED, TEXT, TRACES, Remark, numbers, one_chunk, one_of, table, true, valid
from tracelens.projection import ANYTHING, NUMBER, Found
from tracelens.sources.backends.members import Members, joined, objects
from tracelens.sources.backends.steps.flat import Flat, Inputs, flattened
from tracelens.sources.backends.steps.model import I64, MAYBE, OTHER, Mask, joint_codes, taken, text_codes
from tracelens.sources.backends.steps.results import Results
from tracelens.sources.base import Tables

TIED = (
    "a call started at the same instant as the one before; their order is that of the input, and they count as one turn"
)


@dataclass(frozen=True, slots=True)
class Spans:
    """The spans of whole traces and what a format says of the traces beside them.

    Attributes:
        steps: See `tracelens.sources.backends.steps.model.STEPS`.
        inputs: Gives what models were told, by row of the steps.
        asks: Requests that stand beside the outputs of models, see `tracelens.sources.backends.steps.model.ASKS`.
        columns: Columns of `tracelens.columns.TRACES` that the format itself gives.
        tags: Members of the traces' tags.
        answers: str?[traces]: the final answer; null: what a model said last.
        tools: Tool definitions (a JSON array as text) and the trace of each.
        notes: Remarks about the source.
        remarks: What was odd about values.
    """

    steps: pa.Table
    inputs: Inputs | None = None
    asks: pa.Table | None = None
    columns: dict[str, Any] = field(default_factory=dict)
    tags: Sequence[Members] = ()
    answers: pa.Array | None = None
    tools: tuple[I64, pa.Array] | None = None
    notes: tuple[str, ...] = ()
    remarks: Sequence[Remark] = ()


def tables_of(spans: Spans, columns: dict[str, Any], n: int, capture: str) -> Tables:
    """The tables of traces that are made of spans.

    Args:
        spans: What the format found.
        columns: Columns of `tracelens.columns.TRACES` that are known already.
        n: Number of traces.
        capture: What to say, once, where arguments were not captured, and how to change that.
    """
    flat = flattened(spans.steps, n, inputs=spans.inputs, asks=spans.asks)
    made = {
        "agent": flat.agent,
        "complete": flat.complete,
        "final_answer": flat.answer,
        "started_at": flat.started_at,
        "llm_calls": flat.llm_calls,
        "input_tokens": flat.input_tokens,
        "output_tokens": flat.output_tokens,
        "cost": flat.cost,
        "tags": objects(n, spans.tags) if spans.tags else None,
        "tools": definitions(*spans.tools, n) if spans.tools else None,
    }
    if spans.answers is not None:
        made["final_answer"] = pc.coalesce(one_chunk(spans.answers).cast(TEXT), flat.answer)
    for name, given in spans.columns.items():
        own = made.get(name)
        made[name] = given if own is None else pc.coalesce(one_chunk(given), own)
    everything = columns | {name: values for name, values in made.items() if values is not None}
    notes = (*spans.notes, *([capture] if _uncaptured(flat) else []))
    return Tables(
        table(TRACES, n, **everything),
        flat.calls,
        notes=notes,
        remarks=[*spans.remarks, *_ties(flat, everything)],
        spans=flat.spans,
        n_merged=flat.n_merged,
    )


def _uncaptured(flat: Flat) -> bool:
    """Whether there is a call without arguments because they were not captured, hand-offs aside."""
    form = numbers(flat.calls["arguments_form"])
    return bool(((form == NOT_CAPTURED) & ~valid(flat.calls["kind"])).any())


def _ties(flat: Flat, columns: dict[str, Any]) -> list[Remark]:
    if not flat.n_tied:
        return []
    return [Remark(TIED, flat.n_tied, f"trace {one_chunk(columns['trace_id'])[flat.tied].as_py()}")]


def first_of(values: pa.Array, of: npt.NDArray[np.integer[Any]], n: int) -> pa.Array:
    """The first value of each of n groups that is not null.

    Example:
        >>> first_of(pa.array([None, "a", "b"]), np.array([0, 0, 1]), 3).to_pylist()
        ['a', 'b', None]
    """
    if values.null_count == len(values):
        return pa.nulls(n, values.type)
    there = np.flatnonzero(valid(values))[::-1]
    at = np.full(n, -1, np.int64)
    at[of[there]] = there
    return taken(values, at)


def last_of(values: pa.Array, of: npt.NDArray[np.integer[Any]], n: int) -> pa.Array:
    """The last value of each of n groups that is not null."""
    back = np.arange(len(values))[::-1]
    return first_of(one_chunk(values).take(pa.array(back)), of[back], n)


def definitions(of: I64, values: pa.Array, n: int) -> pa.Array:
    """The tool definitions of n traces: the arrays of all their spans as one, each distinct text once.

    Example:
        >>> definitions(np.array([0, 0, 0]), pa.array(["[1]", "[2]", "[1]"], pa.large_string()), 2).to_pylist()
        ['[1, 2]', None]
    """
    there = np.flatnonzero(valid(values))
    if not there.size:
        return pa.nulls(n, TEXT)
    (codes,) = text_codes(one_chunk(values).take(pa.array(there)))
    first = there[np.sort(np.unique(joint_codes(of[there].astype(np.int64), codes), return_index=True)[1])]
    trimmed = pc.utf8_trim_whitespace(one_chunk(values).take(pa.array(first)))
    return joined(pc.utf8_trim_whitespace(pc.utf8_slice_codeunits(trimmed, 1, -1)), of[first], n)


def nanoseconds(rows: Found, name: str) -> pa.Array:
    """int64?[n]: instants written as ISO 8601, as nanoseconds since 1970."""
    return pc.multiply(rows.time(name).cast(pa.int64()), pa.scalar(1000, pa.int64()))


def decimals(rows: Found, name: str) -> pa.Array:
    """float64?[n]: numbers; infinite ones and other cells are null."""
    number = rows.text(name, NUMBER).cast(pa.float64())
    return pc.if_else(pc.is_finite(number), number, pa.scalar(None, pa.float64()))


def without_idle(kind: npt.NDArray[np.uint8], name: pa.Array, asked: pa.Array) -> npt.NDArray[np.uint8]:
    """Kinds of spans in which only those may be tools whose name some model of the block asked for.

    This is a first look, by names alone, so that the inputs of all other spans need not be read.

    Args:
        kind: uint8[n], see `tracelens.sources.backends.steps.model`.
        name: str?[n].
        asked: str?[m], the names that models asked for.
    """
    known = true(pc.is_in(name, pc.unique(asked.drop_null())))
    return np.where((kind == MAYBE) & ~known, np.uint8(OTHER), kind)


def later(rows: Found, name: str) -> Inputs:
    """Gives a column's texts at some rows, read only when they are asked for."""

    def give(at: I64) -> pa.Array:
        wanted = np.zeros(rows.n, np.bool_)
        wanted[at] = True
        return rows.text(name, *ANYTHING, where=wanted).take(pa.array(at))

    return give


def verdict(failed: Mask, told: pa.Array, went: Mask) -> pa.Array:
    """What became of calls: an error, else what a tool message says, else well where something says so."""
    well = pc.if_else(pa.array(went), pa.scalar("ok", TEXT), pa.scalar(None, TEXT))
    return pc.if_else(pa.array(failed), pa.scalar("error", TEXT), pc.coalesce(told, well))


def problem(failed: Mask, message: pa.Array, gave: Results) -> pa.Array:
    """Why calls failed: the message of a span that failed, else the result that a tool message calls an error."""
    said = pc.if_else(pc.equal(gave.status, "error"), gave.text, pa.scalar(None, TEXT))
    return pc.coalesce(chosen(failed, message), said)


def some(values: pa.Array) -> pa.Array:
    """Texts that are not empty."""
    return pc.if_else(pc.equal(values, ""), pa.scalar(None, TEXT), values)


def among(values: pa.Array, *known: str) -> npt.NDArray[np.bool_]:
    """bool[n]: texts that are one of those."""
    return one_of(values, *known)


def numbers_of_kinds(values: pa.Array, known: dict[str, int], default: int = 0) -> npt.NDArray[np.uint8]:
    """uint8[n]: kinds of spans by their name."""
    at = numbers(pc.index_in(values, pa.array(list(known), TEXT)), default=-1)
    kinds = np.array([*known.values(), default], np.uint8)
    return np.asarray(kinds[at], np.uint8)


def chosen(mask: npt.NDArray[np.bool_], yes: pa.Array, no: pa.Array | None = None) -> pa.Array:
    """Values where the mask is true, others (null if none are given) elsewhere."""
    return pc.if_else(pa.array(mask), yes, pa.scalar(None, yes.type) if no is None else no)
