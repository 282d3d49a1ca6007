from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from tracelens.errors import UsageError
from tracelens.selection import EVERYTHING, Selection


def test_everything_has_no_text():
    assert Selection.of() == Selection.of(sample="100%") == Selection.of(sample=1, where=[]) == EVERYTHING
    assert EVERYTHING.text is None


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ({"sample": "10%"}, {"sample": 0.1}, '{"sample": "10%"}'),
        ({"sample": " 12.50 % "}, {"sample": "0.125"}, '{"sample": "12.5%"}'),
        ({"since": "2026-11-01"}, {"since": date(2026, 11, 1)}, '{"since": "2026-11-01T00:00:00Z"}'),
        (
            {"until": "2026-11-01T02:00:00+02:00"},
            {"until": datetime(2026, 10, 31, 19, tzinfo=timezone(timedelta(hours=-5)))},
            '{"until": "2026-11-01T00:00:00Z"}',
        ),
        (
            {"where": ["b=2", "a=1", "a=0", "b=2"]},
            {"where": {"a": ["0", 1], "b": 2}},
            '{"where": {"a": ["0", "1"], "b": ["2"]}}',
        ),
        ({"where": "a=b=c"}, {"where": {"a": "b=c"}}, '{"where": {"a": ["b=c"]}}'),
        ({"where": "a=true"}, {"where": {"a": True}}, '{"where": {"a": ["true"]}}'),
    ],
)
def test_ways_to_say_the_same_are_the_same(one, other, text):
    assert Selection.of(**one).text == Selection.of(**other).text == text


def test_a_time_without_a_zone_is_utc():
    assert Selection.of(since=datetime(2026, 11, 1, 8)).since == datetime(2026, 11, 1, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample": "10"}, "a sample of '10' is no share above 0% and up to 100%. Hint: write a share such as '10%'"),
        ({"sample": "0%"}, "no share"),
        ({"sample": "nan"}, "no share"),
        ({"sample": "a tenth"}, "no share"),
        ({"sample": True}, "the sample is given as a bool"),
        ({"since": "yesterday"}, "since is 'yesterday', which is no ISO 8601 time"),
        ({"until": 5}, "until is given as an int"),
        ({"since": "0001-01-01T00:00:00+10:00"}, "out of range"),
        ({"since": "2026-11-02", "until": "2026-11-02"}, "nothing starts at or after .* Hint: since must be before"),
        ({"where": "version"}, "the condition 'version' has no value. Hint: write it as tag=value"),
        ({"where": "=1"}, "a condition names no tag"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, message):
    with pytest.raises(UsageError) as error:
        Selection.of(**given)
    import re

    assert re.search(message, str(error.value))
