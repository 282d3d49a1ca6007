"""The best one-to-one assignment, in plain Python with integers of any size."""

from __future__ import annotations

from collections.abc import Sequence

Worth = Sequence[Sequence[tuple[int, ...]]]


def best_assignment(worth: Worth) -> list[int | None]:
    """Give rows their columns so that the total worth is greatest.

    Worth is compared by its first element summed over all pairs, then by the next one. Among equals the
    lexicographically smallest list of columns wins, a row without a column counting as last.

    Args:
        worth: For each row and column the worth of that pair: tuples of integers >= 0, all of one length.

    Returns:
        The column of each row, ``None`` where there are not enough columns.

    Example:
        >>> best_assignment([[(1,), (0,)], [(1,), (1,)]])
        [0, 1]
        >>> best_assignment([[(0,)], [(2,)]])
        [None, 0]
    """
    n, m = len(worth), len(worth[0]) if worth else 0
    if not m:
        return [None] * n
    # One integer holds it all: the elements of the worth as digits of a base no sum can reach, then one digit per
    # row, earlier rows first, that is smaller the further right its column.
    base = 1 + n * max(max(digit, default=0) for row in worth for digit in row)
    digits = [(m + 1) ** (n - 1 - i) for i in range(n)]
    cost = []
    for i, row in enumerate(worth):
        totals = [0] * m
        for j, elements in enumerate(row):
            for element in elements:
                totals[j] = totals[j] * base + element
        paired = [j * digits[i] - total * (m + 1) ** n for j, total in enumerate(totals)]
        cost.append(paired + [m * digits[i]] * n)
    return [j if j < m else None for j in cheapest(cost)]


def cheapest(cost: Sequence[Sequence[int]]) -> list[int]:
    """The assignment of least total cost: the Hungarian method with shortest augmenting paths.

    Args:
        cost: A matrix with at least as many columns as rows.

    Returns:
        The column of each row.
    """
    n, m = len(cost), len(cost[0])
    price_row, price_column = [0] * (n + 1), [0] * (m + 1)
    owner = [n] * (m + 1)  # of a column; n = nobody. Column m stands for the row that is looking for one.
    for start in range(n):
        owner[m] = start
        slack: dict[int, int] = {}  # by column outside the tree: how much dearer than free its best pair is
        origin = [m] * m
        column, seen = m, [m]
        while owner[column] != n:
            row = owner[column]
            for j in set(range(m)).difference(seen):
                reduced = cost[row][j] - price_row[row] - price_column[j]
                if j not in slack or reduced < slack[j]:
                    slack[j], origin[j] = reduced, column
            nearest = min(slack, key=slack.__getitem__)
            delta = slack.pop(nearest)
            for j in seen:
                price_row[owner[j]] += delta
                price_column[j] -= delta
            slack = {j: s - delta for j, s in slack.items()}
            column = nearest
            seen.append(column)
        while column != m:
            owner[column] = owner[origin[column]]
            column = origin[column]
    result = [0] * n
    for j in range(m):
        if owner[j] != n:
            result[owner[j]] = j
    return result
