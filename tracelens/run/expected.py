"""The expected side of a batch: inline references and the suite's, as one list of calls with units over it.

A unit is one trace held against one reference. Cases of the suite stand in the list once, however many trials a
batch has of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens import columns
from tracelens.columns import Batch
from tracelens.groups import offsets_of
from tracelens.suite.references import References

I64 = npt.NDArray[np.int64]
CALL = ("name", "arguments", "arguments_form")


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected calls of a batch and the units that refer to them.

    Attributes:
        calls: Table ``name, arguments, arguments_form`` of all expected calls.
        trace: int64[units], trace of each unit, ascending.
        reference: int64[units], index of the reference within the trace.
        first: int64[units], first row of ``calls``.
        count: int64[units], number of expected calls.
        case: int64[traces], row of the suite's cases, -1 where the trace has no case there.
        from_suite: bool[traces], whether the trace's references come from the suite.
    """

    calls: pa.Table
    trace: I64
    reference: I64
    first: I64
    count: I64
    case: I64
    from_suite: npt.NDArray[np.bool_]


class CaseIndex:
    """The suite's references, ready to be looked up by case."""

    def __init__(self, references: References) -> None:
        self.cases = references.cases
        self.calls = references.expected
        self.ids = columns.one_chunk(references.cases["case_id"])
        n = len(self.ids)
        self.n_references = columns.numbers(references.cases["n_references"], default=-1).astype(np.int64)
        rows = self.calls.num_rows
        case = (
            np.asarray(pc.index_in(self.calls["case_id"], self.ids).to_numpy(), np.int64)
            if rows
            else np.zeros(0, np.int64)
        )
        slots = offsets_of(np.maximum(self.n_references, 0))
        slot = slots[case] + columns.numbers(self.calls["reference_index"]).astype(np.int64)
        self.slots = slots
        self.slot_first = offsets_of(np.bincount(slot, minlength=int(slots[-1])).astype(np.int64))
        self.case_first = self.slot_first[slots] if n else np.zeros(1, np.int64)

    def rows_of(self, case_ids: pa.ChunkedArray) -> I64:
        """int64[n]: the row of each case id, -1 where it is null or unknown."""
        if len(self.ids) == 0:
            return np.full(len(case_ids), -1, np.int64)
        return columns.numbers(pc.index_in(case_ids, self.ids, skip_nulls=True), default=-1).astype(np.int64)


def expected_of(batch: Batch, index: CaseIndex) -> Expected:
    """Lay out the expected side of a batch.

    An inline reference comes before the suite's. A case without references in the suite counts as none.
    """
    inline = columns.numbers(batch.traces["n_references"], default=-1).astype(np.int64)
    case = index.rows_of(batch.traces["case_id"])
    from_suite = (inline < 0) & (case >= 0)
    from_suite[from_suite] = index.n_references[case[from_suite]] > 0
    n_references = np.where(
        from_suite, index.n_references[np.maximum(case, 0)] if len(index.ids) else 0, np.maximum(inline, 0)
    )
    trace = np.repeat(np.arange(inline.size), n_references)
    unit_first = offsets_of(n_references)
    reference = np.arange(trace.size) - unit_first[:-1][trace]
    first, count = np.zeros(trace.size, np.int64), np.zeros(trace.size, np.int64)
    _fill_inline(batch, unit_first, trace.size, first, count)
    rows = _fill_from_suite(index, case, from_suite, trace, reference, batch.expected.num_rows, first, count)
    calls = batch.expected.select(CALL)
    if rows.size:
        calls = pa.concat_tables([calls, index.calls.select(CALL).take(pa.array(rows)).cast(calls.schema)])
    return Expected(calls.combine_chunks(), trace, reference, first, count, case, from_suite)


def _fill_inline(batch: Batch, unit_first: I64, units: int, first: I64, count: I64) -> None:
    """Where the inline references' calls stand: they are in the order of units already."""
    rows = batch.expected
    if rows.num_rows == 0:
        return
    unit = unit_first[columns.numbers(rows["trace"]).astype(np.int64)] + columns.numbers(rows["reference_index"])
    counted = np.bincount(unit.astype(np.int64), minlength=units).astype(np.int64)
    count += counted
    first += offsets_of(counted)[:-1]


def _fill_from_suite(
    index: CaseIndex,
    case: I64,
    from_suite: npt.NDArray[np.bool_],
    trace: I64,
    reference: I64,
    offset: int,
    first: I64,
    count: I64,
) -> I64:
    """Where the suite's references stand behind the inline ones; returns the rows of the suite's calls to append."""
    units = np.flatnonzero(from_suite[trace])
    if units.size == 0:
        return np.zeros(0, np.int64)
    cases, which = np.unique(case[trace[units]], return_inverse=True)
    sizes = index.case_first[cases + 1] - index.case_first[cases]
    moved = offsets_of(sizes)
    slot = index.slots[case[trace[units]]] + reference[units]
    first[units] = offset + moved[which] + index.slot_first[slot] - index.case_first[case[trace[units]]]
    count[units] = index.slot_first[slot + 1] - index.slot_first[slot]
    return np.repeat(index.case_first[cases] - moved[:-1], sizes) + np.arange(int(moved[-1]))
