"""How many bytes of text rows hold, by which row groups end."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.store.pages import validity

LONG = 64
"""Shorter texts of a dictionary do not count: a dictionary holds each of them once."""

I64 = npt.NDArray[np.int64]


def text_bytes(rows: pa.Table, once: Collection[str]) -> I64:
    """The bytes of the texts of each row, nulls aside.

    Args:
        rows: n rows in columns of one chunk; texts as large strings, dictionaries of them or lists of them.
        once: Columns that are stored with a dictionary, of which only texts of `LONG` bytes and more count.

    Returns:
        int64[n].

    Example:
        >>> text_bytes(pa.table({"a": pa.array(["ab", None, "c"], pa.large_string()), "b": [1, 2, 3]}), ()).tolist()
        [2, 0, 1]
    """
    total = np.zeros(rows.num_rows, np.int64)
    for array, is_once in _texts(rows, once):
        total += _counted(_lengths(array), is_once)
    return total


def text_total(rows: pa.Table, once: Collection[str]) -> int:
    """The sum of `text_bytes`, mostly without a look at the rows."""
    return sum(_total(array, is_once) for array, is_once in _texts(rows, once))


def _texts(rows: pa.Table, once: Collection[str]) -> Iterator[tuple[pa.Array, bool]]:
    if rows.num_rows:
        for field, column in zip(rows.schema, rows.columns, strict=True):
            if not pa.types.is_primitive(field.type):
                yield column.chunk(0), field.name in once


def _total(array: pa.Array, once: bool) -> int:
    if array.null_count == len(array):
        return 0
    if pa.types.is_dictionary(array.type):
        known = _counted(_lengths(array.dictionary), once)
        return int(_counted(_lengths(array), once).sum()) if known.any() else 0
    if pa.types.is_large_list(array.type):
        return _total(array.flatten(), once)
    if once or array.null_count:
        return int(_counted(_lengths(array), once).sum())
    offsets = _offsets(array)
    return int(offsets[-1] - offsets[0])


def _counted(lengths: I64, once: bool) -> I64:
    return np.where(lengths < LONG, 0, lengths) if once else lengths


def _lengths(array: pa.Array) -> I64:
    """Bytes of text per row."""
    if pa.types.is_dictionary(array.type):
        known = np.append(_lengths(array.dictionary), 0)
        return np.asarray(known[array.indices.fill_null(known.size - 1).to_numpy(zero_copy_only=False)])
    if pa.types.is_large_list(array.type):
        before = np.append(0, np.cumsum(_lengths(array.flatten())))
        ends = np.cumsum(array.value_lengths().fill_null(0).to_numpy())
        return np.diff(np.append(0, before[ends]))
    lengths = np.diff(_offsets(array))
    return np.where(validity([array]), lengths, 0) if array.null_count else lengths


def _offsets(array: pa.LargeStringArray) -> I64:
    """Where the texts start, and the last one ends."""
    if not len(array):
        return np.zeros(1, np.int64)
    return np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)
