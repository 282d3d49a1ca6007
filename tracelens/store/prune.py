"""Removing old runs."""

from __future__ import annotations

import shutil
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tracelens.errors import UsageError
from tracelens.store.layout import INFO, PARTIAL, verdict_folder
from tracelens.store.reader import Run, list_runs


def prune(path: str | Path, *, keep: int | None = None, older_than: timedelta | None = None) -> list[str]:
    """Remove runs of a results folder; the latest one always stays.

    Args:
        path: A results folder.
        keep: How many of the latest runs stay.
        older_than: Only runs finished longer ago than this go. With both, a run must meet both to go.

    Returns:
        The ids of the runs removed, oldest first.

    Raises:
        UsageError: Neither limit is given, or ``keep`` is below one.
        StoreError: No results folder, or no run in it.

    Example:
        >>> import tempfile
        >>> from tracelens.store.folder import RunWriter
        >>> with tempfile.TemporaryDirectory() as results:
        ...     with RunWriter(results) as writer:
        ...         folder = writer.commit("ab12", {})
        ...     prune(results, keep=1)
        []
    """
    if keep is None and older_than is None:
        raise UsageError("nothing says which runs to remove", hint="give --keep N or --older-than DAYS")
    if keep is not None and keep < 1:
        raise UsageError(f"cannot keep {keep} runs", hint="keep at least 1")
    candidates = list_runs(path)[: -(keep or 1)]
    gone = [run for run in candidates if older_than is None or _age(run) > older_than]
    for run in gone:
        # hidden first, so that no reader sees half a run
        hidden = run.folder.with_name(f"{PARTIAL}{uuid.uuid4().hex}")
        run.folder.rename(hidden)
        (hidden / INFO).unlink()  # without it a killed prune cannot come back as a run
        shutil.rmtree(hidden)
        shutil.rmtree(verdict_folder(run.folder), ignore_errors=True)
    return [run.run_id for run in gone]


def _age(run: Run) -> timedelta:
    return datetime.now(UTC) - datetime.fromisoformat(str(run.info["finished_at"]))
