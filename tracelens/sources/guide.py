"""What there is to say about each format, from its source alone: the guide of formats is made of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from inspect import cleandoc

from tracelens.sources.detect import SAMPLE, SAMPLES, SOURCES, source_named

NOT_SEEN = "not seen on real data"
"""What is said of a format that was built from its description alone."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One format.

    Attributes:
        name: What ``--format`` calls it.
        title: One line about it.
        seen: Whether it was tried on real data.
        about: How it is read: the words of its module.
        sample: Name of the bundled file that shows it.
        command: A command that scores that file.
    """

    name: str
    title: str
    seen: bool
    about: str
    sample: str
    command: str

    @property
    def mark(self) -> str:
        """What is said behind its title; empty where it was tried on real data."""
        return "" if self.seen else f" ({NOT_SEEN})"

    def beginning(self, lines: int = 6, width: int = 110) -> list[str]:
        """The first lines of its sample, shortened; empty for a binary file."""
        start = (SAMPLES / self.sample).read_bytes()[:8192]
        if b"\0" in start:
            return []
        return [
            line if len(line) <= width else line[: width - 1] + "…"
            for line in start.decode("utf-8", "ignore").splitlines()[:lines]
        ]


def entries() -> list[Entry]:
    """All formats, in the order of lists.

    Example:
        >>> entries()[0].name, entries()[0].command
        ('native', 'tracelens score sample:native')
    """
    return [entry(source.name) for source in SOURCES]


def entry(name: str) -> Entry:
    """One format by name.

    Raises:
        UsageError: There is none.
    """
    source = source_named(name)
    about = cleandoc(sys.modules[type(source).__module__].__doc__ or "")
    return Entry(name, source.title, source.seen, about, source.sample, f"tracelens score {SAMPLE}{name}")
