"""Records that hold several spans: each of them is a piece of its trace.

``keys`` of such a format has a table ``part`` inside the outermost one, a row for each span that a record may hold, with
a column ``trace`` as the outermost one has. A record that says itself which trace it belongs to is a piece, and its
parts are pieces beside it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from tracelens.columns import valid
from tracelens.projection import Found, Projection, run
from tracelens.sources.gather import NO_KEY, Seen
from tracelens.sources.reading.digests import digests_of
from tracelens.sources.reading.index import Found as Pieces
from tracelens.sources.reading.io import Block, Marks
from tracelens.sources.rejects import Rejects

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
    top, part = found.top, found["part"]
    of_record = key_of(top, None)
    record = top.parent.astype(np.int64)
    whole = valid(of_record)
    around = of_record.take(pa.array(part.parent))
    of_part = key_of(part, around)
    inside = valid(of_part)
    holds = np.bincount(part.parent, minlength=top.n) > 0
    for row in np.flatnonzero(~whole & ~holds):
        rejects.add(int(record[row]), NO_KEY)
    cells = part.cells("@")
    for row in np.flatnonzero(~inside):
        rejects.add(int(record[part.parent[row]]), NO_KEY, int(cells.start[row]))
    owner = record[part.parent[inside]]
    starts = np.concatenate([marks.starts[record[whole]], cells.start[inside].astype(np.int64)])
    ends = np.concatenate([marks.ends[record[whole]], cells.end[inside].astype(np.int64)])
    lines = np.concatenate([marks.lines[record[whole]], _lines_of(block, cells.start[inside], owner, marks)])
    order = np.lexsort((-ends, starts))
    both = pa.concat_arrays([of_record.filter(pa.array(whole)), of_part.filter(pa.array(inside))])
    pieces = Pieces(
        both.take(pa.array(order)), starts[order], ends[order], lines[order], np.zeros(order.size, np.int32)
    )
    blank = int(np.count_nonzero(found.errors[:, 0] < 0))
    return Seen(pieces, rejects.table(), blank, digests_of(block.data, marks.starts, marks.ends))


def _lines_of(block: Block, starts: np.ndarray, owner: np.ndarray, marks: Marks) -> np.ndarray:
    """The line of the file each part starts on."""
    if block.layout == "lines":
        return np.asarray(marks.lines[owner], np.int64)
    breaks = np.flatnonzero(block.data[: block.size] == ord("\n"))
    passed = np.searchsorted(breaks, starts) - np.searchsorted(breaks, marks.starts[owner])
    return np.asarray(marks.lines[owner] + passed, np.int64)
