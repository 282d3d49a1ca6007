"""Columns of a row group as Parquet pages: dictionaries where values repeat, plain values elsewhere.

What the pages hold depends on the rows alone, not on the arrays in which they came: entries of a dictionary stand in
the order of their first appearance, pages of texts end by the bytes of their texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.kernels.pages import number_codes, number_values
from tracelens.store.pages import (
    B1,
    BOOLEAN,
    I32,
    I64,
    PLAIN,
    RLE,
    RLE_DICTIONARY,
    Page,
    TextRows,
    bits,
    packed,
    physical,
    presence,
    validity,
    with_length,
)

Codec = Literal["none", "snappy", "zstd"]

PAGE = 1 << 18
"""A page of texts ends with the row that brings it to this many bytes."""

DISTINCT = 4096
"""Most entries of a dictionary of numbers."""

LONG = 4096
"""Dictionaries of fewer bytes are not compressed, nor the numbers that refer to them: in bits they are short enough."""

SMALL = 1024
"""Columns of fewer bytes are not compressed."""

_ALL = np.zeros(0, np.bool_)
"""The mask of values without nulls, as kernels take it."""

Limits = tuple[int, bytes, bytes]
"""Number of nulls, smallest value and largest value, as Parquet writes them."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A column of a row group.

    Attributes:
        pages: Its pages, made when they are asked for; a dictionary comes first.
        n_values: Rows; for a list its texts, an empty list counting as one.
        codec: How the pages are compressed.
        encodings: Parquet's numbers of the encodings that occur.
        limits: Where they are kept and there is a value.
    """

    pages: Iterable[Page]
    n_values: int
    codec: Codec
    encodings: tuple[int, ...] = (PLAIN, RLE)
    limits: Limits | None = None


def encode_numbers(arrays: Sequence[pa.Array], *, nullable: bool, limits: bool = False) -> Encoded:
    """A column of numbers, dates, times or truth values.

    Args:
        arrays: n > 0 values.
        nullable: Whether the schema allows nulls.
        limits: Whether to keep the smallest and the largest value.
    """
    n, nulls = _sizes(arrays)
    if nulls == n:
        return _nothing(n)
    kind, valid = physical(arrays[0].type), validity(arrays)
    levels = presence(valid) if nullable else b""
    values = _joined([_values(array, kind.given) for array in arrays])
    if kind.number == BOOLEAN:
        there = values[valid] if nulls else values
        return _plain(levels + np.packbits(there, bitorder="little").tobytes(), n, "zstd")
    known = _number_limits(values[valid], kind.stored, nulls) if limits else None
    mask = valid if nulls else _ALL
    distinct, codes = _numbered(values, mask, n - nulls)
    if distinct.size:
        entries = distinct.astype(kind.stored, copy=False).tobytes()
        return _with_dictionary(entries, distinct.size, codes, levels, n, known)
    there = values[valid] if nulls else values
    codec: Codec = "none" if pa.types.is_uint64(arrays[0].type) else "zstd"
    return _plain(levels + there.astype(kind.stored, copy=False).tobytes(), n, codec, known)


def encode_categories(arrays: Sequence[pa.Array], *, nullable: bool) -> Encoded:
    """A column of texts of which there are few.

    Args:
        arrays: n > 0 texts as dictionaries of large strings, which may differ and hold texts that do not occur.
        nullable: Whether the schema allows nulls.
    """
    n, nulls = _sizes(arrays)
    if nulls == n:
        return _nothing(n)
    valid, texts, codes = validity(arrays), [], []
    for array in arrays:
        mask = validity([array]) if array.null_count else _ALL
        indices, known = _values(array.indices, np.int32), array.dictionary
        used, numbers = _by_table(indices, mask, len(array) - array.null_count, 0, len(known))
        texts.append(known.take(pa.array(used)))
        codes.append(numbers)
    once = pa.concat_arrays(texts).dictionary_encode()
    places = np.split(once.indices.to_numpy(), np.cumsum([len(each) for each in texts])[:-1])
    every = _joined([place[numbers] for place, numbers in zip(places, codes, strict=True)])
    levels = presence(valid) if nullable else b""
    return _with_dictionary(_entries(once.dictionary), len(once.dictionary), every, levels, n)


def encode_runs(arrays: Sequence[pa.Array], *, limits: bool = False) -> Encoded:
    """A column of texts that come in runs of equal ones and are never null: ids of what the rows belong to.

    Every run has an entry of its own, so that nothing need be looked up. Where runs are short, texts are written
    plainly.

    Args:
        arrays: n > 0 texts, as large strings or dictionaries of them.
        limits: Whether to keep the smallest and the largest value.
    """
    texts, lengths = _runs(arrays)
    n = int(lengths.sum())
    if len(texts) * 2 > n:
        plain = [array.cast(pa.large_string()) for array in arrays]
        return encode_texts(plain, nullable=False, codec="zstd", limits=limits)
    codes = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
    known = _text_limits([texts]) if limits else None
    return _with_dictionary(_entries(texts), len(texts), codes, b"", n, known)


def encode_texts(arrays: Sequence[pa.Array], *, nullable: bool, codec: Codec, limits: bool = False) -> Encoded:
    """A column of texts that differ.

    Args:
        arrays: n > 0 large strings.
        nullable: Whether the schema allows nulls.
        codec: How to compress them.
        limits: Whether to keep the smallest and the largest value.
    """
    n, nulls = _sizes(arrays)
    if nulls == n:
        return _nothing(n)
    rows = TextRows(arrays)
    known = _text_limits(arrays) if limits else None

    def pages() -> Iterator[Page]:
        for first, last in _cuts(rows.ends):
            levels = presence(rows.valid[first:last]) if nullable else b""
            yield Page(rows.page(levels, first, last), last - first, PLAIN)

    return Encoded(pages(), n, _worth(codec, int(rows.ends[-1])), limits=known)


def encode_lists(arrays: Sequence[pa.Array], *, codec: Codec) -> Encoded:
    """A column of lists of texts.

    Args:
        arrays: n > 0 large lists of large strings, none of them null.
        codec: How to compress them.
    """
    rows = TextRows([array.flatten() for array in arrays])
    counts = np.concatenate([pc.list_value_length(array).to_numpy() for array in arrays]).astype(np.int64)
    texts_before = np.append(0, np.cumsum(counts))
    before = np.append(0, np.cumsum(np.maximum(counts, 1)))
    # levels: whether an entry goes on with the list of the one before; whether it is a text, a null or an empty list
    repeated, present = np.ones(before[-1], np.int32), np.full(before[-1], 2, np.int32)
    repeated[before[:-1]] = 0
    present[before[:-1][counts == 0]] = 0
    present[present > 0] = 1 + rows.valid

    def pages() -> Iterator[Page]:
        for first, last in _cuts(rows.ends[texts_before]):
            entries = slice(before[first], before[last])
            levels = with_length(packed(repeated[entries], 1)) + with_length(packed(present[entries], 2))
            body = rows.page(levels, int(texts_before[first]), int(texts_before[last]))
            yield Page(body, int(before[last] - before[first]), PLAIN)

    return Encoded(pages(), int(before[-1]), _worth(codec, int(rows.ends[-1])))


def _nothing(n: int) -> Encoded:
    """Nothing but n nulls."""
    return Encoded([Page(presence(np.zeros(n, np.bool_)), n, PLAIN)], n, "none")


def _sizes(arrays: Sequence[pa.Array]) -> tuple[int, int]:
    """How many values there are, and how many of them are null."""
    return sum(map(len, arrays)), sum(array.null_count for array in arrays)


def _joined(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _number_limits(values: npt.NDArray[Any], stored: Any, nulls: int) -> Limits:
    smallest, largest = (each.astype(stored).tobytes() for each in (values.min(), values.max()))
    return nulls, smallest, largest


def _with_dictionary(
    entries: Any, n_entries: int, codes: I32, levels: bytes, n: int, limits: Limits | None = None
) -> Encoded:
    """Entries, and n values by their numbers."""
    numbers = packed(codes, n_entries - 1)
    body = b"".join([levels, bytes([max(1, (n_entries - 1).bit_length())]), numbers.data])
    pages = [Page(entries, n_entries, PLAIN, is_dictionary=True), Page(body, n, RLE_DICTIONARY)]
    codec: Codec = "zstd" if len(entries) >= LONG else "none"
    return Encoded(pages, n, codec, (PLAIN, RLE, RLE_DICTIONARY), limits)


def _plain(body: bytes, n: int, codec: Codec, limits: Limits | None = None) -> Encoded:
    """Values as they are, in one page."""
    return Encoded([Page(body, n, PLAIN)], n, _worth(codec, len(body)), limits=limits)


def _worth(codec: Codec, size: int) -> Codec:
    return codec if size >= SMALL else "none"


def _values(array: pa.Array, given: Any) -> npt.NDArray[Any]:
    """The values of an array of fixed width, whatever lies below its nulls included."""
    buffer = array.buffers()[1]
    if given == np.bool_:
        return bits(buffer, array.offset, len(array))
    return np.frombuffer(buffer, given, len(array), array.offset * np.dtype(given).itemsize)


def _numbered(values: npt.NDArray[Any], mask: B1, n: int) -> tuple[npt.NDArray[Any], I32]:
    """The distinct values by first appearance and each value's number; none where a dictionary would not pay.

    Args:
        values: Numbers of any type.
        mask: Which of them count; empty for all.
        n: How many count.
    """
    most = min(DISTINCT, n // 2)
    if values.itemsize <= 4:
        small = values.astype(np.int32, copy=False)
        there = small[mask] if mask.size else small
        base = int(there.min())
        if (span := int(there.max()) - base + 1) <= DISTINCT:
            distinct, codes = _by_table(small, mask, n, base, span)
            return distinct[: distinct.size if distinct.size <= most else 0], codes
    word = np.float64 if values.dtype == np.float64 else np.int64
    slots = np.full(max(2, 1 << (2 * most).bit_length()), -1, np.int32)
    found, codes = np.empty(most, np.uint64), np.empty(n, np.int32)
    count = number_values(values.astype(word, copy=False).view(np.uint64), mask, slots, found, codes)
    return found[: max(count, 0)].view(word), codes


def _by_table(values: I32, mask: B1, n: int, base: int, span: int) -> tuple[I32, I32]:
    """The same for integers from ``base`` to below ``base + span``."""
    table, distinct, codes = np.full(span, -1, np.int32), np.empty(span, np.int32), np.empty(n, np.int32)
    return distinct[: number_codes(values, mask, base, table, distinct, codes)], codes


def _runs(arrays: Sequence[pa.Array]) -> tuple[pa.LargeStringArray, I64]:
    """The text and the length of every run."""
    texts, lengths = [], []
    for array in arrays:
        codes = _values(array.indices, np.int32) if pa.types.is_dictionary(array.type) else None
        starts = _starts(array if codes is None else codes)
        texts.append(array.take(pa.array(starts)) if codes is None else _taken(array.dictionary, codes[starts]))
        lengths.append(np.diff(np.append(starts, len(array))))
    every, counts = pa.concat_arrays(texts), np.concatenate(lengths)
    starts = _starts(every)  # a run goes on where the next array begins with it, or a dictionary holds a text twice
    if starts.size < len(every):
        every, counts = every.take(pa.array(starts)), np.add.reduceat(counts, starts)
    return every, counts


def _taken(texts: pa.LargeStringArray, rows: I32) -> pa.LargeStringArray:
    """Texts by row; a view where the rows follow each other."""
    if rows.size and rows[-1] - rows[0] == rows.size - 1 and (np.diff(rows) == 1).all():
        return texts.slice(int(rows[0]), rows.size)
    return texts.take(pa.array(rows))


def _starts(values: I32 | pa.LargeStringArray) -> I64:
    """Where another value begins."""
    if isinstance(values, np.ndarray):
        changes = values[1:] != values[:-1]
    else:
        changes = pc.not_equal(values[1:], values[:-1]).to_numpy(zero_copy_only=False)
    return np.flatnonzero(np.append(np.ones(min(len(values), 1), np.bool_), changes))


def _entries(texts: pa.LargeStringArray) -> Any:
    return TextRows([texts]).page(b"", 0, len(texts))


def _text_limits(arrays: Sequence[pa.LargeStringArray]) -> Limits:
    whole = pa.chunked_array(arrays)
    found = pc.min_max(whole)
    return whole.null_count, found["min"].as_py().encode(), found["max"].as_py().encode()


def _cuts(ends: I64) -> Iterator[tuple[int, int]]:
    """The first row of each page and the one behind its last, from the bytes before each row."""
    first, n = 0, ends.size - 1
    while first < n:
        last = min(max(int(np.searchsorted(ends, ends[first] + PAGE)), first + 1), n)
        yield first, last
        first = last
