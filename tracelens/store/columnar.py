"""Parquet files whose bytes depend on the rows alone, not on the frames in which they came."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tracelens.columns import one_chunk
from tracelens.store.categories import CATEGORIES, as_categories, canonical
from tracelens.store.sizes import text_bytes, text_total
from tracelens.tables import check, schema, table
from tracelens.tables.border import as_arrow
from tracelens.tables.dialects import extra_column

ROWS = 122_880
"""Most rows of a row group: one unit of work of DuckDB."""
WIDE_ROWS, WIDE = 30_720, 60
"""Most rows of a row group of a table with more columns than this, because open row groups are in memory."""
TEXT_BYTES = 32 * 2**20
"""A row group also ends with the row that brings its texts to this many bytes, which bounds memory."""

BATCH = 16_384
"""Rows that PyArrow encodes at a time; a page ends behind a batch that brings it to 1 MiB."""

_STATISTICS = ("trace_id", "case_id", "started_at")
"""Columns of `traces` of which row groups keep the smallest and the largest value; comparing the ids of the rows of
other tables took as long as compressing them."""


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
        columns = table(name).by_name | {each: extra_column(each) for each in extra}
        self._schema = schema(name, extra=extra, without=("run_id",))
        self._rows = WIDE_ROWS if len(self._schema) > WIDE else ROWS
        self._few = [i for i, field in enumerate(self._schema) if field.name in columns and columns[field.name].few]
        for i in self._few:
            field = self._schema.field(i)
            self._schema = self._schema.set(i, field.with_type(CATEGORIES))
        codecs = {_path(field): _codec(field) for field in self._schema}
        self._file = pq.ParquetWriter(
            path,
            self._schema,
            compression=codecs,
            compression_level={path: 1 for path, codec in codecs.items() if codec == "zstd"},
            use_dictionary=[field.name for field in self._schema if _repeats(field.type)],
            write_statistics=list(_STATISTICS) if name == "traces" else False,
            store_schema=False,
            write_batch_size=BATCH,
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
            if i in self._few:
                data = as_categories(data)
            elif data.type != field.type:
                data = data.cast(field.type)
            arrays.append(data)
        return pa.Table.from_arrays(arrays, schema=self._schema)

    def _cuts(self, rows: pa.Table) -> Iterator[int]:
        """The row numbers before which a row group ends; keeps count of the open group."""
        start, rest, added = 0, rows, text_total(rows)
        while (length := self._room(rest, added)) <= rest.num_rows:
            start += length
            yield start
            rest = rows.slice(start)
            added = text_total(rest)
            self._open_rows = self._open_bytes = 0
        self._open_rows += rest.num_rows
        self._open_bytes += added

    def _room(self, rows: pa.Table, added: int) -> int:
        """How many rows end the open group, if it goes on with these, which have so many bytes of text."""
        by_number = self._rows - self._open_rows
        if self._open_bytes + added < TEXT_BYTES:
            return by_number
        total = np.cumsum(text_bytes(rows))
        return min(by_number, int(np.searchsorted(total, TEXT_BYTES - self._open_bytes)) + 1)

    def _flush(self, parts: list[pa.Table]) -> None:
        """Write one row group."""
        group = pa.concat_tables(parts)
        columns = [self._joined(i, column) for i, column in enumerate(group.columns)]
        group = pa.Table.from_arrays(columns, schema=self._schema)
        self._written += group.num_rows
        self._file.write_table(group, row_group_size=max(group.num_rows, 1))

    def _joined(self, i: int, column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """A column of a row group, so that its parts do not show in the file.

        Numbers may stay in parts: those of a whole row group fit into one page. Texts may end where PyArrow stops
        encoding anyway: only those around the end of a part are copied.
        """
        if i in self._few:
            return canonical(column)
        if pa.types.is_primitive(column.type):
            return column
        if not pa.types.is_large_string(column.type):
            return one_chunk(column)
        steps = [one_chunk(column.slice(start, BATCH)) for start in range(0, len(column), BATCH)]
        return pa.chunked_array(steps, column.type)


def _path(field: pa.Field) -> str:
    """What PyArrow calls the values of a column."""
    return f"{field.name}.list.element" if pa.types.is_large_list(field.type) else str(field.name)


def _codec(field: pa.Field) -> str:
    """How a column is compressed.

    Of the time of a whole run, compressing texts was a tenth. On arguments snappy takes 60 % of the time of zstd at
    its lowest level and leaves 40 % more bytes; on ids and line numbers, which repeat or rise, zstd is as fast and
    leaves a fifth. On other numbers, and numbers of dictionaries, lz4 takes half the time. Digests are random, so
    nothing helps there.
    """
    kind = field.type
    if pa.types.is_uint64(kind):
        return "none"
    if pa.types.is_int64(kind) or pa.types.is_timestamp(kind) or field.name.endswith("_id"):
        return "zstd"
    return "snappy" if pa.types.is_large_list(kind) or pa.types.is_large_string(kind) else "lz4"


def _repeats(kind: pa.DataType) -> bool:
    """Whether values of this type tend to repeat, as scores do; integers are small anyway, or digests."""
    return bool(pa.types.is_dictionary(kind) or pa.types.is_floating(kind) or pa.types.is_large_list(kind))
