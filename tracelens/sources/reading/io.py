"""Bytes of input files as blocks of whole records, with bounded memory.

A file holds JSON lines, one top-level JSON array whose elements are the records, or one JSON document that is a
record. It may be compressed (gzip or zstd, known by its first bytes). A block is cheap to cut; everything heavy is done
on blocks, in any thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tracelens.columns import PADDING
from tracelens.errors import InputError
from tracelens.kernels.project import MAX_DEPTH
from tracelens.kernels.records import (
    AFTER,
    BEFORE,
    INSIDE,
    last_newline,
    newlines,
    split_elements,
    split_lines,
)
from tracelens.kernels.scan import skip_value
from tracelens.sources.reading.compressed import Compressed
from tracelens.sources.reading.files import File
from tracelens.threads import default_threads

BLOCK = 16 << 20
"""Bytes of a block, unless one record is longer."""

LONGEST = (1 << 31) - (1 << 16)
"""Bytes of the longest record that is read: positions in a block are 32-bit numbers."""

LEAST = 4
"""The part of a block that is worth a batch of its own, where a processor has nothing else to do."""

BOM = b"\xef\xbb\xbf"
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}

Layout = Literal["lines", "array", "document"]


class Reader(Protocol):
    """A stream of bytes."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Read the next bytes into a buffer; 0 at the end."""
        ...

    def close(self) -> None:
        """Close the stream."""
        ...


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records of one file.

    Attributes:
        source: The file's name.
        data: uint8, padded.
        size: Bytes of ``data`` that count.
        line: Line of the file that the block starts on, from 1.
        offset: Offset in the (decompressed) file of ``data[0]``.
        first: Number of the block's first record in the file, from 0.
        layout: How the file holds its records.
        alone: Whether the input is this one file.
        begin: Where the first record may start: behind a byte order mark.
        marks: Where the records start and end and how many line ends are before them, int64[3, records]; None for
            lines, which are cut when the block is parsed.
        breaks: How many line ends there are, for lines.
        failure: Why the file ends early, with the place in ``data``; None if it does not.
    """

    source: str
    data: npt.NDArray[np.uint8]
    size: int
    line: int = 1
    offset: int = 0
    first: int = 0
    layout: Layout = "lines"
    alone: bool = True
    begin: int = 0
    marks: npt.NDArray[np.int64] | None = None
    breaks: int = 0
    failure: tuple[str, int] | None = None

    def records(self) -> Marks:
        """Where the records start and end, and the lines of the file they start on: int64[records] each."""
        if self.marks is not None:
            starts, ends, passed = self.marks
            return Marks(starts, ends, self.line + passed)
        room = self.breaks + 1
        starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
        n = split_lines(self.data, self.begin, self.size, starts, ends)
        return Marks(starts[:n], ends[:n], self.line + np.arange(n))


class Marks(NamedTuple):
    """The places of records, see `Block.records`."""

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]


def _compression(path: Path) -> str | None:
    """How a file is compressed, by its first bytes."""
    with path.open("rb") as file:
        head = file.read(4)
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


def is_compressed(path: Path) -> bool:
    """Whether a file that can be opened is compressed."""
    return _compression(path) is not None


def open_stream(path: Path) -> Reader:
    """Open a file for reading, decompressed if it is compressed.

    Raises:
        InputError: The file cannot be opened.
    """
    try:
        kind = _compression(path)
        if kind is None:
            return path.open("rb", buffering=0)
        return Compressed(path, kind)
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}", where=str(path), hint="check its permissions"
        ) from error


def read_head(path: Path, size: int = 1 << 18) -> bytes:
    """The first bytes of a file, decompressed, without a byte order mark."""
    with closing(open_stream(path)) as stream:
        window = Window(stream, size)
        window.fill()
    return window.data[: window.size].tobytes().removeprefix(BOM)


class Window:
    """A stream seen through a buffer that holds the bytes not yet cut into records.

    Attributes:
        data: uint8, padded.
        size: How many of the bytes count.
        done: Whether the stream has ended.
        damage: Why it ended early, or None.
        offset: Offset in the stream of the first byte.
    """

    def __init__(self, stream: Reader, step: int) -> None:
        self.stream = stream
        self.step = step
        self.data = np.zeros(PADDING, np.uint8)
        self.size = 0
        self.done = False
        self.damage: str | None = None
        self.offset = 0

    def fill(self) -> None:
        """Add ``step`` bytes, fewer only at the end, in an array of their own."""
        if self.done:
            return
        room = self.size + self.step
        data = np.empty(room + PADDING, np.uint8)
        data[: self.size] = self.data[: self.size]
        view = data.data
        while self.size < room and not self.done:
            try:
                got = self.stream.readinto(view[self.size : room]) or 0
            except OSError as error:
                self.damage, got = f"the compressed data is damaged or cut off: {error}", 0
            self.size += got
            self.done = got == 0
        data[self.size : self.size + PADDING] = 0
        self.data = data

    def cut(self, end: int) -> npt.NDArray[np.uint8]:
        """Take the bytes so far, and go on with those from ``end``."""
        taken = self.data
        self.data = taken[end:]
        self.size -= end
        self.offset += end
        return taken


def read_blocks(
    file: File, layout: Layout, *, size: int = BLOCK, alone: bool = True, stream: Reader | None = None
) -> Iterator[Block]:
    """The blocks of a file in order.

    Args:
        file: The file.
        layout: How it holds its records.
        size: Bytes of a block.
        alone: Whether it is the whole input.
        stream: Its bytes, where they are open already.

    Raises:
        InputError: The file cannot be opened.
    """
    cut = {"lines": _lines, "array": _elements, "document": _document}[layout]
    with closing(stream or open_stream(file.path)) as opened:
        known = file.path.stat().st_size if alone and layout == "lines" and isinstance(opened, FileIO) else 0
        window = Window(opened, even(known + 1, size) if known else size)  # one more, to see the end
        window.fill()
        begin = len(BOM) if window.data[: len(BOM)].tobytes() == BOM else 0
        for block in cut(window, begin, file.name):
            yield replace(block, alone=alone)


def even(total: int, size: int) -> int:
    """Bytes of blocks of about one size, at most ``size`` each, that keep every processor busy to the end.

    Example:
        >>> from unittest.mock import patch
        >>> with patch(f"{__name__}.default_threads", return_value=2):
        ...     [even(total, 16) for total in (3, 10, 16, 50, 1000)]
        [3, 5, 8, 13, 16]
    """
    least = max(1, -(-total // size))
    threads = default_threads()
    most = max(least, LEAST * total // size)
    return max(1, -(-total // min(-(-least // threads) * threads, most)))


def _lines(window: Window, begin: int, name: str) -> Iterator[Block]:
    line, reported = 1, False
    while window.size > begin:
        end = window.size if window.done else last_newline(window.data, window.size) + 1
        if end == 0 and window.size < LONGEST:
            window.fill()
            continue
        offset, failure = window.offset, None
        if end == 0:
            _skip_line(window)
            data, size = np.zeros(PADDING, np.uint8), 0
            failure = ("the line is longer than 2 GiB", 0)
        else:
            data, size = window.cut(end), end
        if window.done and window.damage:
            failure, reported = (window.damage, size), True
        breaks = newlines(data, begin, size)
        yield Block(name, data, size, line, offset, line - 1, begin=begin, breaks=breaks, failure=failure)
        line += breaks if size else 1
        begin = 0
        window.fill()
    if window.damage and not reported:
        yield Block(name, np.zeros(PADDING, np.uint8), 0, line, window.offset, line - 1, failure=(window.damage, 0))


def _skip_line(window: Window) -> None:
    """Drop the bytes of a line that is too long for any block, up to its end."""
    while True:
        ends = np.flatnonzero(window.data[: window.size] == 10)
        window.cut(int(ends[0]) + 1 if ends.size else window.size)
        if ends.size or window.done:
            return
        window.fill()


def _elements(window: Window, begin: int, name: str) -> Iterator[Block]:
    phase, first, line = BEFORE, 0, 1
    more = True
    while more:
        marks = np.empty((3, min(max(16, window.size // 2), 1 << 20)), np.int64)
        n, at, phase = split_elements(window.data, begin, window.size, phase, marks[0], marks[1], marks[2])
        more = not window.done or n == marks.shape[1]
        failure = None
        if not more:
            n, at, failure = _last_element(window, marks, begin, n, at, phase)
        passed, offset, size = newlines(window.data, begin, at), window.offset, window.size
        data = window.cut(at)
        if n or failure:
            yield Block(name, data, size, line, offset, first, "array", marks=marks[:, :n], failure=failure)
        first += n
        line += passed
        begin = 0
        window.fill()


def _last_element(
    window: Window, marks: npt.NDArray[np.int64], begin: int, n: int, at: int, phase: int
) -> tuple[int, int, tuple[str, int] | None]:
    """What is left when the file ends: an element cut off, nothing, or bytes that do not belong there."""
    rest = window.data[at : window.size].tobytes()
    lead = len(rest) - len(rest.lstrip())
    if phase == AFTER:
        return n, at, ("trailing data after the array", at + lead) if rest.strip() else None
    if phase == BEFORE and not rest.strip():
        return n, at, None
    if phase == INSIDE and rest.strip():
        marks[:, n] = at + lead, window.size, newlines(window.data, begin, at + lead)
        whole, _ = skip_value(window.data, at + lead, window.size, MAX_DEPTH)
        failure = (window.damage or "the array does not end", window.size) if whole > 0 else None
        return n + 1, window.size, failure
    return n, at, (window.damage or "the array does not end", at)


def _document(window: Window, begin: int, name: str) -> Iterator[Block]:
    while not window.done and window.size < LONGEST:
        window.fill()
    size = window.size
    text = window.data[begin:size].tobytes()
    lead = len(text) - len(text.lstrip())
    marks = np.array([[begin + lead], [size], [text[:lead].count(b"\n")]], np.int64)
    failure = (window.damage, size) if window.damage else None
    yield Block(name, window.cut(size), size, layout="document", marks=marks, failure=failure)
