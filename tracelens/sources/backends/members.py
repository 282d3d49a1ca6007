"""JSON objects put together as text: the tags of traces out of what a format says here and there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import PADDING, TEXT, one_chunk, text_array, valid
from tracelens.groups import group_offsets
from tracelens.kernels import cells
from tracelens.projection import ANYTHING, NONE, OBJECT, STRING, Found
from tracelens.projection.rows import ALL
from tracelens.sources.backends.steps.model import joint_codes, text_codes

Members = tuple[npt.NDArray[np.integer[Any]], pa.Array]
"""Members of objects: the number of the object, and ``"name": value`` as text (null for none)."""


def json_text(rows: Found, name: str, *kinds: int) -> pa.Array:
    """Cells as the JSON text that they are, strings with their quotes; other cells are null.

    Args:
        rows: Rows of a projection.
        name: The column, or ``@key``.
        *kinds: Which kinds; everything but null if none is given.
    """
    cell = rows.cells(name)
    string = (cell.kind == STRING) & rows.has(name, *(kinds or ANYTHING))
    quote = string.astype(np.int32)
    raw = np.where(string, np.uint8(OBJECT), np.where(rows.has(name, *(kinds or ANYTHING)), cell.kind, np.uint8(NONE)))
    start, end = cell.start - quote, cell.end + quote
    accept = sum(1 << kind for kind in ANYTHING)
    data = np.empty(cells.text_size(raw, start, end, ALL, accept) + PADDING, np.uint8)
    offsets, there = np.empty(rows.n + 1, np.int64), np.empty(rows.n, np.bool_)
    size = cells.take_texts(rows.data, raw, start, end, ALL, accept, data, offsets, there)
    data[size : size + PADDING] = 0
    return text_array(data, offsets, there)


def member(name: str, values: pa.Array, of: npt.NDArray[np.integer[Any]] | None = None) -> Members:
    """One member of many objects: the same name, a JSON text each."""
    owner = np.arange(len(values)) if of is None else of
    if values.null_count == len(values):
        return owner, pa.nulls(len(values), TEXT)
    return owner, pc.binary_join_element_wise(pa.scalar(f'"{name}"', TEXT), values.cast(TEXT), pa.scalar(": ", TEXT))


def named(prefix: str, names: pa.Array, values: pa.Array, of: npt.NDArray[np.integer[Any]]) -> Members:
    """Members with names of their own behind a prefix; of one name in one object the last value counts.

    Args:
        prefix: What stands before the names, plain ASCII.
        names: JSON strings.
        values: JSON texts.
        of: Number of the object of each.
    """
    if names.null_count == len(names):
        return of, pa.nulls(len(names), TEXT)
    rest = pc.utf8_slice_codeunits(names.cast(TEXT), 1)
    full = pc.binary_join_element_wise(pa.scalar(f'"{prefix}', TEXT), rest, pa.scalar("", TEXT))
    text = pc.binary_join_element_wise(full, values.cast(TEXT), pa.scalar(": ", TEXT))
    there = np.flatnonzero(valid(text))
    if there.size > 1:
        (codes,) = text_codes(full.take(pa.array(there)))
        key = joint_codes(of[there].astype(np.int64), codes)[::-1]
        last = there[::-1][np.unique(key, return_index=True)[1]]
        keep = np.zeros(len(text), np.bool_)
        keep[last] = True
        text = pc.if_else(pa.array(keep), text, pa.scalar(None, TEXT))
    return of, text


def joined(values: pa.Array, of: npt.NDArray[np.integer[Any]], n: int, ends: tuple[str, str] = ("[", "]")) -> pa.Array:
    """The texts of each of n groups as one, with commas between and brackets around; null where there is none.

    Args:
        values: str?[rows]; nulls are left out.
        of: int[rows], the group of each.
        n: Number of groups.
        ends: The brackets.

    Example:
        >>> joined(pa.array(["1", None, "2"], TEXT), np.array([1, 0, 1]), 2).to_pylist()
        [None, '[1, 2]']
    """
    keep = np.flatnonzero(valid(values))
    if not keep.size:
        return pa.nulls(n, TEXT)
    order = keep[np.argsort(of[keep], kind="stable")]
    offsets = group_offsets(of[order], n)
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), one_chunk(values).take(pa.array(order)).cast(TEXT))
    inner = pc.binary_join(lists, pa.scalar(", ", TEXT))
    left, right = (pa.scalar(end, TEXT) for end in ends)
    whole = pc.binary_join_element_wise(left, inner, right, pa.scalar("", TEXT))
    return pc.if_else(pa.array(np.diff(offsets) > 0), whole, pa.scalar(None, TEXT))


def objects(n: int, parts: Sequence[Members]) -> pa.Array:
    """N objects of those members, in the order given; null where one has none.

    Example:
        >>> objects(2, [member("a", pa.array(["1", None])), member("b", pa.array(['"x"', None]))]).to_pylist()
        ['{"a": 1, "b": "x"}', None]
    """
    there = [(of, text) for of, text in parts if text.null_count < len(text)]
    if not there:
        return pa.nulls(n, TEXT)
    owner = np.concatenate([of for of, _ in there])
    texts = pa.concat_arrays([one_chunk(text).cast(TEXT) for _, text in there])
    return joined(texts, owner, n, ("{", "}"))
