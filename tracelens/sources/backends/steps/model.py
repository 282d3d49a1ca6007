"""What a format hands over: spans as rows, and the calls that models asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import TEXT, numbers, one_chunk, places, table, texts
from tracelens.errors import InternalError
from tracelens.projection import Projected, Projection, run

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

OTHER, LLM, TOOL, AGENT, CHAIN, MAYBE = range(6)
"""Kinds of a span; `MAYBE` is a tool call if a model asked for one of its name, and something else otherwise."""

KIND_NAMES = ("other", "llm", "tool", "agent", "chain", "other")
"""What the table of spans calls them."""

UNKNOWN = np.iinfo(np.int64).min
"""An instant that is not known."""

STEPS = pa.schema(
    [
        pa.field("trace", pa.int64(), nullable=False),
        pa.field("span_id", TEXT),
        pa.field("parent_id", TEXT),
        pa.field("kind", pa.uint8(), nullable=False),
        pa.field("name", TEXT),
        pa.field("agent", TEXT),
        pa.field("model", TEXT),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("status", TEXT),
        pa.field("error", TEXT),
        pa.field("arguments", TEXT),
        pa.field("arguments_form", pa.uint8(), nullable=False),
        pa.field("repair", TEXT),
        pa.field("call_id", TEXT),
        pa.field("output", TEXT),
        pa.field("group", TEXT),
        pa.field("call_kind", TEXT),
        pa.field("input_tokens", pa.int64()),
        pa.field("output_tokens", pa.int64()),
        pa.field("cost", pa.float64()),
    ]
)
"""One row per recorded span of a block, in the order of the file.

``trace`` numbers the traces of the block. ``start`` and ``end`` are nanoseconds since 1970. ``arguments``, their form
(see `tracelens.columns`), ``repair`` and ``call_id`` are those of a tool's span. ``output`` is a tool's result, or the
JSON text (or plain text) of what a model said. Tool spans of one ``group`` were asked for together;
``call_kind`` is the kind of their call, null for a normal one.
"""

ASKS = pa.schema(
    [
        pa.field("step", pa.int64(), nullable=False),
        pa.field("name", TEXT),
        pa.field("malformed", pa.bool_(), nullable=False),
        pa.field("arguments", TEXT),
        pa.field("arguments_form", pa.uint8(), nullable=False),
        pa.field("call_id", TEXT),
        pa.field("error", TEXT),
        pa.field("kind", TEXT),
    ]
)
"""One row per call that a model asked for, by ``step`` (the row of the model's span) and position.

``error`` says why the framework did not even try it (its arguments are no JSON, for instance).
"""


def steps_table(n: int, **columns: Any) -> pa.Table:
    """A table of `STEPS`; columns that are not given are null.

    Raises:
        InternalError: As `tracelens.columns.table`.
    """
    return table(STEPS, n, **columns)


def asks_table(n: int, **columns: Any) -> pa.Table:
    """A table of `ASKS`; columns that are not given are null."""
    return table(ASKS, n, **columns)


def inside(what: Projection, given: pa.Array) -> Projected:
    """Project texts: row i of the outermost table is text ``parent[i]``; what is no JSON has no row.

    Args:
        what: What to look for.
        given: str?[n].
    """
    whole = texts(given)
    return run(what, whole.data, whole.offsets[:-1].copy(), whole.offsets[1:].copy())


def taken(values: pa.Array | pa.ChunkedArray, at: npt.NDArray[np.integer[Any]]) -> pa.Array:
    """The values at those rows, null where the row is below zero.

    Example:
        >>> taken(pa.array(["a", "b"]), np.array([1, -1])).to_pylist()
        ['b', None]
    """
    if values.null_count == len(values):
        return pa.nulls(at.size, values.type)
    return one_chunk(values).take(places(at))


def instants(values: pa.Array | pa.ChunkedArray) -> I64:
    """int64[n]: instants, `UNKNOWN` where there is none."""
    return numbers(values, default=UNKNOWN).astype(np.int64, copy=False)


def text_codes(*columns: pa.Array | pa.ChunkedArray) -> list[I64]:
    """Numbers of texts over several columns: equal texts have equal numbers, null is -1.

    Example:
        >>> [codes.tolist() for codes in text_codes(pa.array(["a", None], TEXT), pa.array(["b", "a"], TEXT))]
        [[0, -1], [1, 0]]
    """
    parts = [one_chunk(column) for column in columns]
    both = pa.concat_arrays(parts).dictionary_encode()
    codes = numbers(both.indices, default=-1).astype(np.int64)
    return np.split(codes, np.cumsum([len(part) for part in parts])[:-1])


def joint_codes(*codes: I64) -> I64:
    """One number for each combination of several numbers; -1 where any of them is negative.

    Example:
        >>> a, b, c, missing = joint_codes(np.array([0, 0, 1, -1]), np.array([5, 5, 5, 5])).tolist()
        >>> a == b, b == c, missing
        (True, False, -1)
    """
    if not codes:
        raise InternalError("no codes to join")
    out = codes[0]
    missing = out < 0
    for code in codes[1:]:
        missing = missing | (code < 0)
        width = int(code.max(initial=0)) + 2
        out = np.unique(out * width + code + 1, return_inverse=True)[1].astype(np.int64)
    if len(codes) > 1 or missing.any():
        out = np.where(missing, -1, out)
    return out
