"""`pairing.pair_best_unused` for long lists of calls: name by name, equal calls found by sorting."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.calls import I32, I64, JOINED, Calls
from tracelens.kernels.jit import kernel
from tracelens.kernels.leftovers import copies_of, kinds
from tracelens.kernels.optimal import Unit, run_of_name, sort_by_name


@kernel
def look_up_best_unused(a: Calls, e: Calls, unit: Unit, partner: I32, base: int) -> None:
    """Each actual call in order takes the best unused expected call of its name; no links are looked at.

    Args:
        a: The actual calls.
        e: The expected calls.
        unit: The unit.
        partner: Filled from `base` on: for each actual call its expected call, counted from the unit's first, or -1.
        base: See `partner`.
    """
    n, m = unit.a_count, unit.e_count
    group, a_order, e_order = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(m, np.int64)
    for k in range(n):
        partner[base + k] = -1
        group[k] = group[k - 1] if k > 0 and a.flags[unit.a_first + k] & JOINED else k
    sort_by_name(a, unit.a_first, n, a_order)
    sort_by_name(e, unit.e_first, m, e_order)
    p, q = 0, 0
    while p < n and q < m:
        mine, theirs = a.code[a_order[p]], e.code[e_order[q]]
        if mine < 0 or mine < theirs:
            p += 1
        elif theirs < mine:
            q += 1
        else:
            p_stop, q_stop = run_of_name(a, a_order, p, n), run_of_name(e, e_order, q, m)
            _look_up_name(a, e, group, a_order[p:p_stop], e_order[q:q_stop], unit, partner, base - unit.a_first)
            p, q = p_stop, q_stop


@kernel
def _look_up_name(
    a: Calls, e: Calls, group: I64, rows: I64, columns: I64, unit: Unit, partner: I32, offset: int
) -> None:
    """One name of `look_up_best_unused`: the next unused copy of a kind, and the next unused call of all."""
    kind, count = kinds(a, e, rows, columns)
    first, copies = copies_of(kind[rows.size :], count)
    after = first[1:].copy()
    used = np.zeros(columns.size, np.bool_)
    spare, start = 0, 0
    while start < rows.size:
        stop = start
        while stop < rows.size and group[rows[stop] - unit.a_first] == group[rows[start] - unit.a_first]:
            mine = kind[stop]
            while first[mine] < after[mine] and used[copies[first[mine]]]:
                first[mine] += 1
            if first[mine] < after[mine]:
                found = copies[first[mine]]
                partner[offset + rows[stop]], used[found] = columns[found] - unit.e_first, True
            stop += 1
        for r in range(start, stop):
            while spare < used.size and used[spare]:
                spare += 1
            if partner[offset + rows[r]] < 0 and spare < used.size:
                partner[offset + rows[r]], used[spare] = columns[spare] - unit.e_first, True
        start = stop
