"""From a source and a suite to a run folder, which may be a temporary one."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracelens.errors import UsageError, path_of, shown_type
from tracelens.results.progress import compiled, progress_line

if TYPE_CHECKING:
    from tracelens.selection import Selection
    from tracelens.suite import Suite


def run_folder(
    source: Any,
    suite: Suite | str | Path | Mapping[str, Any] | None,
    *,
    out: str | Path | None,
    format: str,
    progress: bool | str,
    selection: Selection,
) -> tuple[Path, Path | None]:
    """Score, and say where the run is.

    Args:
        source: As for `tracelens.score`, and so are the others.
        suite: What to score against.
        out: The results folder; a temporary one when None.
        format: Name of the input format, or ``auto``.
        progress: Whether to show a progress bar.
        selection: Which traces.

    Returns:
        The run folder, and the temporary folder to remove after use, if one was made.
    """
    resolved = as_suite(suite)  # before anything heavy is loaded: most mistakes are made here
    compiled(progress)
    from tracelens.run import score as engine

    folder = path_of(out, "results folder") if out is not None else Path(tempfile.mkdtemp(prefix="tracelens-"))
    try:
        with progress_line(progress) as report:
            run = engine.score_run(source, resolved, out=folder, format=format, selection=selection, report=report)
    except BaseException:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return run, folder if out is None else None


def as_suite(suite: Any) -> Suite:
    """The suite that was meant: a suite, the path of a file, what one holds, or None.

    Raises:
        UsageError: It is none of them.

    Example:
        >>> as_suite({"name": "flights"}).name
        'flights'
    """
    from tracelens.suite import Suite

    if suite is None:
        return Suite.default()
    if isinstance(suite, str | os.PathLike):
        return Suite.load(suite)
    if isinstance(suite, Mapping):
        return Suite.from_dict(suite)
    if not isinstance(suite, Suite):
        hint = "give a Suite, the path of a suite file, or a dictionary of what such a file holds"
        raise UsageError(f"{shown_type(suite)} is no suite", hint=hint)
    return suite
