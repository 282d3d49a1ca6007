"""Styled text without a terminal: lines of (text, style) pieces that become plain text, HTML or terminal output.

What comes from traces is made harmless here: control and direction characters never reach a terminal, markup never
reaches a page.
"""

from __future__ import annotations

import html as _html
from collections.abc import Iterable
from typing import Literal

from tracelens.shown import safe, short

__all__ = ["WIDTH", "Line", "Piece", "Style", "html", "plain", "safe", "short"]

Style = Literal["", "title", "dim", "good", "bad", "warn", "name", "strong"]
Piece = tuple[str, Style]
Line = list[Piece]

WIDTH = 96
"""Columns that a page keeps to."""

_CSS = {
    "title": "font-weight:600",
    "strong": "font-weight:600",
    "dim": "opacity:.6",
    "good": "color:light-dark(#1a7f37,#4ac26b)",
    "bad": "color:light-dark(#c4242b,#ff7b72)",
    "warn": "color:light-dark(#8a5a00,#d9a441)",
    "name": "color:light-dark(#0550ae,#79b8ff)",
}


def plain(lines: Iterable[Line]) -> str:
    r"""The lines as text.

    Example:
        >>> plain([[("a ", ""), ("b", "bad")], []])
        'a b\n'
    """
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def html(lines: Iterable[Line]) -> str:
    """The lines as one block of HTML that needs nothing from anywhere and follows light and dark pages.

    Example:
        >>> "&lt;script&gt;" in html([[("<script>", "bad")]])
        True
    """
    body = "\n".join("".join(_span(text, style) for text, style in line) for line in lines)
    look = "color-scheme:light dark;background:none;color:inherit;line-height:1.4;overflow-x:auto;font-size:13px"
    return f'<pre style="{look}">{body}</pre>'


def _span(text: str, style: Style) -> str:
    escaped = _html.escape(text)
    return f'<span style="{_CSS[style]}">{escaped}</span>' if style else escaped
