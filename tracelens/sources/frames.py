"""Backends' exports as Parquet, and their dataframes: the rows become JSON lines, which the format then reads as it does.

Only columns that the format wants are read, see `tracelens.sources.frame_lines`. The lines stand in a temporary file, so
memory is set by the block.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tracelens.columns import TEXT, Batch, bytes_and_offsets, one_chunk
from tracelens.errors import InputError
from tracelens.sources.backends.langfuse import Langfuse
from tracelens.sources.backends.langsmith import LangSmith
from tracelens.sources.backends.mlflow import MLflow
from tracelens.sources.backends.phoenix import Phoenix
from tracelens.sources.base import Head, Options, Sniff
from tracelens.sources.frame_lines import NOTHING, json_column, object_lines
from tracelens.sources.reading.files import File

ROWS = 4096
"""Rows that become lines at a time."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The columns of a frame.

    Attributes:
        needed: A frame is of the format if it has all columns of one of these sets.
        json: Text columns that hold JSON.
        wanted: The columns to read; those that the format's records have, if None.
        lines: Makes lines of the columns as JSON texts; objects with a member a column, if None.
    """

    needed: Sequence[frozenset[str]]
    json: frozenset[str] = frozenset()
    wanted: frozenset[str] | None = None
    lines: Callable[[Mapping[str, pa.Array], int], pa.Array] = object_lines

    def fits(self, names: Iterable[str]) -> bool:
        """Whether a frame with those columns is of the format."""
        there = set(names)
        return any(columns <= there for columns in self.needed)


LANGSMITH = Frame(
    (frozenset({"run_type", "trace_id", "dotted_order"}), frozenset({"run_type", "trace_id", "inputs"})),
    frozenset({"inputs", "outputs", "extra", "feedback_stats", "tags", "inputs_s3_urls", "s3_urls"}),
)
LANGFUSE = Frame(
    (
        frozenset({"trace_id", "type", "parent_observation_id"}),
        frozenset({"trace_id", "type", "start_time", "level"}),
    ),
    frozenset({"usage_details", "tool_calls", "tool_call_names", "tool_definitions", "tags"}),
)
IDS, METADATA, STATES = ("trace_id", "request_id"), ("trace_metadata", "request_metadata"), ("state", "status")


def mlflow_lines(columns: Mapping[str, pa.Array], n: int) -> pa.Array:
    """The traces that a column holds, with assessments of another one; else traces out of the columns of their parts."""
    whole, assessments = columns.get("trace"), columns.get("assessments")
    if whole is None:
        about = {name: columns[name] for name in (*IDS, *METADATA, *STATES, "tags") if name in columns}
        info = object_lines(about, n)
        data = object_lines({"spans": columns["spans"]}, n)
        more = {} if assessments is None else {"assessments": assessments}
        return object_lines({"info": info, "data": data, **more}, n)
    if assessments is None:
        return whole
    open_ = pc.replace_substring_regex(whole, r"\s*\}\s*$", "")
    listed = pc.binary_join_element_wise(open_, assessments, pa.scalar(', "assessments": ', TEXT))
    closed = pc.binary_join_element_wise(listed, pa.scalar("}", TEXT), NOTHING)
    return pc.if_else(pc.ends_with(pc.utf8_rtrim_whitespace(whole), "}"), pc.coalesce(closed, whole), whole)


MLFLOW = Frame(
    tuple(frozenset({held, name}) for held in ("trace", "spans") for name in IDS),
    frozenset({"trace", "spans", "assessments", "tags", *METADATA}),
    frozenset({"trace", "spans", "assessments", "tags", *IDS, *METADATA, *STATES}),
    mlflow_lines,
)
PHOENIX = Frame(
    (frozenset({"context.trace_id", "context.span_id"}),),
    frozenset(
        f"attributes.{name}" for name in ("llm.output_messages", "llm.input_messages", "llm.tools", "metadata", "tool")
    )
    | {"attributes", "context"},
)


class FrameSource:
    """What formats share that come as Parquet or frames; the format itself is the other base."""

    name: str
    title: str
    sample: str
    frame: Frame
    seen = False

    def sniff(self, head: Head) -> Sniff:
        """A Parquet file with the columns of the format."""
        if not head.start.startswith(b"PAR1"):
            return Sniff(0, "the file is no Parquet file")
        names = _schema(head.file).names
        if self.frame.fits(names):
            return Sniff(97, f"a Parquet file with the columns {_listed(self.frame, names)}")
        missing = sorted(self.frame.needed[0] - set(names))
        near = len(missing) < len(self.frame.needed[0])
        return Sniff(10 if near else 0, f"the Parquet file has no column {' and '.join(missing)}")

    def blocks(self, inputs: Sequence[File], options: Options) -> Iterator[Any]:
        """The files' rows as the format's own blocks."""
        with tempfile.TemporaryDirectory(prefix="tracelens-") as folder:
            lines = []
            for number, file in enumerate(inputs):
                path = Path(folder) / f"{number}.jsonl"
                self._write(_batches(file, self._names(_schema(file).names, str(file.path))), path)
                lines.append(File(path, file.name))
            yield from super().blocks(lines, replace(options, layouts={}))  # type: ignore[misc]

    def memory_blocks(self, source: Any, options: Options) -> Iterator[Any]:
        """The rows of a frame in memory as the format's own blocks."""
        reader = reader_of(source)
        with tempfile.TemporaryDirectory(prefix="tracelens-") as folder:
            path = Path(folder) / "table.jsonl"
            self._write(_selected(reader, self._names(reader.schema.names, "table")), path)
            yield from super().blocks([File(path, "table")], replace(options, layouts={}))  # type: ignore[misc]

    def _names(self, names: Sequence[str], where: str) -> list[str]:
        """The columns that the format wants."""
        if not self.frame.fits(names):
            missing = sorted(self.frame.needed[0] - set(names))
            raise InputError(f"there is no column {missing[0]!r}", where=where, hint=f"columns: {', '.join(names)}")
        wanted = self.frame.wanted
        if wanted is None:
            wanted = frozenset(self.projection.members) | frozenset(self.keys.members)  # type: ignore[attr-defined]
        if "trace" in names and "trace" in wanted:
            wanted &= {"trace", "assessments"}
        return [name for name in names if name in wanted]

    def _write(self, batches: Iterator[pa.RecordBatch], path: Path) -> None:
        """Write rows as JSON lines."""
        with path.open("wb") as file:
            for batch in batches:
                texts = {
                    name: json_column(batch[name], holds_json=name in self.frame.json)
                    for name in batch.schema.names
                    if not pa.types.is_null(batch.schema.field(name).type)
                }
                lines = one_chunk(self.frame.lines(texts, batch.num_rows))
                ended = pc.binary_join_element_wise(lines, pa.scalar("", TEXT), pa.scalar("\n", TEXT))
                data, offsets = bytes_and_offsets(one_chunk(ended))
                file.write(np.ascontiguousarray(data[offsets[0] : offsets[-1]]).data)

    def parse(self, block: Any) -> Batch:
        """The traces of a block."""
        return super().parse(block)  # type: ignore[misc,no-any-return]


class LangSmithFrame(FrameSource, LangSmith):
    """Runs of LangSmith as Parquet or a frame."""

    name = "langsmith-parquet"
    title = "LangSmith bulk export: Parquet or a dataframe, a run a row"
    sample = "langsmith.parquet"
    frame = LANGSMITH


class LangfuseFrame(FrameSource, Langfuse):
    """Observations of Langfuse as Parquet or a frame."""

    name = "langfuse-parquet"
    title = "Langfuse blob export: Parquet or a dataframe, an observation a row"
    sample = "langfuse.parquet"
    frame = LANGFUSE


class MLflowFrame(FrameSource, MLflow):
    """Traces of MLflow as Parquet or a frame."""

    name = "mlflow-parquet"
    title = "MLflow search_traces: Parquet or a dataframe, a trace a row"
    sample = "mlflow.parquet"
    frame = MLFLOW


class PhoenixFrame(FrameSource, Phoenix):
    """Spans of Phoenix as Parquet or a frame."""

    name = "phoenix-parquet"
    title = "Phoenix get_spans_dataframe: Parquet or a dataframe, a span a row"
    sample = "phoenix.parquet"
    frame = PHOENIX


FRAMES = (LangSmithFrame(), LangfuseFrame(), MLflowFrame(), PhoenixFrame())
"""The formats that come as frames."""


def frame_named(names: Iterable[str]) -> FrameSource | None:
    """The format of a frame with those columns, if it is one of a backend."""
    there = list(names)
    return next((source for source in FRAMES if source.frame.fits(there)), None)


def reader_of(source: Any) -> pa.RecordBatchReader:
    """A frame in memory as record batches.

    Raises:
        InputError: It cannot be read as Arrow.
    """
    if isinstance(source, pa.RecordBatch):
        source = pa.table(source)
    try:
        if hasattr(source, "collect_batches"):
            schema = source.head(0).collect().to_arrow().schema
            frames = (batch for frame in source.collect_batches() for batch in frame.to_arrow().to_batches())
            return pa.RecordBatchReader.from_batches(schema, frames)
        return pa.RecordBatchReader.from_stream(source)
    except (pa.ArrowException, TypeError) as error:
        raise InputError(
            f"the table cannot be read as Arrow: {'; '.join(map(str, error.args))}",
            hint="write nested columns as JSON text, such as frame[column].map(json.dumps) in pandas",
        ) from error


def column_names(source: Any) -> list[str]:
    """Names of the columns of a table in memory; none where it has no such thing."""
    if isinstance(source, pa.Table | pa.RecordBatch):
        found = source.schema.names
    elif hasattr(source, "collect_schema"):
        found = source.collect_schema().names()
    else:
        found = getattr(source, "columns", None)
    return [name for name in found if isinstance(name, str)] if isinstance(found, Iterable) else []


def _schema(file: File) -> pa.Schema:
    try:
        return pq.read_schema(file.path)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"is no readable Parquet file: {error}", where=file.where, hint="write it again") from error


def _listed(frame: Frame, names: Sequence[str]) -> str:
    columns = next(columns for columns in frame.needed if columns <= set(names))
    return ", ".join(sorted(columns))


def _batches(file: File, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Some columns of a Parquet file, some rows at a time."""
    try:
        with pq.ParquetFile(file.path, pre_buffer=False) as opened:
            yield from opened.iter_batches(ROWS, columns=list(names))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is no readable Parquet file: {error}", where=file.where, hint="write it again") from error


def _selected(reader: pa.RecordBatchReader, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Some columns of a frame in memory, some rows at a time."""
    for batch in reader:
        some = batch.select(list(names))
        for at in range(0, some.num_rows, ROWS):
            yield some.slice(at, ROWS)
