"""`tracelens sql`."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Literal

from tracelens.cli.console import print_json, print_lines, say
from tracelens.errors import counted
from tracelens.results.page import WIDTH, Line, plain, short

if TYPE_CHECKING:
    import polars as pl

_CELL = 48
_LIST = """
    SELECT view_name AS name, regexp_extract(comment, '^[^.]*') AS contents FROM duckdb_views()
    WHERE NOT internal AND schema_name = 'main' ORDER BY name
"""


def sql(
    results: Path,
    query: str | None = None,
    /,
    *,
    output: Literal["table", "csv", "json"] = "table",
    rows: int = 40,
) -> None:
    """Ask the results in SQL (DuckDB): tables, views and macros over all runs of the folder.

    Args:
        results: Results folder.
        query: The query; without one the tables and views are listed.
        output: How to print the answer.
        rows: Rows that a printed table shows at most; 0 shows all.
    """
    from tracelens.store import ask, connect

    with connect(results, comments=query is None) as duck:
        answer = ask(duck, query or _LIST)
    if output == "json":
        print_json(answer.to_dicts())
    elif output == "csv":
        sys.stdout.write(_flat(answer).write_csv())
    else:
        shown = answer.head(rows) if rows else answer
        lines = table_lines(shown, cell=_CELL if query else WIDTH)
        narrow = sys.stdout.isatty() and len(plain(lines[1:2])) > get_terminal_size().columns
        print_lines(record_lines(shown) if narrow else lines)
        if answer.height > shown.height:
            say(f"{counted(answer.height - shown.height, 'more row')}; --rows 0 shows all")


def table_lines(frame: pl.DataFrame, *, cell: int = _CELL) -> list[Line]:
    """A frame as aligned columns, numbers to the right, no column wider than a cell."""
    cells = [[_cell(value, cell) for value in frame[name]] for name in frame.columns]
    names = [short(name, cell) for name in frame.columns]
    widths = [max(map(len, (name, *column))) for name, column in zip(names, cells, strict=True)]
    right = [dtype.is_numeric() for dtype in frame.dtypes]

    def line(parts: list[str]) -> str:
        aligned = (
            part.rjust(width) if to_right else part.ljust(width)
            for part, width, to_right in zip(parts, widths, right, strict=True)
        )
        return "  ".join(aligned)

    body: list[Line] = [[(line(list(row)), "")] for row in zip(*cells, strict=True)]
    return [[(line(names), "title")], [("  ".join("─" * width for width in widths), "dim")], *body]


def record_lines(frame: pl.DataFrame, *, cell: int = WIDTH) -> list[Line]:
    """A frame as one block a row and one line a value, for tables that are wider than the terminal."""
    width = max(map(len, frame.columns), default=0)
    lines: list[Line] = []
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        lines.append([(f"── {number} ", "dim")])
        lines += [
            [(f"{short(name, cell):<{width}}  ", "name"), (_cell(value, cell), "")] for name, value in row.items()
        ]
    return lines


def _cell(value: Any, width: int) -> str:
    """One value as text."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    nested = hasattr(value, "to_list") or isinstance(value, dict | list)
    return short(_json(value) if nested else str(value), width)


def _json(value: Any) -> str:
    """A list or struct as JSON text."""
    import orjson

    return orjson.dumps(value.to_list() if hasattr(value, "to_list") else value, default=str).decode()


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with lists and structs as JSON text, which CSV can hold."""
    import polars as pl

    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return frame.with_columns(
        pl.Series(name, [None if value is None else _json(value) for value in frame[name]], pl.String)
        for name in nested
    )
