"""Patterns as automata over ASCII bytes, for those that need no look-around, back-reference or word boundary.

The automaton answers "is the pattern found in this text"; texts with other bytes are not its business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tracelens.kernels.check_text import ENDS, STOP_NO, STOP_YES
from tracelens.rungs.schema.ecma.parse import parse
from tracelens.rungs.schema.ecma.syntax import (
    Char,
    CharSet,
    Choice,
    Edge,
    Group,
    Node,
    PatternError,
    Repeat,
    Sequence,
)

MOST_STATES = 192
MOST_PARTS = 3000
_ALL = 2**128 - 1


@dataclass(frozen=True)
class Automaton:
    """A deterministic automaton.

    Attributes:
        steps: int32[n_states, 128], the next state by byte; state 0 is the first.
        marks: uint8[n_states], `ENDS` (found if the text ends here), `STOP_YES`, `STOP_NO` (decided).
    """

    steps: npt.NDArray[np.int32]
    marks: npt.NDArray[np.uint8]


class _TooHard(Exception):  # noqa: N818 - not an error: the pattern is left to the matcher
    """A pattern without an automaton."""


@dataclass
class _Net:
    """A non-deterministic automaton: per state, where it goes on nothing, at an edge, and on bytes."""

    free: list[list[tuple[int, str]]] = field(default_factory=list)
    on: list[tuple[int, int] | None] = field(default_factory=list)

    def state(self) -> int:
        if len(self.free) >= MOST_PARTS:
            raise _TooHard
        self.free.append([])
        self.on.append(None)
        return len(self.free) - 1

    def add(self, node: Node, start: int) -> int:
        """Build a part from a state and return the state after it; byte sets are 128-bit masks."""
        match node:
            case Char() | CharSet():
                after = self.state()
                self.on[start] = (_mask(node), after)
                return after
            case Sequence(parts):
                for part in parts:
                    start = self.add(part, start)
                return start
            case Choice(options):
                after = self.state()
                for option in options:
                    self.free[self.add(option, self.link(start))].append((after, ""))
                return after
            case Group(part, _):
                return self.add(part, start)
            case Edge(kind) if kind in ("start", "end"):
                return self.link(start, kind)
            case Repeat():
                return self.repeat(node, start)
            case _:
                raise _TooHard

    def link(self, start: int, edge: str = "") -> int:
        after = self.state()
        self.free[start].append((after, edge))
        return after

    def repeat(self, node: Repeat, start: int) -> int:
        for _ in range(node.least):
            start = self.add(node.part, self.link(start))
        after = self.state()
        self.free[start].append((after, ""))
        if node.most is None:
            loop = self.link(start)
            self.free[self.add(node.part, self.link(loop))].append((loop, ""))
            self.free[loop].append((after, ""))
            return after
        for _ in range(node.most - node.least):
            start = self.add(node.part, self.link(start))
            self.free[start].append((after, ""))
        return after

    def closure(self, states: frozenset[int], edges: tuple[str, ...]) -> frozenset[int]:
        seen, queue = set(states), list(states)
        while queue:
            for after, edge in self.free[queue.pop()]:
                if edge in edges and after not in seen:
                    seen.add(after)
                    queue.append(after)
        return frozenset(seen)


def _mask(node: Char | CharSet) -> int:
    if isinstance(node, Char):
        return 1 << node.point if node.point < 128 else 0
    if node.properties:
        raise _TooHard
    mask = 0
    for low, high in node.ranges:
        for point in range(low, min(high, 127) + 1):
            mask |= 1 << point
    return mask ^ _ALL if node.negated else mask


def build(pattern: str) -> Automaton | None:
    """The automaton of a pattern, or None where it has none of reasonable size.

    Args:
        pattern: A valid regular expression of ECMA-262.

    Example:
        >>> build("^[A-Z]{3}$").steps.shape
        (5, 128)
        >>> build("(?=a)") is None
        True
    """
    try:
        net = _Net()
        start = net.state()
        final = net.add(parse(pattern), start)
        return _determine(net, start, final)
    except (_TooHard, PatternError, RecursionError):
        return None


def _determine(net: _Net, start: int, final: int) -> Automaton:
    """The subset construction; a search may begin anew at every byte."""
    begin = net.closure(frozenset({start}), ("", "start"))
    anew = net.closure(frozenset({start}), ("",))
    # Only the first state is at the start of the text, so it stays apart from an equal set further on.
    numbers: dict[tuple[frozenset[int], bool], int] = {(begin, True): 0}
    order = [(begin, True)]
    rows: list[npt.NDArray[np.int32]] = []
    marks: list[int] = []
    for states, first in order:
        row = np.zeros(128, dtype=np.int32)
        found = final in states
        ends = final in net.closure(states, ("", "end", "start") if first else ("", "end"))
        marks.append(ENDS * ends + STOP_YES * found)
        moves = [] if found else [move for move in map(net.on.__getitem__, states) if move is not None]
        for mask, target in _told_apart(moves):
            row[_bytes_in(mask)] = _number(net, target, anew, numbers, order)
        rows.append(row)
    steps = np.stack(rows)
    for k in range(len(marks)):
        if marks[k] == 0 and (steps[k] == k).all():
            marks[k] = STOP_NO
    return Automaton(steps, np.array(marks, dtype=np.uint8))


def _told_apart(moves: list[tuple[int, int]]) -> list[tuple[int, frozenset[int]]]:
    """Sets of bytes that the moves treat alike, by their lowest byte, and where those lead."""
    parts: list[tuple[int, frozenset[int]]] = [(_ALL, frozenset())]
    for mask, after in moves:
        split = [(part & mask, target | {after}) for part, target in parts]
        split += [(part & ~mask, target) for part, target in parts]
        parts = [(part, target) for part, target in split if part]
    return sorted(parts, key=lambda part: part[0] & -part[0])


@lru_cache(maxsize=1024)
def _bytes_in(mask: int) -> npt.NDArray[np.intp]:
    return np.array([byte for byte in range(128) if mask >> byte & 1], np.intp)


def _number(
    net: _Net,
    target: frozenset[int],
    anew: frozenset[int],
    numbers: dict[tuple[frozenset[int], bool], int],
    order: list[tuple[frozenset[int], bool]],
) -> int:
    """The number of the state that holds a set and a fresh beginning."""
    key = (net.closure(target, ("",)) | anew, False)
    if key not in numbers:
        if len(order) >= MOST_STATES:
            raise _TooHard
        numbers[key] = len(order)
        order.append(key)
    return numbers[key]
