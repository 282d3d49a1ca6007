"""A progress line on standard error: traces so far, and how many a second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from tracelens.errors import counted


class Counts(Protocol):
    """What a running score tells."""

    n_traces: int
    n_rejects: int


@contextmanager
def progress_line(show: bool | str = "auto") -> Iterator[Callable[[Counts], None] | None]:
    """A callback that keeps a line up to date while a score runs.

    Args:
        show: Whether to show it; ``auto``: if standard error is a terminal.

    Yields:
        What to call after every batch; None when nothing is to be shown. The line goes away at the end.
    """
    if not (sys.stderr.isatty() if show == "auto" else show):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def report(counts: Counts) -> None:
            bar.update(task, description=describe(counts, bar.tasks[0].elapsed or 0.0))

        yield report


def describe(counts: Counts, seconds: float) -> str:
    """The line in words.

    Example:
        >>> from types import SimpleNamespace
        >>> describe(SimpleNamespace(n_traces=12_000, n_rejects=3), 2.0)
        '12,000 traces, 6,000 a second, 3 rejected'
    """
    parts = [counted(counts.n_traces, "trace")]
    if seconds > 0:
        parts.append(f"{counts.n_traces / seconds:,.0f} a second")
    if counts.n_rejects:
        parts.append(f"{counts.n_rejects:,} rejected")
    return ", ".join(parts)
