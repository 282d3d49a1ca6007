"""Own checks: a query over the tables of a run, or a Python function over them, whose rows become findings.

They run once, after all batches, on the whole run.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
import pyarrow as pa

from tracelens.errors import SuiteError, did_you_mean

if TYPE_CHECKING:
    import duckdb

    from tracelens.suite import Suite

Source: TypeAlias = "Path | pa.Table | pl.DataFrame"
"""A table of the run: a Parquet file, or the rows themselves."""

CHECK_FINDINGS = pl.Schema(
    {
        "trace_id": pl.String(),
        "call_index": pl.Int32(),
        "rung": pl.Int8(),
        "severity": pl.String(),
        "code": pl.String(),
        "tool": pl.String(),
        "path": pl.String(),
        "message": pl.String(),
        "value": pl.String(),
        "effect": pl.Boolean(),
    }
)
"""What own checks find: the columns of `findings`, by trace id."""

_GIVEN = ("trace_id", "call_index", "severity", "tool", "path", "message", "value")
_QUOTE = '"'
_SEVERITIES = ("error", "note")
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}


class RunTables(Mapping[str, pa.Table]):
    """The tables of a run by name, each read when it is asked for.

    Args:
        sources: Parquet files or tables by name.

    Example:
        >>> tables = RunTables({"calls": pl.DataFrame({"trace_id": ["t"]})})
        >>> tables["calls"].num_rows
        1
    """

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources

    def __getitem__(self, name: str) -> pa.Table:
        source = self._sources[name]
        if isinstance(source, Path):
            import pyarrow.parquet as pq

            return pq.read_table(source, partitioning=None)
        return source.to_arrow() if isinstance(source, pl.DataFrame) else source

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def run_checks(suite: Suite, sources: Mapping[str, Source]) -> pl.DataFrame:
    """Run every own check of a suite.

    A query sees each table of the run as a view of its name and nothing else: no file, no network, no extension. A
    function gets a mapping of Arrow tables by name and gives back an Arrow table (or a Polars frame). Either returns
    ``trace_id`` and, where it likes, ``call_index``, ``severity`` (``error``, the default, or ``note``), ``tool``,
    ``path``, ``message`` and ``value``; one finding per row.

    Args:
        suite: The suite; its ``check`` has the checks.
        sources: The tables of the run; `traces` must be among them.

    Returns:
        A frame of `CHECK_FINDINGS`, by check in the suite's order and then by trace, call and message.

    Raises:
        SuiteError: A check cannot be run, or what it returns is no table of findings. The message names the check.
    """
    parts = [CHECK_FINDINGS.to_frame()]
    for check in suite.check:
        where = f"check {check.name!r}"
        if check.sql is not None:
            returned = _query(check.sql, sources, where)
        else:
            returned = _call(check.python or "", suite.base, RunTables(sources), where)
        parts.append(_findings(returned, check.name, sources, where))
    return pl.concat(parts)


def _query(sql: str, sources: Mapping[str, Source], where: str) -> pl.DataFrame:
    import duckdb

    with duckdb.connect(config=_CONFIG) as connection:
        _make_views(connection, sources)
        try:
            relation: Any = connection.sql(sql)  # None for an empty statement, whatever the stubs say
            table = relation.project(_as_text(relation.columns)).to_arrow_table() if relation is not None else None
        except duckdb.Error as error:
            hint = f"the tables are {', '.join(sources)}"
            raise SuiteError(f"the query fails: {_first_line(error)}", where=where, hint=hint) from error
    if table is None:
        raise SuiteError("the statement returns no rows", where=where, hint="write a select")
    return _frame(table, where)


def _as_text(columns: list[str]) -> str:
    """A projection after which a table of Arrow holds whatever types a query gave."""
    return ", ".join(
        f'{f"#{at}" if name.lower() == "call_index" else f"CAST(#{at} AS VARCHAR)"} AS "{name.replace(_QUOTE, 2 * _QUOTE)}"'
        for at, name in enumerate(columns, start=1)
    )


def _make_views(connection: duckdb.DuckDBPyConnection, sources: Mapping[str, Source]) -> None:
    """A view per table; then the door is closed behind them."""
    files = []
    for name, source in sources.items():
        if isinstance(source, Path):
            path = str(source.resolve()).replace("'", "''")
            files.append(f"'{path}'")
            connection.execute(f"create view \"{name}\" as select * from read_parquet('{path}')")  # noqa: S608 - ours
        else:
            connection.register(name, source.to_arrow() if isinstance(source, pl.DataFrame) else source)
    connection.execute("set timezone = 'UTC'")
    connection.execute(f"set allowed_paths = [{', '.join(files)}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _call(entry: str, base: Path, tables: RunTables, where: str) -> pl.DataFrame:
    function = _function(entry, base, where)
    try:
        returned = function(tables)
    except Exception as error:
        raise SuiteError(f"{entry} raised {type(error).__name__}: {error}", where=where) from error
    if not isinstance(returned, pa.Table | pl.DataFrame):
        hint = "return a pyarrow.Table, with no rows where nothing is found"
        raise SuiteError(f"{entry} returned {type(returned).__name__}, not an Arrow table", where=where, hint=hint)
    return _frame(returned, where)


def _function(entry: str, base: Path, where: str) -> Callable[[RunTables], Any]:
    """The entry point: an installed module, or a file beside the suite."""
    module_name, _, path = entry.partition(":")
    try:
        found: Any = _module(module_name, base)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as error:
        hint = f"install the module, or put {module_name}.py beside the suite"
        raise SuiteError(f"cannot load {entry}: {error}", where=where, hint=hint) from error
    if not callable(found):
        raise SuiteError(f"{entry} is no function", where=where, hint='write python = "module:function"')
    function: Callable[[RunTables], Any] = found
    return function


def _module(name: str, base: Path) -> Any:
    beside = base / f"{name}.py"
    if not beside.is_file():
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, beside)
    if spec is None or spec.loader is None:
        raise ImportError(f"{beside} is no Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _frame(table: pa.Table | pl.DataFrame, where: str) -> pl.DataFrame:
    """The rows that a check returned, names of columns in lower case."""
    names = [name.lower() for name in (table.columns if isinstance(table, pl.DataFrame) else table.column_names)]
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        hint = "give each column a name of its own, with `as`"
        raise SuiteError(f"it returns the column {twice!r} more than once", where=where, hint=hint)
    try:
        frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
    except pl.exceptions.PolarsError as error:
        raise SuiteError(f"what it returns cannot be read: {_first_line(error)}", where=where) from error
    return frame.rename(str.lower)


def _findings(frame: pl.DataFrame, name: str, sources: Mapping[str, Source], where: str) -> pl.DataFrame:
    unknown = [column for column in frame.columns if column not in _GIVEN]
    if unknown:
        hint = did_you_mean(unknown[0], _GIVEN) or f"return some of {', '.join(_GIVEN)}"
        raise SuiteError(f"it returns an unknown column {unknown[0]!r}", where=where, hint=hint)
    if "trace_id" not in frame.columns:
        raise SuiteError("it returns no trace_id", where=where, hint="select trace_id, so that the trace is known")
    defaults = {"severity": "error", "message": f"check '{name}' found this"}
    columns = [_column(frame, column, defaults.get(column), where) for column in _GIVEN]
    found = pl.DataFrame(columns).with_columns(
        pl.lit(f"check.{name}").alias("code"),
        pl.lit(1, pl.Int8).alias("rung"),
        pl.lit(None, pl.Boolean).alias("effect"),
    )
    _check_values(found, sources, where)
    return found.select(CHECK_FINDINGS.names()).sort(
        "trace_id", "call_index", "message", "path", "value", nulls_last=True
    )


def _column(frame: pl.DataFrame, name: str, default: str | None, where: str) -> pl.Series:
    """A returned column in the dtype of findings, with its default for nulls."""
    dtype = CHECK_FINDINGS[name]
    if name not in frame.columns:
        return pl.Series(name, [default], dtype=dtype).new_from_index(0, frame.height)
    try:
        series = frame[name].cast(dtype)
    except pl.exceptions.PolarsError as error:
        raise SuiteError(f"the column {name} cannot be {dtype}: {_first_line(error)}", where=where) from error
    return series.fill_null(default) if default is not None else series


def _check_values(found: pl.DataFrame, sources: Mapping[str, Source], where: str) -> None:
    wrong = found.filter(~pl.col("severity").is_in(_SEVERITIES))
    if wrong.height:
        raise SuiteError(f"unknown severity {wrong['severity'][0]!r}", where=where, hint="write 'error' or 'note'")
    ids = _scan(sources["traces"], "trace_id").collect()["trace_id"]
    strangers = found.filter(~pl.col("trace_id").is_in(ids.implode()) | pl.col("trace_id").is_null())
    if strangers.height:
        raise SuiteError(f"it returns trace_id {strangers['trace_id'][0]!r}, which is no trace of the run", where=where)
    placed = found.filter(pl.col("call_index").is_not_null()).select("trace_id", "call_index")
    if placed.height and "calls" in sources:
        calls = _scan(sources["calls"], "trace_id", "call_index")
        strangers = (
            placed.lazy().join(calls, on=["trace_id", "call_index"], how="anti", maintain_order="left").collect()
        )
        if strangers.height:
            trace, index = strangers.row(0)
            raise SuiteError(
                f"it returns call_index {index} of trace {trace!r}, which has no such call",
                where=where,
                hint="the index of a call in table calls, from 0, or null for the whole trace",
            )


def _scan(source: Source, *names: str) -> pl.LazyFrame:
    """Some columns of a table, in the dtypes of findings."""
    rows = pl.scan_parquet(source) if isinstance(source, Path) else pl.DataFrame(source).lazy()
    return rows.select(pl.col(name).cast(CHECK_FINDINGS[name]) for name in names)
