"""Dates and instants in bulk equal the plain-Python rules."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tracelens.kernels.reference.times import calendar_date, instant
from tracelens.kernels.reference.values import quote
from tracelens.normalise import rules as module
from tracelens.normalise.rules import RuleProgram
from tracelens.normalise.times import canonical_dates, canonical_instants

TWO = st.integers(0, 70).map("{:02}".format)
TIMES = st.builds(
    "{}-{}-{}{}{}:{}:{}{}{}".format,
    st.sampled_from(["2026", "2024", "1900", "0000", "0001", "9999", "1969"]),
    st.integers(0, 13).map("{:02}".format),
    st.integers(0, 32).map("{:02}".format),
    st.sampled_from(["T", "t", " ", "_"]),
    st.integers(0, 25).map("{:02}".format),
    TWO,
    TWO,
    st.sampled_from(["", ".0", ".50", ".123456789000", ".", ".x"]),
    st.sampled_from(["", "Z", "z", "+01:00", "-08:30", "+0100", "+24:00", "-00:00", "+23:59", "-23:59", " Z"]),
)
TEXTS = st.one_of(TIMES, TIMES.map(lambda text: text[:10]), TIMES.map(lambda text: text[:16]), st.text(max_size=5))


@given(st.lists(TEXTS, min_size=1, max_size=20))
@example(["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00"])
@example(["2016-12-31T23:59:60Z", "2026-11-02T10:00:00\n", "2026-11-02\n", "٢٠٢٦-11-02", "", "2026-11-02T10:00"])
def test_what_is_given_is_right(texts: list[str]) -> None:
    raw = [quote(text) for text in texts]
    for text, date, moment in zip(texts, canonical_dates(raw), canonical_instants(raw, "t:"), strict=True):
        assert date is None or date == quote(str(calendar_date(text)))
        assert moment is None or moment == f"t:{instant(text)}"


def test_the_usual_shapes_are_given() -> None:
    usual = ['"2026-11-02T09:00:00Z"', '"2026-11-02 09:00:00.120+05:30"', '"2026-11-02t09:00:00"']
    assert canonical_instants(usual, "t:") == [
        "t:2026-11-02T09:00:00Z",
        "t:2026-11-02T03:30:00.12Z",
        "t:2026-11-02T09:00:00",
    ]
    assert canonical_dates([*usual, '"2024-02-29"']) == ['"2026-11-02"'] * 3 + ['"2024-02-29"']
    assert canonical_dates(["5", "null", '{"a":1}', '"2026-11-02', "2026-11-02"]) == [None] * 5


def test_many_values_take_the_fast_way(monkeypatch: Any) -> None:
    asked: list[str] = []
    slow = module._canonical_text

    def counted(text: str, *rest: Any) -> str:
        asked.append(text)
        return slow(text, *rest)

    monkeypatch.setattr(module, "_canonical_text", counted)
    program = RuleProgram.compile(
        {"t": {"on": "date", "at": "datetime", "in": {"datetime": "Europe/Berlin"}}}, [("t", None)]
    )
    texts = [f'"2026-11-02T10:{k // 60:02}:{k % 60:02}+01:00"' for k in range(2000)] + ['"Soon"']
    for (rules, number), answers in zip(program.slow, map(program.apply_slow, range(3), [texts] * 3), strict=True):
        assert answers == [slow(text, rules, number) for text in texts]
    assert asked.count('"Soon"') == 3
    assert len(asked) == 3 + 2000  # the rule with a zone is not in the fast way
