"""Arrow columns and tables that are stored as they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tracelens.columns import coded


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
