"""The steps of evaluation files as spans: every call of the model, and inside it the calls of tools that it asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import SPANS, TEXT, numbers, table
from tracelens.groups import group_offsets, positions_in
from tracelens.sources.chats.messages import Steps

I64 = npt.NDArray[np.int64]

NAMED_ALIKE = ("name", "agent", "status", "started_at", "duration_ms")
"""Columns that a call and its span share."""


def step_spans(steps: Steps, of_call: I64, calls: pa.Table, n: int) -> pa.Table:
    """Calls of the model and of tools as spans, each tool's behind the model's that asked for it.

    A model's call is named ``llm-<number>``, a tool's ``call-<call_index>``. A call that no model is known to have asked
    for stands behind the call before it, without a parent.

    Args:
        steps: The calls of the model.
        of_call: int64[calls], the step that asked for each call, -1 where it is not known.
        calls: See `tracelens.columns.CALLS`.
        n: Number of traces.

    Returns:
        A table, see `tracelens.columns.SPANS`.
    """
    trace, index = numbers(calls["trace"]).astype(np.int64), numbers(calls["call_index"])
    ids = _numbered("llm-", positions_in(group_offsets(steps.trace, n)))
    known = of_call >= 0
    llm = {"span_id": ids, "kind": _same("llm", steps.trace.size), **steps.columns}
    tool = {
        "span_id": _numbered("call-", index),
        "parent_id": ids.take(pa.array(of_call, mask=~known)),
        "kind": _same("tool", trace.size),
        "call_index": index,
        **{name: calls[name] for name in NAMED_ALIKE},
    }
    parts = [
        table(SPANS, of.size, trace=of.astype(np.uint32), **columns)
        for of, columns in ((steps.trace, llm), (trace, tool))
    ]
    place = np.where(known, of_call, np.maximum.accumulate(of_call)) if trace.size else of_call
    order = np.lexsort(
        (
            np.concatenate([np.full(steps.trace.size, -1), index]),
            np.concatenate([np.arange(steps.trace.size), place]),
            np.concatenate([steps.trace, trace]),
        )
    )
    return pa.concat_tables(parts).take(pa.array(order)).combine_chunks()


def at_steps(steps: I64, places: I64) -> I64:
    """The step at each of some places, -1 where none is.

    Args:
        steps: int64[steps], ascending: the places of steps, all different.
        places: int64[n].

    Example:
        >>> at_steps(np.array([3, 7]), np.array([7, 5, 3])).tolist()
        [1, -1, 0]
    """
    if not steps.size:
        return np.full(places.size, -1, np.int64)
    at = np.minimum(np.searchsorted(steps, places), steps.size - 1)
    return np.where(steps[at] == places, at, -1)


def _numbered(prefix: str, number: npt.NDArray[Any]) -> pa.Array:
    return pc.binary_join_element_wise(pa.scalar(prefix, TEXT), pa.array(number).cast(TEXT), pa.scalar("", TEXT))


def _same(text: str, n: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, TEXT), n)
