"""`tracelens sql`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from tracelens.cli.console import print_json, print_lines, say
from tracelens.errors import StoreError, UsageError, counted, did_you_mean
from tracelens.results.page import WIDTH, Line, plain, safe, short

if TYPE_CHECKING:
    import polars as pl

    from tracelens.store import Checked, Described
    from tracelens.store.connection import Connection

Output = Literal["table", "csv", "json"]

_CELL = 48


def sql(
    results: Path,
    query: str | None = None,
    /,
    *,
    output: Output = "table",
    rows: int = 40,
    tz: str | None = None,
    list_all: Annotated[bool, Parameter(name="--list")] = False,
    check: bool = False,
) -> int:
    """Ask the results in SQL (DuckDB): tables, views and macros over all runs of the folder.

    Args:
        results: Results folder.
        query: The query; without one a prompt opens, or statements are read from standard input if that is a pipe.
        output: How to print the answer.
        rows: Rows that a printed table shows at most; 0 shows all.
        tz: Time zone of days in the views, such as Europe/Berlin; UTC by default.
        list_all: Explain tables, views and macros, those whose name the query is a pattern of, or all.
        check: Look whether the runs hold together: every query of sql/checks must find no row.
    """
    from tracelens.store import ask, connect, run_checks

    with connect(results, comments=list_all or query is None) as duck:
        if tz is not None:
            _set_zone(duck, tz)
        if check:
            return _print_checks(run_checks(duck), output, str(results))
        if list_all:
            _describe(duck, query, output)
            return 0
        if query is not None:
            _print_answer(ask(duck, query), output, rows)
            return 0
        from tracelens.cli.prompt import run_prompt

        return run_prompt(
            duck,
            lambda statement: _print_answer(ask(duck, statement), output, rows),
            lambda name: _list_names(duck) if name is None else _describe(duck, name, output),
        )


def _set_zone(duck: Connection, tz: str) -> None:
    """Let days be of a zone.

    Raises:
        UsageError: There is no such zone.
    """
    known = [name for (name,) in duck.execute("SELECT name FROM pg_timezone_names()").fetchall()]
    if tz not in known:
        raise UsageError(f"unknown time zone {tz!r}", hint=did_you_mean(tz, known) or "such as UTC or Europe/Berlin")
    duck.execute(f"SET VARIABLE tz = '{tz}'")


def _print_answer(answer: pl.DataFrame, output: Output, rows: int) -> None:
    if output == "json":
        print_json(answer.to_dicts())
    elif output == "csv":
        sys.stdout.write(_flat(answer).write_csv())
    elif answer.width:
        shown = answer.head(rows) if rows else answer
        lines = table_lines(shown)
        narrow = sys.stdout.isatty() and len(plain(lines[1:2])) > get_terminal_size().columns
        print_lines(record_lines(shown) if narrow else lines)
        if answer.height > shown.height:
            say(f"{counted(answer.height - shown.height, 'more row')}; --rows 0 shows all")


def _print_checks(checks: list[Checked], output: Output, where: str) -> int:
    """Print what holds and what does not.

    Raises:
        StoreError: Something does not hold.
    """
    if output == "json":
        print_json([{"name": each.name, "holds": each.holds, "meaning": each.meaning, "n_rows": each.n_rows,
                     "examples": each.examples} for each in checks])  # fmt: skip
    else:
        print_lines(line for each in checks for line in _check_lines(each))
    broken = [each.name for each in checks if not each.holds]
    if broken:
        hint = "score the input again; if that does not help, it is a bug of TraceLens"
        raise StoreError(f"the results do not hold together: {', '.join(broken)}", where=where, hint=hint)
    return 0


def _check_lines(of: Checked) -> Iterator[Line]:
    yield [("✓ " if of.holds else "✗ ", "good" if of.holds else "bad"), (of.name, "name"), (f"  {of.meaning}", "dim")]
    for row in of.examples:
        yield [("    " + short(_json(row), WIDTH), "")]
    if of.n_rows > len(of.examples):
        yield [(f"    and {counted(of.n_rows - len(of.examples), 'more row')}", "dim")]


def _describe(duck: Connection, pattern: str | None, output: Output) -> None:
    """Explain what there is.

    Raises:
        UsageError: Nothing has such a name.
    """
    from tracelens.store import describe_all

    found = describe_all(duck)
    chosen = [each for each in found if pattern is None or fnmatchcase(each.name, pattern)]
    if not chosen:
        names = [each.name for each in found]
        raise UsageError(f"no table, view or macro {pattern!r}", hint=did_you_mean(pattern or "", names))
    if output == "json":
        print_json([_as_json(each) for each in chosen])
    elif output == "csv":
        import polars as pl

        rows = [(of.name, of.kind, *column) for of in chosen for column in of.columns]
        sys.stdout.write(pl.DataFrame(rows, ["name", "kind", "column", "type", "meaning"], orient="row").write_csv())
    else:
        print_lines(line for each in chosen for line in _described(each))


def _list_names(duck: Connection) -> None:
    """A line about each table, view and macro."""
    from tracelens.store import describe_all

    found = [each for each in describe_all(duck) if each.kind != "macro"]
    width = max(len(each.call) for each in found)
    print_lines(
        [(f"{safe(each.call):<{width}}  ", "name"), (short(each.comment, WIDTH - width - 2), "")] for each in found
    )


def _as_json(of: Described) -> dict[str, Any]:
    columns = [{"column": name, "type": kind, "meaning": meaning} for name, kind, meaning in of.columns]
    return {"name": of.name, "kind": of.kind, "call": of.call, "comment": of.comment, "columns": columns}


def _described(of: Described) -> Iterator[Line]:
    """A page about one of them: a line each about itself and its columns."""
    yield [(safe(of.call), "title"), (f"  {of.kind}", "dim")]
    yield [(f"  {safe(of.comment)}", "")]
    width = max((len(name) for name, _, _ in of.columns), default=0)
    kinds = max((len(kind) for _, kind, _ in of.columns), default=0)
    for name, kind, meaning in of.columns:
        yield [
            (f"    {safe(name):<{width}}  ", "name"),
            (f"{kind:<{kinds}}  " if kinds else "", "dim"),
            (safe(meaning), ""),
        ]
    yield []


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
