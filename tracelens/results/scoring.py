"""`score`: from a source and a suite to results."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracelens import store
from tracelens.results.core import Results, temporary_folder

if TYPE_CHECKING:
    from tracelens.suite import Suite


def score(
    source: Any,
    suite: Suite | str | Path | Mapping[str, Any] | None = None,
    *,
    out: str | Path | None = None,
    format: str = "auto",
    progress: bool | str = "auto",
) -> Results:
    """Score traces with every rung.

    Args:
        source: A path, a glob, a list of them, or a Polars, Arrow, pandas or DuckDB table of call rows.
        suite: A suite, the path of a suite file, or what such a file would hold as a dictionary. Without one there
            are diagnostics and safety checks only.
        out: The results folder, to which the run is added. Without one the run lives as long as the results.
        format: Name of the input format; ``auto`` finds it.
        progress: Whether to show a progress bar on standard error; ``auto``: if that is a terminal.

    Returns:
        The results.

    Raises:
        SuiteError: The suite cannot be used; all problems at once.
        InputError: The input cannot be read, or holds no trace at all.
        StateError: A database of a state check cannot be reached.
        StoreError: The results cannot be written.
    """
    resolved = as_suite(suite)  # before anything heavy is loaded: most mistakes are made here
    from tracelens.run import score_run

    folder = temporary_folder() if out is None else Path(out)
    try:
        path = score_run(source, resolved, out=folder, format=format, progress=progress)
    except BaseException:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return Results(store.open_run(path), owned=folder if out is None else None)


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
