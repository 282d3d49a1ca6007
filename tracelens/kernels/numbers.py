"""Digests of JSON numbers by their exact decimal value: sign, significant digits, exponent."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.hash import SEED_A, SEED_B, finish, step_a, step_b
from tracelens.kernels.scan import decimal_parts
from tracelens.kernels.words import HIGH_BITS, byte_mask, inlined, leading_zeros, lean, load8, trailing_zeros

SEED_NUMBER = np.uint64(0x4E)
"""Keeps the number 1 apart from the string "1"."""

_ZEROS = np.uint64(0x3030303030303030)
_POINTS = np.uint64(0x2E2E2E2E2E2E2E2E)
_ABOVE_NINE = np.uint64(0x7676767676767676)
_BYTES = np.uint64(0x00FF00FF00FF00FF)
_PAIRS = np.uint64(0x0000FFFF0000FFFF)
_FOURS = np.uint64(0x00000000FFFFFFFF)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_BYTE = np.uint64(0xFF)


@inlined
def digest_of_decimal(
    a: np.uint64, b: np.uint64, packed: np.uint64, count: int, negative: int, exponent: int
) -> tuple[np.uint64, np.uint64]:
    """Both lanes after the last (up to 15) digits, four bits each, and what is known of all ``count`` of them."""
    shape = np.uint64(count * 2 + negative)
    a, b = step_a(step_a(a, packed), shape), step_b(step_b(b, packed), shape)
    return finish(step_a(a, np.uint64(exponent))), finish(step_b(b, np.uint64(exponent)))


@inlined
def hash_number(buf: np.ndarray, start: int, end: int) -> tuple[np.uint64, np.uint64]:
    """The digest of a number; numbers of up to eight bytes without exponent take no loop and no branch.

    Their digits come to the upper end of a word, the point is closed up, and every two digits share a byte.
    """
    size = end - start
    if size > 8:
        return hash_long_number(buf, start, end)
    given = load8(buf, start)
    shift = np.uint64(64 - 8 * size)
    negative = np.uint64((given & _BYTE) == np.uint64(45))
    kept = (_ALL << shift) << (negative << np.uint64(3))
    text = (given << shift) & kept
    points = byte_mask(text, _POINTS)
    has_point = np.uint64(points != 0)
    point = (points & (~points + np.uint64(1))) >> np.uint64(7)  # the lowest bit of the point's byte
    below = point - has_point
    text = (text & ~(below | (point * _BYTE))) | ((text & below) << np.uint64(8))
    digits = text ^ ((kept << (has_point << np.uint64(3))) & _ZEROS)
    if (digits | (digits + _ABOVE_NINE)) & HIGH_BITS:
        return hash_long_number(buf, start, end)
    packed = ((digits << np.uint64(4)) | (digits >> np.uint64(8))) & _BYTES
    packed = ((packed << np.uint64(8)) | (packed >> np.uint64(16))) & _PAIRS
    packed = ((packed << np.uint64(16)) | (packed >> np.uint64(32))) & _FOURS
    nonzero = np.int64(packed != 0)
    fraction = (7 - (trailing_zeros(points) >> 3)) * np.int64(has_point)
    zeros = trailing_zeros(packed) >> 2
    packed >>= np.uint64((4 * zeros) & 63)
    count = 16 - (leading_zeros(packed) >> 2)
    exponent = (count + zeros - fraction) * nonzero
    return digest_of_decimal(
        SEED_A ^ SEED_NUMBER, SEED_B + SEED_NUMBER, packed, count, np.int64(negative) * nonzero, exponent
    )


@lean
def hash_long_number(buf: np.ndarray, start: int, end: int) -> tuple[np.uint64, np.uint64]:
    """`hash_number` of any number."""
    first, last, exponent = decimal_parts(buf, start, end)
    a, b = SEED_A ^ SEED_NUMBER, SEED_B + SEED_NUMBER
    packed, count = np.uint64(0), 0
    if first >= 0:
        for k in range(first, last + 1):
            if buf[k] == 46:
                continue
            packed = (packed << np.uint64(4)) | np.uint64(buf[k] - 48)
            count += 1
            if count & 15 == 0:
                a, b = step_a(a, packed), step_b(b, packed)
                packed = np.uint64(0)
    negative = first >= 0 and buf[start] == 45
    return digest_of_decimal(a, b, packed, count, np.int64(negative), exponent)
