"""Alerts of a day: a pass rate below its limits, a schema that begins to fail, no traces at all."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from tracelens.errors import counted
from tracelens.nightly.chance import ONSET, TAIL, at_most, limits, onset
from tracelens.shown import short
from tracelens.store.parts import connect_parts
from tracelens.store.query import records

if TYPE_CHECKING:
    from tracelens.nightly.config import Alerts
    from tracelens.report import Numbers, Subject
    from tracelens.store.parts import Connection

Row = dict[str, Any]

FEW = 5
"""Failing traces on the day below which no onset is looked for."""

_SCHEMA = ("schema.", "tool.unknown", "arguments.")

_MINUTES = """
    WITH failing AS (
        SELECT DISTINCT run_id, trace_id FROM stored.findings
        WHERE severity = 'error' AND code = $code AND tool = $tool
            AND coalesce(regexp_replace(path, '\\[\\d+\\]', '[*]', 'g'), '') = $path
    ),
    calling AS (SELECT DISTINCT run_id, trace_id FROM stored.calls WHERE tool = $tool)
    SELECT CAST(epoch(date_trunc('minute', t.started_at)) AS BIGINT) AS minute, count(*) AS n, count(f.trace_id) AS failed
    FROM stored.traces AS t
    SEMI JOIN calling AS c ON t.run_id = c.run_id AND t.trace_id = c.trace_id
    LEFT JOIN failing AS f ON t.run_id = f.run_id AND t.trace_id = f.trace_id
    WHERE t.run_id IN ('head', 'base') GROUP BY minute ORDER BY minute
"""

_WHO = """
    SELECT t.agent, json_extract_string(t.tags, $version) AS version, count(*) AS n,
        min_by(t.trace_id, struct_pack(at := t.started_at, id := t.trace_id)) AS first_trace_id,
        CAST(min(t.started_at) AS VARCHAR) AS first_at, min(epoch_us(t.started_at)) AS first_us
    FROM stored.traces AS t
    WHERE t.run_id = 'head' AND epoch(t.started_at) >= $minute AND t.trace_id IN (
        SELECT trace_id FROM stored.findings
        WHERE run_id = 'head' AND severity = 'error' AND code = $code AND tool = $tool
            AND coalesce(regexp_replace(path, '\\[\\d+\\]', '[*]', 'g'), '') = $path
    )
    GROUP BY ALL ORDER BY n DESC, agent, version
"""


def alerts_of(numbers: Numbers, about: Subject, settings: Alerts) -> list[Row]:
    """Every alert of a day.

    Args:
        numbers: The numbers of the day, held against the days before.
        about: What they are about.
        settings: When to raise one.

    Returns:
        JSON values: ``kind``, ``message`` and what the kind has; the gravest kind first.
    """
    found = [*_silence(numbers, about, settings), *_onsets(numbers, about, settings), *_low_rates(numbers, settings)]
    day = about.days[0].isoformat() if about.days else None
    return [{"day": day, **row} for row in found]


def _silence(numbers: Numbers, about: Subject, settings: Alerts) -> Iterator[Row]:
    """No trace on the day, where there were enough of them before."""
    before = numbers.total("base").get("n_traces", 0)
    if not numbers.total() and before >= settings.least:
        mean = before / settings.days
        message = f"no trace started on {about.title}; {mean:,.1f} a day in the {settings.days} days before"
        yield {"kind": "no_traces", "message": message, "n_before": before, "days": settings.days}


def _low_rates(numbers: Numbers, settings: Alerts) -> Iterator[Row]:
    """Pass rates below their limits."""
    before = {(row["dimension"], row["value"]): row for row in numbers.tables["rates"] if row["part"] == "base"}
    for row in numbers.tables["rates"]:
        other = before.get((row["dimension"], row["value"]))
        if row["part"] != "head" or row["dimension"] not in settings.by or row["value"] is None or other is None:
            continue
        if min(row["n_scored"], other["n_scored"]) < settings.least:
            continue
        expected = limits(row["n_passed"], row["n_scored"], other["n_passed"], other["n_scored"], settings.sigmas)
        if row["pass_rate"] < expected.low and expected.chance <= TAIL:
            yield _low(row, other, expected, settings)


def _low(row: Row, other: Row, expected: Any, settings: Alerts) -> Row:
    dimension = row["dimension"].removeprefix("tag:")
    unit = "calls without a finding" if row["dimension"] == "tool" else "traces passed"
    message = (
        f"{dimension} {short(row['value'], 80)}: {row['pass_rate']:.1%} of {row['n_scored']:,} {unit}, below the limit of"
        f" {expected.low:.1%}; {expected.mean:.1%} in the {settings.days} days before"
    )
    return {
        "kind": "pass_rate_low", "message": message, "dimension": row["dimension"], "value": row["value"],
        "pass_rate": row["pass_rate"], "n_scored": row["n_scored"], "n_passed": row["n_passed"],
        "limits": {"mean": expected.mean, "low": expected.low, "sigmas": settings.sigmas, "days": settings.days,
                   "n_scored_before": other["n_scored"], "n_passed_before": other["n_passed"]},
        "chance": expected.chance,
    }  # fmt: skip


def _onsets(numbers: Numbers, about: Subject, settings: Alerts) -> Iterator[Row]:
    """Schemas that began to fail on the day."""
    n, n_before = numbers.total().get("n_traces", 0), numbers.total("base").get("n_traces", 0)
    suspects = [
        row
        for row in numbers.tables["mistakes"]
        if row["code"].startswith(_SCHEMA) and row["tool"] is not None and row["n_traces"] >= FEW
        and n_before >= settings.least and _risen(row, n, n_before)
    ]  # fmt: skip
    if suspects and about.days is not None:
        with connect_parts(about.parts, timezone=about.timezone) as duck:
            for row in suspects:
                yield from _onset(duck, row, about.parts[0].since, settings)


def _risen(row: Row, n: int, n_before: int) -> bool:
    """Whether a mistake is more frequent than before, by the exact test (failures change places with passes)."""
    good, good_before = n - row["n_traces"], n_before - row["n_traces_before"]
    return at_most(good, n, good + good_before, n + n_before) <= TAIL


def _onset(duck: Connection, row: Row, start: datetime | None, settings: Alerts) -> Iterator[Row]:
    """The onset of one mistake, if it lies within the day."""
    kind = {"code": row["code"], "tool": row["tool"], "path": row["path"] or ""}
    minutes = records(duck, _MINUTES, **kind)
    failed, n = (np.array([each[name] for each in minutes], np.int64) for name in ("failed", "n"))
    found = onset(failed, n)
    if found is None or found.statistic < ONSET or start is None:
        return
    minute = minutes[found.at]["minute"]
    if minute < start.timestamp() - 60:
        return  # it began before the day: another day's alert
    version = '$."' + settings.version.replace("\\", "\\\\").replace('"', '\\"') + '"'
    who = records(duck, _WHO, minute=minute, version=version, **kind)
    if who:
        yield _begun(row, found, who)


def _begun(row: Row, found: Any, who: list[Row]) -> Row:
    first = min(who, key=lambda each: (each["first_us"], each["first_trace_id"]))
    most = who[0]
    where = ".".join(filter(None, (row["tool"], row["path"])))
    by = " ".join(f"{name} {short(most[name], 60)}" for name in ("agent", "version") if most[name] is not None)
    message = (
        f"{row['code']} at {short(where, 80)} began at {first['first_at']} with trace {short(first['first_trace_id'], 80)}:"
        f" {found.after:.1%} of the traces that call the tool since then, {found.before:.1%} before"
        f"{f'; mostly {by}' if by else ''}"
    )
    total = sum(each["n"] for each in who)
    return {
        "kind": "onset", "message": message, "tool": row["tool"], "code": row["code"], "path": row["path"],
        "agent": most["agent"], "version": most["version"], "first_trace_id": first["first_trace_id"],
        "began_at": datetime.fromisoformat(first["first_at"]).isoformat(), "share_before": found.before,
        "share_after": found.after, "n_traces": total, "statistic": found.statistic, "limit": ONSET,
        "by": [{"agent": each["agent"], "version": each["version"], "n_traces": each["n"]} for each in who[:20]],
    }  # fmt: skip


def unreadable_alerts(files: dict[str, str], day: date) -> list[Row]:
    """An alert for files that nobody can read."""
    if not files:
        return []
    name, why = next(iter(sorted(files.items())))
    message = f"{counted(len(files), 'file')} cannot be read, such as {short(name, 80)}: {short(why, 200)}"
    return [{"day": day.isoformat(), "kind": "unreadable", "message": message, "files": dict(sorted(files.items()))}]


def window(day: date, days: int) -> tuple[date, date]:
    """First and last of the days before a day.

    Example:
        >>> window(date(2026, 3, 1), 28)
        (datetime.date(2026, 2, 1), datetime.date(2026, 2, 28))
    """
    return day - timedelta(days=days), day - timedelta(days=1)
