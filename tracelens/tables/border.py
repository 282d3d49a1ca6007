"""Schemas of the tables, and the check of frames that cross from one stage to the next."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import isnan
from typing import TYPE_CHECKING, Any

from tracelens.errors import InternalError, did_you_mean
from tracelens.tables.catalogue import table
from tracelens.tables.dialects import extra_column
from tracelens.tables.model import arrow_dtypes, polars_dtypes

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

EXTRA = "__"
"""Mark of a column beyond the contract: `<dialect>__<metric>`, nullable, on `traces` only."""


def schema(name: str, *, extra: Iterable[str] = (), without: Collection[str] = ()) -> pa.Schema:
    """The Arrow schema of a table.

    Args:
        name: A key of `TABLES`.
        extra: Names of further `<dialect>__<metric>` columns.
        without: Columns to leave out, such as ``run_id``, which only the store adds.

    Returns:
        Fields in contract order with their nullability.

    Example:
        >>> schema("rejects").field("line")
        pyarrow.Field<line: int64 not null>
    """
    import pyarrow as pa

    dtypes = arrow_dtypes()
    fields = [
        pa.field(c.name, dtypes[c.dtype], nullable=c.nullable) for c in table(name).columns if c.name not in without
    ]
    return pa.schema(fields + [pa.field(each, dtypes[extra_column(each).dtype]) for each in extra])


def polars_schema(name: str, *, extra: Iterable[str] = (), without: Collection[str] = ()) -> pl.Schema:
    """The Polars schema of a table (Polars knows no nullability; `check` does).

    Args:
        name: A key of `TABLES`.
        extra: Names of further `<dialect>__<metric>` columns.
        without: Columns to leave out.

    Returns:
        Column names and dtypes in contract order.

    Example:
        >>> polars_schema("rejects")["line"]
        Int64
    """
    import polars as pl

    dtypes = polars_dtypes()
    known = {c.name: dtypes[c.dtype] for c in table(name).columns if c.name not in without}
    return pl.Schema(known | {each: dtypes[extra_column(each).dtype] for each in extra})


def empty(name: str, *, without: Collection[str] = ()) -> pl.DataFrame:
    """A Polars frame of a table without rows.

    Example:
        >>> empty("rejects").columns
        ['run_id', 'source', 'line', 'offset', 'reason', 'text']
    """
    import polars as pl

    return pl.DataFrame(schema=polars_schema(name, without=without))


def check(name: str, frame: Any, *, without: Collection[str] = ()) -> None:
    """Refuse a frame that breaks the contract of its table.

    Args:
        name: A key of `TABLES`.
        frame: A Polars frame, or an Arrow table or record batch. The order of columns does not matter.
        without: Columns that the frame need not have.

    Raises:
        InternalError: A column is absent, unknown or of another dtype, holds null where the contract has none, or
            NaN anywhere. The message names table and column.

    Example:
        >>> import polars as pl
        >>> check("rejects", empty("rejects").drop("line"))
        Traceback (most recent call last):
        ...
        tracelens.errors.InternalError: table rejects: column 'line' is absent
    """
    _arrow(name, frame, without)


def conform(name: str, frame: Any, *, extra: Collection[str] = (), without: Collection[str] = ()) -> pa.Table:
    """The frame as an Arrow table in contract order, after `check`.

    Args:
        name: A key of `TABLES`.
        frame: A Polars frame, or an Arrow table or record batch.
        extra: The `<dialect>__<metric>` columns it must have.
        without: Columns left out of the result.

    Returns:
        A table whose schema is ``schema(name, extra=extra, without=without)``.

    Raises:
        InternalError: See `check`.

    Example:
        >>> conform("rejects", empty("rejects")).num_rows
        0
    """
    arrow = _arrow(name, frame, without)
    wanted = schema(name, extra=extra, without=without)
    missing = [each for each in extra if each not in arrow.column_names]
    if missing:
        raise InternalError(f"column {missing[0]!r} is absent", where=f"table {name}")
    return arrow.select(wanted.names).cast(wanted)


def _arrow(name: str, frame: Any, without: Collection[str]) -> pa.Table:
    """Turn into Arrow (no copy of the data) and check every column."""
    arrow = as_arrow(frame)
    known = table(name).by_name
    given = arrow.column_names
    there = frozenset(given)
    absent = [each for each in known if each not in without and each not in there]
    if absent:
        raise InternalError(f"column {absent[0]!r} is absent", where=f"table {name}")
    for each_name, column in zip(given, arrow.columns, strict=True):
        if each_name not in known and not (name == "traces" and EXTRA in each_name):
            raise InternalError(
                f"unknown column {each_name!r}", where=f"table {name}", hint=did_you_mean(each_name, known)
            )
        _check_column(name, each_name, column)
    return arrow


def as_arrow(frame: Any) -> pa.Table:
    """An Arrow table over a Polars frame, a record batch or a table."""
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    return frame.to_arrow()


def _check_column(name: str, column_name: str, data: pa.ChunkedArray) -> None:
    """Check dtype, nulls and NaN of one column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = table(name).by_name.get(column_name) or extra_column(column_name)
    wanted = arrow_dtypes()[known.dtype]
    where = f"table {name}"
    if not _same(data.type, wanted):
        raise InternalError(f"column {column_name!r} is {data.type}, not {wanted}", where=where)
    if not known.nullable and data.null_count:
        raise InternalError(f"column {column_name!r} has {data.null_count} nulls, but is never null", where=where)
    # a sum is NaN if a value is, and takes a fraction of the time of a look at each
    if pa.types.is_floating(wanted) and isnan(pc.sum(data).as_py() or 0) and pc.any(pc.is_nan(data)).as_py():
        raise InternalError(f"column {column_name!r} holds NaN; what was not evaluated is null", where=where)


def _same(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a type is the wanted one; texts may also come as 32-bit, view or dictionary-encoded strings."""
    import pyarrow as pa

    if given.equals(wanted):
        return True
    if pa.types.is_dictionary(given):
        given = given.value_type
    is_text: bool = pa.types.is_string(given) or pa.types.is_large_string(given) or pa.types.is_string_view(given)
    if pa.types.is_large_string(wanted):
        return is_text
    if pa.types.is_large_list(wanted) and (pa.types.is_list(given) or pa.types.is_large_list(given)):
        return _same(given.value_type, wanted.value_type)
    return bool(pa.types.is_null(given))
