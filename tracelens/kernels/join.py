"""Which result belongs to which call, in conversations where ids come again."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.words import lean


@lean
def join_results(
    call_trace: np.ndarray,
    call_message: np.ndarray,
    call_key: np.ndarray,
    result_trace: np.ndarray,
    result_message: np.ndarray,
    result_key: np.ndarray,
    taken: np.ndarray,
) -> None:
    """Give every call its result.

    A result belongs to a call of the same trace with the same key in an earlier message: to the latest message that
    has one without a result, and there to the first. So an id that comes again later names the later call.

    Args:
        call_trace: int64[calls], ascending.
        call_message: int64[calls], ascending.
        call_key: int64[calls], code of the id.
        result_trace: int64[results], ascending.
        result_message: int64[results], ascending.
        result_key: int64[results].
        taken: int64[calls], -1 at first; filled with the result's row.
    """
    low, high = 0, 0
    for r in range(result_trace.size):
        while low < call_trace.size and call_trace[low] < result_trace[r]:
            low += 1
        high = max(high, low)
        while high < call_trace.size and call_trace[high] == result_trace[r] and call_message[high] < result_message[r]:
            high += 1
        found = -1
        for c in range(high - 1, low - 1, -1):
            if found >= 0 and call_message[c] != call_message[found]:
                break
            if call_key[c] == result_key[r] and taken[c] < 0:
                found = c
        if found >= 0:
            taken[found] = r
