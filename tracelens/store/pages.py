"""What Parquet pages are made of: types, levels, numbers in few bits, texts behind their lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.kernels.pages import SPARE, pack_bits, pack_runs, put_texts
from tracelens.store.thrift import varint

PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
"""Parquet's numbers of the encodings."""

BOOLEAN, INT32, INT64, DOUBLE, BYTES = 0, 1, 2, 5, 6
"""Parquet's numbers of the physical types."""

U8 = npt.NDArray[np.uint8]
B1 = npt.NDArray[np.bool_]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]


class Physical(NamedTuple):
    """How values of a type lie in a file.

    Attributes:
        number: Parquet's type.
        given: Their NumPy type in Arrow.
        stored: Their NumPy type in the file.
        converted: Parquet's older annotation of what the bits mean.
    """

    number: int
    given: Any
    stored: Any
    converted: int | None = None


_PHYSICAL = {
    pa.bool_(): Physical(BOOLEAN, np.bool_, np.bool_),
    pa.int8(): Physical(INT32, np.int8, np.int32, 15),
    pa.uint8(): Physical(INT32, np.uint8, np.int32, 11),
    pa.int32(): Physical(INT32, np.int32, np.int32),
    pa.uint32(): Physical(INT32, np.int32, np.int32, 13),
    pa.date32(): Physical(INT32, np.int32, np.int32, 6),
    pa.int64(): Physical(INT64, np.int64, np.int64),
    pa.uint64(): Physical(INT64, np.int64, np.int64, 14),
    pa.timestamp("us", tz="UTC"): Physical(INT64, np.int64, np.int64, 10),
    pa.float64(): Physical(DOUBLE, np.float64, np.float64),
}


def physical(kind: pa.DataType) -> Physical:
    """How values of an Arrow type lie in a file; texts, their dictionaries and their lists as bytes.

    Example:
        >>> physical(pa.uint8()).converted
        11
    """
    return _PHYSICAL.get(kind, Physical(BYTES, np.uint8, np.uint8, 0))


class Page(NamedTuple):
    """A page before compression.

    Attributes:
        body: Its bytes.
        n_values: Values in it, nulls included.
        encoding: Parquet's number of their encoding.
        is_dictionary: Whether it holds the values that the pages behind it refer to.
    """

    body: bytes | U8
    n_values: int
    encoding: int
    is_dictionary: bool = False


def packed(codes: I32, most: int) -> U8:
    """Numbers from 0 to ``most`` as Parquet's hybrid of runs and packed bits, in whichever of the two is shorter.

    Example:
        >>> packed(np.zeros(100, np.int32), 1).tobytes().hex()
        'c80100'
    """
    width = max(1, most.bit_length())
    limit = (codes.size + 7) // 8 * width + len(varint(codes.size // 8 << 1))
    out = np.empty(limit + 24 + SPARE, np.uint8)
    size = pack_runs(codes, width, limit, out)
    return out[: size if size >= 0 else pack_bits(codes, width, out)]


def presence(valid: B1) -> bytes:
    """The definition levels of a page of a column that may be null: which values are there.

    Args:
        valid: bool[n].

    Example:
        >>> presence(np.array([True, False, True])).hex()
        '020000000305'
    """
    n, there = valid.size, int(np.count_nonzero(valid))
    if there in {0, n}:
        return with_length(varint(n << 1) + bytes([there > 0]))
    return with_length(varint((n + 7) // 8 << 1 | 1) + np.packbits(valid, bitorder="little").tobytes())


def with_length(levels: bytes | U8) -> bytes:
    """Levels behind their length, as a data page holds them."""
    return len(levels).to_bytes(4, "little") + bytes(levels)


def bits(buffer: pa.Buffer | None, offset: int, n: int) -> B1:
    """bool[n] from Arrow's bits; all true without a buffer.

    Example:
        >>> bits(pa.array([True, False, True]).buffers()[1], 1, 2).tolist()
        [False, True]
    """
    if buffer is None:
        return np.ones(n, np.bool_)
    packed_bits = np.frombuffer(buffer, np.uint8, (offset + n + 7) // 8)
    return np.unpackbits(packed_bits, count=offset + n, bitorder="little")[offset:].view(np.bool_)


def validity(arrays: Sequence[pa.Array]) -> B1:
    """bool[n]: which values are not null.

    Example:
        >>> validity([pa.array([1, None]), pa.array([2])]).tolist()
        [True, False, True]
    """
    if not any(array.null_count for array in arrays):
        return np.ones(sum(map(len, arrays)), np.bool_)
    return np.concatenate([bits(array.buffers()[0], array.offset, len(array)) for array in arrays])


class TextRows:
    """Texts of several arrays as one sequence, to be written a page at a time.

    Args:
        arrays: Large strings.

    Attributes:
        valid: bool[n], which are not null.
        ends: int64[n + 1], the bytes that all texts before take in a page.
    """

    def __init__(self, arrays: Sequence[pa.LargeStringArray]) -> None:
        self._pieces: list[tuple[int, U8, I64, B1]] = []
        valid, sizes, n = [], [], 0
        for array in arrays:
            if len(array):
                mask, offsets, data = array.buffers()
                there = bits(mask if array.null_count else None, array.offset, len(array))
                starts = np.frombuffer(offsets, np.int64, len(array) + 1, array.offset * 8)
                chars = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
                self._pieces.append((n, chars, starts, there if array.null_count else there[:0]))
                valid.append(there)
                sizes.append(np.where(there, np.diff(starts) + 4, 0) if array.null_count else np.diff(starts) + 4)
                n += len(array)
        self.valid = np.concatenate(valid) if valid else np.zeros(0, np.bool_)
        self.ends = np.zeros(n + 1, np.int64)
        if n:
            np.cumsum(np.concatenate(sizes), out=self.ends[1:])

    def page(self, levels: bytes, first: int, last: int) -> U8:
        """Levels and the texts from ``first`` up to ``last``."""
        size = len(levels) + int(self.ends[last] - self.ends[first])
        out = np.empty(size + SPARE, np.uint8)
        out[: len(levels)] = np.frombuffer(levels, np.uint8)
        at = len(levels)
        for start, chars, starts, valid in self._pieces:
            a, b = max(first - start, 0), min(last - start, starts.size - 1)
            if a < b:
                at = put_texts(chars, starts, valid, a, b, out, at)
        return out[:size]
