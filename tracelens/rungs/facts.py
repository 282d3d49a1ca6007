"""What several rungs have to know of calls: whether one failed, whether its arguments are known, how long they took."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

UNCAPTURED = ("not_captured", "truncated")
"""Argument states of which nobody knows the arguments."""


def nothing(name: str, dtype: type[pl.DataType], n: int) -> pl.Series:
    """A column of n nulls.

    Example:
        >>> nothing("state_ok", pl.Boolean, 2).to_list()
        [None, None]
    """
    return pl.Series(name, [None], dtype=dtype).new_from_index(0, n)


def failed() -> pl.Expr:
    """Whether a call ended in an error: its status says so, or it has no status and an error text.

    Example:
        >>> pl.DataFrame({"status": ["ok", None], "error": ["x", "x"]}).select(failed()).to_series().to_list()
        [False, True]
    """
    said = (pl.col("status") == "error").fill_null(value=False)
    return said | (pl.col("status").is_null() & pl.col("error").is_not_null())


def unknown_arguments() -> pl.Expr:
    """Whether the arguments of a call are not known, so that it equals no other call."""
    return pl.col("arguments_state").is_in(UNCAPTURED) | pl.col("digest_hi").is_null()


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
        return nothing("seconds", pl.Float64, traces.height)
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
    return numbered(values)[0]


def numbered(values: pl.Series) -> tuple[npt.NDArray[np.int64], list[str]]:
    """A number for each distinct text, -1 for null, and the texts by number.

    Args:
        values: Strings with few distinct values.

    Returns:
        int64[n], and the distinct texts.

    Example:
        >>> numbers, texts = numbered(pl.Series(["x", None, "y", "x"]))
        >>> numbers.tolist(), texts
        ([0, -1, 1, 0], ['x', 'y'])
    """
    if values.null_count() == len(values):
        return np.full(len(values), -1, np.int64), []
    encoded = values.cast(pl.String).to_arrow().dictionary_encode()
    numbers = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(numbers), encoded.dictionary.to_pylist()
