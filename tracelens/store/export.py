"""Copies of the results in forms other programs read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tracelens.errors import StoreError, UsageError, counted, did_you_mean, path_of
from tracelens.store.connection import connect
from tracelens.store.objects import STORED, quoted, statements
from tracelens.tables import QUERIED_TABLES, dialect_comments, sql_comments

if TYPE_CHECKING:
    import duckdb

Form = Literal["duckdb", "csv", "parquet", "arrow"]

STORAGE_VERSION = "v1.5.0"
"""Format of exported DuckDB files: the oldest that programs in use can be expected to read."""

_COPY = {
    "csv": "(FORMAT csv, HEADER true)",
    "parquet": "(FORMAT parquet, COMPRESSION zstd)",
}


def export(
    path: str | Path,
    to: str | Path,
    *,
    form: Form = "duckdb",
    names: tuple[str, ...] = QUERIED_TABLES,
    overwrite: bool = False,
) -> list[Path]:
    """Copy results out of a results folder.

    Args:
        path: A results folder, or one run folder.
        to: The file to make (``duckdb``), or the folder to fill with one file per table.
        form: ``duckdb``: one self-contained file with tables, views, macros and comments. ``csv``, ``parquet``,
            ``arrow`` (IPC files): one file per table.
        names: Tables or views to copy; ``duckdb`` always has all.
        overwrite: Whether files that exist may be replaced.

    Returns:
        The files made.

    Raises:
        UsageError: An unknown form or name.
        StoreError: A target exists already or cannot be written; no results folder.

    Example:
        >>> import tempfile
        >>> from tracelens.store.folder import RunWriter
        >>> with tempfile.TemporaryDirectory() as results:
        ...     with RunWriter(results) as writer:
        ...         folder = writer.commit("ab12", {})
        ...     [file.name for file in export(results, Path(results) / "copy", form="csv", names=("traces", "funnel"))]
        ['traces.csv', 'funnel.csv']
    """
    folder, target = path_of(path, "results folder"), path_of(to, "export")
    if form == "duckdb":
        _refuse([target], overwrite=overwrite)
        return [_to_duckdb(folder, target)]
    if form not in {"csv", "parquet", "arrow"}:
        hint = did_you_mean(form, ("duckdb", "csv", "parquet", "arrow"))
        raise UsageError(f"cannot export as {form!r}", hint=hint or "duckdb, csv, parquet and arrow are possible")
    files = {name: target / f"{name}.{form}" for name in names}
    _refuse(files.values(), overwrite=overwrite)
    return _to_files(folder, target, form, files)


def _refuse(files: Iterable[Path], *, overwrite: bool) -> None:
    """Raises if a file to make is there already."""
    there = [] if overwrite else [file for file in files if file.exists()]
    if there:
        more = f", and {counted(len(there) - 1, 'more file')}" if there[1:] else ""
        raise StoreError(
            f"the file exists already{more}",
            where=str(there[0]),
            hint="remove it, give another name, or overwrite it (--force)",
        )


def _to_files(path: Path, folder: Path, form: Form, files: Mapping[str, Path]) -> list[Path]:
    """One file per table or view."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot write here ({error.strerror})", where=str(folder)) from error
    with connect(path, comments=False) as connection:
        views = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
        for name, file in files.items():
            if (name,) not in views:
                hint = did_you_mean(name, [view for (view,) in views])
                raise UsageError(f"no table or view {name!r}", where=str(path), hint=hint)
            if form == "arrow":
                _to_arrow(connection.sql(f'FROM "{name}"'), file)
            else:
                connection.execute(f'COPY (FROM "{name}") TO {quoted(str(file))} {_COPY[form]}')
    return list(files.values())


def _to_duckdb(path: Path, to: Path) -> Path:
    """One DuckDB file: plain tables in `stored`, views and macros beside them."""
    part = to.with_name(f".{to.name}.part")
    part.unlink(missing_ok=True)
    with connect(path) as connection:
        connection.execute(f"ATTACH {quoted(str(part))} AS exported (STORAGE_VERSION {quoted(STORAGE_VERSION)})")
        connection.execute(f"CREATE SCHEMA exported.{STORED}")
        for table in QUERIED_TABLES:
            connection.execute(f"CREATE TABLE exported.{STORED}.{table} AS FROM memory.{STORED}.{table}")
        connection.execute("USE exported")
        for table in QUERIED_TABLES:
            for statement in sql_comments(table, kind="TABLE", relation=f"{STORED}.{table}"):
                connection.execute(statement)
        for statement in statements():
            connection.execute(statement)
        there = connection.table("traces").columns
        for relation in (f"{STORED}.traces", "traces"):
            for statement in dialect_comments(there, relation=relation):
                connection.execute(statement)
        connection.execute("USE memory")
        connection.execute("DETACH exported")
    part.replace(to)
    return to


def _to_arrow(relation: duckdb.DuckDBPyRelation, file: Path) -> None:
    """An Arrow IPC file, batch by batch."""
    import pyarrow as pa

    reader = relation.to_arrow_reader(65_536)
    with pa.ipc.new_file(file, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
