"""The default rules for strings in one pass over bytes: decode escapes, trim, fold case, stay in form C.

Only *simple* code points can be treated one by one. A code point is simple where it keeps its own in form C, has
combining class 0, never composes with what stands before it, and folds to a single simple code point that folds to
itself. A string of simple code points is in form C before and after folding, so that nothing else is left to do. A
string with any other code point is left to the plain-Python rules.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

from tracelens.kernels.reference.strings import WHITE_SPACE
from tracelens.kernels.scan import BACKSLASHES, escape_point, write_utf8
from tracelens.kernels.words import HIGH_BITS, LOW_BITS, byte_at, inlined, lean, load8, store8, trailing_zeros

SPACE = 1 << 24
"""Flag of a code point with the property White_Space, beside what it folds to."""

POINT = SPACE - 1

LOWER_A = np.uint64(0x3F3F3F3F3F3F3F3F)
ABOVE_Z = np.uint64(0x2525252525252525)

SIZE = 0x1FB00
"""Code points from here on are not in the table."""

_LOOKED_AT = (
    (0x0000, 0x0300),  # Latin
    (0x0370, 0x0600),  # Greek, Cyrillic, Armenian, Hebrew
    (0x0600, 0x0700),  # Arabic
    (0x0900, 0x0980),  # Devanagari
    (0x0E00, 0x0E80),  # Thai
    (0x10A0, 0x1100),  # Georgian
    (0x1680, 0x16A0),  # Ogham, for its space
    (0x1C90, 0x1CC0),  # Georgian capitals
    (0x1E00, 0x2000),  # Latin with marks, polytonic Greek
    (0x2000, 0x2E80),  # punctuation, currency, arrows, mathematics, boxes, symbols
    (0x3000, 0x3400),  # CJK punctuation, kana, Bopomofo, enclosed forms
    (0xA640, 0xA6A0),  # more Cyrillic
    (0xA720, 0xA800),  # more Latin
    (0xFB00, 0xFB50),  # ligatures, Hebrew forms
    (0xFE00, 0xFE70),  # variation selectors, vertical and small forms
    (0xFF00, 0xFFFE),  # half and full width
    (0x1F000, 0x1FB00),  # emoji and pictographs
)
"""Blocks whose code points are looked at one by one. None holds a code point of combining class 0 that composes with
what stands before it; those are vowel signs of other scripts and the jamo of Hangul."""

_INERT = ((0x3400, 0x4DC0), (0x4E00, 0x9FFD), (0xAC00, 0xD7A4))
"""Blocks of which every code point is simple and folds to itself: ideographs and Hangul syllables."""


@cache
def folds() -> np.ndarray:
    """What each code point folds to.

    Returns:
        int32[SIZE]: the code point it folds to, plus `SPACE` where it is white space; -1 where it is not simple, or
        takes more bytes of UTF-8 once folded.

    Example:
        >>> table = folds()
        >>> chr(table[ord("Ö")]), int(table[ord("ß")]), bool(table[0xA0] & SPACE)
        ('ö', -1, True)
    """
    table = np.full(SIZE, -1, dtype=np.int32)
    for first, stop in _INERT:
        table[first:stop] = np.arange(first, stop)
    for first, stop in _LOOKED_AT:
        table[first:stop] = _folded(first, stop)
    # What a code point folds to has to be simple as well, and to fold to itself.
    given = np.flatnonzero(table >= 0)
    to = table[given]
    table[given[table[to] != to]] = -1
    for character in WHITE_SPACE:
        table[ord(character)] |= SPACE
    return table


def _folded(first: int, stop: int) -> np.ndarray:
    """What each code point of a block folds to; -1 where it composes, decomposes, grows or is not assigned."""
    block = "".join(map(chr, range(first, stop)))
    # U+0000 takes part in nothing, so that one call treats every character by itself.
    apart = "\0".join(block)
    if first == 0:
        apart = apart[2:]
        block = block[1:]
    composed = unicodedata.normalize("NFC", apart).split("\0")
    folded = apart.casefold().split("\0")
    out = [
        ord(f)
        if len(f) == 1 and c == n and unicodedata.combining(c) == 0 and unicodedata.category(c) != "Cn" and _fits(f, c)
        else -1
        for c, n, f in zip(block, composed, folded, strict=True)
    ]
    return np.array([0, *out] if first == 0 else out, dtype=np.int32)


def _fits(folded: str, character: str) -> bool:
    """Whether the folded character takes no more bytes of UTF-8."""
    return folded <= character or len(folded.encode()) <= len(character.encode())


@inlined
def utf8_point(buf: np.ndarray, i: int) -> tuple[int, int]:
    """Decode the (already checked) UTF-8 sequence of two to four bytes at ``i``: ``(next, code point)``."""
    c = np.int64(byte_at(buf, i))
    second = np.int64(byte_at(buf, i + 1)) & 0x3F
    if c < 0xE0:
        return i + 2, ((c & 0x1F) << 6) | second
    third = np.int64(byte_at(buf, i + 2)) & 0x3F
    if c < 0xF0:
        return i + 3, ((c & 0x0F) << 12) | (second << 6) | third
    return i + 4, ((c & 0x07) << 18) | (second << 12) | (third << 6) | (np.int64(byte_at(buf, i + 3)) & 0x3F)


@inlined
def fold_word(word: np.uint64) -> np.uint64:
    """Eight ASCII bytes in lower case."""
    upper = (word + LOWER_A) & ~(word + ABOVE_Z) & HIGH_BITS
    return word + (upper >> np.uint64(2))


@inlined
def is_ascii_space(c: int) -> bool:
    """Whether a byte is one of the ASCII characters with the White_Space property."""
    return c == 32 or 9 <= c <= 13


@inlined
def plain_bytes(word: np.uint64) -> int:
    """How many of eight bytes stand before the first that is a backslash or not ASCII."""
    return trailing_zeros((((word ^ BACKSLASHES) - LOW_BITS) | word) & HIGH_BITS) >> 3


@inlined
def next_point(buf: np.ndarray, i: int) -> tuple[int, int]:
    """Decode the character at ``i`` of checked string contents: ``(next, code point)``."""
    c = byte_at(buf, i)
    if c >= 128:
        return utf8_point(buf, i)
    if c == 92:
        return escape_point(buf, i)
    return i + 1, np.int64(c)


@lean
def fold_into(buf: np.ndarray, start: int, end: int, out: np.ndarray, pos: int, table: np.ndarray) -> tuple[int, bool]:
    """Write the canonical form of checked string contents to ``out``, as UTF-8.

    The form is never longer than the contents, so ``end - start`` bytes of room and padding are enough.

    Args:
        buf: the contents' bytes, padded.
        start: first byte.
        end: byte after the last.
        out: uint8 out.
        pos: where to write.
        table: `folds`.

    Returns:
        The index after what was written (-1 where some code point is not simple), and whether the form differs from
        the decoded contents.
    """
    first, last, changed = pos, pos, np.uint64(0)
    i = start
    while i < end:
        if pos > first:
            word = load8(buf, i)
            size = min(plain_bytes(word), end - i)
            if size > 0:
                folded = fold_word(word)
                store8(out, pos, folded)
                changed |= (folded ^ word) << np.uint64(64 - 8 * size)
                i += size
                pos += size
                k = pos
                while k > pos - size and is_ascii_space(byte_at(out, k - 1)):
                    k -= 1
                if k > pos - size:
                    last = k
                continue
        i, point = next_point(buf, i)
        to = np.int64(table[point]) if point < SIZE else -1
        if to < 0:
            return -1, True
        if to & SPACE and pos == first:
            changed = np.uint64(1)
            continue
        changed |= np.uint64(to & POINT != point)
        pos = write_utf8(out, pos, to & POINT)
        if to & SPACE == 0:
            last = pos
    return last, changed != 0 or last < pos


@lean
def quote_into(buf: np.ndarray, start: int, end: int, out: np.ndarray, pos: int) -> int:
    """Write a decoded string's bytes as contents of a JSON string, only what must be escaped escaped.

    The result is never longer than any other JSON contents of that string. Returns the index after it.
    """
    for i in range(start, end):
        c = byte_at(buf, i)
        if c >= 32 and c != 34 and c != 92:
            out[pos] = c
            pos += 1
            continue
        short = short_escape(np.int64(c))
        out[pos] = 92
        if short:
            out[pos + 1] = short
            pos += 2
            continue
        out[pos + 1], out[pos + 2], out[pos + 3] = 117, 48, 48
        out[pos + 4] = 48 + (c >> 4)
        out[pos + 5] = 48 + (c & 15) if c & 15 < 10 else 87 + (c & 15)
        pos += 6
    return pos


@inlined
def short_escape(c: int) -> int:
    """The letter that stands for a character behind a backslash, 0 where there is none."""
    if c == 34 or c == 92:
        return c
    if c == 10:
        return 110
    if c == 9:
        return 116
    if c == 13:
        return 114
    if c == 8:
        return 98
    return 102 if c == 12 else 0
