"""Parquet files whose bytes depend on the rows alone, not on the frames in which they came."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tracelens.columns import one_chunk
from tracelens.store.categories import as_categories, canonical
from tracelens.tables import check, schema, table
from tracelens.tables.border import as_arrow

ROWS = 122_880
"""Most rows of a row group: one unit of work of DuckDB."""
WIDE_ROWS, WIDE = 30_720, 60
"""Most rows of a row group of a table with more columns than this, because open row groups are in memory."""
TEXT_BYTES = 32 * 2**20
"""A row group also ends with the row that brings its texts to this many bytes, which bounds memory."""

LONG = 64
"""Texts of a dictionary that are shorter than this do not count: a dictionary holds each of them once."""

_STATISTICS = ("trace_id", "case_id", "started_at")


class TableWriter:
    """Writes one table of a run, frame after frame.

    Rows are cut into row groups by their number and the length of their texts only, texts with few distinct values
    get a sorted dictionary per row group, and no writer's time or type hint enters the file.

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
        self._few = [i for i, field in enumerate(self._schema) if field.name in columns and columns[field.name].few]
        for i in self._few:
            field = self._schema.field(i)
            self._schema = self._schema.set(i, field.with_type(pa.dictionary(pa.int32(), pa.large_string())))
        self._file = pq.ParquetWriter(
            path,
            self._schema,
            **_compression(self._schema),
            use_dictionary=[field.name for field in self._schema if _repeats(field.type)],
            write_statistics=[each for each in _STATISTICS if each in self._schema.names],
            store_schema=False,
        )
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
        self._file.close()

    def _conformed(self, rows: pa.Table) -> pa.Table:
        """Contract order and types; texts with few values as dictionaries."""
        arrays = []
        for i, field in enumerate(self._schema):
            data = one_chunk(rows.column(field.name))
            if data.type != field.type:
                data = as_categories(data) if i in self._few else data.cast(field.type)
            arrays.append(data)
        return pa.Table.from_arrays(arrays, schema=self._schema)

    def _cuts(self, rows: pa.Table) -> Iterator[int]:
        """The row numbers before which a row group ends; keeps count of the open group."""
        total = np.cumsum(text_bytes(rows))
        start, before = 0, 0
        while True:
            by_bytes = int(np.searchsorted(total, before + TEXT_BYTES - self._open_bytes)) + 1
            stop = min(start + self._rows - self._open_rows, by_bytes)
            if stop > rows.num_rows:
                break
            yield stop
            start, before = stop, int(total[stop - 1])
            self._open_rows = self._open_bytes = 0
        self._open_rows += rows.num_rows - start
        self._open_bytes += int(total[-1]) - before if rows.num_rows else 0

    def _flush(self, parts: list[pa.Table]) -> None:
        """Write one row group."""
        group = pa.concat_tables(parts).combine_chunks() if len(parts) > 1 else parts[0]
        for i in self._few:
            group = group.set_column(i, self._schema.field(i), canonical(group.column(i)))
        self._written += group.num_rows
        self._file.write_table(group, row_group_size=max(group.num_rows, 1))


def text_bytes(rows: pa.Table) -> npt.NDArray[np.int64]:
    """The bytes of the texts of each row; those of dictionaries count only from `LONG` bytes on.

    Args:
        rows: n rows; text columns as large strings, dictionaries of them, or lists of them.

    Returns:
        int64[n].

    Example:
        >>> text_bytes(pa.table({"a": pa.array(["ab", None, "c"], pa.large_string()), "b": [1, 2, 3]})).tolist()
        [2, 0, 1]
    """
    total = np.zeros(rows.num_rows, np.int64)
    for column in rows.columns:
        if pa.types.is_primitive(column.type):
            continue
        for start, chunk in _starts(column):
            total[start : start + len(chunk)] += _lengths(chunk)
    return total


def _compression(given: pa.Schema) -> dict[str, Any]:
    """How each column is compressed.

    Of the time of a whole run, compressing texts was a tenth. On arguments snappy takes 60 % of the time of zstd at
    its lowest level and leaves 40 % more bytes; on ids and numbers, which repeat, zstd is as fast and leaves a fifth.
    Digests are random, so nothing helps there.
    """
    codecs = {}
    for field in given:
        is_list = pa.types.is_large_list(field.type)
        codec = "zstd"
        if is_list or (pa.types.is_large_string(field.type) and not field.name.endswith("_id")):
            codec = "snappy"
        elif pa.types.is_uint64(field.type):
            codec = "none"
        codecs[f"{field.name}.list.element" if is_list else field.name] = codec
    return {"compression": codecs, "compression_level": {name: 1 for name, codec in codecs.items() if codec == "zstd"}}


def _repeats(kind: pa.DataType) -> bool:
    """Whether values of this type tend to repeat, as scores do; integers are small anyway, or digests."""
    return bool(pa.types.is_dictionary(kind) or pa.types.is_floating(kind) or pa.types.is_large_list(kind))


def _starts(column: pa.ChunkedArray) -> Iterator[tuple[int, pa.Array]]:
    start = 0
    for chunk in column.chunks:
        yield start, chunk
        start += len(chunk)


def _lengths(chunk: pa.Array) -> npt.NDArray[np.int64]:
    """Bytes of text per row of one array; zeros for numbers."""
    if pa.types.is_dictionary(chunk.type):
        lengths = _lengths(chunk.dictionary)
        lengths[lengths < LONG] = 0
        if not lengths.any():
            return np.zeros(len(chunk), np.int64)
        codes = chunk.indices.fill_null(len(lengths)).to_numpy(zero_copy_only=False)
        return np.asarray(np.append(lengths, 0)[codes], np.int64)
    if pa.types.is_large_list(chunk.type):
        total = np.append(0, np.cumsum(_lengths(chunk.values)))
        offsets = chunk.offsets.to_numpy()
        return np.asarray(total[offsets[1:]] - total[offsets[:-1]], np.int64)
    if pa.types.is_large_string(chunk.type) and len(chunk):
        offsets = np.frombuffer(chunk.buffers()[1], np.int64, len(chunk) + 1, chunk.offset * 8)
        return np.diff(offsets)
    return np.zeros(len(chunk), np.int64)
