"""Values of JSON records that are there and cannot be what they should be: null, and reported with the first place."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import Remark, valid
from tracelens.projection import NONE, NULL, Found
from tracelens.sources.limits import problem, within


class Placed(Protocol):
    """Records of which it is known where they stand."""

    def place(self, row: int, /) -> str:
        """Where a row of the outermost table stands."""
        ...


class Oddities:
    """What was odd in the good records of a block."""

    def __init__(self, records: Placed) -> None:
        self._records = records
        self.found: list[Remark] = []

    def checked(self, rows: Found, name: str, values: pa.Array, kind: str) -> pa.Array:
        """The values of a column within their limits; cells that are there and have none are noted.

        Args:
            rows: The outermost table, or one right inside it.
            name: The column.
            values: What its cells were read as.
            kind: What they should be, see `tracelens.sources.limits.problem`.
        """
        if rows.absent(name):
            return values
        good = within(name, values)
        there = ~rows.has(name, NONE, NULL)
        if int(np.count_nonzero(there)) + good.null_count > rows.n:
            self.note(rows, there & ~valid(good), name, problem(name, kind))
        return good

    def note_unless(self, rows: Found, name: str, kind: str, *kinds: int) -> None:
        """Note the cells of a column that are there and of none of those kinds."""
        if not rows.absent(name):
            self.note(rows, ~rows.has(name, NONE, NULL, *kinds), name, problem(name, kind))

    def note(self, rows: Found, odd: npt.NDArray[np.bool_], name: str, what: str) -> None:
        """Note cells of a column, if there are any.

        Args:
            rows: See `checked`.
            odd: bool[n], which cells.
            name: The column.
            what: What is the matter with them, as the end of a sentence.
        """
        at = np.flatnonzero(odd)
        if at.size:
            inside = rows.table.parent >= 0
            whose = f"a {rows.table.name}'s {name}" if inside else f"a trace's {name}"
            self.found.append(Remark(f"{whose} {what}", at.size, self._place(rows, int(at[0]), inside)))

    def _place(self, rows: Found, row: int, inside: bool) -> str:
        """Where a row stands: its record, and its number inside of it."""
        if not inside:
            return self._records.place(row)
        record = int(rows.parent[row])
        first = int(np.searchsorted(rows.parent, record))
        return f"{self._records.place(record)}, {rows.table.name} {row - first}"
