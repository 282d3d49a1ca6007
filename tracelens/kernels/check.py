"""Checking JSON values on a tape against compiled schemas, with every error of the invalid ones.

A schema is a graph of nodes. A node has, per kind of value, a list of operations; some put further (node, value)
pairs on the work list, some decide, and some (``anyOf``, ``not`` …) open a frame, inside which errors only decide.
What an operation cannot decide exactly makes the whole value `ODD`: somebody else is asked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tracelens.kernels.check_equal import all_unique, same_value
from tracelens.kernels.check_number import NO, UNSURE, YES, compare, equals, is_integer, is_multiple, read_double
from tracelens.kernels.check_text import Memory, count_points, find_text, glance, plain_text, recall
from tracelens.kernels.scan import (
    DEAD,
    ESCAPED,
    KEY_ESCAPED,
    KEY_NON_ASCII,
    NON_ASCII,
    STRING,
)
from tracelens.kernels.shred import Tape

# Operations. The columns after the code are named in `tracelens.rungs.schema.compile`.
(
    END, FAIL, CANNOT, INTEGER, ENUM_NUMBER, ENUM_STRING, ENUM_DEEP, COMPARE, MULTIPLE, MIN_LENGTH, MAX_LENGTH, TEXT,
    MIN_SIZE, MAX_SIZE, UNIQUE, APPLY, ITEMS, NAMES, OBJECT, REQUIRED, DEPEND, DEPEND_APPLY,
    ANY_OF, ONE_OF, NOT, IF, CONTAINS,
) = range(27)  # fmt: skip
LAST_SCALAR = UNIQUE

# States of a checked value.
VALID = 0
INVALID = 1
ODD = 2
PENDING = 3

# The machine's own numbers.
TOP, DEPTH, EVENTS, UNKNOWN, FULL, STAMP, EXTRA, AFTER = range(8)

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
        tables: int64, hash tables of texts.
        hashes, begins, ends: per text (property name, enum string), hash and place in ``arena``.
        arena: uint8, padded.
        steps, marks: the automata's states.
    """

    heads: np.ndarray
    ops: np.ndarray
    lists: np.ndarray
    floats: np.ndarray
    tables: np.ndarray
    hashes: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    arena: np.ndarray
    steps: np.ndarray
    marks: np.ndarray


class Room(NamedTuple):
    """The machine's memory, reused from value to value; where a part is too small, the run stops and says so.

    Attributes:
        machine: int64[8].
        work: int64[w, 2], (node, item) still to do; a node below zero opens the frame of operation ``-node - 1``.
        frames: int64[f, 7].
        seen: int64, per property of an object, the stamp of the object in which it was last met.
        scratch: uint8[2, longest text and padding].
        events: int64[e, 4], (text, item, operation, extra).
    """

    machine: np.ndarray
    work: np.ndarray
    frames: np.ndarray
    seen: np.ndarray
    scratch: np.ndarray
    events: np.ndarray


@njit(nogil=True, cache=True)
def push(m: np.ndarray, work: np.ndarray, node: int, item: int) -> None:
    """Put a pair on the work list."""
    top = m[TOP]
    if top >= work.shape[0]:
        m[FULL] = 1
        return
    work[top, 0] = node
    work[top, 1] = item
    m[TOP] = top + 1


@njit(nogil=True, cache=True)
def note(m: np.ndarray, events: np.ndarray, op: int, item: int, extra: int) -> None:
    """Write down an error."""
    k = m[EVENTS]
    if k >= events.shape[0]:
        m[FULL] = 1
        return
    events[k, 1] = item
    events[k, 2] = op
    events[k, 3] = extra
    m[EVENTS] = k + 1


@njit(nogil=True, cache=True)
def ask(
    buf: np.ndarray, start: int, end: int, flags: int, check: int, way: int, state: int,
    steps: np.ndarray, marks: np.ndarray, memory: Memory, m: np.ndarray,
) -> int:  # fmt: skip
    """What a string check says; a string nobody has been asked about counts as passed, and the value as pending."""
    found = glance(buf, start, end, flags, way, state, steps, marks)
    if found == UNSURE:
        found = recall(buf, start, end, check, memory)
        if found < 0:
            m[FULL] = 1
            return YES
        if found == UNSURE:
            m[UNKNOWN] = 1
            return YES
    return found


@njit(nogil=True, cache=True)
def enum_number(buf: np.ndarray, start: int, end: int, floats: np.ndarray, first: int, count: int) -> int:
    """Whether a number is among the exact ones of an enum."""
    value, quality = read_double(buf, start, end)
    unsure = False
    for k in range(first, first + count):
        found = equals(value, quality, floats[k])
        if found == YES:
            return YES
        unsure = unsure or found == UNSURE
    return UNSURE if unsure else NO


@njit(nogil=True, cache=True)
def enum_deep(
    buf: np.ndarray, tape: Tape, entry: int, lists: np.ndarray, first: int, constant_buf: np.ndarray,
    constants: Tape, scratch: np.ndarray,
) -> int:  # fmt: skip
    """Whether a container is among the constants of an enum."""
    unsure = False
    for k in range(first + 1, first + 1 + lists[first]):
        found = same_value(buf, tape, entry, constant_buf, constants, lists[k], scratch)
        if found == YES:
            return YES
        unsure = unsure or found == UNSURE
    return UNSURE if unsure else NO


@njit(nogil=True, cache=True)
def scalar_op(
    k: int, entry: int, start: int, end: int, flags: int, buf: np.ndarray, tape: Tape, room: Room,
    program: Program, constant_buf: np.ndarray, constants: Tape, memory: Memory,
) -> int:  # fmt: skip
    """An operation that decides at once: `YES`, `NO` or `UNSURE`."""
    ops = program.ops
    code, a, b = ops[k, 0], ops[k, 1], ops[k, 2]
    if code == TEXT:
        return ask(buf, start, end, flags, a, b, ops[k, 3], program.steps, program.marks, memory, room.machine)
    if code == ENUM_STRING:
        text, first, stop = plain_text(buf, start, end, flags, room.scratch[0])
        found = find_text(
            text, first, stop, program.tables, a, b, program.hashes, program.begins, program.ends, program.arena
        )
        return YES if found >= 0 else NO
    if code == COMPARE:
        value, quality = read_double(buf, start, end)
        return compare(value, quality, a, program.floats[b])
    if code == INTEGER:
        return is_integer(buf, start, end, flags)
    if code == MIN_LENGTH:
        return YES if end - start >= a and count_points(buf, start, end, flags) >= a else NO
    if code == MAX_LENGTH:
        return YES if end - start <= a or count_points(buf, start, end, flags) <= a else NO
    if code == MIN_SIZE:
        return YES if tape.size[entry] >= a else NO
    if code == MAX_SIZE:
        return YES if tape.size[entry] <= a else NO
    if code == ENUM_NUMBER:
        return enum_number(buf, start, end, program.floats, a, b)
    if code == MULTIPLE:
        return is_multiple(buf, start, end, a, b)
    if code == UNIQUE:
        return all_unique(buf, tape, entry, room.scratch)
    if code == ENUM_DEEP:
        return enum_deep(buf, tape, entry, program.lists, a, constant_buf, constants, room.scratch)
    return NO if code == FAIL else UNSURE


@njit(nogil=True, cache=True)
def find_property(
    buf: np.ndarray, tape: Tape, member: int, program: Program, first: int, mask: int, names: int, scratch: np.ndarray
) -> int:
    """The number (within its object) of the property that a member is, or -1."""
    key = tape.key_hash[member]
    slot = np.int64(key & np.uint64(mask))
    while program.tables[first + slot] != 0:
        local = program.tables[first + slot] - 1
        text = program.lists[names + 1 + 3 * local]
        if program.hashes[text] == key:
            flags = ESCAPED if tape.flags[member] & KEY_ESCAPED else 0
            p, start, end = plain_text(buf, tape.key_start[member], tape.key_end[member], flags, scratch)
            begin = program.begins[text]
            if program.ends[text] - begin == end - start:
                same = True
                for i in range(end - start):
                    if p[start + i] != program.arena[begin + i]:
                        same = False
                        break
                if same:
                    return np.int64(local)
        slot = (slot + 1) & mask
    return -1


@njit(nogil=True, cache=True)
def key_flags(flags: int) -> int:
    """The flags of a member's key, as those of a string."""
    return (ESCAPED if flags & KEY_ESCAPED else 0) | (NON_ASCII if flags & KEY_NON_ASCII else 0)


@njit(nogil=True, cache=True)
def match_patterns(
    buf: np.ndarray, tape: Tape, member: int, first: int, room: Room, program: Program, memory: Memory
) -> bool:
    """Apply the schemas of the patterns that a member's key matches; whether there was one."""
    matched = False
    lists = program.lists
    for k in range(lists[first]):
        at = first + 1 + 4 * k
        found = ask(
            buf, tape.key_start[member], tape.key_end[member], key_flags(tape.flags[member]),
            lists[at], lists[at + 1], lists[at + 2], program.steps, program.marks, memory, room.machine,
        )  # fmt: skip
        if found == YES:
            matched = True
            if lists[at + 3] >= 0:
                push(room.machine, room.work, lists[at + 3], member)
    return matched


@njit(nogil=True, cache=True)
def object_op(
    k: int, entry: int, buf: np.ndarray, tape: Tape, room: Room, program: Program, memory: Memory
) -> int:
    """Hand an object's members to their schemas and remember which properties it has."""
    ops, lists, m = program.ops, program.lists, room.machine
    first, mask, names, patterns, rest = ops[k, 1], ops[k, 2], ops[k, 3], ops[k, 4], ops[k, 5]
    m[STAMP] += 1
    stamp = m[STAMP]
    member, stop = entry + 1, np.int64(tape.next[entry])
    while member < stop:
        if tape.flags[member] & DEAD == 0:
            known = False
            local = find_property(buf, tape, member, program, first, mask, names, room.scratch[0])
            if local >= 0:
                room.seen[local] = stamp
                child = lists[names + 2 + 3 * local]
                known = lists[names + 3 + 3 * local] == 1
                if child >= 0:
                    push(m, room.work, child, member)
            if patterns >= 0 and match_patterns(buf, tape, member, patterns, room, program, memory):
                known = True
            if not known and rest == CLOSED:
                if m[DEPTH] > 0:
                    return NO
                note(m, room.events, k, entry, member)
            elif not known and rest >= 0:
                push(m, room.work, rest, member)
        member = np.int64(tape.next[member])
    return YES


@njit(nogil=True, cache=True)
def items_op(k: int, entry: int, tape: Tape, room: Room, program: Program) -> int:
    """Hand an array's elements to their schemas: a list for the first ones, one for the rest, which may be closed."""
    lists = program.lists
    first, rest = program.ops[k, 1], program.ops[k, 2]
    count = lists[first]
    child, place = entry + 1, 0
    while child < tape.next[entry]:
        if place < count:
            if lists[first + 1 + place] >= 0:
                push(room.machine, room.work, lists[first + 1 + place], child)
        elif rest == CLOSED:
            return NO
        elif rest >= 0:
            push(room.machine, room.work, rest, child)
        else:
            break
        place += 1
        child = np.int64(tape.next[child])
    return YES


@njit(nogil=True, cache=True)
def names_op(k: int, entry: int, tape: Tape, room: Room, program: Program) -> int:
    """Hand an object's keys, as strings, to a schema; item ``-member - 1`` is a key."""
    member = entry + 1
    while member < tape.next[entry]:
        if tape.flags[member] & DEAD == 0:
            push(room.machine, room.work, program.ops[k, 1], -member - 1)
        member = np.int64(tape.next[member])
    return YES


@njit(nogil=True, cache=True)
def other_op(
    k: int, item: int, buf: np.ndarray, tape: Tape, room: Room, program: Program, memory: Memory
) -> int:
    """An operation that hands on, or that asks what an object had."""
    ops, m, seen = program.ops, room.machine, room.seen
    code, a, b = ops[k, 0], ops[k, 1], ops[k, 2]
    if code == OBJECT:
        return object_op(k, item, buf, tape, room, program, memory)
    if code == REQUIRED:
        return YES if seen[a] == m[STAMP] else NO
    if code == APPLY:
        push(m, room.work, a, item)
    elif code == ITEMS:
        return items_op(k, item, tape, room, program)
    elif code == NAMES:
        return names_op(k, item, tape, room, program)
    elif code == DEPEND:
        return NO if seen[a] == m[STAMP] and seen[b] != m[STAMP] else YES
    elif code == DEPEND_APPLY:
        if seen[a] == m[STAMP]:
            push(m, room.work, b, item)
    else:
        push(m, room.work, -k - 1, item)
    return YES


@njit(nogil=True, cache=True)
def visit(
    node: int, item: int, buf: np.ndarray, tape: Tape, room: Room, program: Program, constant_buf: np.ndarray,
    constants: Tape, memory: Memory,
) -> int:  # fmt: skip
    """Do all operations of a node on a value (or key): `YES`, `NO` (inside a frame) or `UNSURE`."""
    entry, m = item, room.machine
    if item >= 0:
        kind, flags = np.int64(tape.kind[entry]), np.int64(tape.flags[entry])
        start, end = np.int64(tape.start[entry]), np.int64(tape.end[entry])
    else:
        entry = -item - 1
        kind, flags = np.int64(STRING), key_flags(tape.flags[entry])
        start, end = np.int64(tape.key_start[entry]), np.int64(tape.key_end[entry])
    k = program.heads[node, kind]
    while program.ops[k, 0] != END:
        if program.ops[k, 0] <= LAST_SCALAR:
            found = scalar_op(
                k, entry, start, end, flags, buf, tape, room, program, constant_buf, constants, memory
            )
        else:
            found = other_op(k, item, buf, tape, room, program, memory)
        if found == UNSURE:
            return UNSURE
        if found == NO:
            if m[DEPTH] > 0:
                return NO
            note(m, room.events, k, item, 0)
        k += 1
    return YES


@njit(nogil=True, cache=True)
def step_choice(f: np.ndarray, result: int, room: Room, program: Program) -> int:
    """The next step of ``anyOf`` or ``oneOf``."""
    code, first = program.ops[f[F_OP], 0], program.ops[f[F_OP], 1]
    m = room.machine
    if result == YES:
        if code == ANY_OF:
            return YES
        f[F_COUNT] += 1
        f[F_MASK] |= np.int64(1) << f[F_NEXT]
    f[F_NEXT] += 1
    if f[F_NEXT] < program.lists[first]:
        push(m, room.work, program.lists[first + 1 + f[F_NEXT]], f[F_ITEM])
        return MORE
    m[EXTRA] = f[F_MASK]
    return YES if f[F_COUNT] == 1 else NO


@njit(nogil=True, cache=True)
def step_contains(f: np.ndarray, result: int, tape: Tape, room: Room, program: Program) -> int:
    """The next step of ``contains``; extra = number of matching elements, -1 for too many."""
    op = program.ops[f[F_OP]]
    least, most = op[2], op[3]
    if result == FRESH:
        f[F_CURSOR] = f[F_ITEM] + 1
    if result == YES:
        f[F_COUNT] += 1
        if most >= 0 and f[F_COUNT] > most:
            room.machine[EXTRA] = -1
            return NO
        if most < 0 and f[F_COUNT] >= least:
            return YES
    if f[F_CURSOR] < tape.next[f[F_ITEM]]:
        push(room.machine, room.work, op[1], f[F_CURSOR])
        f[F_CURSOR] = tape.next[f[F_CURSOR]]
        return MORE
    room.machine[EXTRA] = f[F_COUNT]
    return YES if f[F_COUNT] >= least else NO


@njit(nogil=True, cache=True)
def step(f: np.ndarray, result: int, tape: Tape, room: Room, program: Program) -> int:
    """Go on with a frame after a part of it came out as ``result``: `MORE` to do, or how the frame comes out."""
    op, m = program.ops[f[F_OP]], room.machine
    m[EXTRA] = 0
    m[AFTER] = -1
    if op[0] == ANY_OF or op[0] == ONE_OF:
        return step_choice(f, result, room, program)
    if op[0] == CONTAINS:
        return step_contains(f, result, tape, room, program)
    if result == FRESH:
        push(m, room.work, op[1], f[F_ITEM])
        return MORE
    if op[0] == NOT:
        return NO if result == YES else YES
    m[AFTER] = op[2] if result == YES else op[3]
    return YES


@njit(nogil=True, cache=True)
def advance(result: int, tape: Tape, room: Room, program: Program) -> None:
    """Go on with the innermost frame, and outwards as long as frames come out as failures."""
    m, frames = room.machine, room.frames
    while True:
        f = frames[m[DEPTH] - 1]
        m[TOP] = f[F_BASE]
        outcome = step(f, result, tape, room, program)
        if outcome == MORE:
            return
        m[DEPTH] -= 1
        m[TOP] = f[F_BASE]
        if outcome == YES:
            if m[AFTER] >= 0:
                push(m, room.work, m[AFTER], f[F_ITEM])
            return
        if m[DEPTH] == 0:
            note(m, room.events, f[F_OP], f[F_ITEM], m[EXTRA])
            return
        result = NO


@njit(nogil=True, cache=True)
def open_frame(k: int, item: int, room: Room) -> bool:
    """Open the frame of an operation; false where there is no room."""
    m = room.machine
    if m[DEPTH] >= room.frames.shape[0]:
        m[FULL] = 1
        return False
    f = room.frames[m[DEPTH]]
    f[F_OP], f[F_ITEM], f[F_NEXT], f[F_COUNT] = k, item, -1, 0
    f[F_BASE], f[F_MASK], f[F_CURSOR] = m[TOP], 0, 0
    m[DEPTH] += 1
    return True


@njit(nogil=True, cache=True)
def check_value(
    root: int, entry: int, buf: np.ndarray, tape: Tape, room: Room, program: Program, constant_buf: np.ndarray,
    constants: Tape, memory: Memory,
) -> int:  # fmt: skip
    """Run the machine on one value: `YES`, or `UNSURE`; errors are in the events."""
    m, work = room.machine, room.work
    m[TOP], m[DEPTH], m[UNKNOWN], m[FULL] = 0, 0, 0, 0
    push(m, work, root, entry)
    while m[FULL] == 0:
        if m[TOP] == (room.frames[m[DEPTH] - 1, F_BASE] if m[DEPTH] > 0 else 0):
            if m[DEPTH] == 0:
                return YES
            advance(YES, tape, room, program)
            continue
        m[TOP] -= 1
        node, item = work[m[TOP], 0], work[m[TOP], 1]
        if node < 0:
            if open_frame(-node - 1, item, room):
                advance(FRESH, tape, room, program)
            continue
        found = visit(node, item, buf, tape, room, program, constant_buf, constants, memory)
        if found == UNSURE:
            return UNSURE
        if found == NO:
            advance(NO, tape, room, program)
    return UNSURE


@njit(nogil=True, cache=True)
def check_values(
    texts: np.ndarray, roots: np.ndarray, begin: int, buf: np.ndarray, tape: Tape, room: Room, program: Program,
    constant_buf: np.ndarray, constants: Tape, memory: Memory, state: np.ndarray,
) -> int:  # fmt: skip
    """Check one text after the other, from ``texts[begin]`` on.

    Args:
        texts: int64[k], numbers of the texts.
        roots: int64[k], node of each text's schema.
        begin: Where to start.
        buf: uint8, the texts' bytes.
        tape: Their values.
        room: Memory of the machine; ``machine[EVENTS]`` counts the events so far.
        program: The schemas.
        constant_buf: uint8, bytes of the schemas' constants.
        constants: Their tape.
        memory: Answers to string checks.
        state: uint8 by text number, out: `VALID`, `INVALID`, `ODD` or `PENDING` (questions were noted).

    Returns:
        The index after the last text done; below ``texts.size`` where the room was too small.
    """
    m, events = room.machine, room.events
    for k in range(begin, texts.size):
        text = texts[k]
        before = m[EVENTS]
        found = check_value(
            roots[k], tape.first[text], buf, tape, room, program, constant_buf, constants, memory
        )
        if m[FULL] != 0:
            m[EVENTS] = before
            return k
        if found == UNSURE:
            m[EVENTS] = before
            state[text] = ODD
        elif m[UNKNOWN] != 0:
            m[EVENTS] = before
            state[text] = PENDING
        else:
            events[before : m[EVENTS], 0] = text
            state[text] = INVALID if m[EVENTS] > before else VALID
    return np.int64(texts.size)
