"""Writing a run: tables go to a hidden folder, which appears under its name by one rename once it is complete."""

from __future__ import annotations

import shutil
import threading
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from tracelens.errors import InternalError, StoreError
from tracelens.store.columnar import TableWriter
from tracelens.store.layout import INFO, PARTIAL, RUNS, run_info, table_file
from tracelens.store.locks import SUFFIX, FolderLock, abandoned, lock_file
from tracelens.tables import STORED_TABLES
from tracelens.threads import ordered_map

_STALE_SECONDS = 3600
"""A lock without a folder is removed after this time; a process that starts a run makes the folder at once."""


class RunWriter:
    """Writes the tables of one run.

    Use it as a context manager: leaving it without `commit` leaves nothing behind. What a killed process left is
    cleaned by the next writer in the same results folder; running again starts clean. Frames of different tables may
    be written from different threads, frames of one table must come in order.

    Args:
        results: The results folder; made where absent.
        extra: Further ``<dialect>__<metric>`` columns of `traces`.

    Raises:
        StoreError: The folder cannot be made.

    Example:
        >>> import tempfile
        >>> from tracelens.tables import empty
        >>> with tempfile.TemporaryDirectory() as results, RunWriter(Path(results)) as run:
        ...     run.write("rejects", empty("rejects", without=["run_id"]))
        ...     run.commit("ab12", {"seconds": 0.5}).name
        'ab12'
    """

    def __init__(self, results: str | Path, *, extra: Iterable[str] = ()) -> None:
        self._runs = Path(results) / RUNS
        try:
            self._runs.mkdir(parents=True, exist_ok=True)
            clean(self._runs)
            self.folder = self._runs / f"{PARTIAL}{uuid.uuid4().hex}"
            self._lock: FolderLock | None = FolderLock(self.folder)
            self.folder.mkdir()
        except OSError as error:
            raise StoreError(
                f"cannot write here ({error.strerror})", where=str(results), hint="give another --out"
            ) from error
        self._extra = tuple(extra)
        self._writers: dict[str, TableWriter] = {}
        self._guards = {name: threading.Lock() for name in STORED_TABLES}
        self.rows: dict[str, int] = {}

    def write(self, table: str, frame: Any) -> None:
        """Add rows to a table.

        Args:
            table: A stored table.
            frame: A Polars frame, or an Arrow table or record batch, without ``run_id``.

        Raises:
            InternalError: The frame breaks the contract, or the table was finished.
        """
        with self._guards[table]:
            self._writer(table).write(frame)

    def finish(self, table: str) -> Path:
        """Finish one table ahead of the others, so that it can be read.

        Args:
            table: A stored table.

        Returns:
            Its Parquet file, in the hidden folder.
        """
        with self._guards[table]:
            if table not in self.rows:
                self.rows[table] = self._writer(table).close()
                del self._writers[table]
        return table_file(self.folder, table)

    def complete(self, threads: int = 1) -> None:
        """Finish every table that is not finished yet.

        Args:
            threads: How many at once; each has rows that wait to be written.
        """
        for _ in ordered_map(self.finish, STORED_TABLES, threads):
            pass

    def commit(self, run_id: str, info: dict[str, Any]) -> Path:
        """Finish all tables, write ``run.json`` and let the run appear, in place of one with the same id.

        Args:
            run_id: Digest of input, suite and program version; the name of the folder.
            info: Whatever else should stand in ``run.json`` (JSON values); only there may times stand.

        Returns:
            The run folder.

        Raises:
            StoreError: The file system refused.
        """
        self.complete()
        finished = datetime.now(UTC).isoformat(timespec="microseconds")
        rows = {table: self.rows[table] for table in STORED_TABLES}
        whole = {**info, "run_id": run_id, "finished_at": finished, "rows": rows}
        target = self._runs / run_id
        try:
            (self.folder / INFO).write_bytes(orjson.dumps(whole, option=orjson.OPT_INDENT_2))
            publish(self.folder, target)
        except OSError as error:
            raise StoreError(f"cannot finish the run ({error.strerror})", where=str(target)) from error
        return target

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what was not committed."""
        for writer in self._writers.values():
            writer.abandon()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._release()

    def _writer(self, table: str) -> TableWriter:
        if table in self.rows:
            raise InternalError(f"table {table} was finished before")
        if table not in self._writers:
            extra = self._extra if table == "traces" else ()
            self._writers[table] = TableWriter(table_file(self.folder, table), table, extra=extra)
        return self._writers[table]

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def publish(complete: Path, target: Path) -> None:
    """Rename a complete hidden folder to its name; one that is there already makes room by a rename of its own.

    A process killed between the two renames leaves two complete hidden folders: `clean` lets the newer one appear.
    """
    old = target.with_name(f"{PARTIAL}{uuid.uuid4().hex}")
    if target.exists():
        target.rename(old)
    complete.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def clean(runs: Path) -> None:
    """Deal with what killed processes left in a folder of runs.

    A hidden folder with ``run.json`` is a finished run that had no time to appear: it appears now, unless its place
    is taken. Any other hidden folder that nobody holds is removed.
    """
    left = [each for each in runs.glob(f"{PARTIAL}*") if each.suffix != SUFFIX and abandoned(each)]
    complete = [each for each in left if (each / INFO).is_file()]
    for folder in sorted(complete, key=lambda each: str(run_info(each)["finished_at"]), reverse=True):
        target = runs / str(run_info(folder)["run_id"])
        if not target.exists():
            with suppress(OSError):  # another process was quicker
                folder.rename(target)
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
        lock_file(folder).unlink(missing_ok=True)
    for lock in runs.glob(f"{PARTIAL}*{SUFFIX}"):
        if not lock.with_suffix("").exists() and time.time() - lock.stat().st_mtime > _STALE_SECONDS:
            lock.unlink(missing_ok=True)
