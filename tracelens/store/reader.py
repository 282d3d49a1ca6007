"""Reading runs: one table of one run as a Polars frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracelens.errors import StoreError, UsageError, did_you_mean, path_of, shown_type
from tracelens.store.layout import run_folders, run_info, table_file
from tracelens.tables import STORED_TABLES

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Run:
    """One complete run on disk.

    Attributes:
        folder: Its folder.
        info: The contents of ``run.json``.
    """

    folder: Path
    info: dict[str, Any] = field(repr=False)

    @property
    def run_id(self) -> str:
        """Digest of input, suite and program version."""
        return str(self.info["run_id"])

    @property
    def rows(self) -> dict[str, int]:
        """Number of rows by table."""
        return dict(self.info["rows"])

    def scan(self, table: str) -> pl.LazyFrame:
        """A table of the run, to be read when collected.

        Args:
            table: A stored table of `tracelens.tables`.

        Returns:
            A lazy frame whose first column is ``run_id``.

        Raises:
            StoreError: There is no such table, or its file is gone.
        """
        import polars as pl

        if table not in STORED_TABLES:
            raise StoreError(f"no table {table!r}", where=str(self.folder), hint=did_you_mean(table, STORED_TABLES))
        path = table_file(self.folder, table)
        if not path.is_file():
            raise StoreError("a table of the run is gone", where=str(path), hint="score the input again")
        frame = pl.scan_parquet(path, glob=False, cache=False)
        return frame.select(pl.lit(self.run_id).alias("run_id"), pl.all())

    def read(self, table: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """A table of the run.

        Args:
            table: A stored table of `tracelens.tables`.
            columns: Only these columns, in this order; all by default.

        Returns:
            Its rows in stored order.

        Raises:
            StoreError: There is no such table, or its file is gone.
        """
        frame = self.scan(table)
        return (frame if columns is None else frame.select(columns)).collect()


def open_run(path: str | Path, run: str | None = None) -> Run:
    """The latest run of a results folder, or a named one.

    Args:
        path: A results folder, or one run folder.
        run: Id of the run, or the beginning of it.

    Returns:
        The run.

    Raises:
        StoreError: No results folder, no run in it, or no (or no single) run of that id.

    Example:
        >>> import tempfile
        >>> from tracelens.store.folder import RunWriter
        >>> with tempfile.TemporaryDirectory() as results:
        ...     with RunWriter(results) as writer:
        ...         folder = writer.commit("ab12", {})
        ...     open_run(results, "ab").rows["traces"]
        0
    """
    folders = run_folders(path_of(path, "results folder"))
    if run is None:
        return Run(folders[-1], run_info(folders[-1]))
    if not isinstance(run, str):
        raise UsageError(f"the run is given as {shown_type(run)}", hint="give the id of the run, or its beginning")
    if not run:
        raise UsageError("the id of the run is empty", hint="give an id or its beginning; without one it is the latest")
    found = [each for each in folders if each.name.startswith(run)]
    if len(found) != 1:
        known = ", ".join(each.name for each in folders[-5:])
        problem = "several runs start" if found else "no run starts"
        raise StoreError(f"{problem} with {run!r}", where=str(path), hint=f"the latest runs are {known}")
    return Run(found[0], run_info(found[0]))


def list_runs(path: str | Path) -> list[Run]:
    """All runs of a results folder, oldest first.

    Raises:
        StoreError: No results folder, or no run in it.

    Example:
        >>> import tempfile
        >>> from tracelens.store.folder import RunWriter
        >>> with tempfile.TemporaryDirectory() as results:
        ...     with RunWriter(results) as writer:
        ...         folder = writer.commit("ab12", {})
        ...     [run.run_id for run in list_runs(results)]
        ['ab12']
    """
    return [Run(each, run_info(each)) for each in run_folders(path_of(path, "results folder"))]
