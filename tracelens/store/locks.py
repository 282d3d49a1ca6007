"""A lock that dies with its process, by which a leftover of a killed run is told from a run in progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tracelens.errors import StoreError

SUFFIX = ".lock"


class FolderLock:
    """Marks a folder as in use until it is released or the process ends, however it ends.

    The lock is a file beside the folder, so that the folder can be renamed while it is held. Make the lock before
    the folder.

    Args:
        folder: The folder; ``<folder>.lock`` is made and locked.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as parent:
        ...     folder = Path(parent) / "a"
        ...     lock = FolderLock(folder)
        ...     before = abandoned(folder)
        ...     lock.release()
        ...     before, abandoned(folder)
        (False, True)
    """

    def __init__(self, folder: Path) -> None:
        self._path = lock_file(folder)
        self._file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o644)
        _lock(self._file, wait=True)

    def release(self) -> None:
        """Unlock, and remove the file."""
        os.close(self._file)
        self._path.unlink(missing_ok=True)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until nobody else is here, and keep others waiting; a killed process keeps nobody.

    Args:
        path: The lock, a file that stays.

    Raises:
        StoreError: The lock cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    except OSError as error:
        raise StoreError(f"cannot write here ({error.strerror})", where=str(path.parent)) from error
    try:
        _lock(file, wait=True)
        yield
    finally:
        os.close(file)


def lock_file(folder: Path) -> Path:
    """The lock of a folder."""
    return folder.with_name(folder.name + SUFFIX)


def abandoned(folder: Path) -> bool:
    """Whether nobody holds the folder: its lock is free, or it has none (the lock is made before the folder)."""
    try:
        file = os.open(lock_file(folder), os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        _lock(file, wait=False)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int, *, wait: bool) -> None:
        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int, *, wait: bool) -> None:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
