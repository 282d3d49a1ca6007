"""Call tables: Parquet files, or a table in memory (Arrow, Polars, pandas, a DuckDB relation), one row a call.

Columns have the names of the native format. ``trace_id`` and ``name`` are needed; columns with other names are not read,
and a note says so. ``row`` says what a row is:

- ``call`` (also where it is null or there is no such column): a call, in the order of ``call_index`` where it is given;
- ``expected``: an expected call of the trace's own reference, in the order of ``call_index``. Of several references
  ``reference_index`` says which, from 0. A row without a name says that its reference expects nothing more, so that
  an empty one can be written;
- ``trace``: a row that only describes its trace.

What belongs to a trace may stand in any of its rows, the first value counts: ``session_id``, ``case_id``, ``tags``,
``complete``, ``tools``, ``final_answer``, ``trace_agent``, ``trace_started_at``, ``llm_calls``, ``input_tokens``,
``output_tokens`` and ``cost``.

Arguments and other JSON are text: a struct or map column has already lost types, late keys and nulls, and is refused.
The rows of a trace should be together; where they are not, the input is sorted first (DuckDB, which spills to disk),
by the first row of each trace.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tracelens.columns import Batch, padded
from tracelens.errors import InputError, InternalError, shown_type
from tracelens.kernels.records import hash_records
from tracelens.sources.base import Head, Options, Sniff
from tracelens.sources.reading.files import File
from tracelens.sources.tables.picking import pick, starts_of
from tracelens.sources.tables.table_columns import KNOWN, ROW, normalised, unread_columns
from tracelens.sources.tables.table_rows import batch_of

FEW = {"row", "name", "agent", "status", "kind"}
"""Text columns that have few values, as a rule: these are read from Parquet once each."""

ROWS = 1 << 17
"""Rows of a block, unless one trace has more."""


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows of whole traces.

    Attributes:
        rows: The known columns, and `ROW`, the row's number in the input.
        sources: Names of the files, and the number of the first row of each.
        records: uint64[files, 2]: digests of files that begin here; None: the rows are to be hashed.
        notes: Remarks about the columns of the input.
    """

    rows: pa.Table
    sources: tuple[tuple[str, int], ...]
    records: npt.NDArray[np.uint64] | None
    notes: tuple[str, ...] = ()


class CallTable:
    """Tables with a row per call."""

    name = "table"
    title = "call table: Parquet, Arrow, Polars, pandas or DuckDB, a row a call"
    seen = True
    sample = "table.parquet"

    def sniff(self, head: Head) -> Sniff:
        """A Parquet file with the columns ``trace_id`` and ``name``."""
        if not head.start.startswith(b"PAR1"):
            return Sniff(0, "the file is no Parquet file")
        with _parquet(head.file) as parquet:
            names = set(parquet.schema_arrow.names)
        missing = sorted({"trace_id", "name"} - names)
        if missing:
            return Sniff(10, f"the Parquet file has no column {' and '.join(missing)}")
        return Sniff(95, "a Parquet file with the columns trace_id and name")

    def blocks(self, inputs: Sequence[File], options: Options) -> Iterator[TableBlock]:
        """Whole traces out of Parquet files, in order."""
        files = [_parquet(file) for file in inputs]
        starts = np.cumsum([0, *(file.metadata.num_rows for file in files)])
        sources = tuple((file.name, int(start)) for file, start in zip(inputs, starts, strict=False))
        digests = np.array([_file_digest(file) for file in inputs], np.uint64).reshape(-1, 2)

        def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
            for file, parquet in zip(inputs, files, strict=True):
                some = [name for name in columns if name in parquet.schema_arrow.names]
                try:
                    yield from parquet.iter_batches(batch_size=1 << 16, columns=some)
                except (pa.ArrowException, OSError) as error:
                    why = f"is no readable Parquet file: {error}"
                    raise InputError(why, where=file.where, hint="write it again") from error

        for file, parquet in zip(inputs, files, strict=True):
            check_schema(parquet.schema_arrow, str(file.path))
        notes = unread_columns(name for parquet in files for name in parquet.schema_arrow.names)
        with ExitStack() as stack:
            for parquet in files:
                stack.enter_context(parquet)
            for block in _whole_traces(batches, options):
                yield TableBlock(block, sources, digests, notes)
                digests = digests[:0]

    def memory_blocks(self, source: Any, options: Options) -> Iterator[TableBlock]:
        """Whole traces out of a table in memory, in order.

        Raises:
            InputError: No table, or a column that is missing or of a wrong type.
        """
        with tempfile.TemporaryFile() as spool:
            schema, batches = _stream(source, spool)
            check_schema(schema, "table")
            notes = unread_columns(schema.names)
            for block in _whole_traces(batches, options):
                yield TableBlock(block, (("table", 0),), None, notes)

    def parse(self, block: TableBlock) -> Batch:
        """The traces of a block."""
        batch = batch_of(block.rows, block.sources, block.records)
        return replace(batch, notes=(*block.notes, *batch.notes)).checked()


def check_schema(schema: pa.Schema, where: str) -> None:
    """Refuse a table that lacks a needed column or has a column of a type that cannot be right.

    Raises:
        InputError: With the remedy.
    """
    for needed in ("trace_id", "name"):
        if needed not in schema.names:
            near = ", ".join(schema.names)
            raise InputError(f"there is no column {needed!r}", where=where, hint=f"the columns are: {near}")
    for item in schema:
        if item.name in KNOWN and KNOWN[item.name] == "text" and pa.types.is_nested(item.type):
            raise InputError(
                f"column {item.name!r} has type {item.type}, in which types, nulls and late keys are already lost",
                where=where,
                hint="give JSON text, made where the data is read: to_json(column) in DuckDB when read as JSON, "
                "pl.col(column).struct.json_encode() in Polars, column.map(json.dumps) in pandas",
            )


def _parquet(file: File) -> pq.ParquetFile:
    try:
        about = pq.read_metadata(file.path)
        leaves = [about.schema.column(k) for k in range(about.num_columns)]
        few = [leaf.path for leaf in leaves if leaf.path in FEW and leaf.physical_type == "BYTE_ARRAY"]
        # a buffer that reads ahead holds all it ever read: in the end the whole file
        return pq.ParquetFile(file.path, metadata=about, read_dictionary=few, pre_buffer=False)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"is no readable Parquet file: {error}", where=file.where, hint="write it again") from error


def _file_digest(file: File) -> tuple[int, int]:
    """128-bit digest of a file's bytes."""
    with pa.memory_map(str(file.path)) as mapped:
        view = np.frombuffer(mapped.read_buffer(), np.uint8)
        step = 1 << 26
        out = np.zeros((1, 2), np.uint64)
        parts = []
        for at in range(0, view.size, step):
            part = padded(view[at : at + step])
            hash_records(part, np.zeros(1, np.int64), np.array([part.size], np.int64), out)
            parts.append(out.tobytes())
    whole = padded(b"".join(parts))
    hash_records(whole, np.zeros(1, np.int64), np.array([whole.size], np.int64), out)
    return int(out[0, 0]), int(out[0, 1])


Batches = Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
"""Reads an input from its start: record batches of the columns asked for (those that are there)."""


def _stream(source: Any, spool: Any) -> tuple[pa.Schema, Batches]:
    """A table in memory as something that can be read several times."""
    if isinstance(source, pa.RecordBatch):
        source = pa.table(source)
    if isinstance(source, pa.Table):
        table = source
        return table.schema, lambda names: iter(
            table.select([n for n in names if n in table.column_names]).to_batches()
        )
    if hasattr(source, "scanner"):
        dataset = source
        return dataset.schema, lambda names: dataset.to_batches(columns=[n for n in names if n in dataset.schema.names])
    if hasattr(source, "collect_batches"):
        frames = source.collect_batches()
        return _spooled((batch for frame in frames for batch in frame.to_arrow().to_batches()), spool)
    if hasattr(source, "__arrow_c_stream__"):
        try:
            reader = pa.RecordBatchReader.from_stream(source)
        except (pa.ArrowException, TypeError) as error:
            raise InputError(
                f"the table cannot be read as Arrow: {'; '.join(map(str, error.args))}",
                hint='give each column one type, such as frame["case_id"].astype("string") in pandas',
            ) from error
        return _spooled(iter(reader), spool)
    raise InputError(
        f"{shown_type(source)} is no input",
        hint="give a path, a glob, a list of paths, or an Arrow, Polars, pandas or DuckDB table",
    )


def _spooled(batches: Iterable[pa.RecordBatch], spool: Any) -> tuple[pa.Schema, Batches]:
    """Keep the known columns of a stream that can be read once in a temporary file."""
    iterator = iter(batches)
    first = next(iterator, None)
    if first is None:
        raise InputError("the table is empty")
    names = [name for name in first.schema.names if name in KNOWN]
    schema = first.schema
    check_schema(schema, "table")
    writer = pa.ipc.new_file(spool, first.select(names).schema)
    writer.write_batch(first.select(names))
    for batch in iterator:
        writer.write_batch(batch.select(names))
    writer.close()
    spool.flush()

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        spool.seek(0)
        file = pa.ipc.open_file(pa.PythonFile(spool, "r"))
        some = [name for name in columns if name in names]
        return (file.get_batch(k).select(some) for k in range(file.num_record_batches))

    return schema, read


def _whole_traces(batches: Batches, options: Options) -> Iterator[pa.Table]:
    """The input's rows, cut between traces; sorted first if the rows of a trace are not together."""
    rows = max(1, min(ROWS, options.block_size // 128))
    columns = list(KNOWN)
    stream = _numbered(normalised(batch) for batch in batches(columns))
    if not _together(batches):
        stream = _sorted(stream)
    waiting: list[pa.RecordBatch] = []
    n = 0
    for batch in _slices(stream, rows):
        waiting.append(batch)
        n += batch.num_rows
        if n >= rows:
            table = pa.Table.from_batches(waiting)
            cut = _last_start(table["trace_id"])
            if cut:
                yield table.slice(0, cut)
            waiting = table.slice(cut).combine_chunks().to_batches()
            n -= cut
            if not cut:
                rows = 2 * n
    if n:
        yield pa.Table.from_batches(waiting)


def _slices(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The batches in pieces of at most so many rows."""
    for batch in batches:
        for at in range(0, batch.num_rows, rows):
            yield batch.slice(at, rows)


def _numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches with the number of each row."""
    n = 0
    for batch in batches:
        yield batch.append_column(ROW, pa.array(np.arange(n, n + batch.num_rows)))
        n += batch.num_rows


def _last_start(ids: pa.ChunkedArray) -> int:
    """The row at which the last trace begins."""
    end = ids.chunk(ids.num_chunks - 1)
    start = int(starts_of(end)[-1])
    return len(ids) - len(end) + start if start else int(starts_of(ids)[-1])


def _together(batches: Batches) -> bool:
    """Whether the rows of every trace stand together, from the ids alone."""
    runs: list[pa.Array] = []
    last = None
    for batch in batches(["trace_id"]):
        ids = normalised(batch)["trace_id"]
        firsts = pick(ids, starts_of(ids))
        if len(firsts) and runs and firsts[0].equals(last):
            firsts = firsts.slice(1)
        if len(ids):
            runs.append(firsts)
            last = ids[-1]
    every = pa.chunked_array(runs, runs[0].type).drop_null() if runs else None
    return every is None or len(every.unique()) == len(every)


def _sorted(stream: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows by the first row of their trace, then by their own number."""
    import duckdb

    first = next(stream, None)
    if first is None:
        raise InternalError("an empty input was sorted")

    def again() -> Iterator[pa.RecordBatch]:
        yield first
        yield from stream

    rows = pa.RecordBatchReader.from_batches(first.schema, again())
    with tempfile.TemporaryDirectory() as folder:
        connection = duckdb.connect(config={"temp_directory": folder, "memory_limit": "512MB", "threads": 2})
        try:
            connection.register("rows", rows)
            query = f'select * from (select *, min("{ROW}") over (partition by trace_id) as "#" from rows) order by "#", "{ROW}"'  # noqa: S608 - a constant
            for batch in connection.sql(query).to_arrow_reader(1 << 16):
                yield pa.RecordBatch.from_arrays([batch[name] for name in first.schema.names], schema=first.schema)
        finally:
            connection.close()
