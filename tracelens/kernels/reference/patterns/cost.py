"""How many steps a backtracking engine may need for a pattern: ``2 ** bits * length ** degree``, an upper estimate.

Two numbers are told apart. The *ways* of a part are in how many ways it can match from one place: what follows may be
tried once for each. Its *work* is the steps of trying all of them. A repetition that ends where it must, because the
character that has to follow is none of its own, has one way. Repeating a part that has several ways has no bound.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

from tracelens.kernels.reference.patterns.tree import Choice, Edge, Look, Node, One, Own, Repeat, Sequence

_FEW = 64
"""Up to so many repetitions count by their number, more by the length of the text."""

_COMPARED = 8
"""Alternatives that are held against each other, one by one; more are taken to overlap."""

_COMMON = "".join(map(chr, range(256))) + "\u0131\u017f\u0660\u2003\u2028\u212a\u4e00\U0001f600"
"""Members of every class that has a name, ASCII or not."""


class Size(NamedTuple):
    """``2 ** bits * length ** degree``."""

    degree: float = 0.0
    bits: float = 0.0

    def times(self, other: Size, count: int = 1) -> Size:
        """The product with a power of another size."""
        if not count or other == ONE:
            return self
        return Size(self.degree + other.degree * count, self.bits + other.bits * count)

    def most(self, other: Size) -> Size:
        """A size that neither of both exceeds."""
        return Size(max(self.degree, other.degree), max(self.bits, other.bits))


ONE = Size()
LENGTH = Size(1.0)
NO_BOUND = Size(math.inf)


class Cost(NamedTuple):
    """Of a part: in how many ways it matches from one place, and the steps that takes."""

    ways: Size
    work: Size


def search_cost(node: Node) -> Size:
    """The steps of looking for a pattern in a text, by the text's length.

    Args:
        node: The pattern.

    Example:
        >>> from tracelens.kernels.reference.patterns.python import read
        >>> (
        ...     search_cost(read("^[A-Z]{3}$")).degree,
        ...     search_cost(read(".*foo")).degree,
        ...     search_cost(read("(a+)+$")).degree,
        ... )
        (0.0, 2.0, inf)
    """
    work = _cost(node).work
    return work if _is_anchored(node) else work.times(LENGTH)


def _cost(node: Node) -> Cost:
    match node:
        case Sequence(parts):
            return _in_a_row(parts)
        case Choice(options):
            return _choice(options)
        case Repeat():
            return _repeat(node)
        case Look(part) | Own(part) if part is not None:
            return Cost(ONE, _cost(part).work)
        case _:
            return Cost(ONE, ONE)


def _in_a_row(parts: tuple[Node, ...]) -> Cost:
    ways = work = ONE
    for k, part in enumerate(parts):
        own = _cost(part)
        work = work.most(ways.times(own.work))
        if not _ends_where_it_must(part, parts[k + 1 :]):
            ways = ways.times(own.ways)
    return Cost(ways, work)


def _ends_where_it_must(part: Node, after: tuple[Node, ...]) -> bool:
    """Whether a repetition of one character cannot stop earlier, because of the character that has to come next."""
    while isinstance(part, Sequence) and len(part.parts) == 1:
        part = part.parts[0]
    first = _first(Sequence(after))
    return isinstance(part, Repeat) and isinstance(part.part, One) and first is not None and _apart(part.part, first)


def _apart(one: One, other: One) -> bool:
    """Whether no character is in both sets."""
    if one.letter or other.letter:
        letter, test = (one.letter, other.test) if one.letter else (other.letter, one.test)
        return not any(map(test, letter))
    return not any(one.test(c) and other.test(c) for c in {*one.around, *other.around, *_COMMON})


def _first(node: Node) -> One | None:
    """The one character that a part always begins with, where that is plain to see."""
    match node:
        case One():
            return node
        case Sequence(parts) if parts:
            return _first(parts[0])
        case Repeat(part, least) if least:
            return _first(part)
        case _:
            return None


def _choice(options: tuple[Node, ...]) -> Cost:
    ways = work = ONE
    for option in options:
        own = _cost(option)
        ways, work = ways.most(own.ways), work.most(own.work)
    several = Size(bits=math.log2(max(len(options), 1)))
    return Cost(ways if _differ_at_once(options) else ways.times(several), work.times(several))


def _differ_at_once(options: tuple[Node, ...]) -> bool:
    """Whether no two alternatives begin with the same character."""
    firsts = [first for first in map(_first, options) if first is not None]
    if len(firsts) < len(options):
        return False
    letters = "".join(first.letter for first in firsts)
    if all(first.letter for first in firsts):
        return len(set(letters)) == len(letters)
    return len(firsts) <= _COMPARED and all(_apart(a, b) for a, b in combinations(firsts, 2))


def _repeat(node: Repeat) -> Cost:
    own = Cost(ONE, ONE) if isinstance(node.part, One) else _cost(node.part)
    span = math.inf if node.most is None else node.most - node.least
    counts = LENGTH if span > _FEW else Size(bits=math.log2(span + 1))
    if own.ways == ONE and (_has_width(node.part) or node.most == 1):
        times = LENGTH if node.most is None or node.most > _FEW else Size(bits=math.log2(max(node.most, 1)))
        return Cost(counts, own.work.times(times))
    if node.most is None:
        return Cost(NO_BOUND, NO_BOUND)
    ways = counts.times(own.ways, node.most)
    return Cost(ways, ways.times(own.work))


def _has_width(node: Node) -> bool:
    """Whether a part always takes at least one character; a back reference is taken for one that does."""
    match node:
        case One() | Own(None):
            return True
        case Sequence(parts):
            return any(map(_has_width, parts))
        case Choice(options):
            return all(map(_has_width, options))
        case Repeat(part, least):
            return least > 0 and _has_width(part)
        case Own(part) if part is not None:
            return _has_width(part)
        case _:
            return False


def _is_anchored(node: Node) -> bool:
    """Whether a pattern can only be found at the start of a text."""
    match node:
        case Edge(_, is_start):
            return is_start
        case Sequence(parts) if parts:
            return _is_anchored(parts[0])
        case Choice(options) if options:
            return all(map(_is_anchored, options))
        case _:
            return False
