import datetime as dt

import polars as pl

from tracelens.rungs.waivers import waive, waived_traces
from tracelens.suite import Suite

CASES = pl.DataFrame({"trace": [0, 1, 2, 3], "case_id": ["a", "b", None, "a"]})


def waivers(*items):
    entries = [{"case_id": c, "code": k, "until": dt.date(2026, 12, d), "reason": r} for c, k, d, r in items]
    return Suite.from_dict({"name": "s", "waive": entries}).waive


def findings(*rows):
    schema = {"trace": pl.Int64, "code": pl.String, "severity": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_a_waiver_covers_its_case_and_its_code_only():
    found = findings((0, "check.y", "error"), (0, "check.z", "error"), (1, "check.y", "error"), (2, "check.y", "error"))
    out = waive(found, CASES, waivers(("a", "check.y", 30, "known")))
    assert out["waived_until"].to_list() == [dt.date(2026, 12, 31), None, None, None]
    assert out["waive_reason"].to_list() == ["known", None, None, None]
    assert out.select("trace", "code", "severity").equals(found)


def test_of_two_waivers_the_later_counts_whatever_their_order():
    found = findings((0, "check.y", "error"))
    both = waivers(("a", "check.y", 20, "late"), ("a", "check.y", 10, "early"))
    for order in (both, both[::-1]):
        assert waive(found, CASES, order)["waive_reason"].to_list() == ["late"]


def test_a_trace_is_waived_when_all_its_errors_are_until_the_first_day_one_counts_again():
    found = findings(
        (0, "check.y", "error"),
        (0, "check.z", "error"),
        (0, "n.n", "note"),
        (3, "check.y", "error"),
        (3, "q.q", "error"),
        (1, "n.n", "note"),
    )
    out = waived_traces(waive(found, CASES, waivers(("a", "check.y", 30, "k"), ("a", "check.z", 10, "k"))))
    assert out.rows() == [(0, dt.date(2026, 12, 11))]


def test_without_waivers_nothing_is_waived():
    out = waive(findings((0, "check.y", "error")), CASES, ())
    assert out["waived_until"].to_list() == [None]
    assert waived_traces(out).is_empty()
