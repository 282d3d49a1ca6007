"""Copying a run into another results folder."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from tracelens.errors import StoreError
from tracelens.store.layout import PARTIAL, RUNS, verdict_files, verdict_folder
from tracelens.store.locks import FolderLock
from tracelens.store.reader import Run


def copy_run(run: Run, results: Path) -> Path:
    """Copy a run; like a new one it appears by one rename.

    Args:
        run: The run.
        results: The results folder; made where absent.

    Returns:
        The run's folder there.

    Raises:
        StoreError: The run is there already, or the folder cannot be written.

    Example:
        >>> import tempfile
        >>> from tracelens.store.folder import RunWriter
        >>> with tempfile.TemporaryDirectory() as results:
        ...     with RunWriter(results) as writer:
        ...         folder = writer.commit("ab12", {})
        ...     copy_run(Run(folder, {"run_id": "ab12"}), Path(results) / "other").name
        'ab12'
    """
    target = results / RUNS / run.run_id
    if target.exists():
        raise StoreError("the run is there already", where=str(target), hint="remove it, or give another folder")
    hidden = target.with_name(f"{PARTIAL}{uuid.uuid4().hex}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(hidden)
        try:
            shutil.copytree(run.folder, hidden)
            if verdict_files(run.folder):
                shutil.copytree(verdict_folder(run.folder), verdict_folder(target), dirs_exist_ok=True)
            hidden.rename(target)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
            lock.release()
    except OSError as error:
        raise StoreError(f"cannot write here ({error.strerror})", where=str(results)) from error
    return target
