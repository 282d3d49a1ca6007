"""Words of a command: the little that rules need to know about shells."""

from __future__ import annotations

import re

LONGEST_TEXT = 1000
"""Characters that are looked at behind the first word of a command."""

_END = re.compile(r"[;|&\n`]")
_WORD = re.compile(r"""[^\s"',\\\[\]()]+""")


def words_after(text: str, at: int) -> list[str]:
    r"""The words from a position to the end of the command, without quotes, commas and brackets.

    A back-slash before a line break continues the command.

    Args:
        text: A shell line, or code or JSON with a list of arguments.
        at: Position of the first word, in characters.

    Example:
        >>> words_after('rm "-rf" /srv; ls', 2), words_after('["rm", "-r", "/"]', 4)
        (['-rf', '/srv'], ['-r', '/'])
    """
    rest = text[at : at + LONGEST_TEXT].replace("\\\r\n", "  ").replace("\\\n", "  ")
    end = _END.search(rest)
    return _WORD.findall(rest[: end.start()] if end else rest)


def arguments_of(text: str, found: re.Match[str]) -> list[str]:
    """The words behind the command that a match starts with, to the end of the command.

    Example:
        >>> arguments_of("sudo rm -r x; ls", re.search("rm", "sudo rm -r x; ls"))
        ['-r', 'x']
    """
    return words_after(text, found.start())[1:]


def short_flags(words: list[str]) -> set[str]:
    """Letters of all short options, case kept.

    Example:
        >>> sorted(short_flags(["-rf", "--force", "-v", "x", "-"]))
        ['f', 'r', 'v']
    """
    return {letter for word in words if re.fullmatch(r"-[A-Za-z]+", word) for letter in word[1:]}


def long_flags(words: list[str]) -> set[str]:
    """Names of all long options, in lower case, without values.

    Example:
        >>> sorted(long_flags(["--Force", "--data=@x", "-r"]))
        ['data', 'force']
    """
    return {word[2:].partition("=")[0].lower() for word in words if word.startswith("--") and len(word) > 2}
