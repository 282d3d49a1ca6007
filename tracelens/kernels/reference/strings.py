"""Rules that turn a string into a string."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

WHITE_SPACE = "".join(
    map(
        chr,
        [*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000],
    )
)
"""The 25 characters with the Unicode property White_Space. Python's own `str.strip` also takes U+001C to U+001F."""

_WHITE = frozenset(WHITE_SPACE)
# Folding and composing settle after two rounds for every known character; the limit only ends the loop for sure.
_ROUNDS = 8


def settled(step: Callable[[str], str], text: str) -> str:
    """Repeat a step until it changes nothing, so that normalising what is normalised does nothing."""
    for _ in range(_ROUNDS):
        after = step(text)
        if after == text:
            break
        text = after
    return text


def trim(text: str) -> str:
    r"""The string without white space at either end.

    Example:
        >>> trim("\u3000 a b\n"), trim("\x1ca")
        ('a b', '\x1ca')
    """
    return text.strip(WHITE_SPACE)


def fold(text: str) -> str:
    """The string under full Unicode case folding.

    Example:
        >>> fold("Straße") == fold("STRASSE")
        True
    """
    return text.casefold()


def upper(text: str) -> str:
    """The string in upper case (full mappings).

    Example:
        >>> upper("straße")
        'STRASSE'
    """
    return text.upper()


def lower(text: str) -> str:
    """The string in lower case (full mappings).

    Example:
        >>> lower("ÄB")
        'äb'
    """
    return text.lower()


def compose(text: str) -> str:
    """The string in Unicode normalisation form C."""
    return unicodedata.normalize("NFC", text)


def default_string(text: str) -> str:
    r"""The default rules: form C, trimmed of white space, case-folded, and form C again.

    Args:
        text: The decoded string.

    Returns:
        The canonical string; applying the rules again does not change it.

    Example:
        >>> default_string("  Cafe\u0301 ") == default_string("CAFÉ")
        True
    """
    if text.isascii():
        return trim(text).lower()
    return settled(lambda s: compose(fold(trim(compose(s)))), text)


def text(text: str) -> str:
    """The default rules, and every run of white space and punctuation as one space.

    A minus sign stays: a hyphen before a digit that does not follow a letter or digit.

    Example:
        >>> text("O’Brien,  Anna-Lena!"), text("at -5°"), text("2026-11-02")
        ('o brien anna lena', 'at -5°', '2026 11 02')
    """
    return settled(_without_punctuation, text)


def _without_punctuation(text: str) -> str:
    text = default_string(text)
    out: list[str] = []
    for i, c in enumerate(text):
        if c in _WHITE or (unicodedata.category(c)[0] == "P" and not _is_minus(text, i)):
            if out and out[-1] != " ":
                out.append(" ")
        else:
            out.append(c)
    return trim("".join(out))


def _is_minus(text: str, i: int) -> bool:
    follows = text[i + 1 : i + 2]
    return text[i] == "-" and follows.isascii() and follows.isdigit() and not text[i - 1 : i].isalnum()
