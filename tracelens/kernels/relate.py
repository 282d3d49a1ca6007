"""Which pairs of calls a matcher or a tolerance decides: equal names, and something on either side that needs a look."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.jit import kernel


@kernel
def related_pairs(
    a_first: np.ndarray,
    a_count: np.ndarray,
    e_first: np.ndarray,
    e_count: np.ndarray,
    a_code: np.ndarray,
    e_code: np.ndarray,
    a_related: np.ndarray,
    e_related: np.ndarray,
    a_row: np.ndarray,
    e_row: np.ndarray,
) -> int:
    """List the pairs of calls within units that a relation decides.

    Args:
        a_first: int64[units], first actual call of each unit.
        a_count: int64[units], number of actual calls.
        e_first: int64[units], first expected call.
        e_count: int64[units], number of expected calls.
        a_code: int32, name of each actual call; -1 equals nothing.
        e_code: int32, name of each expected call.
        a_related: bool, actual calls of tools with tolerances.
        e_related: bool, expected calls with matchers, or of tools with tolerances.
        a_row: int64 out, actual call of each pair; filled as far as there is room.
        e_row: int64 out, expected call of each pair.

    Returns:
        The number of pairs, which may exceed the room.
    """
    n = 0
    for u in range(a_first.size):
        for j in range(e_first[u], e_first[u] + e_count[u]):
            if e_code[j] < 0:
                continue
            for i in range(a_first[u], a_first[u] + a_count[u]):
                if a_code[i] == e_code[j] and (e_related[j] or a_related[i]):
                    if n < a_row.size:
                        a_row[n], e_row[n] = i, j
                    n += 1
    return n
