"""The operations of the schema kernel, one by one; what their numbers mean stands where they are compiled.

``c`` is the address of the context (see `context`) that every function here works on.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.check_codes import (
    APPLY,
    CANNOT,
    CLOSED,
    COMPARE,
    DEPEND,
    DEPEND_APPLY,
    ENUM_NUMBER,
    ENUM_STRING,
    FAIL,
    INTEGER,
    ITEMS,
    LAST_NUMBER,
    LAST_SIZE,
    LAST_TEXT,
    MAX_SIZE,
    MIN_LENGTH,
    MIN_SIZE,
    NAMES,
    OBJECT,
    REQUIRED,
    TEXT,
    UNIQUE,
)
from tracelens.kernels.check_equal import all_unique, same_value
from tracelens.kernels.check_number import NO, UNSURE, YES, compare, is_integer, is_multiple, order, read_double
from tracelens.kernels.check_text import count_points, find_text, glance, plain_text, recall, same_bytes
from tracelens.kernels.context import (
    DEPTH,
    EVENTS,
    FULL,
    P_ARENA,
    P_BEGINS,
    P_ENDS,
    P_FLOATS,
    P_HASHES,
    P_INTEGERS,
    P_LISTS,
    P_OPS,
    P_TABLES,
    R_EVENTS,
    R_EVENTS_ROOM,
    R_SCRATCH,
    R_SCRATCH_2,
    R_SEEN,
    R_WORK,
    R_WORK_ROOM,
    STAMP,
    T_DATA,
    T_FLAGS,
    T_KEY_END,
    T_KEY_HASH,
    T_KEY_START,
    T_NEXT,
    T_SIZE,
    TOP,
    UNKNOWN,
    get,
    put,
)  # fmt: skip
from tracelens.kernels.jit import inlined, kernel
from tracelens.kernels.memory import load_f64, load_i32, load_i64, load_u8, load_u64, store_i64
from tracelens.kernels.scan import DEAD, ESCAPED, KEY_ESCAPED, KEY_NON_ASCII, NON_ASCII


@kernel
def push(c: int, node: int, item: int) -> None:
    """Put a pair on the work list."""
    top = get(c, TOP)
    if top >= get(c, R_WORK_ROOM):
        put(c, FULL, 1)
        return
    store_i64(get(c, R_WORK), 2 * top, node)
    store_i64(get(c, R_WORK), 2 * top + 1, item)
    put(c, TOP, top + 1)


@kernel
def note(c: int, op: int, item: int, extra: int) -> None:
    """Write down an error."""
    k = get(c, EVENTS)
    if k >= get(c, R_EVENTS_ROOM):
        put(c, FULL, 1)
        return
    store_i64(get(c, R_EVENTS), 4 * k + 1, item)
    store_i64(get(c, R_EVENTS), 4 * k + 2, op)
    store_i64(get(c, R_EVENTS), 4 * k + 3, extra)
    put(c, EVENTS, k + 1)


@inlined
def op_of(c: int, k: int, column: int) -> int:
    """A number of operation ``k``; column 0 is its code."""
    return load_i64(get(c, P_OPS), 6 * k + column)


@inlined
def key_flags(c: int, member: int) -> int:
    """The flags of a member's key, as those of a string."""
    flags = load_u8(get(c, T_FLAGS), member)
    return (ESCAPED if flags & KEY_ESCAPED else 0) | (NON_ASCII if flags & KEY_NON_ASCII else 0)


@kernel
def ask(c: int, start: int, end: int, flags: int, check: int, way: int, state: int) -> int:
    """What a string check says; a string nobody has been asked about counts as passed, and the value as pending."""
    found = glance(get(c, T_DATA), start, end, flags, way, state, c)
    if found == UNSURE:
        found = recall(get(c, T_DATA), start, end, check, c)
        if found < 0:
            put(c, FULL, 1)
            return YES
        if found == UNSURE:
            put(c, UNKNOWN, 1)
            return YES
    return found


@kernel
def enum_string(c: int, start: int, end: int, flags: int, first: int, mask: int) -> int:
    """Whether a string is among those of an enum."""
    text, begin, stop = plain_text(get(c, T_DATA), start, end, flags, get(c, R_SCRATCH))
    return YES if find_text(text, begin, stop, first, mask, c) >= 0 else NO


@kernel
def enum_number(c: int, start: int, end: int, flags: int, first: int, count: int) -> int:
    """Whether a number is among the exact ones of an enum."""
    value, quality = read_double(get(c, T_DATA), start, end)
    unsure = False
    for k in range(first, first + count):
        exact, integer = load_f64(get(c, P_FLOATS), k), load_i64(get(c, P_INTEGERS), k)
        found = order(get(c, T_DATA), start, end, flags, value, quality, exact, integer)
        if found == 0:
            return YES
        unsure = unsure or found == UNSURE
    return UNSURE if unsure else NO


@kernel
def enum_deep(c: int, constants: int, entry: int, first: int) -> int:
    """Whether a container is among the constants of an enum."""
    unsure = False
    for k in range(first + 1, first + 1 + load_i64(get(c, P_LISTS), first)):
        found = same_value(c, entry, constants, load_i64(get(c, P_LISTS), k), get(c, R_SCRATCH), get(c, R_SCRATCH_2))
        if found == YES:
            return YES
        unsure = unsure or found == UNSURE
    return UNSURE if unsure else NO


@kernel
def number_op(c: int, k: int, start: int, end: int, flags: int) -> int:
    """An operation on a number."""
    code, a, b = op_of(c, k, 0), op_of(c, k, 1), op_of(c, k, 2)
    if code == COMPARE:
        return compare(
            get(c, T_DATA), start, end, flags, a, load_f64(get(c, P_FLOATS), b), load_i64(get(c, P_INTEGERS), b)
        )
    if code == INTEGER:
        return is_integer(get(c, T_DATA), start, end, flags)
    if code == ENUM_NUMBER:
        return enum_number(c, start, end, flags, a, b)
    return is_multiple(get(c, T_DATA), start, end, a, b)


@kernel
def text_op(c: int, k: int, start: int, end: int, flags: int) -> int:
    """An operation on a string."""
    code, a, b = op_of(c, k, 0), op_of(c, k, 1), op_of(c, k, 2)
    if code == TEXT:
        return ask(c, start, end, flags, a, b, op_of(c, k, 3))
    if code == ENUM_STRING:
        return enum_string(c, start, end, flags, a, b)
    if code == MIN_LENGTH:
        return YES if end - start >= a and count_points(get(c, T_DATA), start, end, flags) >= a else NO
    return YES if end - start <= a or count_points(get(c, T_DATA), start, end, flags) <= a else NO


@kernel
def size_op(c: int, constants: int, k: int, entry: int) -> int:
    """An operation on a container as a whole."""
    code, a = op_of(c, k, 0), op_of(c, k, 1)
    if code == MIN_SIZE:
        return YES if load_i32(get(c, T_SIZE), entry) >= a else NO
    if code == MAX_SIZE:
        return YES if load_i32(get(c, T_SIZE), entry) <= a else NO
    if code == UNIQUE:
        return all_unique(c, entry, get(c, R_SCRATCH), get(c, R_SCRATCH_2))
    return enum_deep(c, constants, entry, a)


@kernel
def find_property(c: int, member: int, first: int, mask: int, names: int) -> int:
    """The number (within its object) of the property that a member is, or -1."""
    key = load_u64(get(c, T_KEY_HASH), member)
    slot = np.int64(key & np.uint64(mask))
    while True:
        local = load_i64(get(c, P_TABLES), first + slot) - 1
        if local < 0:
            return -1
        text = load_i64(get(c, P_LISTS), names + 1 + 3 * local)
        if load_u64(get(c, P_HASHES), text) == key:
            start, end = load_i32(get(c, T_KEY_START), member), load_i32(get(c, T_KEY_END), member)
            data, start, end = plain_text(get(c, T_DATA), start, end, key_flags(c, member), get(c, R_SCRATCH))
            begin = load_i64(get(c, P_BEGINS), text)
            if load_i64(get(c, P_ENDS), text) - begin == end - start:
                if same_bytes(data, start, get(c, P_ARENA), begin, end - start):
                    return local
        slot = (slot + 1) & mask


@kernel
def match_patterns(c: int, member: int, first: int) -> bool:
    """Apply the schemas of the patterns that a member's key matches; whether there was one."""
    matched = False
    start, end = load_i32(get(c, T_KEY_START), member), load_i32(get(c, T_KEY_END), member)
    for k in range(load_i64(get(c, P_LISTS), first)):
        at = first + 1 + 4 * k
        check, way, state = (
            load_i64(get(c, P_LISTS), at),
            load_i64(get(c, P_LISTS), at + 1),
            load_i64(get(c, P_LISTS), at + 2),
        )
        if ask(c, start, end, key_flags(c, member), check, way, state) == YES:
            matched = True
            if load_i64(get(c, P_LISTS), at + 3) >= 0:
                push(c, load_i64(get(c, P_LISTS), at + 3), member)
    return matched


@kernel
def object_op(c: int, k: int, entry: int) -> int:
    """Hand an object's members to their schemas and remember which properties it has."""
    first, mask, names = op_of(c, k, 1), op_of(c, k, 2), op_of(c, k, 3)
    patterns, rest = op_of(c, k, 4), op_of(c, k, 5)
    put(c, STAMP, get(c, STAMP) + 1)
    member, stop = entry + 1, load_i32(get(c, T_NEXT), entry)
    while member < stop:
        if load_u8(get(c, T_FLAGS), member) & DEAD == 0:
            known = False
            local = find_property(c, member, first, mask, names)
            if local >= 0:
                store_i64(get(c, R_SEEN), local, get(c, STAMP))
                child = load_i64(get(c, P_LISTS), names + 2 + 3 * local)
                known = load_i64(get(c, P_LISTS), names + 3 + 3 * local) == 1
                if child >= 0:
                    push(c, child, member)
            if patterns >= 0 and match_patterns(c, member, patterns):
                known = True
            if not known and rest == CLOSED:
                if get(c, DEPTH) > 0:
                    return NO
                note(c, k, entry, member)
            elif not known and rest >= 0:
                push(c, rest, member)
        member = load_i32(get(c, T_NEXT), member)
    return YES


@kernel
def items_op(c: int, k: int, entry: int) -> int:
    """Hand an array's elements to their schemas: a list for the first ones, one for the rest, which may be closed."""
    first, rest = op_of(c, k, 1), op_of(c, k, 2)
    count = load_i64(get(c, P_LISTS), first)
    child, place = entry + 1, 0
    while child < load_i32(get(c, T_NEXT), entry):
        node = load_i64(get(c, P_LISTS), first + 1 + place) if place < count else rest
        if node == CLOSED:
            return NO
        if node >= 0:
            push(c, node, child)
        place += 1
        child = load_i32(get(c, T_NEXT), child)
    return YES


@kernel
def names_op(c: int, k: int, entry: int) -> int:
    """Hand an object's keys, as strings, to a schema; item ``-member - 1`` is a key."""
    member = entry + 1
    while member < load_i32(get(c, T_NEXT), entry):
        if load_u8(get(c, T_FLAGS), member) & DEAD == 0:
            push(c, op_of(c, k, 1), -member - 1)
        member = load_i32(get(c, T_NEXT), member)
    return YES


@inlined
def has(c: int, local: int) -> bool:
    """Whether the object looked at last has a property."""
    return load_i64(get(c, R_SEEN), local) == get(c, STAMP)


@kernel
def other_op(c: int, k: int, item: int) -> int:
    """An operation that hands on, or that asks what an object had."""
    code, a, b = op_of(c, k, 0), op_of(c, k, 1), op_of(c, k, 2)
    if code == REQUIRED:
        return YES if has(c, a) else NO
    if code == OBJECT:
        return object_op(c, k, item)
    if code == APPLY:
        push(c, a, item)
    elif code == ITEMS:
        return items_op(c, k, item)
    elif code == NAMES:
        return names_op(c, k, item)
    elif code == DEPEND:
        return NO if has(c, a) and not has(c, b) else YES
    elif code == DEPEND_APPLY:
        if has(c, a):
            push(c, b, item)
    else:
        push(c, -k - 1, item)
    return YES


@kernel
def do_op(c: int, constants: int, k: int, code: int, item: int, start: int, end: int, flags: int) -> int:
    """An operation on a value (or key): `YES`, `NO` or `UNSURE`."""
    if code > LAST_SIZE:
        return other_op(c, k, item)
    if code > LAST_TEXT:
        return size_op(c, constants, k, item)
    if code > LAST_NUMBER:
        return text_op(c, k, start, end, flags)
    if code > CANNOT:
        return number_op(c, k, start, end, flags)
    return NO if code == FAIL else UNSURE
