"""Where traces come from: the files of a folder, or the objects of a bucket, with their size and time."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tracelens.errors import InputError
from tracelens.sources.reading.files import is_readable


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or object.

    Attributes:
        name: Its path below the root.
        size: Bytes.
        changed: When it was changed last, in nanoseconds since 1970.
    """

    name: str
    size: int
    changed: int

    @property
    def mark(self) -> list[int]:
        """What tells a changed file from the same one."""
        return [self.size, self.changed]


def list_entries(source: str) -> list[Entry]:
    """The files that are there now, by name.

    Args:
        source: Folder, glob or address of a bucket.

    Raises:
        InputError: The folder is not there, or the bucket cannot be reached.
    """
    return sorted(_bucket(source) if "://" in source else _local(source), key=lambda each: each.name)


def fetch(source: str, entries: Sequence[Entry], spool: Path) -> Path:
    """The root below which the files of these names can be read.

    Args:
        source: Where they come from.
        entries: The files wanted.
        spool: An empty folder, to which objects of a bucket are copied.

    Returns:
        The folder itself, or the spool.

    Raises:
        InputError: An object cannot be copied.
    """
    if "://" not in source:
        return root_of(source)
    system, base = _system(source)
    for entry in entries:
        to = spool / entry.name
        to.parent.mkdir(parents=True, exist_ok=True)
        try:
            system.get_file(f"{base}/{entry.name}", str(to))
        except OSError as error:
            raise InputError(f"cannot be copied: {error}", where=entry.name) from error
    return spool


def root_of(source: str) -> Path:
    """The folder below which a local source lies: itself, or the part of a glob before its first pattern."""
    if not glob.has_magic(source):
        path = Path(source)
        return path.parent if path.is_file() else path
    parts = Path(source).parts
    plain = next(at for at, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:plain])


def _local(source: str) -> list[Entry]:
    """Files of a folder or glob."""
    root = root_of(source)
    if not root.is_dir():
        raise InputError("no such folder", where=str(root), hint="check the key input of the nightly job")
    if glob.has_magic(source):
        paths = [Path(name) for name in glob.glob(source, recursive=True)]  # noqa: PTH207  may be absolute
    else:
        paths = [Path(source)] if Path(source).is_file() else list(root.rglob("*"))
    found = []
    for path in paths:
        if is_readable(path):
            try:
                status = path.stat()
            except OSError:  # gone since it was listed
                continue
            if os.path.isfile(path):  # noqa: PTH113  follows what stat followed
                found.append(Entry(path.relative_to(root).as_posix(), status.st_size, status.st_mtime_ns))
    return found


def _bucket(source: str) -> list[Entry]:
    """Objects of a bucket."""
    system, base = _system(source)
    try:
        objects: dict[str, dict[str, Any]] = system.find(base, detail=True)
    except OSError as error:
        raise InputError(f"the bucket cannot be listed: {error}", where=source.partition("://")[0]) from error
    found = []
    for path, facts in objects.items():
        name = path.removeprefix(base).lstrip("/")
        if is_readable(Path(name)):
            found.append(Entry(name, int(facts["size"] or 0), _changed(facts)))
    return found


def _system(source: str) -> tuple[Any, str]:
    """The file system of a bucket, and the path of the source in it."""
    try:
        import fsspec
    except ImportError as error:
        hint = "install the extra `cloud`, or copy the bucket to a folder first"
        raise InputError("reading a bucket needs fsspec", where=source.partition("://")[0], hint=hint) from error
    try:
        system, base = fsspec.core.url_to_fs(source)
    except (ValueError, ImportError, OSError) as error:
        raise InputError(f"the bucket cannot be reached: {error}", where=source.partition("://")[0]) from error
    return system, str(base).rstrip("/")


def _changed(facts: dict[str, Any]) -> int:
    """When an object was changed; file systems call it by different names."""
    for name in ("LastModified", "last_modified", "updated", "mtime", "created"):
        at = facts.get(name)
        if isinstance(at, datetime):
            aware = at if at.tzinfo else at.replace(tzinfo=UTC)
            return int(aware.timestamp() * 1_000_000) * 1000
        if isinstance(at, int | float):
            return int(at * 1_000_000) * 1000
        if isinstance(at, str):
            return int(datetime.fromisoformat(at).timestamp() * 1_000_000) * 1000
    return 0
