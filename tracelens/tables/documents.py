"""Documentation of the tables, as rows, Markdown and SQL comments, all from the contract."""

from __future__ import annotations

from collections.abc import Iterable

from tracelens.dialects.request import MARK
from tracelens.tables.catalogue import table
from tracelens.tables.dialects import dialect_columns, extra_column
from tracelens.tables.model import SQL_DTYPES, Column


def describe(name: str) -> list[dict[str, str | bool]]:
    """The columns of a table as plain dictionaries.

    Args:
        name: A key of `TABLES`.

    Returns:
        One dictionary per column: column, dtype (of SQL), nullable, unit, null, meaning.

    Example:
        >>> describe("rejects")[2]["dtype"]
        'BIGINT'
    """
    return _rows(table(name).columns)


def describe_dialects() -> list[dict[str, str | bool]]:
    """`describe` of the columns that a suite adds to `traces` by naming dialects.

    Example:
        >>> [row["column"] for row in describe_dialects() if "adk" in row["column"]]
        ['adk__exact', 'adk__in_order', 'adk__any_order', 'adk__refused']
    """
    return _rows(dialect_columns())


def _rows(columns: Iterable[Column]) -> list[dict[str, str | bool]]:
    """One dictionary per column."""
    return [
        {
            "column": each.name,
            "dtype": SQL_DTYPES[each.dtype],
            "nullable": each.nullable,
            "unit": each.unit,
            "null": each.null,
            "meaning": each.meaning,
        }
        for each in columns
    ]


def markdown(name: str) -> str:
    """A Markdown section about a table: what a row is, its key, its columns.

    Example:
        >>> print(markdown("steps").splitlines()[2])
        one row per step of the alignment with the golden trace; key: run_id, trace_id, step_index
    """
    each = table(name)
    key = f"; key: {', '.join(each.key)}" if each.key else ""
    return _section(name, f"{each.grain}{key}", each.columns)


def markdown_dialects() -> str:
    """`markdown` of the columns that a suite adds to `traces` by naming dialects."""
    grain = "further columns of traces, one set a dialect that the suite names in [match] dialects"
    return _section("numbers of other libraries", grain, dialect_columns())


def _section(title: str, head: str, columns: Iterable[Column]) -> str:
    """A heading, a line and a table of columns."""
    lines = [f"## {title}", "", head, "", "| column | type | unit | meaning | null |", "|---|---|---|---|---|"]
    for column in columns:
        cells = (f"`{column.name}`", SQL_DTYPES[column.dtype], column.unit, column.meaning, column.null or "never")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def sql_comments(name: str, *, kind: str = "VIEW", relation: str = "") -> list[str]:
    """SQL statements that attach the documentation to a view or table.

    Args:
        name: A key of `TABLES`.
        kind: ``VIEW`` or ``TABLE``.
        relation: Name of the relation in the database; the table's own by default.

    Returns:
        One ``COMMENT ON`` statement for the relation and one per column.

    Example:
        >>> sql_comments("rejects")[0]
        "COMMENT ON VIEW rejects IS 'one row per record that could not be read'"
    """
    each = table(name)
    target = relation or name
    comments = [f"COMMENT ON {kind} {target} IS {_quoted(each.grain)}"]
    comments += [f'COMMENT ON COLUMN {target}."{column.name}" IS {_quoted(column.comment)}' for column in each.columns]
    return comments


def dialect_comments(columns: Iterable[str], *, relation: str = "traces") -> list[str]:
    """SQL statements that attach the documentation to those columns that are other libraries' numbers.

    Example:
        >>> len(dialect_comments(["trace_id", "adk__exact"]))
        1
    """
    found = [extra_column(name) for name in columns if MARK in name]
    return [f'COMMENT ON COLUMN {relation}."{each.name}" IS {_quoted(each.comment)}' for each in found]


def _quoted(text: str) -> str:
    """The text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
