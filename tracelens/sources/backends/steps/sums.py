"""What the spans of a trace add up to: calls of models, tokens, cost, and the last word."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tracelens.columns import TEXT, nullable, numbers, valid
from tracelens.sources.backends.steps.model import I64, LLM, TOOL, Mask, taken
from tracelens.sources.backends.steps.order import Order


def totals(steps: pa.Table, order: Order, n: int) -> tuple[pa.Array, pa.Array, pa.Array, pa.Array]:
    """Calls of models, tokens read, tokens written and cost by trace; null where no span says anything.

    A model span around other model spans is the framework's record of the same work: it counts only where those inside
    say nothing.

    Args:
        steps: See `tracelens.sources.backends.steps.model.STEPS`.
        order: The spans.
        n: Number of traces.
    """
    model = order.kind == LLM
    counted = [_sum(order.trace, _innermost(order, model), np.ones(model.size, np.int64), n)]
    for name in ("input_tokens", "output_tokens", "cost"):
        there = model & valid(steps[name])
        counted.append(_sum(order.trace, _innermost(order, there), numbers(steps[name], default=0), n))
    return counted[0], counted[1], counted[2], counted[3]


def _innermost(order: Order, wanted: Mask) -> Mask:
    """Those of the wanted spans that have none of them inside."""
    out = wanted.copy()
    above = order.nearest(wanted)[wanted]
    out[above[above >= 0]] = False
    return out


def _sum(trace: I64, wanted: Mask, values: np.ndarray, n: int) -> pa.Array:
    out = np.zeros(n, values.dtype)
    np.add.at(out, trace[wanted], values[wanted])
    return nullable(out, np.bincount(trace[wanted], minlength=n) == 0)


def last_texts(order: Order, models: I64, text: pa.Array, silent: Mask, n: int) -> pa.Array:
    """str?[traces]: the last text of a model that asked for no call, outside of any tool call.

    Args:
        order: The spans.
        models: int64[m]: the spans of models.
        text: str?[m]: what they said.
        silent: bool[spans]: whether no call was asked for.
        n: Number of traces.
    """
    outside = order.nearest(order.kind == TOOL) < 0
    good = np.flatnonzero(valid(text) & silent[models] & outside[models])
    good = good[np.argsort(order.rank[models[good]])]
    last = np.full(n, -1, np.int64)
    last[order.trace[models[good]]] = good
    if not len(text):
        return pa.nulls(n, TEXT)
    return taken(text, last)
