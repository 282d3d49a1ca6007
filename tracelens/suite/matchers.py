"""The syntax of matchers in expected values, such as ``{"$regex": "^UA"}``."""

from __future__ import annotations

from typing import Any

from tracelens.kernels.reference import matchers
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.reference.patterns import PatternFault, python_pattern
from tracelens.suite.rules import RefusedError


def pattern(text: str) -> str:
    r"""The regular expression, after compiling it once.

    Patterns of the suite itself (field checks, answer, safety, ``$regex``) are Python regular expressions; those in
    JSON Schemas follow ECMA-262 and are not checked here.

    Raises:
        RefusedError: It does not compile, or a search could take forever.

    Example:
        >>> pattern(r"(?i)drop\s+table")
        '(?i)drop\\s+table'
    """
    try:
        python_pattern(text)
    except PatternFault as error:
        raise RefusedError(f"{text!r} {error}", matchers.PATTERN_HINT) from None
    return text


def is_matcher(value: Any) -> bool:
    """Whether an expected value is a matcher: an object with one key, and that a matcher's.

    Example:
        >>> is_matcher({"$any": True}), is_matcher({"$gt": 5}), is_matcher({"$any": True, "b": 1})
        (True, False, False)
    """
    return matchers.looks_like_matcher(value)


def check_matchers(value: Any) -> Any:
    """The value, after a look at every matcher inside it.

    Args:
        value: An expected value, or the arguments of an expected call.

    Raises:
        RefusedError: A matcher whose argument has the wrong kind.

    Example:
        >>> check_matchers({"flight_id": {"$regex": "^UA"}})
        {'flight_id': {'$regex': '^UA'}}
    """
    fault = matchers.fault(value)
    if fault is not None:
        place = render_path(fault.path)
        raise RefusedError(f"{place}: {fault.message}" if place else fault.message, fault.hint)
    return value
