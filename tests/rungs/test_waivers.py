from datetime import date

import polars as pl

from tests.rungs.frames import traces_of
from tracelens.rungs.findings import finding_frame
from tracelens.rungs.waivers import apply_waivers, waived_until
from tracelens.suite import Suite


def test_waivers_cover_findings_by_case_and_code():
    rows = [
        {"case_id": "c1", "code": "schema.required", "until": date(2026, 1, 1), "reason": "soon"},
        {"case_id": "c1", "code": "schema.required", "until": date(2027, 1, 1), "reason": "later"},
        {"case_id": "c1", "code": "schema.required", "until": date(2027, 1, 1), "reason": "later too"},
        {"case_id": "c2", "code": "safety.shell", "until": date(1999, 1, 1), "reason": "long ago"},
    ]
    waivers = Suite.from_dict({"name": "x", "waive": rows}).waive
    traces = traces_of({"case_id": "c1"}, {"case_id": "c2"}, {})
    codes = ["schema.required", "safety.shell", "schema.required", "safety.shell", "schema.required"]
    found = finding_frame({"trace": [0, 0, 1, 1, 2], "code": codes})
    out = apply_waivers(found, traces, waivers)
    assert out.drop("waived_until", "waive_reason").equals(found)
    assert out["waived_until"].to_list() == [date(2027, 1, 2), None, None, date(1999, 1, 2), None]
    assert out["waive_reason"].to_list() == ["later", None, None, "long ago", None]


def test_codes_may_be_patterns_and_the_case_may_be_left_open():
    class Waiver:
        case_id, code, until, reason = None, "schema.*", date(2026, 1, 1), "all of them"

    out = apply_waivers(finding_frame({"trace": [0, 0], "code": ["schema.type", "safety.x"]}), traces_of({}), [Waiver])
    assert out["waive_reason"].to_list() == ["all of them", None]


def test_no_waivers_and_no_findings():
    out = apply_waivers(finding_frame({"trace": []}), traces_of({}), [])
    assert out.schema["waived_until"] == pl.Date()
    assert out.height == 0


def test_a_trace_is_waived_until_the_first_day_one_of_its_errors_counts_again():
    rows = [
        {"case_id": "c1", "code": "schema.type", "until": date(2026, 12, 30), "reason": "k"},
        {"case_id": "c1", "code": "check.x", "until": date(2026, 12, 10), "reason": "k"},
    ]
    found = pl.DataFrame(
        {
            "trace": [0, 0, 0, 1, 1, 2, 3],
            "code": ["schema.type", "check.x", "tool.note", "schema.type", "safety.x", "tool.note", "schema.type"],
            "severity": ["error", "error", "note", "error", "error", "note", "error"],
        }
    )
    cases = pl.DataFrame({"trace": [0, 1, 2, 3], "case_id": ["c1"] * 4})
    out = apply_waivers(found, cases, Suite.from_dict({"name": "x", "waive": rows}).waive)
    assert waived_until(out, 4).to_pylist() == [date(2026, 12, 11), None, None, date(2026, 12, 31)]
