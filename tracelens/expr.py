"""Every score as a Polars expression over columns of lists, without Python per row.

`actual` and `expected` are columns (or expressions) of lists of tool names; an accuracy also takes lists of the calls'
canonical arguments: digests, or any other text that is equal where arguments are. The work is done by the engine's own
kernels, a whole column at a time.

In a list, a null or empty name is a call without a usable name: it counts, and equals nothing. A null list (no calls
recorded, no reference) makes the score null. `accuracy_graded` needs the arguments one by one; use `tracelens.score`.

Example:
    >>> import polars as pl
    >>> frame = pl.DataFrame({"a": [["search", "search", "book"]], "e": [["search", "book"]]})
    >>> frame.select(strict("a", "e").round(2), f1("a", "e").alias("f1"), first_divergence("a", "e").alias("at")).row(0)
    (0.33, 0.8, 1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tracelens.kernels.calls import Calls

Lists = str | pl.Expr
"""A column of lists, or its name."""

_SEQUENCE = ("prefix", "in_order", "common")
_CONTENT = ("distinct_a", "distinct_e", "distinct_both", "overlap")


def strict(actual: Lists, expected: Lists) -> pl.Expr:
    """Length of the common prefix over the longer length; Float64 from 0 to 1, null where a list is."""
    return _names(actual, expected, _SEQUENCE, _over(pl.col("prefix"), pl.max_horizontal("n", "m")))


def unordered(actual: Lists, expected: Lists) -> pl.Expr:
    """Distinct names in both over distinct names in either; Float64 from 0 to 1, null where a list is."""
    return _names(
        actual,
        expected,
        _CONTENT,
        _over(pl.col("distinct_both"), pl.col("distinct_a") + pl.col("distinct_e") - pl.col("distinct_both")),
    )


def subset(actual: Lists, expected: Lists) -> pl.Expr:
    """1 if every expected name was called, else 0; Float64, null where a list is."""
    return _names(actual, expected, _CONTENT, pl.col("distinct_both") == pl.col("distinct_e"))


def superset(actual: Lists, expected: Lists) -> pl.Expr:
    """1 if every called name was expected, else 0; Float64, null where a list is."""
    return _names(actual, expected, _CONTENT, pl.col("distinct_both") == pl.col("distinct_a"))


def subset_partial(actual: Lists, expected: Lists) -> pl.Expr:
    """The share of distinct expected names that were called, 1 where there is none; Float64, null where a list is."""
    return _names(actual, expected, _CONTENT, _over(pl.col("distinct_both"), pl.col("distinct_e")))


def superset_partial(actual: Lists, expected: Lists) -> pl.Expr:
    """The share of distinct called names that were expected, 1 where there is none; Float64, null where a list is."""
    return _names(actual, expected, _CONTENT, _over(pl.col("distinct_both"), pl.col("distinct_a")))


def exact_order(actual: Lists, expected: Lists) -> pl.Expr:
    """1 if both lists are equal, else 0; Float64, null where a list is."""
    return _names(actual, expected, _SEQUENCE, _equal())


def in_order(actual: Lists, expected: Lists) -> pl.Expr:
    """1 if the expected names are a subsequence of the called ones, else 0; Float64, null where a list is."""
    return _names(actual, expected, _SEQUENCE, pl.col("in_order"))


def any_order(actual: Lists, expected: Lists) -> pl.Expr:
    """1 if the expected names are a sub-multiset of the called ones, else 0; Float64, null where a list is."""
    return _names(actual, expected, _CONTENT, pl.col("overlap") == pl.col("m"))


def precision(actual: Lists, expected: Lists) -> pl.Expr:
    """Multiset overlap over the number of calls, 1 where there is none; Float64, null where a list is."""
    return _names(actual, expected, _CONTENT, _over(pl.col("overlap"), pl.col("n")))


def recall(actual: Lists, expected: Lists) -> pl.Expr:
    """Multiset overlap over the number of expected calls, 1 where there is none; Float64, null where a list is."""
    return _names(actual, expected, _CONTENT, _over(pl.col("overlap"), pl.col("m")))


def f1(actual: Lists, expected: Lists) -> pl.Expr:
    """Twice the multiset overlap over the sum of both lengths, 1 where that is 0; Float64, null where a list is."""
    return _names(actual, expected, _CONTENT, _over(2 * pl.col("overlap"), pl.col("n") + pl.col("m")))


def lcs(actual: Lists, expected: Lists) -> pl.Expr:
    """Longest common subsequence over the longer length; Float64 from 0 to 1, null where a list is."""
    return _names(actual, expected, _SEQUENCE, _over(pl.col("common"), pl.max_horizontal("n", "m")))


def first_divergence(actual: Lists, expected: Lists) -> pl.Expr:
    """Index of the first position where the lists differ; Int64, null where they are equal or one is null."""
    return _names(actual, expected, _SEQUENCE, pl.when(~_equal()).then(pl.col("prefix")), pl.Int64)


def golden_score(actual: Lists, expected: Lists) -> pl.Expr:
    """100 times the longest common subsequence over the number of golden steps; Float64, null where a list is.

    Without golden steps 100 if nothing was called, else 0.
    """
    none = pl.when(pl.col("n") == 0).then(100.0).otherwise(0.0)
    followed = 100.0 * pl.col("common") / pl.col("m")
    return _names(actual, expected, _SEQUENCE, pl.when(pl.col("m") > 0).then(followed).otherwise(none))


def accuracy_positional(
    actual: Lists,
    expected: Lists,
    actual_arguments: Lists,
    expected_arguments: Lists,
    *,
    exact: float = 1.0,
    name: float = 0.5,
) -> pl.Expr:
    """Tool-call accuracy, the i-th call held against the i-th; see `accuracy_optimal`."""
    return _accuracy("positional", (actual, expected, actual_arguments, expected_arguments), exact, name)


def accuracy_best_unused(
    actual: Lists,
    expected: Lists,
    actual_arguments: Lists,
    expected_arguments: Lists,
    *,
    exact: float = 1.0,
    name: float = 0.5,
) -> pl.Expr:
    """Tool-call accuracy, each call in order taking its best unused expected call; see `accuracy_optimal`."""
    return _accuracy("best_unused", (actual, expected, actual_arguments, expected_arguments), exact, name)


def accuracy_optimal(
    actual: Lists,
    expected: Lists,
    actual_arguments: Lists,
    expected_arguments: Lists,
    *,
    exact: float = 1.0,
    name: float = 0.5,
) -> pl.Expr:
    """Tool-call accuracy under the pairing that earns most.

    Args:
        actual: Names of the calls made.
        expected: Names of the expected calls.
        actual_arguments: Canonical arguments of the calls made, as text; null: not recorded.
        expected_arguments: Canonical arguments of the expected calls.
        exact: Credit of a pair with equal name and arguments.
        name: Credit of a pair with equal name whose arguments differ.

    Returns:
        Credit over the longer length, Float64 from 0 to 1; 1 where both lists are empty, null where a list is null or
        a call whose name is expected has arguments nobody recorded.

    Raises:
        polars.exceptions.ComputeError: Lists of names and of arguments differ in length (when the query runs).

    Example:
        >>> names, arguments = [["search", "book"]], [["x", "y"]]
        >>> frame = pl.DataFrame({"a": names, "e": names, "aa": arguments, "ea": [["x", "z"]]})
        >>> frame.select(accuracy_optimal("a", "e", "aa", "ea")).item()
        0.75
    """
    return _accuracy("optimal", (actual, expected, actual_arguments, expected_arguments), exact, name)


def _names(
    actual: Lists,
    expected: Lists,
    kernel: tuple[str, ...],
    score: pl.Expr,
    dtype: type[pl.Float64 | pl.Int64] = pl.Float64,
) -> pl.Expr:
    """A score from names: `score` over the columns `n`, `m` (lengths) and what the kernel finds."""

    def compute(lists: pl.Series) -> pl.Series:
        codes, units, valid = _read(lists, ("0", "1"))
        found = _compare(units, codes, kernel)
        columns = {"n": units[:, 1], "m": units[:, 3]} | {name: found[:, k] for k, name in enumerate(kernel)}
        known = pl.lit(valid)
        return pl.DataFrame(columns).select(pl.when(known).then(score.cast(dtype)).alias("score")).to_series()

    return _as_struct(actual, expected).map_batches(compute, return_dtype=dtype, is_elementwise=True)


def _compare(
    units: npt.NDArray[np.int64], codes: list[npt.NDArray[np.int32]], kernel: tuple[str, ...]
) -> npt.NDArray[np.int64]:
    """Whole numbers about each unit, a column for each name in `kernel`."""
    from tracelens.kernels.multiset import SMALL, multiset_scores
    from tracelens.kernels.sequence import sequence_scores

    found: npt.NDArray[np.int64]
    found = sequence_scores(units, *codes) if kernel is _SEQUENCE else multiset_scores(units, *codes, SMALL)
    return found


def _as_struct(*lists: Lists) -> pl.Expr:
    """The columns side by side."""
    columns = [pl.col(column) if isinstance(column, str) else column for column in lists]
    return pl.struct(column.alias(str(k)) for k, column in enumerate(columns))


def _over(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """A share, where the share of nothing is 1."""
    return pl.when(whole > 0).then(part / whole).otherwise(1.0)


def _equal() -> pl.Expr:
    """Whether both lists are equal."""
    return (pl.col("n") == pl.col("m")) & (pl.col("prefix") == pl.col("n"))


def _read(
    lists: pl.Series, pair: tuple[str, str], *, missing: int = -1
) -> tuple[list[npt.NDArray[np.int32]], npt.NDArray[np.int64], pl.Series]:
    """Codes of all elements of two columns of lists, shared by both; the units; and where both lists are there.

    Nulls and, unless they mean something else (`missing` is not -1), empty texts get the code `missing`.
    """
    import numpy as np

    columns = [lists.struct.field(name).cast(pl.List(pl.String)) for name in pair]
    counts = [column.list.len().fill_null(0).to_numpy().astype(np.int64) for column in columns]
    flat = [column.explode(empty_as_null=False, keep_nulls=False) for column in columns]
    texts = pl.concat(flat)
    if missing == -1:
        texts = texts.replace("", None)
    codes = (texts.rank("dense").cast(pl.Int64) - 1).fill_null(missing).to_numpy().astype(np.int32)
    units = np.stack([np.cumsum(counts[0]) - counts[0], counts[0], np.cumsum(counts[1]) - counts[1], counts[1]], axis=1)
    split = len(flat[0])
    return [codes[:split], codes[split:]], units, columns[0].is_not_null() & columns[1].is_not_null()


def _accuracy(pairing: str, lists: tuple[Lists, ...], exact: float, name: float) -> pl.Expr:
    """The accuracy of one pairing."""

    def compute(columns: pl.Series) -> pl.Series:
        return _pair(columns, pairing, exact, name)

    return _as_struct(*lists).map_batches(compute, return_dtype=pl.Float64, is_elementwise=True)


def _pair(lists: pl.Series, pairing: str, exact: float, name: float) -> pl.Series:
    """Columns of names and arguments to the accuracy of one pairing."""
    import numpy as np

    from tracelens.kernels.matching import pair_all
    from tracelens.kernels.pairing import EXACT, PARTIAL
    from tracelens.kernels.reference.pairing import PAIRINGS

    names, units, valid = _read(lists, ("0", "1"))
    arguments, same, there = _read(lists, ("2", "3"), missing=-2)
    both = (valid & there).to_numpy()
    if not (units == same)[both].all():
        raise pl.exceptions.ComputeError("lists of names and of arguments differ in length")
    units[~both] = 0
    same[~both] = 0
    sides = [_calls(*side) for side in zip(names, arguments, strict=True)]
    paired = pair_all(units, *sides, exact_first=exact > name)
    found = paired.counts[:, PAIRINGS.index(pairing)]
    longer = np.maximum(units[:, 1], units[:, 3])
    earned = exact * found[:, EXACT] + name * found[:, PARTIAL]
    scores = np.divide(earned, longer, out=np.ones(len(units)), where=longer > 0)
    return (
        pl.Series(scores)
        .to_frame("x")
        .select(pl.when(pl.lit(pl.Series(both & ~paired.unknown))).then(pl.col("x")))
        .to_series()
    )


def _calls(names: npt.NDArray[np.int32], arguments: npt.NDArray[np.int32]) -> Calls:
    """Calls as the kernels take them, each with its arguments as one value."""
    import numpy as np

    from tracelens.kernels.calls import CAPTURED, USABLE, Calls

    flags = np.where(arguments == -2, 0, USABLE | CAPTURED).astype(np.uint8)
    none = np.zeros(len(names), np.int64)
    low = arguments.astype(np.int64).view(np.uint64)
    top, links = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    return Calls(names, flags, np.zeros(len(names), np.uint64), low, none, none, top, none, none, links)
