"""Spans that were delivered more than once: one row each, with the last value of every column that has one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tracelens.columns import one_chunk, valid
from tracelens.sources.backends.steps.model import I64, joint_codes, text_codes


def without_repeats(steps: pa.Table) -> tuple[pa.Table, int, I64]:
    """Merge the rows of one span.

    A backend may deliver a span twice, or first as begun and then as ended. Of each column the last value counts that
    is not null, an empty kind (``other``) not counted either; the row stands where the first one stood.

    Args:
        steps: See `tracelens.sources.backends.steps.model.STEPS`.

    Returns:
        The rows, how many were merged into others, and int64[rows before]: the row that each became.
    """
    n = steps.num_rows
    everything = np.arange(n)
    if not n:
        return steps, 0, everything
    (ids,) = text_codes(steps["span_id"])
    key = joint_codes(steps["trace"].to_numpy(), ids)
    known = np.flatnonzero(key >= 0)
    distinct, first, group = np.unique(key[known], return_index=True, return_inverse=True)
    if distinct.size == known.size:
        return steps, 0, everything
    keep = np.ones(n, np.bool_)
    keep[known] = False
    keep[known[first]] = True
    leader = everything.copy()
    leader[known] = known[first][group]
    number = np.cumsum(keep) - 1
    out = steps.filter(pa.array(keep))
    repeats = np.flatnonzero(~keep)
    for place, field in enumerate(steps.schema):
        if field.name in {"trace", "span_id"}:
            continue
        column = one_chunk(steps[field.name])
        there = valid(column)
        if field.name in {"kind", "arguments_form"}:
            there = column.to_numpy() != 0
        source = np.flatnonzero(keep)
        late = repeats[there[repeats]]
        source[number[leader[late]]] = late
        out = out.set_column(place, field, column.take(pa.array(source)))
    return out, int(repeats.size), number[leader]
