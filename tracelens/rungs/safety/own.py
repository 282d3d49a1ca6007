"""Patterns of the suite itself, and which texts need not be shown to them.

A pattern is a Python regular expression; it is looked for in tool names, keys, values and the arguments as written.
Most are plain enough for Rust to say beforehand in which ASCII texts they cannot be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from tracelens.kernels.reference.patterns import Pattern, python_pattern

_PLAIN = re.compile(
    r"""
    (?P<flags>\A\(\?[ims]+\))
    | (?P<anchor>[\^$]|\\A|\\Z|\\b)
    | (?P<token>
        \\[dws] | \\[WSD] | \\[ntr] | \\[.*+?(){}\[\]|^$\\/\-]
        | [A-Za-z0-9_ ,:;=<>@%!"'/-]
        | \( \?: | \( (?!\?) | \) | \| | \.
        | \[ \^? (?: [A-Za-z0-9_ .,:;=<>@%!/*+?$(){}|] (?:-[A-Za-z0-9])? | \\[dws.\-/*+?\]\[] )+ \]
        | [*+?]\?? | \{[0-9]+(?:,[0-9]*)?\}\??
      )
    """,
    re.VERBOSE,
)
_ANY_SPACE = r"\t\n\x0b\x0c\r \x1c-\x1f"


class PatternLike(Protocol):
    """A pattern as the suite gives it."""

    @property
    def name(self) -> str:
        """Name in findings."""

    @property
    def regex(self) -> str:
        """Python regular expression."""

    @property
    def tools(self) -> Iterable[str]:
        """Patterns of the tools it looks at; all when empty."""


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """A compiled pattern of the suite.

    Attributes:
        name: Name in findings.
        regex: The pattern.
        tools: Patterns (``*``, ``?``) of the tools it looks at; all when empty.
        gate: See `widened`.
    """

    name: str
    regex: Pattern
    tools: tuple[str, ...]
    gate: str | None

    @classmethod
    def of(cls, pattern: PatternLike) -> OwnPattern:
        """From the suite's pattern, which has been checked to compile."""
        return cls(pattern.name, python_pattern(pattern.regex), tuple(pattern.tools), widened(pattern.regex))

    def looks_at(self, tool: str | None) -> bool:
        """Whether the pattern is meant for that tool; a call without a name is looked at by all-tool patterns only."""
        if not self.tools:
            return True
        return tool is not None and any(fnmatchcase(tool, glob) for glob in self.tools)


def widened(regex: str) -> str | None:
    r"""A Rust regular expression that is found in an ASCII text wherever the pattern is found in a part of it.

    Anchors are dropped, and white space is taken as widely as Python does. Constructs in which the two languages may
    differ, or for which a part of a text is not enough to go by (look-around, atomic groups, back references), give
    None.

    Args:
        regex: A Python regular expression.

    Example:
        >>> widened(r"(?i)^drop\s+table\b")
        '(?i)drop[\\t\\n\\x0b\\x0c\\r \\x1c-\\x1f]+table'
        >>> widened(r"a(?!b)") is None
        True
    """
    out: list[str] = []
    at = 0
    previous = ""
    while at < len(regex):
        item = _PLAIN.match(regex, at)
        if item is None:
            return None
        token = item.group()
        if item["anchor"] is not None:
            if regex[item.end() : item.end() + 1] in {"*", "+", "?", "{"}:
                return None
        elif previous == "quantifier" and token[0] in "*+?{":
            return None  # possessive, or nothing that both languages read alike
        else:
            out.append(_widen(token))
        previous = "quantifier" if token[0] in "*+?{" else "other"
        at = item.end()
    return "".join(out) or None


def _widen(item: str) -> str:
    if item == r"\s":
        return f"[{_ANY_SPACE}]"
    if item[0] != "[":
        return item
    if item[1] != "^":
        return item.replace(r"\s", _ANY_SPACE)
    return item  # a negated class with \s lets more through in Rust, which is the right side to err on
