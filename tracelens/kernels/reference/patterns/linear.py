"""Searching with an automaton: the set of all places in the pattern is carried along the text, so nothing is retried.

Each step (a set, what holds here, a character) is worked out once and remembered. A look ahead is the same search
from the end of the text backwards, which says for every place at once whether it holds there.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracelens.kernels.reference.patterns.tree import Choice, Edge, Look, Node, One, Own, Repeat, Sequence

MOST_STATES = 2000
MOST_REMEMBERED = 50_000

States = frozenset[int]


class TooLargeError(Exception):
    """A pattern without an automaton of reasonable size."""


class Automaton:
    """The places of a pattern, read forwards or backwards.

    Args:
        node: The pattern.
        backwards: Whether it is held against the text from its end.

    Raises:
        TooLargeError: It has too many places, or a part that only backtracking can decide.
    """

    def __init__(self, node: Node, *, backwards: bool = False) -> None:
        self.backwards = backwards
        self._on: list[tuple[One, int] | None] = []
        self._free: list[list[tuple[int, int]]] = []
        self._edges: list[Edge | tuple[Automaton, bool]] = []
        self._steps: dict[tuple[States, int, str], tuple[States, bool]] = {}
        self._steps_anew: dict[tuple[States, int, str], tuple[States, bool]] = {}
        self._start = self._state()
        self._final = self._add(node, self._start)

    def _state(self) -> int:
        if len(self._on) >= MOST_STATES:
            raise TooLargeError
        self._on.append(None)
        self._free.append([])
        return len(self._on) - 1

    def _link(self, start: int, edge: Edge | tuple[Automaton, bool] | None = None) -> int:
        """A state that is reached without a character, at an edge if there is one."""
        after = self._state()
        if edge is not None:
            self._edges.append(edge)
        self._free[start].append((after, len(self._edges) if edge is not None else 0))
        return after

    def _add(self, node: Node, start: int) -> int:
        """Build a part from a state; the state behind it."""
        match node:
            case One():
                after = self._state()
                self._on[start] = (node, after)
                return after
            case Sequence(parts):
                for part in reversed(parts) if self.backwards else parts:
                    start = self._add(part, start)
                return start
            case Choice(options):
                after = self._state()
                for option in options:
                    self._free[self._add(option, self._link(start))].append((after, 0))
                return after
            case Repeat():
                return self._repeat(node, start)
            case Edge():
                return self._link(start, node)
            case Look(part, behind, negated):
                return self._link(start, (Automaton(part, backwards=not behind), negated))
            case Own():
                raise TooLargeError

    def _repeat(self, node: Repeat, start: int) -> int:
        for _ in range(node.least):
            start = self._add(node.part, self._link(start))
        after = self._state()
        self._free[start].append((after, 0))
        if node.most is None:
            loop = self._link(start)
            self._free[self._add(node.part, self._link(loop))].append((loop, 0))
            self._free[loop].append((after, 0))
            return after
        for _ in range(node.most - node.least):
            start = self._add(node.part, self._link(start))
            self._free[start].append((after, 0))
        return after

    def found(self, text: str, first: int | None = None) -> Iterator[int]:
        """The places at which the pattern ends (begins, when read backwards), in the order of reading.

        Args:
            text: The text.
            first: Where it has to begin; None: anywhere.
        """
        holds = self._holding(text)
        place = first if first is not None else len(text) if self.backwards else 0
        step, last = (-1, 0) if self.backwards else (1, len(text))
        remembered = self._steps_anew if first is None else self._steps
        states = frozenset({self._start})
        while True:
            at = place - 1 if self.backwards else place
            character = text[at] if place != last else ""
            here = holds[place] if holds else 0
            known = remembered.get((states, here, character))
            if known is None:
                known = self._step(states, here, character, anew=first is None)
                if len(remembered) >= MOST_REMEMBERED:
                    remembered.clear()
                remembered[states, here, character] = known
            states, final = known
            if final:
                yield place
            if place == last or not states:
                return
            place += step

    def _step(self, states: States, here: int, character: str, *, anew: bool) -> tuple[States, bool]:
        """Where a set of states goes on a character (or begins anew behind it), and whether the pattern ends before."""
        seen, queue = set(states), list(states)
        while queue:
            for after, edge in self._free[queue.pop()]:
                if after not in seen and (not edge or here >> edge & 1):
                    seen.add(after)
                    queue.append(after)
        moves = [self._on[state] for state in seen] if character else []
        known: dict[int, bool] = {}
        for move in moves:
            if move is not None and id(move[0]) not in known:
                known[id(move[0])] = move[0].test(character)
        target = frozenset(move[1] for move in moves if move is not None and known[id(move[0])])
        return target | {self._start} if anew else target, self._final in seen

    def _holding(self, text: str) -> list[int]:
        """By place in a text, which edges hold there, as bits from the first; empty where there are no edges."""
        holds = [0] * (len(text) + 1) if self._edges else []
        for number, edge in enumerate(self._edges, start=1):
            negated = isinstance(edge, tuple) and edge[1]
            places = edge.places(text) if isinstance(edge, Edge) else edge[0].found(text)
            there = set(places)
            for place in range(len(holds)):
                holds[place] |= ((place in there) != negated) << number
        return holds
