"""Rules for dates and times written as text."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from tracelens.kernels.reference.strings import trim

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_TEXT = re.compile(
    r"(?P<date>([0-9]{4})-([0-9]{2})-([0-9]{2}))"
    r"(?:[Tt ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?)?"
    r"(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?\Z"
)


def calendar_date(text: str) -> str | None:
    """The calendar date as written, whatever time and zone follow it.

    Args:
        text: ``YYYY-MM-DD``, alone or followed by ``T``, ``t`` or a space and a time with or without zone.

    Returns:
        ``YYYY-MM-DD``; None where the text is nothing like that, or no date of the calendar.

    Example:
        >>> calendar_date("2026-11-02T23:30:00-08:00"), calendar_date("2026-02-30"), calendar_date("soon")
        ('2026-11-02', None, None)
    """
    found = _match(text)
    return found["date"] if found else None


def instant(text: str, zone: str | None = None) -> str | None:
    """The instant that a date-time names.

    Args:
        text: A date and a time, the seconds and a fraction of them optional, with or without offset.
        zone: Name of the zone that times without offset are in; None leaves them naive. Of a local time that
            occurs twice the first is meant; one that a change of clocks skips is read with the offset before it.

    Returns:
        ``2026-11-02T09:00:00Z`` in UTC, without ``Z`` for a naive time, fractions without trailing zeros. None
        where the text is no valid date-time (a date alone, hour 24, a leap second that is none), or where the
        instant lies outside of the years 1 to 9999.

    Example:
        >>> instant("2026-11-02 10:00:00.50+01:00"), instant("2026-11-02T10:00"), instant("2026-11-02")
        ('2026-11-02T09:00:00.5Z', '2026-11-02T10:00:00', None)
        >>> instant("2026-11-02T10:00", "Europe/Berlin")
        '2026-11-02T09:00:00Z'
    """
    found = _match(text)
    if found is None or found["hour"] is None:
        return None
    leap = found["second"] == "60"
    clock = f"{found['hour']}:{found['minute']}:{'59' if leap else found['second'] or '00'}"
    local = datetime.fromisoformat(f"{found['date']}T{clock}")
    try:
        offset = _offset(found["zone"], local, zone)
        moment = local - (offset or timedelta(0))
    except OverflowError:
        return None
    if leap and (moment.hour, moment.minute, moment.second) != (23, 59, 59):
        return None
    fraction = (found["fraction"] or "").rstrip("0")
    written = moment.isoformat()[:-2] + ("60" if leap else f"{moment.second:02}")
    return f"{written}{'.' if fraction else ''}{fraction}{'' if offset is None else 'Z'}"


def _match(text: str) -> re.Match[str] | None:
    found = _TEXT.match(trim(text))
    if found is None:
        return None
    try:
        date.fromisoformat(found["date"])
    except ValueError:
        return None
    if found["hour"] is not None:
        zone_minutes = (found["zone"] or "Z")[3:].lstrip(":") or "0"
        zone_hours = (found["zone"] or "Z")[1:3] or "0"
        limits = ((found["hour"], 23), (found["minute"], 59), (found["second"] or "0", 60))
        if any(int(part) > most for part, most in (*limits, (zone_hours, 23), (zone_minutes, 59))):
            return None
    return found


def _offset(written: str | None, local: datetime, zone: str | None) -> timedelta | None:
    if written is None:
        return None if zone is None else load_zone(zone).utcoffset(local.replace(fold=0))
    if written in "Zz":
        return timedelta(0)
    size = timedelta(hours=int(written[1:3]), minutes=int(written[3:].lstrip(":") or "0"))
    return -size if written[0] == "-" else size


@lru_cache(maxsize=64)
def load_zone(name: str) -> ZoneInfo:
    """The time zone of a name such as ``Europe/Berlin``.

    Raises:
        ValueError: There is no zone of that name.
    """
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise ValueError(f"unknown time zone {name!r}") from None
