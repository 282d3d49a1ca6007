"""Equal texts are kept once: each row learns which of the distinct texts is its own.

A hash finds candidates, the bytes decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracelens.kernels.cells import ESCAPE, KIND, copy_bytes
from tracelens.kernels.hash import SEED_A, SEED_B, finish, step_a, step_b, tail_word
from tracelens.kernels.scan import STRING
from tracelens.kernels.words import inlined, lean, load8, pointer

FREE = -1
"""A slot of the table in which no text was entered."""


@inlined
def text_hash(buf: Any, start: int, end: int, salt: int) -> np.uint64:
    """A hash of bytes and salt; two lanes take turns, so that the processor works on both."""
    a, b = SEED_A ^ np.uint64(salt), SEED_B + np.uint64(end - start)
    i = start
    while i + 16 <= end:
        a, b = step_a(a, load8(buf, i)), step_b(b, load8(buf, i + 8))
        i += 16
    if i + 8 <= end:
        a = step_a(a, load8(buf, i))
        i += 8
    b = step_b(b, tail_word(buf, i, end - i))
    return finish(a ^ (b * SEED_A))


@inlined
def same_bytes(one: Any, at: int, other: Any, start: int, size: int) -> bool:
    """Whether two texts of one size are equal, eight bytes at a time."""
    k = 0
    while k + 8 <= size:
        if load8(one, at + k) != load8(other, start + k):
            return False
        k += 8
    return bool(tail_word(one, at + k, size - k) == tail_word(other, start + k, size - k))


@lean
def enter_texts(
    data: np.ndarray,
    offsets: np.ndarray,
    salt: np.ndarray,
    table: np.ndarray,
    kept: np.ndarray,
    kept_offsets: np.ndarray,
    kept_salt: np.ndarray,
    kept_hash: np.ndarray,
    count: int,
    row: np.ndarray,
) -> int:
    """Number texts by the distinct text of equal bytes and salt, in the order of their first appearance.

    Args:
        data: uint8, padded bytes of n texts.
        offsets: int64[n + 1].
        salt: int64[n]; texts of different salt are different.
        table: int32[2^k], more than half of it free; `FREE` or a distinct text.
        kept: uint8, padded room for all bytes; the distinct texts' bytes back to back.
        kept_offsets: int64, room for all texts and one more.
        kept_salt: int64, room for all texts.
        kept_hash: uint64, room for all texts.
        count: How many distinct texts stand there already.
        row: int64[n] out, the distinct text of each.

    Returns:
        How many distinct texts there are now.
    """
    buf, pool, slots = pointer(data), pointer(kept), pointer(table)
    mask = np.uint64(table.size - 1)
    for r in range(row.size):
        start, end = offsets[r], offsets[r + 1]
        key = text_hash(buf, start, end, salt[r])
        slot = key & mask
        while True:
            found = slots[np.int64(slot)]
            if found == FREE:
                break
            if kept_hash[found] == key and kept_salt[found] == salt[r]:
                at = kept_offsets[found]
                size = end - start
                if kept_offsets[found + 1] - at == size and same_bytes(pool, at, buf, start, size):
                    break
            slot = (slot + np.uint64(1)) & mask
        if found == FREE:
            found = count
            slots[np.int64(slot)] = found
            kept_hash[found], kept_salt[found] = key, salt[r]
            kept_offsets[found + 1] = copy_bytes(buf, start, end, pool, kept_offsets[found])
            count += 1
        row[r] = found
    return count


@lean
def number_cells(
    data: np.ndarray,
    raw: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    table: np.ndarray,
    first: np.ndarray,
    code: np.ndarray,
) -> int:
    """Number the strings of cells by their bytes, in the order of their first appearance.

    Args:
        data: uint8, padded.
        raw: uint8[n], see `tracelens.kernels.cells`.
        start: int32[n].
        end: int32[n].
        table: int32[2^k], more than n, all `FREE`; working memory.
        first: int64[n] out, the first cell of each distinct string.
        code: int64[n] out, number of the string of each cell; -1 where there is none.

    Returns:
        How many distinct strings there are; -1 if one is written with escapes, so that its bytes do not tell.
    """
    buf, slots = pointer(data), pointer(table)
    mask = np.uint64(table.size - 1)
    count = 0
    for r in range(raw.size):
        code[r] = -1
        if raw[r] & KIND != STRING + 1:
            continue
        if raw[r] & ESCAPE:
            return -1
        size = end[r] - start[r]
        slot = text_hash(buf, start[r], end[r], 0) & mask
        while True:
            found = slots[np.int64(slot)]
            if found == FREE:
                break
            at = first[found]
            if end[at] - start[at] == size and same_bytes(buf, start[at], buf, start[r], size):
                break
            slot = (slot + np.uint64(1)) & mask
        if found == FREE:
            found = count
            slots[np.int64(slot)] = count
            first[count] = r
            count += 1
        code[r] = found
    return count
