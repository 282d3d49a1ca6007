"""What must hold in every results folder: the queries of sql/checks, each of which finds no row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracelens.errors import InternalError, counted
from tracelens.store.objects import documented
from tracelens.store.sqlfiles import sql_files

if TYPE_CHECKING:
    import duckdb

SHOWN = 5
"""Rows of a broken check that are kept."""


@dataclass(frozen=True)
class Checked:
    """One check.

    Attributes:
        name: Its name.
        meaning: What must hold, a sentence.
        n_rows: Rows that break it; 0 where it holds.
        examples: The first of them, by column.
    """

    name: str
    meaning: str
    n_rows: int
    examples: list[dict[str, Any]] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing breaks it."""
        return self.n_rows == 0


def run_checks(connection: duckdb.DuckDBPyConnection) -> list[Checked]:
    """Look whether a results folder holds together.

    Args:
        connection: What `tracelens.store.connect` gave.

    Returns:
        Every check of sql/checks, by name.

    Example:
        >>> import tempfile
        >>> from tracelens.store import RunWriter, connect
        >>> with tempfile.TemporaryDirectory() as results:
        ...     with RunWriter(results) as writer:
        ...         folder = writer.commit("ab12", {})
        ...     with connect(results) as duck:
        ...         all(check.holds for check in run_checks(duck))
        True
    """
    return [_checked(connection, name, text) for name, text in sql_files("checks")]


def must_hold(connection: duckdb.DuckDBPyConnection, where: str) -> None:
    """Refuse a run that does not hold together.

    Args:
        connection: DuckDB over the run.
        where: Its place, for the message.

    Raises:
        InternalError: A check finds rows; the message names the check, what it asks and the first row.
    """
    broken = [check for check in run_checks(connection) if not check.holds]
    if broken:
        said = "; ".join(
            f"{check.name}: {check.meaning} ({counted(check.n_rows, 'row')}, such as {check.examples[0]})"
            for check in broken
        )
        raise InternalError(f"the run does not hold together: {said}", where=where)


def _checked(connection: duckdb.DuckDBPyConnection, name: str, text: str) -> Checked:
    found = connection.execute(text)
    columns = [column[0] for column in found.description or ()]
    rows = found.fetchmany(SHOWN)
    examples = [dict(zip(columns, row, strict=True)) for row in rows]
    n_rows = len(rows)
    while more := found.fetchmany(10_000):
        n_rows += len(more)
    return Checked(name, documented(name, text).comment, n_rows, examples)
