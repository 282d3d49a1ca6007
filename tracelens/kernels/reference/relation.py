"""Whether an actual value equals an expected one: canonical equality, plus tolerances and matchers.

What a matcher is stands in `matchers`. An object that only looks like one, because its argument is of the wrong kind,
is an ordinary value here; whoever reads references refuses it before.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from tracelens.kernels.reference.decimal_form import close, number_order
from tracelens.kernels.reference.matchers import has_matcher, matcher
from tracelens.kernels.reference.normal import NO_RULES, Rules, canonical, is_missing
from tracelens.kernels.reference.patterns import python_pattern
from tracelens.kernels.reference.rules import Leaf, canonical_leaf
from tracelens.kernels.reference.values import Value, is_object, parse


class Missing(enum.Enum):
    """The type of `MISSING`."""

    MISSING = "missing"


MISSING = Missing.MISSING
"""Stands for a value that is not there; null is a value."""


def has_relation(rules: Rules) -> bool:
    """Whether the rules have a tolerance, so that equality is decided per pair."""
    return rules.has_relation


def exact(actual: Value, expected: Value, rules: Rules = NO_RULES) -> bool:
    """Whether actual arguments equal expected ones.

    Args:
        actual: The actual value.
        expected: The expected value; matchers count. ``{"$any": true}`` is an expected call without arguments.
        rules: The rules of the tool.

    Returns:
        True where they are equal. Without tolerances and matchers that is equality of `canonical`.

    Example:
        >>> exact({"id": "UA-512", "n": 1}, {"id": {"$regex": "^UA"}, "n": {"$range": [1, 3]}})
        True
        >>> rules = Rules.compile({"pay": {"amount": {"number": {"abs_tol": 0.01}}}}, "pay")
        >>> exact({"amount": "10.004"}, {"amount": 10}, rules)
        True
    """
    return same(actual, expected, rules, rules.root)


def agreement(actual: Value, expected: Value, rules: Rules = NO_RULES) -> float:
    """How much of two calls' arguments agrees.

    Args:
        actual: Actual arguments.
        expected: Expected arguments; matchers count.
        rules: The rules of the tool.

    Returns:
        Top-level arguments that are equal over all top-level names (without those that are ignored or equal
        missing), rounded to 9 decimals; 1 where there are none, 0 where one side is no object. Arguments that are
        one text, or expected to be anything, agree wholly or not at all.

    Example:
        >>> agreement({"a": 1, "b": "X", "seat": "12A"}, {"a": 1, "b": "x"})
        0.666666667
    """
    if matcher(expected) is not None or not is_object(expected) or not is_object(actual):
        whole = matcher(expected) is not None or (isinstance(actual, str) and isinstance(expected, str))
        return float(whole and exact(actual, expected, rules))
    names = {key for key in actual if not is_missing(actual[key], rules, rules.child(rules.root, key))}
    names |= {key for key in expected if not is_missing(expected[key], rules, rules.child(rules.root, key))}
    if not names:
        return 1.0
    equal = sum(
        same(actual.get(key, MISSING), expected.get(key, MISSING), rules, rules.child(rules.root, key)) for key in names
    )
    return round(equal / len(names), 9)


def same(actual: Value, expected: Value, rules: Rules, number: int, *, literal: bool = False) -> bool:
    """Whether two values at one path are equal; either may be `MISSING`.

    Args:
        actual: The actual value.
        expected: The expected value.
        rules: The rules of the tool.
        number: Node of the path.
        literal: Whether matchers inside are ordinary values.

    Returns:
        True where they are equal.
    """
    rule = rules.nodes[number].rule
    if rule.ignore:
        return True
    if number != rules.root:
        actual, expected = (_effective(value, rules, number) for value in (actual, expected))
    found = None if literal or expected is MISSING else matcher(expected)
    if found is not None:
        return _matches(actual, *found, rules, number)
    if actual is MISSING or expected is MISSING:
        return actual is expected
    left, right = canonical_leaf(actual, rule), canonical_leaf(expected, rule)
    if left is not None and right is not None:
        numbers = left.kind == right.kind == "number" and rule.has_relation
        return left == right or (numbers and close(left.text, right.text, rule.abs_tol, rule.rel_tol))
    if left is not None or right is not None or is_object(actual) != is_object(expected):
        return False
    if is_object(actual):
        return all(
            same(actual.get(key, MISSING), expected.get(key, MISSING), rules, rules.child(number, key), literal=literal)
            for key in {*actual, *expected}
        )
    return _same_arrays(actual, expected, rules, number, literal=literal)


def _effective(value: Value, rules: Rules, number: int) -> Value:
    """The value that is compared: null where that is missing is missing, and what is missing is the default."""
    rule = rules.nodes[number].rule
    if value is None and rule.null_is_missing:
        value = MISSING
    return parse(rule.default) if value is MISSING and rule.default is not None else value


def _matches(actual: Value, key: str, argument: Value, rules: Rules, number: int) -> bool:
    if key == "$optional" and actual is MISSING:
        return True
    if actual is MISSING:
        return key == "$one_of" and any(same(MISSING, choice, rules, number) for choice in argument)
    if key == "$regex":
        return isinstance(actual, str) and python_pattern(argument).found(actual)
    if key == "$range":
        return _in_range(actual, argument[0], argument[1], rules, number)
    if key == "$one_of":
        return any(same(actual, choice, rules, number) for choice in argument)
    return key == "$any" or same(actual, argument, rules, number, literal=key == "$literal")


def _in_range(actual: Value, low: Value, high: Value, rules: Rules, number: int) -> bool:
    rule = rules.nodes[number].rule
    at, bottom, top = (canonical_leaf(value, rule) for value in (actual, low, high))
    if at is None or bottom is None or top is None or not at.kind == bottom.kind == top.kind:
        return False
    if at.kind == "instant" and len({leaf.text.endswith("Z") for leaf in (at, bottom, top)}) > 1:
        return False
    return _order(bottom) <= _order(at) <= _order(top)


def _order(leaf: Leaf) -> tuple[Any, ...]:
    """What ranges are decided by: numbers and quantities by value, texts by code point, instants by time."""
    if leaf.kind == "quantity":
        return (Fraction(leaf.text.partition(" ")[0]),)
    if leaf.kind != "number":
        return (leaf.text.removesuffix("Z"),)
    return number_order(leaf.text)


def _same_arrays(
    actual: Sequence[Value], expected: Sequence[Value], rules: Rules, number: int, *, literal: bool
) -> bool:
    node = rules.nodes[number]
    left, right = _taking_part(actual, rules, number), _taking_part(expected, rules, number)
    needs_pairs = has_relation(rules) or (not literal and has_matcher(expected))
    if not needs_pairs:
        return canonical(actual, rules, number) == canonical(expected, rules, number)
    optional = [not literal and (matcher(item) or ("", None))[0] == "$optional" for item, _ in right]

    def equal(i: int, j: int) -> bool:
        # An optional element that is there has to match; only for the loop around it may it be missing.
        return same(left[i][0], right[j][0], rules, left[i][1], literal=literal)

    if node.rule.array == "ordered":
        return _aligned(len(left), optional, equal)
    if node.rule.array == "set":
        return all(any(equal(i, j) for j in range(len(right))) for i in range(len(left))) and all(
            optional[j] or any(equal(i, j) for i in range(len(left))) for j in range(len(right))
        )
    required = [j for j in range(len(right)) if not optional[j]]
    return _all_paired(range(len(left)), range(len(right)), equal) and _all_paired(
        required, range(len(left)), lambda j, i: equal(i, j)
    )


def _taking_part(items: Sequence[Value], rules: Rules, number: int) -> list[tuple[Value, int]]:
    """The elements that take part, each with its node."""
    nodes = [rules.child(number, i) for i in range(len(items))]
    return [
        (item, node)
        for item, node in zip(items, nodes, strict=True)
        if matcher(item) is not None or not is_missing(item, rules, node)
    ]


def _aligned(n: int, optional: Sequence[bool], equal: Callable[[int, int], bool]) -> bool:
    """Whether n actual elements match the expected ones in order, optional ones left out where need be."""
    reached = {0}
    for j, may_miss in enumerate(optional):
        after = {i + 1 for i in reached if i < n and equal(i, j)}
        reached = after | reached if may_miss else after
    return n in reached


def _all_paired(left: Sequence[int], right: Sequence[int], equal: Callable[[int, int], bool]) -> bool:
    """Whether every element on the left can have a partner of its own on the right (augmenting paths)."""
    partner: dict[int, int] = {}

    def place(i: int, tried: set[int]) -> bool:
        for j in right:
            if j in tried or not equal(i, j):
                continue
            tried.add(j)
            if j not in partner or place(partner[j], tried):
                partner[j] = i
                return True
        return False

    return all(place(i, set()) for i in left)
