"""What a source is: a format's name, how it recognises its files, how it cuts them into blocks, what a block holds.

``blocks`` is cheap and in order; ``parse`` is the heavy part, a pure function of a block that any thread may run.
Every batch holds whole traces. A format whose traces are spread over records gathers them in ``blocks``: see
`tracelens.sources.gather`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import EXPECTED, SPANS, Batch, Remark, empty, numbers
from tracelens.projection import Projected, Projection, run
from tracelens.sources.reading.digests import digests_of
from tracelens.sources.reading.files import File
from tracelens.sources.reading.io import BLOCK, Block, Layout, read_blocks
from tracelens.sources.references import matcher_faults
from tracelens.sources.rejects import Rejects


@dataclass(frozen=True, slots=True)
class Sniff:
    """How sure a source is that a file is its own.

    Attributes:
        score: 0 (no) to 100 (nothing else looks like this).
        why: What was found or missed, as part of a sentence.
    """

    score: int
    why: str


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file, for recognising it.

    Attributes:
        file: The file.
        layout: How the file seems to hold its records.
        records: The first records, as `json.loads` reads them; broken ones are left out.
        start: Its first bytes.
    """

    file: File
    layout: Layout
    records: Sequence[Any]
    start: bytes


@dataclass(frozen=True, slots=True)
class Options:
    """How to read.

    Attributes:
        block_size: Bytes of a block of text, or rows (a hundredth of it) of a block of a table.
        layouts: Layout of each file by name, as found when the files were recognised.
        alone: Whether the input is a single file.
    """

    block_size: int = BLOCK
    layouts: dict[str, Layout] = field(default_factory=dict)
    alone: bool = True


class Source(Protocol):
    """One format.

    Attributes:
        name: What ``format=`` calls it.
        title: One line for lists of formats.
        seen: Whether it was tried on real data; false: built from the format's description alone.
        sample: File in ``tracelens/sources/samples`` that shows it.
    """

    name: str
    title: str
    seen: bool
    sample: str

    def sniff(self, head: Head) -> Sniff:
        """Whether the file is of this format."""
        ...

    def blocks(self, inputs: Sequence[File], options: Options) -> Iterator[Any]:
        """The input as blocks of whole traces, in order."""
        ...

    def parse(self, block: Any) -> Batch:
        """The traces of a block; pure, and safe to run in several threads."""
        ...


Fault = tuple[npt.NDArray[np.bool_], str]
"""Which rows of the outermost table cannot be a trace, and why."""


@dataclass(frozen=True, slots=True)
class Records:
    """The good records of a block, projected.

    Attributes:
        block: The block.
        found: The rows; row i of the outermost table is record ``number[i]`` of the block.
        lines: int64[good], the line of the file each starts on.
        digests: uint64[good, 2].
    """

    block: Block
    found: Projected
    number: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]
    digests: npt.NDArray[np.uint64]

    def place(self, row: int) -> str:
        """Where a record stands: ``file:line``, or ``file[index]`` for an element of an array."""
        block = self.block
        if block.layout == "array":
            return f"{block.source}[{block.first + self.number[row]}]"
        return f"{block.source}:{self.lines[row]}"


@dataclass(frozen=True, slots=True)
class Tables:
    """What a format makes of good records: see `tracelens.columns`."""

    traces: pa.Table
    calls: pa.Table
    expected: pa.Table = field(default_factory=lambda: empty(EXPECTED))
    notes: tuple[str, ...] = ()
    remarks: Sequence[Remark] = ()
    spans: pa.Table = field(default_factory=lambda: empty(SPANS))
    n_merged: int = 0


class JsonSource(ABC):
    """A format whose record is a whole trace: a declaration, what makes a record bad, and how columns combine."""

    name: str
    title: str
    seen: bool = True
    sample: str
    projection: Projection
    text_is_given: bool = False

    @abstractmethod
    def sniff(self, head: Head) -> Sniff:
        """Whether the file is of this format."""

    @abstractmethod
    def faults(self, found: Projected) -> Iterator[Fault]:
        """Reasons for which records that are good JSON are no trace of this format; the first one counts."""

    @abstractmethod
    def tables(self, records: Records) -> Tables:
        """The tables of the good records."""

    def blocks(self, inputs: Sequence[File], options: Options) -> Iterator[Block]:
        """The files' records as blocks, in order."""
        for file in inputs:
            layout = options.layouts.get(file.name, "lines")
            yield from read_blocks(file, layout, size=options.block_size, alone=options.alone)

    def parse(self, block: Block) -> Batch:
        """The traces of a block."""
        marks = block.records()
        found = run(self.projection, block.data, marks.starts, marks.ends)
        rejects = Rejects(block, marks)
        rejects.add_broken(found)
        found = self._without_faults(found, rejects)
        digests = digests_of(block.data, marks.starts, marks.ends)

        def made_of(found: Projected) -> Tables:
            number = found.top.parent.astype(np.int64)
            return self.tables(Records(block, found, number, marks.lines[number], digests[number]))

        made = made_of(found)
        faults, notes = matcher_faults(made.expected["name"], made.expected["arguments"])
        if faults:
            made = made_of(_without_traces(found, made.expected, faults, rejects))
        blank = int(np.count_nonzero(found.errors[:, 0] < 0))
        n_records = marks.starts.size + (block.failure is not None)
        return Batch(
            made.traces,
            made.calls,
            made.expected,
            rejects.table(),
            n_records,
            blank,
            (*made.notes, *notes),
            digests,
            tuple(made.remarks),
            spans=made.spans,
            text_is_given=self.text_is_given,
        ).checked()

    def _without_faults(self, found: Projected, rejects: Rejects) -> Projected:
        top = found.top
        bad = np.zeros(top.n, np.bool_)
        for mask, why in self.faults(found):
            for row in np.flatnonzero(mask & ~bad):
                rejects.add(int(top.parent[row]), why)
            bad |= mask
        return found.keeping(~bad) if bad.any() else found


def _without_traces(found: Projected, expected: pa.Table, faults: dict[int, str], rejects: Rejects) -> Projected:
    """The records but those with an expected call that cannot be used, which are rejected."""
    bad = np.zeros(found.top.n, np.bool_)
    trace = numbers(expected["trace"])
    for row, why in faults.items():
        if not bad[trace[row]]:
            rejects.add(int(found.top.parent[trace[row]]), why)
        bad[trace[row]] = True
    return found.keeping(~bad)


def some_inside(found: Projected, inner: str, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which outermost rows have, anywhere inside, a row of the table ``inner`` for which ``mask`` is true."""
    names = list(found.tables)
    rows: npt.NDArray[np.integer[Any]] = np.flatnonzero(mask)
    number = names.index(inner)
    while number > 0:
        rows = found.tables[names[number]].parent[rows]
        number = found.tables[names[number]].table.parent
    out = np.zeros(found.top.n, np.bool_)
    out[rows] = True
    return out
