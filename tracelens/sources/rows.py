"""Running a projection over the records of a block, and reading its cells as Arrow columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import PADDING, TIME, offsets_of, text_array
from tracelens.kernels import cells, scan
from tracelens.kernels.project import (
    E_SIZE,
    FLAG_SHIFT,
    MAX_DEPTH,
    R_DEAD,
    R_PARENT,
    T_COLUMN,
    T_COUNT,
    T_PARENT,
    T_ROOM,
    T_ROWS,
    project,
)
from tracelens.sources.projection import Projection, Table

NONE, NULL, FALSE, TRUE, NUMBER, STRING, OBJECT, ARRAY = range(8)
"""Kinds of cells: not there, then those of JSON."""

KIND_MASK = np.uint8((1 << FLAG_SHIFT) - 1)

ANYTHING = (FALSE, TRUE, NUMBER, STRING, OBJECT, ARRAY)


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one column.

    Attributes:
        raw: uint8[n], kind (see the constants above) in the low bits, flags of `kernels.scan` above them.
        span: int32[n, 2], byte range in the block's buffer (contents of a string).
    """

    raw: npt.NDArray[np.uint8]
    span: npt.NDArray[np.int32]

    @property
    def kind(self) -> npt.NDArray[np.uint8]:
        """uint8[n]: the kinds alone."""
        return self.raw & KIND_MASK


class Found:
    """The rows of one table of a projected block.

    Attributes:
        n: Number of rows.
        parent: int32[n]: row of the enclosing table; the record's number in the outermost one.
    """

    def __init__(
        self, data: npt.NDArray[np.uint8], table: Table, parent: npt.NDArray[np.int32], columns: list[Cells]
    ) -> None:
        self.data = data
        self.table = table
        self.parent = parent
        self.columns = columns
        self.n = parent.size

    def cells(self, name: str) -> Cells:
        """The cells of a column by name."""
        return self.columns[self.table.columns[name] - self.table.first]

    def kind(self, name: str) -> npt.NDArray[np.uint8]:
        """uint8[n]: kind of each cell of a column."""
        return self.cells(name).kind

    def has(self, name: str, *kinds: int) -> npt.NDArray[np.bool_]:
        """bool[n]: cells of one of those kinds."""
        return np.isin(self.cells(name).kind, kinds)

    def text(self, name: str, *kinds: int, where: npt.NDArray[np.bool_] | None = None) -> pa.LargeStringArray:
        """Cells of those kinds as text: a string's contents, anything else as JSON text; other cells are null.

        Args:
            name: The column.
            *kinds: Which kinds; strings alone if none is given.
            where: bool[n]: rows that may have a text; all if None.
        """
        cell = self.cells(name)
        raw = cell.raw if where is None else np.where(where, cell.raw, np.uint8(NONE))
        accept = sum(1 << k for k in kinds or (STRING,))
        size = cells.text_size(raw, cell.span, accept)
        data = np.empty(size + PADDING, np.uint8)
        offsets = np.empty(self.n + 1, np.int64)
        valid = np.empty(self.n, np.bool_)
        cells.take_texts(self.data, raw, cell.span, accept, data, offsets, valid)
        return text_array(data, offsets, valid)

    def integer(self, name: str) -> pa.Int64Array:
        """Numbers with a whole value within int64; other cells are null."""
        cell = self.cells(name)
        out, outcome = np.empty(self.n, np.int64), np.empty(self.n, np.uint8)
        cells.take_integers(self.data, cell.raw, cell.span, out, outcome)
        for row in np.flatnonzero(outcome == cells.ASK):
            number = float(self.data[slice(*cell.span[row])].tobytes())
            exact = number.is_integer() and abs(number) < 2**63
            outcome[row] = cells.GOOD if exact else cells.INVALID
            out[row] = int(number) if exact else 0
        return pa.array(out, mask=outcome != cells.GOOD)

    def float(self, name: str) -> pa.DoubleArray:
        """Numbers as the nearest double; infinite ones and other cells are null."""
        cell = self.cells(name)
        out, outcome = np.empty(self.n, np.float64), np.empty(self.n, np.uint8)
        cells.take_floats(self.data, cell.raw, cell.span, out, outcome)
        for row in np.flatnonzero(outcome == cells.ASK):
            out[row] = float(self.data[slice(*cell.span[row])].tobytes())
        return pa.array(out, mask=(outcome == cells.INVALID) | ~np.isfinite(out))

    def boolean(self, name: str) -> pa.BooleanArray:
        """true and false; other cells are null."""
        kind = self.kind(name)
        return pa.array(kind == TRUE, mask=(kind != TRUE) & (kind != FALSE))

    def time(self, name: str) -> pa.TimestampArray:
        """Strings with an ISO 8601 time (no zone: UTC) as microseconds in UTC; other cells are null."""
        cell = self.cells(name)
        out, valid = np.empty(self.n, np.int64), np.empty(self.n, np.bool_)
        cells.take_times(self.data, cell.raw, cell.span, out, valid)
        return pa.array(out, mask=~valid).cast(TIME)

    def without(self, keep: npt.NDArray[np.bool_], parent: npt.NDArray[np.int32]) -> Found:
        """The rows that ``keep`` says, with the given new parents of those rows."""
        columns = [Cells(c.raw[keep], c.span[keep]) for c in self.columns]
        return Found(self.data, self.table, parent, columns)


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
    """
    n = starts.size
    errors = np.zeros((n, 2), np.int64)
    room = Room.of(projection, np.array([n] + [8 * n + 64] * (len(projection.tables) - 1), np.int64))
    depth, n_edges, n_nodes = projection.depth + 2, projection.edges.shape[0], projection.nodes.shape[0]
    frames, seen, hint = np.zeros((depth, 3), np.int64), np.zeros(n_edges, np.int64), np.zeros(n_nodes, np.int32)
    nest, state = np.zeros(MAX_DEPTH + 2, np.bool_), np.zeros(4, np.int64)
    longest = int(projection.edges[:, E_SIZE].max(initial=0))
    plain = np.zeros(6 * longest + PADDING, np.uint8)
    record = 0
    while record < n:
        record, full = project(
            data, starts, ends, record, projection.nodes, projection.edges, projection.names,
            room.tables, room.base, room.kind, room.span, room.lines, frames, seen, hint, nest, state, plain, errors,
        )  # fmt: skip
        if full >= 0:
            room = room.grown(projection, full, n / (record + 1))
    return Projected(_collect(projection, data, room), errors)


@dataclass(frozen=True, slots=True)
class Room:
    """The arrays that a walk fills, see `tracelens.kernels.project`."""

    tables: npt.NDArray[np.int64]
    base: npt.NDArray[np.int64]
    kind: npt.NDArray[np.uint8]
    span: npt.NDArray[np.int32]
    lines: npt.NDArray[np.int32]

    @classmethod
    def of(cls, projection: Projection, capacity: npt.NDArray[np.int64]) -> Room:
        """Empty room for so many rows by table."""
        by_column = np.repeat(capacity, [len(table.columns) for table in projection.tables])
        base, firsts = offsets_of(by_column), offsets_of(capacity)
        tables = np.zeros((capacity.size, 5), np.int64)
        tables[:, T_ROOM], tables[:, T_ROWS] = capacity, firsts[:-1]
        tables[:, T_COLUMN] = [table.first for table in projection.tables]
        tables[:, T_PARENT] = [table.parent for table in projection.tables]
        cells_total, rows_total = int(base[-1]), int(firsts[-1])
        return cls(
            tables,
            base[:-1].copy(),
            np.zeros(cells_total, np.uint8),
            np.empty((cells_total, 2), np.int32),
            np.empty((rows_total, 3), np.int32),
        )

    def grown(self, projection: Projection, full: int, ahead: float) -> Room:
        """The same rows with more room in one table: as much as it seems to need, from how far the walk came."""
        capacity = self.tables[:, T_ROOM].copy()
        capacity[full] = int(capacity[full] * min(max(2.0, 1.25 * ahead), 16.0)) + 64
        new = Room.of(projection, capacity)
        new.tables[:, T_COUNT] = self.tables[:, T_COUNT]
        for number, table in enumerate(projection.tables):
            n = int(self.tables[number, T_COUNT])
            for column in table.columns.values():
                a, b = int(new.base[column]), int(self.base[column])
                new.kind[a : a + n] = self.kind[b : b + n]
                new.span[a : a + n] = self.span[b : b + n]
            a, b = int(new.tables[number, T_ROWS]), int(self.tables[number, T_ROWS])
            new.lines[a : a + n] = self.lines[b : b + n]
        return new


def _collect(projection: Projection, data: npt.NDArray[np.uint8], room: Room) -> dict[str, Found]:
    """The filled part of every table, without the rows that duplicate keys took back."""
    found: dict[str, Found] = {}
    lost: dict[str, npt.NDArray[np.bool_]] = {}
    for number, table in enumerate(projection.tables):
        n, first = int(room.tables[number, T_COUNT]), int(room.tables[number, T_ROWS])
        columns = []
        for column in table.columns.values():
            a = int(room.base[column])
            columns.append(Cells(room.kind[a : a + n], room.span[a : a + n]))
        lines = room.lines[first : first + n]
        found[table.name] = Found(data, table, lines[:, R_PARENT], columns)
        dead = lines[:, R_DEAD] != 0
        if dead.any():
            lost[table.name] = ~dead
        repeated = _repeated_keys(found[table.name])
        if repeated is not None:
            lost[table.name] = lost.get(table.name, True) & ~repeated
    return _cascade(found, lost) if lost else found


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
