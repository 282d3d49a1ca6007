"""Whether the expected calls that an input brings along can be used: their arguments, and the matchers in them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import TEXT, bytes_and_offsets, one_chunk, texts, valid
from tracelens.errors import did_you_mean
from tracelens.kernels.dollars import mark_dollars
from tracelens.kernels.reference.matchers import ESCAPE, MATCHERS, Fault, fault, strange_keys
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.reference.values import parse
from tracelens.projection import OBJECT, Projection, Row, run

_VALUE = Projection(Row("value"))


def are_objects(arguments: pa.Array) -> npt.NDArray[np.bool_]:
    """bool[n]: texts that are blank, or hold one JSON object.

    Example:
        >>> are_objects(pa.array(['{"a": 1}', " ", "[1]", "{"])).tolist()
        [True, True, False, False]
    """
    inner = texts(arguments)
    value = run(_VALUE, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())
    objects = np.zeros(len(arguments), np.bool_)
    objects[value["value"].parent[value["value"].has("@", OBJECT)]] = True
    return objects | (value.errors[:, 0] < 0)


def matcher_faults(names: pa.Array, arguments: pa.Array) -> tuple[dict[int, str], tuple[str, ...]]:
    """Matchers that are not well formed, and keys that look as if they were meant to be one.

    Args:
        names: Tools of expected calls.
        arguments: JSON text of their arguments, an object each; null for any.

    Returns:
        What is wrong, by row; and remarks.

    Example:
        >>> matcher_faults(pa.array(["f", "f"]), pa.array(['{"q": {"$regex": 5}}', '{"q": {"$near": 5}}']))
        ({0: '...f.q: $regex should be a string, not 5...'}, (...$near...))
    """
    faults: dict[int, str] = {}
    notes: dict[str, None] = {}
    column = one_chunk(arguments).cast(TEXT)
    known: dict[str, tuple[Fault | None, list[str]]] = {}
    for row in _with_dollar(column):
        text = column[row].as_py() or "{}"
        if text not in known:  # trials of a case bring the same again
            value = parse(text)
            known[text] = fault(value), list(strange_keys(value))
        found, keys = known[text]
        if found is not None:
            place = render_path((names[row].as_py() or "?", *found.path))
            faults[row] = f"expected arguments cannot be used: {place}: {found.message} ({found.hint})"
        for key in keys:
            advice = did_you_mean(key, MATCHERS) or ESCAPE
            notes[f"expected arguments have the key {key!r}, which is no matcher and is compared as data; {advice}"] = (
                None
            )
    return faults, tuple(notes)


def _with_dollar(arguments: pa.Array) -> list[int]:
    """The rows in which a string begins with a dollar sign, as every matcher's name does."""
    rows = np.zeros(len(arguments), np.bool_)
    if rows.size:
        mark_dollars(*bytes_and_offsets(arguments), rows)
    return np.flatnonzero(rows & valid(arguments)).tolist()
