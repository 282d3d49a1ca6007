"""Compressed files, read to the last byte that can be had where they are damaged or cut off."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa

STEP = 1 << 16
"""Bytes that are asked for at a time: what a read has decompressed is lost where it meets the damage."""

BEHIND = 1 << 17
"""Compressed bytes that a read may be ahead of what it gives."""


class Compressed:
    """A stream of decompressed bytes.

    Where the library stumbles, everything before is read once more, towards the end byte by byte, so that what it
    had decompressed already is not lost.

    Args:
        path: The file.
        kind: ``gzip`` (several members are one stream) or ``zstd`` (several frames are).
    """

    def __init__(self, path: Path, kind: str) -> None:
        self._path, self._kind = path, kind
        self._file = pa.OSFile(str(path))
        self._stream = pa.CompressedInputStream(self._file, kind)
        self._given = 0
        self._rest = memoryview(b"")
        self._damage: OSError | None = None

    def readinto(self, buffer: memoryview, /) -> int:
        """Read the next bytes into a buffer; 0 at the end.

        Raises:
            OSError: The data is damaged here, or ends too early; all that stands before has been read.
        """
        wanted = buffer[: min(len(buffer), STEP)]
        if self._damage is None:
            try:
                got = int(self._stream.readinto(wanted))
            except OSError as error:
                self._rest, self._damage = self._again(error)
            else:
                self._given += got
                return got
        part = self._rest[: len(wanted)]
        if not part:
            raise self._damage
        wanted[: len(part)] = part
        self._rest = self._rest[len(part) :]
        return len(part)

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
        self._file.close()

    def _again(self, error: OSError) -> tuple[memoryview, OSError]:
        """What can be read behind the bytes given so far, and what is wrong then."""
        near = max(0, self._file.tell() - BEHIND)
        rest, skip, place = bytearray(), self._given, near
        with self._path.open("rb") as plain:
            careful = _Careful(plain, near)
            stream = pa.CompressedInputStream(pa.PythonFile(careful, "r"), self._kind)
            try:
                while skip:
                    skip -= len(stream.read(min(skip, STEP)))
                while byte := stream.read(1):
                    rest += byte
            except OSError as last:
                error = last
            place = careful.tell()
        size = self._path.stat().st_size
        return memoryview(rest), OSError(f"{error}, at byte {place} of {size}")


class _Careful(io.RawIOBase):
    """A file that is given out byte by byte from some place on."""

    def __init__(self, file: io.BufferedReader, near: int) -> None:
        self._file, self._near = file, near

    def readable(self) -> bool:
        """That it can be read."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        left = self._near - self._file.tell()
        return self._file.read(min(size, left) if left > 0 else 1)

    def tell(self) -> int:
        """Where the next byte stands."""
        return self._file.tell()
