"""What was taken: which files, and which traces.

Files that are done stand in ``files.json``, and in ``run.json`` of the runs that took them. The second is written with
the run by one rename, and counts; the first is a copy that outlives old runs, brought up to date at every start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from tracelens import columns
from tracelens.errors import StoreError
from tracelens.kernels.digest import hash_rows
from tracelens.nightly.places import Entry, Mark
from tracelens.report import put
from tracelens.store import Run, list_runs

U64 = npt.NDArray[np.uint64]

Reject = tuple[str, int, str, str | None]
"""Source, line, reason and text of a record that was rejected; secrets are masked."""

KEY = "nightly"
"""Where ``run.json`` says what a nightly run took."""


class Ledger:
    """The files that are done.

    Args:
        state: Folder of what the job remembers.
        results: The results folder.
    """

    def __init__(self, state: Path, results: Path) -> None:
        self._path = state / "files.json"
        self.runs = _runs(results)
        kept = _kept(self._path)
        self.done: dict[str, Mark] = dict(kept)
        for run in self.runs:  # oldest first, so that the newest word about a file counts
            self.done.update(run.info.get(KEY, {}).get("done", {}))
        if self.done != kept:
            self.save()

    def is_done(self, entry: Entry) -> bool:
        """Whether every trace of the file as it is now was taken."""
        return self.done.get(entry.name) == entry.mark

    def rejected(self, names: Iterable[str]) -> frozenset[Reject]:
        """What earlier runs have rejected of these files."""
        wanted = list(names)
        found: set[Reject] = set()
        for run in self.runs:
            rows = run.read("rejects", ["source", "line", "reason", "text"])
            found.update(rows.filter(rows["source"].is_in(wanted)).iter_rows())
        return frozenset(found)

    def finish(self, done: Mapping[str, Mark]) -> None:
        """Note files as done."""
        self.done.update(done)
        self.save()

    def save(self) -> None:
        """Write the list."""
        put(self._path, orjson.dumps(self.done, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2))


class Ids:
    """Ids of traces, 16 bytes each.

    Example:
        >>> known = Ids(pa.array(["a", "b"], pa.large_string()))
        >>> known.have(pa.array(["b", "c"], pa.large_string())).tolist()
        [True, False]
    """

    def __init__(self, ids: pa.Array | pa.ChunkedArray) -> None:
        hi, lo = _hashed(ids)
        order = np.argsort(hi, kind="stable")
        self._hi, self._lo = hi[order], lo[order]

    def have(self, ids: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
        """bool[n]: which of these are among them."""
        if not self._hi.size:
            return np.zeros(len(ids), np.bool_)
        hi, lo = _hashed(ids)
        at = np.minimum(np.searchsorted(self._hi, hi), self._hi.size - 1)
        return np.asarray((self._hi[at] == hi) & (self._lo[at] == lo), np.bool_)

    @classmethod
    def taken(cls, runs: list[Run]) -> Ids:
        """Those of all traces in the store."""
        columns_ = [run.read("traces", ["trace_id"])["trace_id"].to_arrow() for run in runs]
        chunks = [each.cast(columns.TEXT) for each in columns_]
        return cls(pa.chunked_array(chunks, columns.TEXT))


def _hashed(ids: pa.Array | pa.ChunkedArray) -> tuple[U64, U64]:
    packed = columns.texts(ids)
    n = len(ids)
    hi, lo = np.empty(n, np.uint64), np.empty(n, np.uint64)
    hash_rows(packed.data, packed.offsets, np.zeros(n, np.uint64), hi, lo)
    return hi, lo


def _runs(results: Path) -> list[Run]:
    """The runs of a results folder, which need not be there yet."""
    try:
        return list_runs(results)
    except StoreError:
        return []


def _kept(path: Path) -> dict[str, Any]:
    """The list as it was written last."""
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}  # it is made again from the runs
    return found if isinstance(found, dict) else {}
