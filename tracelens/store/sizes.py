"""How many bytes of text rows hold, by which row groups end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import one_chunk, valid

LONG = 64
"""Texts of a dictionary that are shorter than this do not count: a dictionary holds each of them once."""

I64 = npt.NDArray[np.int64]


def text_bytes(rows: pa.Table) -> I64:
    """The bytes of the texts of each row, nulls aside; those of dictionaries count only from `LONG` bytes on.

    Args:
        rows: n rows; text columns as large strings, dictionaries of them, or lists of them.

    Returns:
        int64[n].

    Example:
        >>> text_bytes(pa.table({"a": pa.array(["ab", None, "c"], pa.large_string()), "b": [1, 2, 3]})).tolist()
        [2, 0, 1]
    """
    total = np.zeros(rows.num_rows, np.int64)
    for array in _texts(rows):
        total += _lengths(array)
    return total


def text_total(rows: pa.Table) -> int:
    """The sum of `text_bytes`, mostly without a look at the rows."""
    return sum(map(_total, _texts(rows)))


def _texts(rows: pa.Table) -> Iterator[pa.Array]:
    """The columns that hold text."""
    for column in rows.columns:
        if not pa.types.is_primitive(column.type) and column.null_count < rows.num_rows:
            yield one_chunk(column)


def _total(array: pa.Array) -> int:
    if pa.types.is_dictionary(array.type):
        return int(_lengths(array).sum()) if _counted(array.dictionary).any() else 0
    if pa.types.is_large_list(array.type):
        return _total(array.flatten())
    if array.null_count:
        return pc.sum(pc.binary_length(array)).as_py() or 0
    offsets = _offsets(array)
    return int(offsets[-1] - offsets[0])


def _lengths(array: pa.Array) -> I64:
    """Bytes that count, by row."""
    if pa.types.is_dictionary(array.type):
        known = np.append(_counted(array.dictionary), 0)
        return np.asarray(known[array.indices.fill_null(known.size - 1).to_numpy(zero_copy_only=False)])
    if pa.types.is_large_list(array.type):
        before = np.append(0, np.cumsum(_lengths(array.flatten())))
        ends = np.cumsum(array.value_lengths().fill_null(0).to_numpy())
        return np.diff(np.append(0, before[ends]))
    lengths = np.diff(_offsets(array))
    return np.where(valid(array), lengths, 0) if array.null_count else lengths


def _counted(dictionary: pa.LargeStringArray) -> I64:
    lengths = _lengths(dictionary)
    return np.where(lengths < LONG, 0, lengths)


def _offsets(array: pa.LargeStringArray) -> I64:
    """Where the texts start, and the last one ends."""
    if not len(array):
        return np.zeros(1, np.int64)
    return np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)
