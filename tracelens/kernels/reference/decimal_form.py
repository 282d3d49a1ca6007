"""Numbers by exact decimal value: no float, no loss, no limit on digits or exponents.

The canonical form of a JSON number is ``-123e-2``: an optional minus sign, the digits without zeros at either end,
``e`` and the exponent of the last digit. Zero, of whatever sign and length, is ``0``.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple

_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?\Z")
# Beyond this many zeros a number is easier to read with an exponent.
_ZEROS_SHOWN = 20
# Exponents of more digits are taken as this large where a size has to be compared.
_FAR = 10**18
# Beyond this many digits exact fractions would fill the memory; no tolerance a double can hold reaches that far.
_EXACT_RANGE = 2000
_CLOSE_RANGE = 10_000


class Form(NamedTuple):
    """The parts of a canonical form.

    Attributes:
        negative: Whether the value is below zero.
        digits: Digits without zeros at either end; empty for zero.
        exponent: Power of ten of the last digit, cut to ±10^18.
    """

    negative: bool
    digits: str
    exponent: int


def is_number(text: str) -> bool:
    """Whether a text is one JSON number.

    Example:
        >>> is_number("-1.50e3"), is_number("02134"), is_number("NaN"), is_number("+1")
        (True, False, False, False)
    """
    return _NUMBER.match(text) is not None


def decimal_form(literal: str) -> str:
    """The canonical form of a JSON number.

    Args:
        literal: A number as JSON writes it.

    Returns:
        Text that is equal for two literals exactly if their values are equal.

    Raises:
        ValueError: The text is no JSON number.

    Example:
        >>> decimal_form("-1.230"), decimal_form("100"), decimal_form("-0.0"), decimal_form("1e400")
        ('-123e-2', '1e2', '0', '1e400')
    """
    found = _NUMBER.match(literal)
    if found is None:
        raise ValueError(f"{literal!r} is no JSON number")
    sign, whole, fraction, exponent = found.groups(default="")
    digits = (whole + fraction).lstrip("0")
    short = digits.rstrip("0")
    if not short:
        return "0"
    return f"{sign}{short}e{_add(exponent or '0', len(digits) - len(short) - len(fraction))}"


def _add(exponent: str, shift: int) -> str:
    # int() refuses very long texts, Decimal does not.
    wide = Context(prec=len(exponent) + 25, Emax=10**18 - 1, Emin=-(10**18) + 1)
    total = wide.add(Decimal(exponent), Decimal(shift))
    return format(total, "f") if total else "0"


def split_form(form: str) -> Form:
    """The parts of a canonical form.

    Example:
        >>> split_form("-123e-2")
        Form(negative=True, digits='123', exponent=-2)
    """
    if form == "0":
        return Form(False, "", 0)
    digits, _, exponent = form.lstrip("-").partition("e")
    if len(exponent) > 18:
        return Form(form[0] == "-", digits, -_FAR if exponent[0] == "-" else _FAR)
    return Form(form[0] == "-", digits, int(exponent))


def number_text(form: str) -> str:
    """A canonical form as people write numbers, still exact, and still one text per value.

    Args:
        form: What `decimal_form` gives.

    Returns:
        A JSON number, without an exponent unless that took more than 20 zeros.

    Example:
        >>> number_text("1e2"), number_text("-123e-2"), number_text("5e-3"), number_text("7e300")
        ('100', '-1.23', '0.005', '7e300')
    """
    negative, digits, exponent = split_form(form)
    sign = "-" if negative else ""
    if not digits:
        return "0"
    if 0 <= exponent <= _ZEROS_SHOWN:
        return sign + digits + "0" * exponent
    if exponent < 0 and -exponent - len(digits) <= _ZEROS_SHOWN:
        padded = digits.rjust(1 - exponent, "0")
        return f"{sign}{padded[:exponent]}.{padded[exponent:]}"
    return form


def rounded(form: str, decimals: int) -> str:
    """A canonical form rounded to decimal places, halves to the even neighbour.

    Args:
        form: What `decimal_form` gives.
        decimals: Places after the point, 0 or more.

    Returns:
        A canonical form.

    Example:
        >>> rounded("2345e-3", 2), rounded("2355e-3", 2), rounded("-4e-1", 0), rounded("1e5", 2)
        ('234e-2', '236e-2', '0', '1e5')
    """
    negative, digits, exponent = split_form(form)
    cut = -decimals - exponent
    if not digits or cut <= 0:
        return form
    if cut > len(digits):
        return "0"
    head, tail = digits[:-cut], digits[-cut:]
    half = "5".ljust(cut, "0")
    whole = Decimal(head or "0")
    if tail > half or (tail == half and int(head[-1:] or "0") % 2 == 1):
        whole = Context(prec=len(head) + 2).add(whole, Decimal(1))
    return decimal_form(f"{'-' if negative else ''}{whole:f}e{-decimals}")


def number_order(form: str) -> tuple[int, int, str]:
    """A key by which canonical forms sort as their values do.

    Example:
        >>> sorted(["1e2", "-5e-1", "0", "15e0", "-3e3"], key=number_order)
        ['-3e3', '-5e-1', '0', '15e0', '1e2']
    """
    negative, digits, exponent = split_form(form)
    if not digits:
        return (0, 0, "")
    magnitude = len(digits) + exponent
    if not negative:
        return (1, magnitude, digits)
    # Nines' complement, and a digit above all at the end, turn the order of the digits round.
    return (-1, -magnitude, "".join(str(9 - int(digit)) for digit in digits) + ":")


def close(a: str, b: str, abs_tol: Fraction, rel_tol: Fraction) -> bool:
    """Whether two numbers differ by no more than a tolerance.

    The distance may be as large as ``abs_tol``, or as ``rel_tol`` times the larger magnitude, whichever is more.
    This is no equivalence: a may be close to b, and b to c, without a being close to c.

    Args:
        a: A canonical form.
        b: A canonical form.
        abs_tol: Absolute tolerance, 0 or more.
        rel_tol: Relative tolerance, 0 or more.

    Returns:
        True where they are close.

    Example:
        >>> close("1e2", "101e0", Fraction(0), Fraction("0.01")), close("1e0", "2e0", Fraction("0.5"), Fraction(0))
        (True, False)
    """
    if a == b:
        return True
    left, right = split_form(a), split_form(b)
    top = max(len(form.digits) + form.exponent for form in (left, right) if form.digits)
    if abs(top) > _CLOSE_RANGE:
        if top < 0 and abs_tol > 0:
            return True
        # Only the relative size counts now, so both may be scaled.
        left, right = (form._replace(exponent=form.exponent - top) for form in (left, right))
        abs_tol = Fraction(0)
    x, y = _fraction(left), _fraction(right)
    return abs(x - y) <= max(abs_tol, rel_tol * max(abs(x), abs(y)))


def fraction(form: str) -> Fraction | None:
    """The value of a canonical form as an exact fraction; None beyond 10^±2000, where that would be huge.

    Example:
        >>> fraction("-125e-2"), fraction("1e99999")
        (Fraction(-5, 4), None)
    """
    parts = split_form(form)
    if len(parts.digits) > _EXACT_RANGE or abs(parts.exponent) > _EXACT_RANGE:
        return None
    return _fraction(parts)


def _fraction(form: Form) -> Fraction:
    if not form.digits or form.exponent + len(form.digits) < -2 * _CLOSE_RANGE:
        return Fraction(0)
    value = Fraction(int(Decimal(form.digits))) * Fraction(10) ** form.exponent
    return -value if form.negative else value
