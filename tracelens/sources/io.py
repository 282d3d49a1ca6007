"""Bytes of input files as blocks of whole records, with bounded memory.

A file holds JSON lines, one top-level JSON array whose elements are the records, or one JSON document that is a
record. It may be compressed (gzip or zstd, known by its first bytes). A block is cheap to cut; everything heavy is done
on blocks, in any thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import PADDING
from tracelens.errors import InputError
from tracelens.kernels.records import AFTER, BEFORE, INSIDE, split_elements, split_lines
from tracelens.sources.files import File

BLOCK = 16 << 20
"""Bytes of a block, unless one record is longer."""

LONGEST = (1 << 31) - (1 << 16)
"""Bytes of the longest record that is read: positions in a block are 32-bit numbers."""

BOM = b"\xef\xbb\xbf"
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}

Layout = Literal["lines", "array", "document"]


class Reader(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most ``size``; empty at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records of one file.

    Attributes:
        source: The file's name.
        data: uint8, padded.
        starts: int64[records], where each record starts in ``data``.
        ends: int64[records], where it ends.
        lines: int64[records], the line of the file it starts on, from 1.
        offset: Offset in the (decompressed) file of ``data[0]``.
        first: Number of the block's first record in the file, from 0.
        layout: How the file holds its records.
        alone: Whether the input is this one file.
        failure: Why the file ends early, with the place in ``data``; None if it does not.
    """

    source: str
    data: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]
    offset: int = 0
    first: int = 0
    layout: Layout = "lines"
    alone: bool = True
    failure: tuple[str, int] | None = None


def open_stream(path: Path) -> Reader:
    """Open a file for reading, decompressed if it is compressed.

    Raises:
        InputError: The file cannot be opened.
    """
    try:
        with path.open("rb") as file:
            head = file.read(4)
        kind = next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)
        if kind is None:
            return path.open("rb", buffering=0)
        stream: Reader = pa.CompressedInputStream(pa.OSFile(str(path)), kind)
        return stream
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=str(path), hint="check its permissions") from error


def read_head(path: Path, size: int = 1 << 18) -> bytes:
    """The first bytes of a file, decompressed, without a byte order mark."""
    stream = open_stream(path)
    parts, have = [], 0
    try:
        while have < size and (part := stream.read(size - have)):
            parts.append(part)
            have += len(part)
    except OSError:  # the rest is damaged: reading will say so at its place
        pass
    return b"".join(parts).removeprefix(BOM)


class Window:
    """A stream seen through a buffer that holds the bytes not yet cut into records.

    Attributes:
        data: Bytes, with zeros behind them.
        size: How many of them count.
        done: Whether the stream has ended.
        damage: Why it ended early, or None.
        offset: Offset in the stream of the first byte.
    """

    def __init__(self, stream: Reader, step: int) -> None:
        self.stream = stream
        self.step = step
        self.data = bytearray()
        self.size = 0
        self.done = False
        self.damage: str | None = None
        self.offset = 0

    def fill(self) -> None:
        """Add up to ``step`` bytes."""
        del self.data[self.size :]
        want = self.size + self.step
        while len(self.data) < want and not self.done:
            try:
                part = self.stream.read(want - len(self.data))
            except OSError as error:
                self.damage, part = f"the compressed data is damaged or cut off: {error}", b""
            self.data += part
            self.done = not part
        self.size = len(self.data)
        self.data += bytes(PADDING)

    def cut(self, end: int) -> npt.NDArray[np.uint8]:
        """Take the bytes so far as a padded array of their own, and go on with those from ``end``."""
        taken, rest = self.data, self.data[end : self.size]
        self.data = bytearray(rest)
        self.size = len(rest)
        self.offset += end
        return np.frombuffer(taken, np.uint8)


def read_blocks(file: File, layout: Layout, *, size: int = BLOCK, alone: bool = True) -> Iterator[Block]:
    """The blocks of a file in order.

    Args:
        file: The file.
        layout: How it holds its records.
        size: Bytes of a block.
        alone: Whether it is the whole input.

    Raises:
        InputError: The file cannot be opened.
    """
    window = Window(open_stream(file.path), size)
    window.fill()
    skip = len(BOM) if window.data.startswith(BOM) else 0
    if layout == "lines":
        blocks = _lines(window, skip, file.name)
    elif layout == "array":
        blocks = _elements(window, skip, file.name)
    else:
        blocks = _document(window, skip, file.name)
    for block in blocks:
        yield block if alone else _among_others(block)


def _among_others(block: Block) -> Block:
    return Block(
        block.source,
        block.data,
        block.starts,
        block.ends,
        block.lines,
        block.offset,
        block.first,
        block.layout,
        alone=False,
        failure=block.failure,
    )


def _lines(window: Window, begin: int, name: str) -> Iterator[Block]:
    first, reported = 0, False
    while window.size > begin:
        end = window.data.rfind(b"\n", 0, window.size) + 1
        if window.done:
            end = window.size
        if end == 0 and window.size < LONGEST:
            window.fill()
            continue
        n = window.data.count(b"\n", 0, end) + 1
        starts, ends = np.empty(n, np.int64), np.empty(n, np.int64)
        offset, failure = window.offset, None
        if end == 0:  # a line too long for any block: what is there of it is dropped, up to the line's end
            end = window.size
            failure = ("the line is longer than 2 GiB", begin)
            data = np.zeros(PADDING, np.uint8)
            n = 0
            _skip_line(window)
        else:
            data = window.cut(end)
            n = split_lines(data, begin, end, starts, ends)
        if window.done and window.damage:
            failure, reported = (window.damage, end), True
        yield Block(name, data, starts[:n], ends[:n], first + 1 + np.arange(n), offset, first, failure=failure)
        first += n + (n == 0)
        begin = 0
        if not window.done:
            window.fill()
    if window.damage and not reported:
        none = np.zeros(0, np.int64)
        yield Block(name, np.zeros(PADDING, np.uint8), none, none, none, window.offset, first, failure=(window.damage, 0))


def _skip_line(window: Window) -> None:
    """Drop the bytes of a line that is too long."""
    while True:
        end = window.data.find(b"\n", 0, window.size) + 1
        window.cut(end or window.size)
        if end or window.done:
            return
        window.fill()


def _elements(window: Window, begin: int, name: str) -> Iterator[Block]:
    phase, first, line = BEFORE, 0, 1
    more = True
    while more:
        starts, ends, lines = (np.empty(min(max(16, window.size // 2), 1 << 20), np.int64) for _ in range(3))
        view = np.frombuffer(window.data, np.uint8)
        n, at, phase = split_elements(view, begin, window.size, phase, starts, ends, lines)
        more = not window.done or n == starts.size
        failure = None
        if not more:
            n, at, failure = _last_element(window, starts, ends, lines, n, at, phase)
        passed, offset = int(np.count_nonzero(view[begin:at] == 10)), window.offset
        data = window.cut(at)
        if n or failure:
            yield Block(name, data, starts[:n], ends[:n], line + lines[:n], offset, first, "array", failure=failure)
        first += n
        line += passed
        begin = 0
        window.fill()


def _last_element(
    window: Window,
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    lines: npt.NDArray[np.int64],
    n: int,
    at: int,
    phase: int,
) -> tuple[int, int, tuple[str, int] | None]:
    """What is left when the file ends: an element cut off, nothing, or bytes that do not belong there."""
    rest = bytes(window.data[at : window.size])
    if phase == AFTER:
        return n, at, ("trailing data after the array", at) if rest.strip() else None
    if phase == BEFORE and not rest.strip():
        return n, at, None
    if phase == INSIDE and rest.strip():
        starts[n], ends[n] = at + len(rest) - len(rest.lstrip()), window.size
        lines[n] = int(lines[n - 1]) if n else 0
        return n + 1, window.size, None
    return n, at, (window.damage or "the array does not end", at)


def _document(window: Window, begin: int, name: str) -> Iterator[Block]:
    while not window.done and window.size < LONGEST:
        window.fill()
    size = window.size
    text = bytes(window.data[begin:size])
    lead = len(text) - len(text.lstrip())
    starts, ends = np.array([begin + lead], np.int64), np.array([size], np.int64)
    line = np.array([1 + text[:lead].count(b"\n")], np.int64)
    failure = (window.damage, size) if window.damage else None
    yield Block(name, window.cut(size), starts, ends, line, 0, 0, "document", failure=failure)
