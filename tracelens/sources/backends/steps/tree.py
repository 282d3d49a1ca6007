"""Ancestors of spans, column by column."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.sources.backends.steps.model import I64, Mask, text_codes

DEEPEST = 1 << 12
"""Levels that are looked at; a chain of parents that goes on longer goes round in a circle."""


def parents(trace: I64, span_id: pa.Array, parent_id: pa.Array) -> I64:
    """int64[n]: the row of each span's parent in the same trace, -1 for none; of equal ids the first row counts.

    Example:
        >>> ids = pa.array(["a", "b", "c"], pa.large_string())
        >>> parents(np.zeros(3, np.int64), ids, pa.array([None, "a", "x"], pa.large_string())).tolist()
        [-1, 0, -1]
    """
    n = trace.size
    if not n:
        return np.zeros(0, np.int64)
    own, above = text_codes(span_id, parent_id)
    width = int(max(own.max(), above.max())) + 1
    if width <= 0:
        return np.full(n, -1, np.int64)
    known = np.flatnonzero(own >= 0)
    key = trace[known] * width + own[known]
    order = np.argsort(key, kind="stable")
    key, known = key[order], known[order]
    wanted = trace * width + above
    at = np.minimum(np.searchsorted(key, wanted), max(key.size - 1, 0))
    if not key.size:
        return np.full(n, -1, np.int64)
    out = np.where((above >= 0) & (key[at] == wanted), known[at], -1)
    return np.where(out == np.arange(n), -1, out)


def nearest(parent: I64, wanted: Mask) -> I64:
    """int64[n]: the nearest ancestor of each row (itself not counted) that is wanted, -1 for none.

    Example:
        >>> nearest(np.array([-1, 0, 1, 2]), np.array([True, False, False, True])).tolist()
        [-1, 0, 0, 0]
    """
    out = parent.copy()
    for _ in range(DEEPEST.bit_length()):
        going = np.flatnonzero((out >= 0) & ~wanted[out])
        if not going.size:
            return out
        out[going] = out[out[going]]
    out[(out >= 0) & ~wanted[out]] = -1
    return out


def levels(parent: I64) -> npt.NDArray[np.int32]:
    """int32[n]: how many ancestors each row has.

    Example:
        >>> levels(np.array([-1, 0, 1, -1])).tolist()
        [0, 1, 2, 0]
    """
    out = np.zeros(parent.size, np.int32)
    rows = np.flatnonzero(parent >= 0)
    at = parent[rows]
    for _ in range(DEEPEST):
        if not rows.size:
            break
        out[rows] += 1
        at = parent[at]
        rows, at = rows[at >= 0], at[at >= 0]
    return out
