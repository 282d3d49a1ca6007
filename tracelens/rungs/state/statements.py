"""Whether the SQL of a state check is one query that only reads, told before any database sees it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tracelens.errors import SuiteError

if TYPE_CHECKING:
    import duckdb

_TOKEN = re.compile(
    r"""(?P<skip>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))|(?P<end>;)
    |'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?|\w+|.""",
    re.DOTALL | re.VERBOSE,
)
_READING = ("select", "values", "with")
_ONE = "write one select, with `with` or a subquery for what comes before it"


def check_sqlite(sql: str, where: str) -> None:
    """Refuse what is not one query; SQLite would run the first statement alone, and `attach` would make a file.

    Raises:
        SuiteError: With the remedy.

    Example:
        >>> check_sqlite("select ';' as a -- ; b", "check")
        >>> check_sqlite("attach 'x.db' as x", "check")
        Traceback (most recent call last):
        ...
        tracelens.errors.SuiteError: check: the query is no select but 'attach'. Hint: write one select...
    """
    statements = [each for each in split_sqlite(sql) if each]
    _check(len(statements), where)
    first = statements[0][0].lower()
    if first not in _READING:
        raise SuiteError(f"the query is no select but {first!r}", where=where, hint=_ONE)


def split_sqlite(sql: str) -> list[list[str]]:
    """The words and signs of each statement, comments and white space left out.

    Example:
        >>> split_sqlite("select 'a;b' /* ; */; -- c")
        [['select', "'a;b'"], []]
    """
    out: list[list[str]] = [[]]
    for token in _TOKEN.finditer(sql):
        if token["end"]:
            out.append([])
        elif token["skip"] is None:
            out[-1].append(token.group())
    return out


def check_duckdb(connection: duckdb.DuckDBPyConnection, sql: str, where: str) -> None:
    """Refuse what is not one query; DuckDB would run every statement, and some of them write files.

    Raises:
        SuiteError: With the remedy.
        duckdb.Error: The SQL cannot be parsed.
    """
    import duckdb

    statements = connection.extract_statements(sql)
    _check(len(statements), where)
    kind = statements[0].type
    if kind not in {duckdb.StatementType.SELECT, duckdb.StatementType.MULTI}:  # a pivot is several statements inside
        raise SuiteError(f"the query is no select but {kind.name.lower()!r}", where=where, hint=_ONE)


def _check(n: int, where: str) -> None:
    if n == 0:
        raise SuiteError("the query is empty", where=where, hint=_ONE)
    if n > 1:
        raise SuiteError(f"there are {n} statements, and only one can give the rows", where=where, hint=_ONE)
