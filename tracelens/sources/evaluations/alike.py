"""Small things that several formats do alike: columns put together, tags, names of traces, times in seconds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import EXPECTED, TEXT, TIME, one_chunk, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import FALSE, NUMBER, STRING, TRUE, Found
from tracelens.sources.base import Records
from tracelens.sources.limits import within

I64 = npt.NDArray[np.int64]
Columns = Mapping[str, Any]
Scores = tuple[Sequence[int], Sequence[str | None], Sequence[str | None]]

encode = json.JSONEncoder(ensure_ascii=False).encode
"""A value as JSON text."""

SUFFIXES = (".gz", ".zst", ".zstd", ".json", ".jsonl", ".ndjson", ".eval", ".traj")


def put_together(*parts: tuple[I64, Columns]) -> tuple[I64, dict[str, pa.Array]]:
    """Rows of several tables in one order.

    Args:
        *parts: For each table the place of every row in the common order, and its columns; all have the same ones.

    Returns:
        The places, ascending, and the columns. Rows of equal place stay in the order of tables and rows.

    Example:
        >>> place, columns = put_together((np.array([0, 4]), {"a": ["x", "z"]}), (np.array([2]), {"a": ["y"]}))
        >>> place.tolist(), columns["a"].to_pylist()
        ([0, 2, 4], ['x', 'y', 'z'])
    """
    place = np.concatenate([at for at, _ in parts]).astype(np.int64)
    order = np.argsort(place, kind="stable")
    arrays = {
        name: pa.concat_arrays([one_chunk(_array(columns[name])) for _, columns in parts]) for name in parts[0][1]
    }
    if np.any(order[1:] < order[:-1]):
        arrays = {name: values.take(pa.array(order)) for name, values in arrays.items()}
    return place[order], arrays


def _array(values: Any) -> pa.Array | pa.ChunkedArray:
    return values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)


def tags_of(n: int, *scores: Scores) -> pa.Array:
    """Tags of traces: JSON objects as text, null where a trace has none.

    Args:
        n: Number of traces.
        *scores: The trace of each value, its name, and its JSON text; those without a name or text are left out.

    Example:
        >>> tags_of(2, ([1, 1], ["reward", "trial"], ["1.0", None])).to_pylist()
        [None, '{"reward": 1.0}']
    """
    members: list[dict[str, str]] = [{} for _ in range(n)]
    for traces, names, values in scores:
        for trace, name, value in zip(traces, names, values, strict=True):
            if name is not None and value is not None:
                members[trace][encode(name)] = value
    texts = ["{" + ", ".join(f"{name}: {value}" for name, value in each.items()) + "}" for each in members]
    return pa.array([text if each else None for text, each in zip(texts, members, strict=True)], TEXT)


def column_tags(rows: Found, *names: str, trace: Iterable[int] | None = None) -> list[Scores]:
    """Columns of a table as tags of the same names: numbers, strings and flags as they are written."""
    traces = list(range(rows.n) if trace is None else trace)
    return [(traces, [name] * rows.n, json_texts(rows, name)) for name in names]


def json_texts(rows: Found, name: str) -> list[str | None]:
    """Numbers, strings and flags as JSON text; other cells are None."""
    plain = rows.text(name, NUMBER, TRUE, FALSE).to_pylist()
    said = rows.text(name, STRING).to_pylist()
    return [encode(text) if text is not None else value for text, value in zip(said, plain, strict=True)]


def joined(*parts: Any, by: str) -> pa.Array:
    """Texts put together; nulls are left out, and all null is null.

    Example:
        >>> joined(pa.array(["a", None], TEXT), pa.array(["b", None], TEXT), by="-").to_pylist()
        ['a-b', None]
    """
    first, *rest = parts
    for part in rest:
        # not with null_handling="skip", which loses a row of nulls
        first = pc.coalesce(pc.binary_join_element_wise(first, part, pa.scalar(by, TEXT)), first, part)
    return first


def trace_names(records: Records, ids: pa.Array, *, unique: bool = False) -> dict[str, pa.Array]:
    """Columns ``trace_id`` and ``id_given``; a trace without an id is called by its place.

    Args:
        records: Where the traces stand.
        ids: str?[traces].
        unique: Whether an id names one trace in the world. Others stand behind the file's name where several files
            are read.
    """
    block = records.block
    given = pc.if_else(pc.equal(ids, ""), pa.scalar(None, TEXT), ids)
    names = given
    if not (unique or block.alone):
        names = pc.binary_join_element_wise(pa.scalar(block.source, TEXT), given, pa.scalar(":", TEXT))
    if given.null_count:
        names = pc.coalesce(names, pa.array([records.place(row) for row in range(len(ids))], TEXT))
    return {"trace_id": names, "id_given": pc.is_valid(given)}


def origin(records: Records) -> dict[str, Any]:
    """Columns of `tracelens.columns.TRACES` that say where each trace stands."""
    n = records.found.top.n
    return {
        "trace": np.arange(n, dtype=np.uint32),
        "source": pa.repeat(pa.scalar(records.block.source, TEXT), n),
        "line": records.lines,
        "record_hi": records.digests[:, 0],
        "record_lo": records.digests[:, 1],
    }


def file_stem(source: str) -> str:
    """A file's name without its folder and endings.

    Example:
        >>> file_stem("a/booking.test.json.gz")
        'booking.test'
    """
    name = PurePosixPath(source).name
    while name.endswith(SUFFIXES):
        name = name[: name.rindex(".")]
    return name


def seconds(values: pa.Array) -> pa.Array:
    """Seconds since 1970 as times; what is no time of the years 1 to 9999 is null.

    Example:
        >>> seconds(pa.array([1.5, None, 1e300])).to_pylist()[0].isoformat()
        '1970-01-01T00:00:01.500000+00:00'
    """
    good = pc.if_else(pc.less(pc.abs(values), 1e12), values, None)
    return within("started_at", pc.cast(pc.round(pc.multiply(good, 1e6)), pa.int64()).cast(TIME))


def summed(values: pa.Array, trace: npt.NDArray[Any], n: int) -> pa.Array:
    """The sum of a column by trace, null where there is no value.

    Example:
        >>> summed(pa.array([1, None, 2]), np.array([0, 1, 0]), 2).to_pylist()
        [3, None]
    """
    rows = pa.table({"trace": pa.array(trace.astype(np.int64)), "value": values})
    sums = rows.group_by("trace").aggregate([("value", "sum")])
    at = np.full(n, -1, np.int64)
    at[sums["trace"].to_numpy()] = np.arange(sums.num_rows)
    return one_chunk(sums["value_sum"]).take(pa.array(at, mask=at < 0))


def first_of(values: pa.Array, trace: npt.NDArray[Any], n: int, *, last: bool = False) -> pa.Array:
    """The first (or last) value of each trace that is not null.

    Example:
        >>> first_of(pa.array(["a", None, "b"]), np.array([0, 0, 0]), 2, last=True).to_pylist()
        ['b', None]
    """
    rows = np.flatnonzero(pc.is_valid(values).to_numpy(zero_copy_only=False))
    at = np.full(n, -1, np.int64)
    at[trace[rows if last else rows[::-1]]] = rows if last else rows[::-1]
    return one_chunk(values).take(pa.array(at, mask=at < 0))


def expected_rows(trace: npt.NDArray[Any], name: Any, arguments: Any, form: Any, n: int) -> pa.Table:
    """One reference a trace, see `tracelens.columns.EXPECTED`; rows are in the order of traces."""
    return table(
        EXPECTED,
        trace.size,
        trace=trace.astype(np.uint32),
        reference_index=np.zeros(trace.size, np.int32),
        expected_index=positions_in(group_offsets(trace, n)),
        name=name,
        arguments=arguments,
        arguments_form=form,
    )
