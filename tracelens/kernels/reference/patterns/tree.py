"""The parts of a regular expression of any dialect, as far as its cost and an automaton need them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class One:
    """One character out of a set.

    Attributes:
        test: Whether a character is in the set.
        around: Characters at the borders of the set, on both sides: two sets that share a character share one of
            these, or a common one.
        letter: The only character, or the cases of it; empty where the set is another.
    """

    test: Callable[[str], bool]
    around: str
    letter: str = ""


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts one after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternatives; none of them: nothing matches."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part ``least`` to ``most`` times (None: no upper limit)."""

    part: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Look:
    """A look ahead or behind."""

    part: Node
    behind: bool
    negated: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """A place without width.

    Attributes:
        places: All such places in a text.
        is_start: Whether that is the start of the text and nothing else.
    """

    places: Callable[[str], Iterable[int]]
    is_start: bool = False


@dataclass(frozen=True, slots=True)
class Own:
    """What only a backtracking engine can decide: a back reference, a condition, a part that is never tried again.

    Attributes:
        part: What stands in it; None for a back reference.
    """

    part: Node | None = None


Node = One | Sequence | Choice | Repeat | Look | Edge | Own
