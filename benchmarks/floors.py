"""Floors: what a database needs merely to read the input, without scoring anything."""

from pathlib import Path

import duckdb
import pyarrow as pa

_CALLS = "STRUCT(name VARCHAR, arguments JSON)[]"
_COLUMNS = f"{{trace_id: 'VARCHAR', tool_calls: '{_CALLS}', expected: '{_CALLS}'}}"
_OPTIONS = f"format = 'newline_delimited', columns = {_COLUMNS}, maximum_object_size = 268435456"


def read_lines(path: Path) -> int:
    """JSON lines to Arrow: ``read_json`` with arguments kept as JSON, both lists unnested.

    Args:
        path: Native JSON lines.

    Returns:
        The number of call rows, actual and expected.
    """
    total = 0
    with duckdb.connect() as connection:
        for column in ("tool_calls", "expected"):
            table = _arrow(
                connection,
                f"select trace_id, c.name, c.arguments from (select trace_id, unnest({column}) as c "
                f"from read_json('{path}', {_OPTIONS}))",
            )
            total += table.num_rows
    return total


def read_table(path: Path) -> int:
    """Parquet call rows to Arrow, with every argument checked to be JSON.

    Args:
        path: A Parquet table of call rows.

    Returns:
        The number of call rows, actual and expected.
    """
    with duckdb.connect() as connection:
        table = _arrow(connection, f"select *, json_valid(arguments) as valid from '{path}' where row <> 'trace'")
        return int(table.num_rows)


def _arrow(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    return connection.sql(query).to_arrow_table()
