"""The pack ``paths``: files and folders that no call may name, compared by resolved components.

``/etcetera`` is not below ``/etc``, ``/srv/../etc/shadow`` is. Back-slashes, repeated slashes, ``.`` and ``..``,
``~`` and ``$HOME``, ``file:`` addresses and percent-encoding (up to three times) are resolved; case counts. A relative
path that climbs out of its folder is taken to climb to the root, since nobody knows where it starts. ``/home/NAME``,
``/Users/NAME`` and ``/root`` are home folders.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from tracelens.rungs.safety.rules import Span

_HOME = re.compile(r"~[\w.-]*(?=[/\\]|\Z)|\$HOME\b|\$\{HOME\}")
_FILE = re.compile(r"file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)
_WEB = re.compile(r"\b(?!file:)[a-z][a-z0-9+.-]{1,30}://[^\s\"'<>`]*", re.IGNORECASE)
_QUOTED = re.compile(r"""(["'])(.+?)\1""", re.DOTALL)
_BREAKS = re.compile(r"""(?<!\\)[\s"'`;|&<>(),=@\[\]{}]+|(?<=[\w}])(?<!file):(?=[/~$.])""", re.IGNORECASE)
_LOOKS_LIKE_PATH = re.compile(r"[/\\~.$%]|file:|[A-Za-z]:[/\\]", re.IGNORECASE)
_HARMLESS = frozenset({"null", "zero", "stdin", "stdout", "stderr", "tty", "fd", "random", "urandom", "full"})

_PLAIN_ENCODED = ("%2[45d-f]", "%3[0-9]", "%5[cf0-9a]", "%7[e0-9a]", "%[46][0-9a-f]")
"""What an encoded character of a plain path, or of what leads to it, looks like."""

Resolved = tuple[str, ...]
"""Components from the root; the first one is ``~`` for a home folder, ``.`` for a relative path."""


def _decoded(text: str) -> str:
    for _ in range(3):
        if "%" not in text:
            break
        text = unquote(text, errors="replace")
    return text


def resolve(text: str) -> frozenset[Resolved]:
    """The places a path may lead to.

    Args:
        text: A path as written.

    Returns:
        Resolved components; several where the start of the path is unknown.

    Example:
        >>> sorted(resolve("/srv/../etc//shadow"))
        [('etc', 'shadow')]
        >>> sorted(resolve("file:///home/ann/.ssh/id_rsa"))
        [('home', 'ann', '.ssh', 'id_rsa'), ('~', '.ssh', 'id_rsa')]
        >>> sorted(resolve("../../etc/passwd")), sorted(resolve("etc/passwd"))
        ([('etc', 'passwd')], [('.', 'etc', 'passwd')])
    """
    text = _decoded(text.strip())
    text = _FILE.sub("", text, count=1) if _FILE.match(text) else text
    home = _HOME.match(text)
    if home is not None:
        rest = text[home.end() :]
        starts: tuple[Resolved, ...] = (("home", "~"), ("root",))
    else:
        rest = text
        starts = ((),) if re.match(r"[/\\]", text) else ((".",),)
    return frozenset(place for start in starts for place in _places(start, rest))


def _places(start: Resolved, rest: str) -> set[Resolved]:
    stack = list(start)
    for part in re.split(r"[/\\]+", rest):
        if part == "..":
            if stack == ["."]:
                stack = []  # it climbs to who knows where: taken as the root
            elif stack:
                stack.pop()
        elif part not in {"", "."}:
            stack.append(part)
    place = tuple(stack)
    found = {place}
    if place[:1] in {("home",), ("Users",)} and len(place) > 1:
        found.add(("~", *place[2:]))
    elif place[:1] == ("root",):
        found.add(("~", *place[1:]))
    if start and start != (".",):  # a path written with ~ is no claim about /home or /root
        found = {item for item in found if item[:2] != ("home", "~") and item[:1] != ("root",)} or found
    return found


@dataclass(frozen=True, slots=True)
class Restricted:
    """The paths to guard.

    Attributes:
        entries: Each path as the suite writes it, with its resolved components.
        hint: The gate for Python: a quick look whether a text may name a guarded path.
    """

    entries: tuple[tuple[str, Resolved], ...]
    hint: re.Pattern[str]

    @classmethod
    def of(cls, paths: tuple[str, ...]) -> Restricted:
        """From paths as written in a suite."""
        entries = tuple((path, _canonical(path)) for path in paths)
        return cls(entries, re.compile(_gate(entries), re.IGNORECASE | re.ASCII))

    def covering(self, path: str) -> str | None:
        r"""The entry that a path is or lies below; None if there is none.

        Example:
            >>> guard = Restricted.of(("/etc", "~/.ssh"))
            >>> guard.covering("/etcetera"), guard.covering("$HOME/.ssh/id_rsa"), guard.covering(r"\etc\x")
            (None, '~/.ssh', '/etc')
        """
        if not self.hint.search(path):
            return None
        places = resolve(path)
        for written, entry in self.entries:
            for place in places:
                if place[: len(entry)] == entry and not _is_device(entry, place):
                    return written
        return None

    def windows(self) -> tuple[str, ...]:
        """Windows one of which is in every text, or text with JSON escapes undone, that names a guarded path."""
        out = list(_PLAIN_ENCODED if _is_plain(self.entries) else ("%[0-9a-f][0-9a-f]",))
        for _, entry in self.entries:
            name = _last(entry)
            if not name:
                out += ["/", r"\\", "~", r"\$"]
            elif not name.isascii():
                out.append(r"[\x80-\xff]")
            else:
                head = "" if entry[0] == "." else r"[/\\}]"  # a shell's ${HOME} is taken for a folder
                edge = r"\b" if re.match(r"[A-Za-z0-9_]", name[-1]) else ""
                words = "".join(r"\\?[ ]" if char == " " else re.escape(char) for char in name)
                out.append(head + (words if head else words.removeprefix(r"\\?")) + edge)
        return tuple(out)


def _gate(entries: tuple[tuple[str, Resolved], ...]) -> str:
    encoded = "|".join(_PLAIN_ENCODED) if _is_plain(entries) else "%[0-9a-f][0-9a-f]"
    return "|".join([encoded, *sorted({_gate_of(entry) for _, entry in entries})])


def _is_plain(entries: tuple[tuple[str, Resolved], ...]) -> bool:
    return all(re.fullmatch(r"[A-Za-z0-9._-]*", _last(entry)) for _, entry in entries)


def _last(entry: Resolved) -> str:
    """The last component, empty for the root and for a home folder."""
    return entry[-1] if entry and entry[-1] not in {"~", "."} else ""


def _gate_of(entry: Resolved) -> str:
    name = _last(entry)
    if not name:
        return r"[/\\~$]"
    # a shell may write a space in a name with a back-slash before it
    words = re.escape(name).replace(r"\ ", r"\\? ")
    edge = r"\b" if re.match(r"[A-Za-z0-9_]", name[-1]) else ""
    return ("" if entry[0] == "." else r"[/\\]") + words + edge


def _canonical(path: str) -> Resolved:
    places = sorted(resolve(path), key=lambda place: (place[:1] != ("~",), place))
    if not _HOME.match(path.strip()):
        places = [place for place in places if place[:1] != ("~",)] or places
    return places[0]


def _is_device(entry: Resolved, place: Resolved) -> bool:
    """Whether the path is a device such as /dev/null, which redirections name all the time."""
    return entry == ("dev",) and len(place) > 1 and place[1] in _HARMLESS


def find_paths(text: str) -> list[tuple[str, Span]]:
    """What may be a path in a text: the whole of it, quoted parts and shell words.

    Args:
        text: The text of a leaf.

    Returns:
        Candidates with their places; the whole text comes first.

    Example:
        >>> [path for path, _ in find_paths("cat </etc/hosts --file=~/.ssh/x")][1:]
        ['cat', '/etc/hosts', '--file', '~/.ssh/x']
    """
    found = [(text, (0, len(text)))]
    plain = _WEB.sub(lambda match: " " * len(match.group()), text).replace("${HOME}", "$HOME//")
    found += [(match[2], match.span(2)) for match in _QUOTED.finditer(plain)]
    at = 0
    for edge in [*_BREAKS.finditer(plain), None]:
        end = edge.start() if edge is not None else len(plain)
        if end > at:
            word = plain[at:end]
            found.append((re.sub(r"\\([\s\"'])", r"\1", word), (at, end)))
        at = edge.end() if edge is not None else end
    return found


def whole_path(text: str) -> bool:
    """Whether a text is one path and nothing else.

    Example:
        >>> whole_path("/etc/my file"), whole_path("see /etc"), whole_path("/etc is a folder; do not touch it")
        (True, False, False)
    """
    text = text.strip()
    if not _LOOKS_LIKE_PATH.match(text) or _WEB.match(text) or re.search(r"[;|&<>\n]", text):
        return False
    return not re.search(r"\s", text) or len(re.findall(r"\s\w*", text)) < 3
