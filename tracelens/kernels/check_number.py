"""Numbers of JSON text as a schema sees them: exactly where a double holds them, else with a known error.

``data`` is the address of the bytes. A verdict that the error could turn around is not given: the answer is then `UNSURE`, and somebody exact is asked.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.jit import kernel
from tracelens.kernels.memory import load_u8
from tracelens.kernels.scan import INTEGER

NO = 0
YES = 1
UNSURE = 2

EXACT = 0
NEAR = 1
UNKNOWN = 2

BIG = 2.0**53
NO_INTEGER = -(2**63)
# At most three roundings of half an ulp each, and room to spare.
SLACK = 1e-15

LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = range(4)

POWERS = np.array([10.0**k for k in range(23)])


@kernel
def read_decimal(data: int, start: int, end: int) -> tuple[int, int, bool, bool]:
    """A number as ``(m, e, negative, cut)``: its size is ``m * 10**e``.

    ``m`` holds the first 18 significant digits without trailing zeros; ``cut`` says that more were non-zero.
    """
    m, e, digits, pending, cut = 0, 0, 0, 0, False
    negative = load_u8(data, start) == 45
    k = start + 1 if negative else start
    fraction = False
    while k < end:
        c = load_u8(data, k)
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
            e += read_exponent(data, k + 1, end)
            break
        k += 1
    if m == 0:
        return 0, 0, negative, False
    return m, e + pending, negative, cut


@kernel
def read_exponent(data: int, k: int, end: int) -> int:
    """The number after the ``e``, clamped to a million either way."""
    negative = load_u8(data, k) == 45
    if negative or load_u8(data, k) == 43:
        k += 1
    value = 0
    while k < end:
        value = min(value * 10 + load_u8(data, k) - 48, 1_000_000)
        k += 1
    return -value if negative else value


@kernel
def read_double(data: int, start: int, end: int) -> tuple[float, int]:
    """A number's value and how good it is: `EXACT` (what Python reads), `NEAR` (within `SLACK`) or `UNKNOWN`.

    Whatever is larger than 10^22 comes out as 10^22 or more of the right sign, and is `EXACT` only in that sense.
    """
    m, e, negative, cut = read_decimal(data, start, end)
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


@kernel
def is_integer(data: int, start: int, end: int, flags: int) -> int:
    """Whether a number is an integer in the sense of JSON Schema: 1 and 1.0 are, 1.5 is not."""
    if flags & INTEGER:
        return YES
    value, quality = read_double(data, start, end)
    if quality == UNKNOWN:
        return UNSURE
    distance = abs(value - np.rint(value))
    if quality == EXACT:
        return YES if distance == 0.0 else NO
    return NO if distance > abs(value) * 2.0 * SLACK else UNSURE


@kernel
def read_integer(data: int, start: int, end: int, flags: int) -> int:
    """The integer that a number is to Python, where it has at most 18 digits; else `NO_INTEGER`."""
    m, e, negative, cut = read_decimal(data, start, end)
    if cut or e < 0 or e > 18:
        return NO_INTEGER
    for _ in range(e):
        m *= 10
        if m >= 10**18:
            return NO_INTEGER
    # What is written with a point or exponent is read as a double, which may be another integer.
    if flags & INTEGER == 0 and np.int64(np.float64(m)) != m:
        return NO_INTEGER
    return -m if negative else m


@kernel
def order(data: int, start: int, end: int, flags: int, value: float, quality: int, bound: float, integer: int) -> int:
    """-1, 0 or 1 as a number is less than, equal to or greater than an exact one; `UNSURE` (2) otherwise.

    ``bound`` is the exact number as a double and ``integer`` as an integer, where it is one of at most 18 digits:
    doubles of 2^53 and more stand for more than one integer.
    """
    if quality == UNKNOWN:
        return UNSURE
    if abs(value) >= BIG and abs(bound) >= BIG:
        exact = read_integer(data, start, end, flags)
        if exact == NO_INTEGER or integer == NO_INTEGER:
            return UNSURE
        return (exact > integer) - (exact < integer)
    if quality == NEAR and abs(value - bound) <= abs(bound) * 4.0 * SLACK:
        return UNSURE
    return (value > bound) - (value < bound)


@kernel
def compare(data: int, start: int, end: int, flags: int, relation: int, bound: float, integer: int) -> int:
    """Whether a number stands in a relation to a bound."""
    value, quality = read_double(data, start, end)
    found = order(data, start, end, flags, value, quality, bound, integer)
    if found == UNSURE:
        return UNSURE
    if relation == LESS:
        return YES if found < 0 else NO
    if relation == LESS_EQUAL:
        return YES if found <= 0 else NO
    if relation == GREATER:
        return YES if found > 0 else NO
    return YES if found >= 0 else NO


@kernel
def is_multiple(data: int, start: int, end: int, unit: int, exponent: int) -> int:
    """Whether a number is an integral multiple of ``unit * 10**exponent`` (``unit`` below 2^31), on decimals."""
    m, e, _, cut = read_decimal(data, start, end)
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
