"""Equality of JSON values on tapes, in the sense of JSON Schema: 1 equals 1.0, true does not equal 1."""

from __future__ import annotations

import numpy as np
from numba import njit

from tracelens.kernels.check_number import EXACT, NO, UNSURE, YES, equals, read_double
from tracelens.kernels.check_text import plain_text, same_bytes
from tracelens.kernels.scan import ARRAY, DEAD, ESCAPED, FALSE, KEY_ESCAPED, NUMBER, OBJECT, STRING, TRUE
from tracelens.kernels.shred import Tape

# More pairs of elements than this are not compared one by one.
MANY = 4096


@njit(nogil=True, cache=True)
def same_number(a: np.ndarray, i: int, i_end: int, b: np.ndarray, j: int, j_end: int) -> int:
    """Whether two number literals have one value."""
    if i_end - i == j_end - j and same_bytes(a, i, b, j, i_end - i):
        return YES
    value, quality = read_double(a, i, i_end)
    other, other_quality = read_double(b, j, j_end)
    if other_quality == EXACT:
        return equals(value, quality, other)
    return equals(other, other_quality, value) if quality == EXACT else UNSURE


@njit(nogil=True, cache=True)
def same_string(
    a: np.ndarray, i: int, i_end: int, i_flags: int, b: np.ndarray, j: int, j_end: int, j_flags: int, scratch: np.ndarray
) -> bool:
    """Whether two string contents are one text; ``scratch`` has two rows."""
    if (i_flags | j_flags) & ESCAPED == 0:
        return i_end - i == j_end - j and same_bytes(a, i, b, j, i_end - i)
    p, p_start, p_end = plain_text(a, i, i_end, i_flags, scratch[0])
    q, q_start, q_end = plain_text(b, j, j_end, j_flags, scratch[1])
    return p_end - p_start == q_end - q_start and same_bytes(p, p_start, q, q_start, p_end - p_start)


@njit(nogil=True, cache=True)
def same_scalar(a: np.ndarray, ta: Tape, i: int, b: np.ndarray, tb: Tape, j: int, scratch: np.ndarray) -> int:
    """Whether two values of one kind, neither a container, are equal."""
    kind = ta.kind[i]
    if kind == NUMBER:
        return same_number(a, ta.start[i], ta.end[i], b, tb.start[j], tb.end[j])
    if kind == STRING:
        same = same_string(
            a, ta.start[i], ta.end[i], ta.flags[i], b, tb.start[j], tb.end[j], tb.flags[j], scratch
        )
        return YES if same else NO
    return YES


@njit(nogil=True, cache=True)
def find_member(a: np.ndarray, ta: Tape, i: int, b: np.ndarray, tb: Tape, container: int, scratch: np.ndarray) -> int:
    """The live member of an object that has the key of entry ``i``, or -1."""
    j = container + 1
    while j < tb.next[container]:
        if tb.key_hash[j] == ta.key_hash[i] and tb.flags[j] & DEAD == 0:
            i_flags = ESCAPED if ta.flags[i] & KEY_ESCAPED else 0
            j_flags = ESCAPED if tb.flags[j] & KEY_ESCAPED else 0
            same = same_string(
                a, ta.key_start[i], ta.key_end[i], i_flags, b, tb.key_start[j], tb.key_end[j], j_flags, scratch
            )
            if same:
                return j
        j = np.int64(tb.next[j])
    return -1


@njit(nogil=True, cache=True)
def push_pairs(
    a: np.ndarray, ta: Tape, i: int, b: np.ndarray, tb: Tape, j: int, scratch: np.ndarray, pairs: list[tuple[int, int]]
) -> bool:
    """Note the pairs of children that must be equal; false where two containers differ already."""
    if ta.size[i] != tb.size[j]:
        return False
    child, other = np.int64(i + 1), np.int64(j + 1)
    while child < ta.next[i]:
        if ta.kind[i] == OBJECT:
            if ta.flags[child] & DEAD:
                child = np.int64(ta.next[child])
                continue
            other = np.int64(find_member(a, ta, child, b, tb, j, scratch))
            if other < 0:
                return False
        pairs.append((child, other))
        if ta.kind[i] == ARRAY:
            other = np.int64(tb.next[other])
        child = np.int64(ta.next[child])
    return True


@njit(nogil=True, cache=True)
def same_value(a: np.ndarray, ta: Tape, i: int, b: np.ndarray, tb: Tape, j: int, scratch: np.ndarray) -> int:
    """Whether two values are equal, containers included: `YES`, `NO` or `UNSURE`."""
    if ta.kind[i] != tb.kind[j]:
        return NO
    if ta.kind[i] != OBJECT and ta.kind[i] != ARRAY:
        return same_scalar(a, ta, i, b, tb, j, scratch)
    pairs = [(np.int64(i), np.int64(j))]
    unsure = False
    while len(pairs) > 0:
        p, q = pairs.pop()
        if ta.kind[p] != tb.kind[q]:
            return NO
        if ta.kind[p] == OBJECT or ta.kind[p] == ARRAY:
            if not push_pairs(a, ta, p, b, tb, q, scratch, pairs):
                return NO
        else:
            found = same_scalar(a, ta, p, b, tb, q, scratch)
            if found == NO:
                return NO
            unsure = unsure or found == UNSURE
    return UNSURE if unsure else YES


@njit(nogil=True, cache=True)
def all_unique(buf: np.ndarray, tape: Tape, array: int, scratch: np.ndarray) -> int:
    """Whether no two elements of an array are equal: `YES`, `NO` or `UNSURE`."""
    n = np.int64(tape.size[array])
    if n > MANY:
        return UNSURE
    items = np.empty(n, dtype=np.int64)
    arrays = 0
    entry = array + 1
    for k in range(n):
        items[k] = entry
        arrays += tape.kind[entry] == ARRAY
        entry = np.int64(tape.next[entry])
    # The reference sorts lists of lists, where true and 1 sort as one: with booleans in them, neighbours that are
    # equal may stay apart. Only it can say what it then finds.
    if arrays == n and n > 2 and has_booleans(tape, array):
        return UNSURE
    unsure = False
    for k in range(n):
        for other in range(k):
            found = same_value(buf, tape, items[k], buf, tape, items[other], scratch)
            if found == YES:
                return NO
            unsure = unsure or found == UNSURE
    return UNSURE if unsure else YES


@njit(nogil=True, cache=True)
def has_booleans(tape: Tape, container: int) -> bool:
    """Whether a boolean stands anywhere inside a container."""
    for entry in range(container + 1, tape.next[container]):
        if tape.kind[entry] == TRUE or tape.kind[entry] == FALSE:
            return True
    return False
