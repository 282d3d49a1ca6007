"""DuckDB over run folders: a view per table, the macros and views of sql/, all documented by comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracelens.errors import InternalError, path_of
from tracelens.store.layout import run_folders, table_file
from tracelens.store.sqlfiles import sql_files
from tracelens.tables import STORED_TABLES, sql_comments

if TYPE_CHECKING:
    import duckdb

STORED = "stored"
"""Schema of the plain tables; the views of the main schema are made from them."""

_COLUMN_COMMENT = re.compile(r"--\s*(?P<column>\w+):\s*(?P<text>.+)")


def connect(path: str | Path, *, comments: bool = True) -> duckdb.DuckDBPyConnection:
    """DuckDB in memory over the runs of a results folder.

    Every table of `tracelens.tables` is there under its name, for all runs together with their ``run_id``, and beside
    them the views and macros of sql/. Nothing is copied: queries read the Parquet files. No extension is installed.

    Args:
        path: A results folder, or one run folder.
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
    attach_runs(connection, run_folders(path_of(path, "results folder")))
    for statement in (*macro_statements(), *view_statements()):
        if comments or not statement.startswith("COMMENT"):
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


def attach_runs(connection: duckdb.DuckDBPyConnection, folders: Sequence[Path]) -> None:
    """Make the schema `stored` with a view per table over the files of these runs."""
    connection.execute(f"CREATE SCHEMA {STORED}")
    for table in STORED_TABLES:
        files = ", ".join(quoted(str(table_file(folder.resolve(), table))) for folder in folders)
        # the folder of a file is the id of its run; DuckDB skips the files of other runs when a query names one
        parquet = f"read_parquet([{files}], union_by_name = true, filename = true)"
        columns = "parse_path(filename)[-2] AS run_id, * EXCLUDE (filename)"
        connection.execute(f"CREATE VIEW {STORED}.{table} AS (SELECT {columns} FROM {parquet})")  # noqa: S608  names of ours


def macro_statements() -> Iterator[str]:
    """The statements that make the macros of sql/macros."""
    files = dict(sql_files("macros"))
    for name in _ordered(files):
        yield files[name]


def view_statements() -> Iterator[str]:
    """The statements that make the views: one over each plain table, then those of sql/views, with comments."""
    files = dict(sql_files("views"))
    for table in STORED_TABLES:
        yield f"CREATE VIEW {table} AS {files.get(table, f'FROM {STORED}.{table}')}"
        yield from sql_comments(table)
        yield from (_comments(table, files[table])[1:] if table in files else ())
    for name in _ordered({name: text for name, text in files.items() if name not in STORED_TABLES}):
        yield f"CREATE VIEW {name} AS {files[name]}"
        yield from _comments(name, files[name])


def _ordered(files: dict[str, str]) -> list[str]:
    """Names of views or macros so that each comes after those it reads."""
    done: list[str] = []
    while len(done) < len(files):
        ready = [name for name in files if name not in done and _needs(name, files) <= set(done)]
        if not ready:
            raise InternalError(f"views or macros that need each other: {', '.join(sorted(set(files) - set(done)))}")
        done += ready
    return done


def _needs(name: str, files: dict[str, str]) -> set[str]:
    """The other objects that an object's text names outside its comments."""
    code = re.sub(r"--.*", "", files[name])
    return {other for other in files if other != name and re.search(rf"\b{other}\b", code)}


def _comments(name: str, text: str) -> list[str]:
    """Comment statements from the leading comment of a file and its ``-- column: meaning`` lines."""
    lines = text.splitlines()
    head = [line.removeprefix("--").strip() for line in _leading(lines)]
    statements = [f"COMMENT ON VIEW {name} IS {quoted(' '.join(head))}"]
    found = filter(None, map(_COLUMN_COMMENT.search, lines[len(head) :]))
    columns = (f'COMMENT ON COLUMN {name}."{each["column"]}" IS {quoted(each["text"].strip())}' for each in found)
    return [*statements, *columns]


def _leading(lines: Sequence[str]) -> Iterator[str]:
    """The comment lines before the first line of SQL."""
    for line in lines:
        if not line.startswith("--"):
            return
        yield line


def quoted(text: str) -> str:
    """The text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
