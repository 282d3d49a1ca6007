"""The parts of a regular expression of ECMA-262, as a tree."""

from __future__ import annotations

from dataclasses import dataclass


class PatternError(ValueError):
    """A text that is no regular expression of ECMA-262; the message says why and where."""


@dataclass(frozen=True, slots=True)
class Char:
    """One code point."""

    point: int


@dataclass(frozen=True, slots=True)
class Property:
    r"""A Unicode property, ``\p{name}`` or ``\P{name}``."""

    name: str
    negated: bool


@dataclass(frozen=True, slots=True)
class CharSet:
    """A set of code points: ranges (both ends inclusive) and properties, or everything outside them."""

    ranges: tuple[tuple[int, int], ...]
    properties: tuple[Property, ...] = ()
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts one after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternatives, tried in order."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part ``least`` to ``most`` times (None: no upper limit)."""

    part: Node
    least: int
    most: int | None
    greedy: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """A capturing group; ``number`` counts from 1."""

    part: Node
    number: int


@dataclass(frozen=True, slots=True)
class Look:
    """A look ahead or behind."""

    part: Node
    behind: bool
    negated: bool


@dataclass(frozen=True, slots=True)
class Back:
    """A back-reference: what a group captured, or nothing where it has not taken part."""

    number: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A place without width: ``start``, ``end``, ``word`` (boundary) or ``inside`` (no boundary)."""

    kind: str


Node = Char | CharSet | Sequence | Choice | Repeat | Group | Look | Back | Edge

DIGITS = ((48, 57),)
WORD = ((48, 57), (65, 90), (95, 95), (97, 122))
SPACE = (
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
LINE_ENDS = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
LAST_POINT = 0x10FFFF


def complement(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """All code points outside the ranges.

    Example:
        >>> complement(((1, 0x10FFFE),))
        ((0, 0), (1114111, 1114111))
    """
    out: list[tuple[int, int]] = []
    after = 0
    for low, high in sorted(ranges):
        if low > after:
            out.append((after, low - 1))
        after = max(after, high + 1)
    if after <= LAST_POINT:
        out.append((after, LAST_POINT))
    return tuple(out)
