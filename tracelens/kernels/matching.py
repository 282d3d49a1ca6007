"""The three pairings of all units: short plain ones at once, the others with all that pairing can take."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.calls import I64, Calls
from tracelens.kernels.few import ROOM
from tracelens.kernels.optimal import DENSE, Room, Way
from tracelens.kernels.pairing import LINEAR, STATES, Pairings, pair_units
from tracelens.kernels.sequence import WORD
from tracelens.kernels.short import Looks, pair_short_units


def pair_all(
    units: I64, a: Calls, e: Calls, *, exact_first: bool, dense: int = DENSE, linear: int = LINEAR, short: bool = True
) -> Pairings:
    """Pair every unit three ways.

    Args:
        units: First actual call, how many, first expected call, how many, int64 [units, 4].
        a: All actual calls.
        e: All expected calls.
        exact_first: Whether an exact pair earns more than a name-only pair.
        dense: See `optimal.DENSE`.
        linear: See `pairing.LINEAR`.
        short: Whether `pair_short_units` may pair what it can.
    """
    n, counts = len(units), units[:, 1]
    slots = int(counts.sum())
    partner, status = np.empty((3, slots), np.int32), np.empty((3, slots), np.uint8)
    sums = np.empty((n, 3, STATES), np.int64), np.empty(n, np.int64), np.empty(n, np.bool_)
    out, todo = Pairings(np.cumsum(counts) - counts, partner, status, *sums), np.arange(n)
    if exact_first and short:
        name, equal = (np.empty(WORD, np.uint64) for _ in range(2))
        rows, columns = (np.empty(WORD, np.int64) for _ in range(2))
        looks = Looks(name, equal, rows, columns, np.empty(ROOM, np.int64))
        todo = todo[: pair_short_units(todo, units, a, e, dense, looks, out)]
    if todo.size:
        longest = counts.max(initial=0), units[:, 3].max(initial=0), units[:, 3].max(initial=0), ROOM
        room = Room(*(np.empty(size, np.int64) for size in longest))
        pair_units(todo, units, a, e, Way(exact_first, dense, linear), room, out)
    return out
