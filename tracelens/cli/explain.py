"""`tracelens explain`."""

from __future__ import annotations

from pathlib import Path

from tracelens.cli.console import print_json, print_lines


def explain(results: Path, trace: str, /, *, run: str | None = None, lesson: bool = False, json: bool = False) -> None:
    """Show one trace rung by rung: calls aligned with the expected ones, findings, scores, route and reasons.

    Args:
        results: Results folder.
        trace: Id of the trace.
        run: Id of the run, or its beginning; the latest one by default.
        lesson: Say at each rung what it looks at.
        json: Print everything the run knows about the trace as JSON.
    """
    from tracelens.results import open_results

    page = open_results(results, run).explain(trace)
    if json:
        print_json(page.to_dict())
    else:
        print_lines(page.lines(lesson=lesson))
