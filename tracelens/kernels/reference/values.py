"""JSON values as the reference holds them: Python's, except that a number keeps its literal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

from tracelens.kernels.reference.decimal_form import decimal_form, number_text

MAX_DEPTH = 128
"""Containers may nest this deep, as in the kernels."""

Value = Any
"""None, bool, `Number`, int, float, Decimal, str, a list (or tuple) of values, or a mapping of str to values."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(r"[\[\]{}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# What may be a surrogate, or be an escape that only a parser can tell from one.
_MAYBE_SURROGATE = re.compile(r"[\ud800-\udfff]|\\u[dD]")


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number with the text it was written in.

    Example:
        >>> Number("1.0").form == Number("1e0").form
        True
    """

    literal: str

    @property
    def form(self) -> str:
        """The canonical form of the value, see `decimal_form`."""
        return decimal_form(self.literal)


def parse(text: str) -> Value:
    """The value of one JSON text.

    Strict: no NaN or infinity, no lone surrogate, at most 128 nested containers. Of duplicate keys the last counts.

    Args:
        text: The JSON text.

    Returns:
        The value; every number is a `Number`.

    Raises:
        ValueError: The text is not one JSON value.

    Example:
        >>> parse('{"a": 1.10, "a": [true, null]}')
        {'a': [True, None]}
    """
    check_depth(text)
    if _MAYBE_SURROGATE.search(text):
        for token in _STRING.finditer(text):
            check_string(token.group())
    return _decode(text)


def check_depth(text: str) -> None:
    """Refuse a text whose brackets nest too deep, before a recursive parser sees it.

    Raises:
        ValueError: More than 128 containers are open at once.
    """
    # Brackets inside strings are counted as well: the count is only ever too high.
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _BRACKETS.finditer(_STRING.sub("", text)):
        depth += 1 if bracket.group() in "[{" else -1
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} containers")


def check_string(token: str) -> None:
    """Refuse a JSON string that no UTF-8 text can hold.

    Raises:
        ValueError: It has a lone surrogate, or is no JSON string.
    """
    if _MAYBE_SURROGATE.search(token) and _SURROGATE.search(json.loads(token)):
        raise ValueError(f"lone surrogate in {token[:60]}")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON value")


# One decoder and one encoder for all texts: making one costs more than a short text.
_decode = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=_refuse).decode
_encode = json.JSONEncoder(ensure_ascii=False).encode


def number_form(value: Value) -> str | None:
    """The canonical form of a number, None for anything else (booleans are no numbers).

    Raises:
        ValueError: NaN or an infinity.

    Example:
        >>> number_form(10), number_form(Number("1.50")), number_form(True), number_form("1")
        ('1e1', '15e-1', None, None)
    """
    if isinstance(value, Number):
        return value.form
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return decimal_form(str(value).replace("E", "e"))


def is_object(value: Value) -> bool:
    """Whether a value is a JSON object."""
    return isinstance(value, Mapping)


def is_array(value: Value) -> bool:
    """Whether a value is a JSON array."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def plain_text(value: Value) -> str:
    """A value as JSON text, strings untouched, keys sorted by code point, numbers in one spelling per value.

    Example:
        >>> plain_text(parse('{"b": 1.0, "a": ["é", null]}'))
        '{"a":["é",null],"b":1}'
    """
    form = number_form(value)
    if form is not None:
        return number_text(form)
    if is_object(value):
        return "{" + ",".join(f"{quote(key)}:{plain_text(value[key])}" for key in sorted(value)) + "}"
    if is_array(value):
        return "[" + ",".join(plain_text(item) for item in value) + "]"
    return quote(value) if isinstance(value, str) else json.dumps(value)


def quote(text: str) -> str:
    r"""A string as JSON, non-ASCII characters as they are.

    Example:
        >>> print(quote('a "é"'))
        "a \"é\""
    """
    return _encode(text)
