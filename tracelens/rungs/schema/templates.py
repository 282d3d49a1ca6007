"""What an operation's error says: the library's messages as templates around the value that failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Template:
    """A message and where it is reported.

    Attributes:
        keyword: Keyword of the error; None for the schema ``false``.
        before: Text before the value.
        after: Text after it.
        shows: Whether the value itself (as Python prints it) stands between the two.
        up: Whether the error is reported at the value's parent: the library does so where a member's or element's
            schema is ``false``.
        by_extra: The template to use instead, by the event's extra number.
        by_value: The whole message, by the value.
        by_extras: The whole message, by the names of the members that were too many.
    """

    keyword: str | None
    before: str
    after: str
    shows: bool = True
    up: bool = False
    by_extra: Callable[[int], Template] | None = None
    by_value: Callable[[Any], str] | None = None
    by_extras: Callable[[list[str]], str] | None = None


def fixed(keyword: str, message: str) -> Template:
    """A message that does not show the value.

    Example:
        >>> fixed("required", "'a' is a required property").shows
        False
    """
    return Template(keyword, message, "", shows=False)


def closed_object(schema: dict[str, Any]) -> Template:
    """The message of ``additionalProperties: false``.

    Example:
        >>> closed_object({}).by_extras(["seat"])
        "Additional properties are not allowed ('seat' was unexpected)"
    """
    patterns = schema.get("patternProperties")

    def message(extras: list[str]) -> str:
        names = ", ".join(repr(extra) for extra in sorted(extras))
        if patterns is not None:
            regexes = ", ".join(repr(each) for each in sorted(patterns))
            return f"{names} {'does' if len(extras) == 1 else 'do'} not match any of the regexes: {regexes}"
        verb = "was" if len(extras) == 1 else "were"
        return f"Additional properties are not allowed ({names} {verb} unexpected)"

    return Template("additionalProperties", "", "", by_extras=message)


def closed_array(prefix: int) -> Template:
    """The message of ``items: false`` after so many prefix items.

    Example:
        >>> closed_array(1).by_value([1, 2])
        'Expected at most 1 item but found 1 extra: 2'
    """

    def message(value: list[Any]) -> str:
        extra = len(value) - prefix
        rest = value[prefix:] if extra != 1 else value[prefix]
        return f"Expected at most {prefix} {'items' if prefix != 1 else 'item'} but found {extra} extra: {rest!r}"

    return Template("items", "", "", by_value=message)


def closed_tuple(length: int) -> Template:
    """The message of ``additionalItems: false`` after so many items.

    Example:
        >>> closed_tuple(1).by_value([1, 2])
        'Additional items are not allowed (2 was unexpected)'
    """

    def message(value: list[Any]) -> str:
        rest = value[length:]
        verb = "was" if len(rest) == 1 else "were"
        return f"Additional items are not allowed ({', '.join(repr(each) for each in rest)} {verb} unexpected)"

    return Template("additionalItems", "", "", by_value=message)


def one_of(options: list[Any]) -> Template:
    """The messages of ``oneOf``: none is valid (no bit set), or several are.

    Example:
        >>> one_of([True, {}, False]).by_extra(3).after
        ' is valid under each of {}, True'
    """

    def by_extra(mask: int) -> Template:
        valid = [option for place, option in enumerate(options) if mask >> place & 1]
        if not valid:
            return Template("oneOf", "", " is not valid under any of the given schemas")
        # The library names the first valid one last.
        return Template("oneOf", "", f" is valid under each of {', '.join(map(repr, [*valid[1:], valid[0]]))}")

    return Template("oneOf", "", "", by_extra=by_extra)


def contains(least: Any, most: Any) -> Template:
    """The messages of ``contains`` from 2019-09 on, by the number of matches (-1: too many).

    Example:
        >>> contains(2, None).by_extra(1).keyword
        'minContains'
    """

    def by_extra(matches: int) -> Template:
        if matches < 0:
            too_many = f"Too many items match the given schema (expected at most {most})"
            return fixed("maxContains", too_many)
        if matches == 0:
            return Template("contains", "", " does not contain items matching the given schema")
        few = f"Too few items match the given schema (expected at least {least} but only {matches} matched)"
        return fixed("minContains", few)

    return Template("contains", "", "", by_extra=by_extra)
