"""Checking JSON values on a tape against compiled schemas, with every error of the invalid ones.

A schema is a graph of nodes. A node has, per kind of value, a list of operations; some put further (node, value)
pairs on the work list, some decide, and some (``anyOf``, ``not`` …) open a frame, inside which errors only decide.
What an operation cannot decide exactly makes the whole value `ODD`: somebody else is asked.

``c`` is the address of the context (see `context`) that every function here works on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tracelens.kernels.check_equal import all_unique, same_value
from tracelens.kernels.check_number import NO, UNSURE, YES, compare, is_integer, is_multiple, order, read_double
from tracelens.kernels.check_text import count_points, find_text, glance, plain_text, recall, same_bytes
from tracelens.kernels.context import (
    AFTER, DEPTH, EVENTS, EXTRA, FULL, P_ARENA, P_BEGINS, P_ENDS, P_FLOATS, P_HASHES, P_HEADS, P_INTEGERS, P_LISTS,
    P_OPS, P_TABLES, R_EVENTS, R_EVENTS_ROOM, R_FRAMES, R_FRAMES_ROOM, R_SCRATCH, R_SCRATCH_2, R_SEEN, R_WORK,
    R_WORK_ROOM, STAMP, T_DATA, T_END, T_FIRST, T_FLAGS, T_KEY_END, T_KEY_HASH, T_KEY_START, T_KIND, T_NEXT, T_SIZE,
    T_START, TOP, UNKNOWN,
)  # fmt: skip
from tracelens.kernels.context import get, put
from tracelens.kernels.memory import load_f64, load_i32, load_i64, load_u8, load_u64, store_i64
from tracelens.kernels.scan import DEAD, ESCAPED, KEY_ESCAPED, KEY_NON_ASCII, NON_ASCII, STRING

# Operations. What their numbers mean stands where they are compiled.
(
    END, FAIL, CANNOT, INTEGER, ENUM_NUMBER, COMPARE, MULTIPLE, ENUM_STRING, MIN_LENGTH, MAX_LENGTH, TEXT,
    MIN_SIZE, MAX_SIZE, UNIQUE, ENUM_DEEP, APPLY, ITEMS, NAMES, OBJECT, REQUIRED, DEPEND, DEPEND_APPLY,
    ANY_OF, ONE_OF, NOT, IF, CONTAINS,
) = range(27)  # fmt: skip
LAST_NUMBER, LAST_TEXT, LAST_SIZE = MULTIPLE, TEXT, ENUM_DEEP

# States of a checked value.
VALID = 0
INVALID = 1
ODD = 2
PENDING = 3

# Columns of a frame.
F_OP, F_ITEM, F_NEXT, F_COUNT, F_BASE, F_MASK, F_CURSOR = range(7)

FRESH = 3
MORE = 4

CLOSED = -2


class Program(NamedTuple):
    """Compiled schemas.

    Attributes:
        heads: int64[n_nodes, 7], first operation of a node by kind of value.
        ops: int64[n_ops, 6], code and up to five numbers; a list ends with `END`.
        lists: int64, node lists and property lists.
        floats: float64, bounds and enum numbers.
        integers: int64, the same as integers, `check_number.NO_INTEGER` where they are none of at most 18 digits.
        tables: int64, hash tables of texts.
        hashes, begins, ends: per text (property name, enum string), hash and place in ``arena``.
        arena: uint8, padded.
        steps, marks: the automata's states.
    """

    heads: np.ndarray
    ops: np.ndarray
    lists: np.ndarray
    floats: np.ndarray
    integers: np.ndarray
    tables: np.ndarray
    hashes: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    arena: np.ndarray
    steps: np.ndarray
    marks: np.ndarray


@njit(nogil=True, cache=True)
def push(c: int, node: int, item: int) -> None:
    """Put a pair on the work list."""
    top = get(c, TOP)
    if top >= get(c, R_WORK_ROOM):
        put(c, FULL, 1)
        return
    store_i64(get(c, R_WORK), 2 * top, node)
    store_i64(get(c, R_WORK), 2 * top + 1, item)
    put(c, TOP, top + 1)


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def op_of(c: int, k: int, column: int) -> int:
    """A number of operation ``k``; column 0 is its code."""
    return load_i64(get(c, P_OPS), 6 * k + column)


@njit(nogil=True, cache=True)
def key_flags(c: int, member: int) -> int:
    """The flags of a member's key, as those of a string."""
    flags = load_u8(get(c, T_FLAGS), member)
    return (ESCAPED if flags & KEY_ESCAPED else 0) | (NON_ASCII if flags & KEY_NON_ASCII else 0)


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def enum_string(c: int, start: int, end: int, flags: int, first: int, mask: int) -> int:
    """Whether a string is among those of an enum."""
    text, begin, stop = plain_text(get(c, T_DATA), start, end, flags, get(c, R_SCRATCH))
    return YES if find_text(text, begin, stop, first, mask, c) >= 0 else NO


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def enum_deep(c: int, constants: int, entry: int, first: int) -> int:
    """Whether a container is among the constants of an enum."""
    unsure = False
    for k in range(first + 1, first + 1 + load_i64(get(c, P_LISTS), first)):
        found = same_value(c, entry, constants, load_i64(get(c, P_LISTS), k), get(c, R_SCRATCH), get(c, R_SCRATCH_2))
        if found == YES:
            return YES
        unsure = unsure or found == UNSURE
    return UNSURE if unsure else NO


@njit(nogil=True, cache=True)
def number_op(c: int, k: int, start: int, end: int, flags: int) -> int:
    """An operation on a number."""
    code, a, b = op_of(c, k, 0), op_of(c, k, 1), op_of(c, k, 2)
    if code == COMPARE:
        return compare(get(c, T_DATA), start, end, flags, a, load_f64(get(c, P_FLOATS), b), load_i64(get(c, P_INTEGERS), b))
    if code == INTEGER:
        return is_integer(get(c, T_DATA), start, end, flags)
    if code == ENUM_NUMBER:
        return enum_number(c, start, end, flags, a, b)
    return is_multiple(get(c, T_DATA), start, end, a, b)


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def match_patterns(c: int, member: int, first: int) -> bool:
    """Apply the schemas of the patterns that a member's key matches; whether there was one."""
    matched = False
    start, end = load_i32(get(c, T_KEY_START), member), load_i32(get(c, T_KEY_END), member)
    for k in range(load_i64(get(c, P_LISTS), first)):
        at = first + 1 + 4 * k
        check, way, state = load_i64(get(c, P_LISTS), at), load_i64(get(c, P_LISTS), at + 1), load_i64(get(c, P_LISTS), at + 2)
        if ask(c, start, end, key_flags(c, member), check, way, state) == YES:
            matched = True
            if load_i64(get(c, P_LISTS), at + 3) >= 0:
                push(c, load_i64(get(c, P_LISTS), at + 3), member)
    return matched


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def names_op(c: int, k: int, entry: int) -> int:
    """Hand an object's keys, as strings, to a schema; item ``-member - 1`` is a key."""
    member = entry + 1
    while member < load_i32(get(c, T_NEXT), entry):
        if load_u8(get(c, T_FLAGS), member) & DEAD == 0:
            push(c, op_of(c, k, 1), -member - 1)
        member = load_i32(get(c, T_NEXT), member)
    return YES


@njit(nogil=True, cache=True)
def has(c: int, local: int) -> bool:
    """Whether the object looked at last has a property."""
    return load_i64(get(c, R_SEEN), local) == get(c, STAMP)


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def do_op(
    c: int, constants: int, k: int, code: int, item: int, start: int, end: int, flags: int
) -> int:
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


@njit(nogil=True, cache=True)
def visit(c: int, constants: int, node: int, item: int) -> int:
    """Do all operations of a node on a value (or key): `YES`, `NO` (inside a frame) or `UNSURE`."""
    if item >= 0:
        kind, flags = load_u8(get(c, T_KIND), item), load_u8(get(c, T_FLAGS), item)
        start, end = load_i32(get(c, T_START), item), load_i32(get(c, T_END), item)
    else:
        member = -item - 1
        kind, flags = STRING, key_flags(c, member)
        start, end = load_i32(get(c, T_KEY_START), member), load_i32(get(c, T_KEY_END), member)
    k = load_i64(get(c, P_HEADS), 7 * node + kind)
    while True:
        code = op_of(c, k, 0)
        if code == END:
            return YES
        found = do_op(c, constants, k, code, item, start, end, flags)
        if found == UNSURE:
            return UNSURE
        if found == NO:
            if get(c, DEPTH) > 0:
                return NO
            note(c, k, item, 0)
        k += 1


@njit(nogil=True, cache=True)
def frame_of(c: int, column: int) -> int:
    """A number of the innermost frame."""
    return load_i64(get(c, R_FRAMES), 7 * (get(c, DEPTH) - 1) + column)


@njit(nogil=True, cache=True)
def set_frame(c: int, column: int, value: int) -> None:
    """Change a number of the innermost frame."""
    store_i64(get(c, R_FRAMES), 7 * (get(c, DEPTH) - 1) + column, value)


@njit(nogil=True, cache=True)
def step_choice(c: int, op: int, result: int) -> int:
    """The next step of ``anyOf`` or ``oneOf``."""
    first, place = op_of(c, op, 1), frame_of(c, F_NEXT)
    if result == YES:
        if op_of(c, op, 0) == ANY_OF:
            return YES
        set_frame(c, F_COUNT, frame_of(c, F_COUNT) + 1)
        set_frame(c, F_MASK, frame_of(c, F_MASK) | (1 << place))
    place += 1
    set_frame(c, F_NEXT, place)
    if place < load_i64(get(c, P_LISTS), first):
        push(c, load_i64(get(c, P_LISTS), first + 1 + place), frame_of(c, F_ITEM))
        return MORE
    put(c, EXTRA, frame_of(c, F_MASK))
    return YES if frame_of(c, F_COUNT) == 1 else NO


@njit(nogil=True, cache=True)
def step_contains(c: int, op: int, result: int) -> int:
    """The next step of ``contains``; extra = number of matching elements, -1 for too many."""
    least, most, array = op_of(c, op, 2), op_of(c, op, 3), frame_of(c, F_ITEM)
    if result == FRESH:
        set_frame(c, F_CURSOR, array + 1)
    count = frame_of(c, F_COUNT)
    if result == YES:
        count += 1
        set_frame(c, F_COUNT, count)
        if most >= 0 and count > most:
            put(c, EXTRA, -1)
            return NO
        if most < 0 and count >= least:
            return YES
    cursor = frame_of(c, F_CURSOR)
    if cursor < load_i32(get(c, T_NEXT), array):
        push(c, op_of(c, op, 1), cursor)
        set_frame(c, F_CURSOR, load_i32(get(c, T_NEXT), cursor))
        return MORE
    put(c, EXTRA, count)
    return YES if count >= least else NO


@njit(nogil=True, cache=True)
def step(c: int, op: int, result: int) -> int:
    """Go on with a frame after a part of it came out as ``result``: `MORE` to do, or how the frame comes out."""
    code = op_of(c, op, 0)
    put(c, EXTRA, 0)
    put(c, AFTER, -1)
    if code == ANY_OF or code == ONE_OF:
        return step_choice(c, op, result)
    if code == CONTAINS:
        return step_contains(c, op, result)
    if result == FRESH:
        push(c, op_of(c, op, 1), frame_of(c, F_ITEM))
        return MORE
    if code == NOT:
        return NO if result == YES else YES
    put(c, AFTER, op_of(c, op, 2) if result == YES else op_of(c, op, 3))
    return YES


@njit(nogil=True, cache=True)
def advance(c: int, result: int) -> None:
    """Go on with the innermost frame, and outwards as long as frames come out as failures."""
    while True:
        op, item, base = frame_of(c, F_OP), frame_of(c, F_ITEM), frame_of(c, F_BASE)
        put(c, TOP, base)
        outcome = step(c, op, result)
        if outcome == MORE:
            return
        put(c, DEPTH, get(c, DEPTH) - 1)
        put(c, TOP, base)
        if outcome == YES:
            if get(c, AFTER) >= 0:
                push(c, get(c, AFTER), item)
            return
        if get(c, DEPTH) == 0:
            note(c, op, item, get(c, EXTRA))
            return
        result = NO


@njit(nogil=True, cache=True)
def open_frame(c: int, op: int, item: int) -> bool:
    """Open the frame of an operation; false where there is no room."""
    if get(c, DEPTH) >= get(c, R_FRAMES_ROOM):
        put(c, FULL, 1)
        return False
    put(c, DEPTH, get(c, DEPTH) + 1)
    set_frame(c, F_OP, op)
    set_frame(c, F_ITEM, item)
    set_frame(c, F_NEXT, -1)
    set_frame(c, F_COUNT, 0)
    set_frame(c, F_BASE, get(c, TOP))
    set_frame(c, F_MASK, 0)
    set_frame(c, F_CURSOR, 0)
    return True


@njit(nogil=True, cache=True)
def check_value(c: int, constants: int, root: int, entry: int) -> int:
    """Run the machine on one value: `YES`, or `UNSURE`; errors are in the events."""
    put(c, TOP, 0)
    put(c, DEPTH, 0)
    put(c, UNKNOWN, 0)
    put(c, FULL, 0)
    push(c, root, entry)
    while get(c, FULL) == 0:
        if get(c, TOP) == (frame_of(c, F_BASE) if get(c, DEPTH) > 0 else 0):
            if get(c, DEPTH) == 0:
                return YES
            advance(c, YES)
            continue
        put(c, TOP, get(c, TOP) - 1)
        node, item = load_i64(get(c, R_WORK), 2 * get(c, TOP)), load_i64(get(c, R_WORK), 2 * get(c, TOP) + 1)
        if node < 0:
            if open_frame(c, -node - 1, item):
                advance(c, FRESH)
            continue
        found = visit(c, constants, node, item)
        if found == UNSURE:
            return UNSURE
        if found == NO:
            advance(c, NO)
    return UNSURE


@njit(nogil=True, cache=True)
def check_values(
    c: int, constants: int, texts: np.ndarray, roots: np.ndarray, begin: int, state: np.ndarray
) -> int:
    """Check one text after the other, from ``texts[begin]`` on.

    Args:
        c: Address of the context: tape, schemas, memory of strings, the machine; ``get(c, EVENTS)`` counts the events so far.
        constants: Address of the context of the tape of the schemas' constants.
        texts: int64[k], numbers of the texts.
        roots: int64[k], node of each text's schema.
        begin: Where to start.
        state: uint8 by text number, out: `VALID`, `INVALID`, `ODD` or `PENDING` (questions were noted).

    Returns:
        The index after the last text done; below ``texts.size`` where the room was too small.
    """
    for k in range(begin, texts.size):
        text = texts[k]
        before = get(c, EVENTS)
        found = check_value(c, constants, roots[k], load_i64(get(c, T_FIRST), text))
        if get(c, FULL) != 0:
            put(c, EVENTS, before)
            return k
        if found == UNSURE:
            put(c, EVENTS, before)
            state[text] = ODD
        elif get(c, UNKNOWN) != 0:
            put(c, EVENTS, before)
            state[text] = PENDING
        else:
            for e in range(before, get(c, EVENTS)):
                store_i64(get(c, R_EVENTS), 4 * e, text)
            state[text] = INVALID if get(c, EVENTS) > before else VALID
    return np.int64(texts.size)
