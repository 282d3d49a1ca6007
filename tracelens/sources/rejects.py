"""Records that cannot be read, as rows of `tracelens.columns.REJECTS`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tracelens.columns import REJECTS, table
from tracelens.kernels.records import newlines
from tracelens.projection import Projected, reason
from tracelens.sources.reading.io import Block, Marks

SHOWN = 200
"""Characters of a bad record that are shown."""


class Rejects:
    """The rejects of a block, in any order while they are found, by record in the end."""

    def __init__(self, block: Block, marks: Marks) -> None:
        self.block = block
        self.marks = marks
        self.found: list[tuple[int, int, int, str, str]] = []
        if block.failure is not None:
            why, at = block.failure
            line = block.line + newlines(block.data, block.begin, at)
            self.found.append((marks.starts.size, line, block.offset + at, why, ""))

    def add(self, record: int, why: str, at: int | None = None) -> None:
        """Reject a record, for a reason at a place in the block (its start if None)."""
        block = self.block
        start, end = int(self.marks.starts[record]), int(self.marks.ends[record])
        text = block.data[start : min(end, start + 4 * SHOWN)].tobytes().decode("utf-8", "replace")[:SHOWN]
        place = start if at is None else at
        self.found.append((record, int(self.marks.lines[record]), block.offset + place, why, text))

    def add_broken(self, found: Projected) -> None:
        """Reject the records that are no JSON."""
        for record in np.flatnonzero(found.errors[:, 0] > 0):
            code, at = found.errors[record]
            self.add(int(record), reason(int(code)), int(at))

    def table(self) -> pa.Table:
        """The rejects by record."""
        rows = sorted(self.found)
        return table(
            REJECTS,
            len(rows),
            source=[self.block.source] * len(rows),
            line=[row[1] for row in rows],
            offset=[row[2] for row in rows],
            reason=[row[3] for row in rows],
            text=[row[4] for row in rows],
        )
