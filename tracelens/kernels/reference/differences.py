"""What differs between two calls' arguments, leaf by leaf.

A leaf is a scalar, an empty container (but no arguments at all are no leaf), or a container that is compared as a whole: ignored, a multiset or set, a
value under a rule list, or one that a matcher is held against.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from tracelens.kernels.reference.matchers import matcher
from tracelens.kernels.reference.normal import NO_RULES, Rules, canonical_text
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.reference.relation import MISSING, same
from tracelens.kernels.reference.rules import canonical_leaf
from tracelens.kernels.reference.values import Value, is_array, is_object, plain_text

Path = tuple[str | int, ...]


class Difference(NamedTuple):
    """One leaf path of a pair of calls.

    Attributes:
        path: Where the leaf stands, as `render_path` writes it.
        status: ``equal``, ``differs``, ``missing`` (expected only), ``unexpected`` (actual only), ``ignored``, or
            ``not_compared`` (anything was expected).
        actual: Canonical JSON text; None where the actual call has no such leaf. Ignored values are as sent.
        expected: The same of the expected call; a matcher is shown as it was written.
    """

    path: str
    status: str
    actual: str | None
    expected: str | None


class _Leaf(NamedTuple):
    value: Value
    number: int
    literal: bool = False


def diffs(actual: Value, expected: Value, rules: Rules = NO_RULES) -> list[Difference]:
    """Compare two values leaf by leaf.

    Args:
        actual: Actual arguments.
        expected: Expected arguments; matchers count.
        rules: The rules of the tool.

    Returns:
        A row per leaf path: those of the actual value in its order, then those of the expected one that are left.

    Example:
        >>> for row in diffs({"date": "2026-11-03", "seat": "12A"}, {"date": "2026-11-02", "bag": 1}):
        ...     print(*row)
        date differs "2026-11-03" "2026-11-02"
        seat unexpected "12a" None
        bag missing None 1
    """
    wanted = dict(_expected_leaves(expected, rules, (), rules.root))
    cuts = {path for path, leaf in wanted.items() if not leaf.literal and matcher(leaf.value) is not None}
    found = dict(_leaves(actual, rules, (), rules.root, cuts))
    nothing = _Leaf(MISSING, 0)
    return [
        _row(path, found.get(path, nothing), wanted.get(path, nothing), rules)
        for path in [*found, *(path for path in wanted if path not in found)]
    ]


def _row(path: Path, actual: _Leaf, expected: _Leaf, rules: Rules) -> Difference:
    number = expected.number if actual.value is MISSING else actual.number
    ignored = rules.nodes[number].rule.ignore
    found = None if expected.value is MISSING or expected.literal else matcher(expected.value)
    status = "differs"
    if ignored:
        status = "ignored"
    elif found is not None and found[0] == "$any" and actual.value is not MISSING:
        status = "not_compared"
    elif same(actual.value, expected.value, rules, number, literal=expected.literal):
        status = "equal"
    elif actual.value is MISSING or expected.value is MISSING:
        status = "missing" if actual.value is MISSING else "unexpected"
    as_written = ignored or found is not None
    return Difference(
        render_path(path),
        status,
        _text(actual, rules, as_sent=ignored),
        _text(expected, rules, as_sent=as_written),
    )


def _text(leaf: _Leaf, rules: Rules, *, as_sent: bool) -> str | None:
    if leaf.value is MISSING:
        return None
    return plain_text(leaf.value) if as_sent else canonical_text(leaf.value, rules, leaf.number)


def _expected_leaves(
    value: Value, rules: Rules, path: Path, number: int, *, literal: bool = False
) -> Iterator[tuple[Path, _Leaf]]:
    """The leaves of an expected value; matchers are leaves, but the inside of ``$optional`` and ``$literal`` is not."""
    found = None if literal else matcher(value)
    if found is not None and found[0] == "$literal":
        yield from _expected_leaves(found[1], rules, path, number, literal=True)
    elif found is not None:
        yield path, _Leaf(value, number)
    elif _is_leaf(value, rules, number, path):
        yield path, _Leaf(value, number, literal)
    else:
        for part in value if is_object(value) else range(len(value)):
            below = rules.child(number, part)
            yield from _expected_leaves(value[part], rules, (*path, part), below, literal=literal)


def _leaves(
    value: Value, rules: Rules, path: Path, number: int, cuts: AbstractSet[Path]
) -> Iterator[tuple[Path, _Leaf]]:
    """The leaves of an actual value; where the expected one has a matcher the whole value is one."""
    if path in cuts or _is_leaf(value, rules, number, path):
        yield path, _Leaf(value, number)
    else:
        for part in value if is_object(value) else range(len(value)):
            yield from _leaves(value[part], rules, (*path, part), rules.child(number, part), cuts)


def _is_leaf(value: Value, rules: Rules, number: int, path: Path) -> bool:
    node = rules.nodes[number]
    if node.is_whole or not (is_object(value) or is_array(value)) or canonical_leaf(value, node.rule) is not None:
        return True
    return not value and not (path == () and is_object(value))
