"""Text columns with few distinct values as Arrow dictionaries: the same rows give the same dictionary."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import numbers, one_chunk
from tracelens.kernels.categories import note_codes, renumber

CATEGORIES = pa.dictionary(pa.int32(), pa.large_string())
"""Their type."""

_NO_TEXTS = pa.nulls(0, pa.large_string())


def as_categories(data: pa.Array) -> pa.DictionaryArray:
    """A text array as a dictionary of large strings with 32-bit codes.

    Args:
        data: Strings of any Arrow type, a dictionary of them, or an array of nulls.

    Returns:
        The same values; the dictionary may hold more values than occur, but not more than there are rows.

    Example:
        >>> as_categories(pa.array(["b", None, "b"])).indices.to_pylist()
        [0, None, 0]
    """
    if data.null_count == len(data):
        return pa.DictionaryArray.from_arrays(pa.nulls(len(data), pa.int32()), _NO_TEXTS)
    if not pa.types.is_dictionary(data.type) or data.dictionary.null_count:
        return data.cast(pa.large_string()).dictionary_encode()
    coded = data if data.type == CATEGORIES else data.cast(CATEGORIES)
    return coded if len(coded.dictionary) <= len(coded) else canonical(pa.chunked_array([coded]))


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
    if column.null_count == len(column):
        return as_categories(one_chunk(column))
    whole = one_chunk(column.unify_dictionaries())
    n = len(whole.dictionary)
    if n == 1:
        return whole
    codes = numbers(whole.indices, default=n).view()
    codes.flags.writeable = False  # some are: kernels would be compiled for both kinds
    used, place, new = np.zeros(n + 1, np.bool_), np.zeros(n + 1, np.int32), np.empty(codes.size, np.int32)
    note_codes(codes, used)
    there = np.flatnonzero(used[:n])
    values = whole.dictionary.take(pa.array(there))
    order = pc.sort_indices(values)
    place[there[order.to_numpy()]] = np.arange(there.size)
    renumber(codes, place, new)
    indices = pa.array(new, mask=codes == n if whole.indices.null_count else None)
    return pa.DictionaryArray.from_arrays(indices, values.take(order), safe=False)
