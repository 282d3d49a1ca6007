"""Rows that stand group by group: where each group starts, and which of its rows each is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def offsets_of(counts: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """int64[n + 1] offsets from n counts.

    Example:
        >>> offsets_of(np.array([2, 0, 1]))
        array([0, 2, 2, 3])
    """
    out = np.zeros(counts.size + 1, np.int64)
    np.cumsum(counts, out=out[1:])
    return out


def group_offsets(groups: npt.NDArray[Any], n: int) -> npt.NDArray[np.int64]:
    """Where the rows of each group start, for rows ordered by group number.

    Args:
        groups: Group number of each row, ascending, each below ``n``.
        n: Number of groups.

    Returns:
        int64[n + 1]: rows ``out[g]`` to ``out[g + 1]`` belong to group g.

    Example:
        >>> group_offsets(np.array([0, 0, 2]), 3)
        array([0, 2, 2, 3])
    """
    return offsets_of(np.bincount(groups.astype(np.int64), minlength=n))


def positions_in(offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """The ordinal of each row within its group, from group offsets.

    Example:
        >>> positions_in(np.array([0, 2, 2, 3]))
        array([0, 1, 0], dtype=int32)
    """
    n = int(offsets[-1])
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    return (np.arange(n) - starts).astype(np.int32)


def rows_of_groups(counts: npt.NDArray[np.int64], chosen: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The rows of some groups one group after the other, for rows that stand group by group.

    Args:
        counts: How many rows each group has.
        chosen: int[k], groups in any order, some perhaps several times.

    Example:
        >>> rows_of_groups(np.array([2, 1, 3]), np.array([2, 0, 0])).tolist()
        [3, 4, 5, 0, 1, 0, 1]
    """
    begin, before = offsets_of(counts)[:-1][chosen], offsets_of(counts[chosen])
    return np.repeat(begin - before[:-1], np.diff(before)) + np.arange(before[-1])
