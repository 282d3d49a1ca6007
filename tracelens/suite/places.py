"""On which line of a TOML file a key stands.

The standard parser gives values without positions. This scanner runs over text that the parser has already
accepted, so it may trust the syntax and only has to find where keys, array elements and tables begin.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

KeyPath = tuple[str | int, ...]
"""Keys and array indices from the root of the file to a value."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}' r"|'''.*?'''(?:'{0,2})" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'", re.DOTALL
)
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SCALAR = re.compile(r"[^,\]}#\n]*")


def render(path: Sequence[str | int]) -> str:
    """A path as one writes it in TOML.

    Args:
        path: Keys and indices.

    Returns:
        ``state[0].sql``; keys with other characters than letters, digits, ``_`` and ``-`` in quotes.

    Example:
        >>> render(["normalize", "book", "passengers[*].name", 0])
        'normalize.book."passengers[*].name"[0]'
    """
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
            continue
        quoted = part if _BARE.fullmatch(part) else '"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"'
        out += f".{quoted}" if out else quoted
    return out


class Lines:
    r"""Line numbers of the keys of one TOML text.

    Args:
        text: TOML that the standard parser accepts.

    Example:
        >>> lines = Lines('name = "x"\n[match]\n# how\nrows = [\n  "optimal",\n]\n')
        >>> lines.of(["match", "rows", 0]), lines.of(["match", "typo"]), lines.of(["nothing"])
        (5, 2, None)
    """

    def __init__(self, text: str) -> None:
        self._lines: dict[KeyPath, int] = {}
        self._text = text
        self._at = 0
        self._counted = 0
        self._line = 1
        self._lengths: dict[KeyPath, int] = {}
        self._scan()

    def of(self, path: Sequence[str | int]) -> int | None:
        """The line of a path, or of the nearest key above it; None when even its table is not in the file."""
        for end in range(len(path), 0, -1):
            line = self._lines.get(tuple(path[:end]))
            if line is not None:
                return line
        return None

    def _scan(self) -> None:
        table: KeyPath = ()
        self._skip()
        while self._at < len(self._text):
            if self._text.startswith("[[", self._at):
                table = self._header(2)
            elif self._text[self._at] == "[":
                table = self._header(1)
            else:
                self._pair(table)
            self._skip()

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _note(self, path: KeyPath) -> None:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        self._lines.setdefault(path, self._line)

    def _header(self, brackets: int) -> KeyPath:
        start = self._at
        self._at += brackets
        keys = self._keys()
        end, self._at = self._at + brackets, start
        path: KeyPath = ()
        for depth, key in enumerate(keys, start=1):
            path = (*path, key)
            if brackets == 2 and depth == len(keys):
                index = self._lengths.get(path, 0)
                self._lengths[path] = index + 1
                self._note(path)
                path = (*path, index)
            elif path in self._lengths:
                path = (*path, self._lengths[path] - 1)
            self._note(path)
        self._at = end
        return path

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while True:
            self._skip()
            match = _BARE.match(self._text, self._at)
            if match is None:
                match = _STRING.match(self._text, self._at)
            if match is None:  # not TOML after all; better no line than a wrong one
                self._at = len(self._text)
                return keys
            keys.append(_plain(match.group()))
            self._at = match.end()
            self._skip()
            if not self._text.startswith(".", self._at):
                return keys
            self._at += 1

    def _pair(self, table: KeyPath) -> None:
        start = self._at
        keys = self._keys()
        end, self._at = self._at, start
        for depth in range(1, len(keys) + 1):
            self._note((*table, *keys[:depth]))
        self._at = end + 1  # the equals sign
        self._skip()
        self._value((*table, *keys))

    def _value(self, path: KeyPath) -> None:
        first = self._text[self._at : self._at + 1]
        if first in {"[", "{"}:
            self._container(path, first)
            return
        match = _STRING.match(self._text, self._at) or _SCALAR.match(self._text, self._at)
        self._at = match.end() if match else len(self._text)

    def _container(self, path: KeyPath, first: str) -> None:
        close = "]" if first == "[" else "}"
        self._at += 1
        self._skip()
        index = 0
        while self._at < len(self._text) and self._text[self._at] != close:
            if first == "[":
                self._note((*path, index))
                self._value((*path, index))
                index += 1
            else:
                self._pair(path)
            self._skip()
            if self._text.startswith(",", self._at):
                self._at += 1
                self._skip()
        self._at += 1


class Where:
    """Places in one suite file: name, key path, and the line where one is known.

    List elements that were cut out because they are wrong still count, so places stay those of the file.
    """

    def __init__(self, label: str = "", lines: Lines | None = None) -> None:
        self.label = label
        self.lines = lines
        self._cut: dict[KeyPath, list[int]] = {}

    def __call__(self, path: Sequence[str | int]) -> str:
        """The place of a key path."""
        path = self.original(path)
        line = self.lines.of(path) if self.lines is not None else None
        file = f"{self.label}:{line}" if line is not None else self.label
        return ": ".join(part for part in (file, render(path)) if part)

    def cut(self, path: Sequence[str | int]) -> None:
        """Remembers that the list element at a path, as written in the file, is gone."""
        if isinstance(path[-1], int):
            bisect.insort(self._cut.setdefault(tuple(path[:-1]), []), path[-1])

    def original(self, path: Sequence[str | int]) -> KeyPath:
        """The path in the file of what now stands at a path."""
        out: KeyPath = ()
        for part in path:
            index = part
            if isinstance(index, int):
                for gone in self._cut.get(out, ()):
                    index += gone <= index
            out = (*out, index)
        return out


def _plain(key: str) -> str:
    """A key without its quotes."""
    if key[0] == "'":
        return key[1:-1]
    if key[0] == '"':
        import tomllib

        return str(next(iter(tomllib.loads(f"{key} = 0"))))
    return key
