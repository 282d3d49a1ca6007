"""Text that came from traces, made harmless: nothing in it moves a cursor, changes direction or hides."""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)


def safe(text: str) -> str:
    r"""The text with control, zero-width and direction characters written out.

    Example:
        >>> safe("a\x1b[31mb\u202ec")
        'a\\x1b[31mb\\u202ec'
    """
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def short(text: str, width: int) -> str:
    """The safe text, cut to a width with an ellipsis.

    Example:
        >>> short("abcdef", 4)
        'abc…'
    """
    text = safe(text[: 4 * width + 4])
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"
