"""Numbers of JSON text as a schema sees them: exactly where a double holds them, else with a known error.

A verdict that the error could turn around is not given: the answer is then `UNSURE`, and somebody exact is asked.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tracelens.kernels.scan import INTEGER

NO = 0
YES = 1
UNSURE = 2

EXACT = 0
NEAR = 1
UNKNOWN = 2

BIG = 2.0**53
# At most three roundings of half an ulp each, and room to spare.
SLACK = 1e-15

LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = range(4)

POWERS = np.array([10.0**k for k in range(23)])


@njit(nogil=True, cache=True)
def read_decimal(buf: np.ndarray, start: int, end: int) -> tuple[int, int, bool, bool]:
    """A number as ``(m, e, negative, cut)``: its size is ``m * 10**e``.

    ``m`` holds the first 18 significant digits without trailing zeros; ``cut`` says that more were non-zero.
    """
    m, e, digits, pending, cut = 0, 0, 0, 0, False
    negative = buf[start] == 45
    k = start + 1 if negative else start
    fraction = False
    while k < end:
        c = np.int64(buf[k])
        if c == 46:
            fraction = True
        elif 48 <= c <= 57:
            # Zeros are held back until a digit follows, so that m never ends in one.
            pending += 1
            if c != 48:
                if digits == 0:
                    pending = 1
                if digits + pending > 18:
                    cut = True
                else:
                    for _ in range(pending):
                        m *= 10
                    m += c - 48
                    digits += pending
                    pending = 0
            if fraction:
                e -= 1
        else:
            e += read_exponent(buf, k + 1, end)
            break
        k += 1
    if m == 0:
        return 0, 0, negative, False
    return m, e + pending, negative, cut


@njit(nogil=True, cache=True)
def read_exponent(buf: np.ndarray, k: int, end: int) -> int:
    """The number after the ``e``, clamped to a million either way."""
    negative = buf[k] == 45
    if negative or buf[k] == 43:
        k += 1
    value = 0
    while k < end:
        value = min(value * 10 + np.int64(buf[k]) - 48, 1_000_000)
        k += 1
    return -value if negative else value


@njit(nogil=True, cache=True)
def read_double(buf: np.ndarray, start: int, end: int) -> tuple[float, int]:
    """A number's value and how good it is: `EXACT` (what Python reads), `NEAR` (within `SLACK`) or `UNKNOWN`.

    Whatever is larger than 10^22 comes out as 10^22 or more of the right sign, and is `EXACT` only in that sense.
    """
    m, e, negative, cut = read_decimal(buf, start, end)
    quality = NEAR if cut or m > 9_007_199_254_740_992 else EXACT
    value = np.float64(m)
    if m == 0 or e == 0:
        pass
    elif e > 22:
        value, quality = 1e22, EXACT
    elif e > 0:
        value *= POWERS[e]
    elif e >= -22:
        value /= POWERS[-e]
    else:
        quality = UNKNOWN
    if quality == NEAR and e >= 0 and value > BIG:
        quality = EXACT
    return (-value if negative else value), quality


@njit(nogil=True, cache=True)
def is_integer(buf: np.ndarray, start: int, end: int, flags: int) -> int:
    """Whether a number is an integer in the sense of JSON Schema: 1 and 1.0 are, 1.5 is not."""
    if flags & INTEGER:
        return YES
    value, quality = read_double(buf, start, end)
    if quality == UNKNOWN:
        return UNSURE
    distance = abs(value - np.rint(value))
    if quality == EXACT:
        return YES if distance == 0.0 else NO
    return NO if distance > abs(value) * 2.0 * SLACK else UNSURE


@njit(nogil=True, cache=True)
def compare(value: float, quality: int, relation: int, bound: float) -> int:
    """Whether ``value <relation> bound`` holds; doubles of 2^53 and more stand for more than one integer."""
    if quality == UNKNOWN or (abs(value) >= BIG and abs(bound) >= BIG):
        return UNSURE
    if quality == NEAR and abs(value - bound) <= abs(bound) * 4.0 * SLACK:
        return UNSURE
    if relation == LESS:
        return YES if value < bound else NO
    if relation == LESS_EQUAL:
        return YES if value <= bound else NO
    if relation == GREATER:
        return YES if value > bound else NO
    return YES if value >= bound else NO


@njit(nogil=True, cache=True)
def equals(value: float, quality: int, other: float) -> int:
    """Whether a number read from text equals an exact one."""
    if quality == UNKNOWN or (abs(value) >= BIG and abs(other) >= BIG):
        return UNSURE
    if quality == NEAR and abs(value - other) <= abs(other) * 4.0 * SLACK:
        return UNSURE
    return YES if value == other else NO


@njit(nogil=True, cache=True)
def is_multiple(buf: np.ndarray, start: int, end: int, unit: int, exponent: int) -> int:
    """Whether a number is an integral multiple of ``unit * 10**exponent`` (``unit`` below 2^31), on decimals."""
    m, e, _, cut = read_decimal(buf, start, end)
    if m == 0:
        return YES
    if e < exponent and not cut:
        return NO
    if cut or e - exponent > 5000:
        return UNSURE
    rest = m % unit
    for _ in range(e - exponent):
        rest = rest * 10 % unit
    return YES if rest == 0 else NO
