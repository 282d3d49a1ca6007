"""A pattern and the two ways to search it."""

from __future__ import annotations

from collections.abc import Callable

from tracelens.kernels.reference.patterns.cost import search_cost
from tracelens.kernels.reference.patterns.linear import Automaton, TooLargeError
from tracelens.kernels.reference.patterns.tree import Node

STEP_BITS = 18
"""A backtracking engine may take 2 to this many steps, a few milliseconds."""

MOST_DEGREE, MOST_BITS = 2, 14
"""What a pattern without an automaton may cost; see `search_cost`."""

Span = tuple[int, int]


class PatternFault(ValueError):  # noqa: N818 - what is wrong with a pattern, for a message
    """A text that is no regular expression, or one that could take forever; the message follows it in a sentence."""


class Pattern:
    """A regular expression that is searched in bounded time.

    Args:
        node: Its tree.
        search: Where a backtracking engine finds it in a text; None if it does not.

    Raises:
        PatternFault: It can be decided by backtracking alone, and that may take forever.

    Attributes:
        longest: Up to so many characters the backtracking engine decides.
    """

    def __init__(self, node: Node, search: Callable[[str], Span | None]) -> None:
        self._node = node
        self._search = search
        size = search_cost(node)
        self._automaton: Automaton | None = None
        self.longest = 0.0
        if size.degree <= 1 and size.bits <= MOST_BITS:
            self.longest = float("inf")
        elif size.degree == 0 or size.bits > STEP_BITS:
            self.longest = -1.0
        else:
            self.longest = 2.0 ** ((STEP_BITS - size.bits) / size.degree)
        if self.longest == float("inf"):
            return
        try:
            self._automaton = Automaton(node)
        except TooLargeError:
            if size.degree > MOST_DEGREE or size.bits > MOST_BITS:
                raise PatternFault(
                    "could take forever to search for: it repeats what has repetitions inside or beside it, and has "
                    "too many of them, or a back reference, so that only trying every way decides"
                ) from None
            self.longest = float("inf")

    def found(self, text: str) -> bool:
        """Whether the pattern is found in a text."""
        if self._automaton is None or len(text) <= self.longest:
            return self._search(text) is not None
        return next(self._automaton.found(text), None) is not None

    def span(self, text: str) -> Span | None:
        """Where the pattern is found first; None if it is not.

        In a text that backtracking could not cope with, the longest such place.
        """
        if self._automaton is None or len(text) <= self.longest:
            return self._search(text)
        start = min(Automaton(self._node, backwards=True).found(text), default=None)
        return None if start is None else (start, max(self._automaton.found(text, start)))
