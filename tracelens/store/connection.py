"""DuckDB over run folders: a view per table, the macros and views of sql/, all documented by comments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tracelens.errors import path_of
from tracelens.store.layout import VERDICTS, run_folders, run_info, table_file, verdict_files
from tracelens.store.objects import STORED, quoted, statements
from tracelens.tables import STORED_TABLES, dialect_comments, table
from tracelens.tables.model import SQL_DTYPES

if TYPE_CHECKING:
    import duckdb

    Connection: TypeAlias = duckdb.DuckDBPyConnection  # for faces, which only pass one on

FILE_OF = "file_of_"
"""Start of the column that holds the file of a row; no view shows it, but plans of queries tell by it what they read."""


def connect(path: str | Path, *others: str | Path, comments: bool = True) -> duckdb.DuckDBPyConnection:
    """DuckDB in memory over the runs of a results folder.

    Every table of `tracelens.tables` is there under its name, for all runs together with their ``run_id``, and beside
    them the views and macros of sql/. Nothing is copied: queries read the Parquet files. No extension is installed.

    Args:
        path: A results folder, or one run folder.
        others: More of them, to ask about runs of several folders together; a run that is in two of them counts once.
        comments: Whether every view and column gets its comment; it takes a tenth of a second.

    Returns:
        A connection of its own; close it after use.

    Raises:
        StoreError: No results folder, or no run in it.

    Example:
        >>> import tempfile
        >>> from tracelens.store.folder import RunWriter
        >>> with tempfile.TemporaryDirectory() as results:
        ...     with RunWriter(results) as writer:
        ...         folder = writer.commit("ab12", {})
        ...     with connect(results) as duck:
        ...         duck.execute("SELECT count(*) FROM traces").fetchall()
        [(0,)]
    """
    connection = empty_connection()
    folders = [run for each in (path, *others) for run in run_folders(path_of(each, "results folder"))]
    attach_runs(connection, list({run.name: run for run in reversed(folders)}.values())[::-1])
    for statement in statements():
        if comments or not statement.startswith("COMMENT"):
            connection.execute(statement)
    if comments:
        for statement in dialect_comments(connection.table("traces").columns):
            connection.execute(statement)
    return connection


def empty_connection() -> duckdb.DuckDBPyConnection:
    """A DuckDB in memory that never installs or loads an extension from elsewhere."""
    import duckdb

    return duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
        },
    )


def attach_runs(connection: duckdb.DuckDBPyConnection, folders: Sequence[Path], schema: str = STORED) -> None:
    """Make a schema with a view per table over the files of these runs."""
    connection.execute(f"CREATE SCHEMA {schema}")
    kept = {folder: run_info(folder)["rows"] for folder in folders}
    for name in STORED_TABLES:
        files = [table_file(folder.resolve(), name) for folder, rows in kept.items() if name in rows]
        connection.execute(f"CREATE VIEW {schema}.{name} AS ({_over_files(connection, name, files)})")
    said = [file for folder in folders for file in verdict_files(folder)]
    connection.execute(f"CREATE VIEW {schema}.{VERDICTS} AS ({_over_files(connection, VERDICTS, said)})")


def _over_files(connection: duckdb.DuckDBPyConnection, name: str, files: Sequence[Path]) -> str:
    """The query that reads a table; what runs of older versions do not have is null."""
    typed = {each.name: f"CAST(NULL AS {SQL_DTYPES[each.dtype]}) AS {each.name}" for each in table(name).columns}
    if not files:
        return f"SELECT {', '.join(typed.values())} WHERE false"
    listed = ", ".join(quoted(str(file)) for file in files)
    # the folder of a file is the id of its run; DuckDB skips the files of other runs when a query names one
    query = (
        f"SELECT parse_path({FILE_OF}{name})[-2] AS run_id, * EXCLUDE ({FILE_OF}{name}) "  # noqa: S608  names of ours
        f"FROM read_parquet([{listed}], union_by_name = true, filename = '{FILE_OF}{name}')"
    )
    there = connection.sql(query).columns
    if typed.keys() <= set(there):
        return query
    columns = [each if each in there else text for each, text in typed.items()]
    more = [each for each in there if each not in typed]
    return f"SELECT {', '.join([*columns, *more])} FROM ({query})"  # noqa: S608  names of ours
