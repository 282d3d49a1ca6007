"""Inspect's ``.eval`` files: a zip with a header and a JSON member a sample, stored, deflated or compressed with zstd."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from tracelens.columns import padded
from tracelens.errors import InputError
from tracelens.sources.base import Options
from tracelens.sources.reading.files import File
from tracelens.sources.reading.io import Block

ZIP = b"PK\x03\x04"
ZSTD = 93
"""Method of a zip member that the standard library does not know before Python 3.14."""

ONE_LINE = bytes.maketrans(b"\r\n", b"  ")
"""Valid JSON has line ends only between values."""


def is_zip(file: File) -> bool:
    """Whether a file begins as a zip does."""
    with file.path.open("rb") as opened:
        return opened.read(4) == ZIP


def members(file: File) -> list[str]:
    """Names of the members of a zip; none where it cannot be read."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            return archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return []


def zipped(file: File, options: Options) -> Iterator[Block]:
    """The samples of a zip, in the order of their names' numbers, as documents with the header around them."""
    try:
        archive = zipfile.ZipFile(file.path)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"the zip cannot be read: {error}", where=file.where, hint="write the log again") from error
    with closing(archive), file.path.open("rb") as raw:
        known = {info.filename: info for info in archive.infolist()}
        header = _header(raw, known)
        names = [name for name in known if name.startswith("samples/") and name.endswith(".json")]
        held: list[bytes] = []
        first = done = 0
        for number, name in enumerate(sorted(names, key=_natural)):
            try:
                sample = _member(raw, known[name])
            except (OSError, ValueError, pa.ArrowInvalid) as error:
                yield _bad(file, options, number, f"{name} cannot be read: {error}")
                continue
            held.append(sample)
            done += len(sample)
            if done >= options.block_size:
                yield _document(file, options, header, held, first)
                held, first, done = [], number + 1, 0
        if held:
            yield _document(file, options, header, held, first)


def _natural(name: str) -> list[Any]:
    """A key by which ``2`` comes before ``10``."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name)]


def _header(raw: BinaryIO, known: dict[str, zipfile.ZipInfo]) -> bytes:
    """What stands around the samples: the header, or the first entry of the journal of a log that was not finished."""
    for name in ("header.json", "_journal/start.json"):
        if name in known:
            try:
                text = _member(raw, known[name])
                if isinstance(json.loads(text), dict):
                    return text.strip()
            except (OSError, ValueError, pa.ArrowInvalid):
                continue
    return b"{}"


def _member(raw: BinaryIO, info: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, stored, deflated or compressed with zstd."""
    import zlib

    raw.seek(info.header_offset)
    local = raw.read(30)
    if local[:4] != ZIP:
        raise ValueError("its place in the zip is wrong")
    raw.seek(int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little"), 1)
    packed = raw.read(info.compress_size)
    if info.compress_type == zipfile.ZIP_STORED:
        plain = packed
    elif info.compress_type == zipfile.ZIP_DEFLATED:
        try:
            plain = zlib.decompress(packed, -15)
        except zlib.error as error:
            raise ValueError(str(error)) from error
    elif info.compress_type == ZSTD:
        plain = pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read()
    else:
        raise ValueError(f"its compression {info.compress_type} is not known")
    if zlib.crc32(plain) != info.CRC:
        raise ValueError("its checksum is wrong")
    return plain


def _document(file: File, options: Options, header: bytes, samples: Sequence[bytes], first: int) -> Block:
    """A log as one JSON document, a sample a line; their numbers in the zip are those of the lines."""
    head = header.translate(ONE_LINE).rstrip().removesuffix(b"}").rstrip()
    comma = b"" if head.endswith(b"{") else b","
    lines = b",\n".join(sample.translate(ONE_LINE) for sample in samples)
    text = head + comma + b'"samples":[\n' + lines + b"]}"
    marks = np.array([[0], [len(text)], [0]], np.int64)
    return Block(file.name, padded(text), len(text), first, 0, first, "document", alone=options.alone, marks=marks)


def _bad(file: File, options: Options, number: int, why: str) -> Block:
    """A member that is lost."""
    none = np.zeros((3, 0), np.int64)
    return Block(file.name, padded(b""), 0, 1, 0, number, "document", alone=options.alone, marks=none, failure=(why, 0))
