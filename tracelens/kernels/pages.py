"""Parquet pages: distinct values by number, numbers packed into bits, texts with their lengths.

Every output is told its room by the caller, see each function; nothing is allocated here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracelens.kernels.words import inlined, lean, load8, pointer, store8

_MIX = np.uint64(0x9E3779B97F4A7C15)

SPARE = 8
"""Bytes of room that every output needs behind its last byte: words of eight bytes are written."""


@lean
def number_codes(
    values: np.ndarray, valid: np.ndarray, base: int, table: np.ndarray, distinct: np.ndarray, codes: np.ndarray
) -> int:
    """Number small integers by their first appearance.

    Args:
        values: int32[n], from ``base`` to below ``base + table.size`` where valid.
        valid: bool[n], or empty where all are.
        base: The smallest value.
        table: int32, all -1.
        distinct: int32, room for the distinct values; filled.
        codes: int32[n]; the numbers of the valid values, filled from the front.

    Returns:
        How many distinct values there are.
    """
    count, n = np.int32(0), 0
    for i in range(values.size):
        if valid.size and not valid[i]:
            continue
        at = values[i] - base
        code = table[at]
        if code < 0:
            code = count
            table[at], distinct[count] = code, values[i]
            count += 1
        codes[n] = code
        n += 1
    return count


@lean
def number_values(
    values: np.ndarray, valid: np.ndarray, slots: np.ndarray, distinct: np.ndarray, codes: np.ndarray
) -> int:
    """Number values by their first appearance.

    Args:
        values: uint64[n], bit patterns.
        valid: bool[n], or empty where all are.
        slots: int32, all -1, a power of two above 1 and more than ``distinct.size``.
        distinct: uint64, room for the distinct values; filled.
        codes: int32[n]; the numbers of the valid values, filled from the front.

    Returns:
        How many distinct values there are; -1 where there are more than ``distinct`` has room for.
    """
    last, shift = slots.size - 1, np.uint64(64)
    while slots.size >> np.int64(np.uint64(64) - shift) > 1:
        shift -= np.uint64(1)
    code, before, count, n = np.int32(-1), np.uint64(0), 0, 0
    for i in range(values.size):
        if valid.size and not valid[i]:
            continue
        value = values[i]
        if code < 0 or value != before:
            at = np.int64((value * _MIX) >> shift) & last
            code = slots[at]
            while code >= 0 and distinct[code] != value:
                at = (at + 1) & last
                code = slots[at]
            if code < 0:
                if count == distinct.size:
                    return -1
                code = np.int32(count)
                slots[at], distinct[count] = code, value
                count += 1
            before = value
        codes[n] = code
        n += 1
    return count


@inlined
def put_varint(out: Any, at: int, value: int) -> int:
    """Write an unsigned number, seven bits a byte, and return the next place."""
    while value >= 128:
        out[at] = np.uint8(value & 127 | 128)
        value >>= 7
        at += 1
    out[at] = np.uint8(value)
    return at + 1


@lean
def pack_runs(codes: np.ndarray, width: int, limit: int, out: np.ndarray) -> int:
    """Write numbers as runs of equal ones (Parquet's RLE).

    Args:
        codes: int32[n], from 0, of at most ``width`` bits.
        width: Bits, 1 to 32.
        limit: Most bytes to write.
        out: uint8[limit + 16 + `SPARE`].

    Returns:
        The bytes written; -1 where that would be more than ``limit``.
    """
    target = pointer(out)
    size, at, i = (width + 7) >> 3, 0, 0
    while i < codes.size:
        code, start = codes[i], i
        while i < codes.size and codes[i] == code:
            i += 1
        at = put_varint(target, at, (i - start) << 1)
        store8(target, at, np.uint64(code))
        at += size
        if at > limit:
            return -1
    return at


@lean
def pack_bits(codes: np.ndarray, width: int, out: np.ndarray) -> int:
    """Write numbers back to back in ``width`` bits each, as one bit-packed run (zeros fill the last eight numbers).

    Args:
        codes: int32[n], from 0, of at most ``width`` bits.
        width: Bits, 1 to 32.
        out: uint8, room for ``(n + 7) // 8 * width + 10`` and `SPARE` bytes.

    Returns:
        The bytes written.
    """
    target = pointer(out)
    eights = (codes.size + 7) >> 3
    at = put_varint(target, 0, eights << 1 | 1)
    end = at + eights * width
    word, filled = np.uint64(0), 0
    for i in range(codes.size):
        word |= np.uint64(codes[i]) << np.uint64(filled)
        filled += width
        if filled >= 32:
            store8(target, at, word)
            word >>= np.uint64(32)
            filled -= 32
            at += 4
    while at < end:
        for k in range(4):
            if at + k < end:
                out[at + k] = np.uint8(word >> np.uint64(8 * k))
        word = np.uint64(0)
        at += 4
    return end


@lean
def put_texts(
    data: np.ndarray, offsets: np.ndarray, valid: np.ndarray, first: int, last: int, out: np.ndarray, at: int
) -> int:
    """Write texts ``first`` up to ``last``, each behind its length in four bytes; nulls are left out.

    Args:
        data: uint8, the bytes of all texts; need not be padded.
        offsets: int64[n + 1].
        valid: bool[n], or empty where nothing is null.
        first: The first text.
        last: The one behind the last.
        out: uint8, room for the texts, four bytes for each, and `SPARE` behind.
        at: Where to begin.

    Returns:
        The place behind the last byte written.
    """
    source, target = pointer(data), pointer(out)
    for row in range(first, last):
        if valid.size and not valid[row]:
            continue
        start, end = offsets[row], offsets[row + 1]
        store8(target, at, np.uint64(end - start))
        at += 4
        at = put_text(source, start, end, target, at)
    return at


@inlined
def put_text(source: Any, start: int, end: int, target: Any, at: int) -> int:
    """Copy ``source[start:end]`` without a look beyond it, and return the next place."""
    i = start
    while i + 8 <= end:
        store8(target, at, load8(source, i))
        i += 8
        at += 8
    if i < end and end - start >= 8:
        at += end - i
        store8(target, at - 8, load8(source, end - 8))
    elif i < end:
        for k in range(i, end):
            target[at] = source[k]
            at += 1
    return at
