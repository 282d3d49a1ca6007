"""Which files an input names: paths, globs, folders and lists of them, and how each is called in the results."""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracelens.errors import InputError, did_you_mean
from tracelens.sources.reading.remote import copies, find_remote, is_remote, names_of

SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet", ".eval", ".traj")
COMPRESSED = (".gz", ".zst", ".zstd")


STDIN = ("-", "/dev/stdin")
"""What stands for standard input."""


@dataclass(frozen=True, slots=True)
class File:
    """One input file.

    Attributes:
        path: Where it is.
        name: Its path relative to the input root, with forward slashes: how rows and rejects call it.
        copy: What holds a temporary copy of an input that is remote or can be read only once; it goes when this goes.
        address: Where the input is, if ``path`` is a copy of it.
    """

    path: Path
    name: str
    copy: Any = None
    address: str = ""

    @property
    def where(self) -> str:
        """The place for messages."""
        return self.address or str(self.path)


def is_readable(path: Path) -> bool:
    """Whether a file found in a folder is one that a source may read, by its suffix; hidden files are not.

    Example:
        >>> is_readable(Path("a.jsonl.gz")), is_readable(Path("notes.txt"))
        (True, False)
    """
    if path.name.startswith("."):
        return False
    suffix = Path(path.stem).suffix if path.suffix.lower() in COMPRESSED else path.suffix
    return suffix.lower() in SUFFIXES


def find_files(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], root: str | Path | None = None
) -> list[File]:
    """The files that an input names, each once, ordered by name within each part of the input.

    Args:
        source: A path, a glob (``**`` goes into folders), a folder (every readable file below it) or several of them;
            ``-`` is standard input. What can be read only once, such as a pipe, is copied to a temporary file, and
            so is what is remote, see `tracelens.sources.reading.remote`.
        root: Names are relative to it; None: to the folder given, or the folder that all files share.

    Raises:
        InputError: A path that is not there, or a folder or glob without a readable file.
    """
    parts = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not parts:
        raise InputError("no input was given", hint="name a file, a folder or a glob")
    paths: dict[Path, File | None] = {}
    for part in [os.fspath(part) for part in parts]:
        if is_remote(part):
            paths.update((Path(file.address), file) for file in _remote(part))
            continue
        if part in STDIN or _is_pipe(part):
            paths.setdefault(Path(STDIN[0] if part in STDIN else part), _copied(part))
        else:
            for path in _expand(part):
                paths.setdefault(path, None)
    plain = [path for path, file in paths.items() if file is None]
    base = Path(root) if root is not None else _shared(plain, parts) if plain else Path()
    return [file or File(path, _relative(path, base)) for path, file in paths.items()]


def _is_pipe(part: str) -> bool:
    try:
        mode = Path(part).stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _copied(part: str) -> File:
    """An input that can be read only once as a file."""
    copy = tempfile.NamedTemporaryFile(prefix="tracelens-")  # noqa: SIM115  it stays as long as the file is needed
    try:
        with nullcontext(sys.stdin.buffer) if part in STDIN else Path(part).open("rb") as pipe:
            shutil.copyfileobj(pipe, copy, 1 << 20)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=part) from error
    copy.flush()
    name = "stdin" if part in STDIN else name_of(Path(part))
    return File(Path(copy.name), name, copy, name)


def _remote(part: str) -> list[File]:
    """Remote files, copied."""
    found = find_remote(part, lambda name: is_readable(Path(name)))
    made = zip(found, names_of(found), copies(found), strict=True)
    return [File(Path(copy.name), name, copy, each.address) for each, name, copy in made]


def _expand(part: str) -> list[Path]:
    if not part:
        raise InputError("the path of an input is empty", hint="name a file, a folder or a glob; '.' is this folder")
    path = Path(part)
    if path.is_file():
        return [path]
    if path.is_dir():
        found = sorted(inner for inner in path.rglob("*") if inner.is_file() and is_readable(inner))
        if not found:
            raise InputError("the folder has no file to read", where=part, hint=f"files end in {', '.join(SUFFIXES)}")
        return found
    if glob.has_magic(part):
        matches = [Path(name) for name in sorted(glob.glob(part, recursive=True))]  # noqa: PTH207 - may be absolute
        matches = [inner for inner in matches if inner.is_file()]
        if not matches:
            raise InputError("no file matches", where=part, hint="check the pattern, and quote it in a shell")
        return matches
    near = [inner.name for inner in path.parent.iterdir()] if path.parent.is_dir() else []
    hint = did_you_mean(path.name, near) or ("check the path" if near else f"the folder {path.parent} is not there")
    raise InputError("no such file", where=part, hint=hint)


def _shared(paths: list[Path], parts: list[str | os.PathLike[str]]) -> Path:
    if len(parts) == 1 and Path(parts[0]).is_dir():
        return Path(parts[0])
    folders = {path.absolute().parent for path in paths}
    return Path(os.path.commonpath(folders))


def _relative(path: Path, root: Path) -> str:
    absolute, base = path.absolute(), root.absolute()
    return name_of(absolute.relative_to(base) if absolute.is_relative_to(base) else absolute)


def name_of(path: Path) -> str:
    r"""A path as text that can be stored: bytes that are no UTF-8 are written out.

    Example:
        >>> name_of(Path("a/b\udcff.jsonl"))
        'a/b\\xff.jsonl'
    """
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")
