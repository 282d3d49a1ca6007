"""Dates and instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.kernels.reference.times import calendar_date, instant, load_zone


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-11-02", "2026-11-02"),
        ("  2026-11-02\n", "2026-11-02"),
        ("2026-11-02T23:59:59-11:00", "2026-11-02"),
        ("2026-11-02t00:00", "2026-11-02"),
        ("2026-11-02 10:00:00.123Z", "2026-11-02"),
        ("2024-02-29", "2024-02-29"),
        ("2026-02-29", None),
        ("2026-13-01", None),
        ("0000-01-01", None),
        ("2026-11-02T25:00", None),
        ("2026-11-02T10:00+25:00", None),
        ("2026-11-2", None),
        ("20261102", None),
        ("2026-11-02T", None),
        ("2026-11-02x", None),
        ("2026-11-02T10:00:00 tomorrow", None),
        ("٢٠٢٦-11-02", None),
        ("2nd of November", None),
        ("", None),
    ],
)
def test_calendar_date(text: str, found: str | None) -> None:
    assert calendar_date(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-11-02T10:00:00+01:00", "2026-11-02T09:00:00Z"),
        ("2026-11-02T09:00:00Z", "2026-11-02T09:00:00Z"),
        ("2026-11-02t09:00:00z", "2026-11-02T09:00:00Z"),
        ("2026-11-02 09:00:00+00:00", "2026-11-02T09:00:00Z"),
        ("2026-11-02T09:00:00-00:00", "2026-11-02T09:00:00Z"),
        ("2026-11-02T09:00Z", "2026-11-02T09:00:00Z"),
        ("2026-11-02T09:00:00.5000Z", "2026-11-02T09:00:00.5Z"),
        ("2026-11-02T09:00:00.000Z", "2026-11-02T09:00:00Z"),
        ("2026-11-02T09:00:00.1234567890123Z", "2026-11-02T09:00:00.1234567890123Z"),
        ("2026-11-02T09:00:00", "2026-11-02T09:00:00"),
        ("2026-11-02T02:30:00+0530", "2026-11-01T21:00:00Z"),
        ("2026-11-02T02:30:00+05", "2026-11-01T21:30:00Z"),
        ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:60Z"),
        ("2017-01-01T00:59:60.5+01:00", "2016-12-31T23:59:60.5Z"),
        ("2016-12-31T12:00:60Z", None),
        ("2026-11-02T24:00:00Z", None),
        ("2026-11-02T09:60:00Z", None),
        ("2026-11-02T09:00:61Z", None),
        ("2026-11-02", None),
        ("0001-01-01T00:00:00+01:00", None),
        ("9999-12-31T23:59:59-01:00", None),
        ("2026-02-30T09:00:00Z", None),
        ("2026-11-02T09:00:00.Z", None),
        ("2026-11-02T09:00:00+1:00", None),
    ],
)
def test_instant(text: str, found: str | None) -> None:
    assert instant(text) == found


def test_naive_never_equals_aware() -> None:
    assert instant("2026-11-02T09:00:00") != instant("2026-11-02T09:00:00Z")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-11-02T10:00", "2026-11-02T09:00:00Z"),
        ("2026-07-02T10:00", "2026-07-02T08:00:00Z"),
        ("2026-07-02T10:00+00:00", "2026-07-02T10:00:00Z"),
        ("2026-10-25T02:30", "2026-10-25T00:30:00Z"),  # twice: the first, still summer time
        ("2026-03-29T02:30", "2026-03-29T01:30:00Z"),  # skipped: the offset before the change
        ("0001-01-01T00:00", None),
    ],
)
def test_a_zone_for_naive_times(text: str, found: str | None) -> None:
    assert instant(text, "Europe/Berlin") == found


def test_unknown_zone() -> None:
    with pytest.raises(ValueError, match="unknown time zone 'Europe/Berln'"):
        load_zone("Europe/Berln")
    with pytest.raises(ValueError, match="unknown time zone"):
        load_zone("../etc/passwd")


@given(st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)), st.integers(-23 * 60, 23 * 60))
def test_the_same_instant_in_any_offset(moment: datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=UTC)
    there = aware.astimezone(timezone(timedelta(minutes=minutes)))
    here = instant(aware.isoformat())
    assert here is not None
    assert instant(there.isoformat(" ")) == here
    assert instant(here) == here
    assert instant(moment.isoformat()) == here.removesuffix("Z")


@given(st.text("0123456789-:.TtZz+ ", max_size=30))
def test_nothing_raises(text: str) -> None:
    for found in (instant(text), instant(text, "Europe/Berlin"), calendar_date(text)):
        assert found is None or found[4] == "-"
