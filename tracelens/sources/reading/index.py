"""Where the pieces of every trace stand, and reading them back trace by trace.

The first pass over the files enters a few numbers for each piece; the second one reads back the bytes of whole traces,
in the order in which the traces first appeared. Memory is set by the index (about 36 bytes a piece) and by one block.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import PADDING, TEXT, numbers, one_chunk
from tracelens.errors import InputError
from tracelens.groups import offsets_of
from tracelens.sources.reading.files import File
from tracelens.sources.reading.io import LONGEST, Block, Reader, even, is_compressed, open_stream

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]

GAP = 1 << 10
"""Bytes between two pieces that are read rather than left out."""


class Found(NamedTuple):
    """The pieces of traces in a block.

    Attributes:
        key: str[n], what tells traces apart.
        start: int64[n], where each piece starts in the block's bytes.
        end: int64[n], where it ends.
        line: int64[n], line of the file.
        label: int32[n], number of the piece's label in ``labels``.
        labels: What stands around pieces and belongs to them; every piece has label 0 in most formats.
    """

    key: pa.LargeStringArray
    start: I64
    end: I64
    line: I64
    label: I32
    labels: Sequence[str] = ("",)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Whole traces, as pieces in the order of traces, and within a trace in the order of files and places.

    Attributes:
        data: uint8, padded.
        starts: int64[pieces], where each starts in ``data``.
        ends: int64[pieces].
        trace: int32[pieces], ascending: which of ``keys``.
        keys: str[traces].
        file: int32[pieces], which of ``files``.
        files: Names of all files of the input.
        line: int64[pieces], line of the file.
        offset: int64[pieces], offset in the (decompressed) file.
        label: int32[pieces], which of ``labels``.
        labels: See `Found`.
        alone: Whether the input is a single file.
    """

    data: npt.NDArray[np.uint8]
    starts: I64
    ends: I64
    trace: I32
    keys: pa.LargeStringArray
    file: I32
    files: Sequence[str]
    line: I64
    offset: I64
    label: I32
    labels: Sequence[str]
    alone: bool = True

    def place(self, piece: int) -> str:
        """Where a piece stands: ``file:line``."""
        return f"{self.files[self.file[piece]]}:{self.line[piece]}"


class _Entries(NamedTuple):
    """One number of each kind for every piece."""

    trace: I32
    file: I32
    start: I64
    size: I32
    line: I64
    label: I32


@dataclass(slots=True)
class Index:
    """The pieces found so far.

    Attributes:
        files: The files; compressed ones are read back from a temporary copy.
        keys: Number of each trace by key, in the order of first appearance.
        labels: Number of each label.
    """

    files: Sequence[File]
    keys: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    _parts: list[_Entries] = field(default_factory=list)
    _copies: dict[int, IO[bytes]] = field(default_factory=dict)

    def stream(self, number: int) -> Reader:
        """A file's bytes, which are copied to a temporary file on their way where the file is compressed."""
        path = self.files[number].path
        opened = open_stream(path)
        if not is_compressed(path):
            return opened
        copy = self._copies[number] = tempfile.NamedTemporaryFile(prefix="tracelens-")  # noqa: SIM115  kept open
        return _Copying(opened, copy)

    def enter(self, number: int, block: Block, found: Found) -> None:
        """Take in the pieces of the next block of a file."""
        if not found.start.size:
            return
        coded = one_chunk(found.key).dictionary_encode()
        trace = _numbered(self.keys, coded.dictionary.to_pylist())[numbers(coded.indices)]
        label = _numbered(self.labels, found.labels)[found.label]
        n = found.start.size
        file = np.full(n, number, np.int32)
        size = (found.end - found.start).astype(np.int32)
        self._parts.append(_Entries(trace, file, block.offset + found.start, size, found.line, label))

    def close(self) -> None:
        """Remove the temporary copies."""
        for copy in self._copies.values():
            copy.close()

    def blocks(self, size: int) -> Iterator[Gathered]:
        """The traces as blocks of about that many bytes, or of one trace that is longer.

        Raises:
            InputError: A file changed, or a trace is longer than anything that can be read.
        """
        for copy in self._copies.values():
            copy.flush()
        if not self._parts:
            return
        every = _Entries._make(np.concatenate(column) for column in zip(*self._parts, strict=True))
        self._parts.clear()
        order = np.argsort(every.trace, kind="stable")
        counts = np.bincount(every.trace, minlength=len(self.keys))
        first = offsets_of(counts)
        done = offsets_of(np.bincount(every.trace, weights=every.size, minlength=len(self.keys)).astype(np.int64))
        keys, at = list(self.keys), 0
        step = even(int(done[-1]), size)
        while at < len(keys):
            target = (int(done[at]) + step // 2) // step * step + step
            end = max(at + 1, int(np.searchsorted(done, target, side="right")) - 1)
            if done[end] - done[at] > LONGEST:
                raise InputError(f"trace {keys[at]!r} is longer than 2 GiB", hint="leave it out of the input")
            rows = order[first[at] : first[end]]
            yield self._gathered(_Entries._make(column[rows] for column in every), at, keys[at:end])
            at = end

    def _gathered(self, some: _Entries, first: int, keys: list[str]) -> Gathered:
        data, starts = self._bytes(some)
        return Gathered(
            data,
            starts,
            starts + some.size,
            some.trace - np.int32(first),
            pa.array(keys, TEXT),
            some.file,
            [file.name for file in self.files],
            some.line,
            some.start,
            some.label,
            list(self.labels),
            alone=len(self.files) == 1,
        )

    def _bytes(self, some: _Entries) -> tuple[npt.NDArray[np.uint8], I64]:
        """The bytes of pieces, and where each starts in them; neighbours in a file are read at once."""
        order = np.lexsort((some.start, some.file))
        file, start = some.file[order], some.start[order]
        of_file = file.astype(np.int64) << 48
        # a piece may hold the ones behind it, and then it ends behind them
        end = np.maximum.accumulate(of_file + start + some.size[order]) - of_file
        new = np.ones(order.size, np.bool_)
        new[1:] = (file[1:] != file[:-1]) | (start[1:] > end[:-1] + GAP)
        heads = np.flatnonzero(new)
        last = np.append(heads[1:], order.size) - 1
        where = offsets_of(end[last] - start[heads])
        data = np.empty(int(where[-1]) + PADDING, np.uint8)
        data[where[-1] :] = 0
        for number in np.unique(file[heads]):
            mine = np.flatnonzero(file[heads] == number)
            self._read(int(number), start[heads[mine]], [data[where[k] : where[k + 1]] for k in mine])
        starts = np.empty(order.size, np.int64)
        run = np.cumsum(new) - 1
        starts[order] = where[run] + start - start[heads][run]
        return data, starts

    def _read(self, number: int, offsets: I64, parts: Sequence[npt.NDArray[np.uint8]]) -> None:
        copy = self._copies.get(number)
        path = Path(copy.name) if copy is not None else self.files[number].path
        try:
            with path.open("rb", buffering=0) as file:
                for offset, part in zip(offsets.tolist(), parts, strict=True):
                    file.seek(offset)
                    view, got = part.data, 0
                    while got < len(view) and (more := file.readinto(view[got:])):
                        got += more
                    if got < len(view):
                        raise InputError("the file became shorter while it was read", where=str(path))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", where=str(path)) from error


def _numbered(known: dict[str, int], texts: Sequence[str]) -> I32:
    """int32: the number of each text; new ones get the next."""
    return np.array([known.setdefault(text, len(known)) for text in texts], np.int32)


class _Copying:
    """A stream whose bytes are written to a file as they are read."""

    def __init__(self, stream: Reader, copy: IO[bytes]) -> None:
        self._stream, self._copy = stream, copy

    def readinto(self, buffer: memoryview, /) -> int:
        """Read the next bytes into a buffer; 0 at the end."""
        got = self._stream.readinto(buffer) or 0
        self._copy.write(buffer[:got])
        return got

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
