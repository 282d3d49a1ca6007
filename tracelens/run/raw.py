"""Which pairs have the same arguments as JSON, before any rule."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tracelens.kernels.pairing import EXACT, PARTIAL
from tracelens.normalise.canonical import raw_digests
from tracelens.run.matching import Matched
from tracelens.rungs.calls import Pairs

I64 = npt.NDArray[np.int64]
B1 = npt.NDArray[np.bool_]


def raw_equality(matched: Matched, pairs: Pairs, actual_row: I64, expected_row: I64) -> tuple[B1, B1]:
    """Whether arguments are equal as JSON values.

    Nearly every pair is decided without a look at the values: equal texts are equal, and what differs under the rules
    differs before them.

    Args:
        matched: The batch.
        pairs: Pairs of calls.
        actual_row: int64, row of each pair's actual call.
        expected_row: int64, row of its expected call.

    Returns:
        bool twice: the answers, and which pairs were compared at all: those of equal names with known arguments on
        both sides.
    """
    actual, expected = matched.actual_forms.arguments, matched.expected_forms.arguments
    compared = (pairs.status == EXACT) | (pairs.status == PARTIAL)
    compared[compared] = ~matched.accepts_any[expected_row[compared]]
    same = np.zeros(compared.size, np.bool_)
    rows = np.flatnonzero(compared)
    a, e = actual.row[actual_row[rows]], expected.row[expected_row[rows]]
    same[rows] = a == e
    # A matcher or a tolerance may call values different that are not.
    unlike_rules = matched.related.actual.size > 0
    open_rows = np.flatnonzero((a != e) & ((pairs.status[rows] == EXACT) | unlike_rules))
    if open_rows.size:
        wanted = np.zeros(len(actual.distinct), np.bool_)
        a, e = a[open_rows], e[open_rows]
        wanted[a] = wanted[e] = True
        hi, lo = raw_digests(actual.distinct.data, actual.distinct.tape, matched.canonical, wanted)
        same[rows[open_rows]] = (hi[a] == hi[e]) & (lo[a] == lo[e])
    return same, compared
