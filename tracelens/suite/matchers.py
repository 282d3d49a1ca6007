"""The syntax of matchers in expected values, such as ``{"$regex": "^UA"}``."""

from __future__ import annotations

import re
import warnings
from typing import Any

from tracelens.suite.names import MATCHERS
from tracelens.suite.rules import RefusedError


def pattern(text: str) -> str:
    r"""The regular expression, after compiling it once.

    Patterns of the suite itself (field checks, answer, safety, ``$regex``) are Python regular expressions; those in
    JSON Schemas follow ECMA-262 and are not checked here.

    Raises:
        RefusedError: It does not compile.

    Example:
        >>> pattern(r"(?i)drop\s+table")
        '(?i)drop\\s+table'
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # "possible nested set": legal, and none of our business
            re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise RefusedError(
            f"{text!r} is no regular expression: {error}", "single quotes keep back-slashes as they are"
        ) from None
    return text


def is_matcher(value: Any) -> bool:
    """Whether an expected value is a matcher: an object with one key, and that a matcher's.

    Example:
        >>> is_matcher({"$any": True}), is_matcher({"$gt": 5}), is_matcher({"$any": True, "b": 1})
        (True, False, False)
    """
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in MATCHERS


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
    if isinstance(value, list | tuple):
        for item in value:
            check_matchers(item)
    elif is_matcher(value):
        (key, argument), *_ = value.items()
        _check(key, argument)
    elif isinstance(value, dict):
        for item in value.values():
            check_matchers(item)
    return value


def _check(key: str, argument: Any) -> None:
    escape = 'write {"$literal": …} around it where the data really looks like this'
    if key == "$any" and argument is not True:
        raise RefusedError("$any should be true", escape)
    if key == "$regex":
        if not isinstance(argument, str):
            raise RefusedError(f"$regex should be a string, not {argument!r}", escape)
        pattern(argument)
    if key == "$one_of":
        if not isinstance(argument, list | tuple) or not argument:
            raise RefusedError(f"$one_of should be a list of values, not {argument!r}", escape)
        check_matchers(argument)
    if key == "$range":
        _check_range(argument, escape)
    if key == "$optional":
        check_matchers(argument)


def _check_range(argument: Any, escape: str) -> None:
    if not isinstance(argument, list | tuple) or len(argument) != 2:
        raise RefusedError(f"$range should be [lowest, highest], not {argument!r}", escape)
    numbers = [isinstance(bound, int | float) and not isinstance(bound, bool) for bound in argument]
    if not all(numbers) and not all(isinstance(bound, str) for bound in argument):
        raise RefusedError(f"the bounds of $range should be two numbers or two strings, not {argument!r}", escape)
    if argument[0] > argument[1]:
        raise RefusedError(f"$range {argument!r} holds nothing", "the lowest bound comes first")
