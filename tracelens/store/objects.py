"""The macros and views of sql/ as statements, in an order in which each comes after what it needs, with comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracelens.errors import InternalError
from tracelens.store.sqlfiles import sql_files
from tracelens.tables import QUERIED_TABLES, sql_comments

STORED = "stored"
"""Schema of the plain tables; the views of the main schema are made from them."""

_COLUMN_COMMENT = re.compile(r"--\s*(?P<column>\w+):\s*(?P<text>.+)")
_SIGNATURE = re.compile(r"MACRO\s+\w+(?P<parameters>\([^)]*\))\s+AS(?P<table>\s+TABLE)?")


@dataclass(frozen=True, slots=True)
class Documented:
    """What an SQL file says about its object.

    Attributes:
        name: Name of the view or macro.
        comment: Its leading comment: grain, units, what null means.
        columns: Meaning by column.
        parameters: Parameters of a macro, with the parentheses; empty for a view.
        gives_table: Whether it is a view, or a macro that gives a table.
    """

    name: str
    comment: str
    columns: dict[str, str]
    parameters: str = ""
    gives_table: bool = True


def statements() -> Iterator[str]:
    """Everything that turns the schema `stored` into a documented database: macros, views, macros over views."""
    yield from macro_statements()
    yield from view_statements()
    yield from table_macro_statements()


def macro_statements() -> Iterator[str]:
    """The statements that make the macros which give a value."""
    yield from _macros(gives_table=False)


def table_macro_statements() -> Iterator[str]:
    """The statements that make the macros which give a table; DuckDB wants the views that they read to be there."""
    yield from _macros(gives_table=True)


def _macros(*, gives_table: bool) -> Iterator[str]:
    found = {name: text for name, text in sql_files("macros") if documented(name, text).gives_table == gives_table}
    for name in _ordered(found):
        yield found[name]
        kind = "MACRO TABLE" if gives_table else "MACRO"
        yield f"COMMENT ON {kind} {name} IS {quoted(documented(name, found[name]).comment)}"


def view_statements() -> Iterator[str]:
    """The statements that make the views: one over each plain table, then those of sql/views, with comments."""
    files = dict(sql_files("views"))
    for each in QUERIED_TABLES:
        yield f"CREATE VIEW {each} AS {files.get(each, f'FROM {STORED}.{each}')}"
        yield from sql_comments(each)
        yield from (_comments(each, files[each])[1:] if each in files else ())
    for name in _ordered({name: text for name, text in files.items() if name not in QUERIED_TABLES}):
        yield f"CREATE VIEW {name} AS {files[name]}"
        yield from _comments(name, files[name])


def documented(name: str, text: str) -> Documented:
    r"""Read the comments of an SQL file.

    Args:
        name: The object.
        text: The file.

    Example:
        >>> documented("f", "-- One value.\nCREATE MACRO f(a, b) AS a + b;").parameters
        '(a, b)'
    """
    lines = text.splitlines()
    head = [line.removeprefix("--").strip() for line in _leading(lines)]
    found = filter(None, map(_COLUMN_COMMENT.search, lines[len(head) :]))
    columns = {each["column"]: each["text"].strip() for each in found}
    macro = _SIGNATURE.search(text)
    return Documented(
        name,
        " ".join(head),
        columns,
        parameters=macro["parameters"] if macro else "",
        gives_table=macro is None or macro["table"] is not None,
    )


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
    words = set(re.findall(r"\w+", re.sub(r"--.*|'[^']*'", "", files[name])))
    return {other for other in files if other != name and other in words}


def _comments(name: str, text: str) -> list[str]:
    """Comment statements from the leading comment of a file and its ``-- column: meaning`` lines."""
    of = documented(name, text)
    columns = (f'COMMENT ON COLUMN {name}."{column}" IS {quoted(text)}' for column, text in of.columns.items())
    return [f"COMMENT ON VIEW {name} IS {quoted(of.comment)}", *columns]


def _leading(lines: Sequence[str]) -> Iterator[str]:
    """The comment lines before the first line of SQL."""
    for line in lines:
        if not line.startswith("--"):
            return
        yield line


def quoted(text: str) -> str:
    """The text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
