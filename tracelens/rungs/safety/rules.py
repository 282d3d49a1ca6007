r"""What a safety rule is, and how its *gate* becomes a cheap filter over a whole column.

A rule has a gate, a regular expression that must be found in a text before anything else is asked, an optional exact
check in Python, and *windows*, four-byte patterns one of which is in every text its gate is found in. Columns are
filtered by windows first, then by gates in Rust; what is left is analysed in Python. A filter only skips texts in which
nothing can be found.

Gates are written in what Python and Rust share: no look-around, no anchors, no ``\s`` (the two differ on it). They
allow quotes, commas and brackets where a shell has spaces, so that ``["rm", "-rf"]`` is found like ``rm -rf``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from tracelens.kernels.windows import MOST, WIDTH, table_of

Span = tuple[int, int]
"""Start and end of a hit in a text, in characters."""

LONGEST_COMMAND = 500
"""Characters between the words of one command, at most."""

Check = Callable[[str, "re.Match[str]"], bool]
"""Whether a match of the gate is a hit; given the text and the match."""

SEP = r"""[\t\n\v\f\r "',\\\[\]()]"""
"""Regular expression: what stands between two words of a command, written in a shell, in JSON or in code."""

GAP = SEP + "+"
"""One separator or more."""

BREAK = r"""[\s"',\\\x00\[\]()]"""
"""For windows: a separator, or the end of the text."""

_ITEM = re.compile(r"\[(?:\\.|[^\]\\])+\]|\\.|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing a pack looks for.

    Attributes:
        pack: Name of the pack.
        what: What was found, for messages.
        gate: Regular expression without regard to ASCII case; see the module.
        windows: Four positions each (shorter ones are filled with "any byte"): a byte, ``.`` or a set in brackets.
        check: Further condition on a match of the gate; None where the gate is enough.
        keys: The rule only looks at values whose key is one of a shell.
    """

    pack: str
    what: str
    gate: str
    windows: tuple[str, ...]
    check: Check | None = None
    keys: bool = False

    def compiled(self) -> re.Pattern[str]:
        """The gate for Python, where a command has an end: backtracking over a whole file would take forever."""
        return re.compile(self.gate.replace(".*?", f".{{0,{LONGEST_COMMAND}}}?"), re.IGNORECASE | re.ASCII | re.DOTALL)


def rust_gate(gates: Iterable[str]) -> str:
    r"""One regular expression, for Polars, that is found wherever one of the gates is.

    Example:
        >>> rust_gate([r"\bdd\b", "mkfs"])
        '(?is)(?:(?-u:\\b)dd(?-u:\\b))|(?:mkfs)'
    """
    return "(?is)" + "|".join("(?:" + gate.replace(r"\b", r"(?-u:\b)") + ")" for gate in gates)


def window_bytes(window: str) -> list[frozenset[int]]:
    r"""The four sets of bytes of a window, both cases of ASCII letters alike.

    Args:
        window: One to four positions: a character, an escape, ``.`` or a set in brackets.

    Example:
        >>> [sorted(map(chr, allowed)) for allowed in window_bytes("r[mn]")[:2]]
        [['R', 'r'], ['M', 'N', 'm', 'n']]
    """
    items = _ITEM.findall(window)
    if not 1 <= len(items) <= WIDTH:
        raise ValueError(f"a window has one to {WIDTH} positions: {window!r}")
    return [_item_bytes(item) for item in items] + [frozenset(range(256))] * (WIDTH - len(items))


@cache
def _item_bytes(item: str) -> frozenset[int]:
    """The bytes that one position lets through; windows have few distinct ones, so each is tried once."""
    pattern = re.compile(item, re.IGNORECASE | re.ASCII | re.DOTALL)
    return frozenset(byte for byte in range(256) if pattern.fullmatch(chr(byte)))


# How often a byte stands in arguments, roughly, in thousandths; all others count as rare.
_COMMON = {
    " ": 110, '"': 80, "e": 70, "a": 50, "t": 50, "i": 45, "o": 45, "n": 45, "r": 45, "s": 45, "l": 28, "d": 25, "c": 22,
    "u": 20, "m": 18, "p": 18, ":": 30, ",": 25, "0": 20, "1": 15, "2": 15, "-": 12, "_": 12, "h": 20, "g": 14, "f": 12,
    "b": 9, "y": 10, ".": 9, "w": 7, "v": 7, "k": 6, "3": 9, "4": 8, "5": 8, "6": 7, "7": 7, "8": 7, "9": 7, "/": 5,
}  # fmt: skip


def window_table(windows: Iterable[str]) -> npt.NDArray[np.uint64]:
    """The table that `mark_texts` reads.

    Beyond 63 windows some share a bit: the rarest are laid over those with which their union lets the least through.
    A union lets more through than its parts, never less.

    Args:
        windows: See `window_bytes`.

    Returns:
        uint64[1024].
    """
    often = np.full(256, 0.0005)
    often[[ord(char) for char in _COMMON]] = np.array(list(_COMMON.values())) / 1000
    distinct = list(dict.fromkeys(windows))
    sets = np.zeros((len(distinct), WIDTH, 256), np.bool_)
    for row, window in enumerate(distinct):
        for position, allowed in enumerate(window_bytes(window)):
            sets[row, position, list(allowed)] = True
    order = np.argsort(-_chance(sets, often), kind="stable")
    shared = sets[order[:MOST]]
    for row in order[MOST:]:
        union = shared | sets[row]
        best = int(np.argmin(_chance(union, often) - _chance(shared, often)))
        shared[best] = union[best]
    return table_of(shared)


def _chance(sets: npt.NDArray[np.bool_], often: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How likely each window occurs at a place, by `often`."""
    chance: npt.NDArray[np.float64] = (sets @ often).prod(axis=1)
    return chance
