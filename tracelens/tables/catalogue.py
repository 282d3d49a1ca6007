"""All tables by name."""

from __future__ import annotations

from tracelens.errors import InternalError, did_you_mean
from tracelens.tables.batch import BATCH_FINDINGS
from tracelens.tables.model import Column, Table
from tracelens.tables.rows import STORED, VERDICTS
from tracelens.tables.traces import TRACES

TABLES: dict[str, Table] = {each.name: each for each in (TRACES, *STORED, VERDICTS, BATCH_FINDINGS)}
"""Every table by name, those of a run folder first."""

STORED_TABLES: tuple[str, ...] = tuple(name for name, each in TABLES.items() if each.stored)
"""Names of the tables that a run folder holds."""

QUERIED_TABLES: tuple[str, ...] = (*STORED_TABLES, VERDICTS.name)
"""Names of the tables that a query can name: those, and what stands beside the runs."""


def table(name: str) -> Table:
    """The table of that name.

    Args:
        name: A key of `TABLES`.

    Returns:
        Its definition.

    Raises:
        InternalError: There is no such table.

    Example:
        >>> table("pairs").grain
        'one row per pair and per leftover, for the pairings that the suite asks for'
    """
    if name not in TABLES:
        raise InternalError(f"no table {name!r}", hint=did_you_mean(name, TABLES))
    return TABLES[name]


def column(table_name: str, name: str) -> Column:
    """One column of one table.

    Args:
        table_name: A key of `TABLES`.
        name: The column.

    Returns:
        Its definition.

    Raises:
        InternalError: There is no such table or column.

    Example:
        >>> column("calls", "duration_ms").unit
        'ms'
    """
    columns = table(table_name).by_name
    if name not in columns:
        raise InternalError(f"table {table_name} has no column {name!r}", hint=did_you_mean(name, columns))
    return columns[name]
