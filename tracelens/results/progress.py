"""A progress line on standard error: kernels compiled, then traces so far, and how many a second."""

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
    with _line(show, "reading") as (tell, elapsed):
        yield None if tell is None else lambda counts: tell(describe(counts, elapsed()))


@contextmanager
def _line(show: bool | str, words: str) -> Iterator[tuple[Callable[[str], None] | None, Callable[[], float]]]:
    """What changes the words of a line, if one is shown, and how long it has been there, in seconds."""
    if not (sys.stderr.isatty() if show == "auto" else show):
        yield None, float
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(words, total=None)
        yield lambda new: bar.update(task, description=new), lambda: bar.tasks[0].elapsed or 0.0


_looked: list[bool] = []  # whether this process has asked what is compiled


def compiled(show: bool | str = "auto") -> None:
    """Compile what a first use needs, if that was not done before on this machine.

    Args:
        show: Whether to show how far it is; ``auto``: if standard error is a terminal.
    """
    if _looked:
        return
    _looked.append(True)
    from tracelens.kernels.ahead import compile_ahead, missing

    names = missing()
    if not names:
        return
    words = "compiling, once after installing: {} of " + counted(len(names), "kernel")
    with _line(show, words.format(0)) as (tell, _):
        compile_ahead(names, lambda ready: tell(words.format(ready)) if tell else None)


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
