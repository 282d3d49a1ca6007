"""Rules for strings that name a place: file paths and URLs."""

from __future__ import annotations

import re

from tracelens.kernels.reference.strings import WHITE_SPACE, compose, default_string, settled, trim

_HOME = ("$HOME", "${HOME}")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?\Z", re.DOTALL)
_HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?\Z")
_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})|(.)", re.DOTALL)
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ALLOWED = _UNRESERVED | frozenset("!$&'()*+,;=:@/?[]#")


def path(text: str) -> str:
    """A file path without ``.``, resolvable ``..`` and needless slashes; ``$HOME`` in front is ``~``.

    By the text alone: no file is looked at, links are not followed, and case counts.

    Args:
        text: The decoded string.

    Returns:
        The canonical path; the empty string stays empty.

    Example:
        >>> path("/a//b/./c/../d/"), path("$HOME/x"), path("a/../.."), path("~/..")
        ('/a/b/d', '~/x', '..', '~/..')
    """
    return settled(_path, text)


def _path(text: str) -> str:
    text = trim(compose(text))
    if not text:
        return ""
    absolute = text.startswith("/")
    first, *rest = text.split("/")
    if first in _HOME:
        first = "~"
    kept: list[str] = []
    for part in (first, *rest):
        if part == ".." and kept and kept[-1] != ".." and not (len(kept) == 1 and _is_home(text, kept[0])):
            kept.pop()
        elif part not in {"", "."} and not (part == ".." and absolute and not kept):
            kept.append(part)
    if absolute:
        return "/" + "/".join(kept)
    if kept and not _is_home(text, kept[0]) and (kept[0][0] in f"~{WHITE_SPACE}" or kept[0] in _HOME):
        # `./~` is a file of that name, not the home folder, and `./ a` must not lose its space to trimming.
        kept.insert(0, ".")
    return "/".join(kept) or "."


def _is_home(text: str, first: str) -> bool:
    """Whether the kept first part stands for a home folder: it was written first, not left over by `..`."""
    return first.startswith("~") and (text.split("/", 1)[0] in {first, *(_HOME if first == "~" else ())})


def url(text: str) -> str | None:
    """A URL in its normal form.

    Scheme and host without case, no default port, no dot segments, an empty path as ``/``, escapes only where
    they are needed and in upper case. Query, fragment, user and the order of parameters stay.

    Args:
        text: The decoded string.

    Returns:
        The canonical URL; None where the string is no ``scheme://`` URL.

    Example:
        >>> url("HTTP://Example.COM:80/%7ea/./b?q=%c3%bc"), url("example.com")
        ('http://example.com/~a/b?q=%C3%BC', None)
    """
    found = _URL.match(trim(compose(text)))
    if found is None:
        return None
    scheme, authority, where, query, fragment = found.groups(default="")
    scheme = scheme.lower()
    user, at, place = authority.rpartition("@")
    host = _HOST.match(place)
    if host is None:
        return None
    port = (host.group(2) or "").lstrip("0")
    port = "" if port in {"", _PORTS.get(scheme)} else f":{port}"
    name = default_string(host.group(1))
    return f"{scheme}://{_escape(user)}{at}{name}{port}{_segments(_escape(where))}{_escape(query)}{_escape(fragment)}"


def _escape(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        code, plain = found.groups()
        if code is not None:
            c = chr(int(code, 16))
            return c if c in _UNRESERVED else f"%{code.upper()}"
        return plain if plain in _ALLOWED else "".join(f"%{byte:02X}" for byte in plain.encode())

    return _ESCAPED.sub(one, text)


def _segments(where: str) -> str:
    """The path of a URL without dot segments; a trailing slash means something and stays."""
    kept: list[str] = []
    parts = where.split("/")[1:] or [""]
    for part in parts:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    if parts[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)
