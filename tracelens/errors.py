"""Every error TraceLens raises on purpose, each with the exit code the command line gives it.

A message says what is wrong, where, and what to do. ``where`` and ``hint`` are kept apart so that faces can lay
them out; ``str(error)`` has all three.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class TraceLensError(Exception):
    """Base of all errors raised on purpose.

    Args:
        message: What is wrong, one sentence.
        where: The place: file, line, trace or path of a key; empty when there is none.
        hint: What to do about it; empty when nothing sensible can be said.

    Example:
        >>> str(SuiteError("unknown key 'toolz'", where="suite.toml", hint="did you mean 'tools'?"))
        "suite.toml: unknown key 'toolz'. Hint: did you mean 'tools'?"
    """

    exit_code = 4

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        self.message = message
        self.where = where
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        hint = f". Hint: {self.hint}" if self.hint else ""
        return f"{place}{self.message}{hint}"


class UsageError(TraceLensError):
    """A wrong argument of a command or function."""

    exit_code = 2


class SuiteError(TraceLensError):
    """A suite file, or a file it names, that cannot be used."""

    exit_code = 2


class InputError(TraceLensError):
    """An input that cannot be read, or that holds no trace at all."""

    exit_code = 3


class NothingScoredError(InputError):
    """An input that was read to its end and gave no trace to score."""


class StoreError(TraceLensError):
    """A results folder that cannot be read or written."""

    exit_code = 3


class StateError(TraceLensError):
    """A database of a state check that cannot be reached or queried."""

    exit_code = 3


class InternalError(TraceLensError):
    """A broken promise between two parts of TraceLens: a bug, never the user's fault."""

    exit_code = 4


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint with the nearest valid name, or the empty string.

    Args:
        name: What was written.
        known: The valid names.

    Returns:
        ``"did you mean 'x'?"`` or ``""``.

    Example:
        >>> did_you_mean("subest", ["subset", "strict"])
        "did you mean 'subset'?"
        >>> did_you_mean("title", ["suite"])
        ''
    """
    near = difflib.get_close_matches(name, list(known), n=5, cutoff=0.5)
    good = next((each for each in near if _alike(name.casefold(), each.casefold())), None)
    return f"did you mean {good!r}?" if good is not None else ""


def _alike(name: str, other: str) -> bool:
    """Whether one is a slip of the other, holds it, begins like it, or shares a word with it."""
    short, long = sorted((name, other), key=len)
    if long.startswith(short[: max(6, len(short) // 2 + 1)]) and len(short) > 5:
        return True
    if len(short) > 2 and (long.startswith(short) or (len(short) > 3 and short in long)):
        return True
    words = [{word for word in re.split(r"[\W_]+", each) if len(word) > 3} for each in (name, other)]
    return bool(words[0] & words[1]) or _slips(name, other) <= max(1, len(short) // 3)


def _slips(name: str, other: str) -> int:
    """How many letters must be put in, left out, changed or swapped with their neighbours."""
    before, row = list[int](), list(range(len(other) + 1))
    for i, letter in enumerate(name, start=1):
        older, before, row = before, row, [i]
        for j, wanted in enumerate(other, start=1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted)))
            if i > 1 and j > 1 and letter == other[j - 2] and name[i - 2] == wanted:
                row[j] = min(row[j], older[j - 2] + 1)
    return row[-1]


def counted(n: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    Example:
        >>> counted(1, "case"), counted(2000, "case"), counted(2, "query", "queries")
        ('1 case', '2,000 cases', '2 queries')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def path_of(value: Any, what: str) -> Path:
    """A path that was given as an argument.

    Args:
        value: What was given.
        what: What it is the path of, for the message.

    Raises:
        UsageError: It is no path, or an empty one: that would be the working directory, which nobody has named.

    Example:
        >>> path_of("results", "results folder").name
        'results'
        >>> path_of("", "results folder")
        Traceback (most recent call last):
        ...
        tracelens.errors.UsageError: the path of the results folder is empty. Hint: write '.' for the working directory
    """
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        hint = "give a path, as text or as a pathlib.Path"
        raise UsageError(f"the {what} is given as {shown_type(value)}, not as a path", hint=hint)
    if not os.fspath(value):
        raise UsageError(f"the path of the {what} is empty", hint="write '.' for the working directory")
    return Path(value)


def shown_type(value: Any) -> str:
    """The type of an argument as part of a sentence.

    Example:
        >>> shown_type(5), shown_type(None), shown_type([])
        ('an int', 'None', 'a list')
    """
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
