"""`tracelens nightly`."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from tracelens.cli.console import print_json, print_lines
from tracelens.errors import UsageError, counted
from tracelens.results.page import Line, safe

if TYPE_CHECKING:
    from tracelens.nightly import Outcome


def nightly(config: Path, /, *, day: str | None = None, json: bool = False) -> int:
    """Take new traces, score them, report the day and raise alerts. Exit code 1 if there is an alert.

    It may be run twice, after a crash, or for a past day: nothing is lost, nothing counts twice.

    Args:
        config: TOML file of the job, with at least `input` and `out`.
        day: The day to report on, YYYY-MM-DD; yesterday by default.
        json: Print what was done, and the alerts, as JSON.
    """
    from tracelens.nightly import Config
    from tracelens.nightly import nightly as work

    try:
        chosen = None if day is None else date.fromisoformat(day)
    except ValueError as error:
        raise UsageError(f"{day!r} is no day", hint="write it as 2026-11-30") from error
    outcome = work(Config.load(config), day=chosen)
    if json:
        print_json(outcome.to_dict())
    else:
        print_lines(_lines(outcome))
    return int(bool(outcome.alerts))


def _lines(of: Outcome) -> list[Line]:
    """What was done, in a few lines."""
    taken = of.taken
    what = f"run {taken.run.name}" if taken.run else "no new trace"
    left = [
        counted(number, noun, nouns)
        for number, noun, nouns in (
            (taken.n_writing, "file still being written", "files still being written"),
            (taken.n_held, "trace held", "traces held"),
            (taken.n_known, "trace taken before", "traces taken before"),
        )
        if number
    ]
    left += [] if taken.n_there else ["there is no file in the input"]
    lines: list[Line] = [
        [
            ("Taken  ", "dim"),
            (what, "strong"),
            (f"  {counted(taken.n_files, 'file')} read", ""),
            (f"  {', '.join(left)}" if left else "", "dim"),
        ],
        [("Day    ", "dim"), (of.day.isoformat(), "strong")],
        [("Alerts ", "dim"), (str(len(of.alerts)), "bad" if of.alerts else "good")],
    ]
    lines += [[("  ✗ ", "bad"), (safe(each["message"]), "")] for each in of.alerts]
    lines += [[("Wrote  ", "dim"), (safe(str(path)), "")] for path in of.files]
    return lines
