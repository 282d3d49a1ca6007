"""Some rows of a table: copied run by run, and not at all where they stand together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import PADDING, TEXT, bytes_and_offsets, one_chunk, text_array, valid
from tracelens.kernels.gather import gather_texts, run_starts, text_bytes

I64 = npt.NDArray[np.int64]


def starts_of(ids: pa.Array | pa.ChunkedArray) -> I64:
    """The rows at which another text begins, the first row included; a null is like nothing, not even a null.

    Example:
        >>> starts_of(pa.array(["a", "a", "b", None, None], TEXT)).tolist()
        [0, 2, 3, 4]
    """
    ids = one_chunk(ids)
    if not len(ids):
        return np.zeros(0, np.int64)
    if ids.null_count:
        same = pc.fill_null(pc.equal(ids.slice(1), ids.slice(0, len(ids) - 1)), False)
        return np.concatenate([[0], np.flatnonzero(~same.to_numpy(zero_copy_only=False)) + 1]).astype(np.int64)
    out = np.empty(len(ids), np.int64)
    return out[: run_starts(*bytes_and_offsets(ids), out)]


def picked(rows: pa.Table, names: Iterable[str], where: I64) -> pa.Table:
    """Those of the columns that are there, at the rows ``where``."""
    return pa.table({name: pick(rows[name], where) for name in names if name in rows.column_names})


def pick(values: pa.Array | pa.ChunkedArray, where: I64) -> pa.Array:
    """The values at the rows ``where``.

    Example:
        >>> pick(pa.chunked_array([["a", "b"], [None, "c"]], TEXT), np.array([1, 2, 3])).to_pylist()
        ['b', None, 'c']
    """
    n = where.size
    ascending = bool(np.all(where[1:] > where[:-1]))
    if n and ascending and where[-1] - where[0] == n - 1:
        return one_chunk(values.slice(int(where[0]), n))
    if values.type != TEXT or not ascending:
        return one_chunk(values).take(pa.array(where))
    chunks = list(_chunks(values, where))
    size = sum(text_bytes(offsets, rows) for _, offsets, rows in chunks)
    data, out, done = np.empty(size + PADDING, np.uint8), np.zeros(n + 1, np.int64), 0
    data[size:] = 0  # so that kernels can read the texts where they are
    for source, offsets, rows in chunks:
        gather_texts(source, offsets, rows, data, out, done)
        done += rows.size
    return text_array(data, out, valid(values)[where] if values.null_count else None)


def _chunks(values: pa.Array | pa.ChunkedArray, where: I64) -> Iterator[tuple[npt.NDArray[np.uint8], I64, I64]]:
    """Bytes and offsets of each chunk, and the rows of it that are wanted."""
    first = 0
    for chunk in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
        begin, end = np.searchsorted(where, [first, first + len(chunk)])
        if begin < end:
            yield *bytes_and_offsets(chunk), where[begin:end] - first
        first += len(chunk)
