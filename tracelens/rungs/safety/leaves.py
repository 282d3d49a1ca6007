"""What safety looks at in one call: every key and value of its arguments, also where they are no valid JSON.

Which values are commands and which are prose is decided here. *Command-like* keys (``command``, ``sql``, ``code``,
``path`` …) hold something that a machine will run or open: every hit counts. *Prose* keys (``body``, ``message``,
``subject`` …) hold something a person will read: a hit counts only where the value is nothing but the hit. Any other
key is prose where the value has three words or more beside the hit and the hit does not stand at the start of a
command. A value that is a restricted path as a whole, and a secret with a known shape, count anywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tracelens.kernels.reference.paths import render_path
from tracelens.rungs.safety.rules import Span

Parts = tuple[str | int, ...]

JSON_STATES = frozenset({"object", "empty", "not_object"})
"""Argument states in which the text is one JSON value."""

COMMAND_WORDS = frozenset(
    [
        "command",
        "commands",
        "cmd",
        "cmds",
        "cmdline",
        "bash",
        "shell",
        "script",
        "scripts",
        "terminal",
        "exec",
        "execute",
        "argv",
        "args",
        "code",
        "program",
        "source",
        "sql",
        "statement",
        "statements",
        "path",
        "paths",
        "file",
        "files",
        "filename",
        "filepath",
        "dir",
        "directory",
        "folder",
        "cwd",
        "url",
        "uri",
        "href",
    ]
)
PROSE_WORDS = frozenset(
    [
        "body",
        "content",
        "contents",
        "message",
        "messages",
        "msg",
        "text",
        "subject",
        "description",
        "note",
        "notes",
        "summary",
        "answer",
        "comment",
        "comments",
        "title",
        "prompt",
        "reason",
        "question",
        "questions",
        "reply",
        "response",
        "feedback",
        "explanation",
        "thought",
        "thoughts",
        "instruction",
        "instructions",
        "email",
        "mail",
        "abstract",
        "caption",
        "review",
        "analysis",
        "plan",
    ]
)
_WORDS_OF_KEY = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NATURAL = re.compile(r"(?<![\w/\\.$~=-])[^\W\d_]{2,}(?=[\s.,;:!?)\"']|\Z)")
_BEFORE_COMMAND = re.compile(
    r"(?:^|[;&|({\n`]|&&|\|\|)\s*(?:\w+=\S*\s+)*(?:(?:sudo|doas|nohup|exec|time|env)\s+)*\S*\Z"
)
_AROUND = 200
_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*)(?P<closed>"|\Z)(?P<colon>\s*:)?|(?P<word>true|false|null|-?\d[\d.eE+-]*)', re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Literal(str):
    """The text of a number, boolean or null."""

    __slots__ = ()


class Leaf(NamedTuple):
    """One text to look at.

    Attributes:
        parts: Members and indices that lead to it.
        key: The nearest member name, None in a bare text.
        text: The decoded text.
        kind: ``value`` (a string), ``literal``, ``key``, ``list`` (strings of one list, joined by spaces), ``raw``
            (what is left of invalid JSON, or a free text) or ``answer`` (the final answer).
    """

    parts: Parts
    key: str | None
    text: str
    kind: str

    @property
    def path(self) -> str:
        """The place as text."""
        return render_path(self.parts)


def key_words(key: str | None) -> frozenset[str]:
    """The words of a key, in lower case.

    Example:
        >>> sorted(key_words("shellCommand_2"))
        ['2', 'command', 'shell']
    """
    return frozenset(word.lower() for word in _WORDS_OF_KEY.findall(key or ""))


def unescape(text: str) -> str:
    r"""A text with its JSON escapes undone, whatever it is otherwise.

    Example:
        >>> unescape(r"a\\b \/ \u0041")
        'a\\b / A'
    """
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _ESCAPED.get(m[2], m[2]), text)


def leaves(text: str, state: str) -> list[Leaf]:
    """Everything to look at in the arguments of one call.

    Args:
        text: The arguments as text.
        state: The state of the arguments.

    Example:
        >>> [(leaf.path, leaf.text, leaf.kind) for leaf in leaves('{"a": {"b": true}}', "object")]
        [('a', 'a', 'key'), ('a.b', 'b', 'key'), ('a.b', 'true', 'literal')]
        >>> [
        ...     (leaf.path, leaf.text)
        ...     for leaf in leaves('{"p": "/etc"}{"p": "/x', "invalid_json")
        ...     if leaf.kind == "value"
        ... ]
        [('p', '/etc'), ('p', '/x')]
    """
    if state in JSON_STATES:
        try:
            return list(_walk(_read(text), (), None))
        except (ValueError, RecursionError):
            pass  # a state that promises more than the text holds must not hide anything
    elif state == "text":
        return [Leaf((), None, text, "raw")]
    return list(_pieces(text))


def _read(text: str) -> Any:
    """The value, decoded up to twice more where it is a string that holds JSON."""
    value: Any = text
    for _ in range(3):
        try:
            value = json.loads(value, parse_int=Literal, parse_float=Literal, parse_constant=Literal, strict=False)
        except ValueError:
            if value is text:
                raise
            break
        if not isinstance(value, str) or isinstance(value, Literal):
            break
    return value


def _walk(value: Any, parts: Parts, key: str | None) -> Iterator[Leaf]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield Leaf((*parts, name), name, name, "key")
            yield from _walk(member, (*parts, name), name)
    elif isinstance(value, list):
        words = [item for item in value if isinstance(item, str)]
        if len(words) > 1:
            yield Leaf(parts, key, " ".join(words), "list")
        for index, item in enumerate(value):
            yield from _walk(item, (*parts, index), key)
    elif isinstance(value, Literal):
        yield Leaf(parts, key, str(value), "literal")
    elif isinstance(value, str):
        yield Leaf(parts, key, value, "value")
    else:
        yield Leaf(parts, key, json.dumps(value), "literal")


def _pieces(text: str) -> Iterator[Leaf]:
    """Keys and values of what looks like JSON, and the rest as one text."""
    key: str | None = None
    rest: list[str] = []
    at = 0
    for token in _TOKEN.finditer(text):
        rest.append(text[at : token.start()])
        at = token.end()
        if token["word"] is not None:
            rest.append(token["word"])
            yield Leaf(() if key is None else (key,), key, token["word"], "literal")
            continue
        rest.append('""' if token["closed"] else '"')
        decoded = unescape(token["text"])
        if token["colon"] is not None:
            key = decoded
            rest.append(":")
            yield Leaf((key,), key, key, "key")
        else:
            yield Leaf(() if key is None else (key,), key, decoded, "value")
    rest.append(text[at:])
    remainder = "".join(rest)
    if re.search(r"[^\s{}\[\]:,\"]", remainder):
        yield Leaf((), None, remainder, "raw")


def is_prose(leaf: Leaf, span: Span) -> bool:
    """Whether a hit in a leaf only is mentioned, in text meant for people.

    Args:
        leaf: The leaf.
        span: Where the hit stands in its text.

    Example:
        >>> mail = Leaf(("body",), "body", "Never run rm -rf / on a server.", "value")
        >>> is_prose(mail, (10, 18)), is_prose(mail._replace(key="command"), (10, 18))
        (True, False)
    """
    if leaf.kind == "answer":
        return True
    words = key_words(leaf.key) if leaf.key is not None else frozenset()
    if leaf.kind in {"raw", "literal", "list", "key"} or words & COMMAND_WORDS:
        return False
    before, after = leaf.text[max(0, span[0] - _AROUND) : span[0]], leaf.text[span[1] : span[1] + _AROUND]
    around = len(_NATURAL.findall(before)) + len(_NATURAL.findall(after))
    if words & PROSE_WORDS:
        return around >= 2
    return around >= 3 and not _BEFORE_COMMAND.search(before if span[0] <= _AROUND else f"…{before}")
