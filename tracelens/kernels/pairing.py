"""The three pairings of every unit, the status of every call under each, and how many there are of each status.

`joined[i]` says that actual call i may be reordered with its predecessor (parallel calls of one turn). Without such
calls a group is a single call, and the group rules below are the plain definitions.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tracelens.kernels.calls import (
    B1,
    I32,
    I64,
    U8,
    UNIT,
    CallColumns,
    Relations,
    Units,
    agreement_of,
    is_exact,
)
from tracelens.kernels.optimal import DENSE, copies_of, kinds, order_by_name, pair_optimal, run_of_name

POSITIONAL, BEST_UNUSED, OPTIMAL = 0, 1, 2
EXACT, PARTIAL, NAME_ONLY, WRONG_NAME, MISSING, EXTRA, MALFORMED = 0, 1, 2, 3, 4, 5, 6

LINEAR = 4096
"""From this many possible pairs on `best_unused` looks calls up instead of comparing everything."""


@njit(nogil=True, cache=True)
def group_end(joined: B1, first: int, count: int, start: int) -> int:
    """Where the group of call `start` ends; positions count from `first`."""
    stop = start + 1
    while stop < count and joined[first + stop]:
        stop += 1
    return stop


@njit(nogil=True, cache=True)
def pair_positional(
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
    joined: B1,
    a_first: int,
    a_count: int,
    e_first: int,
    e_count: int,
    exact_first: bool,
    dense: int,
    a_order: I64,
    e_order: I64,
    partner: I32,
) -> None:
    """The i-th against the i-th; a group optimally with the calls at its positions, and the rest of both in order."""
    start = 0
    while start < a_count:
        stop = group_end(joined, a_first, a_count, start)
        if stop - start == 1:
            partner[start] = start if start < e_count else -1
            start = stop
            continue
        window = max(min(stop, e_count) - start, 0)
        mine = partner[start:stop]
        pair_optimal(
            a, e, rel, a_first + start, stop - start, e_first + start, window, exact_first, dense, a_order, e_order, mine
        )
        taken = np.zeros(window, np.bool_)
        for j in mine:
            if j >= 0:
                taken[j] = True
        spare = 0
        for k in range(mine.size):
            if mine[k] < 0:
                while spare < window and taken[spare]:
                    spare += 1
                mine[k] = spare if spare < window else -1
                spare += 1
            if mine[k] >= 0:
                mine[k] += start
        start = stop


@njit(nogil=True, cache=True)
def pair_best_unused(
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
    joined: B1,
    a_first: int,
    a_count: int,
    e_first: int,
    e_count: int,
    used: B1,
    partner: I32,
) -> None:
    """Each actual call in order takes the best unused expected call of its name: exact before name only, then the first.

    In a group the exact ones go first. Compares everything with everything.
    """
    partner[:a_count] = -1
    used[:e_count] = False
    start = 0
    while start < a_count:
        stop = group_end(joined, a_first, a_count, start)
        for wants_exact in (True, False):
            for k in range(start, stop):
                i = a_first + k
                if partner[k] >= 0 or a.code[i] < 0:
                    continue
                for j in range(e_count):
                    if used[j] or e.code[e_first + j] != a.code[i]:
                        continue
                    if not wants_exact or is_exact(a, e, rel, i, e_first + j):
                        partner[k], used[j] = j, True
                        break
        start = stop


@njit(nogil=True, cache=True)
def look_up_best_unused(
    a: CallColumns,
    e: CallColumns,
    joined: B1,
    a_first: int,
    a_count: int,
    e_first: int,
    e_count: int,
    a_order: I64,
    e_order: I64,
    partner: I32,
) -> None:
    """The same for long lists without relations: name by name, equal calls found by sorting."""
    partner[:a_count] = -1
    group = np.empty(a_count, np.int64)
    for k in range(a_count):
        group[k] = group[k - 1] if k > 0 and joined[a_first + k] else k
    order_by_name(a.code, a_first, a_count, a_order)
    order_by_name(e.code, e_first, e_count, e_order)
    p, q = 0, 0
    while p < a_count and q < e_count:
        mine, theirs = a.code[a_order[p]], e.code[e_order[q]]
        if mine < 0 or mine < theirs:
            p += 1
        elif theirs < mine:
            q += 1
        else:
            p_stop = run_of_name(a.code, a_order, p, a_count)
            q_stop = run_of_name(e.code, e_order, q, e_count)
            _look_up_name(a, e, group, a_order[p:p_stop], e_order[q:q_stop], a_first, e_first, partner)
            p, q = p_stop, q_stop


@njit(nogil=True, cache=True)
def _look_up_name(
    a: CallColumns, e: CallColumns, group: I64, rows: I64, columns: I64, a_first: int, e_first: int, partner: I32
) -> None:
    """One name of `look_up_best_unused`: the next unused copy of a kind, and the next unused call of all."""
    kind, count = kinds(a, e, rows, columns)
    first, copies = copies_of(kind[rows.size :], count)
    after = first[1:].copy()
    used = np.zeros(columns.size, np.bool_)
    spare, start = 0, 0
    while start < rows.size:
        stop = start
        while stop < rows.size and group[rows[stop] - a_first] == group[rows[start] - a_first]:
            mine = kind[stop]
            while first[mine] < after[mine] and used[copies[first[mine]]]:
                first[mine] += 1
            if first[mine] < after[mine]:
                found = copies[first[mine]]
                partner[rows[stop] - a_first], used[found] = columns[found] - e_first, True
            stop += 1
        for r in range(start, stop):
            while spare < used.size and used[spare]:
                spare += 1
            if partner[rows[r] - a_first] < 0 and spare < used.size:
                partner[rows[r] - a_first], used[spare] = columns[spare] - e_first, True
        start = stop


@njit(nogil=True, cache=True)
def all_exact(
    a: CallColumns, e: CallColumns, rel: Relations, a_first: int, a_count: int, e_first: int, e_count: int
) -> bool:
    """Whether both lists are equal call by call, by value: then every pairing is the positional one."""
    if a_count != e_count or rel.first[a_first] != rel.first[a_first + a_count]:
        return False
    for k in range(a_count):
        i, j = a_first + k, e_first + k
        if a.code[i] < 0 or a.code[i] != e.code[j] or not is_exact(a, e, rel, i, j):
            return False
    return True


@njit(nogil=True, cache=True)
def status_of(a: CallColumns, e: CallColumns, rel: Relations, i: int, j: int) -> int:
    """Status of an actual call and its partner (-1: none)."""
    if a.malformed[i]:
        return MALFORMED
    if j < 0:
        return EXTRA
    if a.code[i] < 0 or a.code[i] != e.code[j]:
        return WRONG_NAME
    if not a.captured[i]:
        return NAME_ONLY
    return EXACT if is_exact(a, e, rel, i, j) else PARTIAL


@njit(nogil=True, cache=True)
def label(
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
    a_first: int,
    e_first: int,
    e_count: int,
    partner: I32,
    status: U8,
    counts: I64,
) -> None:
    """Fill the status of every actual call of a unit and count them; expected calls nobody took are missing."""
    paired = 0
    for k in range(partner.size):
        j = np.int64(partner[k])
        paired += j >= 0
        state = status_of(a, e, rel, a_first + k, e_first + j if j >= 0 else -1)
        status[k] = state
        counts[state] += 1
    counts[MISSING] = e_count - paired


@njit(nogil=True, cache=True)
def arguments_unknown(a: CallColumns, e: CallColumns, a_first: int, a_count: int, e_first: int, e_count: int) -> bool:
    """Whether an actual call whose name is expected has arguments nobody recorded."""
    last = np.int32(-1)  # the name just looked for in vain
    for i in range(a_first, a_first + a_count):
        if a.captured[i] or a.code[i] == last or a.code[i] < 0:
            continue
        last = a.code[i]
        for j in range(e_first, e_first + e_count):
            if e.code[j] == a.code[i]:
                return True
    return False


@njit(nogil=True, cache=True)
def pair_units(
    units: Units,
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
    joined: B1,
    exact_first: bool,
    slot: I64,
    partner: I32,
    status: U8,
    counts: I64,
    agreed: I64,
    unknown: B1,
    dense: int = DENSE,
    linear: int = LINEAR,
) -> None:
    """Pair every unit three ways.

    Args:
        units: The units.
        a: All actual calls.
        e: All expected calls.
        rel: What matchers and tolerances decided.
        joined: Whether an actual call may be reordered with its predecessor, bool [actual calls].
        exact_first: Whether an exact pair earns more than a name-only pair.
        slot: First slot of each unit in `partner` and `status`, one slot per actual call of a unit, int64 [units].
        partner: Filled: expected call counted from the unit's first, or -1, int32 [3, slots].
        status: Filled: status of each actual call, uint8 [3, slots].
        counts: Filled, zero before: rows by pairing and status, int64 [units, 3, 7].
        agreed: Filled: agreement of the partial optimal pairs summed, in 1e-9, int64 [units].
        unknown: Filled: whether arguments that matter were not recorded, bool [units].
        dense: See `pair_optimal`.
        linear: Number of possible pairs from which on `best_unused` looks calls up.
    """
    longest_a, longest_e = 1, 1
    for u in range(units.a_first.size):
        longest_a, longest_e = max(longest_a, units.a_count[u]), max(longest_e, units.e_count[u])
    a_order, e_order = np.empty(longest_a, np.int64), np.empty(longest_e, np.int64)
    used = np.empty(longest_e, np.bool_)
    for u in range(units.a_first.size):
        a_first, n, e_first, m = units.a_first[u], units.a_count[u], units.e_first[u], units.e_count[u]
        agreed[u], unknown[u] = 0, False
        start, stop = slot[u], slot[u] + n
        if all_exact(a, e, rel, a_first, n, e_first, m):
            for k in range(n):
                partner[:, start + k] = k
            status[:, start:stop] = EXACT
            counts[u, :, EXACT] = n
            continue
        unknown[u] = arguments_unknown(a, e, a_first, n, e_first, m)
        mine = partner[POSITIONAL, start:stop]
        pair_positional(a, e, rel, joined, a_first, n, e_first, m, exact_first, dense, a_order, e_order, mine)
        mine = partner[BEST_UNUSED, start:stop]
        if n * m < linear or rel.first[a_first] != rel.first[a_first + n]:
            pair_best_unused(a, e, rel, joined, a_first, n, e_first, m, used, mine)
        else:
            look_up_best_unused(a, e, joined, a_first, n, e_first, m, a_order, e_order, mine)
        mine = partner[OPTIMAL, start:stop]
        pair_optimal(a, e, rel, a_first, n, e_first, m, exact_first, dense, a_order, e_order, mine)
        for p in range(3):
            label(a, e, rel, a_first, e_first, m, partner[p, start:stop], status[p, start:stop], counts[u, p])
        for k in range(n):
            if status[OPTIMAL, start + k] == PARTIAL:
                agreed[u] += agreement_of(a, e, rel, a_first + k, e_first + mine[k])


@njit(nogil=True, cache=True)
def pair_rows(
    units: Units,
    a: CallColumns,
    e: CallColumns,
    rel: Relations,
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
        units: The units.
        a: All actual calls.
        e: All expected calls.
        rel: What matchers and tolerances decided.
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
    taken = np.zeros(max(1, units.e_count.max()) if units.e_count.size else 1, np.bool_)
    for u in range(units.a_first.size):
        a_first, e_first, m = units.a_first[u], units.e_first[u], units.e_count[u]
        taken[:m] = False
        at = row[u]
        for k in range(units.a_count[u]):
            j, state = partner[slot[u] + k], status[slot[u] + k]
            out_unit[at], out_actual[at], out_expected[at], out_status[at] = u, k, j, state
            out_agreement[at] = UNIT if state == EXACT else -1
            if state == PARTIAL:
                out_agreement[at] = agreement_of(a, e, rel, a_first + k, e_first + j)
            if j >= 0:
                taken[j] = True
            at += 1
        for j in range(m):
            if not taken[j]:
                out_unit[at], out_actual[at], out_expected[at], out_status[at] = u, -1, j, MISSING
                out_agreement[at] = -1
                at += 1
