"""Where traces come from: the files of a folder, or the objects of a bucket, with their size and time."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tracelens.errors import InputError, StoreError
from tracelens.sources.reading.files import File, is_readable, name_of
from tracelens.sources.reading.remote import AT_ONCE, Remote, fill, is_remote, list_remote

Mark = list[int | str]
"""What tells a changed file from the same one, as JSON values."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or object.

    Attributes:
        name: Its path below the root.
        size: Bytes; -1 where a store does not say.
        changed: When it was changed last, in nanoseconds since 1970; 0 where a store does not say.
        at: Where it is.
    """

    name: str
    size: int
    changed: int
    at: Path | Remote = field(repr=False)

    @property
    def mark(self) -> Mark:
        """What tells a changed file from the same one."""
        version = self.at.version if isinstance(self.at, Remote) else ""
        return [self.size, self.changed, version] if version else [self.size, self.changed]


def list_entries(source: str, own: Sequence[Path] = ()) -> list[Entry]:
    """The files that are there now, by name.

    Args:
        source: File, folder, glob or address of a bucket.
        own: Folders of what the job itself writes, which it must not take.

    Raises:
        InputError: The folder is not there, or the bucket cannot be reached.
    """
    found = _remote(source) if is_remote(source) else _others(_local(source), root_of(source), own)
    return sorted(found, key=lambda each: each.name)


def _others(found: list[Entry], root: Path, own: Sequence[Path]) -> list[Entry]:
    """The files that lie in none of the job's own folders."""
    top = root.resolve()
    mine = [folder.resolve() for folder in own]
    if not any(folder.is_relative_to(top) for folder in mine):
        return found
    real = [(each, (top / each.name).resolve()) for each in found]
    return [each for each, path in real if not any(path.is_relative_to(folder) for folder in mine)]


def fetch(entries: Sequence[Entry], spool: Path) -> tuple[list[File], dict[str, str]]:
    """The files, those of a bucket copied.

    Args:
        entries: The files wanted.
        spool: An empty folder, to which objects of a bucket are copied. They get names of our own: the key of an object
            may be no name of a file, or one that leads out of the folder.

    Returns:
        Files in order, and why others cannot be copied, by name.

    Raises:
        StoreError: Nothing can be copied to the spool.
    """
    local = [File(each.at, each.name) for each in entries if isinstance(each.at, Path)]
    far = [(each.name, each.at, spool / f"{n:06d}") for n, each in enumerate(entries) if isinstance(each.at, Remote)]
    if not far:
        return local, {}
    try:
        spool.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot write here ({error.strerror})", where=str(spool)) from error
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="tracelens-copy") as pool:
        problems = list(pool.map(_copied, [at for _, at, _ in far], [path for *_, path in far]))
    told = zip(far, problems, strict=True)
    why = {name: problem for (name, _, _), problem in told if problem}
    return [File(path, name, None, at.address) for name, at, path in far if name not in why], why


def _copied(file: Remote, path: Path) -> str:
    """Copy a file; why it cannot be copied, or nothing."""
    try:
        with path.open("wb") as copy:
            fill(copy, file)
    except InputError as error:
        return error.message
    except OSError as error:
        return f"cannot be copied: {error.strerror}"
    return ""


def root_of(source: str) -> Path:
    """The folder below which a local source lies: itself, or the part of a glob before its first pattern."""
    if not glob.has_magic(source) or Path(source).exists():
        path = Path(source)
        return path.parent if path.is_file() else path
    parts = Path(source).parts
    plain = next(at for at, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:plain])


def _local(source: str) -> list[Entry]:
    """Files of a folder or glob; whoever names one, or a pattern, means it whatever its suffix."""
    root = root_of(source)
    if not root.is_dir():
        raise InputError("no such folder", where=str(root), hint="check the key input of the nightly job")
    if Path(source).is_dir():
        paths = [path for path in _below(root) if is_readable(path)]
    elif Path(source).is_file():
        paths = [Path(source)]
    else:
        paths = [Path(name) for name in glob.glob(source, recursive=True)]  # noqa: PTH207  may be absolute
    found = []
    for path in paths:
        try:
            status = path.stat()
        except OSError:  # gone since it was listed
            continue
        if os.path.isfile(path):  # noqa: PTH113  follows what stat followed
            found.append(Entry(name_of(path.relative_to(root)), status.st_size, status.st_mtime_ns, path))
    return found


def _below(root: Path) -> list[Path]:
    """All that lies below a folder.

    Raises:
        InputError: A folder cannot be looked into: what is in it would be left out without a word.
    """

    def refuse(error: OSError) -> None:
        where = str(error.filename or root)
        raise InputError(f"cannot be listed ({error.strerror})", where=where, hint="allow the job to read the folder")

    return [Path(folder, name) for folder, _, names in os.walk(root, onerror=refuse) for name in names]


def _remote(source: str) -> list[Entry]:
    """Objects of a bucket."""
    found = list_remote(source, lambda name: is_readable(Path(name)))
    return [Entry(name, -1 if each.size is None else each.size, each.changed, each) for name, each in found.items()]
