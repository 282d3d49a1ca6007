"""A stored run as input again, so that its traces can be scored with another suite without their source."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tracelens import columns
from tracelens.columns import Batch, Before
from tracelens.errors import InternalError
from tracelens.store.layout import table_file

if TYPE_CHECKING:
    import polars as pl

    from tracelens.store.reader import Run

TRACES = 8_192
"""Traces of a batch."""


def replay(run: Run, *, traces: int = TRACES) -> Iterator[Batch]:
    """The traces and rejects of a run as a source would have given them.

    Only references that came with the traces are given back; those of a suite belong to the suite. What was masked
    when the run was written stays masked. Blank and merged records are gone; `before` has their number.

    Args:
        run: The run.
        traces: Number of traces per batch.

    Yields:
        Batches of whole traces in stored order, all rejects in the first; memory is set by the batch.

    Example:
        >>> import tempfile
        >>> from tracelens.store import RunWriter, open_run
        >>> with tempfile.TemporaryDirectory() as results:
        ...     with RunWriter(results) as writer:
        ...         folder = writer.commit("ab12", {})
        ...     list(replay(open_run(results)))
        []
    """
    calls, expected, spans = (Following(run, name) for name in ("calls", "expected", "spans"))
    origin, done = _origin(run), 0
    rejects = _as(run.read("rejects"), columns.REJECTS)
    for part in frames(run, "traces", traces):
        numbers = part.select("trace_id").with_row_index("trace")
        records = _records(origin, done, part.height)
        done += part.height
        yield Batch(
            traces=_traces(part, records),
            calls=_calls(calls.rows_of(numbers)),
            expected=_expected(expected.rows_of(numbers)),
            rejects=rejects,
            n_records=part.height + rejects.num_rows,
            records=records,
            spans=_as(spans.rows_of(numbers), columns.SPANS),
        ).checked()
        rejects = columns.empty(columns.REJECTS)
    calls.must_be_done()
    expected.must_be_done()
    spans.must_be_done()


def before(run: Run) -> Before | None:
    """What a run says of the input that it was made of; None where it says nothing."""
    counts = ("n_traces", "n_merged", "n_blank", "n_rejects", "n_left_out")
    for row in run.read("runs").iter_rows(named=True):
        return Before(
            row["input_digest"],
            row["n_merged"],
            row["n_blank"],
            tuple(row["notes"]),
            row.get("n_left_out", 0),
            row.get("selection"),
            tuple(row["missing_cases"]),
            row["n_records"] - sum(row.get(name, 0) for name in counts),
        )
    return None


class Following:
    """Reads a table that is in the order of traces, as far as the traces have come."""

    def __init__(self, run: Run, table: str) -> None:
        self._frames = frames(run, table, 32_768)
        self._rest: pl.DataFrame | None = None
        self._table = table

    def rows_of(self, numbers: pl.DataFrame) -> pl.DataFrame:
        """The rows of these traces, with the number of their trace."""
        import polars as pl

        parts = []
        while (frame := self._next()) is not None:
            mine = frame.join(numbers, on="trace_id", how="left", maintain_order="left")
            n = mine.height - mine["trace"].null_count()
            if mine["trace"].head(n).null_count():
                raise InternalError("rows are not in the order of traces", where=f"table {self._table}")
            parts.append(mine.head(n))
            if n < frame.height:
                self._rest = frame.slice(n)
                break
        return pl.concat(parts) if parts else self._nothing(numbers)

    def must_be_done(self) -> None:
        """Refuse rows that no trace has claimed.

        Raises:
            InternalError: There are some: they do not stand in the order of their traces.
        """
        if self._next() is not None:
            raise InternalError("rows are not in the order of traces", where=f"table {self._table}")

    def _next(self) -> pl.DataFrame | None:
        if self._rest is not None:
            rest, self._rest = self._rest, None
            return rest
        return next(self._frames, None)

    def _nothing(self, numbers: pl.DataFrame) -> pl.DataFrame:
        from tracelens.tables import empty

        return empty(self._table, without=["run_id"]).join(numbers, on="trace_id", how="left")


def frames(run: Run, table: str, rows: int) -> Iterator[pl.DataFrame]:
    """A table in slices."""
    import polars as pl

    with pq.ParquetFile(table_file(run.folder, table)) as file:
        for batch in file.iter_batches(rows):
            yield pl.DataFrame(batch)


def _origin(run: Run) -> bytes:
    """128 bits that stand for the input of a run."""
    facts = run.read("runs", ["input_digest"])["input_digest"].to_list()
    return hashlib.sha256(f"{run.run_id}\n{facts}".encode()).digest()[:16]


def _records(origin: bytes, first: int, n: int) -> npt.NDArray[np.uint64]:
    """Digests of the next n traces: the bytes are gone, so origin and position stand for them."""
    hi, lo = np.frombuffer(origin, np.uint64)
    records = np.empty((n, 2), np.uint64)
    records[:, 0] = hi
    records[:, 1] = lo ^ np.arange(first, first + n, dtype=np.uint64)
    return records


def _traces(part: pl.DataFrame, records: npt.NDArray[np.uint64]) -> pa.Table:
    """Stored traces as a batch holds them."""
    import polars as pl

    inline = pl.when(pl.col("reference_source") == "trace").then("n_references")
    marks = [pl.Series("record_hi", records[:, 0]), pl.Series("record_lo", records[:, 1])]
    return _as(part.with_row_index("trace").with_columns(inline.alias("n_references"), *marks), columns.TRACES)


def _calls(rows: pl.DataFrame) -> pa.Table:
    """Stored calls as a batch holds them."""
    return _as(rows.with_columns(_as_sent(rows)).rename({"arguments_repair": "repair"}), columns.CALLS)


def _as_sent(rows: pl.DataFrame) -> pl.Series:
    """The arguments, in as many layers of JSON strings as they were sent in: they are stored without those."""
    texts, times = rows["arguments"], rows["decoded_times"].to_numpy()
    if not (times > 1).any():
        return texts
    layers = times - (rows["arguments_form"].to_numpy() == columns.JSON_STRING)
    at = np.flatnonzero((times > 1) & (layers > 0) & texts.is_not_null().to_numpy())
    wrapped = texts.gather(at).to_list()
    for place, row in enumerate(at):
        for _ in range(int(layers[row])):
            wrapped[place] = json.dumps(wrapped[place], ensure_ascii=False)
    return texts.scatter(at, wrapped)


def _expected(rows: pl.DataFrame) -> pa.Table:
    """The expected calls that came with the traces."""
    import polars as pl

    return _as(rows.filter(pl.col("reference_source") == "trace", pl.col("expected_index") >= 0), columns.EXPECTED)


def _as(frame: pl.DataFrame, schema: pa.Schema) -> pa.Table:
    """Exactly these columns and types."""
    return frame.select(schema.names).to_arrow().cast(schema)
