"""Writing a Parquet file, row group after row group, from columns that are already encoded.

Apache Parquet with version 1 data pages, one statistic per column at most, no writer's time, no checksums. The files
are read back in the tests by DuckDB, Polars and PyArrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from tracelens.errors import InternalError
from tracelens.store.encode import Encoded
from tracelens.store.pages import BYTES, Page, physical
from tracelens.store.thrift import Field, byte, i32, i32s, i64, inside, many, struct, text, texts, truth

MAGIC = b"PAR1"
CREATED_BY = "TraceLens"

CODECS = {"none": 0, "snappy": 1, "zstd": 6}
"""Parquet's numbers of the codecs."""

_REQUIRED, _OPTIONAL, _REPEATED = range(3)
_UTF8, _LIST = 0, 3
_BUFFER = 1 << 18


class _Group(NamedTuple):
    """A row group written: its columns' metadata and sizes."""

    columns: list[bytes]
    rows: int
    raw: int
    stored: int
    start: int


class ParquetWriter:
    """Writes one file.

    Args:
        path: The file.
        schema: Its columns; dictionaries of texts are texts, a list is a list of texts that is never null.

    Raises:
        InternalError: A list may be null.
        OSError: The file cannot be opened.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._elements = [element for field in schema for element in _elements(field)]
        self._file = path.open("wb", buffering=_BUFFER)
        self._at = self._file.write(MAGIC)
        self._groups: list[_Group] = []
        self._codecs = {"snappy": pa.Codec("snappy"), "zstd": pa.Codec("zstd", compression_level=1)}

    def write_group(self, rows: int, columns: Iterable[Encoded]) -> None:
        """Write a row group.

        Args:
            rows: How many rows it has.
            columns: Every column of the schema, in its order.
        """
        start, raw, described = self._at, 0, []
        for field, column in zip(self._schema, columns, strict=True):
            metadata, size = self._write_column(field, column)
            described.append(struct([i64(2, 0), inside(3, metadata)]))
            raw += size
        self._groups.append(_Group(described, rows, raw, self._at - start, start))

    def close(self) -> None:
        """Write the footer and close the file."""
        footer = self._footer()
        self._put(footer + len(footer).to_bytes(4, "little") + MAGIC)
        self._file.close()

    def abandon(self) -> None:
        """Close the file as it is, which may be because the disk is full."""
        with suppress(OSError):
            self._file.close()

    def _put(self, data: bytes | pa.Buffer | memoryview) -> None:
        self._at += self._file.write(data)

    def _write_column(self, field: pa.Field, column: Encoded) -> tuple[bytes, int]:
        """Write the pages of a column; gives its metadata and its bytes before compression."""
        start = data_start = self._at
        raw = 0
        for page in column.pages:
            raw += self._write_page(page, column.codec)
            if page.is_dictionary:
                data_start = self._at
        return _column_metadata(field, column, raw, self._at - start, start, data_start), raw

    def _write_page(self, page: Page, codec: str) -> int:
        """Write one page; gives its bytes before compression, the header's included."""
        body = page.body if codec == "none" else self._codecs[codec].compress(page.body)
        size = len(page.body)
        if size >= 1 << 31 or len(body) >= 1 << 31:
            raise InternalError("a page is longer than 2 GiB")
        header = _page_header(page, size, len(body))
        self._put(header)
        self._put(body)
        return size + len(header)

    def _footer(self) -> bytes:
        groups = [
            struct(
                [
                    many(1, group.columns),
                    i64(2, group.raw),
                    i64(3, group.rows),
                    i64(5, group.start),
                    i64(6, group.stored),
                ]
            )
            for group in self._groups
        ]
        leaves = len(self._schema)
        root = struct([i32(3, _REQUIRED), text(4, "schema"), i32(5, leaves)])
        return struct(
            [
                i32(1, 2),
                many(2, [root, *self._elements]),
                i64(3, sum(group.rows for group in self._groups)),
                many(4, groups),
                text(6, CREATED_BY),
                many(7, [struct([inside(1, struct([]))])] * leaves),
            ]
        )


def _page_header(page: Page, raw: int, stored: int) -> bytes:
    if page.is_dictionary:
        kind, detail = 2, inside(7, struct([i32(1, page.n_values), i32(2, page.encoding)]))
    else:
        levels = [i32(3, 3), i32(4, 3)]
        kind, detail = 0, inside(5, struct([i32(1, page.n_values), i32(2, page.encoding), *levels]))
    return struct([i32(1, kind), i32(2, raw), i32(3, stored), detail])


def _column_metadata(field: pa.Field, column: Encoded, raw: int, stored: int, start: int, data_start: int) -> bytes:
    path = [field.name, "list", "element"] if pa.types.is_large_list(field.type) else [field.name]
    fields: list[Field] = [
        i32(1, physical(field.type).number),
        i32s(2, column.encodings),
        texts(3, path),
        i32(4, CODECS[column.codec]),
        i64(5, column.n_values),
        i64(6, raw),
        i64(7, stored),
        i64(9, data_start),
    ]
    if data_start != start:
        fields.append(i64(11, start))
    if column.limits is not None:
        nulls, smallest, largest = column.limits
        fields.append(inside(12, struct([i64(3, nulls), text(5, largest), text(6, smallest)])))
    return struct(fields)


def _elements(field: pa.Field) -> Sequence[bytes]:
    """The schema elements of a column; a list takes three."""
    if not pa.types.is_large_list(field.type):
        return [_leaf(field.name, field.type, nullable=field.nullable)]
    if field.nullable:
        raise InternalError(f"column {field.name!r}: a list may not be null")
    outer = struct([i32(3, _REQUIRED), text(4, field.name), i32(5, 1), i32(6, _LIST), inside(10, _logical(3))])
    middle = struct([i32(3, _REPEATED), text(4, "list"), i32(5, 1)])
    return [outer, middle, _leaf("element", field.type.value_type, nullable=True)]


def _leaf(name: str, kind: pa.DataType, *, nullable: bool) -> bytes:
    found = physical(kind)
    fields = [i32(1, found.number), i32(3, _OPTIONAL if nullable else _REQUIRED), text(4, name)]
    if found.number == BYTES:
        fields += [i32(6, _UTF8), inside(10, _logical(1))]
    elif found.converted is not None:
        fields += [i32(6, found.converted), inside(10, _logical_number(kind))]
    return struct(fields)


def _logical(number: int, inner: bytes = b"\0") -> bytes:
    return struct([inside(number, inner)])


def _logical_number(kind: pa.DataType) -> bytes:
    """What the bits of a number mean, where that is not said by their width."""
    if pa.types.is_date32(kind):
        return _logical(6)
    if pa.types.is_timestamp(kind):
        return _logical(8, struct([truth(1, value=True), inside(2, _logical(2))]))
    signed = pa.types.is_signed_integer(kind)
    return _logical(10, struct([byte(1, kind.bit_width), truth(2, value=signed)]))
