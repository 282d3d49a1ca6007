"""Every score for one pair of lists, in plain Python: for a look at one trace, a notebook, a unit test.

Both lists hold calls, `{"name": ..., "arguments": {...}}`, or bare tool names. What the engine computes for millions of
traces equals what these functions return. Three rules hold for all of them:

- A call without a usable name counts, and equals nothing.
- Nothing expected and nothing called is a perfect trace.
- With `parallel=True` neighbours with one `turn` may be reordered, and a score is its maximum over these orders.

Example:
    The trace searched twice for the wrong day and booked a seat nobody asked for:

    >>> search = {"name": "search_flights", "arguments": {"origin": "SFO", "destination": "JFK", "date": "2026-11-03"}}
    >>> actual = [search, search, {"name": "book_flight", "arguments": {"flight_id": "UA-512", "seat": "12A"}}]
    >>> expected = [
    ...     {"name": "search_flights", "arguments": {"origin": "SFO", "destination": "JFK", "date": "2026-11-02"}},
    ...     {"name": "book_flight", "arguments": {"flight_id": "UA-512"}},
    ... ]
    >>> round(accuracy_optimal(actual, expected), 2), f1(actual, expected), first_divergence(actual, expected)
    (0.33, 0.8, 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tracelens.errors import UsageError, did_you_mean, shown_type
from tracelens.kernels.reference import scores as _scores
from tracelens.kernels.reference import trajectory as _names
from tracelens.kernels.reference.call_lists import read_match
from tracelens.kernels.reference.pairing import PAIRINGS, UNIT, Match
from tracelens.kernels.reference.pairing import pairs as _pairs

Entries = Iterable[Mapping[str, Any] | str | None]
"""Calls or names, in order."""


def strict(actual: Entries, expected: Entries, *, parallel: bool = False) -> float:
    """Length of the common prefix of both lists of names, over the longer length.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.
        parallel: Whether calls of one turn may be reordered.

    Returns:
        From 0 to 1.

    Example:
        >>> round(strict(["search", "search", "book"], ["search", "book"]), 2)
        0.33
    """
    return _names.strict(*_both(actual, expected, parallel))


def unordered(actual: Entries, expected: Entries) -> float:
    """Distinct names in both lists over distinct names in either.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.

    Returns:
        From 0 to 1.

    Example:
        >>> unordered(["search", "search", "book"], ["search", "book"])
        1.0
    """
    return _names.unordered(*_both(actual, expected)[:2])


def subset(actual: Entries, expected: Entries) -> float:
    """1 if every expected step happened, else 0: the set of expected names is within that of the calls.

    Other libraries give this name to the opposite direction; it is also shown as `covers_expected`.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.

    Returns:
        1.0 or 0.0.

    Example:
        >>> subset(["search", "search", "book"], ["search", "book"])
        1.0
    """
    return _names.subset(*_both(actual, expected)[:2])


def superset(actual: Entries, expected: Entries) -> float:
    """1 if every step taken was expected, else 0: the set of called names is within that of the reference.

    Other libraries give this name to the opposite direction; it is also shown as `only_expected`.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.

    Returns:
        1.0 or 0.0.

    Example:
        >>> superset(["search", "search", "book"], ["search", "book"])
        1.0
    """
    return _names.superset(*_both(actual, expected)[:2])


def subset_partial(actual: Entries, expected: Entries) -> float:
    """The share of the distinct expected names that were called; 1 where nothing is expected.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.

    Returns:
        From 0 to 1.

    Example:
        >>> subset_partial(["search"], ["search", "book"])
        0.5
    """
    return _names.subset_partial(*_both(actual, expected)[:2])


def superset_partial(actual: Entries, expected: Entries) -> float:
    """The share of the distinct called names that were expected; 1 where nothing was called.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.

    Returns:
        From 0 to 1.

    Example:
        >>> superset_partial(["search", "rent"], ["search", "book"])
        0.5
    """
    return _names.superset_partial(*_both(actual, expected)[:2])


def exact_order(actual: Entries, expected: Entries, *, parallel: bool = False) -> float:
    """1 if both lists of names are equal, else 0.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.
        parallel: Whether calls of one turn may be reordered.

    Returns:
        1.0 or 0.0.

    Example:
        >>> exact_order(["search", "search", "book"], ["search", "book"])
        0.0
    """
    return _names.exact_order(*_both(actual, expected, parallel))


def in_order(actual: Entries, expected: Entries, *, parallel: bool = False) -> float:
    """1 if the expected names are a subsequence of the called ones, else 0.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.
        parallel: Whether calls of one turn may be reordered.

    Returns:
        1.0 or 0.0.

    Example:
        >>> in_order(["search", "search", "book"], ["search", "book"])
        1.0
    """
    return _names.in_order(*_both(actual, expected, parallel))


def any_order(actual: Entries, expected: Entries) -> float:
    """1 if the expected names are a sub-multiset of the called ones, else 0.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.

    Returns:
        1.0 or 0.0.

    Example:
        >>> any_order(["search", "search", "book"], ["search", "book"])
        1.0
    """
    return _names.any_order(*_both(actual, expected)[:2])


def precision(actual: Entries, expected: Entries) -> float:
    """Multiset overlap of names over the number of calls; 1 where there is none.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.

    Returns:
        From 0 to 1.

    Example:
        >>> round(precision(["search", "search", "book"], ["search", "book"]), 2)
        0.67
    """
    return _names.precision(*_both(actual, expected)[:2])


def recall(actual: Entries, expected: Entries) -> float:
    """Multiset overlap of names over the number of expected calls; 1 where there is none.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.

    Returns:
        From 0 to 1.

    Example:
        >>> recall(["search", "search", "book"], ["search", "book"])
        1.0
    """
    return _names.recall(*_both(actual, expected)[:2])


def f1(actual: Entries, expected: Entries) -> float:
    """Twice the multiset overlap of names over the sum of both lengths; 1 where both are empty.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.

    Returns:
        From 0 to 1.

    Example:
        >>> f1(["search", "search", "book"], ["search", "book"])
        0.8
    """
    return _names.f1(*_both(actual, expected)[:2])


def lcs(actual: Entries, expected: Entries, *, parallel: bool = False) -> float:
    """Longest common subsequence of names over the longer length.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.
        parallel: Whether calls of one turn may be reordered.

    Returns:
        From 0 to 1.

    Example:
        >>> round(lcs(["search", "search", "book"], ["search", "book"]), 2)
        0.67
    """
    return _names.lcs(*_both(actual, expected, parallel))


def first_divergence(actual: Entries, expected: Entries, *, parallel: bool = False) -> int | None:
    """Index of the first position where the names differ.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.
        parallel: Whether calls of one turn may be reordered.

    Returns:
        The index from 0, the shorter length where one list is a prefix of the other, ``None`` where they are equal.

    Example:
        >>> first_divergence(["search", "search", "book"], ["search", "book"])
        1
    """
    return _names.first_divergence(*_both(actual, expected, parallel))


def golden_score(actual: Entries, expected: Entries, *, parallel: bool = False) -> float:
    """How much of a golden trace was followed: longest common subsequence over the number of golden steps.

    Leave final steps, which only give the answer, out of both lists.

    Args:
        actual: Calls made, or their names.
        expected: Calls of the reference, or their names.
        parallel: Whether calls of one turn may be reordered.

    Returns:
        From 0 to 100; without golden steps 100 if nothing was called, else 0.

    Example:
        >>> golden_score(["search", "search", "book"], ["search", "book"])
        100.0
    """
    return _names.golden_score(*_both(actual, expected, parallel))


def accuracy_positional(
    actual: Entries, expected: Entries, *, parallel: bool = False, exact: float = 1.0, name: float = 0.5
) -> float | None:
    """Tool-call accuracy, the i-th call held against the i-th expected one.

    Args:
        actual: Calls made.
        expected: Calls of the reference; one without arguments accepts any.
        parallel: Whether calls of one turn may be reordered.
        exact: Credit of a pair with equal name and arguments.
        name: Credit of a pair with equal name whose arguments differ.

    Returns:
        The credit over the longer length, from 0 to 1; 1 where both lists are empty, ``None`` where a call whose name
        is expected has arguments nobody recorded.

    Example:
        >>> search = {"name": "search", "arguments": {"from": "SFO", "to": "JFK", "date": "2026-11-03"}}
        >>> actual = [search, search, {"name": "book", "arguments": {"id": "UA-512", "seat": "12A"}}]
        >>> wanted = {"name": "search", "arguments": {"from": "SFO", "to": "JFK", "date": "2026-11-02"}}
        >>> round(accuracy_positional(actual, [wanted, {"name": "book", "arguments": {"id": "UA-512"}}]), 2)
        0.17
    """
    match = _match(actual, expected, parallel, exact, name)
    return _scores.accuracy(match, "positional", (exact, name))


def accuracy_best_unused(
    actual: Entries, expected: Entries, *, parallel: bool = False, exact: float = 1.0, name: float = 0.5
) -> float | None:
    """Tool-call accuracy, each call in order taking its best unused expected call.

    Args:
        actual: Calls made.
        expected: Calls of the reference; one without arguments accepts any.
        parallel: Whether calls of one turn may be reordered.
        exact: Credit of a pair with equal name and arguments.
        name: Credit of a pair with equal name whose arguments differ.

    Returns:
        The credit over the longer length, from 0 to 1; 1 where both lists are empty, ``None`` where a call whose name
        is expected has arguments nobody recorded.

    Example:
        >>> search = {"name": "search", "arguments": {"from": "SFO", "to": "JFK", "date": "2026-11-03"}}
        >>> actual = [search, search, {"name": "book", "arguments": {"id": "UA-512", "seat": "12A"}}]
        >>> wanted = {"name": "search", "arguments": {"from": "SFO", "to": "JFK", "date": "2026-11-02"}}
        >>> round(accuracy_best_unused(actual, [wanted, {"name": "book", "arguments": {"id": "UA-512"}}]), 2)
        0.33
    """
    match = _match(actual, expected, parallel, exact, name)
    return _scores.accuracy(match, "best_unused", (exact, name))


def accuracy_optimal(
    actual: Entries, expected: Entries, *, parallel: bool = False, exact: float = 1.0, name: float = 0.5
) -> float | None:
    """Tool-call accuracy under the pairing that earns most; the order of either list does not matter.

    Args:
        actual: Calls made.
        expected: Calls of the reference; one without arguments accepts any.
        parallel: Whether calls of one turn may be reordered.
        exact: Credit of a pair with equal name and arguments.
        name: Credit of a pair with equal name whose arguments differ.

    Returns:
        The credit over the longer length, from 0 to 1; 1 where both lists are empty, ``None`` where a call whose name
        is expected has arguments nobody recorded.

    Example:
        >>> search = {"name": "search", "arguments": {"from": "SFO", "to": "JFK", "date": "2026-11-03"}}
        >>> actual = [search, search, {"name": "book", "arguments": {"id": "UA-512", "seat": "12A"}}]
        >>> wanted = {"name": "search", "arguments": {"from": "SFO", "to": "JFK", "date": "2026-11-02"}}
        >>> round(accuracy_optimal(actual, [wanted, {"name": "book", "arguments": {"id": "UA-512"}}]), 2)
        0.33
    """
    match = _match(actual, expected, parallel, exact, name)
    return _scores.accuracy(match, "optimal", (exact, name))


def accuracy_graded(
    actual: Entries, expected: Entries, *, parallel: bool = False, exact: float = 1.0, name: float = 0.5
) -> float | None:
    """Accuracy under the optimal pairing, where a partial pair also earns its agreement.

    Args:
        actual: Calls made.
        expected: Calls of the reference; one without arguments accepts any.
        parallel: Whether calls of one turn may be reordered.
        exact: Credit of a pair with equal name and arguments.
        name: Credit of a pair with equal name whose arguments differ.

    Returns:
        The credit over the longer length, from 0 to 1; 1 where both lists are empty, ``None`` where a call whose name
        is expected has arguments nobody recorded.

    Example:
        >>> search = {"name": "search", "arguments": {"from": "SFO", "to": "JFK", "date": "2026-11-03"}}
        >>> actual = [search, search, {"name": "book", "arguments": {"id": "UA-512", "seat": "12A"}}]
        >>> wanted = {"name": "search", "arguments": {"from": "SFO", "to": "JFK", "date": "2026-11-02"}}
        >>> round(accuracy_graded(actual, [wanted, {"name": "book", "arguments": {"id": "UA-512"}}]), 2)
        0.53
    """
    match = _match(actual, expected, parallel, exact, name)
    return _scores.accuracy_graded(match, (exact, name))


def agreement(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> float:
    """Top-level arguments with equal canonical value over the union of their names.

    Args:
        actual: A call made.
        expected: A call of the reference.

    Returns:
        From 0 to 1, rounded to 9 decimals; 1 where neither has arguments or any are accepted, 0 where the arguments
        of the call made are no object or were not recorded.

    Example:
        >>> agreement({"name": "a", "arguments": {"x": 1, "y": "B "}}, {"name": "a", "arguments": {"x": 2, "y": "b"}})
        0.5
    """
    for call in (actual, expected):
        if not isinstance(call, Mapping):
            raise UsageError(f"a call is given as {shown_type(call)}", hint='write {"name": "...", "arguments": {...}}')
    match = read_match([{**actual, "name": "-"}], [{**expected, "name": "-"}])
    return match.agree(0, 0) / UNIT


def pairs(
    actual: Entries,
    expected: Entries,
    pairing: str = "optimal",
    *,
    parallel: bool = False,
    exact: float = 1.0,
    name: float = 0.5,
) -> list[dict[str, Any]]:
    """Which call is held against which, with the status of each pair and of each call left over.

    Args:
        actual: Calls made.
        expected: Calls of the reference.
        pairing: `positional` (the i-th against the i-th), `best_unused` (each call in order takes the best unused
            expected call: exact before name only, then the first) or `optimal` (greatest total credit, then greatest
            total agreement, then the lexicographically smallest list of partners).
        parallel: Whether calls of one turn may be reordered.
        exact: Credit of a pair with equal name and arguments.
        name: Credit of a pair with equal name whose arguments differ.

    Returns:
        A row per pair and per call left over: `actual` and `expected` (indices or ``None``), `status` (`exact`,
        `partial`, `name_only`, `wrong_name`, `missing`, `extra` or `malformed`) and `agreement` (0 to 1, ``None``
        unless exact or partial).

    Raises:
        UsageError: There is no such pairing, or the expected list is no list of calls.

    Example:
        >>> [row["status"] for row in pairs(["search", "search", "book"], ["search", "book"], "positional")]
        ['exact', 'wrong_name', 'extra']
    """
    if pairing not in PAIRINGS:
        raise UsageError(
            f"there is no pairing {pairing!r}", hint=did_you_mean(pairing, PAIRINGS) or ", ".join(PAIRINGS)
        )
    match = _match(actual, expected, parallel, exact, name)
    rows = []
    for row in _pairs(match, pairing, (exact, name)):
        agreed = None if row.agreement is None else row.agreement / UNIT
        rows.append({**row._asdict(), "agreement": agreed})
    return rows


def all_scores(
    actual: Entries, expected: Entries, *, parallel: bool = False, exact: float = 1.0, name: float = 0.5
) -> dict[str, Any]:
    """Every score and count at once, under the names of the table `traces`.

    Args:
        actual: Calls made.
        expected: Calls of the reference.
        parallel: Whether calls of one turn may be reordered.
        exact: Credit of a pair with equal name and arguments.
        name: Credit of a pair with equal name whose arguments differ.

    Returns:
        Scores by name, and `n_<status>_<pairing>`.

    Example:
        >>> all_scores(["a"], ["a", "b"])["n_missing_optimal"]
        1
    """
    return _scores.all_scores(_match(actual, expected, parallel, exact, name), (exact, name))


def _match(actual: Entries, expected: Entries, parallel: bool, exact: float, name: float) -> Match:
    if not 0 <= name <= exact <= 1:
        raise UsageError(f"credits of {exact} and {name} are out of order", hint="0 <= name <= exact <= 1")
    return read_match(_listed(actual, "actual"), _listed(expected, "expected"), parallel=parallel)


def _listed(entries: Entries, side: str) -> list[Mapping[str, Any] | str | None]:
    """The calls as a list that can be gone through more than once."""
    if isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
        hint = 'give a list of names or calls, as in ["search"] or [{"name": "search", "arguments": {}}]'
        raise UsageError(f"the {side} calls are given as {shown_type(entries)}", hint=hint)
    return list(entries)


def _both(
    actual: Entries, expected: Entries, parallel: bool = False
) -> tuple[list[str | None], list[str | None], list[int | None] | None]:
    """Names of both lists, and the turns where parallel calls may be reordered."""
    match = read_match(_listed(actual, "actual"), _listed(expected, "expected"))
    turns = [call.turn for call in match.actual] if parallel else None
    return [call.name for call in match.actual], [call.name for call in match.expected], turns
