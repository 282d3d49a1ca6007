"""Rows of a table as JSON lines, column by column: text that is JSON is taken over as it stands, all else is written.

A text column that a format keeps JSON in becomes the value it holds where that is JSON that TraceLens reads; text of any
other column stays text. Structs and lists lose members that are null, because a frame pads every row with the keys of
all others. A member that is null is left out, and so is a number that is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, TIME, bytes_and_offsets, one_chunk, padded
from tracelens.projection import Projection, Row, run

Mask = npt.NDArray[np.bool_]

READABLE = r"^\s*[\[{]"
BEYOND = r"[eE]\+?[0-9]{3}"
"""Exponents beyond any number: such text stays text."""

SPECIAL = r'["\\\x00-\x1f]'
PLAIN_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
CONTROL = r"[\x00-\x1f]"

ANY_JSON = Projection(Row("line"))

NOTHING = pa.scalar("", TEXT)


def object_lines(columns: Mapping[str, pa.Array], n: int) -> pa.Array:
    """Objects with those members.

    Args:
        columns: JSON texts by the name of the member; null leaves a member out.
        n: Number of rows.

    Example:
        >>> object_lines({"a": pa.array(["1", None], TEXT), "b": pa.array(["true", '"x"'], TEXT)}, 2).to_pylist()
        ['{"a": 1, "b": true}', '{"b": "x"}']
    """
    known = {name: values for name, values in columns.items() if len(values) > values.null_count}
    if not known:
        return pa.repeat(pa.scalar("{}", TEXT), n)
    frame = pl.DataFrame({name: pl.Series(values) for name, values in known.items()})
    heads = {name: pl.lit(f", {json.dumps(name, ensure_ascii=False)}: ") for name in known}
    members = pl.concat_str([pl.concat_str(head, pl.col(name)) for name, head in heads.items()], ignore_nulls=True)
    return frame.select(pl.concat_str(pl.lit("{"), members.str.slice(2), pl.lit("}")))[:, 0].to_arrow().cast(TEXT)


def json_column(values: pa.Array, *, holds_json: bool) -> pa.Array:
    """A column as JSON texts; null where it is null, or has no value that JSON has.

    Args:
        values: A column of any type.
        holds_json: Whether its texts hold JSON.
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.dictionary_decode()
        kind = values.type
    if pa.types.is_nested(kind):
        return nested(values)
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_finite(values), values, pa.scalar(None, kind)).cast(TEXT)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return values.cast(TEXT)
    if pa.types.is_timestamp(kind):
        return quoted(values.cast(pa.timestamp("us", tz=kind.tz), safe=False).cast(TIME).cast(TEXT))
    texts = values.cast(TEXT)
    if not holds_json:
        return quoted(texts)
    good = pa.array(is_json(texts))
    return pc.if_else(good, on_one_line(texts), quoted(pc.if_else(good, pa.scalar(None, TEXT), texts)))


def is_json(texts: pa.Array) -> Mask:
    """bool[n]: which texts are objects or arrays that TraceLens reads.

    Example:
        >>> is_json(pa.array(['{"a": 1}', "[NaN]", "7", None, '{"a": 1e999}'], TEXT)).tolist()
        [True, False, False, False, False]
    """
    likely = _true(pc.match_substring_regex(texts, READABLE))
    if not likely.any():
        return likely
    some = one_chunk(texts.filter(pa.array(likely)))
    data, offsets = bytes_and_offsets(some)
    whole = padded(np.asarray(data[offsets[0] : offsets[-1]]).tobytes())
    place = (offsets - offsets[0]).astype(np.int64)
    errors = run(ANY_JSON, whole, place[:-1], place[1:]).errors
    out = likely.copy()
    out[likely] = (errors[:, 0] == 0) & ~_true(pc.match_substring_regex(some, BEYOND))
    return out


def on_one_line(texts: pa.Array) -> pa.Array:
    """JSON texts without line ends, which valid JSON has only between values."""
    for end in ("\n", "\r"):
        if _true(pc.match_substring(texts, end)).any():
            texts = pc.replace_substring(texts, end, " ")
    return texts


def quoted(texts: pa.Array) -> pa.Array:
    r"""Texts as JSON strings.

    Example:
        >>> quoted(pa.array(["a\n", 'b"', None, "\x01"], TEXT)).to_pylist()
        ['"a\\n"', '"b\\""', None, '"\\u0001"']
    """
    special = _true(pc.match_substring_regex(texts, SPECIAL))
    inner = texts
    if special.any():
        some = one_chunk(texts.filter(pa.array(special)))
        for plain, escaped in PLAIN_ESCAPES.items():
            some = pc.replace_substring(some, plain, escaped)
        odd = np.flatnonzero(_true(pc.match_substring_regex(some, CONTROL)))
        if odd.size:
            given = texts.filter(pa.array(special)).take(pa.array(odd)).to_pylist()
            written = pa.array([json.dumps(text, ensure_ascii=False)[1:-1] for text in given], TEXT)
            mask = np.zeros(len(some), np.bool_)
            mask[odd] = True
            some = pc.replace_with_mask(some, pa.array(mask), written)
        inner = pc.replace_with_mask(texts, pa.array(special), some)
    quote = pa.scalar('"', TEXT)
    return pc.binary_join_element_wise(quote, inner, quote, NOTHING)


def nested(values: pa.Array) -> pa.Array:
    """Structs, lists and maps as JSON texts, without members that are null."""
    with _connection().cursor() as cursor:
        cursor.execute("set TimeZone = 'UTC'")
        cursor.register("given", pa.table({"value": values}))
        query = (
            "select case when value is not null then json_strip_nulls(to_json(value))::varchar end as text from given"
        )
        made: pa.Table = cursor.sql(query).to_arrow_table()
    return one_chunk(made["text"]).cast(TEXT)


@cache
def _connection() -> Any:
    import duckdb

    return duckdb.connect(config={"threads": 1, "memory_limit": "512MB"})


def _true(mask: pa.Array) -> Mask:
    return np.asarray(pc.fill_null(mask, False).to_numpy(zero_copy_only=False), np.bool_)
