"""The three pairings of every unit, the status of every call under each, and how many there are of each status.

The flag JOINED says that an actual call may be reordered with its predecessor (parallel calls of one turn). Without
such calls a group is a single call, and the group rules below are the plain definitions.
"""

from __future__ import annotations

import numpy as np
from numba import njit

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
    Links,
    Tops,
    agreement_of,
    is_exact,
)
from tracelens.kernels.jit import lean
from tracelens.kernels.leftovers import copies_of, kinds
from tracelens.kernels.optimal import order_by_name, pair_optimal, run_of_name

POSITIONAL, BEST_UNUSED, OPTIMAL = 0, 1, 2
EXACT, PARTIAL, NAME_ONLY, WRONG_NAME, MISSING, EXTRA, MALFORMED = 0, 1, 2, 3, 4, 5, 6

LINEAR = 4096
"""From this many possible pairs on `best_unused` looks calls up instead of comparing everything."""


@lean
def group_end(a: Calls, first: int, count: int, start: int) -> int:
    """Where the group of call `start` ends; positions count from `first`."""
    stop = start + 1
    while stop < count and a[first + stop].flags & JOINED:
        stop += 1
    return stop


@lean
def pair_positional(
    a: Calls,
    a_top: Tops,
    e: Calls,
    e_top: Tops,
    rel: Links,
    a_first: int,
    a_count: int,
    e_first: int,
    e_count: int,
    exact_first: bool,
    dense: int,
    a_order: I64,
    e_order: I64,
    used: B1,
    partner: I32,
) -> None:
    """The i-th against the i-th; a group optimally with the calls at its positions, and the rest of both in order."""
    start = 0
    while start < a_count:
        stop = group_end(a, a_first, a_count, start)
        if stop - start == 1:
            partner[start] = start if start < e_count else -1
            start = stop
            continue
        window = max(min(stop, e_count) - start, 0)
        mine = partner[start:stop]
        pair_optimal(
            a,
            a_top,
            e,
            e_top,
            rel,
            a_first + start,
            stop - start,
            e_first + start,
            window,
            exact_first,
            dense,
            a_order,
            e_order,
            mine,
        )
        used[:window] = False
        for k in range(mine.size):
            if mine[k] >= 0:
                used[mine[k]] = True
        spare = 0
        for k in range(mine.size):
            if mine[k] < 0:
                while spare < window and used[spare]:
                    spare += 1
                mine[k] = spare if spare < window else -1
                spare += 1
            if mine[k] >= 0:
                mine[k] += start
        start = stop


@lean
def pair_best_unused(
    a: Calls,
    e: Calls,
    rel: Links,
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
        stop = group_end(a, a_first, a_count, start)
        for wants_exact in (True, False):
            for k in range(start, stop):
                i = a_first + k
                if partner[k] >= 0 or a[i].code < 0:
                    continue
                for j in range(e_count):
                    if used[j] or e[e_first + j].code != a[i].code:
                        continue
                    if not wants_exact or is_exact(a, e, rel, i, e_first + j):
                        partner[k], used[j] = j, True
                        break
        start = stop


@njit(nogil=True, cache=True, _nrt=True)
def look_up_best_unused(
    a: Calls,
    e: Calls,
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
        group[k] = group[k - 1] if k > 0 and a[a_first + k].flags & JOINED else k
    order_by_name(a, a_first, a_count, a_order)
    order_by_name(e, e_first, e_count, e_order)
    p, q = 0, 0
    while p < a_count and q < e_count:
        mine, theirs = a[a_order[p]].code, e[e_order[q]].code
        if mine < 0 or mine < theirs:
            p += 1
        elif theirs < mine:
            q += 1
        else:
            p_stop = run_of_name(a, a_order, p, a_count)
            q_stop = run_of_name(e, e_order, q, e_count)
            _look_up_name(a, e, group, a_order[p:p_stop], e_order[q:q_stop], a_first, e_first, partner)
            p, q = p_stop, q_stop


@njit(nogil=True, cache=True, _nrt=True)
def _look_up_name(
    a: Calls, e: Calls, group: I64, rows: I64, columns: I64, a_first: int, e_first: int, partner: I32
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


@lean
def all_exact(a: Calls, e: Calls, rel: Links, a_first: int, a_count: int, e_first: int, e_count: int) -> bool:
    """Whether both lists are equal call by call, by value: then every pairing is the positional one."""
    if a_count != e_count:
        return False
    for k in range(a_count):
        i, j = a_first + k, e_first + k
        if a[i].code < 0 or a[i].code != e[j].code or a[i].link_count or not is_exact(a, e, rel, i, j):
            return False
    return True


@lean
def linked(a: Calls, a_first: int, a_count: int) -> bool:
    """Whether matchers or tolerances touch any of these calls."""
    for i in range(a_first, a_first + a_count):
        if a[i].link_count:
            return True
    return False


@lean
def status_of(a: Calls, e: Calls, rel: Links, i: int, j: int) -> int:
    """Status of an actual call and its partner (-1: none)."""
    if a[i].flags & MALFORMED_ENTRY:
        return MALFORMED
    if j < 0:
        return EXTRA
    if a[i].code < 0 or a[i].code != e[j].code:
        return WRONG_NAME
    if not a[i].flags & CAPTURED:
        return NAME_ONLY
    return EXACT if is_exact(a, e, rel, i, j) else PARTIAL


@lean
def label(
    a: Calls,
    e: Calls,
    rel: Links,
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


@lean
def arguments_unknown(a: Calls, e: Calls, unit: I64) -> bool:
    """Whether an actual call whose name is expected has arguments nobody recorded."""
    a_first, a_count, e_first, e_count = unit[0], unit[1], unit[2], unit[3]
    last = np.int32(-1)  # the name just looked for in vain
    for i in range(a_first, a_first + a_count):
        if a[i].flags & CAPTURED or a[i].code == last or a[i].code < 0:
            continue
        last = a[i].code
        for j in range(e_first, e_first + e_count):
            if e[j].code == a[i].code:
                return True
    return False


@lean
def _pair_unit(
    a: Calls,
    a_top: Tops,
    e: Calls,
    e_top: Tops,
    rel: Links,
    unit: I64,
    exact_first: bool,
    dense: int,
    linear: int,
    a_order: I64,
    e_order: I64,
    used: B1,
    partner: I32,
    status: U8,
    counts: I64,
) -> int:
    """One unit of `pair_units`; returns the agreement of its partial optimal pairs summed."""
    a_first, n, e_first, m = unit[0], unit[1], unit[2], unit[3]
    if all_exact(a, e, rel, a_first, n, e_first, m):
        for p in range(3):
            counts[p, EXACT] = n
            for k in range(n):
                partner[p, k], status[p, k] = k, EXACT
        return 0
    positional, best, optimal = partner[POSITIONAL], partner[BEST_UNUSED], partner[OPTIMAL]
    pair_positional(
        a, a_top, e, e_top, rel, a_first, n, e_first, m, exact_first, dense, a_order, e_order, used, positional
    )
    if n * m < linear or linked(a, a_first, n):
        pair_best_unused(a, e, rel, a_first, n, e_first, m, used, best)
    else:
        look_up_best_unused(a, e, a_first, n, e_first, m, a_order, e_order, best)
    pair_optimal(a, a_top, e, e_top, rel, a_first, n, e_first, m, exact_first, dense, a_order, e_order, optimal)
    for p in range(3):
        label(a, e, rel, a_first, e_first, m, partner[p], status[p], counts[p])
    agreed = 0
    for k in range(n):
        if status[OPTIMAL, k] == PARTIAL:
            agreed += agreement_of(a, a_top, e, e_top, rel, a_first + k, e_first + optimal[k])
    return agreed


@njit(nogil=True, cache=True, _nrt=True)
def pair_units(
    units: I64,
    a: Calls,
    a_top: Tops,
    e: Calls,
    e_top: Tops,
    rel: Links,
    exact_first: bool,
    slot: I64,
    partner: I32,
    status: U8,
    counts: I64,
    agreed: I64,
    unknown: B1,
    dense: int,
    linear: int,
) -> None:
    """Pair every unit three ways.

    Args:
        units: First actual call, how many, first expected call, how many, int64 [units, 4].
        a: All actual calls, records of `CALL`.
        a_top: Their top-level arguments, records of `TOP`.
        e: All expected calls.
        e_top: Their top-level arguments.
        rel: What matchers and tolerances decided, records of `LINK`.
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
    longest_a, longest_e = units[:, 1].max() if len(units) else 0, units[:, 3].max() if len(units) else 0
    a_order, e_order = np.empty(longest_a, np.int64), np.empty(longest_e, np.int64)
    used = np.empty(longest_e, np.bool_)
    for u in range(units.shape[0]):
        start, stop = slot[u], slot[u] + units[u, 1]
        agreed[u] = _pair_unit(
            a,
            a_top,
            e,
            e_top,
            rel,
            units[u],
            exact_first,
            dense,
            linear,
            a_order,
            e_order,
            used,
            partner[:, start:stop],
            status[:, start:stop],
            counts[u],
        )
        unknown[u] = counts[u, 0, EXACT] < units[u, 1] and arguments_unknown(a, e, units[u])


@njit(nogil=True, cache=True, _nrt=True)
def pair_rows(
    units: I64,
    a: Calls,
    a_top: Tops,
    e: Calls,
    e_top: Tops,
    rel: Links,
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
        a: All actual calls, records of `CALL`.
        a_top: Their top-level arguments, records of `TOP`.
        e: All expected calls.
        e_top: Their top-level arguments.
        rel: What matchers and tolerances decided, records of `LINK`.
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
    taken = np.zeros(units[:, 3].max() if units.shape[0] else 0, np.bool_)
    for u in range(units.shape[0]):
        a_first, n, e_first, m = units[u, 0], units[u, 1], units[u, 2], units[u, 3]
        taken[:m] = False
        at = row[u]
        for k in range(n):
            j, state = partner[slot[u] + k], status[slot[u] + k]
            out_unit[at], out_actual[at], out_expected[at], out_status[at] = u, k, j, state
            out_agreement[at] = UNIT if state == EXACT else -1
            if state == PARTIAL:
                out_agreement[at] = agreement_of(a, a_top, e, e_top, rel, a_first + k, e_first + j)
            if j >= 0:
                taken[j] = True
            at += 1
        for j in range(m):
            if not taken[j]:
                out_unit[at], out_actual[at], out_expected[at], out_status[at] = u, -1, j, MISSING
                out_agreement[at] = -1
                at += 1
