"""The three pairings of short plain units: no matchers, no parallel calls, at most a word of calls on either side.

Which expected calls have the name of an actual call, and which are equal to it, is a word of bits each, and the rules
of `pairing` and `optimal` are operations on words. Units that are not plain, or in which many calls of one name are
left to be assigned, are left to `pairing`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracelens.kernels.calls import (
    CAPTURED,
    I32,
    I64,
    JOINED,
    MALFORMED_ENTRY,
    U8,
    U64,
    UNIT,
    USABLE,
    Calls,
    agreement_of,
    call_pointers,
)
from tracelens.kernels.few import COLUMNS, ROWS, pair_few, pair_one
from tracelens.kernels.jit import lean
from tracelens.kernels.pairing import (
    BEST_UNUSED,
    EXACT,
    EXTRA,
    MALFORMED,
    MISSING,
    NAME_ONLY,
    OPTIMAL,
    PARTIAL,
    POSITIONAL,
    STATES,
    WRONG_NAME,
    Pairings,
)
from tracelens.kernels.sequence import WORD
from tracelens.kernels.words import inlined, pointer, trailing_zeros

ONE = np.uint64(1)


class Looks(NamedTuple):
    """Scratch space for one unit.

    Attributes:
        name: uint64[WORD], by actual call the expected calls of its name.
        equal: uint64[WORD], those of them that are equal.
        rows: int64[WORD], actual calls of one name.
        columns: int64[WORD], its expected calls.
        room: int64, `few.ROOM`.
    """

    name: U64
    equal: U64
    rows: I64
    columns: I64
    room: I64


@lean
def look(a: Calls, first: int, n: int, e: Calls, begin: int, m: int, looks: Looks) -> bool:
    """Compare all with all; false where some actual call has links or is parallel."""
    for k in range(n):
        i = first + k
        if a.link_count[i] or (k > 0 and a.flags[i] & JOINED):
            return False
        code, hi, lo, name, equal = a.code[i], a.hi[i], a.lo[i], np.uint64(0), np.uint64(0)
        for j in range(m):
            same = np.uint64(code == e.code[begin + j])
            alike = same & np.uint64(hi == e.hi[begin + j]) & np.uint64(lo == e.lo[begin + j])
            name |= same << np.uint64(j)
            equal |= (alike & np.uint64(e.flags[begin + j] & USABLE)) << np.uint64(j)
        looks.name[k] = name if code >= 0 else np.uint64(0)
        looks.equal[k] = equal if code >= 0 and a.flags[i] & USABLE else np.uint64(0)
    return True


@inlined
def single(bits: np.uint64) -> bool:
    """Whether at most one bit is set."""
    return bits & (bits - ONE) == 0


@lean
def listed(bits: np.uint64, first: int, out: I64) -> int:
    """Write the set bits, counted from ``first``, to ``out`` and return how many there are."""
    n = 0
    while bits:
        out[n] = first + trailing_zeros(bits)
        bits &= bits - ONE
        n += 1
    return n


@inlined
def state_of(flags: int, j: int, name: np.uint64, equal: np.uint64) -> int:
    """The status of an actual call whose partner is j (-1: none)."""
    bit = ONE << np.uint64(max(j, 0))
    state = EXACT if equal & bit else PARTIAL
    state = state if flags & CAPTURED else NAME_ONLY
    state = state if name & bit else WRONG_NAME
    state = state if j >= 0 else EXTRA
    return MALFORMED if flags & MALFORMED_ENTRY else state


@lean
def pair_in_turn(n: int, m: int, looks: Looks, partner: I32, base: int, slots: int) -> None:
    """The positional and the best-unused pairing."""
    free = ~np.uint64(0)
    for k in range(n):
        partner[base + POSITIONAL * slots + k] = k if k < m else -1
        liked = looks.equal[k] & free
        liked = liked or looks.name[k] & free
        free ^= liked & (~liked + ONE)
        partner[base + BEST_UNUSED * slots + k] = trailing_zeros(liked) if liked else -1


@lean
def pair_best(
    a: Calls, first: int, n: int, e: Calls, begin: int, looks: Looks, dense: int, partner: I32, base: int
) -> bool:
    """The optimal pairing, name by name; false where it takes more than trying a few."""
    left = np.uint64(0)
    for k in range(n):
        partner[base + k] = -1
        left |= np.uint64(looks.name[k] != 0) << np.uint64(k)
    while left:
        k = trailing_zeros(left)
        columns, rows = looks.name[k], np.uint64(0)
        for r in range(k, n):
            rows |= np.uint64(looks.name[r] == columns) << np.uint64(r)
        left &= ~rows
        if single(rows) and single(columns):
            partner[base + k] = trailing_zeros(columns)
        elif not pair_name(a, first, e, begin, rows, columns, looks, dense, partner, base):
            return False
    return True


@lean
def pair_name(
    a: Calls,
    first: int,
    e: Calls,
    begin: int,
    rows: np.uint64,
    columns: np.uint64,
    looks: Looks,
    dense: int,
    partner: I32,
    base: int,
) -> bool:
    """One name of `pair_best`: see `optimal`."""
    while rows and columns and (looks.equal[trailing_zeros(rows)] >> np.uint64(trailing_zeros(columns))) & ONE:
        partner[base + trailing_zeros(rows)] = trailing_zeros(columns)
        rows &= rows - ONE
        columns &= columns - ONE
    n, m = listed(rows, first, looks.rows), listed(columns, begin, looks.columns)
    if n > 1 and m > 1:
        if n * m > dense:
            return False
        rows, columns = pair_equals(rows, columns, looks, partner, base)
        n, m = listed(rows, first, looks.rows), listed(columns, begin, looks.columns)
    if n == 0 or m == 0:
        return True
    bonus, offset = min(n, m) * (UNIT + 1) + 1, base - first
    if n == 1 or m == 1:
        pair_one(a, e, looks.rows, 0, n, looks.columns, 0, m, bonus, begin, partner, offset)
    elif n <= ROWS and m <= COLUMNS:
        pair_few(a, e, looks.rows, 0, n, looks.columns, 0, m, bonus, begin, partner, offset, looks.room)
    else:
        return False
    return True


@lean
def pair_equals(
    rows: np.uint64, columns: np.uint64, looks: Looks, partner: I32, base: int
) -> tuple[np.uint64, np.uint64]:
    """Pair those that are equal and equally many on both sides, in order; returns what is left of both."""
    left = rows
    while left:
        there, here = looks.equal[trailing_zeros(left)] & columns, np.uint64(0)
        each = left
        while each:
            r = trailing_zeros(each)
            here |= np.uint64(there != 0 and looks.equal[r] & columns == there) << np.uint64(r)
            each &= each - ONE
        left &= left - ONE
        left &= ~here
        mine, theirs = here, there
        while mine and theirs:
            mine &= mine - ONE
            theirs &= theirs - ONE
        if mine or theirs or not there:
            continue
        rows &= ~here
        columns &= ~there
        while here:
            partner[base + trailing_zeros(here)] = trailing_zeros(there)
            here &= here - ONE
            there &= there - ONE
    return rows, columns


@lean
def label(
    a: Calls, first: int, n: int, m: int, looks: Looks, partner: I32, base: int, status: U8, counts: I64, at: int
) -> None:
    """Fill the status of every actual call of one pairing and count them; expected calls nobody took are missing."""
    paired = 0
    for k in range(n):
        j = np.int64(partner[base + k])
        state = state_of(np.int64(a.flags[first + k]), j, looks.name[k], looks.equal[k])
        status[base + k] = state
        counts[at + state] += 1
        paired += j >= 0
    counts[at + MISSING] = m - paired


@lean
def pair_short_units(todo: I64, units: I64, a: Calls, e: Calls, dense: int, looks: Looks, out: Pairings) -> int:
    """Pair the short plain units, an exact pair earning more than a name-only pair.

    Args:
        todo: int64[units], filled from its start by the units that were left.
        units: First actual call, how many, first expected call, how many, int64 [units, 4].
        a: All actual calls.
        e: All expected calls.
        dense: See `optimal.DENSE`.
        looks: Scratch space.
        out: Filled where the units have their places.

    Returns:
        How many units were left.
    """
    actual, expected, slots, left = call_pointers(a), call_pointers(e), out.partner.shape[1], 0
    partner, status, counts = pointer(out.partner), pointer(out.status), pointer(out.counts)
    seen = Looks(
        pointer(looks.name), pointer(looks.equal), pointer(looks.rows), pointer(looks.columns), pointer(looks.room)
    )
    for u in range(units.shape[0]):
        first, n, begin, m = units[u, 0], units[u, 1], units[u, 2], units[u, 3]
        base, optimal, at = out.slot[u], out.slot[u] + OPTIMAL * slots, 3 * STATES * u
        done = n <= WORD and m <= WORD and look(actual, first, n, expected, begin, m, seen)
        if not done or not pair_best(actual, first, n, expected, begin, seen, dense, partner, optimal):
            todo[left] = u
            left += 1
            continue
        pair_in_turn(n, m, seen, partner, base, slots)
        for k in range(3 * STATES):
            counts[at + k] = 0
        for p in range(3):
            label(actual, first, n, m, seen, partner, base + p * slots, status, counts, at + p * STATES)
        agreed, unknown = np.int64(0), False
        for k in range(n):
            unknown |= seen.name[k] != 0 and actual.flags[first + k] & CAPTURED == 0
            if status[optimal + k] == PARTIAL:
                agreed += agreement_of(actual, expected, first + k, begin + partner[optimal + k])
        out.agreed[u], out.unknown[u] = agreed, unknown
    return left
