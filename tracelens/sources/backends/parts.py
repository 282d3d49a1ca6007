"""Records that hold several spans: each of them is a piece of its trace.

``keys`` of such a format has tables whose names begin with ``part`` inside the outermost one or inside of each other, a
row for each span that a record may hold, with a column ``trace`` as the outermost one has. A record that says itself which trace it belongs to is a piece, and its
parts are pieces beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import valid
from tracelens.projection import Found, Projected, Projection, run
from tracelens.sources.gather import NO_KEY, Seen
from tracelens.sources.reading.digests import digests_of
from tracelens.sources.reading.index import Found as Pieces
from tracelens.sources.reading.io import Block, Marks
from tracelens.sources.rejects import Rejects

I64 = npt.NDArray[np.int64]

Keys = Callable[[Found, pa.Array | None], pa.Array]
"""Gives the key of the trace of each row, told the keys of the records around parts (None for the records)."""


def pieces_with_parts(block: Block, keys: Projection, key_of: Keys) -> Seen:
    """The pieces of traces in a block: records that have a key, and the parts of records.

    Args:
        block: The block.
        keys: The declaration of the first pass.
        key_of: Reads the keys of rows.
    """
    marks = block.records()
    found = run(keys, block.data, marks.starts, marks.ends)
    rejects = Rejects(block, marks)
    rejects.add_broken(found)
    top = found.top
    of_record = key_of(top, None)
    record = top.parent.astype(np.int64)
    whole = valid(of_record)
    holds = np.zeros(top.n, np.bool_)
    keys_of = [of_record.filter(pa.array(whole))]
    starts, ends, lines = [marks.starts[record[whole]]], [marks.ends[record[whole]]], [marks.lines[record[whole]]]
    for part, row in _parts(found):
        holds[row] = True
        of_part = key_of(part, of_record.take(pa.array(row)))
        inside = valid(of_part)
        cells = part.cells("@")
        for at in np.flatnonzero(~inside):
            rejects.add(int(record[row[at]]), NO_KEY, int(cells.start[at]))
        keys_of.append(of_part.filter(pa.array(inside)))
        starts.append(cells.start[inside].astype(np.int64))
        ends.append(cells.end[inside].astype(np.int64))
        lines.append(_lines_of(block, cells.start[inside], record[row[inside]], marks))
    for at in np.flatnonzero(~whole & ~holds):
        rejects.add(int(record[at]), NO_KEY)
    blank = int(np.count_nonzero(found.errors[:, 0] < 0))
    pieces = _in_order(pa.concat_arrays(keys_of), *map(np.concatenate, (starts, ends, lines)))
    return Seen(pieces, rejects.table(), blank, digests_of(block.data, marks.starts, marks.ends))


def _parts(found: Projected) -> Iterator[tuple[Found, I64]]:
    """The tables of parts, and the outermost row that each of their rows is inside of."""
    above: dict[str, I64] = {}
    names = list(found.tables)
    for name, rows in found.tables.items():
        if name.startswith("part"):
            holder = above.get(names[rows.table.parent])
            above[name] = rows.parent.astype(np.int64) if holder is None else holder[rows.parent]
            yield rows, above[name]


def _in_order(keys: pa.Array, starts: I64, ends: I64, lines: I64) -> Pieces:
    """The pieces in the order in which they begin, those around others first."""
    order = np.lexsort((-ends, starts))
    none = np.zeros(order.size, np.int32)
    return Pieces(keys.take(pa.array(order)), starts[order], ends[order], lines[order], none)


def _lines_of(block: Block, starts: np.ndarray, owner: np.ndarray, marks: Marks) -> np.ndarray:
    """The line of the file each part starts on."""
    if block.layout == "lines":
        return np.asarray(marks.lines[owner], np.int64)
    breaks = np.flatnonzero(block.data[: block.size] == ord("\n"))
    passed = np.searchsorted(breaks, starts) - np.searchsorted(breaks, marks.starts[owner])
    return np.asarray(marks.lines[owner] + passed, np.int64)
