"""`tracelens report`."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tracelens.cli.console import say
from tracelens.errors import UsageError


def report(
    results: Path,
    /,
    *,
    out: Path | None = None,
    markdown: Path | None = None,
    json: Path | None = None,
    parquet: Path | None = None,
    run: str | None = None,
    base: str | None = None,
    since: str | None = None,
    until: str | None = None,
    by: str = "agent,tag:version",
    tz: str = "UTC",
) -> None:
    """Write a report: what changed, what to do, trends, tools, failures, safety, cost. Prints the files made.

    It is about the latest run, held against the run before it; with `--since` or `--until` about the traces that
    started on those days, whichever run scored them, held against as many days before.

    Args:
        results: Results folder.
        out: The page to write, one HTML file that needs nothing else.
        markdown: The same as Markdown.
        json: The numbers as JSON.
        parquet: A folder for the numbers as Parquet, one file per table.
        run: Id of the run, or its beginning; the latest one by default.
        base: Id of the run to hold it against, or its beginning.
        since: First day, YYYY-MM-DD.
        until: Last day, YYYY-MM-DD.
        by: What to tell pass rates apart by: `tool`, `agent`, `day`, `tag:NAME`, separated by commas.
        tz: Time zone in which days begin.
    """
    from tracelens.report import measure, subject, write_reports

    if not any((out, markdown, json, parquet)):
        raise UsageError("nothing says what to write", hint="give --out report.html, --markdown, --json or --parquet")
    about = subject(results, run=run, base=base, since=_day(since), until=_day(until), timezone=tz)
    say("reading the store")
    found = measure(about, by=[name.strip() for name in by.split(",") if name.strip()])
    for path in write_reports(found, html=out, markdown=markdown, json=json, parquet=parquet):
        print(path)


def _day(text: str | None) -> date | None:
    """A day that was given."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no day", hint="write it as 2026-11-30") from error
