"""The beginning of a file: how it seems to hold its records, and the first of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tracelens.columns import padded
from tracelens.kernels.records import BEFORE, split_elements
from tracelens.sources.base import Head
from tracelens.sources.reading.files import File
from tracelens.sources.reading.io import Layout, read_head

SIZES = (1 << 18, 1 << 22, 1 << 26)
"""Bytes that are looked at, more where fewer do not tell."""

LOOKED_AT = 20
"""Records that are looked at."""

BINARY = (b"PAR1", b"PK\x03\x04", b"SQLite format 3\x00")
"""First bytes of files that hold no text: Parquet, zip, SQLite."""

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)


def heads_of(file: File) -> Iterator[Head]:
    """The beginning of a file, then more and more of it, until there is no more.

    Raises:
        InputError: The file cannot be read.
    """
    for size in SIZES:
        start = read_head(file.path, size)
        yield _head(file, start, whole=len(start) < size)
        if len(start) < size or start.startswith(BINARY):
            return


def _head(file: File, start: bytes, *, whole: bool) -> Head:
    layout, records = _records(start, whole=whole)
    return Head(file, layout, records, start)


def _records(start: bytes, *, whole: bool) -> tuple[Layout, list[Any]]:
    """How a file holds its records, and the first ones; the first alone, as far as it goes, where it is cut off."""
    if start.startswith(BINARY):
        return "lines", []
    text = start.lstrip()
    first, _, rest = text.partition(b"\n")
    alone = not rest.strip()
    if text.startswith(b"[") and (alone or not _loaded([first])):
        found = _elements(start)
        return "array", found if found or whole else _begun(text)
    if text.startswith(b"{") and not alone and not _loaded([first]) and _looks_spread(text):
        found = _loaded([start])
        return "document", found if found or whole else _begun(text)
    found = _loaded(start.split(b"\n"))
    return "lines", found if found or whole else _begun(text)


def _looks_spread(start: bytes) -> bool:
    """Whether an object goes on over several lines: no line starts another object in the first column."""
    return not any(line.startswith(b"{") for line in start.split(b"\n")[1:])


def _begun(text: bytes) -> list[Any]:
    """The first record of a text that ends inside of it."""
    value = completed(text)
    return [] if value is None else value[:LOOKED_AT] if isinstance(value, list) else [value]


def completed(text: bytes) -> Any:
    """The JSON value that a text begins, without what is not whole; None where that is nothing.

    Example:
        >>> completed(b'{"a": [1, {"b": 2, "c": tr')
        {'a': [1, {'b': 2}]}
        >>> completed(b'{"a') or completed(b'{"a": nonsense, ') is None
        True
    """
    closers = bytearray()
    end = 0
    for token in TOKEN.finditer(text):
        mark = token[0]
        if mark in (b"{", b"["):
            closers.append(ord("}") if mark == b"{" else ord("]"))
            end = token.end()
        elif mark in (b"}", b"]"):
            if not closers:
                break
            closers.pop()
            end = token.end()
            if not closers:
                break
        elif mark == b",":
            end = token.start()
    try:
        return json.loads(text[:end] + bytes(reversed(closers))) or None
    except (ValueError, RecursionError):
        return None


def _loaded(lines: Iterable[bytes]) -> list[Any]:
    """The records among the first lines that are JSON."""
    found: list[Any] = []
    for tried, line in enumerate(lines):
        if len(found) == LOOKED_AT or tried == 10 * LOOKED_AT:
            break
        try:
            if line.strip():
                found.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return found


def _elements(start: bytes) -> list[Any]:
    """The first elements of an array."""
    starts, ends, lines = (np.empty(LOOKED_AT, np.int64) for _ in range(3))
    n, _, _ = split_elements(padded(start), 0, len(start), BEFORE, starts, ends, lines)
    return _loaded(start[a:b] for a, b in zip(starts[:n], ends[:n], strict=True))
