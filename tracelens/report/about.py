"""What a report is about: a run, or the traces of some days, and what to hold it against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tracelens.errors import UsageError, did_you_mean
from tracelens.store import Run, list_runs, open_run
from tracelens.store.parts import Part

HEAD, BASE, TREND = "head", "base", "trend"
"""Names of the parts: what the report is about, what it is held against, and the days that trends show."""

TREND_DAYS = 28
"""Days that trends go back from the end of a span of time."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a report is about.

    Attributes:
        parts: Parts of the store, `HEAD` first.
        title: What it is, in words.
        against: What it is held against, in words; None: nothing.
        timezone: In which days begin.
        run: The newest run among the head's.
        days: First and last day; None: a whole run.
    """

    parts: tuple[Part, ...]
    title: str
    against: str | None
    timezone: str
    run: Run
    days: tuple[date, date] | None = None

    @property
    def has_base(self) -> bool:
        """Whether there is something to hold it against."""
        return self.against is not None

    @property
    def trend(self) -> str:
        """The part whose days the trends show."""
        return TREND if any(part.name == TREND for part in self.parts) else HEAD


def subject(
    results: str | Path,
    *,
    run: str | None = None,
    base: str | None = None,
    since: date | None = None,
    until: date | None = None,
    base_days: int | None = None,
    timezone: str = "UTC",
) -> Subject:
    """Find out what a report is about.

    Without days it is one run, held against another. With days it is what all runs say about the traces that started
    on them (a trace that several runs hold counts as the newest says), held against the days before.

    Args:
        results: A results folder, or one run folder.
        run: Id of the run, or its beginning; the latest one by default. With days: only this run.
        base: Id of the run to hold it against. By default the run before it with the same name of the suite, or with
            days as many days before.
        since: First day.
        until: Last day.
        base_days: How many days before `since` to hold it against; as many as the span has by default.
        timezone: In which days begin.

    Raises:
        UsageError: The days are in the wrong order or at the end of the calendar, or the zone is not known.
        StoreError: No results folder, or no such run.
    """
    zone = zone_of(timezone)
    if since is None and until is None:
        return _whole(results, run, base, timezone)
    if since is not None and until is not None and until < since:
        raise UsageError(f"the last day, {until}, is before the first, {since}", hint="swap --since and --until")
    for day in filter(None, (since, until)):
        if not 1000 <= day.year <= 9000:  # a calendar has an end, and there are days before and after this one
            raise UsageError(f"{day} is too far away", hint="give a day on which traces may have started")
    runs = [open_run(results, run)] if run is not None else list_runs(results)
    folders = tuple(each.folder for each in runs)
    start = None if since is None else _midnight(since, zone)
    end = None if until is None else _midnight(until + timedelta(days=1), zone)
    parts, against = [Part(HEAD, folders, start, end)], None
    if base is not None:
        other = open_run(results, base)
        parts.append(Part(BASE, (other.folder,)))
        against = f"run {other.run_id[:12]}"
    elif since is not None:
        n = base_days or ((until or _today(runs)) - since).days + 1
        first = since - timedelta(days=max(n, 1))
        parts.append(Part(BASE, folders, _midnight(first, zone), start))
        against = _span(first, since - timedelta(days=1))
    if until is not None:
        begin = min(until - timedelta(days=TREND_DAYS), since or until)
        parts.append(Part(TREND, folders, _midnight(begin, zone) if since else None, end))
    first, last = since or date.min, until or date.max
    return Subject(tuple(parts), _span(since, until), against, timezone, runs[-1], (first, last))


def _whole(results: str | Path, run: str | None, base: str | None, timezone: str) -> Subject:
    """One run, held against another or the one before it."""
    head = open_run(results, run)
    other = open_run(results, base) if base is not None else _before(head, list_runs(results))
    parts = [Part(HEAD, (head.folder,))]
    if other is not None:
        parts.append(Part(BASE, (other.folder,)))
    against = None if other is None else f"run {other.run_id[:12]}"
    return Subject(tuple(parts), f"run {head.run_id[:12]}", against, timezone, head)


def _before(head: Run, runs: Sequence[Run]) -> Run | None:
    """The newest run before one, of a suite with the same name."""
    names = [each.run_id for each in runs]
    if head.run_id not in names:
        return None
    earlier = runs[: names.index(head.run_id)]
    return next((each for each in reversed(earlier) if _suite(each) == _suite(head)), None)


def _suite(run: Run) -> str | None:
    names = run.read("runs", ["suite"])["suite"].to_list()
    return names[0] if names else None


def _span(first: date | None, last: date | None) -> str:
    if first == last:
        return f"{first}"
    if first and last:
        return f"{first} to {last}"
    return f"from {first}" if first else f"until {last}"


def _today(runs: Sequence[Run]) -> date:
    """The day on which the newest run was finished: a report made again later is the same."""
    return datetime.fromisoformat(str(runs[-1].info["finished_at"])).astimezone(UTC).date()


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def zone_of(name: str) -> ZoneInfo:
    """The time zone of that name.

    Raises:
        UsageError: There is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        import zoneinfo

        hint = did_you_mean(name, zoneinfo.available_timezones()) or "give a name such as UTC or Europe/Berlin"
        raise UsageError(f"no time zone {name!r}", hint=hint) from error
