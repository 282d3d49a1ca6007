"""What the numbers, times and flags of a record may be; anything else is read as not given, and reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT

STATUSES = pa.array(["ok", "error", "denied"], TEXT)
"""What a call may say of itself."""


class Limit(NamedTuple):
    """The least and the greatest value that a field may have."""

    least: float
    most: float


_INT32, _INT64 = Limit(0, 2**31 - 1), Limit(0, 2**63 - 1)
MOST_REFERENCES = 9_999
"""Highest index of a reference of one trace."""

_INSTANTS = Limit(-62_135_596_800_000_000, 253_402_300_799_999_999)  # the years 1 to 9999, in microseconds

LIMITS: Mapping[str, Limit] = {
    "turn": _INT32,
    "depth": _INT32,
    "llm_calls": _INT64,
    "input_tokens": _INT64,
    "output_tokens": _INT64,
    "cost": Limit(0, 1.7976931348623157e308),
    "duration_ms": Limit(0, 1e14),  # 3,000 years; an instant and that many microseconds still are an instant
    "arguments_form": Limit(0, 7),
    "reference_index": Limit(0, MOST_REFERENCES),
    "n_references": Limit(0, MOST_REFERENCES + 1),
}
"""Limits by field."""


def within(name: str, values: pa.Array) -> pa.Array:
    """The values that a field may have; others are null.

    Args:
        name: The field.
        values: Numbers or instants; anything else comes back as it is.

    Example:
        >>> within("turn", pa.array([0, -1, 2**40])).to_pylist()
        [0, None, None]
        >>> within("cost", pa.array([0.5, float("nan"), float("inf")])).to_pylist()
        [0.5, None, None]
    """
    if pa.types.is_timestamp(values.type):
        limit, plain = _INSTANTS, values.view(pa.int64())
    elif name in LIMITS:
        limit, plain = LIMITS[name], values
    else:
        return values
    bounds = [pa.scalar(each, plain.type) for each in (limit.least, limit.most)]
    good = pc.and_(pc.greater_equal(plain, bounds[0]), pc.less_equal(plain, bounds[1]))
    if pc.all(good, min_count=0).as_py():
        return values
    return pc.if_else(good, values, pa.scalar(None, values.type))


def problem(name: str, kind: str) -> str:
    """What is wrong with a value that was there and could not be read, and what became of it.

    Args:
        name: The field.
        kind: What it should be: ``whole``, ``number``, ``flag``, ``time``, ``text``, ``status`` or ``object``.

    Example:
        >>> problem("depth", "whole")
        'is no whole number from 0 to 2,147,483,647 and is read as 0'
        >>> problem("complete", "flag")
        'is neither true nor false and is read as not given'
    """
    fate = "is read as 0" if name == "depth" else "is read as not given"
    if name == "status":
        return "is none of ok, error and denied, and counts as unknown"
    if kind in {"whole", "number"}:
        noun = "whole number" if kind == "whole" else "finite number"
        limit = LIMITS.get(name)
        return f"is no {noun}{_span(limit)} and {fate}"
    what = {"flag": "is neither true nor false", "time": "is no ISO 8601 time", "object": "is no object"}
    return f"{what.get(kind, 'is no text')} and {fate}"


def _span(limit: Limit | None) -> str:
    """The limits as part of a sentence."""
    if limit is None:
        return ""
    if limit.most > 1e300:
        return f" of at least {limit.least:g}"
    most = f"{limit.most:,}" if isinstance(limit.most, int) else f"{limit.most:g}"
    return f" from {limit.least:g} to {most}"
