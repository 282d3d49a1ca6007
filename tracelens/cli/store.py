"""`tracelens export` and `tracelens prune`."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tracelens.cli.console import say
from tracelens.errors import UsageError, counted


def export(
    results: Path,
    /,
    *,
    duckdb: Path | None = None,
    csv: Path | None = None,
    parquet: Path | None = None,
    arrow: Path | None = None,
    table: list[str] | None = None,
    force: bool = False,
) -> None:
    """Copy the results into one DuckDB file, or into CSV, Parquet or Arrow files. Prints the files made.

    Args:
        results: Results folder.
        duckdb: A file to make, with tables, views, macros and comments.
        csv: A folder for one CSV file per table.
        parquet: A folder for one Parquet file per table.
        arrow: A folder for one Arrow IPC file per table.
        table: Tables or views to write as CSV, Parquet or Arrow; all tables by default.
        force: Replace files that exist.
    """
    from tracelens import store
    from tracelens.tables import QUERIED_TABLES

    wanted: list[tuple[store.Form, Path | None]] = [
        ("duckdb", duckdb), ("csv", csv), ("parquet", parquet), ("arrow", arrow)
    ]  # fmt: skip
    if not any(to for _, to in wanted):
        raise UsageError("nothing says what to make", hint="give --duckdb FILE, or --csv, --parquet or --arrow FOLDER")
    for form, to in wanted:
        if to is not None:
            for file in store.export(results, to, form=form, names=tuple(table or QUERIED_TABLES), overwrite=force):
                print(file)


def prune(results: Path, /, *, keep: int | None = None, older_than: float | None = None) -> None:
    """Remove old runs; the latest one always stays. Prints the ids of the runs removed.

    Args:
        results: Results folder.
        keep: How many of the latest runs stay.
        older_than: Only runs finished more than this many days ago go.
    """
    from tracelens import store

    age = None if older_than is None else timedelta(days=older_than)
    gone = store.prune(results, keep=keep, older_than=age)
    for run_id in gone:
        print(run_id)
    say(f"{counted(len(gone), 'run')} removed, {len(store.list_runs(results))} left")
