"""Text columns with few distinct values as Arrow dictionaries."""

from __future__ import annotations

import pyarrow as pa

CATEGORIES = pa.dictionary(pa.int32(), pa.large_string())
"""Their type."""

_NO_TEXTS = pa.array([], pa.large_string())


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
    if data.null_count == len(data):
        return pa.DictionaryArray.from_arrays(pa.nulls(len(data), CATEGORIES.index_type), _NO_TEXTS)
    if pa.types.is_dictionary(data.type) and not data.dictionary.null_count:
        return data.cast(CATEGORIES)
    return data.cast(CATEGORIES.value_type).dictionary_encode()
