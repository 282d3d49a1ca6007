"""The distinct arguments of a batch: what is read, digested and checked once, however many calls carry it.

An actual call that does what was expected carries the expected call's very text, and agents repeat themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.arguments import Arguments, CallArguments, read_texts
from tracelens.columns import PADDING, Texts
from tracelens.groups import rows_of_groups
from tracelens.kernels.distinct import FREE, enter_texts
from tracelens.run.names import Names
from tracelens.rungs.safety.plan import SafetyPlan
from tracelens.rungs.safety.prefilter import marked

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Side:
    """The calls of one side as they came.

    Attributes:
        code: int32[n], name codes.
        values: n argument texts.
        form: uint8[n], how the source held them.
    """

    code: I32
    values: pa.ChunkedArray
    form: U8

    @classmethod
    def of(cls, calls: pa.Table, names: Names) -> Side:
        """The calls of a table with the columns ``arguments`` and ``arguments_form``."""
        return cls(names.code, calls["arguments"], columns.numbers(calls["arguments_form"]).astype(np.uint8))


@dataclass(frozen=True, slots=True)
class Pool:
    """Distinct arguments: no two rows have the same text, form and tool.

    Attributes:
        texts: The texts as they came.
        arguments: The same, read.
        code: int32[d], name code of their tool.
        names: Name of each tool.
        form: uint8[d].
        actual: The arguments of the actual calls.
        expected: The arguments of the expected calls.
    """

    texts: Texts
    arguments: Arguments
    code: I32
    names: Sequence[str]
    form: U8
    actual: CallArguments
    expected: CallArguments

    @property
    def tools(self) -> pl.Series:
        """str?[d], name of the tool of each row."""
        known = pl.Series([*self.names, None], dtype=pl.String)
        return known.gather(np.where(self.code < 0, len(self.names), self.code))

    def marks(self, plan: SafetyPlan) -> U64 | None:
        """uint64[d], what `prefilter.marks` says of the texts; None where that is not asked, or some are stored decoded.

        Args:
            plan: What to look for.
        """
        if not plan.looks or (self.arguments.decoded_times > 1).any():
            return None
        return marked(self.texts, plan.look())


def pool_arguments(actual: Side, expected: Side, names: Sequence[str]) -> Pool:
    """Read the arguments of both sides, equal ones once.

    Args:
        actual: The actual calls.
        expected: The expected calls.
        names: Canonical name by code.
    """
    given = [columns.texts(side.values) for side in (actual, expected)]
    room = sum(len(each) for each in given)
    kept, offsets = np.empty(sum(each.data.size for each in given) + PADDING, np.uint8), np.zeros(room + 1, np.int64)
    table = np.full(1 << max(4, (2 * room).bit_length()), FREE, np.int32)
    salts, hashes = np.empty(room, np.int64), np.empty(room, np.uint64)
    counts, rows = [0], []
    for side, each in zip((actual, expected), given, strict=True):
        salt, row = (side.code.astype(np.int64) << 8) | side.form, np.empty(len(each), np.int64)
        counts.append(enter_texts(each.data, each.offsets, salt, table, kept, offsets, salts, hashes, counts[-1], row))
        rows.append(row)
    n = counts[-1]
    end = int(offsets[n])
    kept[end : end + PADDING] = 0
    texts, salt = Texts(kept[: end + PADDING], offsets[: n + 1]), salts[:n]
    form = (salt & 0xFF).astype(np.uint8)
    read = read_texts(texts, form)
    sides = [CallArguments.of(read, row) for row in rows]
    code = (salt >> 8).astype(np.int32)
    return Pool(texts, read, code, names, form, sides[0], sides[1])


def rounds(row: I64, asked: I32, n: int, nothing: int) -> Iterator[tuple[I64, I32]]:
    """Questions about calls as questions about distinct arguments: as few rounds as need be, mostly one.

    Calls of equal arguments may ask differently, as tools of one name may have a schema per agent.

    Args:
        row: int64[calls], where each call's arguments stand.
        asked: int32[calls], what each call asks.
        n: Number of distinct arguments.
        nothing: What is asked of those that no call of a round has.

    Yields:
        The calls answered in a round, ascending, and int32[n], what is asked of each row.

    Example:
        >>> row, asked = np.array([0, 1, 0]), np.array([5, 5, 6], np.int32)
        >>> [(calls.tolist(), each.tolist()) for calls, each in rounds(row, asked, 2, -1)]
        [([1, 2], [6, 5]), ([0], [5, -1])]
    """
    left = np.arange(row.size)
    while left.size:
        chosen = np.full(n, nothing, np.int32)
        chosen[row[left]] = asked[left]
        answered = chosen[row[left]] == asked[left]
        yield left[answered], chosen
        left = left[~answered]


def of_calls(found: pl.DataFrame, calls: I64, row: I64) -> pl.DataFrame:
    """Findings about distinct arguments as findings about the calls that carry them.

    Args:
        found: Findings whose ``call`` is a row of distinct arguments, ascending.
        calls: int64[k], ascending, the calls to tell.
        row: int64[k], where their arguments stand.

    Returns:
        The findings of each call, in order.
    """
    about = found["call"].to_numpy()
    if not about.size:
        return found
    count = np.bincount(about, minlength=int(row.max(initial=0)) + 1)
    return found[rows_of_groups(count, row)].with_columns(call=pl.Series(np.repeat(calls, count[row])))
