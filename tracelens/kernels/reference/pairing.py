"""Which actual call is held against which expected one, in plain Python: the definitions, and the oracle of the kernels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tracelens.kernels.reference.assignment import best_assignment
from tracelens.kernels.reference.trajectory import parallel_groups

UNIT = 1_000_000_000
"""Agreement is counted in integers of 1e-9, so that sums compare exactly."""

PAIRINGS = ("positional", "best_unused", "optimal")
STATUSES = ("exact", "partial", "name_only", "wrong_name", "missing", "extra", "malformed")


@dataclass(frozen=True)
class Call:
    """One call as pairing sees it.

    Attributes:
        name: Canonical tool name; ``None`` or ``""`` equals nothing.
        arguments: Canonical arguments; two calls have equal arguments where these are equal.
        top: Canonical value by top-level argument.
        malformed: The entry was no call at all.
        captured: False where the source did not record the arguments, or cut them off.
        usable: False where the arguments were recorded but are no JSON object.
        turn: Calls next to each other with one turn were requested in parallel.
    """

    name: str | None
    arguments: Hashable = ()
    top: Mapping[str, Hashable] = field(default_factory=dict)
    malformed: bool = False
    captured: bool = True
    usable: bool = True
    turn: int | None = None


class Pair(NamedTuple):
    """A row of a pairing: indices into both lists (``None``: nobody), the status, and the agreement in 1e-9."""

    actual: int | None
    expected: int | None
    status: str
    agreement: int | None = None


@dataclass(frozen=True)
class Match:
    """Two lists of calls with the relations between their arguments.

    Attributes:
        actual: The calls made.
        expected: The calls of the reference.
        exact: Whether the arguments of actual call i satisfy those of expected call j.
        agreement: How far they agree, in integers of 1e-9.
        parallel: Whether calls of one turn may be reordered.
    """

    actual: Sequence[Call]
    expected: Sequence[Call]
    exact: Callable[[int, int], bool]
    agreement: Callable[[int, int], int]
    parallel: bool = False

    @classmethod
    def by_value(cls, actual: Sequence[Call], expected: Sequence[Call], *, parallel: bool = False) -> Match:
        """Arguments compared by canonical value: the usual case, without matchers and tolerances."""
        return cls(
            actual,
            expected,
            lambda i, j: actual[i].arguments == expected[j].arguments,
            lambda i, j: agreement(actual[i].top, expected[j].top),
            parallel,
        )

    def same_name(self, i: int, j: int) -> bool:
        """Whether both calls have one name."""
        name = self.actual[i].name
        return bool(name) and not self.actual[i].malformed and name == self.expected[j].name

    def is_exact(self, i: int, j: int) -> bool:
        """Whether name and arguments are equal; never where the arguments are not known or not usable."""
        a = self.actual[i]
        return self.same_name(i, j) and a.captured and a.usable and self.exact(i, j)

    def agree(self, i: int, j: int) -> int:
        """Agreement of two calls of one name: all of it where exact, none where it cannot be known."""
        a = self.actual[i]
        if self.is_exact(i, j):
            return UNIT
        return self.agreement(i, j) if a.captured and a.usable else 0

    def groups(self) -> list[range]:
        """Positions of actual calls whose order means nothing."""
        turns = [a.turn for a in self.actual] if self.parallel else None
        return parallel_groups(turns, len(self.actual))


def agreement(actual: Mapping[str, Hashable], expected: Mapping[str, Hashable]) -> int:
    """Top-level arguments with equal canonical value over the union of top-level names.

    Args:
        actual: Canonical value by argument name.
        expected: The same of the other call.

    Returns:
        The share in integers of 1e-9, rounded half up; 0 where neither call has arguments.

    Example:
        >>> agreement({"from": "sfo", "to": "jfk", "day": 3}, {"from": "sfo", "to": "jfk", "day": 2})
        666666667
    """
    union = len(actual.keys() | expected.keys())
    if not union:
        return 0
    equal = sum(1 for key in actual.keys() & expected.keys() if actual[key] == expected[key])
    return (2 * UNIT * equal + union) // (2 * union)


Partners = list[int | None]


def positional(match: Match) -> Partners:
    """The i-th call against the i-th.

    A parallel group is paired optimally with the expected calls at its positions; what is left of both is paired in order.
    """
    partners: Partners = []
    for group in match.groups():
        window = range(group.start, min(group.stop, len(match.expected)))
        if len(group) > 1:
            chosen = pair_best(match, group, window)
            free = iter([j for j in window if j not in set(chosen.values())])
            partners += [chosen[i] if i in chosen else next(free, None) for i in group]
        else:
            partners += [i if i in window else None for i in group]
    return partners


def best_unused(match: Match) -> Partners:
    """For each actual call in order the best unused expected call of its name.

    Exact before name only, ties to the lowest expected index, never revised. In a parallel group exact ones go
    first: that order earns most, and leaves the same expected calls to later groups.
    """
    partners: Partners = [None] * len(match.actual)
    free = list(range(len(match.expected)))
    for group in match.groups():
        for fits in (match.is_exact, match.same_name):
            for i in group:
                found = next((j for j in free if fits(i, j)), None)
                if partners[i] is None and found is not None:
                    partners[i] = found
                    free.remove(found)
    return partners


def optimal(match: Match, credit: tuple[float, float] = (1.0, 0.5)) -> Partners:
    """The pairing with the greatest total credit, then the greatest total agreement.

    Calls whose arguments were captured come before those about which nothing is known, so that no order of the lists
    changes a count. Among equals the lexicographically smallest list of partners by actual index, unpaired last.

    Args:
        match: Both lists.
        credit: What an exact pair and a name-only pair earn.

    Returns:
        For each actual call the index of its expected call, or ``None``.
    """
    chosen = pair_best(match, range(len(match.actual)), range(len(match.expected)), credit)
    return [chosen.get(i) for i in range(len(match.actual))]


def pair_best(
    match: Match, rows: Sequence[int], columns: Sequence[int], credit: tuple[float, float] = (1.0, 0.5)
) -> dict[int, int]:
    """The optimal pairing of some actual calls with some expected ones, name by name."""
    exact, name_only = (round(value * UNIT) for value in credit)
    chosen: dict[int, int] = {}
    for name in {match.expected[j].name for j in columns}:
        theirs = [j for j in columns if match.expected[j].name == name]
        mine = [i for i in rows if match.same_name(i, theirs[0])]
        worth = [[_worth(match, i, j, exact, name_only) for j in theirs] for i in mine]
        for row, column in enumerate(best_assignment(worth)):
            if column is not None:
                chosen[mine[row]] = theirs[column]
    return chosen


def _worth(match: Match, i: int, j: int, exact: int, name_only: int) -> tuple[int, int, int]:
    """What a pair of equal names is worth: credit, then agreement, then whether its arguments are known at all."""
    return exact if match.is_exact(i, j) else name_only, match.agree(i, j), int(match.actual[i].captured)


def status(match: Match, i: int, j: int | None) -> str:
    """The status of an actual call and its partner."""
    call = match.actual[i]
    if call.malformed:
        return "malformed"
    if j is None:
        return "extra"
    if not match.same_name(i, j):
        return "wrong_name"
    if not call.captured:
        return "name_only"
    return "exact" if match.is_exact(i, j) else "partial"


def pairs(match: Match, pairing: str = "optimal", credit: tuple[float, float] = (1.0, 0.5)) -> list[Pair]:
    """All rows of one pairing: the actual calls in order, then the expected calls nobody made.

    Args:
        match: Both lists.
        pairing: One of ``PAIRINGS``.
        credit: What an exact pair and a name-only pair earn.

    Returns:
        One row per pair and per call left over; agreement is given for exact and partial pairs.
    """
    if pairing == "optimal":
        partners = optimal(match, credit)
    else:
        partners = {"positional": positional, "best_unused": best_unused}[pairing](match)
    rows = []
    for i, j in enumerate(partners):
        state = status(match, i, j)
        agreed = match.agree(i, j) if j is not None and state in {"exact", "partial"} else None
        rows.append(Pair(i, j, state, agreed))
    missing = [j for j in range(len(match.expected)) if j not in set(partners)]
    return rows + [Pair(None, j, "missing") for j in missing]
