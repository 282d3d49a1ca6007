"""Order-dependent scores where parallel calls may be reordered: each the maximum over the orders within the groups.

`joined[i]` says that actual call i belongs to the group of its predecessor. Prefix and subsequence take linear time
per group member. The longest common subsequence is quadratic in the expected calls for every group of several calls:
this is for traces with parallel calls in them, not for lists of tens of thousands.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.jit import kernel, lean
from tracelens.kernels.sequence import B1, I32, I64


@lean
def group_stop(joined: B1, start: int) -> int:
    """Where the group that begins at `start` ends."""
    stop = start + 1
    while stop < joined.size and joined[stop]:
        stop += 1
    return stop


@lean
def any_joined(joined: B1, start: int, stop: int) -> bool:
    """Whether some call from `start` to `stop` belongs to the group of its predecessor among them."""
    for i in range(start + 1, stop):
        if joined[i]:
            return True
    return False


@lean
def _take(a: I32, start: int, stop: int, name: int, used: B1) -> int:
    """An unused call of that name in a group, now used; or -1."""
    for i in range(start, stop):
        if a[i] == name and name >= 0 and not used[i]:
            used[i] = True
            return i
    return -1


@lean
def _prefix(a: I32, joined: B1, e: I32, used: B1) -> int:
    """Length of the longest common prefix."""
    start, done = 0, 0
    while start < a.size:
        stop = group_stop(joined, start)
        while done < min(stop, e.size):
            if _take(a, start, stop, e[done], used) < 0:
                return done
            done += 1
        start = stop
    return done


@lean
def _in_order(a: I32, joined: B1, e: I32, used: B1) -> bool:
    """Whether e is a subsequence: each group takes as many of the next names as it can."""
    start, done = 0, 0
    while start < a.size:
        stop = group_stop(joined, start)
        while done < e.size and _take(a, start, stop, e[done], used) >= 0:
            done += 1
        start = stop
    return done == e.size


@lean
def _extend(a: I32, start: int, stop: int, e: I32, used: B1, best: I32, after: I32) -> None:
    """One group: `after[j]` is the longest common subsequence up to it and the first j names of e."""
    for j in range(best.size):
        after[j] = best[j]
    if stop - start == 1:
        for j in range(1, after.size):
            gained = best[j - 1] + (e[j - 1] == a[start] and a[start] >= 0)
            after[j] = max(after[j], after[j - 1], gained)
        return
    for first in range(e.size):
        used[start:stop] = False
        gained = 0
        for j in range(first, e.size):
            gained += _take(a, start, stop, e[j], used) >= 0
            after[j + 1] = max(after[j + 1], best[first] + gained)
            if gained == stop - start:
                break
    for j in range(1, after.size):
        after[j] = max(after[j], after[j - 1])


@kernel
def best_order(a: I32, joined: B1, e: I32) -> I64:
    """An order of the actual calls, within their groups, whose common subsequence with e is longest.

    Args:
        a: Name codes of the actual calls.
        joined: Whether a call belongs to the group of its predecessor.
        e: Name codes of the expected calls.

    Returns:
        Positions in `a`: in each group first the calls that match, as e has them, then the others as they were.
    """
    starts = np.empty(a.size + 1, np.int64)
    groups, start = 0, 0
    while start < a.size:
        starts[groups] = start
        groups += 1
        start = group_stop(joined, start)
    starts[groups] = a.size
    best = np.zeros((groups + 1, e.size + 1), np.int32)
    used = np.zeros(a.size, np.bool_)
    for g in range(groups):
        _extend(a, starts[g], starts[g + 1], e, used, best[g], best[g + 1])
    order = np.empty(a.size, np.int64)
    stop = e.size
    for g in range(groups - 1, -1, -1):
        start, end = starts[g], starts[g + 1]
        first = stop
        while _matches(a, start, end, e, first, stop, used) + best[g, first] < best[g + 1, stop]:
            first -= 1
        used[start:end] = False
        at = start
        for j in range(first, stop):
            taken = _take(a, start, end, e[j], used)
            if taken >= 0:
                order[at] = taken
                at += 1
        for i in range(start, end):
            if not used[i]:
                order[at] = i
                at += 1
        stop = first
    return order


@lean
def _matches(a: I32, start: int, end: int, e: I32, first: int, stop: int, used: B1) -> int:
    """Multiset overlap of a group with a stretch of e."""
    used[start:end] = False
    found = 0
    for j in range(first, stop):
        found += _take(a, start, end, e[j], used) >= 0
    return found


@kernel
def parallel_scores(units: I64, a_code: I32, joined: B1, e_code: I32, out: I64) -> None:
    """Overwrite the numbers of `sequence_scores` for units that have parallel calls.

    Args:
        units: First actual call, how many, first expected call, how many, int64 [units, 4].
        a_code: Name codes of all actual calls, int32.
        joined: Whether a call may be reordered with its predecessor, bool.
        e_code: Name codes of all expected calls.
        out: int64 [units, 3]: common prefix, whether e is a subsequence of a, longest common subsequence.
    """
    for u in range(units.shape[0]):
        start, stop = units[u, 0], units[u, 0] + units[u, 1]
        if not any_joined(joined, start, stop):
            continue
        a, behind = a_code[start:stop], joined[start:stop]
        e = e_code[units[u, 2] : units[u, 2] + units[u, 3]]
        used = np.zeros(a.size, np.bool_)
        out[u, 0] = _prefix(a, behind, e, used)
        used[:] = False
        out[u, 1] = _in_order(a, behind, e, used)
        best, after = np.zeros(e.size + 1, np.int32), np.zeros(e.size + 1, np.int32)
        first = 0
        while first < a.size:
            last = group_stop(behind, first)
            _extend(a, first, last, e, used, best, after)
            best, after = after, best
            first = last
        out[u, 2] = best[e.size]
