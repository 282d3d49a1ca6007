"""What a check of a suite says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from tracelens.errors import counted

SHOWN = 20
"""How many problems of one kind are told; the others are counted."""


@dataclass(frozen=True, slots=True)
class LintProblem:
    """One doubtful thing in a suite that loads.

    Attributes:
        severity: ``error``: something the suite asks for cannot work as written. ``warning``: it works, but perhaps
            not as meant.
        place: File, line and key.
        message: What is wrong.
        hint: What to do about it; may be empty.

    Example:
        >>> str(LintProblem("warning", "suite.toml:3: waive[0]", "has expired"))
        'warning: suite.toml:3: waive[0]: has expired'
    """

    severity: Literal["error", "warning"]
    place: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        hint = f". Hint: {self.hint}" if self.hint else ""
        return f"{self.severity}: {place}{self.message}{hint}"


class Found:
    """The problems found so far.

    Each kind of problem is told at most `SHOWN` times, because one wrong schema can spoil a million references.
    """

    def __init__(self) -> None:
        self._items: list[LintProblem] = []
        self._kinds: Counter[str] = Counter()

    def error(self, place: str, message: str, hint: str = "", *, kind: str = "") -> None:
        """Notes an error; problems of one ``kind`` are cut after `SHOWN`."""
        self._add(LintProblem("error", place, message, hint), kind)

    def warning(self, place: str, message: str, hint: str = "", *, kind: str = "") -> None:
        """Notes a warning."""
        self._add(LintProblem("warning", place, message, hint), kind)

    def _add(self, problem: LintProblem, kind: str) -> None:
        if kind:
            self._kinds[kind] += 1
            if self._kinds[kind] > SHOWN:
                return
        self._items.append(problem)

    def all(self) -> list[LintProblem]:
        """All of them, errors first, else in the order found; then how many were left out."""
        rest = [
            LintProblem("warning", "", f"{counted(count - SHOWN, 'more problem')} of the kind: {kind}")
            for kind, count in self._kinds.items()
            if count > SHOWN
        ]
        return sorted([*self._items, *rest], key=lambda problem: problem.severity != "error")
