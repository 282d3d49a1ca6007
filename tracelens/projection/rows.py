"""Running a projection over the records of a block, and reading its cells as Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.columns import PADDING, TEXT, TIME, nullable, text_array
from tracelens.groups import offsets_of
from tracelens.kernels import cells, scan
from tracelens.kernels.distinct import FREE, number_cells
from tracelens.kernels.known import nothing_known
from tracelens.kernels.project import FLAG_SHIFT, MAX_DEPTH, Rows, Scratch, project
from tracelens.projection.declare import Projection, Table

NONE, NULL, FALSE, TRUE, NUMBER, STRING, OBJECT, ARRAY = range(8)
"""Kinds of cells: not there, then those of JSON."""

KIND_MASK = np.uint8((1 << FLAG_SHIFT) - 1)

FORMS = np.tile(
    np.array(
        [columns.ABSENT, columns.NULL, *[columns.JSON_VALUE] * 3, columns.JSON_STRING, *[columns.JSON_VALUE] * 2],
        np.uint8,
    ),
    32,
)
"""uint8[256]: ``arguments_form`` by kind, whatever the flags."""

BLANK = -1
"""Instead of an error code: a record that is blank."""

SPARE = 1.25
"""How much more room there is than the last walks needed: room costs time even where few of its rows are used."""

ALL = np.zeros(0, np.int64)
"""For kernels that take rows: every row."""

ANYTHING = (FALSE, TRUE, NUMBER, STRING, OBJECT, ARRAY)


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one column.

    Attributes:
        raw: uint8[n], kind (see the constants above) in the low bits, flags of `kernels.scan` above them.
        start: int32[n], where the value starts in the block's buffer (a string: its contents).
        end: int32[n], where it ends.
    """

    raw: npt.NDArray[np.uint8]
    start: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]

    @property
    def kind(self) -> npt.NDArray[np.uint8]:
        """uint8[n]: the kinds alone."""
        return self.raw & KIND_MASK


@cache
def _mask_of(kinds: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """uint8[256]: 1 for raw bytes of one of those kinds."""
    return np.isin(np.arange(256) & int(KIND_MASK), kinds).astype(np.uint8)


class Found:
    """The rows of one table of a projected block.

    Attributes:
        n: Number of rows.
        parent: int32[n]: row of the enclosing table; the record's number in the outermost one.
    """

    def __init__(
        self, data: npt.NDArray[np.uint8], table: Table, parent: npt.NDArray[np.int32], columns: Sequence[Cells]
    ) -> None:
        self.data = data
        self.table = table
        self.parent = parent
        self.columns = columns
        self.n = parent.size
        self._absent: dict[str, bool] = {}

    def cells(self, name: str) -> Cells:
        """The cells of a column by name."""
        return self.columns[self.table.columns[name] - self.table.first]

    def kind(self, name: str) -> npt.NDArray[np.uint8]:
        """uint8[n]: kind of each cell of a column."""
        return self.cells(name).kind

    def has(self, name: str, *kinds: int) -> npt.NDArray[np.bool_]:
        """bool[n]: cells of one of those kinds."""
        return self._look_up(name, _mask_of(kinds)).view(np.bool_)

    def _look_up(self, name: str, table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        out = np.empty(self.n, np.uint8)
        cells.look_up(self.cells(name).raw, table, out)
        return out

    def absent(self, name: str) -> bool:
        """Whether no row has a value in a column."""
        if name not in self._absent:
            self._absent[name] = not self.cells(name).raw.any()
        return self._absent[name]

    def text(
        self,
        name: str,
        *kinds: int,
        where: npt.NDArray[np.bool_] | None = None,
        rows: npt.NDArray[np.int64] | None = None,
    ) -> pa.LargeStringArray:
        """Cells of those kinds as text: a string's contents, anything else as JSON text; other cells are null.

        Args:
            name: The column.
            *kinds: Which kinds; strings alone if none is given.
            where: bool[n]: rows that may have a text; all if None.
            rows: int64: the rows to read, in that order; a row below zero gives null. All if None.
        """
        n = self.n if rows is None else rows.size
        if n == 0 or self.absent(name):
            return pa.nulls(n, TEXT)
        cell = self.cells(name)
        raw = cell.raw if where is None else np.where(where, cell.raw, np.uint8(NONE))
        accept = sum(1 << k for k in kinds or (STRING,))
        which = ALL if rows is None else rows
        size = cells.text_size(raw, cell.start, cell.end, which, accept)
        data = np.empty(size + PADDING, np.uint8)
        offsets = np.empty(n + 1, np.int64)
        valid = np.empty(n, np.bool_)
        end = cells.take_texts(self.data, raw, cell.start, cell.end, which, accept, data, offsets, valid)
        data[end : end + PADDING] = 0
        return text_array(data, offsets, valid)

    def json(self, name: str) -> pa.LargeStringArray:
        """Cells as JSON text, strings with their quotes; a cell that is not there is null, and so is null."""
        cell = self.cells(name)
        inset = (cell.raw & KIND_MASK) == STRING
        raw = np.where(inset, np.uint8(OBJECT), cell.raw & KIND_MASK)
        column = Cells(raw, cell.start - inset.astype(np.int32), cell.end + inset.astype(np.int32))
        table = Table(self.table.name, self.table.parent, 0, {name: 0})
        return Found(self.data, table, self.parent, [column]).text(name, *ANYTHING)

    def integer(self, name: str) -> pa.Int64Array:
        """Numbers with a whole value within int64; other cells are null."""
        if self.absent(name):
            return pa.nulls(self.n, pa.int64())
        cell = self.cells(name)
        out, outcome = np.empty(self.n, np.int64), np.empty(self.n, np.uint8)
        cells.take_integers(self.data, cell.raw, cell.start, cell.end, out, outcome)
        for row in np.flatnonzero(outcome == cells.ASK):
            number = Decimal(self.data[cell.start[row] : cell.end[row]].tobytes().decode())
            whole = number.adjusted() < 20 and number == (rounded := int(number)) and -(2**63) <= rounded < 2**63
            outcome[row] = cells.GOOD if whole else cells.INVALID
            out[row] = rounded if whole else 0
        return nullable(out, outcome != cells.GOOD)

    def whole(self, name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Whole numbers, as numbers or as strings of digits, and which cells hold one; others are zero.

        A string may say what Polars reads as a whole number, such as ``-5`` or ``007``.
        """
        out, outcome = np.zeros(self.n, np.int64), np.zeros(self.n, np.uint8)
        if self.n and not self.absent(name):
            cell = self.cells(name)
            cells.take_digits(self.data, cell.raw, cell.start, cell.end, out, outcome)
            odd = np.flatnonzero(outcome == cells.ASK)
            if odd.size:
                read = pl.Series(self.text(name, STRING, NUMBER, rows=odd)).cast(pl.Int64, strict=False)
                out[odd] = read.fill_null(0).to_numpy()
                outcome[odd] = read.is_not_null().to_numpy()
        return out, outcome == cells.GOOD

    def strings(self, name: str) -> tuple[list[str], npt.NDArray[np.int64]]:
        """The distinct strings of a column in the order of their first row, and the number of each row's, -1 for none."""
        code = np.empty(self.n, np.int64)
        if self.n and not self.absent(name):
            cell = self.cells(name)
            first = np.empty(self.n, np.int64)
            table = np.full(2 << self.n.bit_length(), FREE, np.int32)
            count = number_cells(self.data, cell.raw, cell.start, cell.end, table, first, code)
            if count >= 0:
                return self.text(name, rows=first[:count]).to_pylist(), code
            coded = self.text(name).dictionary_encode()
            return coded.dictionary.to_pylist(), columns.numbers(coded.indices, default=-1).astype(np.int64)
        code.fill(-1)
        return [], code

    def arguments(self, name: str) -> tuple[pa.LargeStringArray, npt.NDArray[np.uint8]]:
        """A call's arguments: their text (a string's contents, or the JSON text of a value), and ``arguments_form``."""
        return self.text(name, *ANYTHING), self._look_up(name, FORMS)

    def float(self, name: str) -> pa.DoubleArray:
        """Numbers as the nearest double; infinite ones and other cells are null."""
        if self.absent(name):
            return pa.nulls(self.n, pa.float64())
        cell = self.cells(name)
        out, outcome = np.empty(self.n, np.float64), np.empty(self.n, np.uint8)
        cells.take_floats(self.data, cell.raw, cell.start, cell.end, out, outcome)
        for row in np.flatnonzero(outcome == cells.ASK):
            out[row] = float(self.data[cell.start[row] : cell.end[row]].tobytes())
        return nullable(out, (outcome == cells.INVALID) | ~np.isfinite(out))

    def boolean(self, name: str) -> pa.BooleanArray:
        """The values true and false; other cells are null."""
        kind = self.kind(name)
        return pa.array(kind == TRUE, mask=(kind != TRUE) & (kind != FALSE))

    def time(self, name: str) -> pa.TimestampArray:
        """Strings with an ISO 8601 time (no zone: UTC) as microseconds in UTC; other cells are null."""
        if self.absent(name):
            return pa.nulls(self.n, TIME)
        cell = self.cells(name)
        out, valid = np.empty(self.n, np.int64), np.empty(self.n, np.bool_)
        cells.take_times(self.data, cell.raw, cell.start, cell.end, out, valid)
        return nullable(out, ~valid).cast(TIME)

    def taken(self, rows: npt.NDArray[np.integer[Any]]) -> Found:
        """Those rows, in that order; their parents stay what they were."""
        return _Taken(self, rows)

    def without(self, keep: npt.NDArray[np.bool_], parent: npt.NDArray[np.int32]) -> Found:
        """The rows that ``keep`` says, with the given new parents of those rows."""
        kept = [Cells(c.raw[keep], c.start[keep], c.end[keep]) for c in self.columns]
        return Found(self.data, self.table, parent, kept)


class _Taken(Found):
    """Some rows of a table, of which a column is taken when somebody asks for it."""

    def __init__(self, whole: Found, rows: npt.NDArray[np.integer[Any]]) -> None:
        super().__init__(whole.data, whole.table, whole.parent[rows], [])
        self._whole, self._rows = whole, rows.astype(np.int64, copy=False)
        self._known: dict[str, Cells] = {}

    def cells(self, name: str) -> Cells:
        """The cells of a column by name."""
        if name not in self._known:
            whole = self._whole.cells(name)
            self._known[name] = Cells(whole.raw[self._rows], whole.start[self._rows], whole.end[self._rows])
        return self._known[name]

    def text(
        self,
        name: str,
        *kinds: int,
        where: npt.NDArray[np.bool_] | None = None,
        rows: npt.NDArray[np.int64] | None = None,
    ) -> pa.LargeStringArray:
        """Cells of those kinds as text, see `Found.text`."""
        if where is not None or rows is not None or not self.n:
            return super().text(name, *kinds, where=where, rows=rows)
        return self._whole.text(name, *kinds, rows=self._rows)

    def taken(self, rows: npt.NDArray[np.integer[Any]]) -> Found:
        """Some of these rows."""
        return _Taken(self._whole, self._rows[rows])


@dataclass(frozen=True, slots=True)
class Projected:
    """A projected block.

    Attributes:
        tables: The rows by table name.
        errors: int64[records, 2]: error code of `kernels.scan` and byte position of each bad record; -1 for a blank
            one, 0 for a good one.
    """

    tables: dict[str, Found]
    errors: npt.NDArray[np.int64]

    def __getitem__(self, name: str) -> Found:
        return self.tables[name]

    @property
    def top(self) -> Found:
        """The outermost table: a row per good record."""
        return next(iter(self.tables.values()))

    def keeping(self, keep: npt.NDArray[np.bool_], table: str | None = None) -> Projected:
        """Without the rows of a table (the outermost if None) where ``keep`` is false, and all that was inside them."""
        first = table or next(iter(self.tables))
        return Projected(_cascade(self.tables, {first: keep}), self.errors)


def run(
    projection: Projection, data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> Projected:
    """Project the records of a block.

    Args:
        projection: What to look for.
        data: uint8, padded.
        starts: int64[records].
        ends: int64[records].

    Example:
        >>> from tracelens.columns import texts
        >>> from tracelens.projection import Row
        >>> wanted = Projection(Row("line", rows=[Row("call", "calls[*]", capture={"name": "tool.name"})]))
        >>> lines = texts(['{"calls": [{"tool": {"name": "a"}}, {"x": 1}]}', '{"calls": "none"}', "{"])
        >>> found = run(wanted, lines.data, lines.offsets[:-1].copy(), lines.offsets[1:].copy())
        >>> found["line"].parent.tolist(), found["call"].parent.tolist(), found["call"].text("name").to_pylist()
        ([0, 1], [0, 0], ['a', None])
        >>> reason(int(found.errors[2, 0]))
        'unterminated: the text ends inside a value'
    """
    n = starts.size
    errors = np.zeros((n, 2), np.int64)
    size = int((ends - starts).sum())
    if not size:
        errors[:, 0] = BLANK
        return Projected(
            _collect(projection, data, _room(projection, np.zeros(len(projection.tables), np.int64))), errors
        )
    capacity = 64 + (size * SPARE * projection.density).astype(np.int64)
    capacity[0] = n
    rows = _room(projection, capacity)
    work = _scratch(projection)
    record = 0
    while record < n:
        record, full = project(data, starts, ends, record, projection.trie, rows, work, errors)
        if full >= 0:
            rows = _grown(projection, rows, full, n / (record + 1))
    projection.density = np.maximum(rows.count / size, (rows.count / size + projection.density) / 2)
    return Projected(_collect(projection, data, rows), errors)


def _room(projection: Projection, capacity: npt.NDArray[np.int64]) -> Rows:
    """Empty room for so many rows by table."""
    tables = projection.tables
    base = offsets_of(np.repeat(capacity, [len(table.columns) for table in tables]))
    first = offsets_of(capacity)
    n_cells, n_rows = int(base[-1]), int(first[-1])
    return Rows(
        room=capacity,
        count=np.zeros(capacity.size, np.int64),
        first=first,
        column=np.array([*(table.first for table in tables), projection.n_columns], np.int64),
        above=np.array([table.parent for table in tables], np.int64),
        base=base,
        kind=np.zeros(n_cells, np.uint8),
        start=np.empty(n_cells, np.int32),
        end=np.empty(n_cells, np.int32),
        parent=np.empty(n_rows, np.int32),
        node=np.empty(n_rows, np.int32),
        dead=np.empty(n_rows, np.uint8),
    )


def _grown(projection: Projection, old: Rows, full: int, ahead: float) -> Rows:
    """The same rows with more room in one table: as much as it seems to need, from how far the walk came."""
    capacity = old.room.copy()
    capacity[full] = int(capacity[full] * min(max(2.0, 1.25 * ahead), 16.0)) + 64
    new = _room(projection, capacity)
    new.count[:] = old.count
    for number, table in enumerate(projection.tables):
        n = int(old.count[number])
        for column in table.columns.values():
            a, b = int(new.base[column]), int(old.base[column])
            for name in ("kind", "start", "end"):
                getattr(new, name)[a : a + n] = getattr(old, name)[b : b + n]
        a, b = int(new.first[number]), int(old.first[number])
        for name in ("parent", "node", "dead"):
            getattr(new, name)[a : a + n] = getattr(old, name)[b : b + n]
    return new


def _scratch(projection: Projection) -> Scratch:
    depth, longest = projection.depth + 2, int(projection.trie.edge_size.max(initial=0))
    return Scratch(
        node=np.zeros(depth, np.int64),
        start=np.zeros(depth, np.int64),
        stamp=np.zeros(depth, np.int64),
        seen=np.zeros(projection.trie.edge_word.size, np.int64),
        hint=projection.trie.first.astype(np.int64),
        state=np.zeros(4, np.int64),
        nest=np.zeros(MAX_DEPTH + 2, np.uint8),
        key=np.zeros(6 * longest + 2 * PADDING, np.uint8),
        known=nothing_known(),
    )


def _collect(projection: Projection, data: npt.NDArray[np.uint8], rows: Rows) -> dict[str, Found]:
    """The filled part of every table, without the rows that duplicate keys took back."""
    found: dict[str, Found] = {}
    lost: dict[str, npt.NDArray[np.bool_]] = {}
    for number, table in enumerate(projection.tables):
        n, first = int(rows.count[number]), int(rows.first[number])
        found[table.name] = Found(data, table, rows.parent[first : first + n], _Filled(rows, table, n))
        dead = rows.dead[first : first + n]
        if dead.any():
            lost[table.name] = dead == 0
        repeated = _repeated_keys(found[table.name]) if n and table.keyed else None
        if repeated is not None:
            lost[table.name] = lost.get(table.name, True) & ~repeated
    return _cascade(found, lost) if lost else found


class _Filled(Sequence[Cells]):
    """The filled columns of a table, each made when somebody asks for it."""

    def __init__(self, rows: Rows, table: Table, n: int) -> None:
        self._rows, self._n = rows, n
        self._first, self._count = table.first, len(table.columns)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Cells: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Cells]: ...

    def __getitem__(self, number: int | slice) -> Cells | Sequence[Cells]:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(self._count))]
        if not 0 <= number < self._count:
            raise IndexError(number)
        rows, a = self._rows, int(self._rows.base[self._first + number])
        b = a + self._n
        return Cells(rows.kind[a:b], rows.start[a:b], rows.end[a:b])


def _repeated_keys(found: Found) -> npt.NDArray[np.bool_] | None:
    """Rows of unnamed members whose key comes again in the same object: the later one counts. None: there are none."""
    keyed = found.has("@key", STRING)
    if not keyed.any():
        return None
    repeated = np.zeros(found.n, np.bool_)
    index = pa.table({"parent": found.parent, "key": found.text("@key"), "row": np.arange(found.n)})
    counted = index.filter(keyed).group_by(["parent", "key"]).aggregate([("row", "max"), ("row", "count")])
    if counted.num_rows == int(keyed.sum()):
        return None
    repeated[keyed] = True
    repeated[counted["row_max"].to_numpy()] = False
    return repeated


def _cascade(found: dict[str, Found], keep: dict[str, npt.NDArray[np.bool_]]) -> dict[str, Found]:
    """Drop rows where ``keep`` is false, rows inside dropped rows, and renumber parents."""
    names = list(found)
    out: dict[str, Found] = {}
    moved: dict[str, tuple[npt.NDArray[np.bool_], npt.NDArray[np.int32]]] = {}
    for name, rows in found.items():
        stay = keep.get(name, np.ones(rows.n, np.bool_))
        parent = rows.parent
        if rows.table.parent >= 0:
            above, number = moved[names[rows.table.parent]]
            stay = stay & above[parent]
            parent = number[parent]
        moved[name] = (stay, (np.cumsum(stay) - 1).astype(np.int32))
        out[name] = rows.without(stay, parent[stay])
    return out


def reason(code: int) -> str:
    """What an error code of the scanner means."""
    return str(scan.ERRORS[code])
