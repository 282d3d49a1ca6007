"""What a judge is given: traces that passed every rung, each whole, with secrets masked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracelens.rungs.safety import mask_series
from tracelens.store.replay import Following, frames

if TYPE_CHECKING:
    import polars as pl

    from tracelens.store import Run

_TRACE = ("trace_id", "case_id", "session_id", "agent", "final_answer")
_CALL = ("call_index", "tool", "agent", "depth", "status", "arguments", "result", "error")
_BATCH = 512


@dataclass(frozen=True)
class Item:
    """One trace for the judge.

    Attributes:
        custom_id: What an answer names it by: of run and trace, at most 64 letters, digits and hyphens.
        trace: ``trace_id``, ``case_id``, ``session_id``, ``agent``, ``final_answer``.
        questions: What is asked.
        calls: All recorded calls in order, each with what it returned.
        expected: The calls of the reference that counted.
    """

    custom_id: str
    trace: dict[str, Any]
    questions: tuple[str, ...]
    calls: list[dict[str, Any]] = field(repr=False)
    expected: list[dict[str, Any]] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "custom_id": self.custom_id,
            **self.trace,
            "questions": list(self.questions),
            "trajectory": self.calls,
            "expected": self.expected,
        }


def custom_id(run_id: str, trace_id: str) -> str:
    """What answers name a trace by: providers allow at most 64 letters, digits, hyphens and underscores.

    Example:
        >>> custom_id("7e1ebfbd7a6a6d1f", "t 1")
        '7e1ebfbd7a6a6d1f-c69f0dcd535359def01d5f51'
    """
    return f"{run_id}-{hashlib.sha256(trace_id.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def items(run: Run, skip: frozenset[str] = frozenset()) -> Iterator[Item]:
    """The traces of a run that a judge must look at, in stored order.

    Args:
        run: The run.
        skip: Ids of traces to leave out.

    Yields:
        Items; memory is set by the batch, not by the run.
    """
    questions = tuple(next(iter(run.read("runs", ["questions"])["questions"].to_list()), ()))
    calls, expected = Following(run, "calls"), Following(run, "expected")
    for part in frames(run, "traces", _BATCH):
        numbers = part.select("trace_id").with_row_index("trace")
        rows = part.with_row_index("trace")
        wanted = _wanted(rows, skip)
        of_calls, of_expected = calls.rows_of(numbers), expected.rows_of(numbers)
        if wanted:
            yield from _items(run.run_id, rows, wanted, of_calls, of_expected, questions)


def _wanted(rows: pl.DataFrame, skip: frozenset[str]) -> list[int]:
    import polars as pl

    judged = rows.filter(pl.col("route").cast(pl.String) == "judge").select("trace", "trace_id")
    return [number for number, trace_id in judged.iter_rows() if trace_id not in skip]


def _items(
    run_id: str,
    rows: pl.DataFrame,
    wanted: list[int],
    calls: pl.DataFrame,
    expected: pl.DataFrame,
    questions: tuple[str, ...],
) -> Iterator[Item]:
    """The items of a batch."""
    import polars as pl

    mine = pl.DataFrame({"trace": wanted}, schema={"trace": rows.schema["trace"]})
    chosen = expected.filter(pl.col("chosen"), pl.col("expected_index") >= 0)
    calls_by, expected_by = _by_trace(calls, mine, _CALL), _by_trace(chosen, mine, ("tool", "arguments"))
    traces = rows.join(mine, on="trace", how="semi", maintain_order="left")
    ids = [custom_id(run_id, trace_id) for trace_id in traces["trace_id"].to_list()]
    columns = [_masked(traces[name]).to_list() for name in _TRACE]
    for identity, number, *values in zip(ids, traces["trace"].to_list(), *columns, strict=True):
        trace = dict(zip(_TRACE, values, strict=True))
        yield Item(identity, trace, questions, calls_by.get(number, []), expected_by.get(number, []))


def _by_trace(rows: pl.DataFrame, mine: pl.DataFrame, columns: tuple[str, ...]) -> dict[int, list[dict[str, Any]]]:
    """Rows by number of their trace, without what is null."""
    found: dict[int, list[dict[str, Any]]] = {}
    some = rows.select("trace", *columns).join(mine, on="trace", how="semi", maintain_order="left")
    lists = [_masked(some[name]).to_list() for name in columns]
    for number, *values in zip(some["trace"].to_list(), *lists, strict=True):
        row = {name: value for name, value in zip(columns, values, strict=True) if value is not None}
        found.setdefault(number, []).append(row)
    return found


def _masked(values: pl.Series) -> pl.Series:
    """Texts with their secrets masked, also where the suite has no such pack: they leave the house."""
    import polars as pl

    return values if values.dtype.is_numeric() else mask_series(values.cast(pl.String))
