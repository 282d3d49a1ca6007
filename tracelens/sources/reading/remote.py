"""Files in object stores and behind other addresses that fsspec knows (``s3://``, ``gs://``, ``az://``, ``https://`` …).

Each is copied to a temporary file before it is read, in ranges that are asked for again where they fail: memory is set
by the range, and everything that can be read of a local file can be read of a remote one. S3 is reached by s3fs, and
by PyArrow where only fsspec is there.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import has_magic
from itertools import takewhile
from pathlib import PurePosixPath
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

from tracelens.errors import InputError, did_you_mean

T = TypeVar("T")

RANGE = 8 << 20
"""Bytes of a range."""

TRIES = 4
"""How often a range is asked for."""

PATIENCE = 0.2
"""Seconds before a range is asked for again; twice as many each time."""

AT_ONCE = 4
"""Files that are copied at a time."""

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)(?:://|::)")
S3 = "s3://"
INSTALL = "install the extra `cloud`: pip install -e '.[cloud]'"
SETTINGS = "check the address, the credentials and the endpoint that the store's own library is set to"


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote file.

    Attributes:
        store: The file system of fsspec.
        path: Its path there.
        size: Bytes, None where the store does not say.
        address: How it is called in messages, without credentials.
        folder: The folder that was asked for; empty where none was.
        changed: When it was changed last, in nanoseconds since 1970; 0 where the store does not say.
        version: What tells one content of it from another, such as an ETag; empty where the store does not say.
    """

    store: Any
    path: str
    size: int | None
    address: str
    folder: str = ""
    changed: int = 0
    version: str = ""


def is_remote(part: str) -> bool:
    """Whether an input is an address rather than a local path.

    Example:
        >>> is_remote("s3://bucket/a.jsonl"), is_remote("a/b.jsonl"), is_remote("sample:otlp")
        (True, False, False)
    """
    return ADDRESS.match(part) is not None


def plain(address: str) -> str:
    """An address without credentials.

    Example:
        >>> plain("https://ann:secret@host/a.jsonl?signature=x")
        'https://host/a.jsonl'
    """
    return re.sub(r"(?<=://)[^/@]*@", "", address).partition("?")[0]


def find_remote(part: str, readable: Callable[[str], bool]) -> list[Remote]:
    """The files that an address names: itself, those that match a glob, or those in a folder.

    Args:
        part: The address.
        readable: Says of a name in a folder whether it may be read.

    Raises:
        InputError: The store cannot be reached or does not know the file, or fsspec is not there.
    """
    store, path = _store(part)
    if has_magic(path):
        matches = _asked(part, lambda: store.glob(path, detail=True))
        found = _files(store, part, matches)
        if not found:
            raise InputError("no file matches", where=plain(part), hint="check the pattern, and quote it in a shell")
        return found
    about = _asked(part, lambda: store.info(path))
    if about.get("type") != "directory":
        return _files(store, part, {path: about})
    inside = _asked(part, lambda: store.find(path, detail=True))
    found = [each for each in _files(store, part, inside, path) if readable(PurePosixPath(each.path).name)]
    if not found:
        raise InputError("no file in this folder that can be read", where=plain(part), hint="name a file, or a glob")
    return found


def list_remote(part: str, readable: Callable[[str], bool]) -> dict[str, Remote]:
    """The same, where no file is no error, by names that do not depend on which files are there.

    Args:
        part: The address.
        readable: Says of a name in a folder whether it may be read.

    Returns:
        Files by their name below the folder, or below the part of a glob before its first pattern.

    Raises:
        InputError: The store cannot be reached, or has no such bucket.
    """
    store, path = _store(part)
    pattern = has_magic(path)
    listed = _asked(part, lambda: store.glob(path, detail=True) if pattern else store.find(path, detail=True))
    root = "/".join(takewhile(lambda piece: not has_magic(piece), path.split("/"))) if pattern else path.rstrip("/")
    if listed.get(path) == {}:  # some stores list a file that is named without saying anything of it
        listed[path] = _asked(part, lambda: store.info(path))
    found = {}
    for file in _files(store, part, listed):
        name = file.path.removeprefix(root).removeprefix("/") or PurePosixPath(file.path).name
        if pattern or file.path == root or readable(PurePosixPath(name).name):
            found[plain(name) if "://" in file.path else name] = file
    return found


def _files(store: Any, part: str, listed: dict[str, dict[str, Any]], folder: str = "") -> list[Remote]:
    """What a store lists, less its folders."""
    protocol = f"{part.partition('://')[0]}://" if "://" in part else ""
    found = []
    for path, about in sorted(listed.items()):
        if about.get("type") == "directory" or path.endswith("/"):
            continue
        size = about.get("size")
        shown = plain(path if "://" in path else f"{protocol}{path}")
        version = next((str(about[key]) for key in ("ETag", "etag", "md5Hash", "content_md5") if about.get(key)), "")
        size = size if isinstance(size, int) else None
        found.append(Remote(store, path, size, shown, folder, _changed(about), version))
    return found


def _changed(about: dict[str, Any]) -> int:
    """When a file was changed; stores call it by different names."""
    for name in ("LastModified", "last_modified", "updated", "mtime", "created"):
        at = about.get(name)
        try:
            moment = datetime.fromisoformat(at) if isinstance(at, str) else at
        except ValueError:
            continue
        if isinstance(moment, datetime):
            aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return int(aware.timestamp() * 1_000_000) * 1000
        if isinstance(moment, int | float):
            return int(moment * 1_000_000) * 1000
    return 0


def _store(part: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        import fsspec
    except ImportError as error:
        raise InputError("reading from addresses needs fsspec", where=plain(part), hint=INSTALL) from error
    try:
        store, path = fsspec.core.url_to_fs(part)
    except ImportError as error:
        if not part.startswith(S3):
            raise InputError(f"a library is missing: {error}", where=plain(part), hint=INSTALL) from error
        store, path = _arrow_s3(), part.removeprefix(S3)
    except ValueError as error:
        scheme = part.partition(":")[0]
        hint = did_you_mean(scheme, fsspec.available_protocols()) or SETTINGS
        raise InputError(f"no such kind of address: {error}", where=plain(part), hint=hint) from error
    store.invalidate_cache()  # listings are remembered across calls
    return store, str(path)


def _arrow_s3() -> Any:
    """S3 by means of PyArrow, which is there where s3fs is not; set up by the same variables of the environment."""
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow.fs import S3FileSystem

    environment = os.environ
    endpoint = urlsplit(environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL") or "")
    options = {"scheme": endpoint.scheme, "endpoint_override": endpoint.netloc} if endpoint.netloc else {}
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    store = S3FileSystem(region=region, connect_timeout=10, **options)

    class InRanges(ArrowFSWrapper):  # type: ignore[misc]
        def cat_file(self, path: str, start: int = 0, end: int = 0, **_: Any) -> bytes:
            with store.open_input_file(path) as opened:
                return bytes(opened.read_at(end - start, start))

    return InRanges(store)


def _asked(part: str, question: Callable[[], T]) -> T:
    """The answer of a store, its errors as ours: every store has errors of its own."""
    try:
        return question()
    except FileNotFoundError as error:
        raise InputError("no such file", where=plain(part), hint="check the address") from error
    except Exception as error:
        raise InputError(f"cannot be read: {_words(error)}", where=plain(part), hint=SETTINGS) from error


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {plain(str(error))}"[:300]


def copies(files: list[Remote]) -> Iterator[IO[bytes]]:
    """Temporary copies of remote files, in order; a copy goes when it is closed.

    Raises:
        InputError: A file cannot be read.
    """
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="tracelens-copy") as pool:
        yield from pool.map(_copy, files)


def _copy(file: Remote) -> IO[bytes]:
    copy = tempfile.NamedTemporaryFile(prefix="tracelens-")  # noqa: SIM115  it stays as long as the file is needed
    try:
        fill(copy, file)
        copy.file.close()  # the copy stays; were it left open, many files would be too many
    except BaseException:
        copy.close()
        raise
    return copy


def fill(copy: IO[bytes], file: Remote) -> None:
    """Write the bytes of a remote file to a local one.

    Raises:
        InputError: It cannot be read, or the copy cannot be written.
    """
    try:
        for part in _ranges(file) if file.size is not None else _stream(file):
            copy.write(part)
        copy.flush()
    except OSError as error:
        raise InputError(f"cannot be copied: {error.strerror or error}", where=file.address) from error


def _ranges(file: Remote) -> Iterator[bytes]:
    """A file range by range."""
    at, size = 0, file.size or 0
    while at < size:
        end = min(at + RANGE, size)
        yield _range(file, at, end)
        at = end


def _range(file: Remote, start: int, end: int) -> bytes:
    """The bytes of a range, asked for again where the store fails or gives too few."""
    for k in range(TRIES):
        if k:
            time.sleep(PATIENCE * 2 ** (k - 1))
        try:
            got = bytes(file.store.cat_file(file.path, start=start, end=end))
        except (FileNotFoundError, PermissionError) as error:
            raise InputError(f"cannot be read: {_words(error)}", where=file.address, hint=SETTINGS) from error
        except Exception as error:  # noqa: BLE001  every store has errors of its own
            problem = _words(error)
            continue
        if len(got) == end - start:
            return got
        problem = f"{len(got):,} of {end - start:,} bytes came"
    raise InputError(
        f"cannot be read at byte {start:,}, asked {TRIES} times: {problem}", where=file.address, hint=SETTINGS
    )


def _stream(file: Remote) -> Iterator[bytes]:
    """A file of unknown size, from its beginning to its end."""
    with _asked(file.address, lambda: file.store.open(file.path, "rb")) as opened:
        while part := _asked(file.address, lambda: opened.read(RANGE)):
            yield part


def names_of(files: list[Remote]) -> list[str]:
    """The names of remote files: relative to the folder that was asked for, else to the one that all share.

    Example:
        >>> some = [Remote(None, f"bucket/runs/{name}", 1, "") for name in ("a.jsonl", "x/b.jsonl")]
        >>> names_of(some)
        ['a.jsonl', 'x/b.jsonl']
    """
    parents = [PurePosixPath(file.folder) if file.folder else PurePosixPath(file.path).parent for file in files]
    parts = [parent.parts for parent in parents]
    shared = 0
    while parts and all(len(each) > shared and each[shared] == parts[0][shared] for each in parts):
        shared += 1
    return ["/".join(PurePosixPath(file.path).parts[shared:]) for file in files]
