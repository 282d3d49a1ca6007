"""Dates written ``YYYY-MM-DD``."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.words import HIGH_BITS, inlined, lean, load8

_SHAPE = np.uint64(0x2D30302D30303030)
"""``0000-00-`` as a little-endian word."""

_HYPHENS = np.uint64(0xFF0000FF00000000)
_ABOVE_NINE = np.uint64(0x7676767676767676)
_DAY = np.uint64(0x3030)
_TWO = np.uint64(0xFFFF)


@inlined
def digit(word: np.uint64, place: int) -> int:
    """A byte of a word."""
    return np.int64((word >> np.uint64(8 * place)) & np.uint64(0xFF))


@lean
def is_date(buf: np.ndarray, start: int) -> bool:
    """Whether the ten bytes at ``start`` of a padded buffer are ``YYYY-MM-DD``, a day of the calendar from year 1 on."""
    a, b = load8(buf, start) ^ _SHAPE, (load8(buf, start + 8) & _TWO) ^ _DAY
    if (a & _HYPHENS) | ((a | (a + _ABOVE_NINE) | b | (b + _ABOVE_NINE)) & HIGH_BITS):
        return False
    year = digit(a, 0) * 1000 + digit(a, 1) * 100 + digit(a, 2) * 10 + digit(a, 3)
    month, day = digit(a, 5) * 10 + digit(a, 6), digit(b, 0) * 10 + digit(b, 1)
    if year == 0 or month < 1 or month > 12 or day < 1:
        return False
    if month == 2:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return day <= (29 if leap else 28)
    return day <= (30 if month == 4 or month == 6 or month == 9 or month == 11 else 31)
