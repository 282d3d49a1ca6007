"""Repeated trace ids across a whole run: equal records merge, others are rejected.

What is kept of a trace is 24 bytes, so that the memory of a run is set by its batches.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens import columns
from tracelens.kernels.digest import hash_rows
from tracelens.kernels.seen import look_up, rehash

U64 = npt.NDArray[np.uint64]


class Duplicates:
    """The trace ids met so far.

    Example:
        >>> seen = Duplicates()
        >>> ids = pa.array(["a", "b", "a", "a"], pa.large_string())
        >>> seen.outcome(ids, np.array([1, 1, 1, 2], np.uint64), np.ones(4, bool)).tolist()
        [0, 0, 1, 2]
    """

    def __init__(self) -> None:
        self._count = 0
        self._table = self._empty(1 << 12)

    @staticmethod
    def _empty(size: int) -> tuple[U64, U64, U64]:
        return np.zeros(size, np.uint64), np.zeros(size, np.uint64), np.zeros(size, np.uint64)

    def outcome(
        self, trace_ids: pa.Array | pa.ChunkedArray, content: U64, given: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.uint8]:
        """Enter the traces of the next batch.

        Args:
            trace_ids: Their ids.
            content: uint64[n], digest of each record.
            given: bool[n], whether the input gave the id; ids made from file and line are unique.

        Returns:
            uint8[n]: `kernels.seen.NEW`, `SAME` (an equal record came before) or `OTHER`.
        """
        n = len(trace_ids)
        while (self._count + n) * 3 > self._table[0].size * 2:
            larger = self._empty(self._table[0].size * 2)
            rehash(*self._table, *larger)
            self._table = larger
        packed = columns.texts(trace_ids)
        hi, lo = np.empty(n, np.uint64), np.empty(n, np.uint64)
        hash_rows(packed.data, packed.offsets, np.zeros(n, np.uint64), hi, lo)
        outcome = np.empty(n, np.uint8)
        self._count += look_up(*self._table, hi, lo, np.asarray(content, np.uint64), given, outcome)
        return outcome
