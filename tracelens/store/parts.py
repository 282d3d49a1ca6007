"""DuckDB over chosen parts of a results folder: a whole run, or what several runs say about a span of time.

Each part takes the place of a run: its name is the ``run_id`` of its rows, so that every view and macro of sql/ works on
parts as it does on runs, and there is one definition of each number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tracelens.store.connection import attach_runs, empty_connection
from tracelens.store.objects import STORED, quoted, statements
from tracelens.tables import QUERIED_TABLES, TABLES

if TYPE_CHECKING:
    import duckdb

    Connection = duckdb.DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Part:
    """Some traces of a results folder.

    Attributes:
        name: What the views call it: a word of small letters.
        folders: Run folders, oldest first. A trace that several of them hold counts as the newest one says.
        since: Only traces that started then or later (UTC); None: from the first.
        until: Only traces that started before (UTC); None: to the last.
    """

    name: str
    folders: tuple[Path, ...]
    since: datetime | None = None
    until: datetime | None = None

    @property
    def whole(self) -> bool:
        """Whether it is one run, with all of its traces."""
        return len(self.folders) == 1 and self.since is None and self.until is None


def connect_parts(parts: Sequence[Part], *, timezone: str = "UTC") -> duckdb.DuckDBPyConnection:
    """DuckDB in memory, with the tables, views and macros over parts.

    Args:
        parts: The parts, of different names.
        timezone: In which days begin.

    Returns:
        A connection of its own; close it after use. It reads the Parquet files; only ids of chosen traces are copied.

    Example:
        >>> import tempfile
        >>> from tracelens.store.folder import RunWriter
        >>> with tempfile.TemporaryDirectory() as results:
        ...     with RunWriter(results) as writer:
        ...         folder = writer.commit("ab12", {})
        ...     with connect_parts([Part("head", (folder,))]) as duck:
        ...         duck.execute("SELECT count(*) FROM traces WHERE run_id = 'head'").fetchall()
        [(0,)]
    """
    connection = empty_connection()
    connection.execute(f"SET VARIABLE tz = {quoted(timezone)}")
    for part in parts:
        attach_runs(connection, part.folders, f"files_{part.name}")
        if not part.whole:
            connection.execute(_chosen(part))
    connection.execute(f"CREATE SCHEMA {STORED}")
    for name in QUERIED_TABLES:
        rows = " UNION ALL BY NAME ".join(f"({_rows(part, name)})" for part in parts)
        connection.execute(f"CREATE VIEW {STORED}.{name} AS {rows}")
    for statement in statements():
        if not statement.startswith("COMMENT"):
            connection.execute(statement)
    return connection


def _chosen(part: Part) -> str:
    """The statement that notes which traces of which runs belong to a part."""
    bounds = [f"started_at >= {_time(part.since)}"] if part.since is not None else []
    bounds += [f"started_at < {_time(part.until)}"] if part.until is not None else []
    where = f"WHERE {' AND '.join(bounds)}" if bounds else ""
    order = ", ".join(quoted(folder.name) for folder in part.folders)
    return f"""
        CREATE TEMP TABLE chosen_{part.name} AS
        SELECT [{order}][newest] AS run_id, trace_id FROM (
            SELECT trace_id, max(list_position([{order}], run_id)) AS newest
            FROM files_{part.name}.traces {where} GROUP BY trace_id
        )
    """  # noqa: S608  names and times of ours


def _rows(part: Part, table: str) -> str:
    """The query for the rows of a table that belong to a part."""
    source, chosen = f"files_{part.name}.{table}", f"chosen_{part.name}"
    columns = f"SELECT {quoted(part.name)} AS run_id, * EXCLUDE (run_id) FROM"
    if part.whole:
        return f"{columns} {source}"
    if "trace_id" in TABLES[table].by_name:
        return f"{columns} {source} SEMI JOIN {chosen} USING (run_id, trace_id)"
    if table == "runs":  # what the newest run says stands for all
        newest = f"SELECT max(list_position([{', '.join(quoted(each.name) for each in part.folders)}], run_id)) FROM {chosen}"  # noqa: S608  names of ours
        names = ", ".join(quoted(each.name) for each in part.folders)
        return f"{columns} {source} WHERE list_position([{names}], run_id) = ({newest})"
    return f"{columns} {source} SEMI JOIN {chosen} USING (run_id)"


def _time(at: datetime) -> str:
    return f"TIMESTAMPTZ {quoted(at.isoformat())}"
