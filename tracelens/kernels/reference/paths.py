"""How the place of a value inside arguments is written: ``a.b[0].c``, ``a."b.c"``, ``a[*].b``.

A member made of ASCII letters, digits, ``_`` and ``-`` stands bare, any other is a JSON string; an array index
stands in brackets; ``[*]`` (rules only) means every element. The root is the empty string.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Sequence


class Wild(enum.Enum):
    """The type of `WILD`, an own type so that no member name can be mistaken for it."""

    EACH = "[*]"


WILD = Wild.EACH
"""The part of a path that stands for every element of an array."""

Part = str | int | Wild
"""One step: a member (str), an element (int) or every element (`WILD`)."""

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKET = re.compile(r"\[(\*|0|[1-9][0-9]*)\]")
# Wider than what is rendered bare: nobody should have to quote `größe` or `$top` in a suite.
_MEMBER = re.compile(r'[^.\[\]"]+')


def render_path(parts: Sequence[Part]) -> str:
    """The text of a path.

    Args:
        parts: Members, indices and `WILD`, outermost first; empty for the root.

    Returns:
        The text; `parse_path` gives the parts back.

    Example:
        >>> render_path(["legs", 0, "from"]), render_path(["a", "b.c", WILD]), render_path([])
        ('legs[0].from', 'a."b.c"[*]', '')
    """
    out: list[str] = []
    for part in parts:
        if isinstance(part, str):
            out.append("." if out else "")
            out.append(part if _BARE.match(part) else json.dumps(part, ensure_ascii=False))
        else:
            out.append(part.value if isinstance(part, Wild) else f"[{part}]")
    return "".join(out)


def parse_path(text: str) -> tuple[Part, ...]:
    """The parts of a path that is written as text.

    Args:
        text: A path such as ``a.b[0]``, ``a[*]."b.c"``; empty for the root.

    Returns:
        Members as str, indices as int, `WILD` for ``[*]``.

    Raises:
        ValueError: The text is no path; the message has the position, from 0.

    Example:
        >>> parse_path('passengers[*]."home.town"')
        ('passengers', <Wild.EACH: '[*]'>, 'home.town')
        >>> parse_path("a..b")
        Traceback (most recent call last):
        ValueError: path 'a..b': a member name is expected at position 2
    """
    parts: list[Part] = []
    at = 0
    while at < len(text):
        if text[at] == "[":
            part, at = _bracket(text, at)
        else:
            if parts:
                if text[at] != ".":
                    raise _error(text, at, "'.' or '[' is expected")
                at += 1
            part, at = _member(text, at)
        parts.append(part)
    return tuple(parts)


def _bracket(text: str, at: int) -> tuple[Part, int]:
    found = _BRACKET.match(text, at)
    if found is None:
        raise _error(text, at, "an index such as [0], or [*], is expected")
    inner = found.group(1)
    return (WILD if inner == "*" else int(inner)), found.end()


def _member(text: str, at: int) -> tuple[str, int]:
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        try:
            member: str = json.loads(quoted.group(), strict=False)
        except ValueError:
            raise _error(text, at, "the quoted member is no JSON string") from None
        return member, quoted.end()
    found = _MEMBER.match(text, at)
    if found is None:
        raise _error(text, at, "a member name is expected")
    return found.group(), found.end()


def _error(text: str, at: int, message: str) -> ValueError:
    return ValueError(f"path {text!r}: {message} at position {at}")
