"""Checking JSON values on a tape against compiled schemas, with every error of the invalid ones.

A schema is a graph of nodes. A node has, per kind of value, a list of operations; some put further (node, value)
pairs on the work list, some decide, and some (``anyOf``, ``not`` …) open a frame, inside which errors only decide.
What an operation cannot decide exactly makes the whole value `ODD`: somebody else is asked.

``c`` is the address of the context (see `context`) that every function here works on.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.check_codes import ANY_OF, CONTAINS, END, NOT, ONE_OF
from tracelens.kernels.check_number import NO, UNSURE, YES
from tracelens.kernels.check_ops import do_op, key_flags, note, op_of, push
from tracelens.kernels.context import (
    AFTER,
    DEPTH,
    EVENTS,
    EXTRA,
    FULL,
    P_HEADS,
    P_LISTS,
    R_EVENTS,
    R_FRAMES,
    R_FRAMES_ROOM,
    R_WORK,
    T_END,
    T_FIRST,
    T_FLAGS,
    T_KEY_END,
    T_KEY_START,
    T_KIND,
    T_NEXT,
    T_START,
    TOP,
    UNKNOWN,
    get,
    put,
)  # fmt: skip
from tracelens.kernels.jit import inlined, kernel
from tracelens.kernels.memory import load_i32, load_i64, load_u8, store_i64
from tracelens.kernels.scan import STRING

# States of a checked value.
VALID = 0
INVALID = 1
ODD = 2
PENDING = 3

# Columns of a frame.
F_OP, F_ITEM, F_NEXT, F_COUNT, F_BASE, F_MASK, F_CURSOR = range(7)

FRESH = 3
MORE = 4


@kernel
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


@inlined
def frame_of(c: int, column: int) -> int:
    """A number of the innermost frame."""
    return load_i64(get(c, R_FRAMES), 7 * (get(c, DEPTH) - 1) + column)


@inlined
def set_frame(c: int, column: int, value: int) -> None:
    """Change a number of the innermost frame."""
    store_i64(get(c, R_FRAMES), 7 * (get(c, DEPTH) - 1) + column, value)


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
def check_values(c: int, constants: int, texts: np.ndarray, roots: np.ndarray, begin: int, state: np.ndarray) -> int:
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
