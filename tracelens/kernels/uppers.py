"""Strings trimmed and in upper case, as Python does both: `value.strip().upper()`, with ASCII letters in lower case.

Which of the two cases ASCII letters have makes no difference to what is equal, and lower case is what `kernels.fold`
makes of them eight at a time.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tracelens.kernels.scan import ESCAPED, decode_string
from tracelens.kernels.words import byte_at, copy_exactly, inlined, lean

KNOWN = 0x20000
"""Characters below this are looked up; others are left to Python."""


@cache
def uppers() -> np.ndarray:
    """int32[KNOWN]: what each character becomes; 0 where it becomes several, or longer in UTF-8, or is white space.

    Example:
        >>> chr(uppers()[ord("é")]), chr(uppers()[ord("E")]), int(uppers()[ord("ß")])
        ('É', 'e', 0)
    """
    out = np.zeros(KNOWN, np.int32)
    for code in range(1, KNOWN):
        character = chr(code)
        if 0xD800 <= code < 0xE000 or (code >= 128 and character.isspace()):
            continue
        upper = character.upper()
        if len(upper) == 1 and width(ord(upper)) <= width(code):
            out[code] = ord(upper.lower() if ord(upper) < 128 else upper)
    return out


def width(code: int) -> int:
    """Bytes of a character in UTF-8.

    Example:
        >>> width(ord("a")), width(ord("é"))
        (1, 2)
    """
    return 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000)


@inlined
def is_space(byte: int) -> bool:
    """Whether Python strips an ASCII character."""
    return byte == 32 or (byte >= 9 and byte <= 13) or (byte >= 28 and byte <= 31)


@lean
def upper_into(buf: np.ndarray, start: int, end: int, flags: int, out: np.ndarray, table: np.ndarray) -> int:
    """Write a JSON string, trimmed and in upper case, to ``out``.

    Args:
        buf: Pointer to the bytes.
        start: First byte of the string's contents.
        end: Byte after it.
        flags: Of the string, see `kernels.shred.Tape`.
        out: Pointer to room for the string.
        table: Pointer to `uppers`.

    Returns:
        Its length there; -1 where it is left to Python.
    """
    if flags & ESCAPED:
        size = np.int64(decode_string(buf, start, end, out, 0))
    else:
        size = end - start
        copy_exactly(buf, start, out, 0, size)
    first = np.int64(0)
    while first < size and is_space(byte_at(out, first)):
        first += 1
    while size > first and is_space(byte_at(out, size - 1)):
        size -= 1
    read, written = first, np.int64(0)
    while read < size:
        byte = np.int64(byte_at(out, read))
        code, more = byte, 0
        if byte >= 0xF0:
            code, more = byte & 7, 3
        elif byte >= 0xE0:
            code, more = byte & 15, 2
        elif byte >= 0xC0:
            code, more = byte & 31, 1
        for k in range(more):
            code = (code << 6) | (np.int64(byte_at(out, read + 1 + k)) & 63)
        read += 1 + more
        if code >= KNOWN or table[code] == 0:
            return -1
        code = np.int64(table[code])
        if code < 0x80:
            out[written] = code
            written += 1
        elif code < 0x800:
            out[written], out[written + 1] = 0xC0 | (code >> 6), 0x80 | (code & 63)
            written += 2
        elif code < 0x10000:
            out[written] = 0xE0 | (code >> 12)
            out[written + 1], out[written + 2] = 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)
            written += 3
        else:
            out[written], out[written + 1] = 0xF0 | (code >> 18), 0x80 | ((code >> 12) & 63)
            out[written + 2], out[written + 3] = 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)
            written += 4
    return written
