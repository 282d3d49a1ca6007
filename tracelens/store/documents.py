"""What a results folder can be asked for: every table, view and macro with its columns, as its comments tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracelens.store.objects import documented
from tracelens.store.sqlfiles import sql_files
from tracelens.tables import QUERIED_TABLES

if TYPE_CHECKING:
    import duckdb

KINDS = ("table", "view", "table macro", "macro")


@dataclass(frozen=True, slots=True)
class Described:
    """A table, view or macro.

    Attributes:
        name: Its name.
        kind: One of `KINDS`.
        call: How a query names it: the name, and the parameters of a macro.
        comment: What a row of it is, or what it gives.
        columns: Name, type (empty for a macro) and meaning of its columns.
    """

    name: str
    kind: str
    call: str
    comment: str
    columns: tuple[tuple[str, str, str], ...] = ()


_COLUMNS = """
    SELECT table_name, column_name, data_type, coalesce(comment, '')
    FROM duckdb_columns() WHERE NOT internal AND schema_name = 'main' ORDER BY table_name, column_index
"""
_VIEWS = "SELECT view_name, coalesce(comment, '') FROM duckdb_views() WHERE NOT internal AND schema_name = 'main'"


def describe_all(connection: duckdb.DuckDBPyConnection) -> list[Described]:
    """Everything that a query can name, tables first, then views, then macros.

    Args:
        connection: What `connect` gave, with comments.

    Example:
        >>> import tempfile
        >>> from tracelens.store import RunWriter, connect
        >>> with tempfile.TemporaryDirectory() as results:
        ...     with RunWriter(results) as writer:
        ...         folder = writer.commit("ab12", {})
        ...     with connect(results) as duck:
        ...         found = describe_all(duck)
        >>> found[0].name, [each.call for each in found if each.kind == "table macro"][-1]
        ('traces', 'pass_hat_k(k)')
    """
    columns: dict[str, list[tuple[str, str, str]]] = {}
    for view, *column in connection.execute(_COLUMNS).fetchall():
        columns.setdefault(view, []).append((column[0], column[1], column[2]))
    comments = dict(connection.execute(_VIEWS).fetchall())
    order = [*QUERIED_TABLES, *sorted(comments.keys() - set(QUERIED_TABLES))]
    views = [
        Described(name, KINDS[name not in QUERIED_TABLES], name, comments[name], tuple(columns.get(name, ())))
        for name in order
    ]
    macros = []
    for name, text in sql_files("macros"):
        of = documented(name, text)
        known = tuple((column, "", meaning) for column, meaning in of.columns.items())
        macros.append(Described(name, KINDS[2 if of.gives_table else 3], name + of.parameters, of.comment, known))
    return views + sorted(macros, key=lambda each: (KINDS.index(each.kind), each.name))
