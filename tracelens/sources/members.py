"""JSON objects put together as text: the tags of traces out of what a format says here and there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, group_offsets, one_chunk, valid
from tracelens.projection import ANYTHING, STRING, Found

Members = tuple[npt.NDArray[np.integer[Any]], pa.Array]
"""Members of objects: the number of the object, and ``"name": value`` as text (null for none)."""


def json_text(rows: Found, name: str, *kinds: int) -> pa.Array:
    """Cells as the JSON text that they are, strings with their quotes; other cells are null.

    Args:
        rows: Rows of a projection.
        name: The column.
        *kinds: Which kinds; everything but null if none is given.
    """
    wanted = kinds or ANYTHING
    other = [kind for kind in wanted if kind != STRING]
    plain = rows.text(name, *other) if other else pa.nulls(rows.n, TEXT)
    return pc.coalesce(plain, quoted(rows.text(name))) if STRING in wanted else plain


def quoted(values: pa.Array) -> pa.Array:
    r"""Texts as JSON strings.

    Example:
        >>> quoted(pa.array(['a "b"\n', None], pa.large_string())).to_pylist()
        ['"a \\"b\\"\\n"', None]
    """
    values = one_chunk(values).cast(TEXT)
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        values = pc.replace_substring(values, plain, written)
    if pc.any(pc.match_substring_regex(values, "[\x00-\x1f]")).as_py():
        for code in range(32):
            values = pc.replace_substring(values, chr(code), f"\\u{code:04x}")
    return pc.binary_join_element_wise(pa.scalar('"', TEXT), values, pa.scalar('"', TEXT), pa.scalar("", TEXT))


def member(name: str, values: pa.Array, of: npt.NDArray[np.integer[Any]] | None = None) -> Members:
    """One member of many objects: the same name, a JSON text each."""
    owner = np.arange(len(values)) if of is None else of
    return owner, pc.binary_join_element_wise(pa.scalar(f'"{name}"', TEXT), values.cast(TEXT), pa.scalar(": ", TEXT))


def named(prefix: str, names: pa.Array, values: pa.Array, of: npt.NDArray[np.integer[Any]]) -> Members:
    """Members with names of their own behind a prefix; of one name in one object the last value counts."""
    full = quoted(pc.binary_join_element_wise(pa.scalar(prefix, TEXT), names.cast(TEXT), pa.scalar("", TEXT)))
    text = pc.binary_join_element_wise(full, values.cast(TEXT), pa.scalar(": ", TEXT))
    there = np.flatnonzero(valid(text))
    if there.size > 1:
        table = pa.table({"of": of[there], "name": full.take(pa.array(there)), "row": there})
        last = table.group_by(["of", "name"]).aggregate([("row", "max")])["row_max"].to_numpy()
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
    owner = np.concatenate([of for of, _ in parts]) if parts else np.zeros(0, np.int64)
    texts = pa.concat_arrays([one_chunk(text).cast(TEXT) for _, text in parts]) if parts else pa.nulls(0, TEXT)
    return joined(texts, owner, n, ("{", "}"))
