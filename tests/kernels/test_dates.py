"""Plain dates in the kernel are those of the calendar."""

from __future__ import annotations

from datetime import date

from hypothesis import example, given
from hypothesis import strategies as st

from tracelens import columns
from tracelens.kernels.dates import is_date

shaped = st.from_regex(r"[0-9]{4}-[01][0-9]-[0-3][0-9]", fullmatch=True)
anything = st.text(st.characters(codec="latin1"), min_size=10, max_size=10)


@given(shaped | anything)
@example("2000-02-29")
@example("1900-02-29")
@example("2026-04-31")
@example("0000-01-01")
@example("2026-13-01")
@example("2026-1a-01")
@example("2026-01-0:")
@example("2026/01/01")
@example("\u00b9026-01-01")
def test_plain_dates_are_days_of_the_calendar(text: str) -> None:
    try:
        wanted = bool(date.fromisoformat(text)) and text.isascii() and text[4] == text[7] == "-"
    except ValueError:
        wanted = False
    assert is_date(columns.padded(b'"' + text.encode("latin1") + b'9"'), 1) == wanted
