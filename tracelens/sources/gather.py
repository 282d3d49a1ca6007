"""Formats whose traces are spread over records: the records of a trace may lie anywhere in the files.

A record may be a span, a run, an observation or a line of a session. A format of that kind is a `GatheredSource`:

    class Runs(GatheredSource):
        name, title, seen, sample = "runs", "…: a run a line", True, "runs.jsonl"
        keys = Projection(Row("line", capture={"trace": "trace_id"}))           # first pass: whose record is it?
        projection = Projection(Row("line", capture={"id": "id", …}))           # second pass: all that is wanted

        def sniff(self, head): …
        def tables(self, pieces: Pieces) -> Tables: …

``blocks`` reads the files once to find the trace of each record (column ``trace`` of ``keys``: text or a number), then
gives blocks of whole traces, in the order in which they first appear; within a trace records stand in the order of
files and lines. A record without a key is rejected. What ``tables`` gets is `Pieces`: a row of the outermost table for
each record, ``pieces.trace[row]`` (ascending) is the trace's number in the block and ``pieces.columns()`` the columns
of `tracelens.columns.TRACES` that are known already (id, place, digest). Records of a trace whose bytes are equal are one:
they are dropped before ``tables`` and counted as merged. What else a format merges (a later version of the same span)
it counts in ``Tables.n_merged``. So records in = records of traces + merged + blank + rejects, whatever the blocks.

Hooks, where a format needs them:

- ``trace_keys(found, block)``: the key of each record in the first pass. A file that is one trace returns the file's
  name for all: ``pa.repeat(pa.scalar(block.source, TEXT), found.top.n)``; many small files then share a batch.
- ``faults(found)``: records that are JSON and cannot be used, as in `tracelens.sources.base.JsonSource`; second pass.
- ``identified = True``: records have ids, and the format merges repeats itself.
- ``pieces_of(block)``: for records that hold parts of several traces, such as lines of spans: the parts, as
  `tracelens.sources.reading.index.Found`. A part may carry a label, for what stands around it.

Files hold JSON lines, one array, or one document (`tracelens.sources.reading.io.Layout`, found by the first bytes): a document
is one record. Compressed files are copied to a temporary file on the way, because they are read twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import CALLS, EXPECTED, REJECTS, TEXT, TRACES, Batch, empty, table, valid
from tracelens.groups import offsets_of
from tracelens.projection import NUMBER, STRING, Projected, Projection, run
from tracelens.sources.base import Fault, Head, Options, Sniff, Tables
from tracelens.sources.reading.digests import digests_of
from tracelens.sources.reading.files import File
from tracelens.sources.reading.index import Found, Gathered, Index
from tracelens.sources.reading.io import Block, read_blocks
from tracelens.sources.rejects import SHOWN, Rejects
from tracelens.threads import default_threads, ordered_map

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

HELD = 1 << 20
"""Records of the first pass whose digests are held before they are handed on."""

NO_KEY = "the record does not say which trace it belongs to"


@dataclass(frozen=True, slots=True)
class Pieces:
    """The good records (or parts of records) of whole traces, projected.

    Attributes:
        block: The block.
        found: The rows; row i of the outermost table is piece ``number[i]`` of the block.
        number: int64[rows].
        trace: int32[rows], number of the trace in the block, ascending.
        keys: str[traces].
        digests: uint64[rows, 2].
    """

    block: Gathered
    found: Projected
    number: I64
    trace: npt.NDArray[np.int32]
    keys: pa.LargeStringArray
    digests: U64

    @property
    def n_traces(self) -> int:
        """The number of traces."""
        return len(self.keys)

    @property
    def first(self) -> I64:
        """int64[traces + 1]: the first row of each trace."""
        return offsets_of(np.bincount(self.trace, minlength=self.n_traces))

    def place(self, row: int) -> str:
        """Where a record stands: ``file:line``."""
        return self.block.place(int(self.number[row]))

    def columns(self) -> dict[str, Any]:
        """Number, id, source, line and digest of each trace: columns for `tracelens.columns.TRACES`.

        The digest does not depend on the order of the records.
        """
        first = self.first[:-1]
        at = self.number[first]
        files = pa.array(self.block.files, TEXT)
        return {
            "trace": np.arange(self.n_traces, dtype=np.uint32),
            "trace_id": self.keys,
            "id_given": np.ones(self.n_traces, np.bool_),
            "has_calls": np.ones(self.n_traces, np.bool_),
            "source": files.take(pa.array(self.block.file[at])),
            "line": self.block.line[at],
            "record_hi": np.add.reduceat(self.digests[:, 0], first) if first.size else first.astype(np.uint64),
            "record_lo": np.add.reduceat(self.digests[:, 1], first) if first.size else first.astype(np.uint64),
        }


class GatheredSource(ABC):
    """A format whose traces are spread over records."""

    merges = True
    """Whether records of a trace that are equal byte for byte are one; not where records have neither time nor id."""

    gathers = True
    """That all files of the format are read together: a trace may lie in several of them."""

    identified = False
    """That records have an id of their own, in the column ``id``, by which the format itself merges those that come
    again: their bytes are not compared then."""

    name: str
    title: str
    seen: bool = True
    sample: str
    keys: Projection
    projection: Projection

    @abstractmethod
    def sniff(self, head: Head) -> Sniff:
        """Whether the file is of this format."""

    @abstractmethod
    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole traces."""

    def trace_keys(self, found: Projected, block: Block) -> pa.LargeStringArray:  # noqa: ARG002  for those that need it
        """The key of the trace of each record; null where there is none."""
        return found.top.text("trace", STRING, NUMBER)

    def faults(self, found: Projected) -> Iterator[Fault]:  # noqa: ARG002  for those that need it
        """Reasons for which records that are good JSON cannot be used; the first one counts."""
        yield from ()

    def pieces_of(self, block: Block) -> Seen:
        """The pieces of traces in a block, and what is no piece."""
        marks = block.records()
        found = run(self.keys, block.data, marks.starts, marks.ends)
        rejects = Rejects(block, marks)
        rejects.add_broken(found)
        keys = self.trace_keys(found, block)
        record = found.top.parent.astype(np.int64)
        good = valid(keys)
        for row in np.flatnonzero(~good):
            rejects.add(int(record[row]), NO_KEY)
        record = record[good]
        label = np.zeros(record.size, np.int32)
        pieces = Found(
            keys.filter(pa.array(good)), marks.starts[record], marks.ends[record], marks.lines[record], label
        )
        blank = int(np.count_nonzero(found.errors[:, 0] < 0))
        return Seen(pieces, rejects.table(), blank, digests_of(block.data, marks.starts, marks.ends))

    def blocks(self, inputs: Sequence[File], options: Options) -> Iterator[Batch | Gathered]:
        """What is no part of a trace, then the traces."""
        index = Index(inputs)
        rest = _Rest()

        def look(item: tuple[int, Block]) -> tuple[int, Block, Seen]:
            return *item, self.pieces_of(item[1])

        with closing(index):
            for number, block, seen in ordered_map(look, _every(index, options), default_threads()):
                index.enter(number, block, seen.pieces)
                rest.add(seen)
                if rest.full:
                    yield rest.batch()
            yield rest.batch()
            yield from index.blocks(options.block_size)

    def parse(self, block: Batch | Gathered) -> Batch:
        """The traces of a block."""
        if isinstance(block, Batch):
            return block
        digests = np.zeros((0, 2), np.uint64)
        if self.identified:
            once = np.arange(block.starts.size)
        else:
            digests = digests_of(block.data, block.starts, block.ends)
            once = _once(block.trace, digests) if self.merges else np.arange(block.starts.size)
        found = run(self.projection, block.data, block.starts[once], block.ends[once])
        bad = np.zeros(found.top.n, np.bool_)
        rejected: list[tuple[int, str]] = []
        for mask, why in self.faults(found):
            rejected += [(int(once[found.top.parent[row]]), why) for row in np.flatnonzero(mask & ~bad)]
            bad |= mask
        found = found.keeping(~bad) if bad.any() else found
        number = once[found.top.parent]
        kept, trace = np.unique(block.trace[number], return_inverse=True)
        keys = block.keys.take(pa.array(kept))
        if self.identified:
            cell = found.top.cells("id")
            start, end = (np.where(cell.raw > 0, place, 0).astype(np.int64) for place in (cell.start, cell.end))
            digests = digests_of(block.data, start, end)
        else:
            digests = digests[number]
        made = self.tables(Pieces(block, found, number, trace.astype(np.int32), keys, digests))
        return Batch(
            made.traces,
            made.calls,
            made.expected,
            _rejected(block, rejected),
            block.starts.size,
            notes=made.notes,
            remarks=tuple(made.remarks),
            spans=made.spans,
            n_merged=block.starts.size - once.size + made.n_merged,
        ).checked()


@dataclass(frozen=True, slots=True)
class Seen:
    """What the first pass found in a block.

    Attributes:
        pieces: Pieces of traces.
        rejects: Records that cannot be read.
        blank: How many records are blank.
        digests: uint64[records, 2]: of every record, whatever it is.
    """

    pieces: Found
    rejects: pa.Table
    blank: int
    digests: U64


class _Rest:
    """What is no part of a trace: rejects, blank lines, and the digests of all records."""

    def __init__(self) -> None:
        self.rejects = [empty(REJECTS)]
        self.digests = [np.zeros((0, 2), np.uint64)]
        self.blank = self.held = 0

    def add(self, seen: Seen) -> None:
        self.rejects.append(seen.rejects)
        self.digests.append(seen.digests)
        self.blank += seen.blank
        self.held += len(seen.digests) + 64 * seen.rejects.num_rows

    @property
    def full(self) -> bool:
        """Whether it should be handed on."""
        return self.held >= HELD

    def batch(self) -> Batch:
        """All of it as a batch without traces; nothing is left."""
        rejects = pa.concat_tables(self.rejects)
        batch = Batch(
            empty(TRACES),
            empty(CALLS),
            empty(EXPECTED),
            rejects,
            rejects.num_rows + self.blank,
            self.blank,
            records=np.concatenate(self.digests),
        )
        self.__init__()  # type: ignore[misc]
        return batch


def _every(index: Index, options: Options) -> Iterator[tuple[int, Block]]:
    """The blocks of all files with the file's number."""
    for number, file in enumerate(index.files):
        layout = options.layouts.get(file.name, "lines")
        stream = index.stream(number)
        for block in read_blocks(file, layout, size=options.block_size, alone=options.alone, stream=stream):
            yield number, block


def _once(trace: npt.NDArray[np.int32], digests: U64) -> I64:
    """int64: the pieces without those that repeat an earlier one of their trace, in order."""
    order = np.lexsort((digests[:, 1], digests[:, 0], trace))
    same = (trace[order][1:] == trace[order][:-1]) & (digests[order][1:] == digests[order][:-1]).all(axis=1)
    return np.sort(order[np.concatenate([[True], ~same])]) if order.size else order


def _rejected(block: Gathered, found: list[tuple[int, str]]) -> pa.Table:
    """The rejects of the second pass."""
    rows = sorted(found)
    at = [piece for piece, _ in rows]
    texts = [block.data[block.starts[k] : min(block.ends[k], block.starts[k] + 4 * SHOWN)].tobytes() for k in at]
    return table(
        REJECTS,
        len(rows),
        source=[block.files[block.file[k]] for k in at],
        line=block.line[at],
        offset=block.offset[at],
        reason=[why for _, why in rows],
        text=[text.decode("utf-8", "replace")[:SHOWN] for text in texts],
    )
