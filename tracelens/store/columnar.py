"""Parquet files whose bytes depend on the rows alone, not on the frames in which they came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from tracelens.columns import one_chunk
from tracelens.store.categories import CATEGORIES, as_categories
from tracelens.store.encode import (
    Codec,
    Encoded,
    encode_categories,
    encode_lists,
    encode_numbers,
    encode_runs,
    encode_texts,
)
from tracelens.store.parquet import ParquetWriter
from tracelens.store.sizes import text_bytes, text_total
from tracelens.tables import check, schema, table
from tracelens.tables.border import as_arrow

ROWS = 122_880
"""Most rows of a row group: one unit of work of DuckDB."""
WIDE_ROWS, WIDE = 30_720, 60
"""Most rows of a row group of a table with more columns than this, because open row groups are in memory."""
TEXT_BYTES = 32 * 2**20
"""A row group also ends with the row that brings its texts to this many bytes, which bounds memory."""

_LIMITS = ("trace_id", "case_id", "started_at")
"""Columns of which row groups keep the smallest and the largest value, because rows are asked for by them."""

_RUNS = "trace_id"
"""The column whose values come in runs, where it is never null."""


class _Encode(Protocol):
    """Encodes a column of a row group, given in parts."""

    def __call__(self, arrays: Sequence[pa.Array]) -> Encoded: ...


class TableWriter:
    """Writes one table of a run, frame after frame.

    Rows are cut into row groups by their number and the length of their texts only, and no writer's time or type hint
    enters the file.

    Args:
        path: The file to write.
        name: A stored table of `tracelens.tables`.
        extra: Further ``<dialect>__<metric>`` columns of `traces`.

    Example:
        >>> import tempfile
        >>> from tracelens.tables import empty
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     writer = TableWriter(Path(folder) / "rejects.parquet", "rejects")
        ...     writer.write(empty("rejects", without=["run_id"]))
        ...     writer.close()
        0
    """

    def __init__(self, path: Path, name: str, *, extra: tuple[str, ...] = ()) -> None:
        self._name = name
        columns = table(name).by_name
        self._schema = schema(name, extra=extra, without=("run_id",))
        self._rows = WIDE_ROWS if len(self._schema) > WIDE else ROWS
        self._few = {field.name for field in self._schema if field.name in columns and columns[field.name].few}
        self._once = {*self._few, *(field.name for field in self._schema if _in_runs(field))}
        self._encoders = [_encoder(field, few=field.name in self._few) for field in self._schema]
        self._file = ParquetWriter(path, self._schema)
        self._pending: list[pa.Table] = []
        self._open_rows = self._open_bytes = self._written = 0

    def write(self, frame: Any) -> None:
        """Add rows.

        Args:
            frame: A Polars frame, or an Arrow table or record batch, without ``run_id``, columns in any order.
                Text columns may be categorical or dictionary-encoded.

        Raises:
            InternalError: The frame breaks the contract of the table.
        """
        arrow = as_arrow(frame)
        check(self._name, arrow, without=("run_id",))
        rows = self._conformed(arrow)
        start = 0
        for stop in self._cuts(rows):
            self._flush([*self._pending, rows.slice(start, stop - start)])
            self._pending = []
            start = stop
        if start < rows.num_rows:
            self._pending.append(rows.slice(start))

    def close(self) -> int:
        """Write what is left and finish the file.

        Returns:
            The number of rows written.
        """
        if self._pending:
            self._flush(self._pending)
        self._pending = []
        self._file.close()
        return self._written

    def abandon(self) -> None:
        """Close the file without writing what is left; the file is of no use afterwards."""
        self._pending = []
        self._file.abandon()

    def _conformed(self, rows: pa.Table) -> pa.Table:
        """Contract order and types; texts with few values as dictionaries, ids as dictionaries where they came so."""
        arrays = []
        for field in self._schema:
            data = one_chunk(rows.column(field.name))
            if field.name in self._few:
                data = as_categories(data)
            elif data.type != field.type and not (_in_runs(field) and data.type == CATEGORIES):
                data = data.cast(field.type)
            arrays.append(data)
        return pa.Table.from_arrays(arrays, names=self._schema.names)

    def _cuts(self, rows: pa.Table) -> Iterator[int]:
        """The row numbers before which a row group ends; keeps count of the open group."""
        start, rest, added = 0, rows, text_total(rows, self._once)
        while (length := self._room(rest, added)) <= rest.num_rows:
            start += length
            yield start
            rest = rows.slice(start)
            added = text_total(rest, self._once)
            self._open_rows = self._open_bytes = 0
        self._open_rows += rest.num_rows
        self._open_bytes += added

    def _room(self, rows: pa.Table, added: int) -> int:
        """How many more rows the open group takes, if it goes on with these, which have so many bytes of text."""
        by_number = self._rows - self._open_rows
        if self._open_bytes + added < TEXT_BYTES:
            return by_number
        total = np.cumsum(text_bytes(rows, self._once))
        return min(by_number, int(np.searchsorted(total, TEXT_BYTES - self._open_bytes)) + 1)

    def _flush(self, parts: list[pa.Table]) -> None:
        """Write one row group."""
        rows = sum(part.num_rows for part in parts)
        self._written += rows
        columns = (encode([part.column(i).chunk(0) for part in parts]) for i, encode in enumerate(self._encoders))
        self._file.write_group(rows, columns)


def _encoder(field: pa.Field, *, few: bool) -> _Encode:
    """How a column is encoded.

    Of the time of a whole run, compressing texts is a tenth. On arguments snappy takes 60 % of the time of zstd at
    its lowest level and leaves 40 % more bytes; on ids, which repeat, zstd is as fast and leaves a fifth.
    """
    codec: Codec = "zstd" if field.name.endswith("_id") else "snappy"
    limits = field.name in _LIMITS
    if few:
        return partial(encode_categories, nullable=field.nullable)
    if _in_runs(field):
        return partial(encode_runs, limits=limits)
    if pa.types.is_large_list(field.type):
        return partial(encode_lists, codec=codec)
    if pa.types.is_large_string(field.type):
        return partial(encode_texts, nullable=field.nullable, codec=codec, limits=limits)
    return partial(encode_numbers, nullable=field.nullable, limits=limits)


def _in_runs(field: pa.Field) -> bool:
    return field.name == _RUNS and not field.nullable
