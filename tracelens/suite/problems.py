"""Problems of a suite, gathered so that the user sees all of them at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracelens.errors import SuiteError

_FILE_AND_LINE = re.compile(r"(.+?):([0-9]+)(?::|$)")

SHOWN = 50
"""How many problems a message lists; a file with a million bad lines must not print a million lines."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a suite.

    Attributes:
        place: File, line and key path, as far as known: ``suite.toml:14: match.parallel``.
        message: What is wrong.
        hint: What to do about it; empty when nothing sensible can be said.

    Example:
        >>> str(Problem("suite.toml:3: name", "should be a string", "write it in quotes"))
        'suite.toml:3: name: should be a string. Hint: write it in quotes'
    """

    place: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        hint = f". Hint: {self.hint}" if self.hint else ""
        return f"{place}{self.message}{hint}"


class SuiteProblemsError(SuiteError):
    """Everything that is wrong with a suite, in one error.

    Args:
        problems: At least one problem.

    Example:
        >>> print(SuiteProblemsError([Problem("a", "is bad"), Problem("b", "is worse", "drop it")]))
        2 problems in the suite:
          a: is bad
          b: is worse. Hint: drop it
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        if len(self.problems) == 1:
            only = self.problems[0]
            super().__init__(only.message, where=only.place, hint=only.hint)
            return
        lines = [f"{len(self.problems)} problems in the suite:"]
        lines += [f"  {problem}" for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"  … and {len(self.problems) - SHOWN} more")
        super().__init__("\n".join(lines))


class Problems:
    """A list of problems that grows while a suite is read, and raises at the end.

    Example:
        >>> problems = Problems()
        >>> problems.add("tools.a", "has no name")
        >>> len(problems)
        1
    """

    def __init__(self) -> None:
        self._items: list[Problem] = []

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._items)

    def add(self, place: str, message: str, hint: str = "") -> None:
        """Notes one problem."""
        self._items.append(Problem(place, message, hint))

    def extend(self, problems: Iterator[Problem] | Sequence[Problem]) -> None:
        """Notes several problems."""
        self._items.extend(problems)

    def raise_if_any(self) -> None:
        """Raises everything noted so far.

        Raises:
            SuiteProblemsError: When there is a problem.
        """
        if self._items:
            files: dict[str, int] = {}
            raise SuiteProblemsError(sorted(self._items, key=lambda problem: _in_file_order(problem, files)))


def _in_file_order(problem: Problem, files: dict[str, int]) -> tuple[int, int]:
    """Sorts by file, in the order in which files turn up, then by line."""
    match = _FILE_AND_LINE.match(problem.place)
    file, line = match.groups() if match else (problem.place.partition(": ")[0], "0")
    return files.setdefault(file, len(files)), int(line)
