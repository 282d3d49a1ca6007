"""The columns of a call table: which there are, what they hold, and their values in the types that are worked with."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, TIME, texts, valid
from tracelens.errors import InputError, did_you_mean
from tracelens.kernels import cells
from tracelens.kernels.scan import STRING
from tracelens.sources.limits import STATUSES, within

ROW = "row number"
"""Column with the number of a row in the input, from 0."""

ODD = "odd values"
"""Column with a bit per column of `CHECKED`: the row had a value there that it cannot have."""

KNOWN: dict[str, str] = {
    "trace_id": "text",
    "row": "text",
    "name": "text",
    "arguments": "text",
    "arguments_form": "whole",
    "reference_index": "whole",
    "call_index": "whole",
    "malformed": "flag",
    "call_id": "text",
    "turn": "whole",
    "agent": "text",
    "depth": "whole",
    "status": "text",
    "result": "text",
    "error": "text",
    "started_at": "time",
    "duration_ms": "number",
    "kind": "text",
    "session_id": "text",
    "case_id": "text",
    "tags": "text",
    "complete": "flag",
    "has_calls": "flag",
    "n_references": "whole",
    "tools": "text",
    "final_answer": "text",
    "trace_agent": "text",
    "trace_started_at": "time",
    "llm_calls": "whole",
    "input_tokens": "whole",
    "output_tokens": "whole",
    "cost": "number",
}
"""The columns that are read, and what they hold; others are not looked at, and a note says so."""

CHECKED = tuple(name for name, kind in KNOWN.items() if kind != "text" or name == "status")
"""Columns that may hold a value that they cannot have."""

TYPES: dict[str, pa.DataType] = {
    "text": TEXT,
    "whole": pa.int64(),
    "number": pa.float64(),
    "flag": pa.bool_(),
    "time": TIME,
}

INSTEAD = {
    "expected": "give every expected call a row of its own, with row = 'expected'",
    "references": "give every expected call a row of its own, with row = 'expected' and its reference_index",
    "tool_calls": "give every call a row of its own",
    "usage": "give llm_calls, input_tokens, output_tokens and cost as columns",
}
"""What to do instead of a column that the native format has and a table has not."""

_INDEX = "__index_level_"  # what the index of a pandas frame is called
_SCALES = {"s": 10**6, "ms": 10**3}
_WORDS = {"true": True, "1": True, "false": False, "0": False}


def unread_columns(names: Iterable[str]) -> tuple[str, ...]:
    """Remarks about columns that are not read.

    Args:
        names: All columns of a table.

    Example:
        >>> unread_columns(["trace_id", "name", "argumnets"])
        ("the column 'argumnets' is not read; did you mean 'arguments'?",)
    """
    given = dict.fromkeys(names)
    strange = [name for name in given if name not in KNOWN and not name.startswith(_INDEX)]
    advice = {name: INSTEAD.get(name) or did_you_mean(name, KNOWN) for name in strange}
    rest = [repr(name) for name in strange if not advice[name]]
    out = [f"the column {name!r} is not read; {hint}" for name, hint in advice.items() if hint]
    return (*out, f"columns that are not read: {', '.join(rest)}") if rest else tuple(out)


def normalised(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The known columns of a batch in the types that are worked with, and `ODD`: odd values are null.

    Raises:
        InputError: A column whose type cannot hold what it should.
    """
    names = [name for name in batch.schema.names if name in KNOWN]
    odd = np.zeros(batch.num_rows, np.uint32)
    out = []
    for name in names:
        given = batch[name]
        column = within(name, _cast(given, name))
        if column.null_count > given.null_count:
            odd[valid(given) & ~valid(column)] |= _bit(name)
        if name == "status":
            odd[valid(column) & ~_is_in(column, STATUSES)] |= _bit(name)
        out.append(column)
    return pa.RecordBatch.from_arrays([*out, pa.array(odd)], [*names, ODD])


def odd_rows(odd: npt.NDArray[np.uint32], name: str) -> npt.NDArray[np.bool_]:
    """bool[n]: rows that had a value in this column of `CHECKED` that it cannot have."""
    return np.asarray((odd & _bit(name)) != 0, np.bool_)


def _bit(name: str) -> np.uint32:
    return np.uint32(1 << CHECKED.index(name)) if name in CHECKED else np.uint32(0)


def _is_in(column: pa.Array, texts: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.is_in(column, texts).to_numpy(zero_copy_only=False), np.bool_)


def _cast(column: pa.Array, name: str) -> pa.Array:
    """The column in its type; values that cannot be of it are null."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    kind, wanted = KNOWN[name], TYPES[KNOWN[name]]
    if column.type == wanted:
        return column
    if pa.types.is_dictionary(column.type):
        plain = column.dictionary if pa.types.is_primitive(column.dictionary.type) else column.dictionary.cast(TEXT)
        column = plain.take(column.indices)
    try:
        if pa.types.is_null(column.type):
            return column.cast(wanted)
        if pa.types.is_boolean(column.type) and kind in {"whole", "number"}:
            return pa.nulls(len(column), wanted)
        return {"text": _text, "whole": _whole, "number": _number, "flag": _flag, "time": _time}[kind](column)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"column {name!r} of type {column.type} cannot be read as {kind}: {error}", hint=f"cast it to {wanted}"
        ) from error


def _text(column: pa.Array) -> pa.Array:
    """Texts; whole numbers as they are written, so that ids that pandas holds as floats are ids."""
    if pa.types.is_floating(column.type):
        known = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        if not pc.all(pc.equal(known, pc.floor(known)), min_count=0).as_py():
            raise pa.ArrowInvalid("numbers with fractions are no ids or texts")
        return known.cast(pa.int64()).cast(TEXT)
    return column.cast(TEXT)


def _whole(column: pa.Array) -> pa.Array:
    if _is_text(column):
        return _parsed(column, pl.Int64(), pa.int64())
    if pa.types.is_uint64(column.type):
        fits = pc.less_equal(column, pa.scalar(2**63 - 1, pa.uint64()))
        return pc.if_else(fits, column, pa.scalar(None, column.type)).cast(pa.int64())
    if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        number = column.cast(pa.float64())
        whole = pc.and_(pc.equal(number, pc.floor(number)), pc.less(pc.abs(number), 2.0**63))
        return pc.if_else(whole, number, pa.scalar(None, pa.float64())).cast(pa.int64(), safe=False)
    return column.cast(pa.int64())


def _number(column: pa.Array) -> pa.Array:
    if _is_text(column):
        return _parsed(column, pl.Float64(), pa.float64())
    return column.cast(pa.float64(), safe=False)


def _flag(column: pa.Array) -> pa.Array:
    if _is_text(column):
        words = pc.utf8_lower(column.cast(TEXT))
        known = pa.array(list(_WORDS), TEXT)
        return pa.array(list(_WORDS.values())).take(pc.index_in(words, known, skip_nulls=True))
    if pa.types.is_boolean(column.type):
        return column
    number = column.cast(pa.float64(), safe=False)
    bit = pc.or_(pc.equal(number, 0.0), pc.equal(number, 1.0))
    return pc.if_else(bit, pc.equal(number, 1.0), pa.scalar(None, pa.bool_()))


def _time(column: pa.Array) -> pa.Array:
    if _is_text(column):
        return times_of(column)
    if not pa.types.is_timestamp(column.type):
        return column.cast(TIME)
    scale = _SCALES.get(column.type.unit)
    if scale is not None:  # what overflows in microseconds must not come round as another time
        most = pa.scalar((2**63 - 1) // scale, pa.int64())
        fits = pc.less_equal(pc.abs(column.view(pa.int64())), most)
        column = pc.if_else(fits, column, pa.scalar(None, column.type))
    return column.cast(TIME, safe=False)


def _is_text(column: pa.Array) -> bool:
    kind = column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _parsed(column: pa.Array, dtype: pl.DataType, wanted: pa.DataType) -> pa.Array:
    """Numbers written as texts; what is none is null."""
    try:
        return column.cast(wanted)
    except pa.ArrowInvalid:
        return pl.Series(column, dtype=pl.String).cast(dtype, strict=False).to_arrow().cast(wanted)


def times_of(column: pa.Array) -> pa.Array:
    """Texts with an ISO 8601 time (no zone: UTC) as instants; others are null."""
    text = texts(column)
    raw = np.where(valid(column), np.uint8(STRING + 1), np.uint8(0))
    out, good = np.empty(len(column), np.int64), np.empty(len(column), np.bool_)
    offsets = text.offsets.astype(np.int32)
    cells.take_times(text.data, raw, offsets[:-1].copy(), offsets[1:].copy(), out, good)
    return pa.array(out, mask=~good).cast(TIME)
