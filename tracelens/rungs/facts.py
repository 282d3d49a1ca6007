"""What several rungs have to know of calls: whether one failed, whether it equals another, how long they took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tracelens import columns
from tracelens.groups import group_offsets
from tracelens.kernels.loops import first_equal

B1 = npt.NDArray[np.bool_]

Numbered = tuple[npt.NDArray[np.integer], Sequence[str]]
"""A number for each of n texts, below zero for null, and the texts by number."""


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What several rungs ask of the calls of a batch, row by row, by trace and index.

    Attributes:
        trace: uint32[n].
        index: int32[n], position in its trace.
        offsets: int64[traces + 1], rows of trace t are ``offsets[t]`` to ``offsets[t + 1]``.
        tool: int32[n], number of its tool, below zero for none.
        names: Name of each tool.
        executed: bool[n], whether it ran.
        unstated: bool[n], without a status.
        failed: bool[n], whether it ended in an error: its status says so, or it has no status and an error text.
        succeeded: bool[n], whether it ran and did not fail.
        known: bool[n], whether its arguments are known, so that it may equal another call.
        same: int64[n], row of the first call of its trace with the same tool and arguments; its own where there is none.
    """

    trace: npt.NDArray[np.uint32]
    index: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    tool: npt.NDArray[np.int32]
    names: Sequence[str]
    executed: B1
    unstated: B1
    failed: B1
    succeeded: B1
    known: B1
    same: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls,
        calls: pa.Table,
        n_traces: int,
        tool: npt.NDArray[np.int32],
        names: Sequence[str],
        known: B1,
        digests: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
    ) -> CallFacts:
        """The facts of calls.

        Args:
            calls: One row per call: ``trace``, ``call_index``, ``status``, ``error``.
            n_traces: Number of traces.
            tool: int32[n].
            names: Name of each tool.
            known: bool[n], whether the arguments are known.
            digests: uint64[n] each, both halves of the digest of the arguments.
        """
        trace, index = columns.numbers(calls["trace"]), columns.numbers(calls["call_index"])
        ok, error, denied = (_is(calls["status"], status) for status in ("ok", "error", "denied"))
        unstated = ~columns.valid(calls["status"])
        failed = error | (unstated & columns.valid(calls["error"]))
        offsets, same = group_offsets(trace, n_traces), np.empty(trace.size, np.int64)
        first_equal(offsets, np.where(known, tool, -1).astype(np.int64), *digests, same)
        succeeded = (ok | unstated) & ~failed
        return cls(trace, index, offsets, tool, names, ~denied, unstated, failed, succeeded, known, same)

    def count(self, which: B1) -> npt.NDArray[np.int32]:
        """int32[traces], how many of these calls each trace has."""
        return np.bincount(self.trace[which], minlength=self.offsets.size - 1).astype(np.int32)

    def at(self, rows: npt.NDArray[np.integer]) -> dict[str, pl.Series]:
        """Columns of findings that say which calls are meant: ``trace``, ``call_index``, ``tool``."""
        tools = pl.Series([*self.names, None], dtype=pl.String)
        return {
            "trace": pl.Series(self.trace[rows]),
            "call_index": pl.Series(self.index[rows]),
            "tool": tools.gather(np.where(self.tool[rows] < 0, len(self.names), self.tool[rows])),
        }

    def of_tools(self, wanted: Callable[[str], bool]) -> B1:
        """bool[n], the calls of tools with such a name; a call without a name is none of them."""
        return np.array([*map(wanted, self.names), False])[self.tool]


def _is(statuses: pa.ChunkedArray, status: str) -> B1:
    """bool[n], which of the statuses are that one."""
    if statuses.null_count == len(statuses):
        return np.zeros(len(statuses), np.bool_)
    return np.asarray(columns.numbers(pc.equal(statuses, status), default=False))


def nothing(name: str, dtype: type[pl.DataType], n: int) -> pl.Series:
    """A column of n nulls.

    Example:
        >>> nothing("state_ok", pl.Boolean, 2).to_list()
        [None, None]
    """
    return pl.Series(name, [None], dtype=dtype).new_from_index(0, n)


def trace_seconds(calls: pa.Table, traces: pa.Table) -> pl.Series:
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
    if calls["started_at"].null_count == calls["duration_ms"].null_count == calls.num_rows:
        return nothing("seconds", pl.Float64, traces.num_rows)
    length = (pl.col("duration_ms").fill_nan(None).fill_null(0.0) * 1000).round().cast(pl.Int64).cast(pl.Duration("us"))
    timed = pl.DataFrame(calls.select(["trace", "started_at", "duration_ms"]))
    spans = timed.group_by("trace").agg(
        pl.col("started_at").min().alias("first"),
        (pl.col("started_at") + length).max().alias("last"),
        pl.when(pl.col("duration_ms").is_not_null().all())
        .then(length.dt.total_microseconds().cast(pl.Float64).sum())
        .alias("busy"),
    )
    started = pl.DataFrame(traces.select(["trace", "started_at"]))
    start = pl.min_horizontal("started_at", "first")
    took = (pl.col("last") - start).dt.total_microseconds().cast(pl.Float64)
    return (
        started.join(spans, on="trace", how="left", maintain_order="left")
        .select(pl.coalesce(took, pl.col("busy")) / 1e6)
        .to_series()
    )
