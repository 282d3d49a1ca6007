"""Digests of records, by which repeated ones are known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tracelens.kernels.records import hash_records

I64 = npt.NDArray[np.int64]


def digests_of(data: npt.NDArray[np.uint8], starts: I64, ends: I64) -> npt.NDArray[np.uint64]:
    """A digest of each record.

    Args:
        data: uint8, the bytes.
        starts: int64[n], where each begins.
        ends: int64[n], where each ends.

    Returns:
        uint64[n, 2].

    Example:
        >>> text = np.frombuffer(b"one one two" + bytes(32), np.uint8)
        >>> first, again, other = digests_of(text, np.array([0, 4, 8]), np.array([3, 7, 11])).tolist()
        >>> first == again, first == other
        (True, False)
    """
    digests = np.empty((starts.size, 2), np.uint64)
    hash_records(data, starts, ends, digests)
    return digests
