"""The contract: every table's columns with dtype, unit, null meaning and description.

Stages meet here and nowhere else. A stage that hands over a frame calls `check` at its border; the store writes what
`conform` returns; SQL comments and documentation are made from the same rows. May import errors only (Polars and
PyArrow are imported when first needed).

Example:
    >>> column("traces", "strict").comment
    'length of the common prefix of the two lists of names, over the longer list (0..1); null: no reference, or `null_reason` says why it was not evaluated'
    >>> [name for name, table in TABLES.items() if table.stored][:4]
    ['traces', 'calls', 'expected', 'pairs']
"""

from __future__ import annotations

from tracelens.tables.border import check, conform, empty, polars_schema, schema
from tracelens.tables.catalogue import QUERIED_TABLES, STORED_TABLES, TABLES, column, table
from tracelens.tables.documents import (
    describe,
    describe_dialects,
    dialect_comments,
    markdown,
    markdown_dialects,
    sql_comments,
)
from tracelens.tables.model import Column, Table
from tracelens.tables.traces import PAIRINGS, SCORES

__all__ = [
    "PAIRINGS",
    "QUERIED_TABLES",
    "SCORES",
    "STORED_TABLES",
    "TABLES",
    "Column",
    "Table",
    "check",
    "column",
    "conform",
    "describe",
    "describe_dialects",
    "dialect_comments",
    "empty",
    "markdown",
    "markdown_dialects",
    "polars_schema",
    "schema",
    "sql_comments",
    "table",
]
