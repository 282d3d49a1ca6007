"""Attributes of spans, events and log records: the rows that carry a wanted key, and their values as columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import ABSENT, JSON_STRING, JSON_VALUE, TEXT, numbers, places, valid
from tracelens.projection import ARRAY, FALSE, NUMBER, OBJECT, STRING, TRUE, Found, Row
from tracelens.projection.rows import Cells

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

VALUE: Mapping[str, str] = {
    "string": "value.stringValue",
    "int": "value.intValue",
    "double": "value.doubleValue",
    "bool": "value.boolValue",
    "array": "value.arrayValue",
    "map": "value.kvlistValue",
}
"""The variants of an OTLP value that are read; bytes are not."""

PLAIN = (("int", (STRING, NUMBER)), ("double", (STRING, NUMBER)), ("bool", (TRUE, FALSE)))


def attribute_rows(name: str) -> Row:
    """The table of a list of attributes."""
    return Row(name, "attributes[*]", capture={"key": "key", **VALUE})


class Attributes:
    """The attributes of n owners (spans, events or log records).

    Args:
        found: A table made by `attribute_rows`.
        owner: int64[attributes], the owner of each, ascending.
        n: Number of owners.
    """

    def __init__(self, found: Found, owner: I64, n: int) -> None:
        self.found = found
        self.owner = owner
        self.n = n
        self.keys, code = found.strings("key")
        order = np.argsort(code.astype(np.int16 if len(self.keys) < 1 << 15 else np.int32), kind="stable")
        at = np.searchsorted(code[order], np.arange(len(self.keys) + 1))
        self._rows = {key: order[at[k] : at[k + 1]] for k, key in enumerate(self.keys)}

    def has(self, *keys: str) -> Mask:
        """bool[n]: owners with one of those keys."""
        out = np.zeros(self.n, np.bool_)
        for key in keys:
            if key in self._rows:
                out[self.owner[self._rows[key]]] = True
        return out

    def rows_of(self, key: str) -> I64:
        """int64: the attributes of that key."""
        return self._rows.get(key, np.zeros(0, np.int64))

    def row(self, keys: Sequence[str], into: I64 | None = None, among: Mask | None = None) -> I64:
        """int64[n]: the attribute that carries the first of the keys that is there, -1 for none.

        Args:
            keys: In the order of preference.
            into: Rows found before, which count more.
            among: bool[n], the owners to look at; all if None.
        """
        out = np.full(self.n, -1, np.int64) if into is None else into
        for key in keys:
            rows = self._rows.get(key)
            if rows is not None:
                owner = self.owner[rows]
                free = out[owner] < 0 if among is None else (out[owner] < 0) & among[owner]
                out[owner[free]] = rows[free]
        return out

    def text(self, row: I64) -> pa.LargeStringArray:
        """The values of attributes as text: a string's contents, JSON text of anything else; null for row -1."""
        return self.value(row)[0]

    def value(self, row: I64) -> tuple[pa.LargeStringArray, npt.NDArray[np.uint8]]:
        """`text`, and how the value was held: absent, a string, or a structured value (`tracelens.columns.ABSENT`…)."""
        values = self.found.text("string", STRING, rows=row)
        there = valid(values)
        form = np.where(there, np.uint8(JSON_STRING), np.uint8(ABSENT))
        other = np.flatnonzero((row >= 0) & ~there)
        if other.size:
            some = self._others(taken(self.found, row[other], ("int", "double", "bool", "array", "map")))
            form[other[valid(some)]] = JSON_VALUE
            values = pc.coalesce(values, scattered(some, other, row.size))
        return values, form

    def _others(self, some: Found) -> pa.Array:
        """Values that are no strings as JSON text."""
        values = pa.nulls(some.n, TEXT)
        for name, kinds in PLAIN:
            values = pc.coalesce(values, some.text(name, *kinds))
        rest = np.flatnonzero(some.has("array", OBJECT, ARRAY) | some.has("map", OBJECT, ARRAY))
        return pc.coalesce(values, self._structured(some, rest)) if rest.size else values

    @staticmethod
    def _structured(some: Found, rows: I64) -> pa.Array:
        arrays = some.text("array", OBJECT).take(pa.array(rows)).to_pylist()
        maps = some.text("map", OBJECT).take(pa.array(rows)).to_pylist()
        texts = [
            _written({"kvlistValue": _loads(of_map)} if of_map else {"arrayValue": _loads(of_array)})
            for of_array, of_map in zip(arrays, maps, strict=True)
        ]
        return scattered(pa.array(texts, TEXT), rows, some.n)

    def number(self, row: I64) -> pa.Array:
        """Values as doubles; null where they are no number."""
        at = np.flatnonzero(row >= 0)
        made = pl.Series(self.text(row[at])).cast(pl.Float64, strict=False).to_arrow()
        made = pc.if_else(pc.is_finite(made), made, pa.scalar(None, pa.float64()))
        return scattered(made, at, row.size)

    def whole(self, row: I64) -> pa.Array:
        """Values as whole numbers of at least zero; null where they are none."""
        at = np.flatnonzero(row >= 0)
        out, good = np.zeros(row.size, np.int64), np.zeros(row.size, np.bool_)
        out[at], good[at] = taken(self.found, row[at], ("int",)).whole("int")
        other = at[~good[at]]
        if other.size:
            read = pl.Series(self.text(row[other])).cast(pl.Int64, strict=False)
            out[other], good[other] = read.fill_null(0).to_numpy(), read.is_not_null().to_numpy()
        return pa.array(out, mask=~good | (out < 0))


def nanoseconds(found: Found, name: str) -> I64:
    """int64[n]: times in nanoseconds, written as digits with or without quotes; 0 where there is none."""
    return np.maximum(found.whole(name)[0], 0)


def taken(found: Found, rows: I64, names: Sequence[str]) -> Found:
    """Some rows of a table, with those columns alone."""
    empty = Cells(np.zeros(0, np.uint8), np.zeros(0, np.int32), np.zeros(0, np.int32))
    columns = [empty] * len(found.columns)
    for name in names:
        cell = found.cells(name)
        columns[found.table.columns[name] - found.table.first] = Cells(cell.raw[rows], cell.start[rows], cell.end[rows])
    return Found(found.data, found.table, found.parent[rows], columns)


def scattered(values: pa.Array, at: I64, n: int) -> pa.Array:
    """A column of n rows that has the values at the rows ``at``, and null elsewhere.

    Example:
        >>> scattered(pa.array(["a", "b"]), np.array([2, 0]), 3).to_pylist()
        ['b', None, 'a']
    """
    if at.size == n and np.array_equal(at, np.arange(n)):
        return values
    where = np.full(n, -1, np.int64)
    where[at] = np.arange(at.size)
    return values.take(places(where)) if at.size else pa.nulls(n, values.type)


class _Number(str):
    """A number as it was written."""

    __slots__ = ()


def _loads(text: str) -> Any:
    return json.loads(text, parse_int=_Number, parse_float=_Number)


@lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _written(value: Any) -> str:
    """An OTLP value as the JSON text of what it stands for."""
    return "".join(_parts(value))


def _parts(value: Any) -> Iterator[str]:
    if not isinstance(value, dict) or not value:
        yield "null"
        return
    kind, inner = next(iter(value.items()))
    if kind == "arrayValue":
        yield "["
        for k, item in enumerate(_listed(inner)):
            yield ", " if k else ""
            yield from _parts(item)
        yield "]"
    elif kind == "kvlistValue":
        yield "{"
        for k, item in enumerate(_listed(inner)):
            pair = item if isinstance(item, dict) else {}
            yield f"{', ' if k else ''}{_quoted(str(pair.get('key', '')))}: "
            yield from _parts(pair.get("value"))
        yield "}"
    elif isinstance(inner, bool):
        yield "true" if inner else "false"
    elif isinstance(inner, _Number) or (kind in {"intValue", "doubleValue"} and _is_number(inner)):
        yield str(inner)
    else:
        yield _quoted(inner) if isinstance(inner, str) else "null"


def _listed(inner: Any) -> Sequence[Any]:
    values = inner.get("values") if isinstance(inner, dict) else None
    return values if isinstance(values, list) else []


def _is_number(text: Any) -> bool:
    try:
        return isinstance(json.loads(text, parse_constant=lambda _: None), int | float)
    except (TypeError, ValueError):
        return False


def plain_map(text: str) -> str:
    """The JSON text of what an OTLP map, given as JSON text itself, stands for.

    Example:
        >>> plain_map('{"values": [{"key": "n", "value": {"intValue": "5"}}]}')
        '{"n": 5}'
    """
    return _written({"kvlistValue": _loads(text)})


def nullable_sum(values: pa.Array, group: I64, among: Mask, n: int) -> pa.Array:
    """The sum of the values of each of n groups; null where a group has none."""
    rows = np.flatnonzero(among & valid(values))
    some = numbers(values.take(pa.array(rows)))
    out = np.zeros(n, some.dtype)
    np.add.at(out, group[rows], some)
    return pa.array(out, mask=np.bincount(group[rows], minlength=n) == 0)
