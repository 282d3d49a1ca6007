"""Every score that looks at tool names only, in plain Python: the definitions, and the oracle of the kernels.

A name is a string. ``None`` (a malformed call) and ``""`` (an unknown tool) equal nothing, not even each other, yet
they count as calls. With ``turns`` given, calls that stand next to each other and share a turn were requested in
parallel: their order means nothing, and a score is its maximum over the orders within these groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import groupby

Names = Sequence[str | None]
Turns = Sequence[int | None]


def identities(names: Names) -> list[Hashable]:
    """Names as objects that compare the way calls do.

    Args:
        names: Tool names; ``None`` and ``""`` are unnamed calls.

    Returns:
        The names, each unnamed call replaced by an object that equals only itself.

    Example:
        >>> a, b = identities(["", ""])
        >>> a == b
        False
    """
    return [name or object() for name in names]


def parallel_groups(turns: Turns | None, n: int) -> list[range]:
    """Positions of the calls that may be reordered among themselves.

    Args:
        turns: The turn of each call; ``None`` where it is unknown. ``None`` for the whole list means ordered.
        n: How many calls there are.

    Returns:
        Maximal runs of neighbours with one known turn, in order; every other call is alone.

    Example:
        >>> parallel_groups([1, 1, None, 2], 4)
        [range(0, 2), range(2, 3), range(3, 4)]
    """
    if turns is None:
        return [range(i, i + 1) for i in range(n)]
    groups, start = [], 0
    for _, run in groupby(range(n), key=lambda i: (-1 - i, None) if turns[i] is None else (0, turns[i])):
        stop = start + len(list(run))
        groups.append(range(start, stop))
        start = stop
    return groups


def over(part: float, whole: int) -> float:
    """A share, where the share of nothing is 1."""
    return part / whole if whole else 1.0


def prefix(actual: Names, expected: Names, turns: Turns | None = None) -> int:
    """Length of the longest common prefix.

    Example:
        >>> prefix(["a", "b", "c"], ["a", "c", "b"])
        1
        >>> prefix(["a", "b", "c"], ["a", "c", "b"], turns=[0, 1, 1])
        3
    """
    a, e = identities(actual), identities(expected)
    done = 0
    for group in parallel_groups(turns, len(a)):
        left = Counter(a[i] for i in group)
        for name in e[group.start : group.stop]:
            if not left[name]:
                return done
            left[name] -= 1
            done += 1
    return done


def strict(actual: Names, expected: Names, turns: Turns | None = None) -> float:
    """Length of the common prefix over the longer length.

    Example:
        >>> round(strict(["search", "search", "book"], ["search", "book"]), 2)
        0.33
    """
    return over(prefix(actual, expected, turns), max(len(actual), len(expected)))


def unordered(actual: Names, expected: Names) -> float:
    """Tools in both lists over tools in either, duplicates ignored."""
    a, e = set(identities(actual)), set(identities(expected))
    return over(len(a & e), len(a | e))


def subset(actual: Names, expected: Names) -> float:
    """1 if every expected tool was called, else 0 (also known as *covers expected*)."""
    return float(set(identities(expected)) <= set(identities(actual)))


def superset(actual: Names, expected: Names) -> float:
    """1 if every tool called was expected, else 0 (also known as *only expected*)."""
    return float(set(identities(actual)) <= set(identities(expected)))


def subset_partial(actual: Names, expected: Names) -> float:
    """The share of the expected tools that were called; 1 where none is expected."""
    a, e = set(identities(actual)), set(identities(expected))
    return over(len(e & a), len(e))


def superset_partial(actual: Names, expected: Names) -> float:
    """The share of the tools called that were expected; 1 where none was called."""
    a, e = set(identities(actual)), set(identities(expected))
    return over(len(a & e), len(a))


def exact_order(actual: Names, expected: Names, turns: Turns | None = None) -> float:
    """1 if both lists are equal, else 0."""
    return float(len(actual) == len(expected) == prefix(actual, expected, turns))


def in_order(actual: Names, expected: Names, turns: Turns | None = None) -> float:
    """1 if the expected list is a subsequence of the actual one, else 0.

    Taking the next expected name as early as possible never hurts, within a parallel group too.
    """
    a, e = identities(actual), identities(expected)
    done = 0
    for group in parallel_groups(turns, len(a)):
        left = Counter(a[i] for i in group)
        while done < len(e) and left[e[done]]:
            left[e[done]] -= 1
            done += 1
    return float(done == len(e))


def overlap(actual: Names, expected: Names) -> int:
    """Size of the multiset intersection of both lists."""
    return (Counter(identities(actual)) & Counter(identities(expected))).total()


def any_order(actual: Names, expected: Names) -> float:
    """1 if the expected list is contained in the actual one as a multiset, else 0."""
    return float(overlap(actual, expected) == len(expected))


def precision(actual: Names, expected: Names) -> float:
    """Multiset overlap over the number of actual calls; 1 where there is none."""
    return over(overlap(actual, expected), len(actual))


def recall(actual: Names, expected: Names) -> float:
    """Multiset overlap over the number of expected calls; 1 where there is none."""
    return over(overlap(actual, expected), len(expected))


def f1(actual: Names, expected: Names) -> float:
    """Twice the multiset overlap over the sum of both lengths; 1 where both are empty."""
    return over(2 * overlap(actual, expected), len(actual) + len(expected))


def common(actual: Names, expected: Names, turns: Turns | None = None) -> int:
    """Length of the longest common subsequence.

    ``best[j]`` is the longest one between the groups seen so far and the first ``j`` expected names. A group can be
    put in the order of any stretch of expected names, so it adds the multiset overlap with that stretch.

    Example:
        >>> common(["a", "b", "c"], ["a", "c", "b"]), common(["a", "b", "c"], ["a", "c", "b"], turns=[0, 1, 1])
        (2, 3)
    """
    a, e = identities(actual), identities(expected)
    best = [0] * (len(e) + 1)
    for group in parallel_groups(turns, len(a)):
        after = best.copy()
        for start in range(len(e)):
            left, gained = Counter(a[i] for i in group), 0
            for stop in range(start + 1, len(e) + 1):
                if left[e[stop - 1]]:
                    left[e[stop - 1]] -= 1
                    gained += 1
                after[stop] = max(after[stop], best[start] + gained)
        best = after
    return best[-1]


def lcs(actual: Names, expected: Names, turns: Turns | None = None) -> float:
    """Length of the longest common subsequence over the longer length."""
    return over(common(actual, expected, turns), max(len(actual), len(expected)))


def first_divergence(actual: Names, expected: Names, turns: Turns | None = None) -> int | None:
    """Index of the first position where the lists differ.

    Returns:
        The index, the shorter length where one list is a prefix of the other, ``None`` where they are equal.
    """
    return None if exact_order(actual, expected, turns) else prefix(actual, expected, turns)


def golden_score(actual: Names, golden: Names, turns: Turns | None = None) -> float:
    """How much of a golden trace was followed, from 0 to 100.

    Args:
        actual: Tools called.
        golden: Tools of the golden steps that are not final.
        turns: The turn of each actual call, where parallel calls may be reordered.

    Returns:
        100 times the longest common subsequence over the number of golden steps; without golden steps, 100 if
        nothing was called and 0 otherwise.
    """
    if not golden:
        return 0.0 if actual else 100.0
    return 100.0 * common(actual, golden, turns) / len(golden)
