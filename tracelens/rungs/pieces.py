"""Texts of tape entries as Polars columns: values as they were written, keys, paths."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.columns import Texts, text_array
from tracelens.groups import offsets_of
from tracelens.kernels import check_paths
from tracelens.kernels.reference.paths import Part, render_path
from tracelens.kernels.scan import STRING
from tracelens.kernels.shred import Tape
from tracelens.rungs.sentences import Spans, sentences, shortened

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

SHOWN = 500
"""Characters of a value that a finding shows."""


def pieces(data: Bytes, begins: Numbers, ends: Numbers) -> pl.Series:
    """The texts ``data[begins[k]:ends[k]]``, which are UTF-8; the bytes are padded.

    Example:
        >>> pieces(np.frombuffer(b"abcdef" + bytes(8), np.uint8), np.array([0, 2]), np.array([2, 3])).to_list()
        ['ab', 'c']
    """
    return series(sentences([(Spans(data, begins, ends), np.arange(begins.size))]))


def series(texts: Texts) -> pl.Series:
    """Texts as a column, without copying them once more."""
    return pl.Series(text_array(texts.data, texts.offsets), dtype=pl.String)


def bounds(tape: Tape, items: Numbers) -> tuple[Numbers, Numbers]:
    """Where the JSON text of each item begins and ends, quotes included; an item below zero is a member's key."""
    entries = np.where(items < 0, -items - 1, items)
    is_key = items < 0
    begins = np.where(is_key, tape.key_start[entries], tape.start[entries]).astype(np.int64)
    ends = np.where(is_key, tape.key_end[entries], tape.end[entries]).astype(np.int64)
    quoted = is_key | (tape.kind[entries] == STRING)
    return begins - quoted, ends + quoted


def shown(data: Bytes, tape: Tape, items: Numbers) -> pl.Series:
    """The JSON text of each item, cut to `SHOWN` characters."""
    given = Spans(data, *bounds(tape, items))
    return series(sentences(shortened(given, np.arange(items.size), SHOWN, "…")))


def shorten(values: pl.Series) -> pl.Series:
    """Texts of at most `SHOWN` characters; a cut one ends in an ellipsis.

    Example:
        >>> shorten(pl.Series(["a" * 501])).str.len_chars().to_list()
        [500]
    """
    if values.len() == 0 or (values.str.len_bytes().max() or 0) <= SHOWN:  # type: ignore[operator] # an integer column
        return values
    long = values.str.len_chars() > SHOWN
    return values.zip_with(~long, values.str.slice(0, SHOWN - 1) + "…")


def paths(data: Bytes, tape: Tape, entries: Numbers) -> pl.Series:
    """The path of each entry as text; the root is empty."""
    sizes = np.empty(entries.size, np.int64)
    check_paths.path_sizes(data, tape, entries, sizes)
    hard = np.flatnonzero(sizes == check_paths.HARD)
    sizes[hard] = 0
    offsets = offsets_of(sizes)
    out = np.empty(int(offsets[-1]), np.uint8)
    check_paths.write_paths(data, tape, entries, offsets[1:], out)
    written = series(Texts(out, offsets))
    if hard.size:
        quoted = pl.Series([render_path(parts_of(data, tape, int(entries[row]))) for row in hard], dtype=pl.String)
        written = written.scatter(hard, quoted)
    return written


def parts_of(data: Bytes, tape: Tape, entry: int) -> list[Part]:
    """The members and indices from the root to an entry."""
    parts: list[Part] = []
    while tape.parent[entry] >= 0:
        start, end = int(tape.key_start[entry]), int(tape.key_end[entry])
        parts.append(json.loads(data[start - 1 : end + 1].tobytes()) if start >= 0 else int(tape.index[entry]))
        entry = int(tape.parent[entry])
    return parts[::-1]
