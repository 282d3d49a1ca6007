"""Text columns with few distinct values as Arrow dictionaries: the same rows give the same dictionary."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import one_chunk

_CODES = pa.int32()
_TEXT = pa.large_string()


def as_categories(data: pa.Array) -> pa.DictionaryArray:
    """A text array as a dictionary of large strings with 32-bit codes.

    Args:
        data: Strings of any Arrow type, a dictionary of them, or an array of nulls.

    Returns:
        The same values; the dictionary may hold more values than occur.

    Example:
        >>> as_categories(pa.array(["b", None, "b"])).indices.to_pylist()
        [0, None, 0]
    """
    if pa.types.is_dictionary(data.type) and not data.dictionary.null_count:
        return pa.DictionaryArray.from_arrays(data.indices.cast(_CODES), data.dictionary.cast(_TEXT))
    return data.cast(_TEXT).dictionary_encode()


def canonical(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """The column with a dictionary of exactly the values that occur, sorted.

    Args:
        column: What `as_categories` gave, any number of chunks.

    Returns:
        One array, equal for equal rows whatever the dictionaries they came with.

    Example:
        >>> column = pa.chunked_array([as_categories(pa.array(["b", "a"])), as_categories(pa.array(["c", None]))])
        >>> canonical(column.slice(1)).dictionary.to_pylist()
        ['a', 'c']
    """
    whole = one_chunk(column.unify_dictionaries())
    used = pc.unique(whole.indices).drop_null()
    values = whole.dictionary.take(used)
    order = pc.sort_indices(values)
    position = pa.nulls(0, _CODES) if not len(used) else _inverse(used.take(order), len(whole.dictionary))
    codes = position.take(whole.indices) if len(used) else whole.indices
    return pa.DictionaryArray.from_arrays(codes, values.take(order))


def _inverse(codes: pa.Array, n: int) -> pa.Array:
    """For each of n old codes its place in `codes`; any number for those that do not occur."""
    import numpy as np

    position = np.zeros(n, np.int32)
    position[codes.to_numpy()] = np.arange(len(codes), dtype=np.int32)
    return pa.array(position)
