"""What the reference-based rungs share: units, calls as arrays, and the numbers the kernels find out about them.

A *unit* is one trace held against one of its references. All arrays here are of one batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tracelens.kernels.calls import CAPTURED, JOINED, MALFORMED_ENTRY, USABLE, Calls
from tracelens.kernels.matching import pair_all
from tracelens.kernels.multiset import SMALL, multiset_scores
from tracelens.kernels.parallel import parallel_scores
from tracelens.kernels.sequence import sequence_scores

B1 = npt.NDArray[np.bool_]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Units:
    """Which calls are held against which.

    Attributes:
        a_first: Row of the first actual call of each unit, int64 [units].
        a_count: How many.
        e_first: Row of the first expected call.
        e_count: How many.
    """

    a_first: I64
    a_count: I64
    e_first: I64
    e_count: I64

    def __len__(self) -> int:
        return len(self.a_first)

    @property
    def table(self) -> I64:
        """All four side by side, int64 [units, 4]."""
        return np.stack([self.a_first, self.a_count, self.e_first, self.e_count], axis=1)


@dataclass(frozen=True, slots=True)
class CallArrays:
    """One side's calls in canonical form, row by row.

    Attributes:
        code: Name code, shared by both sides, int32 [calls]; -1 for a call without a name.
        hi: Upper half of the digest of the canonical arguments, uint64 [calls].
        lo: Lower half.
        captured: False where arguments were not captured or truncated, bool [calls].
        usable: False where they are no JSON object (and no text), bool [calls].
        malformed: True where the entry is no call at all, bool [calls].
        top_first: First top-level argument of each call in ``top``, int64 [calls].
        top_count: How many it has, int64 [calls].
        top: Hash of each top-level argument's name, ascending within a call, and both halves of the digest of its
            canonical value, uint64 [3 * arguments]; calls of equal arguments may share theirs.
    """

    code: I32
    hi: U64
    lo: U64
    captured: B1
    usable: B1
    malformed: B1
    top_first: I64
    top_count: I64
    top: U64

    def __len__(self) -> int:
        return len(self.code)

    def for_kernels(self, related: Related | None = None, joined: B1 | None = None) -> Calls:
        """The calls as the kernels take them.

        Args:
            related: What matchers and tolerances decided, where these are the actual calls.
            joined: Whether a call may be reordered with the one before; ``None`` where order counts.
        """
        flags = (self.usable & self.captured) * np.uint8(USABLE) + self.captured * np.uint8(CAPTURED)
        flags += self.malformed * np.uint8(MALFORMED_ENTRY)
        if joined is not None:
            flags += joined * np.uint8(JOINED)
        names = np.where(self.malformed, np.int32(-1), self.code)
        links = _links(related, len(self))
        return Calls(names, flags, self.hi, self.lo, self.top_first, self.top_count, self.top, *links)


@dataclass(frozen=True, slots=True)
class Related:
    """Pairs of calls that matchers and tolerances decided, sorted by actual and then expected row, each once.

    Attributes:
        actual: Row of the actual call, int64.
        expected: Row of the expected call, int64.
        exact: Whether the arguments match, bool.
        agreement: How far they agree, in 1e-9, int64.
    """

    actual: I64
    expected: I64
    exact: B1
    agreement: I64


@dataclass(frozen=True, slots=True)
class Credit:
    """What a pair earns.

    Attributes:
        exact: An exact pair.
        name: A pair of equal names whose arguments differ.
    """

    exact: float = 1.0
    name: float = 0.5


@dataclass(frozen=True, slots=True)
class Names:
    """What names alone say about each unit.

    Attributes:
        n: Actual calls, int64 [units], as all others.
        m: Expected calls.
        prefix: Length of the common prefix.
        in_order: Whether the expected names are a subsequence, 0 or 1.
        common: Length of the longest common subsequence.
        distinct_a: Distinct actual names.
        distinct_e: Distinct expected names.
        distinct_both: Distinct names in both.
        overlap: Size of the multiset intersection.
    """

    n: I64
    m: I64
    prefix: I64
    in_order: I64
    common: I64
    distinct_a: I64
    distinct_e: I64
    distinct_both: I64
    overlap: I64


@dataclass(frozen=True, slots=True)
class Paired:
    """The three pairings of every unit.

    Attributes:
        units: int64 [units, 4].
        slot: First slot of each unit; a slot is one actual call of one unit, int64 [units].
        partner: Expected call counted from the unit's first, or -1, int32 [3, slots].
        status: Place in `STATUSES` of each actual call, uint8 [3, slots].
        counts: Rows by pairing and status, int64 [units, 3, 7].
        agreed: Agreement of the partial optimal pairs summed, in 1e-9, int64 [units].
        unknown: Whether arguments that matter were not captured, bool [units].
        sides: Actual and expected calls, for whoever needs agreements.
    """

    units: I64
    slot: I64
    partner: I32
    status: npt.NDArray[np.uint8]
    counts: I64
    agreed: I64
    unknown: B1
    sides: tuple[Calls, Calls]


def joined_calls(group: I64, turn: I64, known: B1) -> B1:
    """Which calls may be reordered with the one before: same trace, same known turn.

    Args:
        group: Trace of each call.
        turn: Its turn; any number where it is unknown.
        known: Whether the turn is known.

    Example:
        >>> joined_calls(np.array([0, 0, 0, 1]), np.array([1, 1, 2, 2]), np.ones(4, bool)).tolist()
        [False, True, False, False]
    """
    joined = np.zeros(len(group), np.bool_)
    joined[1:] = (group[1:] == group[:-1]) & (turn[1:] == turn[:-1]) & known[1:] & known[:-1]
    return joined


def compare_names(units: Units, a: CallArrays, e: CallArrays, joined: B1 | None = None) -> Names:
    """Find out all that names alone say.

    Args:
        units: The units.
        a: Actual calls.
        e: Expected calls.
        joined: Whether an actual call may be reordered with the one before, bool; ``None`` where order counts.

    Returns:
        Whole numbers, unit by unit.
    """
    table = units.table
    a_code = np.where(a.malformed, np.int32(-1), a.code)
    order = sequence_scores(table, a_code, e.code)
    if joined is not None and joined.any():
        parallel_scores(table, a_code, joined, e.code, order)
    content = multiset_scores(table, a_code, e.code, SMALL)
    return Names(units.a_count, units.e_count, *np.ascontiguousarray(order.T), *np.ascontiguousarray(content.T))


def pair_calls(
    units: Units,
    a: CallArrays,
    e: CallArrays,
    related: Related | None = None,
    joined: B1 | None = None,
    credit: Credit = Credit(),
) -> Paired:
    """Pair the calls of every unit three ways.

    Args:
        units: The units.
        a: Actual calls.
        e: Expected calls.
        related: What matchers and tolerances decided.
        joined: Whether an actual call may be reordered with the one before; ``None`` where order counts.
        credit: Decides whether exact pairs are worth more than others.

    Returns:
        Partners, statuses and counts.
    """
    table, sides = units.table, (a.for_kernels(related, joined), e.for_kernels())
    return Paired(table, *pair_all(table, *sides, exact_first=credit.exact > credit.name), sides)


def _links(related: Related | None, n: int) -> tuple[I64, I64, I64]:
    """Where each of n calls' links begin, how many it has, and all links (see `kernels.calls.Calls`)."""
    if related is None or not len(related.actual):
        return np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(0, np.int64)
    links = np.stack([related.expected, related.agreement, related.exact.astype(np.int64)], axis=1)
    bounds = np.searchsorted(related.actual, np.arange(n + 1))
    return bounds[:-1].copy(), np.diff(bounds), links.ravel()
