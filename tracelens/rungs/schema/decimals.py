"""Exact decimals: numbers that remember how they were written, and divisibility without rounding."""

from __future__ import annotations

import json
from typing import Any, Self


class Written(float):
    """A float read from JSON that keeps its literal; equal, ordered and printed as the float it is."""

    __slots__ = ("literal",)
    literal: str

    def __new__(cls, literal: str) -> Self:
        """Read a JSON number."""
        self = super().__new__(cls, literal)
        self.literal = literal
        return self


def loads(text: str | bytes) -> Any:
    """``json.loads``, where floats are `Written`.

    Example:
        >>> value = loads("[4.020, 7]")
        >>> value, value[0].literal
        ([4.02, 7], '4.020')
    """
    return json.loads(text, parse_float=Written)


def decimal_parts(number: float) -> tuple[int, int]:
    """The integers ``(m, e)`` with the number equal to ``m * 10**e``, ``m`` without trailing zeros.

    A float stands for its literal where it has one, else for the shortest decimal that reads back as it.

    Example:
        >>> decimal_parts(4.02), decimal_parts(1200), decimal_parts(-0.0)
        ((402, -2), (12, 2), (0, 0))
    """
    if isinstance(number, int):
        return _stripped(number, 0)
    literal = number.literal if isinstance(number, Written) else repr(number)
    mantissa, _, exponent = literal.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    return _stripped(int(whole + fraction), int(exponent or 0) - len(fraction))


def _stripped(mantissa: int, exponent: int) -> tuple[int, int]:
    if mantissa == 0:
        return 0, 0
    digits = str(mantissa)
    zeros = len(digits) - len(digits.rstrip("0"))
    return int(digits[: len(digits) - zeros]), exponent + zeros


def is_multiple(number: float, unit: float) -> bool:
    """Whether a number is an integral multiple of another, decided on the exact decimals.

    Example:
        >>> is_multiple(4.02, 0.01), is_multiple(4.021, 0.01), is_multiple(1e300, 3)
        (True, False, False)
    """
    m, e = decimal_parts(number)
    n, f = decimal_parts(unit)
    if m == 0:
        return True
    # m has no trailing zero, so no power of ten divides it; and modular power keeps any exponent small.
    return e >= f and m * pow(10, e - f, abs(n)) % abs(n) == 0
