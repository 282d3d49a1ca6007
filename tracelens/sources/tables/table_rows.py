"""Rows of a call table to a batch: what each known column is, and how rows make traces, calls and references."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import (
    ABSENT,
    CALLS,
    EXPECTED,
    JSON_STRING,
    REJECTS,
    TEXT,
    TRACES,
    Batch,
    Remark,
    numbers,
    one_chunk,
    places,
    table,
    texts,
    valid,
)
from tracelens.groups import group_offsets, positions_in
from tracelens.kernels.records import hash_records
from tracelens.sources.limits import MOST_REFERENCES, STATUSES, problem
from tracelens.sources.references import are_objects, matcher_faults
from tracelens.sources.tables.picking import pick, picked, starts_of
from tracelens.sources.tables.table_columns import CHECKED, KNOWN, ODD, ROW, TYPES, odd_rows

OF_TRACE = {
    "session_id": "session_id",
    "case_id": "case_id",
    "tags": "tags",
    "complete": "complete",
    "has_calls": "has_calls",
    "n_references": "n_references",
    "tools": "tools",
    "final_answer": "final_answer",
    "agent": "trace_agent",
    "started_at": "trace_started_at",
    "llm_calls": "llm_calls",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost": "cost",
}
"""Columns of `tracelens.columns.TRACES` and the table columns they come from."""

OF_CALL = (
    *("name", "arguments", "arguments_form", "malformed", "call_id", "turn", "agent", "depth", "status", "result"),
    *("error", "started_at", "duration_ms", "kind"),
)
"""Columns of `tracelens.columns.CALLS` that are table columns of the same name."""

OF_EXPECTED = ("reference_index", "call_index", "name", "arguments")
"""Table columns that an expected call is made of."""


def batch_of(rows: pa.Table, sources: tuple[tuple[str, int], ...], records: npt.NDArray[np.uint64] | None) -> Batch:
    """The batch of a block of rows.

    Args:
        rows: Normalised columns and `ROW`; the rows of a trace are together.
        sources: Names of the files and the first row of each.
        records: What `Batch.records` shall be; None: a digest of each row.
    """
    digests = row_digests(rows, KNOWN if records is None else ())
    given = valid(rows["trace_id"])
    kind = _kinds(rows)
    bad = ~given | (kind < 0)
    reasons = dict.fromkeys(np.flatnonzero(bad).tolist(), "row is none of call, expected and trace")
    reasons |= dict.fromkeys(np.flatnonzero(~given).tolist(), "there is no trace_id")
    where = np.flatnonzero(~bad & (kind == EXPECT))
    wanted = picked(rows, OF_EXPECTED, where)
    odd = numbers(rows[ODD])
    unusable, notes = _unusable(rows["trace_id"], wanted, where, odd_rows(odd, "reference_index")[where])
    reasons |= unusable
    rejects = _rejects(rows, reasons, sources)
    if unusable:
        # what else the table says of such a trace goes with it: without its reference it would be another trace
        bad |= pc.is_in(rows["trace_id"], rows["trace_id"].take(pa.array(list(unusable)))).to_numpy()
    if bad.any():
        rows, kind, odd = rows.filter(pa.array(~bad)), kind[~bad], odd[~bad]
        wanted = wanted.filter(pa.array(~bad[where]))
    ids = one_chunk(rows["trace_id"])
    first = starts_of(ids)
    trace = np.repeat(np.arange(first.size), np.diff(first, append=len(ids)))
    calls = _calls(rows, trace, np.flatnonzero(kind == CALL))
    expected, listed = _expected(wanted, trace[kind == EXPECT], first.size)
    of_traces = (
        digests[~bad][first] if records is None else row_digests(picked(rows, ["trace_id"], first), ["trace_id"])
    )
    traces = _traces(rows, ids, trace, first, kind, listed, sources, of_traces)
    n_records = traces.num_rows + rejects.num_rows
    remarks = _remarks(rows, odd, sources)
    return Batch(
        traces, calls, expected, rejects, n_records, 0, notes, digests if records is None else records, remarks
    )


CALL, EXPECT, DESCRIBE = range(3)


def _remarks(rows: pa.Table, odd: npt.NDArray[np.uint32], sources: tuple[tuple[str, int], ...]) -> tuple[Remark, ...]:
    """What rows had in columns that cannot have it."""
    if not odd.any():
        return ()
    number, out = numbers(rows[ROW]), []
    for name in CHECKED:
        found = np.flatnonzero(odd_rows(odd, name))
        if found.size:
            files, lines = _places(number[found[:1]], sources)
            text = f"a value of the column {name} {problem(name, KNOWN[name])}"
            out.append(Remark(text, found.size, f"row {lines[0]:,} of {files[0]}"))
    return tuple(out)


def _kinds(rows: pa.Table) -> npt.NDArray[np.int64]:
    """What each row is: a call, an expected call, a description of its trace; -1 for none of them."""
    if "row" not in rows.column_names:
        return np.zeros(rows.num_rows, np.int64)
    names = pa.array(["call", "expected", "trace"], TEXT)
    found = pc.index_in(pc.fill_null(rows["row"], "call"), names)
    return numbers(found, default=-1).astype(np.int64)


def _unusable(
    ids: pa.ChunkedArray, wanted: pa.Table, where: npt.NDArray[np.int64], unplaced: npt.NDArray[np.bool_]
) -> tuple[dict[int, str], tuple[str, ...]]:
    """Expected calls that cannot be used, by row, the first of each trace; and remarks."""
    faults: dict[int, str] = {}
    notes: tuple[str, ...] = ()
    if where.size and "arguments" in wanted.column_names:
        names, arguments = one_chunk(wanted["name"]), one_chunk(wanted["arguments"])
        objects = are_objects(arguments)
        if not objects.all():
            arguments = pc.if_else(pa.array(objects), arguments, pa.scalar(None, TEXT))
        faults, notes = matcher_faults(names, arguments)
        faults |= dict.fromkeys(np.flatnonzero(~objects).tolist(), "expected arguments are no object")
    misplaced = f"reference_index is no whole number from 0 to {MOST_REFERENCES:,}"
    faults |= dict.fromkeys(np.flatnonzero(unplaced).tolist(), misplaced)
    first: dict[str, int] = {}
    for row in sorted(faults):
        first.setdefault(ids[int(where[row])].as_py(), row)
    return {int(where[row]): faults[row] for row in first.values()}, notes


def _rejects(rows: pa.Table, reasons: dict[int, str], sources: Any) -> pa.Table:
    where = np.array(sorted(reasons), np.int64)
    names, lines = _places(numbers(rows[ROW])[where], sources)
    shown = [str(rows.slice(row, 1).drop_columns([ROW, ODD]).to_pylist()[0])[:200] for row in where]
    none = np.zeros(where.size, np.int64)
    return table(
        REJECTS, where.size, source=names, line=lines, offset=none, reason=[reasons[row] for row in where], text=shown
    )


def _places(row: npt.NDArray[np.int64], sources: tuple[tuple[str, int], ...]) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """The file that each row stands in and its number there, from 1."""
    starts = np.array([start for _, start in sources], np.int64)
    file = np.searchsorted(starts, row, side="right") - 1
    names = pa.array([name for name, _ in sources], TEXT)
    return names.take(pa.array(file)), row - starts[file] + 1


def _calls(rows: pa.Table, trace: npt.NDArray[np.int64], where: npt.NDArray[np.int64]) -> pa.Table:
    """The calls, in the order of ``call_index`` where it is given, else of the rows."""
    if "call_index" in rows.column_names and where.size:
        given = pick(rows["call_index"], where)
        if given.null_count < len(given):
            index = numbers(given, default=np.iinfo(np.int64).max)
            where = where[_order(trace[where], index)]
    part = picked(rows, OF_CALL, where)
    get = _getter(part)
    of, n = trace[where], where.size
    arguments, name = get("arguments"), get("name")
    form = np.where(valid(arguments), JSON_STRING, ABSENT).astype(np.uint8)
    if "arguments_form" in part.column_names:
        form = numbers(pc.coalesce(get("arguments_form").cast(pa.uint8()), pa.array(form)))
    status = get("status")
    known = pc.is_in(status, STATUSES)
    failed = pc.and_(pc.is_null(status), pc.is_valid(get("error")))
    said = pc.if_else(known, status, pa.scalar(None, TEXT))
    given_count = int(trace[-1]) + 1 if trace.size else 0
    return table(
        CALLS,
        n,
        trace=of.astype(np.uint32),
        call_index=positions_in(group_offsets(of, given_count)),
        name=name,
        malformed=pc.or_(pc.fill_null(get("malformed"), False), pc.is_null(name)),
        arguments=arguments,
        arguments_form=form,
        status=pc.if_else(failed, pa.scalar("error", TEXT), said),
        depth=pc.fill_null(get("depth"), 0),
        **{
            name: get(name)
            for name in ("call_id", "turn", "agent", "result", "error", "started_at", "duration_ms", "kind")
        },
    )


def _getter(rows: pa.Table) -> Callable[[str], Any]:
    """Columns by name; one that is not there is all null."""

    def get(name: str) -> pa.ChunkedArray | pa.Array:
        if name in rows.column_names:
            return rows[name]
        return pa.nulls(rows.num_rows, TYPES[KNOWN[name]])

    return get


def _order(*keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Rows by their keys, the first key first; rows of equal keys as they are."""
    rising, equal = np.zeros(max(keys[0].size - 1, 0), np.bool_), np.ones(max(keys[0].size - 1, 0), np.bool_)
    for key in keys:
        rising |= equal & (key[1:] > key[:-1])
        equal &= key[1:] == key[:-1]
    if np.all(rising | equal):
        return np.arange(keys[0].size)
    return np.lexsort(keys[::-1])


def _expected(wanted: pa.Table, trace: npt.NDArray[np.int64], n: int) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """The expected calls, and the number of references of each trace (0 for none).

    A row without a name says that its reference expects nothing more, so that an empty one can be written.
    """
    counts = np.zeros(n, np.int64)
    if not trace.size:
        return EXPECTED.empty_table(), counts
    get = _getter(wanted)
    reference = numbers(pc.fill_null(get("reference_index"), 0)).astype(np.int64)
    index = numbers(get("call_index"), default=np.iinfo(np.int64).max)
    np.maximum.at(counts, trace, reference + 1)
    order = _order(trace, reference, index)
    order = order[valid(get("name"))[order]]
    get = _getter(picked(wanted, ("name", "arguments"), order))
    of, reference = trace[order], reference[order]
    group = np.concatenate([[0], np.cumsum((np.diff(of) != 0) | (np.diff(reference) != 0))]) if order.size else of
    arguments = get("arguments")
    made = table(
        EXPECTED,
        order.size,
        trace=of.astype(np.uint32),
        reference_index=reference.astype(np.int32),
        expected_index=positions_in(group_offsets(group, int(group[-1]) + 1 if group.size else 0)),
        name=get("name"),
        arguments=arguments,
        arguments_form=np.where(valid(arguments), JSON_STRING, ABSENT).astype(np.uint8),
    )
    return made, counts


def _traces(
    rows: pa.Table,
    ids: pa.Array,
    trace: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    kind: npt.NDArray[np.int64],
    listed: npt.NDArray[np.int64],
    sources: tuple[tuple[str, int], ...],
    digests: npt.NDArray[np.uint64],
) -> pa.Table:
    n = first.size
    columns: dict[str, Any] = {}
    for name, source in OF_TRACE.items():
        if source in rows.column_names:
            columns[name] = _first_known(rows[source], trace, n, kind)
    has_calls = columns.pop("has_calls", pa.nulls(n, pa.bool_()))
    counts = pa.array(listed, mask=listed == 0)
    # a trace may have more references than rows tell, which are empty; none at all is the same as not saying so
    said = columns.pop("n_references", pa.nulls(n, pa.int64()))
    most = pc.max_element_wise(said, counts)
    columns["n_references"] = pc.if_else(pc.equal(most, 0), pa.scalar(None, pa.int64()), most)
    names, lines = _places(numbers(rows[ROW])[first], sources)
    return table(
        TRACES,
        n,
        trace=np.arange(n, dtype=np.uint32),
        trace_id=pick(ids, first),
        id_given=np.ones(n, np.bool_),
        has_calls=pc.fill_null(has_calls, True),
        source=names,
        line=lines,
        record_hi=digests[:, 0],
        record_lo=digests[:, 1],
        **columns,
    )


def _first_known(
    column: pa.ChunkedArray, trace: npt.NDArray[np.int64], n: int, kind: npt.NDArray[np.int64]
) -> pa.Array:
    """The first value of each trace that is not null; rows that describe the trace come before others."""
    row = np.full(n, -1, np.int64)
    there = valid(column)
    for mask in (there, there & (kind == DESCRIBE)):
        found = np.flatnonzero(mask)[::-1]
        row[trace[found]] = found
    if (row >= 0).all():
        return pick(column, row)
    return one_chunk(column).take(places(row))


def row_digests(rows: pa.Table, names: Iterable[str]) -> npt.NDArray[np.uint64]:
    """uint64[rows, 2]: a digest of each row over the columns named, in that order."""
    out = np.zeros((rows.num_rows, 2), np.uint64)
    part = np.empty_like(out)
    for place, name in enumerate(names):
        if name not in rows.column_names:
            continue
        text = texts(rows[name].cast(TEXT))
        hash_records(text.data, text.offsets[:-1].copy(), text.offsets[1:].copy(), part)
        part[~valid(rows[name])] = 0
        out *= np.uint64(0x9E3779B97F4A7C15)
        out ^= part + np.uint64(place)
    return out
