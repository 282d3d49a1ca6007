"""Cells to columns: texts, numbers and times out of the byte ranges that a projection noted.

Every function takes the cells of one column as `kernels.project` leaves them: ``raw`` uint8[n] (kind, 0 for absent,
and flags), ``start`` and ``end`` int32[n] (in a padded buffer). Conversions give a value and whether there is one; nothing raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracelens.kernels.lanes import LANES, copy_lanes
from tracelens.kernels.project import FLAG_SHIFT
from tracelens.kernels.scan import BACKSLASHES, ESCAPED, INTEGER, NUMBER, STRING, decode_escape
from tracelens.kernels.words import byte_at, byte_mask, inlined, lean, load8, pointer, store8, trailing_zeros

KIND = (1 << FLAG_SHIFT) - 1
ESCAPE = ESCAPED << FLAG_SHIFT
WHOLE = INTEGER << FLAG_SHIFT

ZEROS = np.uint64(0x3030303030303030)
"""Eight digits zero."""

ABOVE = np.uint64(1 << 63)
"""The least number that an int64 does not hold."""

POWERS = np.array([10.0**k for k in range(23)])
"""The powers of ten that a double holds exactly."""

INVALID, GOOD, ASK = 0, 1, 2
"""Outcome of a number: not one, converted, or to be converted by the caller (too long for the fast way)."""


@inlined
def copy_bytes(source: Any, start: int, end: int, target: Any, pos: int) -> int:
    """Copy ``source[start:end]`` to ``target[pos:]``, eight bytes at a time (both padded), and return the next place."""
    i = start
    while i < end:
        store8(target, pos + i - start, load8(source, i))
        i += 8
    return pos + end - start


@inlined
def copy_text(source: Any, start: int, end: int, target: Any, pos: int) -> int:
    """`copy_bytes` sixteen at a time, and so with as many bytes written behind the last as words.PADDING says."""
    i = start
    while i < end:
        copy_lanes(source, i, target, pos + i - start)
        i += LANES
    return pos + end - start


@inlined
def unescape(source: Any, start: int, end: int, target: Any, pos: int) -> int:
    """`kernels.scan.decode_string`, eight bytes at a time up to the next backslash (both padded)."""
    i = start
    while i < end:
        word = load8(source, i)
        store8(target, pos, word)
        hit = byte_mask(word, BACKSLASHES)
        ahead = min(8 if hit == 0 else trailing_zeros(hit) >> 3, end - i)
        i += ahead
        pos += ahead
        if ahead < 8 and i < end:
            i, pos = decode_escape(source, i, target, pos)
    return pos


@lean
def look_up(raw: np.ndarray, table: np.ndarray, out: np.ndarray) -> None:
    """What a table, uint8[256], says of each cell's kind and flags, to uint8[n]."""
    for r in range(raw.size):
        out[r] = table[raw[r]]


@lean
def take_texts(
    data: np.ndarray,
    raw: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    rows: np.ndarray,
    accept: int,
    out: np.ndarray,
    offsets: np.ndarray,
    valid: np.ndarray,
) -> int:
    """Write the texts of cells back to back: a string's contents, the JSON text of anything else.

    Args:
        data: Padded bytes.
        raw: uint8[cells].
        start: int32[cells].
        end: int32[cells].
        rows: int64[n], the cell of each text, below zero where there is none; empty: every cell in order.
        accept: Bit k is set where cells of kind k have a text; others are null.
        out: uint8, room for the sum of ``end - start`` and the padding; filled.
        offsets: int64[n + 1]; filled.
        valid: bool[n]; filled.

    Returns:
        The number of bytes written.
    """
    pos = 0
    offsets[0] = 0
    buf, target = pointer(data), pointer(out)
    some = rows.size > 0
    for k in range(valid.size):
        r = rows[k] if some else k
        valid[k] = r >= 0 and ((accept >> (raw[r] & KIND)) & 1) != 0
        if valid[k]:
            if raw[r] & (KIND | ESCAPE) == STRING + 1 | ESCAPE:
                pos = unescape(buf, start[r], end[r], target, pos)
            else:
                pos = copy_text(buf, start[r], end[r], target, pos)
        offsets[k + 1] = pos
    return pos


@lean
def text_size(raw: np.ndarray, start: np.ndarray, end: np.ndarray, rows: np.ndarray, accept: int) -> int:
    """Upper bound of the bytes that `take_texts` writes."""
    size = 0
    some = rows.size > 0
    for k in range(rows.size if some else raw.size):
        r = rows[k] if some else k
        if r >= 0 and ((accept >> (raw[r] & KIND)) & 1) != 0:
            size += end[r] - start[r]
    return size


@lean
def small_number(buf: Any, start: int, end: int) -> tuple[int, int, int]:
    """A number's digits and decimal exponent, ``(outcome, digits, exponent)``; `ASK` above 18 digits or with an ``e``."""
    value = 0
    point = -1
    digits = 0
    for k in range(start, end):
        c = byte_at(buf, k)
        if 48 <= c <= 57:
            value = value * 10 + (np.int64(c) - 48)
            digits += 1
        elif c == 46:
            point = k
        elif c != 45:
            return ASK, 0, 0
        if digits > 18:
            return ASK, 0, 0
    if byte_at(buf, start) == 45:
        value = -value
    return GOOD, value, 0 if point < 0 else point + 1 - end


@lean
def take_integers(
    data: np.ndarray, raw: np.ndarray, start: np.ndarray, end: np.ndarray, out: np.ndarray, outcome: np.ndarray
) -> None:
    """Convert integer literals to int64 ``out``; other numbers are left to the caller (`ASK`)."""
    buf = pointer(data)
    for r in range(raw.size):
        outcome[r] = INVALID
        out[r] = 0
        if raw[r] & KIND == NUMBER + 1:
            outcome[r] = ASK
            if raw[r] & WHOLE:
                outcome[r], out[r], _ = small_number(buf, start[r], end[r])


@lean
def take_floats(
    data: np.ndarray, raw: np.ndarray, start: np.ndarray, end: np.ndarray, out: np.ndarray, outcome: np.ndarray
) -> None:
    """Convert numbers to the nearest double where that takes one exact division; others are left to the caller."""
    buf = pointer(data)
    for r in range(raw.size):
        outcome[r] = INVALID
        out[r] = 0.0
        if raw[r] & KIND == NUMBER + 1:
            outcome[r], digits, exponent = small_number(buf, start[r], end[r])
            if outcome[r] == GOOD:
                if abs(digits) >= 1 << 53 or digits == 0:
                    outcome[r] = ASK
                else:
                    out[r] = digits / POWERS[-exponent]


@inlined
def eight_digits(word: np.uint64) -> tuple[bool, np.uint64]:
    """Whether eight bytes are digits, and the number that they are then."""
    high = word & np.uint64(0xF0F0F0F0F0F0F0F0)
    carried = (word + np.uint64(0x0606060606060606)) & np.uint64(0xF0F0F0F0F0F0F0F0)
    good = high == ZEROS and carried == ZEROS
    word = ((word & np.uint64(0x0F0F0F0F0F0F0F0F)) * np.uint64(2561)) >> np.uint64(8)
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
    word = ((word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)) >> np.uint64(32)
    return good, word


@lean
def take_digits(
    data: np.ndarray, raw: np.ndarray, start: np.ndarray, end: np.ndarray, out: np.ndarray, outcome: np.ndarray
) -> None:
    """Convert numbers, and strings of digits, to int64 ``out``; what is more than plain digits is left to the caller."""
    buf = pointer(data)
    for r in range(raw.size):
        kind = raw[r] & KIND
        outcome[r] = ASK if kind == NUMBER + 1 or kind == STRING + 1 else INVALID
        out[r] = 0
        size = np.int64(end[r] - start[r])
        if outcome[r] == ASK and 0 < size < 20:
            left = np.uint64(8 * ((size - 1) & 7) + 8)  # bits of the first word, which zeros fill up
            word = load8(buf, start[r]) << (np.uint64(64) - left)
            word |= (ZEROS >> (left - np.uint64(1))) >> np.uint64(1)
            good, value = eight_digits(word)
            at = np.int64(start[r]) + np.int64(left >> np.uint64(3))
            while at < end[r]:
                more, digits = eight_digits(load8(buf, at))
                good, value = good and more, value * np.uint64(100_000_000) + digits
                at += 8
            if good and value < ABOVE:
                outcome[r], out[r] = GOOD, np.int64(value)


@lean
def two_digits(buf: Any, i: int, end: int) -> int:
    """The number written as two digits at ``i``, or -1."""
    if i + 2 > end:
        return -1
    a, b = np.int64(byte_at(buf, i)) - 48, np.int64(byte_at(buf, i + 1)) - 48
    return a * 10 + b if 0 <= a <= 9 and 0 <= b <= 9 else -1


@lean
def days_from_civil(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date of the Gregorian calendar, or a very negative number where there is no such date."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    length = 31 - (month - 1) % 7 % 2 if month != 2 else 28 + leap
    if not (1 <= month <= 12 and 1 <= day <= length and year >= 1):
        return -(10**9)
    y = year - (month <= 2)
    shifted = (month + 9) % 12
    of_year = (153 * shifted + 2) // 5 + day - 1
    return y * 365 + y // 4 - y // 100 + y // 400 + of_year - 719468


@lean
def zone_minutes(buf: Any, i: int, end: int) -> int:
    """Minutes east of UTC written at ``i`` up to ``end`` (nothing or Z is 0), or a very large number if malformed."""
    if i >= end or (i + 1 == end and byte_at(buf, i) | 32 == 122):
        return 0
    hours = two_digits(buf, i + 1, end)
    k = i + 4 if i + 3 < end and byte_at(buf, i + 3) == 58 else i + 3
    minutes = two_digits(buf, k, end) if k < end else 0
    known = (
        (byte_at(buf, i) == 43 or byte_at(buf, i) == 45)
        and 0 <= hours <= 23
        and 0 <= minutes <= 59
        and (k + 2 == end or k == end)
    )
    if not known:
        return 10**6
    return hours * 60 + minutes if byte_at(buf, i) == 43 else -(hours * 60 + minutes)


@lean
def parse_time(buf: Any, i: int, end: int) -> tuple[bool, int]:
    """Microseconds since 1970 of an ISO 8601 time at ``buf[i:end]``; a date alone is its midnight, no zone is UTC."""
    century, years = two_digits(buf, i, end), two_digits(buf, i + 2, end)
    month, day = two_digits(buf, i + 5, end), two_digits(buf, i + 8, end)
    if min(century, years, month, day) < 0 or byte_at(buf, i + 4) != 45 or byte_at(buf, i + 7) != 45:
        return False, 0
    days = days_from_civil(century * 100 + years, month, day)
    if days < -(10**8):
        return False, 0
    if i + 10 == end:
        return True, days * 86_400_000_000
    hour, minute = two_digits(buf, i + 11, end), two_digits(buf, i + 14, end)
    at = i + 16
    second, micro = 0, 0
    if at < end and byte_at(buf, at) == 58:
        second = two_digits(buf, at + 1, end)
        at += 3
        if second >= 0 and at < end and (byte_at(buf, at) == 46 or byte_at(buf, at) == 44):
            scale = 100_000
            at += 1
            while at < end and 48 <= byte_at(buf, at) <= 57:
                micro += scale * (np.int64(byte_at(buf, at)) - 48)
                scale //= 10
                at += 1
    zone = zone_minutes(buf, at, end)
    parted = byte_at(buf, i + 10) | 32 == 116 or byte_at(buf, i + 10) == 32
    if (
        not (parted and byte_at(buf, i + 13) == 58 and 0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 60)
        or zone == 10**6
    ):
        return False, 0
    return True, ((days * 24 + hour) * 60 + minute - zone) * 60_000_000 + second * 1_000_000 + micro


@lean
def take_times(
    data: np.ndarray, raw: np.ndarray, start: np.ndarray, end: np.ndarray, out: np.ndarray, valid: np.ndarray
) -> None:
    """Convert strings with an ISO 8601 time to int64 microseconds since 1970 in UTC; others are not valid."""
    buf = pointer(data)
    for r in range(raw.size):
        valid[r], out[r] = False, 0
        if raw[r] & KIND == STRING + 1:
            valid[r], out[r] = parse_time(buf, start[r], end[r])
