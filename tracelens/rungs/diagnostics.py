"""Diagnostics: what went on in a trace, whether or not it was expected.

Each number is defined in plain Python in `tracelens.kernels.reference.diagnostics`; here they are computed for all
traces of a batch at once. They see every requested call at every depth, and are null where calls were not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.columns import group_offsets
from tracelens.kernels.loops import count_repeats, first_equal, longest_runs, sum_in_order
from tracelens.rungs.facts import failed, nothing, text_codes, trace_seconds, unknown_arguments

_COUNTS = (
    "n_errors", "n_denied", "n_unknown_status", "n_repeated_errors", "n_recovered_errors", "n_identical_repeats",
    "longest_loop", "oscillation",
)  # fmt: skip


def diagnose(
    calls: pl.DataFrame,
    traces: pl.DataFrame,
    *,
    prices: Mapping[str, float] | None = None,
    needless: pl.Series | None = None,
    tools: npt.NDArray[np.integer] | None = None,
) -> pl.DataFrame:
    """The diagnostics of every trace.

    Args:
        calls: One row per call, by trace and index: ``trace``, ``tool``, ``status``, ``error``, ``executed``,
            ``arguments_state``, ``digest_hi``, ``digest_lo``, ``started_at``, ``duration_ms``.
        traces: One row per trace, ``trace`` being its row number: ``has_calls``, ``started_at``.
        prices: Price of one call by tool.
        needless: By trace, the extra calls under the optimal pairing; null without a reference.
        tools: Number of each call's tool, below zero for none, where the caller has them.

    Returns:
        One row per trace: ``trace`` u32, ``n_calls_all`` i32?, ``n_errors``, ``n_denied``, ``n_unknown_status``,
        ``n_repeated_errors``, ``n_recovered_errors``, ``n_identical_repeats``, ``longest_loop``, ``oscillation``,
        ``n_needless`` (all i32?), ``duration_ms`` f64?, ``tool_cost`` f64? (currency of the suite).
    """
    n = traces.height
    offsets = group_offsets(calls["trace"].to_numpy(), n)
    counted: dict[str, npt.NDArray[np.int32]] = {"n_calls_all": np.diff(offsets).astype(np.int32)}
    counted |= _repetition(calls, offsets, tools)
    statuses = {
        "n_errors": calls.select(failed()).to_series(),
        "n_denied": calls["status"] == "denied",
        "n_unknown_status": calls["status"].is_null(),
    }
    counted |= {name: _count(which, calls, n) for name, which in statuses.items()}
    recorded = traces["has_calls"]
    none = nothing("n_needless", pl.Int32, n)
    return pl.DataFrame(
        [
            traces["trace"],
            *(
                pl.Series(name, counted[name], dtype=pl.Int32).zip_with(recorded, none)
                for name in ("n_calls_all", *_COUNTS)
            ),
            (none if needless is None else needless.cast(pl.Int32)).alias("n_needless"),
            (trace_seconds(calls, traces) * 1000).alias("duration_ms"),
            _tool_cost(calls, offsets, prices or {}).zip_with(recorded, nothing("tool_cost", pl.Float64, n)),
        ]
    )


def call_costs(tools: pl.Series, executed: pl.Series, prices: Mapping[str, float]) -> pl.Series:
    """What each call cost at the suite's prices.

    Args:
        tools: Tool of each call.
        executed: Whether it ran; a call that did not run costs nothing.
        prices: Price of one call by tool.

    Returns:
        f64?; null where the tool has no price.

    Example:
        >>> call_costs(pl.Series(["a", "b", "a"]), pl.Series([True, True, False]), {"a": 0.5}).to_list()
        [0.5, None, 0.0]
    """
    price = tools.replace_strict(list(prices), list(prices.values()), default=None, return_dtype=pl.Float64)
    return price * executed.cast(pl.Float64)


def _tool_cost(calls: pl.DataFrame, offsets: npt.NDArray[np.int64], prices: Mapping[str, float]) -> pl.Series:
    """By trace; null where no tool it called has a price."""
    n = offsets.size - 1
    if not prices:
        return nothing("tool_cost", pl.Float64, n)
    costs = call_costs(calls["tool"], calls["executed"], prices)
    out = np.zeros(n)
    sum_in_order(offsets, np.ascontiguousarray(costs.fill_null(0.0).to_numpy(), np.float64), out)
    priced = pl.Series(_count(costs.is_not_null(), calls, n) > 0)
    return pl.Series("tool_cost", out).round(9).zip_with(priced, nothing("tool_cost", pl.Float64, n))


def _count(which: pl.Series, calls: pl.DataFrame, n: int) -> npt.NDArray[np.int32]:
    rows = calls["trace"].filter(which.fill_null(value=False)).to_numpy().astype(np.int64)
    return np.bincount(rows, minlength=n).astype(np.int32)


def _repetition(
    calls: pl.DataFrame, offsets: npt.NDArray[np.int64], tools: npt.NDArray[np.integer] | None
) -> dict[str, npt.NDArray[np.int32]]:
    """Everything that compares calls of a trace with each other."""
    n = offsets.size - 1
    names = text_codes(calls["tool"]) if tools is None else tools.astype(np.int64)
    known = np.asarray(calls.select(~unknown_arguments()).to_series().to_numpy())
    high, low = (np.ascontiguousarray(calls[name].fill_null(0).to_numpy()) for name in ("digest_hi", "digest_lo"))
    same = np.empty(calls.height, np.int64)
    first_equal(offsets, np.where(known, names, -1), high, low, same)
    bad = calls.select(failed()).to_series().to_numpy()
    # two failed calls equal each other where the first equal call and the error text are the same
    texts = np.zeros(calls.height, np.uint64)
    texts[bad] = text_codes(calls["error"].filter(pl.Series(bad))) + 1
    errors = np.empty(calls.height, np.int64)
    first_equal(offsets, np.where(bad & known, names, -1), same.astype(np.uint64), texts, errors)
    outcome = np.where(bad, 1, np.where(calls["status"].fill_null("ok") == "ok", 0, 2)).astype(np.int8)
    out = {name: np.zeros(n, np.int32) for name in _COUNTS[3:]}
    longest_runs(offsets, same, out["longest_loop"], out["oscillation"])
    count_repeats(
        offsets, same, names, outcome, errors,
        out["n_identical_repeats"], out["n_repeated_errors"], out["n_recovered_errors"],
    )  # fmt: skip
    return out
