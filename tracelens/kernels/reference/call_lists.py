"""Lists of calls as people write them, read for pairing: dictionaries or bare names, arguments as values or JSON text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from tracelens.errors import UsageError
from tracelens.kernels.reference import relation
from tracelens.kernels.reference.matchers import fault
from tracelens.kernels.reference.normal import canonical
from tracelens.kernels.reference.pairing import UNIT, Call, Match
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.reference.values import is_object, parse

ANYTHING = {"$any": True}
_UNCAPTURED = frozenset({"not_captured", "truncated"})


def read_match(actual: Sequence[Any], expected: Sequence[Any], *, parallel: bool = False) -> Match:
    """Two lists of calls, compared by the default rules and the matchers of the expected side.

    Args:
        actual: Calls made: mappings with `name`, `arguments` (an object, or JSON text that holds one; absent, null
            and `""` mean none), and where wanted `turn` and `arguments_state` (`not_captured` or `truncated`). A list
            of strings is a list of names. Anything else in the list is a malformed call.
        expected: Calls of the reference; without `arguments` any are accepted, and matchers may stand in them.
        parallel: Whether calls next to each other with one `turn` may be reordered.

    Returns:
        The match.

    Raises:
        UsageError: An expected call has no name, arguments that are no object, or a matcher that is not well formed.

    Example:
        >>> match = read_match([{"name": "a", "arguments": '{"n": 1.0}'}], [{"name": "a", "arguments": {"n": 1}}])
        >>> match.is_exact(0, 0)
        True
    """
    names = bool(actual) and all(isinstance(entry, str) for entry in actual)
    made = [_actual({"name": entry} if names else entry) for entry in actual]
    wanted = [_expected(entry, at) for at, entry in enumerate(expected)]

    @cache
    def exact(i: int, j: int) -> bool:
        return relation.exact(made[i][1], wanted[j][1])

    @cache
    def agreement(i: int, j: int) -> int:
        return round(relation.agreement(made[i][1], wanted[j][1]) * UNIT)

    return Match([call for call, _ in made], [call for call, _ in wanted], exact, agreement, parallel)


def _actual(entry: Any) -> tuple[Call, Any]:
    """A call made and its arguments."""
    name = entry.get("name") if isinstance(entry, Mapping) else None
    if not isinstance(name, str):
        return Call(None, malformed=True), {}
    captured = entry.get("arguments_state") not in _UNCAPTURED
    arguments, usable = _arguments(entry.get("arguments"))
    return Call(name, captured=captured, usable=usable, turn=entry.get("turn")), arguments


def _expected(entry: Any, at: int) -> tuple[Call, Any]:
    """An expected call and its arguments."""
    given = {"name": entry} if isinstance(entry, str) else entry
    where = f"expected call {at}"
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise UsageError("it has no name", where=where, hint='write {"name": "...", "arguments": {...}}')
    if given.get("arguments") is None:
        return Call(given["name"]), ANYTHING
    arguments, usable = _arguments(given["arguments"])
    if not usable:
        raise UsageError("its arguments are no JSON object", where=where, hint="leave them out to accept any")
    found = fault(arguments)
    if found is not None:
        place = ", ".join(filter(None, (where, render_path(found.path))))
        raise UsageError(found.message, where=place, hint=found.hint)
    return Call(given["name"]), arguments


def _arguments(given: Any) -> tuple[Any, bool]:
    """Arguments as an object, and whether they are one; text is decoded at most twice."""
    blank = isinstance(given, str) and not given.strip(" \t\r\n")
    value = {} if given is None or blank else given
    try:
        for _ in range(2):
            value = parse(value) if isinstance(value, str) else value
            value = {} if value is None else value
        canonical(value)
    except ValueError:
        return {}, False
    return (value, True) if is_object(value) else ({}, False)
