"""Backends' exports as Parquet, and their dataframes: the rows become JSON lines, which the format then reads as it does.

Only columns that the format wants are read. A text column that holds JSON becomes the value it holds (where it is JSON
that TraceLens reads); text of any other column stays text. Structs and lists lose members that are null, because a
frame pads every row with the keys of all others, and numbers that are none become null. The lines stand in a temporary
file, so memory is set by the block.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tracelens.columns import Batch
from tracelens.errors import InputError
from tracelens.sources.backends.langfuse import Langfuse
from tracelens.sources.backends.langsmith import LangSmith
from tracelens.sources.backends.mlflow import MLflow
from tracelens.sources.backends.phoenix import Phoenix
from tracelens.sources.base import Head, Options, Sniff
from tracelens.sources.reading.files import File

READABLE = r"(?s)^\s*[\[{]"
NO_NUMBER = r"NaN|Infinity|[eE]\+?[0-9]{3}"
"""What Python writes into JSON that is no JSON, and exponents beyond any number: such text stays text."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The columns of a frame.

    Attributes:
        needed: A frame is of the format if it has all columns of one of these sets.
        json: Text columns that hold JSON.
        parts: Members of the record that are taken out of a text column that holds the whole record: name to column.
    """

    needed: Sequence[frozenset[str]]
    json: frozenset[str] = frozenset()
    parts: Mapping[str, str] | None = None

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
MLFLOW = Frame(
    (frozenset({"trace", "trace_id"}), frozenset({"trace", "request_id"})),
    parts={"info": "trace", "data": "trace"},
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
                names = _schema(file).names
                _write(self._query("read_parquet($path)", names, str(file.path)), path, str(file.path))
                lines.append(File(path, file.name))
            yield from super().blocks(lines, replace(options, layouts={}))  # type: ignore[misc]

    def memory_blocks(self, source: Any, options: Options) -> Iterator[Any]:
        """The rows of a frame in memory as the format's own blocks."""
        reader = reader_of(source)
        with tempfile.TemporaryDirectory(prefix="tracelens-") as folder:
            path = Path(folder) / "table.jsonl"
            _write(self._query("frame", reader.schema.names, "table"), path, "table", reader)
            yield from super().blocks([File(path, "table")], replace(options, layouts={}))  # type: ignore[misc]

    def _query(self, table: str, names: Sequence[str], where: str) -> tuple[str, Frame, list[str]]:
        """What to read: the table, and the columns that the format wants."""
        if not self.frame.fits(names):
            missing = sorted(self.frame.needed[0] - set(names))
            raise InputError(f"there is no column {missing[0]!r}", where=where, hint=f"columns: {', '.join(names)}")
        wanted = set(self.projection.members) | set(self.keys.members) if hasattr(self, "keys") else set(names)  # type: ignore[attr-defined]
        return table, self.frame, [name for name in names if name in wanted]

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


def _write(
    query: tuple[str, Frame, list[str]], path: Path, where: str, frame: pa.RecordBatchReader | None = None
) -> None:
    """Write rows as JSON lines."""
    import duckdb

    table, columns, names = query
    source = table.replace("$path", _text(where))
    with tempfile.TemporaryDirectory(prefix="tracelens-") as folder:
        connection = duckdb.connect(config={"temp_directory": folder, "memory_limit": "512MB", "threads": 2})
        try:
            connection.execute("set TimeZone = 'UTC'")
            if frame is not None:
                connection.register("frame", frame)
                kinds = {item.name: item.type for item in frame.schema}
            else:
                kinds = {item.name: item.type for item in pq.read_schema(where)}
            wanted = ", ".join(_columns(columns, names, kinds))
            connection.execute(f"copy (select {wanted} from {source}) to {_text(str(path))} (format json)")  # noqa: S608  names are quoted
        except duckdb.Error as error:
            raise InputError(f"cannot be read: {error}", where=where, hint="write it again") from error
        finally:
            connection.close()


def _columns(frame: Frame, names: Sequence[str], kinds: Mapping[str, pa.DataType]) -> Iterator[str]:
    """The columns to read, as SQL."""
    if frame.parts is not None:
        for member, column in frame.parts.items():
            yield f"{_json(_name(column))}->{_text(member)} as {_name(member)}"
        if "assessments" in kinds and pa.types.is_nested(kinds["assessments"]):
            yield 'json_strip_nulls(to_json("assessments")) as "assessments"'
        return
    for name in names:
        kind, column = kinds[name], _name(name)
        if pa.types.is_nested(kind):
            yield f"json_strip_nulls(to_json({column})) as {column}"
        elif pa.types.is_floating(kind):
            yield f"case when isfinite({column}) then {column} end as {column}"
        elif name in frame.json and not pa.types.is_primitive(kind):
            yield f"{_json(column)} as {column}"
        elif not pa.types.is_null(kind):
            yield column


def _json(column: str) -> str:
    """Text as the JSON it holds, or as text."""
    reads = f"regexp_matches({column}, {_text(READABLE)}) and json_valid({column})"
    reads += f" and not regexp_matches({column}, {_text(NO_NUMBER)})"
    return f"case when {reads} then {column}::json else to_json({column}) end"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
