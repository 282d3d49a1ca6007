"""Matchers in expected values: which objects are one, and what is wrong with one that is not well formed.

A matcher is an object with one key: ``{"$any": true}`` (any value, but one must be there), ``{"$regex": "…"}`` (a
Python regular expression, searched anywhere in the string as sent), ``{"$one_of": […]}``,
``{"$range": [lowest, highest]}`` (both included; numbers, or strings by their canonical text), ``{"$optional": value}``
(missing matches too), ``{"$literal": value}`` (no matcher inside counts).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tracelens.kernels.reference.decimal_form import number_order
from tracelens.kernels.reference.patterns import PatternFault, python_pattern
from tracelens.kernels.reference.values import Value, is_array, is_object, number_form, plain_text

MATCHERS = ("$any", "$regex", "$one_of", "$range", "$optional", "$literal")
"""The keys that make an object a matcher."""

ESCAPE = 'write {"$literal": …} around it where the data really looks like this'
PATTERN_HINT = "in TOML, single quotes keep back-slashes as they are"


class Fault(NamedTuple):
    """A matcher that cannot be used.

    Attributes:
        path: Where it stands.
        message: What is wrong.
        hint: What to do.
    """

    path: tuple[str | int, ...]
    message: str
    hint: str


def matcher(expected: Value) -> tuple[str, Value] | None:
    """The key and argument of a matcher; None for an ordinary value, and for a matcher that is not well formed.

    Example:
        >>> matcher({"$regex": "^UA"}), matcher({"$regex": 5}), matcher({"$any": True, "b": 1})
        (('$regex', '^UA'), None, None)
    """
    if not looks_like_matcher(expected):
        return None
    key, argument = next(iter(expected.items()))
    well_formed = {
        "$any": lambda: argument is True,
        "$regex": lambda: isinstance(argument, str) and is_pattern(argument),
        "$one_of": lambda: is_array(argument),
        "$range": lambda: is_array(argument) and len(argument) == 2 and _same_kind(*argument),
    }
    return (key, argument) if well_formed.get(key, lambda: True)() else None


def is_pattern(text: str) -> bool:
    """Whether a text is a regular expression that can be searched for."""
    try:
        python_pattern(text)
    except PatternFault:
        return False
    return True


def looks_like_matcher(value: Value) -> bool:
    """Whether a value is an object whose one key is a matcher's.

    Example:
        >>> looks_like_matcher({"$regex": 5}), looks_like_matcher({"$gt": 5})
        (True, False)
    """
    return is_object(value) and len(value) == 1 and next(iter(value)) in MATCHERS


def has_matcher(expected: Value) -> bool:
    """Whether an expected value holds a matcher anywhere, so that equality is decided per pair.

    Example:
        >>> has_matcher({"a": [{"$any": True}]}), has_matcher({"a": {"$any": False}})
        (True, False)
    """
    if matcher(expected) is not None:
        return True
    if is_object(expected):
        return any(has_matcher(item) for item in expected.values())
    return is_array(expected) and any(has_matcher(item) for item in expected)


def fault(expected: Value, path: tuple[str | int, ...] = ()) -> Fault | None:
    """The first matcher inside an expected value that is not well formed; None if all are.

    Args:
        expected: An expected value, or the arguments of an expected call.
        path: Where it stands.

    Example:
        >>> fault({"a": [{"$one_of": [1, {"$regex": 5}]}]})
        Fault(path=('a', 0), message='$regex should be a string, not 5', hint='write {"$literal": …} ...')
        >>> fault({"a": {"$literal": {"$regex": 5}}}) is None
        True
    """
    if looks_like_matcher(expected):
        key, argument = next(iter(expected.items()))
        wrong = _wrong(key, argument)
        if wrong is not None:
            return Fault(path, *wrong)
        inner = argument if key == "$one_of" else [argument] if key == "$optional" else ()
        return next(filter(None, (fault(item, path) for item in inner)), None)
    if is_object(expected):
        return next(filter(None, (fault(item, (*path, key)) for key, item in expected.items())), None)
    items = enumerate(expected) if is_array(expected) else ()
    return next(filter(None, (fault(item, (*path, k)) for k, item in items)), None)


def strange_keys(expected: Value) -> Iterator[str]:
    """Keys that begin as matchers do, alone in their object, and are none: data, or a slip.

    Example:
        >>> list(strange_keys({"a": {"$near": 1}, "b": {"$literal": {"$gt": 1}}, "c": {"$gt": 1, "$lt": 2}}))
        ['$near']
    """
    if is_object(expected):
        if looks_like_matcher(expected) and "$literal" in expected:
            return
        for key in expected:
            if len(expected) == 1 and key.startswith("$") and key not in MATCHERS:
                yield key
        expected = list(expected.values())
    for item in expected if is_array(expected) else ():
        yield from strange_keys(item)


def _wrong(key: str, argument: Value) -> tuple[str, str] | None:
    """What is wrong with a matcher itself, and what to do."""
    if key == "$any" and argument is not True:
        return "$any should be true", ESCAPE
    if key == "$regex":
        return _wrong_regex(argument)
    if key == "$one_of" and not (is_array(argument) and argument):
        return f"$one_of should be a list of values, not {plain_text(argument)}", ESCAPE
    return _wrong_range(argument) if key == "$range" else None


def _wrong_regex(argument: Value) -> tuple[str, str] | None:
    if not isinstance(argument, str):
        return f"$regex should be a string, not {plain_text(argument)}", ESCAPE
    try:
        python_pattern(argument)
    except PatternFault as error:
        return f"{argument!r} {error}", PATTERN_HINT
    return None


def _wrong_range(argument: Value) -> tuple[str, str] | None:
    if not is_array(argument) or len(argument) != 2:
        return f"$range should be [lowest, highest], not {plain_text(argument)}", ESCAPE
    if not _same_kind(*argument):
        return f"the bounds of $range should be two numbers or two strings, not {plain_text(argument)}", ESCAPE
    low, high = argument
    if isinstance(low, str):
        empty = low > high and low.casefold() > high.casefold()
    else:
        empty = number_order(number_form(low) or "") > number_order(number_form(high) or "")
    return (f"$range {plain_text(argument)} holds nothing", "the lowest bound comes first") if empty else None


def _same_kind(low: Value, high: Value) -> bool:
    strings = isinstance(low, str) and isinstance(high, str)
    return strings or (number_form(low) is not None and number_form(high) is not None)
