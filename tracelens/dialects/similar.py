"""How similar two calls are by their arguments, as deepeval measures it, and pairs of similar calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tracelens.dialects.equality import by_value
from tracelens.dialects.view import RefusedError


class Similar(Protocol):
    """A call with its result.

    Attributes:
        name: The tool.
        output: Its result.
    """

    name: str
    output: Any

    @property
    def arguments(self) -> Any:
        """Its arguments."""


def similar_arguments(one: Any, other: Any) -> float:
    """1 for equal arguments, else the share of all names whose values are equal; objects within count by their share.

    Raises:
        RefusedError: One side has no arguments at all.

    Example:
        >>> similar_arguments({"a": 1, "b": 2}, {"a": 1, "c": 3}), similar_arguments({"o": {"x": 1}}, {"o": {"x": 1.0}})
        (0.3333333333333333, 1.0)
    """
    if by_value(one) == by_value(other):
        return 1.0
    if one is None or other is None:
        raise RefusedError("AttributeError: 'NoneType' object has no attribute 'keys'")
    names, score = one.keys() | other.keys(), 0.0
    for name in sorted(one.keys() & other.keys()):
        if by_value(one[name]) == by_value(other[name]):
            score += 1 / len(names)
        elif isinstance(one[name], dict) and isinstance(other[name], dict):
            score += similar_arguments(one[name], other[name]) / len(names)
    return score


def similarity(
    actual: Sequence[Similar], expected: Sequence[Similar], *, ordered: bool, inputs: bool, outputs: bool
) -> float:
    """The similarities of pairs added up.

    Args:
        actual: Calls made.
        expected: Calls of the reference.
        ordered: Pairs must not cross, and the sum is the largest; else each expected call takes the most similar
            actual one, the first of equals, and with it all that equal it.
        inputs: Calls count by the similarity of their arguments.
        outputs: Calls of unequal results are not similar at all.
    """

    def score(wanted: Similar, made: Similar) -> float:
        if wanted.name != made.name:
            return 0.0
        like = similar_arguments(wanted.arguments, made.arguments) if inputs else 1.0
        return 0.0 if outputs and by_value(wanted.output) != by_value(made.output) else like

    return _in_order(actual, expected, score) if ordered else _greedy(actual, expected, score)


def _greedy(actual: Sequence[Similar], expected: Sequence[Similar], score: Callable[[Any, Any], float]) -> float:
    """Each expected call takes its best."""
    keys = [(call.name, by_value(call.arguments), by_value(call.output)) for call in actual]
    taken: set[Any] = set()
    total = 0.0
    for wanted in expected:
        best, chosen = 0.0, None
        for key, made in zip(keys, actual, strict=True):
            if key not in taken and (like := score(wanted, made)) > best:
                best, chosen = like, key
        if chosen is not None:
            total += best
            taken.add(chosen)
    return total


def _in_order(actual: Sequence[Similar], expected: Sequence[Similar], score: Callable[[Any, Any], float]) -> float:
    """The largest sum of pairs that do not cross."""
    row = [0.0] * (len(actual) + 1)
    for wanted in expected:
        before = 0.0
        for j, made in enumerate(actual, 1):
            before, row[j] = row[j], max(row[j], row[j - 1], before + score(wanted, made))
    return row[-1]
