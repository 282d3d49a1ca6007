"""Values of databases and of suites as canonical JSON text, so that typed equality is equality of texts.

Numbers are compared by exact decimal value whatever type the database gave them (1 = 1.0 = DECIMAL 1); a boolean is no
number; strings are exact; dates, times and identifiers are their ISO or standard text.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    import pyarrow as pa

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""No digit is ever rounded away."""

_ESCAPED = r'["\\\x00-\x1f]'
"""Characters that JSON strings escape."""


def canonical(value: Any, *, instant: bool = False) -> str:
    """A value as canonical JSON text.

    Args:
        value: What a database, a TOML file or a JSON parser gave.
        instant: The value is held against a column of instants: a text such as ``2026-11-02T10:00:00Z`` is then read
            as one, so that the same instant in another zone or with other zeros is equal.

    Returns:
        JSON text; equal values of equal kind have equal text. Keys of objects are sorted. NaN and infinities, which
        JSON has no word for, become strings.

    Example:
        >>> canonical(1) == canonical(1.0) == canonical(Decimal("1.00")), canonical(True), canonical("1")
        (True, 'true', '"1"')
        >>> canonical("2026-11-02T11:00:00+01:00", instant=True)
        '"2026-11-02T10:00:00+00:00"'
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        return _number(value)
    if isinstance(value, Mapping):
        members = (
            f"{_text(str(key))}:{canonical(item)}" for key, item in sorted(value.items(), key=lambda m: str(m[0]))
        )
        return "{" + ",".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical, value)) + "]"
    return _text(_words(value, instant))


def _number(value: float | Decimal) -> str:
    """Shortest plain or scientific notation of the exact decimal value."""
    number = value if isinstance(value, Decimal) else Decimal(repr(value))
    if not number.is_finite():
        return _text(str(number))
    sign, digits, exponent = number.normalize(_EXACT).as_tuple()
    if not any(digits):
        return "0"
    mark = "-" if sign else ""
    figures = "".join(map(str, digits))
    power = int(exponent)
    if 0 <= power <= 20:
        return mark + figures + "0" * power
    if -20 <= power < 0:
        figures = figures.rjust(1 - power, "0")
        return f"{mark}{figures[:power]}.{figures[power:]}"
    return f"{mark}{figures}e{power}"


def _words(value: Any, instant: bool) -> str:
    """A value that is neither number, container, boolean nor null as the text that stands for it."""
    if isinstance(value, dt.datetime):
        return _instant(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if instant and isinstance(value, str) and len(value) > len("2026-11-02"):
        try:
            return _instant(dt.datetime.fromisoformat(value))
        except ValueError:
            return value
    return str(value)


def _instant(value: dt.datetime) -> str:
    return (value.astimezone(dt.UTC) if value.tzinfo else value).isoformat()


def _text(value: str) -> str:
    return encode_basestring(value)


def column_texts(column: pa.ChunkedArray) -> pl.Series:
    """A column of a query's result as canonical texts.

    Args:
        column: Any type a driver gives, extension types of drivers included.

    Returns:
        One text per row; SQL NULL is ``null``.

    Example:
        >>> import pyarrow as pa
        >>> column_texts(pa.chunked_array([pa.array([1.5, None], pa.float32())])).to_list()
        ['1.5', 'null']
    """
    texts = _at_once(column)
    return pl.Series(_one_by_one(column), dtype=pl.String) if texts is None else texts.fill_null("null")


def _at_once(column: pa.ChunkedArray) -> pl.Series | None:
    """The same texts without Python per row, for types whose text needs no thought; None for the others."""
    import pyarrow.types as kinds

    if kinds.is_integer(column.type) or kinds.is_boolean(column.type):
        return pl.Series(column).cast(pl.String)
    if kinds.is_date32(column.type):
        return '"' + pl.Series(column).cast(pl.String) + '"'
    if kinds.is_string(column.type) or kinds.is_large_string(column.type):
        values = pl.Series(column, dtype=pl.String)
        if not values.str.contains(_ESCAPED).any():
            return '"' + values + '"'
    return None


def _one_by_one(column: pa.ChunkedArray) -> list[str]:
    values, read = _plain(column)
    seen: dict[Any, str] = {}
    texts = []
    for value in values:
        if isinstance(value, list | dict):
            texts.append(canonical(read(value)))
            continue
        if value not in seen:
            seen[value] = canonical(read(value))
        texts.append(seen[value])
    return texts


def _plain(column: pa.ChunkedArray) -> tuple[list[Any], Any]:
    """Python values of a column, and how to read one of them."""
    import pyarrow as pa

    name = getattr(column.type, "extension_name", "")
    if name in {"arrow.opaque", "arrow.json"}:
        storage = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
        numeric = name == "arrow.opaque" and column.type.type_name == "numeric"
        return storage.to_pylist(), _decimal if numeric else _json if name == "arrow.json" else _same
    return column.to_pylist(), _single if pa.types.is_float32(column.type) else _same


def _same(value: Any) -> Any:
    return value


def _decimal(value: str | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _json(value: str | None) -> Any:
    return None if value is None else json.loads(value, parse_float=Decimal)


def _single(value: float | None) -> Decimal | None:
    """A 32-bit float as the shortest decimal that means it: 1.1, not 1.10000002384."""
    import numpy as np

    if value is None or not math.isfinite(value):
        return None if value is None else Decimal(str(value))
    return Decimal(str(np.float32(value)))
