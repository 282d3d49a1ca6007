"""Everything a run says about one trace: what was called against what was expected, findings, scores, route."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracelens.errors import UsageError, did_you_mean, shown_type
from tracelens.tables import PAIRINGS

if TYPE_CHECKING:
    from tracelens.store import Run

Row = dict[str, Any]


@dataclass(frozen=True)
class Aligned:
    """One row of the alignment.

    Attributes:
        pair: The row of `pairs`.
        call: The row of `calls`, None for a missing call.
        expected: The row of `expected`, None for an extra call.
        diffs: The rows of `argument_diffs` of the pair.
    """

    pair: Row
    call: Row | None
    expected: Row | None
    diffs: tuple[Row, ...] = ()


@dataclass(frozen=True)
class TraceRows:
    """The rows of all tables about one trace.

    Attributes:
        trace: The row of `traces`.
        calls: All recorded calls, in order.
        expected: The expected calls of the reference that counted, in order.
        alignments: Rows by pairing, for the pairings the suite kept.
        findings: Errors and notes.
        steps: The golden trace.
        states: Results of state checks.
    """

    trace: Row
    calls: tuple[Row, ...]
    expected: tuple[Row, ...]
    alignments: dict[str, tuple[Aligned, ...]] = field(repr=False)
    findings: tuple[Row, ...] = ()
    steps: tuple[Row, ...] = ()
    states: tuple[Row, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values (times and dates as they are)."""
        pairs = [row.pair for rows in self.alignments.values() for row in rows]
        diffs = [diff for rows in self.alignments.values() for row in rows for diff in row.diffs]
        return {
            "trace": self.trace,
            "calls": list(self.calls),
            "expected": list(self.expected),
            "pairs": pairs,
            "argument_diffs": diffs,
            "findings": list(self.findings),
            "steps": list(self.steps),
            "state_results": list(self.states),
        }


def gather(run: Run, trace_id: Any) -> dict[str, Any]:
    """Gather what a run says about one trace.

    Args:
        run: The run.
        trace_id: The trace: its id, also as a whole number.

    Returns:
        The arguments of `TraceRows`.

    Raises:
        UsageError: That is no id, or the run has no such trace.
    """
    import polars as pl

    from tracelens.rungs.safety import mask

    if isinstance(trace_id, int) and not isinstance(trace_id, bool):
        trace_id = str(trace_id)  # ids are compared as text, and tables may well hold numbers
    if not isinstance(trace_id, str):
        raise UsageError(f"{shown_type(trace_id)} is no id of a trace", hint="give the text of the column trace_id")

    def rows(table: str) -> tuple[Row, ...]:
        return tuple(run.scan(table).filter(pl.col("trace_id") == trace_id).collect().to_dicts())

    traces = rows("traces")
    if not traces:  # an id that holds a secret is stored with its mask
        trace_id = mask(trace_id)
        traces = rows("traces")
    if not traces:
        known = run.read("traces", ["trace_id"])["trace_id"].head(10_000).to_list()
        hint = did_you_mean(trace_id, known) or f"the first trace is {known[0]!r}" * bool(known)
        raise UsageError(f"no trace {trace_id!r}", where=str(run.folder), hint=hint)
    calls = rows("calls")
    expected = tuple(row for row in rows("expected") if row["chosen"] and row["expected_index"] >= 0)
    alignments = dict(_alignments(rows("pairs"), rows("argument_diffs"), calls, expected))
    return {
        "trace": traces[0],
        "calls": calls,
        "expected": expected,
        "alignments": alignments,
        "findings": rows("findings"),
        "steps": rows("steps"),
        "states": rows("state_results"),
    }


def _alignments(
    pairs: tuple[Row, ...], diffs: tuple[Row, ...], calls: tuple[Row, ...], expected: tuple[Row, ...]
) -> Iterator[tuple[str, tuple[Aligned, ...]]]:
    """Put pairs, their calls and their differences together, the optimal pairing first."""
    by_call = {row["call_index"]: row for row in calls}
    by_expected = {row["expected_index"]: row for row in expected}
    for pairing in reversed(PAIRINGS):
        of = [row for row in pairs if row["pairing"] == pairing]
        if of:
            yield (
                pairing,
                tuple(
                    Aligned(
                        row,
                        by_call.get(row["call_index"]),
                        by_expected.get(row["expected_index"]),
                        tuple(each for each in diffs if _belongs(each, row)),
                    )
                    for row in sorted(of, key=_reading_order)
                ),
            )


def _belongs(diff: Row, pair: Row) -> bool:
    keys = ("pairing", "call_index", "expected_index")
    return all(diff[key] == pair[key] for key in keys)


def _reading_order(pair: Row) -> tuple[float, int]:
    """By actual call; a missing call just before the place where it was expected."""
    call, expected = pair["call_index"], pair["expected_index"]
    return (call, 1) if call is not None else (expected - 0.5, 0)
