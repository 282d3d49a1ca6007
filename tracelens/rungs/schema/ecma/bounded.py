"""The tree of an ECMA-262 pattern as the bounded search wants it: sets and edges are asked of the ``regex`` library."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from tracelens.kernels.reference.patterns import tree
from tracelens.rungs.schema.ecma.emit import emit
from tracelens.rungs.schema.ecma.syntax import (
    LAST_POINT,
    Back,
    Char,
    CharSet,
    Choice,
    Edge,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
)


def to_tree(node: Node) -> tree.Node:
    """The same pattern in the terms of `tracelens.kernels.reference.patterns`."""
    match node:
        case Char(point):
            return tree.One(partial(operator.eq, chr(point)), "", chr(point))
        case CharSet():
            return tree.One(_in_set(node), "".join(_around(node.ranges)))
        case Sequence(parts):
            return tree.Sequence(tuple(map(to_tree, parts)))
        case Choice(options):
            return tree.Choice(tuple(map(to_tree, options)))
        case Repeat(part, least, most):
            return tree.Repeat(to_tree(part), least, most)
        case Group(part):
            return to_tree(part)
        case Look(part, behind, negated):
            return tree.Look(to_tree(part), behind, negated)
        case Back():
            return tree.Own()
        case Edge(kind):
            return tree.Edge(_places(node), kind == "start")


def _in_set(node: CharSet) -> Callable[[str], bool]:
    if node.properties:
        return lambda character: _compiled(node).fullmatch(character) is not None
    ranges, negated = node.ranges, node.negated
    return lambda character: any(low <= ord(character) <= high for low, high in ranges) is not negated


def _around(ranges: Any) -> Iterator[str]:
    points = {point + step for low, high in ranges for point in (low, high) for step in (-1, 0, 1)}
    return (chr(point) for point in sorted(points) if 0 <= point <= LAST_POINT)


def _places(node: Edge) -> Callable[[str], Iterator[int]]:
    return lambda text: (found.start() for found in _compiled(node).finditer(text))


@lru_cache(maxsize=1024)
def _compiled(node: CharSet | Edge) -> Any:
    import regex

    return regex.compile(emit(node), regex.VERSION0)
