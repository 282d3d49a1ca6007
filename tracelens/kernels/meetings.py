"""How calls of two lists meet: by position, one after the other, by the first that fits; in time linear in the calls.

A unit is one trace held against one reference: first actual call, how many, first expected call, how many. Codes are
int32, shared by both sides and never negative: equal codes are equal things. Scratch arrays have a place for every
code and are left as they were found.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.words import inlined, lean, pointer

EXACT, IGNORE, SUBSET, SUPERSET = 0, 1, 2, 3
"""How arguments are held against each other (`dialects.view.Mode`)."""


@lean
def meet(units: np.ndarray, a: np.ndarray, e: np.ndarray, seen: np.ndarray, out: np.ndarray) -> None:
    """What the order of things says.

    Args:
        units: int64[units, 4].
        a: int32, codes of actual things.
        e: int32, codes of expected things.
        seen: int64[codes], zeros.
        out: int64[units, 5] out: length of the common prefix, positions that are equal, expected things found one
            after the other, actual things that are expected, expected things that are actual.
    """
    for u in range(units.shape[0]):
        i, n, j, m = units[u, 0], units[u, 1], units[u, 2], units[u, 3]
        prefix, same, followed, open_ = 0, 0, 0, True
        for k in range(min(n, m)):
            equal = a[i + k] == e[j + k]
            open_ &= equal
            prefix += open_
            same += equal
        for k in range(n):
            followed += followed < m and a[i + k] == e[j + followed]
        out[u, 0], out[u, 1], out[u, 2] = prefix, same, followed
        out[u, 3] = known(a, i, n, e, j, m, seen)
        out[u, 4] = known(e, j, m, a, i, n, seen)


@lean
def known(a: np.ndarray, i: int, n: int, e: np.ndarray, j: int, m: int, seen: np.ndarray) -> int:
    """How many of ``a[i:i + n]`` occur in ``e[j:j + m]``."""
    for k in range(m):
        seen[e[j + k]] = 1
    found = np.int64(0)
    for k in range(n):
        found += seen[a[i + k]]
    for k in range(m):
        seen[e[j + k]] = 0
    return found


@lean
def credit_best(
    units: np.ndarray,
    a_name: np.ndarray,
    a_call: np.ndarray,
    e_name: np.ndarray,
    e_call: np.ndarray,
    by_name: np.ndarray,
    by_call: np.ndarray,
    links: np.ndarray,
    out: np.ndarray,
) -> None:
    """Each actual call, in order, takes the first unused equal expected call, else the first unused of its name.

    Args:
        units: int64[units, 4].
        a_name: int32, names of actual calls.
        a_call: int32, names and arguments of actual calls.
        e_name: int32, names of expected calls.
        e_call: int32, names and arguments of expected calls.
        by_name: int64[names], filled with -1.
        by_call: int64[calls], filled with -1.
        links: int64[3, m], scratch for the longest list of expected calls.
        out: int64[units, 2] out: pairs of equal calls, pairs of equal names only.
    """
    next_name, next_call, used = pointer(links[0]), pointer(links[1]), pointer(links[2])
    for u in range(units.shape[0]):
        i, n, j, m = units[u, 0], units[u, 1], units[u, 2], units[u, 3]
        for k in range(m - 1, -1, -1):
            name, call = e_name[j + k], e_call[j + k]
            next_name[k], next_call[k], used[k] = by_name[name], by_call[call], 0
            by_name[name] = by_call[call] = k
        exact, named = 0, 0
        for k in range(n):
            name, call = a_name[i + k], a_call[i + k]
            at = first_unused(by_call, call, next_call, used)
            if at >= 0:
                exact += 1
            else:
                at = first_unused(by_name, name, next_name, used)
                named += at >= 0
            if at >= 0:
                used[at] = 1
        for k in range(m):
            by_name[e_name[j + k]] = by_call[e_call[j + k]] = -1
        out[u, 0], out[u, 1] = exact, named


@inlined
def first_unused(heads: np.ndarray, code: int, following: np.ndarray, used: np.ndarray) -> int:
    """The first unused place of a chain; places used before are cut off for good."""
    at = heads[code]
    while at >= 0 and used[at]:
        at = following[at]
    heads[code] = at
    return at


@inlined
def within(top: np.ndarray, first: int, count: int, other: int, others: int) -> bool:
    """Whether every member at ``first`` is among those at ``other``, with an equal value; both ascend by key."""
    q = 0
    for p in range(count):
        at = 3 * (first + p)
        while q < others and top[3 * (other + q)] < top[at]:
            q += 1
        to = 3 * (other + q)
        if q == others or top[to] != top[at] or top[to + 1] != top[at + 1] or top[to + 2] != top[at + 2]:
            return False
    return True


@inlined
def members_fit(
    mode: int, top: np.ndarray, top_first: np.ndarray, top_count: np.ndarray, made: int, wanted: int
) -> bool:
    """Whether arguments fit by `SUBSET` (all that are made are wanted) or `SUPERSET`."""
    if mode == SUBSET:
        return within(top, top_first[made], top_count[made], top_first[wanted], top_count[wanted])
    return within(top, top_first[wanted], top_count[wanted], top_first[made], top_count[made])


@lean
def fit_first(
    units: np.ndarray,
    seeker_name: np.ndarray,
    seeker_row: np.ndarray,
    other_name: np.ndarray,
    other_row: np.ndarray,
    mode: int,
    use_up: bool,
    top_first: np.ndarray,
    top_count: np.ndarray,
    top: np.ndarray,
    by_name: np.ndarray,
    links: np.ndarray,
    found: np.ndarray,
) -> None:
    """Each seeker takes the first other call of its name that fits.

    Args:
        units: int64[units, 4], seekers first.
        seeker_name: int32.
        seeker_row: int64, where each seeker's arguments stand.
        other_name: int32.
        other_row: int64.
        mode: `SUBSET`: all arguments of the seeker are the other's; `SUPERSET`: the other way round.
        use_up: Whether another call fits only once.
        top_first: int64[rows], members of arguments, see `digest.Found`.
        top_count: int64[rows].
        top: uint64.
        by_name: int64[names], filled with -1.
        links: int64[2, m], scratch for the longest list of others.
        found: bool out, by seeker of each unit, one unit after the other.
    """
    following, used = pointer(links[0]), pointer(links[1])
    members, firsts, counts = pointer(top), pointer(top_first), pointer(top_count)
    slot = 0
    for u in range(units.shape[0]):
        i, n, j, m = units[u, 0], units[u, 1], units[u, 2], units[u, 3]
        for k in range(m - 1, -1, -1):
            following[k], used[k] = by_name[other_name[j + k]], 0
            by_name[other_name[j + k]] = k
        for k in range(n):
            at = by_name[seeker_name[i + k]]
            while at >= 0:
                if not used[at] and members_fit(mode, members, firsts, counts, seeker_row[i + k], other_row[j + at]):
                    break
                at = following[at]
            if at >= 0 and use_up:
                used[at] = 1
            found[slot] = at >= 0
            slot += 1
        for k in range(m):
            by_name[other_name[j + k]] = -1


@lean
def compare_members(
    made: np.ndarray, wanted: np.ndarray, top_first: np.ndarray, top_count: np.ndarray, top: np.ndarray, out: np.ndarray
) -> None:
    """In ``out`` (int64[pairs, 2]) how many arguments are equal, and how many are there, on both sides of pairs of rows."""
    members = pointer(top)
    for k in range(made.size):
        p, q = top_first[made[k]], top_first[wanted[k]]
        p_end, q_end = p + top_count[made[k]], q + top_count[wanted[k]]
        equal, common = 0, 0
        while p < p_end and q < q_end:
            x, y = members[3 * p], members[3 * q]
            if x == y:
                equal += members[3 * p + 1] == members[3 * q + 1] and members[3 * p + 2] == members[3 * q + 2]
                common += 1
                p += 1
                q += 1
            elif x < y:
                p += 1
            else:
                q += 1
        out[k, 0], out[k, 1] = equal, common


@lean
def mark_first(first: np.ndarray, count: np.ndarray, code: np.ndarray, seen: np.ndarray, out: np.ndarray) -> None:
    """In ``out`` (bool, one unit after the other) whether no earlier thing of the unit has the code; seen: zeros."""
    slot = 0
    for u in range(first.size):
        for k in range(first[u], first[u] + count[u]):
            out[slot] = seen[code[k]] == 0
            seen[code[k]] = 1
            slot += 1
        for k in range(first[u], first[u] + count[u]):
            seen[code[k]] = 0


@lean
def take_last(
    first: np.ndarray, count: np.ndarray, name: np.ndarray, value: np.ndarray, by_name: np.ndarray, out: np.ndarray
) -> None:
    """In ``out`` (one unit after the other) the value of the last thing of the unit with the name of each."""
    slot = 0
    for u in range(first.size):
        for k in range(first[u], first[u] + count[u]):
            by_name[name[k]] = value[k]
        for k in range(first[u], first[u] + count[u]):
            out[slot] = by_name[name[k]]
            slot += 1


@lean
def find_named(
    first: np.ndarray, count: np.ndarray, name: np.ndarray, wanted: np.ndarray, last: bool, out: np.ndarray
) -> None:
    """In ``out`` (int64[units]) the first or last call of each unit with the wanted name, -1 for none."""
    for u in range(first.size):
        out[u] = -1
        for k in range(first[u], first[u] + count[u]):
            if name[k] == wanted[u]:
                out[u] = k
                if not last:
                    break
