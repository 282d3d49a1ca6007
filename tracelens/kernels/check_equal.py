"""Equality of JSON values on tapes, in the sense of JSON Schema: 1 equals 1.0, true does not equal 1.

``ta`` and ``tb`` are addresses of contexts of tapes (see `context`); ``scratch`` and ``scratch_2`` are addresses with room for the
longest string of either.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.check_number import EXACT, NO, UNSURE, YES, order, read_double, read_integer
from tracelens.kernels.check_text import plain_text, same_bytes
from tracelens.kernels.context import (
    T_DATA,
    T_END,
    T_FLAGS,
    T_KEY_END,
    T_KEY_HASH,
    T_KEY_START,
    T_KIND,
    T_NEXT,
    T_SIZE,
    T_START,
    get,
)  # fmt: skip
from tracelens.kernels.jit import inlined, kernel
from tracelens.kernels.memory import load_i32, load_u8, load_u64
from tracelens.kernels.scan import ARRAY, DEAD, ESCAPED, FALSE, KEY_ESCAPED, NUMBER, OBJECT, STRING, TRUE

# Longer arrays are not compared element by element.
MANY = 4096


@kernel
def same_number(a: int, i: int, i_end: int, i_flags: int, b: int, j: int, j_end: int, j_flags: int) -> int:
    """Whether two number literals have one value."""
    if i_end - i == j_end - j and same_bytes(a, i, b, j, i_end - i):
        return YES
    value, quality = read_double(a, i, i_end)
    other, other_quality = read_double(b, j, j_end)
    if other_quality != EXACT and quality != EXACT:
        return UNSURE
    if other_quality == EXACT:
        found = order(a, i, i_end, i_flags, value, quality, other, read_integer(b, j, j_end, j_flags))
    else:
        found = order(b, j, j_end, j_flags, other, other_quality, value, read_integer(a, i, i_end, i_flags))
    if found == UNSURE:
        return UNSURE
    return YES if found == 0 else NO


@kernel
def same_string(
    a: int, i: int, i_end: int, i_flags: int, b: int, j: int, j_end: int, j_flags: int, scratch: int, scratch_2: int
) -> bool:
    """Whether two string contents are one text."""
    if (i_flags | j_flags) & ESCAPED == 0:
        return i_end - i == j_end - j and same_bytes(a, i, b, j, i_end - i)
    p, p_start, p_end = plain_text(a, i, i_end, i_flags, scratch)
    q, q_start, q_end = plain_text(b, j, j_end, j_flags, scratch_2)
    return p_end - p_start == q_end - q_start and same_bytes(p, p_start, q, q_start, p_end - p_start)


@kernel
def same_scalar(ta: int, i: int, tb: int, j: int, scratch: int, scratch_2: int) -> int:
    """Whether two values of one kind, neither a container, are equal."""
    kind = load_u8(get(ta, T_KIND), i)
    if kind != NUMBER and kind != STRING:
        return YES
    i_start, i_end, i_flags = load_i32(get(ta, T_START), i), load_i32(get(ta, T_END), i), load_u8(get(ta, T_FLAGS), i)
    j_start, j_end, j_flags = load_i32(get(tb, T_START), j), load_i32(get(tb, T_END), j), load_u8(get(tb, T_FLAGS), j)
    if kind == NUMBER:
        return same_number(get(ta, T_DATA), i_start, i_end, i_flags, get(tb, T_DATA), j_start, j_end, j_flags)
    same = same_string(
        get(ta, T_DATA), i_start, i_end, i_flags, get(tb, T_DATA), j_start, j_end, j_flags, scratch, scratch_2
    )
    return YES if same else NO


@inlined
def key_escapes(t: int, entry: int) -> int:
    """`ESCAPED` where a member's key has escapes, else 0."""
    return ESCAPED if load_u8(get(t, T_FLAGS), entry) & KEY_ESCAPED else 0


@kernel
def find_member(ta: int, i: int, tb: int, container: int, scratch: int, scratch_2: int) -> int:
    """The live member of an object that has the key of entry ``i``, or -1."""
    j = container + 1
    i_start, i_end = load_i32(get(ta, T_KEY_START), i), load_i32(get(ta, T_KEY_END), i)
    while j < load_i32(get(tb, T_NEXT), container):
        if (
            load_u64(get(tb, T_KEY_HASH), j) == load_u64(get(ta, T_KEY_HASH), i)
            and load_u8(get(tb, T_FLAGS), j) & DEAD == 0
        ):
            j_start, j_end = load_i32(get(tb, T_KEY_START), j), load_i32(get(tb, T_KEY_END), j)
            same = same_string(
                get(ta, T_DATA), i_start, i_end, key_escapes(ta, i), get(tb, T_DATA), j_start, j_end, key_escapes(tb, j),
                scratch, scratch_2,
            )  # fmt: skip
            if same:
                return j
        j = load_i32(get(tb, T_NEXT), j)
    return -1


@kernel
def push_pairs(ta: int, i: int, tb: int, j: int, scratch: int, scratch_2: int, pairs: list[tuple[int, int]]) -> bool:
    """Note the pairs of children that must be equal; false where two containers differ already."""
    if load_i32(get(ta, T_SIZE), i) != load_i32(get(tb, T_SIZE), j):
        return False
    is_object = load_u8(get(ta, T_KIND), i) == OBJECT
    child, other = i + 1, j + 1
    while child < load_i32(get(ta, T_NEXT), i):
        if not is_object:
            pairs.append((child, other))
            other = load_i32(get(tb, T_NEXT), other)
        elif load_u8(get(ta, T_FLAGS), child) & DEAD == 0:
            member = find_member(ta, child, tb, j, scratch, scratch_2)
            if member < 0:
                return False
            pairs.append((child, member))
        child = load_i32(get(ta, T_NEXT), child)
    return True


@kernel
def same_value(ta: int, i: int, tb: int, j: int, scratch: int, scratch_2: int) -> int:
    """Whether two values are equal, containers included: `YES`, `NO` or `UNSURE`."""
    kind = load_u8(get(ta, T_KIND), i)
    if kind != load_u8(get(tb, T_KIND), j):
        return NO
    if kind != OBJECT and kind != ARRAY:
        return same_scalar(ta, i, tb, j, scratch, scratch_2)
    pairs = [(np.int64(i), np.int64(j))]
    unsure = False
    while len(pairs) > 0:
        p, q = pairs.pop()
        kind = load_u8(get(ta, T_KIND), p)
        if kind != load_u8(get(tb, T_KIND), q):
            return NO
        if kind == OBJECT or kind == ARRAY:
            if not push_pairs(ta, p, tb, q, scratch, scratch_2, pairs):
                return NO
        else:
            found = same_scalar(ta, p, tb, q, scratch, scratch_2)
            if found == NO:
                return NO
            unsure = unsure or found == UNSURE
    return UNSURE if unsure else YES


@kernel
def all_unique(t: int, array: int, scratch: int, scratch_2: int) -> int:
    """Whether no two elements of an array are equal: `YES`, `NO` or `UNSURE`."""
    n = load_i32(get(t, T_SIZE), array)
    if n > MANY:
        return UNSURE
    items = np.empty(n, dtype=np.int64)
    arrays = 0
    entry = array + 1
    for k in range(n):
        items[k] = entry
        arrays += load_u8(get(t, T_KIND), entry) == ARRAY
        entry = load_i32(get(t, T_NEXT), entry)
    # The reference sorts lists of lists, where true and 1 sort as one: with booleans in them, neighbours that are
    # equal may stay apart. Only it can say what it then finds.
    if arrays == n and n > 2 and has_booleans(t, array):
        return UNSURE
    unsure = False
    for k in range(n):
        for other in range(k):
            found = same_value(t, items[k], t, items[other], scratch, scratch_2)
            if found == YES:
                return NO
            unsure = unsure or found == UNSURE
    return UNSURE if unsure else YES


@kernel
def has_booleans(t: int, container: int) -> bool:
    """Whether a boolean stands anywhere inside a container."""
    for entry in range(container + 1, load_i32(get(t, T_NEXT), container)):
        kind = load_u8(get(t, T_KIND), entry)
        if kind == TRUE or kind == FALSE:
            return True
    return False
