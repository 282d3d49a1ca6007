"""Strings of JSON text as a schema sees them: lengths, equality, automata, well-formed dates and ids.

Contents are the bytes between the quotes, still escaped; ``data`` is the address of the bytes. Where an answer needs
more than a glance, it is looked up in a `Memory` of strings that somebody has been asked about, and `UNSURE` puts a
string there as a question.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracelens.kernels.check_number import NO, UNSURE, YES
from tracelens.kernels.context import (
    M_BEGIN,
    M_BYTES,
    M_CHECK,
    M_END,
    M_HASH,
    M_MASK,
    M_ROOM,
    M_ROOM_BYTES,
    M_SLOTS,
    M_USED,
    M_USED_BYTES,
    M_VERDICT,
    P_ARENA,
    P_BEGINS,
    P_ENDS,
    P_HASHES,
    P_MARKS,
    P_STEPS,
    P_TABLES,
    get,
    put,
)  # fmt: skip
from tracelens.kernels.dates import is_date
from tracelens.kernels.hash import hash_key_bytes
from tracelens.kernels.jit import kernel
from tracelens.kernels.memory import (
    byte_pointer,
    bytes_at,
    load_i32,
    load_i64,
    load_u8,
    load_u64,
    load_word,
    store_i64,
    store_u8,
    store_u64,
)  # fmt: skip
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


@kernel
def same_bytes(a: int, i: int, b: int, j: int, length: int) -> bool:
    """Whether two runs of bytes, padded, are equal."""
    a, b = a + i, b + j
    while length >= 8:
        if load_word(a) != load_word(b):
            return False
        a, b, length = a + 8, b + 8, length - 8
    differ = load_word(a) ^ load_word(b)
    return length == 0 or differ << np.uint64(64 - 8 * length) == 0


@kernel
def plain_text(data: int, start: int, end: int, flags: int, scratch: int) -> tuple[int, int, int]:
    """The contents without escapes, as an address with start and end; decoded into ``scratch`` where there are some."""
    if flags & ESCAPED == 0:
        return data, start, end
    size = end - start
    out = bytes_at(scratch, size + 2 * PADDING)
    stop = decode_string(bytes_at(data + start, size + PADDING), 0, size, out, 0)
    for k in range(PADDING):
        out[stop + k] = 0
    return scratch, 0, stop


@kernel
def count_points(data: int, start: int, end: int, flags: int) -> int:
    """The length of a string in code points."""
    if flags & (ESCAPED | NON_ASCII) == 0:
        return end - start
    count, k = 0, start
    while k < end:
        c = load_u8(data, k)
        if c == 92:
            # A surrogate pair, two escapes, is one code point: its second half is not counted.
            high = load_u8(data, k + 2) | 32
            is_low = load_u8(data, k + 1) == 117 and high == 100 and (load_u8(data, k + 3) | 32) >= 99
            count += 0 if is_low else 1
            k += 6 if load_u8(data, k + 1) == 117 else 2
        else:
            count += 0 if c & 0xC0 == 0x80 else 1
            k += 1
    return count


@kernel
def run_automaton(data: int, start: int, end: int, state: int, c: int) -> int:
    """Run ASCII contents through an automaton: `YES` or `NO`."""
    for k in range(start, end):
        mark = load_u8(get(c, P_MARKS), state)
        if mark & (STOP_YES | STOP_NO):
            return YES if mark & STOP_YES else NO
        state = load_i32(get(c, P_STEPS), 128 * state + load_u8(data, k))
    return YES if load_u8(get(c, P_MARKS), state) & (ENDS | STOP_YES) else NO


@kernel
def two_digits(data: int, k: int) -> int:
    """The number of two decimal digits, or a large one where they are none."""
    a, b = load_u8(data, k) - 48, load_u8(data, k + 1) - 48
    if 0 <= a <= 9 and 0 <= b <= 9:
        return a * 10 + b
    return 1000


@kernel
def is_date_time(data: int, start: int, end: int) -> bool:
    """Whether a text is plainly ``YYYY-MM-DDThh:mm:ss[.f](Z|±hh:mm)``; false says nothing."""
    if end - start < 20 or not is_date(byte_pointer(data), start) or load_u8(data, start + 10) != 84:
        return False
    if load_u8(data, start + 13) != 58 or load_u8(data, start + 16) != 58:
        return False
    if two_digits(data, start + 11) > 23 or two_digits(data, start + 14) > 59 or two_digits(data, start + 17) > 59:
        return False
    k = start + 19
    if load_u8(data, k) == 46:
        k += 1
        first = k
        while k < end and 48 <= load_u8(data, k) <= 57:
            k += 1
        if k == first:
            return False
    if end - k == 1:
        return load_u8(data, k) == 90
    if end - k != 6 or (load_u8(data, k) != 43 and load_u8(data, k) != 45) or load_u8(data, k + 3) != 58:
        return False
    return two_digits(data, k + 1) <= 23 and two_digits(data, k + 4) <= 59


@kernel
def is_uuid(data: int, start: int, end: int) -> bool:
    """Whether a text is plainly 8-4-4-4-12 hexadecimal digits; false says nothing."""
    if end - start != 36:
        return False
    for k in range(36):
        c = load_u8(data, start + k)
        if k == 8 or k == 13 or k == 18 or k == 23:
            if c != 45:
                return False
        elif not (48 <= c <= 57 or 97 <= c | 32 <= 102):
            return False
    return True


@kernel
def glance(data: int, start: int, end: int, flags: int, way: int, state: int, c: int) -> int:
    """What can be said about contents at a glance: `YES`, `NO` or `UNSURE`."""
    if flags & (ESCAPED | NON_ASCII) or way == ASK:
        return UNSURE
    if way == AUTOMATON:
        return run_automaton(data, start, end, state, c)
    if way == DATE:
        return YES if end - start == 10 and is_date(byte_pointer(data), start) else UNSURE
    if way == DATE_TIME:
        return YES if is_date_time(data, start, end) else UNSURE
    if way == UUID:
        return YES if is_uuid(data, start, end) else UNSURE
    for k in range(start, end):
        if load_u8(data, k) == 64:
            return YES
    return NO


@kernel
def recall(data: int, start: int, end: int, check: int, c: int) -> int:
    """What is remembered about contents: `YES`, `NO`, or `UNSURE` and they are noted as a question.

    Returns -1 where there is no room for another question.
    """
    size = end - start
    key = hash_key_bytes(bytes_at(data + start, size + PADDING), 0, size) ^ (np.uint64(check + 1) * MIX)
    slot = np.int64(key & np.uint64(get(c, M_MASK)))
    while True:
        k = load_i64(get(c, M_SLOTS), slot) - 1
        if k < 0:
            break
        begin = load_i64(get(c, M_BEGIN), k)
        if load_u64(get(c, M_HASH), k) == key and load_i64(get(c, M_CHECK), k) == check:
            if load_i64(get(c, M_END), k) - begin == size and same_bytes(get(c, M_BYTES), begin, data, start, size):
                return load_u8(get(c, M_VERDICT), k)
        slot = (slot + 1) & get(c, M_MASK)
    k, at = get(c, M_USED), get(c, M_USED_BYTES)
    if k >= get(c, M_ROOM) or at + size + PADDING > get(c, M_ROOM_BYTES):
        return -1
    store_i64(get(c, M_SLOTS), slot, k + 1)
    store_u64(get(c, M_HASH), k, key)
    store_i64(get(c, M_CHECK), k, check)
    store_i64(get(c, M_BEGIN), k, at)
    store_i64(get(c, M_END), k, at + size)
    store_u8(get(c, M_VERDICT), k, UNSURE)
    for i in range(size):
        store_u8(get(c, M_BYTES), at + i, load_u8(data, start + i))
    put(c, M_USED, k + 1)
    put(c, M_USED_BYTES, at + size)
    return UNSURE


@kernel
def find_text(data: int, start: int, end: int, first: int, mask: int, c: int) -> int:
    """The number of the text that equals decoded contents in the hash table that begins at ``first``, or -1."""
    size = end - start
    key = hash_key_bytes(bytes_at(data + start, size + PADDING), 0, size)
    slot = np.int64(key & np.uint64(mask))
    while True:
        k = load_i64(get(c, P_TABLES), first + slot) - 1
        if k < 0:
            return -1
        begin = load_i64(get(c, P_BEGINS), k)
        if load_u64(get(c, P_HASHES), k) == key and load_i64(get(c, P_ENDS), k) - begin == size:
            if same_bytes(get(c, P_ARENA), begin, data, start, size):
                return k
        slot = (slot + 1) & mask
