"""One night: take, report, alert."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from tracelens.errors import StoreError
from tracelens.nightly.alerts import alerts_of, unreadable_alerts
from tracelens.nightly.config import Config, webhook_of
from tracelens.nightly.deliver import deliver
from tracelens.nightly.take import Taken, take
from tracelens.report import BY, measure, put, subject, write_reports, zone_of
from tracelens.store import list_runs
from tracelens.store.locks import alone


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a night came to.

    Attributes:
        day: The day reported on.
        taken: What was taken.
        alerts: The alerts of the day.
        files: Files written for the day.
        posted: Whether alerts were posted to the webhook this time.
    """

    day: date
    taken: Taken
    alerts: list[dict[str, Any]]
    files: list[Path] = field(default_factory=list)
    posted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        taken = asdict(self.taken) | {"run": self.taken.run.name if self.taken.run else None}
        return {
            "day": self.day.isoformat(),
            "taken": taken,
            "alerts": self.alerts,
            "files": [str(each) for each in self.files],
            "posted": self.posted,
        }


def nightly(config: Config, *, day: date | None = None, now: datetime | None = None) -> Outcome:
    """Do the work of a night. Safe to run twice, after a crash, and for a past day.

    Args:
        config: The job.
        day: The day to report on; yesterday by default.
        now: The time that it is; the clock's by default.

    Returns:
        What was taken, and the alerts of the day.

    Raises:
        TraceLensError: The input cannot be listed, the suite cannot be used, the store cannot be written, or nobody
            takes the alerts. What was done until then is kept, and not done again.
    """
    address = webhook_of(config)  # what is wrong with it should be known before the work
    at = time.time_ns() if now is None else int(now.timestamp() * 1_000_000) * 1000
    moment = datetime.fromtimestamp(at / 1e9, UTC)
    chosen = day or (moment.astimezone(zone_of(config.timezone)) - timedelta(days=1)).date()
    with alone(config.state / "job.lock"):
        taken = take(config, at)
        alerts, files = _report(config, chosen, taken)
        posted = address is not None and bool(alerts) and deliver(alerts, address, config.state)
    return Outcome(chosen, taken, alerts, files, posted)


def _report(config: Config, day: date, taken: Taken) -> tuple[list[dict[str, Any]], list[Path]]:
    """Write the report and the alerts of a day; both follow from the store alone."""
    alerts = unreadable_alerts(taken.unreadable, day)
    try:
        list_runs(config.out)
    except StoreError:  # nothing was ever taken
        return alerts, []
    settings = config.alerts
    about = subject(config.out, since=day, until=day, base_days=settings.days, timezone=config.timezone)
    numbers = measure(about, by=tuple(dict.fromkeys((*settings.by, *BY))))
    alerts += alerts_of(numbers, about, settings)
    numbers = replace(numbers, tables={**numbers.tables, "alerts": alerts})
    path = config.pages / f"{day.isoformat()}.html"
    files = write_reports(numbers, html=path, json=path.with_suffix(".json"))
    content = orjson.dumps(alerts, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    files.append(put(config.pages / f"{day.isoformat()}.alerts.json", content))
    return alerts, files
