"""SQL questions and their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracelens.errors import UsageError

if TYPE_CHECKING:
    import duckdb
    import polars as pl


def ask(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """The answer to a query.

    Args:
        connection: What `connect` gave.
        query: DuckDB SQL.

    Returns:
        The rows as a Polars frame; empty for a statement without an answer.

    Raises:
        UsageError: DuckDB refuses the query; its message is kept.

    Example:
        >>> from tracelens.store.connection import empty_connection
        >>> with empty_connection() as connection:
        ...     ask(connection, "SELECT 6 * 7 AS n").item()
        42
    """
    import duckdb
    import polars as pl

    try:
        relation: duckdb.DuckDBPyRelation | None = connection.sql(query)
        answer: pl.DataFrame = pl.DataFrame() if relation is None else relation.pl()
    except duckdb.Error as error:
        raise UsageError(str(error), where="SQL", hint="`tracelens sql DIR` lists tables and views") from error
    return answer
