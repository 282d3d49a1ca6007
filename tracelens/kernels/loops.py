"""Repetition inside traces: equal calls, runs of one call, two calls in turn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tracelens.kernels.jit import kernel

SHORTEST_SWING = 4
"""Calls that go back and forth at least: a b a b."""

# odd constants without structure: the parts may be small numbers that differ in few bits
_MIX_LOW = np.uint64(0x9E3779B97F4A7C15)
_MIX_HIGH = np.uint64(0xC2B2AE3D27D4EB4F)


@kernel
def first_equal(
    offsets: npt.NDArray[np.int64],
    name: npt.NDArray[np.int64],
    high: npt.NDArray[np.uint64],
    low: npt.NDArray[np.uint64],
    out: npt.NDArray[np.int64],
) -> None:
    """For each row the first row of its group that equals it.

    Args:
        offsets: int64[n + 1], rows of group g are ``offsets[g]`` to ``offsets[g + 1]``.
        name: int64, first part of what is compared; a negative one equals nothing.
        high: uint64, second part.
        low: uint64, third part.
        out: int64, overwritten: row number of the first equal row, the row itself where there is none before.
    """
    largest = np.int64(0)
    for group in range(offsets.size - 1):
        largest = max(largest, offsets[group + 1] - offsets[group])
    size = np.int64(2)
    while size < 2 * largest:
        size *= 2
    slots = np.full(size, -1, np.int64)
    for group in range(offsets.size - 1):
        mask = np.uint64(1)
        while mask < np.uint64(2) * np.uint64(offsets[group + 1] - offsets[group]):
            mask *= np.uint64(2)
        mask -= np.uint64(1)
        slots[: np.int64(mask) + 1] = -1
        for row in range(offsets[group], offsets[group + 1]):
            out[row] = row
            if name[row] < 0:
                continue
            mixed = (low[row] + np.uint64(name[row])) * _MIX_LOW ^ high[row] * _MIX_HIGH
            at = (mixed >> np.uint64(29)) & mask
            while slots[at] >= 0:
                seen = slots[at]
                if name[seen] == name[row] and high[seen] == high[row] and low[seen] == low[row]:
                    out[row] = seen
                    break
                at = (at + np.uint64(1)) & mask
            if out[row] == row:
                slots[at] = row


@kernel
def longest_runs(
    offsets: npt.NDArray[np.int64],
    same: npt.NDArray[np.int64],
    loop: npt.NDArray[np.int32],
    swing: npt.NDArray[np.int32],
) -> None:
    """The longest run of one call, and the longest run in which two different calls take turns, of each group.

    Args:
        offsets: int64[n + 1], see `first_equal`.
        same: int64, equal numbers for equal rows of a group.
        loop: int32[n], overwritten: length of the longest run of equal rows, 0 in an empty group.
        swing: int32[n], overwritten: length of the longest run a b a b …, 0 where it is shorter than `SHORTEST_SWING`.
    """
    for group in range(offsets.size - 1):
        start = offsets[group]
        best_loop, best_swing = 0, 0
        run, turns = 0, 0
        for row in range(start, offsets[group + 1]):
            equal = row > start and same[row] == same[row - 1]
            run = run + 1 if equal else 1
            if equal or row == start:
                turns = 1
            elif row - start >= 2 and same[row] == same[row - 2]:
                turns += 1
            else:
                turns = 2
            best_loop = max(best_loop, run)
            best_swing = max(best_swing, turns)
        loop[group] = best_loop
        swing[group] = best_swing if best_swing >= SHORTEST_SWING else 0


@kernel
def count_repeats(
    offsets: npt.NDArray[np.int64],
    same: npt.NDArray[np.int64],
    name: npt.NDArray[np.int64],
    outcome: npt.NDArray[np.int8],
    error: npt.NDArray[np.int64],
    repeats: npt.NDArray[np.int32],
    repeated_errors: npt.NDArray[np.int32],
    recovered: npt.NDArray[np.int32],
) -> None:
    """Repeats, repeated errors and recovered errors of each group.

    Args:
        offsets: int64[n + 1], see `first_equal`.
        same: int64, what `first_equal` gives for tool and arguments.
        name: int64, number of the tool, negative for none.
        outcome: int8, 0 succeeded, 1 failed, 2 did not run.
        error: int64, what `first_equal` gives for tool, arguments and error text.
        repeats: int32[n], overwritten: rows that equal an earlier one.
        repeated_errors: int32[n], overwritten: failed rows that equal an earlier failed one in error text too.
        recovered: int32[n], overwritten: failed rows of whose tool a later row succeeded.
    """
    tools = np.int64(0)
    for row in range(name.size):
        tools = max(tools, name[row] + 1)
    # last group (from 1) in which, read backwards, the tool succeeded
    succeeded = np.zeros(tools, np.int64)
    for group in range(offsets.size - 1):
        repeats[group] = repeated_errors[group] = recovered[group] = 0
        for row in range(offsets[group + 1] - 1, offsets[group] - 1, -1):
            repeats[group] += same[row] != row
            if outcome[row] == 1:
                repeated_errors[group] += error[row] != row
                recovered[group] += name[row] >= 0 and succeeded[name[row]] == group + 1
            elif outcome[row] == 0 and name[row] >= 0:
                succeeded[name[row]] = group + 1


@kernel
def sum_in_order(offsets: npt.NDArray[np.int64], value: npt.NDArray[np.float64], out: npt.NDArray[np.float64]) -> None:
    """The sum of each group's values, in row order, so that it depends on nothing but them.

    Args:
        offsets: int64[n + 1], see `first_equal`.
        value: float64, one per row.
        out: float64[n], overwritten.
    """
    for group in range(offsets.size - 1):
        total = 0.0
        for row in range(offsets[group], offsets[group + 1]):
            total += value[row]
        out[group] = total
