"""From a source and a suite to a run folder, which may be a temporary one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracelens.results.progress import progress_line

if TYPE_CHECKING:
    from tracelens.suite import Suite


def run_folder(
    source: Any,
    suite: Suite | str | Path | Mapping[str, Any] | None,
    *,
    out: str | Path | None,
    format: str,
    progress: bool | str,
) -> tuple[Path, Path | None]:
    """Score, and say where the run is.

    Args:
        source: As for `tracelens.score`, and so are the others.
        suite: What to score against.
        out: The results folder; a temporary one when None.
        format: Name of the input format, or ``auto``.
        progress: Whether to show a progress bar.

    Returns:
        The run folder, and the temporary folder to remove after use, if one was made.
    """
    resolved = as_suite(suite)  # before anything heavy is loaded: most mistakes are made here
    from tracelens.run import score as engine

    folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="tracelens-"))
    try:
        with progress_line(progress) as report:
            run = engine.score_run(source, resolved, out=folder, format=format, report=report)
    except BaseException:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return run, folder if out is None else None


def as_suite(suite: Suite | str | Path | Mapping[str, Any] | None) -> Suite:
    """The suite that was meant.

    Example:
        >>> as_suite({"name": "flights"}).name
        'flights'
    """
    from tracelens.suite import Suite

    if suite is None:
        return Suite.default()
    if isinstance(suite, str | Path):
        return Suite.load(suite)
    return Suite.from_dict(suite) if isinstance(suite, Mapping) else suite
