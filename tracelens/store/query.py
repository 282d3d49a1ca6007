"""SQL questions and their answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracelens.errors import UsageError

if TYPE_CHECKING:
    import duckdb
    import polars as pl

_HELD = frozenset({
    "boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint", "float",
    "double", "decimal", "varchar", "uuid", "enum", "date", "timestamp", "timestamp_s", "timestamp_ms",
    "timestamp_ns", "timestamp with time zone", "null",
})  # fmt: skip
"""Types whose values a frame holds as they are; lists, arrays, structs and maps of them, too. Others become text."""

_TIMES = frozenset(kind for kind in _HELD if kind.startswith(("date", "time")))
_NESTED = frozenset({"list", "array", "struct"})
_DAYS = (-719_162, 2_932_896)
"""Days since 1970 of the first and last date that Python has, in the years 1 and 9999."""

_DAY = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
_INFINITE = 2**63 - 1
"""What stands for an infinite time."""


def ask(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """The answer to a query.

    Args:
        connection: What `connect` gave.
        query: DuckDB SQL.

    Returns:
        The rows as a Polars frame; empty for a statement without an answer. A column of a type that Polars does not
        have (interval, union, blob, bit, …), or of dates or times beyond the years 1 to 9999, is text as DuckDB writes
        it.

    Raises:
        UsageError: DuckDB refuses the query; its message is kept.

    Example:
        >>> from tracelens.store.connection import empty_connection
        >>> with empty_connection() as connection:
        ...     ask(connection, "SELECT 6 * 7 AS n, sum(2) AS s, INTERVAL 1 MONTH AS i, DATE 'infinity' AS d").row(0)
        (42, 2, '1 month', 'infinity')
    """
    import duckdb
    import polars as pl

    try:
        relation: duckdb.DuckDBPyRelation | None = connection.sql(query)
        return pl.DataFrame() if relation is None or not relation.columns else _frame(connection, relation)
    except duckdb.Error as error:
        raise UsageError(
            str(error), where="SQL", hint="`tracelens sql DIR --list` explains tables and views"
        ) from error


def records(connection: duckdb.DuckDBPyConnection, query: str, **values: Any) -> list[dict[str, Any]]:
    """The answer to a query of ours as dictionaries.

    Args:
        connection: What `connect` gave.
        query: DuckDB SQL.
        values: Values of its parameters ``$name``.

    Example:
        >>> from tracelens.store.connection import empty_connection
        >>> with empty_connection() as connection:
        ...     records(connection, "SELECT $n + 1 AS n", n=1)
        [{'n': 2}]
    """
    found = connection.execute(query, values or None)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _frame(connection: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """The rows of a relation, with text for what a frame cannot hold."""
    kinds = dict(zip(_distinct(relation.columns), relation.types, strict=True))
    if all(map(_is_held, kinds.values())):
        return _without_strange_times(connection, relation.pl())
    casts = [
        f"{f'#{place}' if _is_held(kind) else f'CAST(#{place} AS VARCHAR)'} AS {_name(name)}"
        for place, (name, kind) in enumerate(kinds.items(), start=1)
    ]
    # Sums are huge integers, which mostly are small: as numbers, and as text in case one does not fit.
    huge = {name: place for place, (name, kind) in enumerate(kinds.items(), start=1) if kind.id == "hugeint"}
    exact = [f"TRY_CAST(#{place} AS DECIMAL(38, 0))" for place in huge.values()]
    frame: pl.DataFrame = relation.project(", ".join([*casts, *exact])).pl()
    for name, exactly in zip(huge, frame.columns[len(kinds) :], strict=True):
        frame = frame.with_columns(_narrowest(frame[name], frame[exactly]))
    return _without_strange_times(connection, frame.select(list(kinds)))


def _distinct(names: list[str]) -> Iterator[str]:
    """The names of the columns, numbered where one comes again."""
    seen: set[str] = set()
    for name in names:
        new = next(each for n in range(len(names) + 1) if (each := f"{name}_{n}" if n else name) not in seen)
        seen.add(new)
        yield new


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _is_held(kind: Any) -> bool:
    if kind.id in _NESTED:
        inner = [each for name, each in kind.children if name != "size"]
        return bool(inner) and all(map(_is_held, inner))
    if kind.id == "map":
        return all(each.id in _HELD - _TIMES for _, each in kind.children)
    return kind.id in _HELD


def _narrowest(text: pl.Series, exactly: pl.Series) -> pl.Series:
    """A column of huge integers: as int64 or exact decimals where all fit, else the text."""
    import polars as pl

    if exactly.null_count() > text.null_count():
        return text
    small = exactly.cast(pl.Int64, strict=False)
    return (exactly if small.null_count() > text.null_count() else small).alias(text.name)


def _without_strange_times(connection: duckdb.DuckDBPyConnection, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame, with text for columns that hold times which no calendar of Python has."""
    strange = [name for name in frame.columns if _has_strange_times(frame[name])]
    if not strange:
        return frame
    casts = ", ".join(f"CAST({_name(name)} AS VARCHAR) AS {_name(name)}" for name in strange)
    texts: pl.DataFrame = connection.from_arrow(frame.select(strange).to_arrow()).project(casts).pl()
    return frame.with_columns(texts)


def _has_strange_times(values: pl.Series) -> bool:
    import polars as pl

    dtype = values.dtype
    if isinstance(dtype, pl.Struct):
        return any(_has_strange_times(values.struct.field(field.name)) for field in dtype.fields)
    if isinstance(dtype, pl.List | pl.Array):
        return _has_strange_times(values.explode())
    if dtype == pl.Date:
        first, last = _DAYS
    elif isinstance(dtype, pl.Datetime):
        unit = _DAY[dtype.time_unit]
        first, last = max(_DAYS[0] * unit, -_INFINITE + 1), min((_DAYS[1] + 1) * unit - 1, _INFINITE - 1)
    else:
        return False
    return not values.to_physical().drop_nulls().is_between(first, last).all()
