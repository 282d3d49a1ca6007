"""Formats whose record is a document with several traces in it, and what stands beside them.

    class Sims(NestedSource):
        name, title, sample = "sims", "…", "sims.json"
        inner = "run"                                             # the table whose rows are the traces
        shared = ("tasks",)                                       # columns of the document that belong to every trace
        projection = Projection(Row("line", capture={"tasks": "tasks"}, rows=[
            Row("run", "runs[*]", capture={"id": "id"}, rows=[…]),
        ]))

        def sniff(self, head): …
        def tables(self, records: Nested) -> Tables: …

``tables`` gets the traces as if each were a record of its own: ``records.found`` begins with the table ``inner``, and
``records.document`` and ``records.of`` lead to what stands around a trace. Each trace counts as a record; so does a
document without any. A trace's digest covers its own bytes and those of the shared columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import Batch, numbers
from tracelens.projection import Found, Projected, Projection, run
from tracelens.projection.declare import Table
from tracelens.sources.base import Fault, Head, Options, Records, Sniff, Tables
from tracelens.sources.reading.digests import digests_of
from tracelens.sources.reading.files import File
from tracelens.sources.reading.io import Block, Marks, read_blocks
from tracelens.sources.references import matcher_faults
from tracelens.sources.rejects import Rejects

I64 = npt.NDArray[np.int64]
B1 = npt.NDArray[np.bool_]

NO_TRACE = "the document holds no trace"
MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number, by which digests that are put together are told apart by their order."""


@dataclass(frozen=True, slots=True)
class Nested(Records):
    """The good traces of a block.

    Attributes:
        document: The rows of the documents.
        beside: All tables of the documents, with the traces in them.
        of: int64[traces], the document of each trace.
    """

    document: Found
    beside: Projected
    of: I64


class NestedSource(ABC):
    """A format whose documents hold several traces."""

    name: str
    title: str
    seen: bool = True
    sample: str
    projection: Projection
    inner: ClassVar[str]
    shared: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def sniff(self, head: Head) -> Sniff:
        """Whether the file is of this format."""

    @abstractmethod
    def tables(self, records: Nested) -> Tables:
        """The tables of the good traces."""

    def faults(self, found: Projected, whole: Projected) -> Iterator[Fault]:  # noqa: ARG002  for those that need it
        """Reasons for which a trace cannot be used; the first one counts.

        Args:
            found: The traces: rows of the first table, those of the table ``inner`` of ``whole``.
            whole: The documents.
        """
        yield from ()

    def document_faults(self, found: Projected) -> Iterator[Fault]:  # noqa: ARG002  for those that need it
        """Reasons for which a whole document cannot be used; the first one counts."""
        yield from ()

    def blocks(self, inputs: Sequence[File], options: Options) -> Iterator[Block]:
        """The files' documents as blocks, in order."""
        for file in inputs:
            layout = options.layouts.get(file.name, "document")
            yield from read_blocks(file, layout, size=options.block_size, alone=options.alone)

    def parse(self, block: Block) -> Batch:
        """The traces of a block."""
        marks = block.records()
        found = run(self.projection, block.data, marks.starts, marks.ends)
        rejects = Rejects(block, marks)
        rejects.add_broken(found)
        found = self._good_documents(found, rejects)
        bad = rejects.table()
        inner = found[self.inner]
        every = _marks_of(block, marks, found, inner)
        lost = Rejects(replace(block, failure=None), every)
        digests = self._digests(block, found, inner, every)
        below = without_above(found, self.inner)
        below = _without_faults(below, self.faults(below, found), lost)

        def made_of(some: Projected) -> Tables:
            number = some.top.parent.astype(np.int64)
            of = inner.parent[number].astype(np.int64)
            return self.tables(Nested(block, some, number, every.lines[number], digests[number], found.top, found, of))

        made = made_of(below)
        faults, notes = matcher_faults(made.expected["name"], made.expected["arguments"])
        if faults:
            below = _without_expected(below, made.expected, faults, lost)
            made = made_of(below)
        blank = int(np.count_nonzero(found.errors[:, 0] < 0))
        return Batch(
            made.traces,
            made.calls,
            made.expected,
            pa.concat_tables([bad, lost.table()]),
            inner.n + bad.num_rows + blank,
            blank,
            (*made.notes, *notes),
            digests,
            tuple(made.remarks),
            spans=made.spans,
        ).checked()

    def _good_documents(self, found: Projected, rejects: Rejects) -> Projected:
        top = found.top
        counts = np.bincount(found[self.inner].parent, minlength=top.n)
        bad = np.zeros(top.n, np.bool_)
        for mask, why in (*self.document_faults(found), (counts == 0, NO_TRACE)):
            for row in np.flatnonzero(mask & ~bad):
                rejects.add(int(top.parent[row]), why)
            bad |= mask
        return found.keeping(~bad) if bad.any() else found

    def _digests(self, block: Block, found: Projected, inner: Found, marks: Marks) -> npt.NDArray[np.uint64]:
        """uint64[traces, 2]: the same in whatever block a trace comes."""
        digests = digests_of(block.data, marks.starts, marks.ends)
        around = np.zeros((found.top.n, 2), np.uint64)
        for name in self.shared:
            cell = found.top.cells(name)
            there = cell.kind > 0  # the place of a cell that is not there is anything
            starts, ends = (np.where(there, at, 0).astype(np.int64) for at in (cell.start, cell.end))
            around = around * MIX + digests_of(block.data, starts, ends) * there[:, None].astype(np.uint64)
        return digests + around[inner.parent] * MIX if self.shared else digests


def _marks_of(block: Block, marks: Marks, found: Projected, inner: Found) -> Marks:
    """Where the traces of a block stand, and their lines."""
    cell = inner.cells("@")
    starts, ends = cell.start.astype(np.int64), cell.end.astype(np.int64)
    document = found.top.parent[inner.parent].astype(np.int64)
    breaks = np.flatnonzero(block.data[: block.size] == ord("\n"))
    passed = np.searchsorted(breaks, starts) - np.searchsorted(breaks, marks.starts[document])
    return Marks(starts, ends, marks.lines[document] + passed)


def without_above(found: Projected, inner: str) -> Projected:
    """The table ``inner`` as the outermost one, and those inside it; the parents of its rows are their own numbers."""
    names = list(found.tables)
    number = {name: table.table.parent for name, table in found.tables.items()}
    kept = {inner: found[inner]}
    for name, rows in found.tables.items():
        if name != inner and number[name] >= 0 and names[number[name]] in kept:
            kept[name] = rows
    place = {names.index(name): k for k, name in enumerate(kept)}
    out = {}
    for name, rows in kept.items():
        table = rows.table
        parent = place.get(table.parent, -1) if name != inner else -1
        moved = Table(table.name, parent, table.first, table.columns)
        above = np.arange(rows.n, dtype=np.int32) if name == inner else rows.parent
        out[name] = Found(rows.data, moved, above, rows.columns)
    return Projected(out, found.errors)


def _without_faults(found: Projected, faults: Iterator[Fault], rejects: Rejects) -> Projected:
    bad = np.zeros(found.top.n, np.bool_)
    for mask, why in faults:
        for row in np.flatnonzero(mask & ~bad):
            rejects.add(int(row), why)
        bad |= mask
    return found.keeping(~bad) if bad.any() else found


def _without_expected(found: Projected, expected: pa.Table, faults: Mapping[int, str], rejects: Rejects) -> Projected:
    bad = np.zeros(found.top.n, np.bool_)
    trace = numbers(expected["trace"])
    for row, why in faults.items():
        if not bad[trace[row]]:
            rejects.add(int(found.top.parent[trace[row]]), why)
        bad[trace[row]] = True
    return found.keeping(~bad)
