"""Strings of JSON text as a schema sees them: lengths, equality, automata, well-formed dates and ids.

Contents are the bytes between the quotes, still escaped. Where an answer needs more than a glance, it is looked up
in a `Memory` of strings that somebody has been asked about, and `UNSURE` puts a string there as a question.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tracelens.kernels.check_number import NO, UNSURE, YES
from tracelens.kernels.hash import hash_key_bytes
from tracelens.kernels.scan import ESCAPED, NON_ASCII, decode_string
from tracelens.kernels.words import PADDING

# Ways to answer a string check without asking.
ASK, AUTOMATON, DATE, DATE_TIME, UUID, AT_SIGN = range(6)

# Marks of an automaton's states.
ENDS = 1
STOP_YES = 2
STOP_NO = 4

MIX = np.uint64(0x9E3779B97F4A7C15)


class Memory(NamedTuple):
    """Strings and what each check says about them; a hash table with the strings' bytes beside it.

    Attributes:
        slots: int64, a power of two of them: number of the string plus one, or 0.
        hash: uint64 per string, over bytes and check.
        check: int64 per string, the check asked.
        begin: int64 per string, where its bytes begin in ``bytes``.
        end: int64 per string.
        verdict: uint8 per string, `NO`, `YES` or `UNSURE` (not answered yet).
        bytes: uint8, the contents as they stood in the text, padded.
        used: int64[2], how many strings and how many bytes.
    """

    slots: np.ndarray
    hash: np.ndarray
    check: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    verdict: np.ndarray
    bytes: np.ndarray
    used: np.ndarray


@njit(nogil=True, cache=True)
def same_bytes(a: np.ndarray, i: int, b: np.ndarray, j: int, length: int) -> bool:
    """Whether two runs of bytes are equal."""
    for k in range(length):
        if a[i + k] != b[j + k]:
            return False
    return True


@njit(nogil=True, cache=True)
def plain_text(
    buf: np.ndarray, start: int, end: int, flags: int, scratch: np.ndarray
) -> tuple[np.ndarray, int, int]:
    """The contents without escapes, as a buffer with start and end; decoded into ``scratch`` where there are some."""
    if flags & ESCAPED == 0:
        return buf, start, end
    stop = decode_string(buf, start, end, scratch, 0)
    for k in range(PADDING):
        scratch[stop + k] = 0
    return scratch, 0, stop


@njit(nogil=True, cache=True)
def count_points(buf: np.ndarray, start: int, end: int, flags: int) -> int:
    """The length of a string in code points."""
    if flags & (ESCAPED | NON_ASCII) == 0:
        return end - start
    count, k = 0, start
    while k < end:
        c = buf[k]
        if c == 92:
            # A surrogate pair, two escapes, is one code point: its second half is not counted.
            high = buf[k + 2] | 32
            is_low = buf[k + 1] == 117 and high == 100 and (buf[k + 3] | 32) >= 99
            count += 0 if is_low else 1
            k += 6 if buf[k + 1] == 117 else 2
        else:
            count += 0 if c & 0xC0 == 0x80 else 1
            k += 1
    return count


@njit(nogil=True, cache=True)
def run_automaton(
    buf: np.ndarray, start: int, end: int, state: int, steps: np.ndarray, marks: np.ndarray
) -> int:
    """Run ASCII contents through an automaton: `YES` or `NO`."""
    for k in range(start, end):
        mark = marks[state]
        if mark & (STOP_YES | STOP_NO):
            return YES if mark & STOP_YES else NO
        state = np.int64(steps[state, buf[k]])
    return YES if marks[state] & (ENDS | STOP_YES) else NO


@njit(nogil=True, cache=True)
def two_digits(buf: np.ndarray, k: int) -> int:
    """The number of two decimal digits, or a large one where they are none."""
    a, b = np.int64(buf[k]) - 48, np.int64(buf[k + 1]) - 48
    if 0 <= a <= 9 and 0 <= b <= 9:
        return a * 10 + b
    return 1000


@njit(nogil=True, cache=True)
def is_date(buf: np.ndarray, start: int) -> bool:
    """Whether ten bytes are ``YYYY-MM-DD``, a day of the calendar from year 1 on."""
    century, year = two_digits(buf, start), two_digits(buf, start + 2)
    month, day = two_digits(buf, start + 5), two_digits(buf, start + 8)
    if buf[start + 4] != 45 or buf[start + 7] != 45 or century > 99 or year > 99 or century + year == 0:
        return False
    if month < 1 or month > 12 or day < 1:
        return False
    if month == 2:
        whole = century * 100 + year
        leap = whole % 4 == 0 and (whole % 100 != 0 or whole % 400 == 0)
        return day <= (29 if leap else 28)
    return day <= (30 if month == 4 or month == 6 or month == 9 or month == 11 else 31)


@njit(nogil=True, cache=True)
def is_date_time(buf: np.ndarray, start: int, end: int) -> bool:
    """Whether a text is plainly ``YYYY-MM-DDThh:mm:ss[.f](Z|±hh:mm)``; false says nothing."""
    if end - start < 20 or not is_date(buf, start) or buf[start + 10] != 84:
        return False
    if buf[start + 13] != 58 or buf[start + 16] != 58:
        return False
    if two_digits(buf, start + 11) > 23 or two_digits(buf, start + 14) > 59 or two_digits(buf, start + 17) > 59:
        return False
    k = start + 19
    if buf[k] == 46:
        k += 1
        first = k
        while k < end and 48 <= buf[k] <= 57:
            k += 1
        if k == first:
            return False
    if end - k == 1:
        return bool(buf[k] == 90)
    if end - k != 6 or (buf[k] != 43 and buf[k] != 45) or buf[k + 3] != 58:
        return False
    return two_digits(buf, k + 1) <= 23 and two_digits(buf, k + 4) <= 59


@njit(nogil=True, cache=True)
def is_uuid(buf: np.ndarray, start: int, end: int) -> bool:
    """Whether a text is plainly 8-4-4-4-12 hexadecimal digits; false says nothing."""
    if end - start != 36:
        return False
    for k in range(36):
        c = buf[start + k]
        if k == 8 or k == 13 or k == 18 or k == 23:
            if c != 45:
                return False
        elif not (48 <= c <= 57 or 97 <= c | 32 <= 102):
            return False
    return True


@njit(nogil=True, cache=True)
def glance(
    buf: np.ndarray, start: int, end: int, flags: int, way: int, state: int, steps: np.ndarray, marks: np.ndarray
) -> int:
    """What can be said about contents at a glance: `YES`, `NO` or `UNSURE`."""
    if flags & (ESCAPED | NON_ASCII) or way == ASK:
        return UNSURE
    if way == AUTOMATON:
        return run_automaton(buf, start, end, state, steps, marks)
    if way == DATE:
        return YES if end - start == 10 and is_date(buf, start) else UNSURE
    if way == DATE_TIME:
        return YES if is_date_time(buf, start, end) else UNSURE
    if way == UUID:
        return YES if is_uuid(buf, start, end) else UNSURE
    for k in range(start, end):
        if buf[k] == 64:
            return YES
    return NO


@njit(nogil=True, cache=True)
def recall(buf: np.ndarray, start: int, end: int, check: int, memory: Memory) -> int:
    """What is remembered about contents: `YES`, `NO`, or `UNSURE` and they are noted as a question.

    Returns -1 where there is no room for another question.
    """
    mask = memory.slots.size - 1
    key = hash_key_bytes(buf, start, end) ^ (np.uint64(check + 1) * MIX)
    slot = np.int64(key & np.uint64(mask))
    while memory.slots[slot] != 0:
        k = memory.slots[slot] - 1
        if memory.hash[k] == key and memory.check[k] == check and memory.end[k] - memory.begin[k] == end - start:
            if same_bytes(memory.bytes, memory.begin[k], buf, start, end - start):
                return np.int64(memory.verdict[k])
        slot = (slot + 1) & mask
    k, at = memory.used[0], memory.used[1]
    if k >= memory.hash.size or at + (end - start) + PADDING > memory.bytes.size:
        return -1
    memory.slots[slot] = k + 1
    memory.hash[k] = key
    memory.check[k] = check
    memory.begin[k] = at
    memory.end[k] = at + end - start
    memory.verdict[k] = UNSURE
    memory.bytes[at : at + end - start] = buf[start:end]
    memory.used[0] = k + 1
    memory.used[1] = at + end - start
    return UNSURE


@njit(nogil=True, cache=True)
def find_text(
    buf: np.ndarray,
    start: int,
    end: int,
    table: np.ndarray,
    first: int,
    mask: int,
    hashes: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    arena: np.ndarray,
) -> int:
    """The number of the text that equals decoded contents in a hash table, or -1.

    The table is ``table[first:first + mask + 1]`` with the numbers of texts plus one; a text's bytes are
    ``arena[begins[k]:ends[k]]``.
    """
    key = hash_key_bytes(buf, start, end)
    slot = np.int64(key & np.uint64(mask))
    while table[first + slot] != 0:
        k = table[first + slot] - 1
        if hashes[k] == key and ends[k] - begins[k] == end - start:
            if same_bytes(arena, begins[k], buf, start, end - start):
                return np.int64(k)
        slot = (slot + 1) & mask
    return -1
