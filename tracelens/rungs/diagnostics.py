"""Diagnostics: what went on in a trace, whether or not it was expected.

Each number is defined in plain Python in `tracelens.kernels.reference.diagnostics`; here they are computed for all
traces of a batch at once. They see every requested call at every depth, and are null where calls were not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.columns import nullable, numbered
from tracelens.kernels.loops import count_repeats, first_equal, longest_runs, sum_in_order
from tracelens.rungs.facts import CallFacts, trace_seconds

I32 = npt.NDArray[np.int32]

ROUNDED = 1e15
"""Costs from here on have no billionths to round."""


def diagnose(
    facts: CallFacts,
    calls: pa.Table,
    traces: pa.Table,
    prices: Mapping[str, float],
) -> dict[str, pa.Array]:
    """The diagnostics of every trace.

    Args:
        facts: What is known of the calls.
        calls: The same calls: ``trace``, ``error``, ``started_at``, ``duration_ms``.
        traces: One row per trace, ``trace`` being its row number: ``has_calls``, ``started_at``.
        prices: Price of one call by tool.

    Returns:
        Columns of `traces`: ``n_errors``, ``n_denied``, ``n_unknown_status``, ``n_repeated_errors``,
        ``n_recovered_errors``, ``n_identical_repeats``, ``longest_loop``, ``oscillation`` (all i32?), ``duration_ms``
        f64?, ``tool_cost`` f64? (currency of the suite).
    """
    counted = {
        "n_errors": facts.count(facts.failed),
        "n_denied": facts.count(~facts.executed),
        "n_unknown_status": facts.count(facts.unstated),
        **_repetition(facts, calls["error"]),
    }
    unrecorded = ~columns.numbers(traces["has_calls"])
    return {
        **{name: nullable(values, unrecorded) for name, values in counted.items()},
        "duration_ms": (trace_seconds(calls, traces) * 1000).to_arrow(),
        "tool_cost": _tool_cost(facts, prices, unrecorded),
    }


def _tool_cost(facts: CallFacts, prices: Mapping[str, float], unrecorded: npt.NDArray[np.bool_]) -> pa.Array:
    """By trace, what its calls cost, those that did not run nothing.

    Null where no tool it called has a price, and where the sum is beyond any number.
    """
    if not prices:
        return pa.nulls(unrecorded.size, pa.float64())
    price = np.array([*(prices.get(name, np.nan) for name in facts.names), np.nan])[facts.tool]
    priced = ~np.isnan(price)
    out = np.zeros(unrecorded.size)
    sum_in_order(facts.offsets, np.where(priced & facts.executed, price, 0.0), out)
    exact = np.abs(out) < ROUNDED  # rounding multiplies, and may leave the range of numbers
    out[exact] = pl.Series(out[exact]).round(9).to_numpy()
    return nullable(out, unrecorded | (facts.count(priced) == 0) | ~np.isfinite(out))


def _repetition(facts: CallFacts, error: pa.ChunkedArray) -> dict[str, I32]:
    """Everything that compares calls of a trace with each other."""
    n = facts.offsets.size - 1
    outcome = np.where(facts.failed, 1, np.where(facts.succeeded, 0, 2)).astype(np.int8)
    names = ("n_identical_repeats", "n_repeated_errors", "n_recovered_errors", "longest_loop", "oscillation")
    out = {name: np.zeros(n, np.int32) for name in names}
    longest_runs(facts.offsets, facts.same, out["longest_loop"], out["oscillation"])
    counts = (out[name] for name in names[:3])
    count_repeats(facts.offsets, facts.same, facts.tool.astype(np.int64), outcome, _same_error(facts, error), *counts)
    return out


def _same_error(facts: CallFacts, error: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """int64 by call: the first failed call of the trace with the same tool, arguments and error text, for failed ones."""
    bad = np.flatnonzero(facts.failed)
    if not bad.size:
        return facts.same
    texts = np.zeros(facts.failed.size, np.uint64)
    texts[bad] = numbered(error.take(pa.array(bad)))[0] + 1
    known = np.where(facts.failed & facts.known, facts.tool, -1).astype(np.int64)
    out = np.empty(facts.failed.size, np.int64)
    first_equal(facts.offsets, known, facts.same.astype(np.uint64), texts, out)
    return out
