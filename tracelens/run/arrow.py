"""NumPy arrays as Arrow columns that are stored as they are: nulls by mask, texts of few values by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import TEXT


def nullable(values: npt.NDArray[Any], null: npt.NDArray[np.bool_]) -> pa.Array:
    """Values, null where told.

    Example:
        >>> nullable(np.array([1, 2]), np.array([False, True])).to_pylist()
        [1, None]
    """
    return pa.array(values, mask=null)


def coded(codes: npt.NDArray[Any], texts: Sequence[str]) -> pa.DictionaryArray:
    """Texts by number, null below zero.

    Example:
        >>> coded(np.array([1, -1]), ["a", "b"]).to_pylist()
        ['b', None]
    """
    numbers = codes.astype(np.int32, copy=False)
    null = numbers < 0
    indices = pa.array(numbers, mask=null) if null.any() else pa.array(numbers)
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts, TEXT))


def constant(text: str, n: int) -> pa.DictionaryArray:
    """One text n times.

    Example:
        >>> constant("a", 2).to_pylist()
        ['a', 'a']
    """
    return coded(np.zeros(n, np.int32), [text])


def by_trace(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of the same columns as one, trace by trace, so that where a batch ends shows nowhere.

    Args:
        tables: At least one; each sorted by its column ``trace``.

    Example:
        >>> one = pa.table({"trace": [0, 1], "x": ["a", "b"]})
        >>> by_trace([one, one.slice(1)]).column("x").to_pylist()
        ['a', 'b', 'b']
    """
    if len(tables) == 1:
        return tables[0]
    whole = pa.concat_tables(tables).unify_dictionaries()
    return whole.take(pa.array(np.argsort(whole["trace"].to_numpy(), kind="stable")))
