"""Scanning JSON text (RFC 8259): white space, strings, numbers, words, whole values.

Every scanner takes a padded ``uint8`` buffer, the index to start at and the index to stop before, and returns
``(next, info)``. ``next`` is the index after what was scanned; a negative ``next`` is ``-code`` of an error from
`ERRORS`, and ``info`` is then the index of the offending byte.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.jit import kernel
from tracelens.kernels.lanes import LANES, ends_of_plain, not_digits
from tracelens.kernels.words import byte_at, inlined, lean, load8, trailing_zeros

E_END = 1
E_CHAR = 2
E_CONTROL = 3
E_ESCAPE = 4
E_SURROGATE = 5
E_UTF8 = 6
E_NUMBER = 7
E_DEPTH = 8
E_TRAILING = 9
E_NAN = 10
E_EMPTY = 11

ERRORS = {
    E_END: "unterminated: the text ends inside a value",
    E_CHAR: "unexpected character",
    E_CONTROL: "control character inside a string",
    E_ESCAPE: "bad escape in a string",
    E_SURROGATE: "lone surrogate in a string",
    E_UTF8: "bytes that are not UTF-8",
    E_NUMBER: "malformed number",
    E_DEPTH: "nested too deeply",
    E_TRAILING: "trailing data after the value",
    E_NAN: "NaN and Infinity are not JSON",
    E_EMPTY: "no value",
}

# Kinds of value.
NULL = 0
FALSE = 1
TRUE = 2
NUMBER = 3
STRING = 4
OBJECT = 5
ARRAY = 6

# Flags of a value.
ESCAPED = 1
NON_ASCII = 2
INTEGER = 4
KEY_ESCAPED = 8
DEAD = 16
KEY_NON_ASCII = 32
OUT_OF_RANGE = 64

BACKSLASHES = np.uint64(0x5C5C5C5C5C5C5C5C)
BEYOND = np.uint64(1 << LANES)

# The least decimal that rounds to infinity as a double: halfway above the largest double, 309 digits.
OVERFLOW_DIGITS = np.frombuffer(str(2**1024 - 2**970).encode(), dtype=np.uint8)


@lean
def skip_blanks(buf: np.ndarray, i: int, end: int) -> int:
    """The index of the first byte at or after ``i`` that is not JSON white space, or ``end``."""
    while i < end:
        c = byte_at(buf, i)
        if c > 32 or not (c == 32 or c == 10 or c == 13 or c == 9):
            return i
        i += 1
    return i


@inlined
def skip_space(buf: np.ndarray, i: int, end: int) -> int:
    """`skip_blanks`, decided on the spot where nothing is to be skipped."""
    if i < end and byte_at(buf, i) > 32:
        return i
    return skip_blanks(buf, i, end)


@lean
def hex_digit(byte: int) -> int:
    """The value of a hexadecimal digit, or -1."""
    if 48 <= byte <= 57:
        return byte - 48
    byte |= 32
    if 97 <= byte <= 102:
        return byte - 87
    return -1


@lean
def hex4(buf: np.ndarray, i: int, end: int) -> int:
    """The number written as four hexadecimal digits at ``i``, or -1."""
    if i + 4 > end:
        return -1
    value = 0
    for k in range(i, i + 4):
        digit = hex_digit(np.int64(byte_at(buf, k)))
        if digit < 0:
            return -1
        value = value * 16 + digit
    return value


@lean
def scan_escape(buf: np.ndarray, i: int, end: int) -> tuple[int, int]:
    """Check the escape whose backslash stands at ``i``; a surrogate pair is one escape."""
    if i + 1 >= end:
        return -E_END, i
    c = byte_at(buf, i + 1)
    if c == 34 or c == 92 or c == 47 or c == 98 or c == 102 or c == 110 or c == 114 or c == 116:
        return i + 2, 0
    if c != 117:
        return -E_ESCAPE, i
    unit = hex4(buf, i + 2, end)
    if unit < 0:
        return (-E_END if i + 6 > end else -E_ESCAPE), i
    if 0xDC00 <= unit <= 0xDFFF:
        return -E_SURROGATE, i
    if unit < 0xD800 or unit > 0xDBFF:
        return i + 6, 0
    if i + 8 <= end and byte_at(buf, i + 6) == 92 and byte_at(buf, i + 7) == 117:
        low = hex4(buf, i + 8, end)
        if 0xDC00 <= low <= 0xDFFF:
            return i + 12, 0
    return -E_SURROGATE, i


@lean
def utf8_length(buf: np.ndarray, i: int, end: int) -> int:
    """The length in bytes (2 to 4) of the well-formed UTF-8 sequence at ``i``, or 0 where it is malformed."""
    word = load8(buf, i)
    c, d = word & np.uint64(0xFF), (word >> np.uint64(8)) & np.uint64(0xFF)
    length = 0
    if 0xC2 <= c <= 0xDF:
        length = 2 if word & np.uint64(0xC000) == 0x8000 else 0
    elif c & np.uint64(0xF0) == 0xE0:
        well = word & np.uint64(0xC0C000) == 0x808000 and not ((c == 0xE0 and d < 0xA0) or (c == 0xED and d > 0x9F))
        length = 3 if well else 0
    elif 0xF0 <= c <= 0xF4:
        well = word & np.uint64(0xC0C0C000) == 0x80808000 and not ((c == 0xF0 and d < 0x90) or (c == 0xF4 and d > 0x8F))
        length = 4 if well else 0
    return length if i + length <= end else 0


@inlined
def plain_run(buf: np.ndarray, i: int, end: int) -> int:
    """The first index at or after ``i`` of a quote, backslash, control or non-ASCII byte; ``end`` or more if none."""
    while i < end:
        hits = ends_of_plain(buf, i)
        if hits != 0:
            return i + trailing_zeros(hits)
        i += LANES
    return i


@lean
def rest_of_string(buf: np.ndarray, p: int, end: int) -> tuple[int, int]:
    """`scan_string` from the first byte ``p`` inside a string that is not plain."""
    flags = 0
    while p < end:
        c = byte_at(buf, p)
        if c == 34:
            return p + 1, flags
        if c == 92:
            p, at = scan_escape(buf, p, end)
            if p < 0:
                return p, at
            flags |= ESCAPED
        elif c > 127:
            length = utf8_length(buf, p, end)
            if length == 0:
                return -E_UTF8, p
            p += length
            flags |= NON_ASCII
        elif c < 32:
            return -E_CONTROL, p
        else:
            p = plain_run(buf, p + 1, end)
    return -E_END, end


@inlined
def scan_string(buf: np.ndarray, i: int, end: int) -> tuple[int, int]:
    """Scan the string whose opening quote stands at ``i``; info = ESCAPED and NON_ASCII flags."""
    p = plain_run(buf, i + 1, end)
    if p < end and byte_at(buf, p) == 34:
        return p + 1, 0
    return rest_of_string(buf, p, end)


@inlined
def skip_digits(buf: np.ndarray, i: int, end: int) -> int:
    """The index after the run of decimal digits at ``i``."""
    while i < end and 48 <= byte_at(buf, i) <= 57:
        i += 1
    return i


@lean
def scan_any_number(buf: np.ndarray, i: int, end: int) -> tuple[int, int]:
    """Scan a number; info = INTEGER where it has neither fraction nor exponent, and OUT_OF_RANGE."""
    start = i
    if byte_at(buf, i) == 45:
        i += 1
    if i >= end:
        return -E_END, i
    if byte_at(buf, i) == 73 and i > start:
        return -E_NAN, start
    first = i
    i = skip_digits(buf, i, end)
    if i == first or (byte_at(buf, first) == 48 and i > first + 1):
        return -E_NUMBER, start
    flags = INTEGER
    if i < end and byte_at(buf, i) == 46:
        flags = 0
        digits = i + 1
        i = skip_digits(buf, digits, end)
        if i == digits:
            return (-E_END if i >= end else -E_NUMBER), start
    if i < end and byte_at(buf, i) | 32 == 101:
        flags = 0
        i += 1
        if i < end and (byte_at(buf, i) == 43 or byte_at(buf, i) == 45):
            i += 1
        digits = i
        i = skip_digits(buf, digits, end)
        if i == digits:
            return (-E_END if i >= end else -E_NUMBER), start
        if overflows(buf, start, i):
            flags |= OUT_OF_RANGE
    elif i - start > 308 and overflows(buf, start, i):
        flags |= OUT_OF_RANGE
    return i, flags


@inlined
def scan_number(buf: np.ndarray, i: int, end: int) -> tuple[int, int]:
    """`scan_any_number`, decided in one look where the number is short and has no exponent."""
    first = i + (byte_at(buf, i) == 45)
    hits = not_digits(buf, first) | BEYOND
    stop = first + trailing_zeros(hits)
    good = stop > first and (byte_at(buf, first) != 48 or stop == first + 1)
    flags = INTEGER
    if byte_at(buf, stop) == 46:
        flags = 0
        fraction = stop + 1
        stop = first + trailing_zeros(hits & (hits - np.uint64(1)))
        good = good and stop > fraction
    if good and stop < first + LANES and stop <= end and byte_at(buf, stop) | 32 != 101:
        return stop, flags
    return scan_any_number(buf, i, end)


@lean
def decimal_parts(buf: np.ndarray, start: int, end: int) -> tuple[int, int, int]:
    """Where a number's significant digits lie: ``(first, last, exponent)``.

    ``first`` is the index of the first non-zero digit and ``last`` of the last one (the point may stand between
    them); the value is ``0.d1d2… · 10^exponent``. Zero has ``first = -1``. The exponent is clamped to ±10^17.
    """
    first, last, point, mark = -1, -1, -1, end
    for k in range(start, end):
        c = byte_at(buf, k)
        if 49 <= c <= 57:
            last = k
            if first < 0:
                first = k
        elif c == 46:
            point = k
        elif c | 32 == 101:
            mark = k
            break
    if first < 0:
        return -1, -1, 0
    whole = point if point >= 0 else mark
    exponent = whole - first if first < whole else whole - first + 1
    written = 0
    for k in range(mark + 1, end):
        c = byte_at(buf, k)
        if c >= 48 and written < 10**17:
            written = written * 10 + (np.int64(c) - 48)
    if mark + 1 < end and byte_at(buf, mark + 1) == 45:
        written = -written
    return first, last, exponent + max(-(10**17), min(10**17, written))


@lean
def overflows(buf: np.ndarray, start: int, end: int) -> bool:
    """Whether a number's double is infinite, decided on its digits."""
    first, last, exponent = decimal_parts(buf, start, end)
    if first < 0 or exponent != OVERFLOW_DIGITS.size:
        return first >= 0 and exponent > OVERFLOW_DIGITS.size
    k = first
    for digit in OVERFLOW_DIGITS:
        if k <= last and byte_at(buf, k) == 46:
            k += 1
        c = byte_at(buf, k) if k <= last else np.uint8(48)
        if c != digit:
            return bool(c > digit)
        k += 1
    return True


@lean
def scan_word(buf: np.ndarray, i: int, end: int) -> tuple[int, int]:
    """Scan ``null``, ``true`` or ``false``; info = the kind."""
    word = load8(buf, i)
    four = word & np.uint64(0xFFFFFFFF)
    if four == np.uint64(0x6C6C756E) and i + 4 <= end:
        return i + 4, NULL
    if four == np.uint64(0x65757274) and i + 4 <= end:
        return i + 4, TRUE
    if word & np.uint64(0xFFFFFFFFFF) == np.uint64(0x65736C6166) and i + 5 <= end:
        return i + 5, FALSE
    c = byte_at(buf, i)
    if c == 78 or c == 73:
        return -E_NAN, i
    if c == 110 or c == 116 or c == 102:
        literal = b"null" if c == 110 else (b"true" if c == 116 else b"false")
        k = 0
        while k < len(literal) and i + k < end and byte_at(buf, i + k) == literal[k]:
            k += 1
        if i + k >= end:
            return -E_END, end
    return -E_CHAR, i


@inlined
def scan_scalar(buf: np.ndarray, i: int, end: int) -> tuple[int, int, int]:
    """Scan a string, number or word: ``(next, kind, flags)``; on error ``(-code, position, 0)``."""
    c = byte_at(buf, i)
    if c == 34:
        p, info = scan_string(buf, i, end)
        return (p, STRING, info) if p >= 0 else (p, info, 0)
    if c == 45 or 48 <= c <= 57:
        p, info = scan_number(buf, i, end)
        return (p, NUMBER, info) if p >= 0 else (p, info, 0)
    p, info = scan_word(buf, i, end)
    return p, info, 0


@inlined
def scan_key(buf: np.ndarray, i: int, end: int) -> tuple[int, int, int]:
    """Scan a member's key and colon: ``(index of the value, end of the key's contents, flags)``."""
    if i >= end:
        return -E_END, end, 0
    if byte_at(buf, i) != 34:
        return -E_CHAR, i, 0
    p, flags = scan_string(buf, i, end)
    if p < 0:
        return p, flags, 0
    stop = p - 1
    p = skip_space(buf, p, end)
    if p >= end:
        return -E_END, end, 0
    if byte_at(buf, p) != 58:
        return -E_CHAR, p, 0
    p = skip_space(buf, p + 1, end)
    if p >= end:
        return -E_END, end, 0
    return p, stop, flags


@kernel
def skip_value(buf: np.ndarray, i: int, end: int, depth_left: int) -> tuple[int, int]:
    """Check the value at ``i`` (any kind, any nesting up to ``depth_left`` containers) without keeping anything."""
    return skip_value_in(buf, i, end, depth_left, np.empty(depth_left + 1, dtype=np.bool_))


@lean
def skip_value_in(buf: np.ndarray, i: int, end: int, depth_left: int, is_object: np.ndarray) -> tuple[int, int]:
    """`skip_value` with the caller's scratch of ``depth_left + 1`` booleans, for callers in a loop."""
    if i >= end:
        return -E_END, end
    depth = 0
    while True:
        c = byte_at(buf, i)
        ended = c != 123 and c != 91
        if ended:
            i, at, _ = scan_scalar(buf, i, end)
            if i < 0:
                return i, at
        else:
            depth += 1
            if depth > depth_left:
                return -E_DEPTH, i
            is_object[depth] = c == 123
            i = skip_space(buf, i + 1, end)
            if i < end and byte_at(buf, i) == c + 2:
                depth -= 1
                ended = True
                i += 1
        while ended:
            if depth == 0:
                return i, 0
            i = skip_space(buf, i, end)
            if i >= end:
                return -E_END, end
            c = byte_at(buf, i)
            i += 1
            if c == 44:
                ended = False
                i = skip_space(buf, i, end)
            elif c == (125 if is_object[depth] else 93):
                depth -= 1
            else:
                return -E_CHAR, i - 1
        if i >= end:
            return -E_END, end
        if is_object[depth]:
            i, at, _ = scan_key(buf, i, end)
            if i < 0:
                return i, at


@lean
def write_utf8(out: np.ndarray, pos: int, point: int) -> int:
    """Write a code point as UTF-8 at ``out[pos]`` and return the index after it."""
    if point < 0x80:
        out[pos] = point
        return pos + 1
    if point < 0x800:
        out[pos] = 0xC0 | (point >> 6)
    elif point < 0x10000:
        out[pos] = 0xE0 | (point >> 12)
        pos += 1
        out[pos] = 0x80 | ((point >> 6) & 0x3F)
    else:
        out[pos] = 0xF0 | (point >> 18)
        out[pos + 1] = 0x80 | ((point >> 12) & 0x3F)
        pos += 2
        out[pos] = 0x80 | ((point >> 6) & 0x3F)
    out[pos + 1] = 0x80 | (point & 0x3F)
    return pos + 2


@lean
def escape_point(buf: np.ndarray, i: int) -> tuple[int, int]:
    """Decode the (already checked) escape at ``i``: ``(next, code point)``."""
    c = byte_at(buf, i + 1)
    if c != 117:
        plain = np.int64(c)
        if c == 98:
            plain = 8
        elif c == 102:
            plain = 12
        elif c == 110:
            plain = 10
        elif c == 114:
            plain = 13
        elif c == 116:
            plain = 9
        return i + 2, plain
    unit = hex4(buf, i + 2, i + 6)
    if 0xD800 <= unit <= 0xDBFF:
        low = hex4(buf, i + 8, i + 12)
        return i + 12, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
    return i + 6, unit


@lean
def decode_escape(buf: np.ndarray, i: int, out: np.ndarray, pos: int) -> tuple[int, int]:
    """Decode the (already checked) escape at ``i`` into ``out[pos:]``: ``(next in buf, next in out)``."""
    i, point = escape_point(buf, i)
    return i, write_utf8(out, pos, point)


@lean
def decode_string(buf: np.ndarray, start: int, end: int, out: np.ndarray, pos: int) -> int:
    """Unescape checked string contents ``buf[start:end]`` into ``out[pos:]`` and return the index after them.

    The result is never longer than the contents, so ``end - start`` bytes of room are enough.
    """
    i = start
    while i < end:
        if byte_at(buf, i) == 92:
            i, pos = decode_escape(buf, i, out, pos)
        else:
            out[pos] = byte_at(buf, i)
            i += 1
            pos += 1
    return pos
