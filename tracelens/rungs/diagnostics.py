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

_UNKNOWN_ARGUMENTS = ("not_captured", "truncated")
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
) -> pl.DataFrame:
    """The diagnostics of every trace.

    Args:
        calls: One row per call, by trace and index: ``trace``, ``tool``, ``status``, ``error``, ``executed``,
            ``arguments_state``, ``digest_hi``, ``digest_lo``, ``started_at``, ``duration_ms``.
        traces: One row per trace, ``trace`` being its row number: ``has_calls``, ``started_at``.
        prices: Price of one call by tool.
        needless: By trace, the extra calls under the optimal pairing; null without a reference.

    Returns:
        One row per trace: ``trace`` u32, ``n_calls_all`` i32?, ``n_errors``, ``n_denied``, ``n_unknown_status``,
        ``n_repeated_errors``, ``n_recovered_errors``, ``n_identical_repeats``, ``longest_loop``, ``oscillation``,
        ``n_needless`` (all i32?), ``duration_ms`` f64?, ``tool_cost`` f64? (currency of the suite).
    """
    n = traces.height
    offsets = group_offsets(calls["trace"].to_numpy(), n)
    counted: dict[str, npt.NDArray[np.int32]] = {"n_calls_all": np.diff(offsets).astype(np.int32)}
    counted |= _repetition(calls, offsets)
    statuses = {
        "n_errors": _failed(calls),
        "n_denied": calls["status"] == "denied",
        "n_unknown_status": calls["status"].is_null(),
    }
    counted |= {name: _count(which, calls, n) for name, which in statuses.items()}
    recorded = traces["has_calls"]
    nothing = pl.Series([None], dtype=pl.Int32).new_from_index(0, n)
    return pl.DataFrame(
        [
            traces["trace"],
            *(
                pl.Series(name, counted[name], dtype=pl.Int32).zip_with(recorded, nothing)
                for name in ("n_calls_all", *_COUNTS)
            ),
            (nothing if needless is None else needless.cast(pl.Int32)).alias("n_needless"),
            (trace_seconds(calls, traces) * 1000).alias("duration_ms"),
            _tool_cost(calls, offsets, prices or {}).zip_with(recorded, _no_cost(n)).alias("tool_cost"),
        ]
    )


def trace_seconds(calls: pl.DataFrame, traces: pl.DataFrame) -> pl.Series:
    """How long each trace took, in seconds, as far as its calls tell.

    From the start of the trace (that of its first call where the trace has none) to the end of the last call that has
    a start, a call without duration ending when it starts. Where no call has a start but all have a duration, the sum
    of the durations.

    Args:
        calls: ``trace``, ``started_at``, ``duration_ms``.
        traces: ``trace``, ``started_at``.

    Returns:
        f64? by trace; null where nothing was captured.
    """
    if calls["started_at"].null_count() == calls["duration_ms"].null_count() == calls.height:
        return pl.Series([None], dtype=pl.Float64).new_from_index(0, traces.height)
    length = (pl.col("duration_ms").fill_nan(None).fill_null(0.0) * 1000).round().cast(pl.Int64).cast(pl.Duration("us"))
    spans = calls.group_by("trace").agg(
        pl.col("started_at").min().alias("first"),
        (pl.col("started_at") + length).max().alias("last"),
        pl.when(pl.col("duration_ms").is_not_null().all()).then(length.sum()).alias("busy"),
    )
    timed = traces.select("trace", "started_at").join(spans, on="trace", how="left", maintain_order="left")
    start = pl.min_horizontal("started_at", "first")
    took = pl.coalesce(pl.col("last") - start, pl.col("busy"))
    return timed.select(took.dt.total_microseconds().cast(pl.Float64) / 1e6).to_series()


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
        return _no_cost(n)
    costs = call_costs(calls["tool"], calls["executed"], prices)
    out = np.zeros(n)
    sum_in_order(offsets, np.ascontiguousarray(costs.fill_null(0.0).to_numpy(), np.float64), out)
    priced = pl.Series(_count(costs.is_not_null(), calls, n) > 0)
    return pl.Series(out).round(9).zip_with(priced, _no_cost(n))


def _no_cost(n: int) -> pl.Series:
    return pl.Series([None], dtype=pl.Float64).new_from_index(0, n)


def _failed(calls: pl.DataFrame) -> pl.Series:
    return (calls["status"] == "error").fill_null(value=False) | (
        calls["status"].is_null() & calls["error"].is_not_null()
    )


def _count(which: pl.Series, calls: pl.DataFrame, n: int) -> npt.NDArray[np.int32]:
    rows = calls["trace"].filter(which.fill_null(value=False)).to_numpy().astype(np.int64)
    return np.bincount(rows, minlength=n).astype(np.int32)


def _repetition(calls: pl.DataFrame, offsets: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.int32]]:
    """Everything that compares calls of a trace with each other."""
    n = offsets.size - 1
    names = text_codes(calls["tool"])
    captured = ~calls["arguments_state"].is_in(_UNKNOWN_ARGUMENTS) & calls["digest_hi"].is_not_null()
    known = np.asarray(captured.to_numpy())
    high, low = (np.ascontiguousarray(calls[name].fill_null(0).to_numpy()) for name in ("digest_hi", "digest_lo"))
    same = np.empty(calls.height, np.int64)
    first_equal(offsets, np.where(known, names, -1), high, low, same)
    failed = _failed(calls).to_numpy()
    # two failed calls equal each other where the first equal call and the error text are the same
    texts = np.where(failed, text_codes(calls["error"]) + 1, 0).astype(np.uint64)
    errors = np.empty(calls.height, np.int64)
    first_equal(offsets, np.where(failed & known, names, -1), same.astype(np.uint64), texts, errors)
    outcome = np.where(failed, 1, np.where(calls["status"].fill_null("ok") == "ok", 0, 2)).astype(np.int8)
    out = {name: np.zeros(n, np.int32) for name in _COUNTS[3:]}
    longest_runs(offsets, same, out["longest_loop"], out["oscillation"])
    count_repeats(
        offsets, same, names, outcome, errors,
        out["n_identical_repeats"], out["n_repeated_errors"], out["n_recovered_errors"],
    )  # fmt: skip
    return out


def text_codes(values: pl.Series) -> npt.NDArray[np.int64]:
    """A number for each distinct text, -1 for null; which number says nothing.

    Args:
        values: Strings with few distinct values.

    Returns:
        int64[n].

    Example:
        >>> a, b, c = text_codes(pl.Series(["x", None, "x"]))
        >>> bool(a == c), int(b)
        (True, -1)
    """
    if values.null_count() == len(values):
        return np.full(len(values), -1, np.int64)
    distinct = values.drop_nulls().unique()
    numbers = pl.Series(np.arange(len(distinct)), dtype=pl.Int64)
    return np.asarray(values.replace_strict(distinct, numbers, default=-1, return_dtype=pl.Int64).to_numpy())
