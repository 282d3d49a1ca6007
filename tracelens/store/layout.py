"""Names of the things in a results folder, and how to find them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from tracelens.errors import StoreError, did_you_mean

RUNS = "runs"
"""Folder of the runs inside a results folder."""
VERDICTS = "verdicts"
"""Folder beside the runs of what judges said, a folder a run."""
INFO = "run.json"
"""File that makes a run folder complete; it is written last."""
PARTIAL = ".partial-"
"""Start of the names of folders that no reader sees."""


def table_file(folder: Path, table: str) -> Path:
    """Where a run folder keeps a table."""
    return folder / f"{table}.parquet"


def verdict_folder(run: Path) -> Path:
    """Where what judges said of a run is kept."""
    return run.resolve().parent.parent / VERDICTS / run.name


def verdict_files(run: Path) -> list[Path]:
    """The files of what judges said of a run, in the order in which they were read."""
    return sorted(verdict_folder(run).glob("*.parquet"))


def is_run(folder: Path) -> bool:
    """Whether the folder is a complete run."""
    return (folder / INFO).is_file() and not folder.name.startswith(PARTIAL)


def run_info(folder: Path) -> dict[str, Any]:
    """The contents of ``run.json``.

    Args:
        folder: A run folder.

    Returns:
        A dictionary with at least ``run_id``, ``finished_at`` (ISO 8601, UTC) and ``rows`` (by table).

    Raises:
        StoreError: The file is absent or not what this program writes.
    """
    path = folder / INFO
    try:
        info = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise StoreError("not a complete run", where=str(folder), hint="score the input again") from error
    if not isinstance(info, dict) or not {"run_id", "finished_at", "rows"} <= info.keys():
        raise StoreError("run.json lacks run_id, finished_at or rows", where=str(path), hint="score the input again")
    return info


def run_folders(results: Path) -> list[Path]:
    """The complete runs of a results folder, oldest first.

    Args:
        results: A results folder, its ``runs`` folder, or one run folder.

    Returns:
        Run folders sorted by the time they were finished, then by id; at least one.

    Raises:
        StoreError: The folder does not exist or holds no run.
    """
    if is_run(results):
        return [results]
    if not results.is_dir():
        raise StoreError("no such results folder", where=str(results), hint=_near(results))
    for parent in (results / RUNS, results):
        found = [each for each in parent.iterdir() if is_run(each)] if parent.is_dir() else []
        if found:
            return sorted(found, key=lambda each: (str(run_info(each)["finished_at"]), each.name))
    raise StoreError(
        "no run in this folder", where=str(results), hint="write one with `tracelens score INPUT --out DIR`"
    )


def _near(path: Path) -> str:
    """A hint at a folder beside it with nearly that name."""
    try:
        names = [each.name for each in path.parent.iterdir() if each.is_dir()]
    except OSError:
        names = []
    return did_you_mean(path.name, names) or "write one with `tracelens score INPUT --out DIR`"
