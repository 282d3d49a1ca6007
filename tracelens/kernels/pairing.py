"""The three pairings of every unit, the status of every call under each, and how many there are of each status.

The flag JOINED says that an actual call may be reordered with its predecessor (parallel calls of one turn). Without
such calls a group is a single call, and the group rules below are the plain definitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracelens.kernels.calls import (
    B1,
    CAPTURED,
    I32,
    I64,
    JOINED,
    MALFORMED_ENTRY,
    U8,
    UNIT,
    Calls,
    agreement_of,
    call_pointers,
    is_exact,
)
from tracelens.kernels.jit import kernel, lean
from tracelens.kernels.optimal import Room, Unit, Way, pair_optimal
from tracelens.kernels.unused import look_up_best_unused
from tracelens.kernels.words import pointer

POSITIONAL, BEST_UNUSED, OPTIMAL = 0, 1, 2
EXACT, PARTIAL, NAME_ONLY, WRONG_NAME, MISSING, EXTRA, MALFORMED = 0, 1, 2, 3, 4, 5, 6
STATES = 7

LINEAR = 4096
"""From this many possible pairs on `best_unused` looks calls up instead of comparing everything."""


class Pairings(NamedTuple):
    """The three pairings of units.

    Attributes:
        slot: First slot of each unit in `partner` and `status`, one slot per actual call of a unit, int64 [units].
        partner: Expected call counted from the unit's first, or -1, int32 [3, slots].
        status: Status of each actual call, uint8 [3, slots].
        counts: Rows by pairing and status, int64 [units, 3, 7].
        agreed: Agreement of the partial optimal pairs summed, in 1e-9, int64 [units].
        unknown: Whether arguments that matter were not recorded, bool [units].
    """

    slot: I64
    partner: I32
    status: U8
    counts: I64
    agreed: I64
    unknown: B1


@lean
def group_end(a: Calls, unit: Unit, start: int) -> int:
    """Where the group of call `start` ends; positions count from the unit's first."""
    stop = start + 1
    while stop < unit.a_count and a.flags[unit.a_first + stop] & JOINED:
        stop += 1
    return stop


@lean
def pair_positional(a: Calls, e: Calls, unit: Unit, way: Way, room: Room, partner: I32, base: int) -> None:
    """The i-th against the i-th; a group optimally with the calls at its positions, and the rest of both in order."""
    start = 0
    while start < unit.a_count:
        stop = group_end(a, unit, start)
        if stop - start == 1:
            partner[base + start] = start if start < unit.e_count else -1
            start = stop
            continue
        window = max(min(stop, unit.e_count) - start, 0)
        part = Unit(unit.a_first + start, stop - start, unit.e_first + start, window)
        pair_optimal(a, e, part, way, room, partner, base + start)
        for j in range(window):
            room.used[j] = 0
        for k in range(base + start, base + stop):
            if partner[k] >= 0:
                room.used[partner[k]] = 1
        spare = 0
        for k in range(base + start, base + stop):
            if partner[k] < 0:
                while spare < window and room.used[spare]:
                    spare += 1
                partner[k] = spare if spare < window else -1
                spare += 1
            if partner[k] >= 0:
                partner[k] += start
        start = stop


@lean
def best_of_name(a: Calls, e: Calls, unit: Unit, i: int, wants_exact: bool, room: Room) -> int:
    """The first unused expected call of the name of i that is exact, else (unless one is wanted) the first; or -1."""
    first = np.int64(-1)
    for j in range(unit.e_count):
        if e.code[unit.e_first + j] != a.code[i] or room.used[j]:
            continue
        if is_exact(a, e, i, unit.e_first + j):
            return j
        if first < 0:
            first = j
    return np.int64(-1) if wants_exact else first


@lean
def pair_best_unused(a: Calls, e: Calls, unit: Unit, room: Room, partner: I32, base: int) -> None:
    """Each actual call in order takes the best unused expected call of its name: exact before name only, then the first.

    In a group the exact ones go first. Compares everything with everything.
    """
    for j in range(unit.e_count):
        room.used[j] = 0
    start = 0
    while start < unit.a_count:
        stop = group_end(a, unit, start)
        for turn in range(2 if stop - start > 1 else 1):
            wants_exact = turn == 0 and stop - start > 1
            for k in range(start, stop):
                if turn == 0:
                    partner[base + k] = -1
                if partner[base + k] >= 0 or a.code[unit.a_first + k] < 0:
                    continue
                j = best_of_name(a, e, unit, unit.a_first + k, wants_exact, room)
                if j >= 0:
                    partner[base + k] = j
                    room.used[j] = 1
        start = stop


@lean
def all_exact(a: Calls, e: Calls, unit: Unit) -> bool:
    """Whether both lists are equal call by call, by value: then every pairing is the positional one."""
    if unit.a_count != unit.e_count:
        return False
    for k in range(unit.a_count):
        i, j = unit.a_first + k, unit.e_first + k
        if a.code[i] < 0 or a.code[i] != e.code[j] or a.link_count[i] or not is_exact(a, e, i, j):
            return False
    return True


@lean
def linked(a: Calls, unit: Unit) -> bool:
    """Whether matchers or tolerances touch any of these calls."""
    for i in range(unit.a_first, unit.a_first + unit.a_count):
        if a.link_count[i]:
            return True
    return False


@lean
def status_of(a: Calls, e: Calls, i: int, j: int) -> int:
    """Status of an actual call and its partner (-1: none)."""
    if a.flags[i] & MALFORMED_ENTRY:
        return MALFORMED
    if j < 0:
        return EXTRA
    if a.code[i] < 0 or a.code[i] != e.code[j]:
        return WRONG_NAME
    if not a.flags[i] & CAPTURED:
        return NAME_ONLY
    return EXACT if is_exact(a, e, i, j) else PARTIAL


@lean
def label(a: Calls, e: Calls, unit: Unit, partner: I32, base: int, status: U8, counts: I64, at: int) -> None:
    """Fill the status of every actual call of a unit and count them; expected calls nobody took are missing."""
    paired = 0
    for k in range(unit.a_count):
        j = np.int64(partner[base + k])
        paired += j >= 0
        state = status_of(a, e, unit.a_first + k, unit.e_first + j if j >= 0 else np.int64(-1))
        status[base + k] = state
        counts[at + state] += 1
    counts[at + MISSING] = unit.e_count - paired


@lean
def arguments_unknown(a: Calls, e: Calls, unit: Unit) -> bool:
    """Whether an actual call whose name is expected has arguments nobody recorded."""
    last = np.int32(-1)  # the name just looked for in vain
    for i in range(unit.a_first, unit.a_first + unit.a_count):
        if a.flags[i] & CAPTURED or a.code[i] == last or a.code[i] < 0:
            continue
        last = a.code[i]
        for j in range(unit.e_first, unit.e_first + unit.e_count):
            if e.code[j] == a.code[i]:
                return True
    return False


@lean
def _pair_unit(
    a: Calls,
    e: Calls,
    unit: Unit,
    way: Way,
    room: Room,
    slots: int,
    slot: int,
    partner: I32,
    status: U8,
    counts: I64,
    at: int,
) -> int:
    """One unit of `pair_units`; returns the agreement of its partial optimal pairs summed."""
    n = unit.a_count
    for k in range(at, at + 3 * STATES):
        counts[k] = 0
    if all_exact(a, e, unit):
        for p in range(3):
            counts[at + p * STATES + EXACT] = n
            for k in range(n):
                partner[p * slots + slot + k], status[p * slots + slot + k] = k, EXACT
        return 0
    best, optimal = BEST_UNUSED * slots + slot, OPTIMAL * slots + slot
    pair_positional(a, e, unit, way, room, partner, slot)
    if n * unit.e_count < way.linear or linked(a, unit):
        pair_best_unused(a, e, unit, room, partner, best)
    else:
        look_up_best_unused(a, e, unit, partner, best)
    pair_optimal(a, e, unit, way, room, partner, optimal)
    for p in range(3):
        label(a, e, unit, partner, p * slots + slot, status, counts, at + p * STATES)
    agreed = 0
    for k in range(n):
        if status[optimal + k] == PARTIAL:
            agreed += agreement_of(a, e, unit.a_first + k, unit.e_first + partner[optimal + k])
    return agreed


@lean
def pair_units(todo: I64, units: I64, a: Calls, e: Calls, way: Way, room: Room, out: Pairings) -> None:
    """Pair some units, whatever they are like.

    Args:
        todo: Which ones, int64.
        units: First actual call, how many, first expected call, how many, int64 [units, 4].
        a: All actual calls.
        e: All expected calls.
        way: How to pair.
        room: Scratch space for the longest unit.
        out: Filled where the units have their places.
    """
    actual, expected = call_pointers(a), call_pointers(e)
    scratch = Room(pointer(room.a_order), pointer(room.e_order), pointer(room.used), pointer(room.few))
    partner, status, counts, slots = (
        pointer(out.partner),
        pointer(out.status),
        pointer(out.counts),
        out.partner.shape[1],
    )
    for k in range(todo.size):
        u = todo[k]
        unit, at = Unit(units[u, 0], units[u, 1], units[u, 2], units[u, 3]), u * 3 * STATES
        out.agreed[u] = _pair_unit(
            actual, expected, unit, way, scratch, slots, out.slot[u], partner, status, counts, at
        )
        out.unknown[u] = counts[at + EXACT] < unit.a_count and arguments_unknown(actual, expected, unit)


@kernel
def pair_rows(
    units: I64,
    a: Calls,
    e: Calls,
    slot: I64,
    partner: I32,
    status: U8,
    row: I64,
    out_unit: I64,
    out_actual: I32,
    out_expected: I32,
    out_status: U8,
    out_agreement: I64,
) -> None:
    """Write the rows of one pairing: the actual calls of a unit in order, then the expected calls nobody made.

    Args:
        units: First actual call, how many, first expected call, how many, int64 [units, 4].
        a: All actual calls.
        e: All expected calls.
        slot: First slot of each unit.
        partner: Partners under this pairing, int32 [slots].
        status: Statuses under this pairing, uint8 [slots].
        row: First row of each unit, int64 [units].
        out_unit: Filled: the unit, int64 [rows].
        out_actual: Filled: actual call counted from the unit's first, or -1.
        out_expected: Filled: expected call counted from the unit's first, or -1.
        out_status: Filled: the status.
        out_agreement: Filled: agreement in 1e-9 of exact and partial pairs, else -1.
    """
    actual, expected = call_pointers(a), call_pointers(e)
    longest = 0
    for u in range(units.shape[0]):
        longest = max(longest, units[u, 3])
    taken = np.empty(longest, np.bool_)
    for u in range(units.shape[0]):
        a_first, n, e_first, m = units[u, 0], units[u, 1], units[u, 2], units[u, 3]
        for j in range(m):
            taken[j] = False
        at = row[u]
        for k in range(n):
            j, state = partner[slot[u] + k], status[slot[u] + k]
            out_unit[at], out_actual[at], out_expected[at], out_status[at] = u, k, j, state
            out_agreement[at] = UNIT if state == EXACT else -1
            if state == PARTIAL:
                out_agreement[at] = agreement_of(actual, expected, a_first + k, e_first + j)
            if j >= 0:
                taken[j] = True
            at += 1
        for j in range(m):
            if not taken[j]:
                out_unit[at], out_actual[at], out_expected[at], out_status[at] = u, -1, j, MISSING
                out_agreement[at] = -1
                at += 1
