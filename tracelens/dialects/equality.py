"""Equalities in plain Python: two arguments are equal if their keys are."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from tracelens.dialects.reading import NOT_GIVEN
from tracelens.dialects.view import Equality

ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def by_value(value: Any) -> Hashable:
    """A key of Python's `==` over JSON values: numbers and truth values already hash by their value.

    Example:
        >>> by_value({"n": [1, True]}) == by_value({"n": [1.0, 1]}), by_value("1") == by_value(1)
        (True, False)
    """
    if isinstance(value, dict):
        return ("{}", frozenset((name, by_value(item)) for name, item in value.items()))
    if isinstance(value, list):
        return ("[]", tuple(map(by_value, value)))
    plain: Hashable = value
    return plain


def by_json(value: Any) -> str:
    """The JSON text with sorted keys.

    Example:
        >>> by_json({"b": 1, "a": 1.0})
        '{"a": 1.0, "b": 1}'
    """
    return json.dumps(value, sort_keys=True)


def plain_text(value: Any) -> str:
    """`str` of a plain value, the JSON text of an object or array, a string as it is.

    Example:
        >>> plain_text(1), plain_text({"a": True}), plain_text("x"), plain_text(None)
        ('1', '{"a": true}', 'x', 'None')
    """
    return by_json(value) if isinstance(value, dict | list) else str(value)


def folded(value: Any) -> Hashable:
    """A string trimmed and in upper case, anything else by value.

    Example:
        >>> folded(" jfk") == folded("JFK"), folded(["jfk"]) == folded(["JFK"])
        (True, False)
    """
    return value.strip().upper() if isinstance(value, str) else by_value(value)


OF_VALUE: Mapping[Equality, Callable[[Any], Hashable]] = {
    Equality.PYTHON: by_value,
    Equality.JSON_TEXT: by_json,
    Equality.STR: str,
    Equality.PLAIN_TEXT: plain_text,
    Equality.FOLDED: folded,
}
"""The key of one argument's value under each equality."""


def of_arguments(equality: Equality, arguments: Any) -> Hashable:
    """The key of all arguments of a call.

    Example:
        >>> of_arguments(Equality.PLAIN_TEXT, {"n": 1}) == of_arguments(Equality.PLAIN_TEXT, {"n": "1"})
        True
    """
    if arguments is NOT_GIVEN:
        return ("none given",)
    if equality is Equality.JSON_TEXT or not isinstance(arguments, dict):
        return ("text", by_json(arguments)) if equality is Equality.JSON_TEXT else by_value(arguments)
    key = OF_VALUE[equality]
    return ("{}", frozenset((name, key(value)) for name, value in arguments.items()))
