import os
import sqlite3

import duckdb
import polars as pl
import pytest

from tracelens.errors import StateError, SuiteError
from tracelens.rungs.state import STATE_RESULTS, StateChecks, state_findings
from tracelens.suite import Suite

ROWS = [("c1", 1, "UA-512", True), ("c2", 2, "UA-7", False), ("10", 1, "UA-9", True)]


def traces(*pairs):
    return pl.DataFrame(
        {"trace": range(len(pairs)), "trace_id": [p[0] for p in pairs], "case_id": [p[1] for p in pairs]},
        schema={"trace": pl.UInt32, "trace_id": pl.String, "case_id": pl.String},
    )


@pytest.fixture
def parquet(tmp_path):
    values = ", ".join(f"('{case}', {n}, '{flight}', {paid})" for case, n, flight, paid in ROWS)
    duckdb.sql(f"copy (from (values {values}) t(case_id, n, flight_id, paid)) to '{tmp_path}/bookings.parquet'")
    return tmp_path


def suite(base, *checks, references=()):
    lines = "\n".join(references)
    (base / "references.jsonl").write_text(lines)
    named = {"references_file": "references.jsonl"} if references else {}
    defaults = {"database": "bookings.parquet", "sql": "select * from bookings"}
    items = [{"name": f"check {i}"} | defaults | check for i, check in enumerate(checks)]
    return Suite.from_dict({"name": "s", "state": items} | named, base)


def verdicts(base, *checks, pairs, references=()):
    results = StateChecks.load(suite(base, *checks, references=references)).evaluate(traces(*pairs))
    assert results.schema == STATE_RESULTS
    return results


def test_constants_are_held_against_the_row_of_the_case(parquet):
    out = verdicts(parquet, {"expect": {"n": 1}}, pairs=[("t0", "c1"), ("t1", "c2"), ("t2", "gone"), ("t3", "c1")])
    assert out["passed"].to_list() == [True, False, False, True]
    assert out["reason"].to_list() == [None, "n is 2, not 1", "no row with this case_id", None]
    assert out["expected"].to_list() == ['{"n":1}'] * 4
    assert out["observed"][0] == '{"n":1,"flight_id":"UA-512","paid":true}'
    assert out["observed"][2] is None


def test_values_are_compared_by_type(parquet):
    pairs = [("t0", "c1")]
    passes = [{"n": 1.0}, {"paid": True}, {"flight_id": "UA-512"}, {"n": 1, "paid": True}]
    fails = [{"n": True}, {"paid": 1}, {"n": "1"}, {"flight_id": "ua-512"}]
    for expect in passes:
        assert verdicts(parquet, {"expect": expect}, pairs=pairs)["passed"].to_list() == [True], expect
    for expect in fails:
        assert verdicts(parquet, {"expect": expect}, pairs=pairs)["passed"].to_list() == [False], expect


def test_every_difference_is_named(parquet):
    out = verdicts(parquet, {"expect": {"n": 3, "flight_id": "UA-1", "paid": False}}, pairs=[("t0", "c2")])
    assert out["reason"][0] == 'n is 2, not 3; flight_id is "UA-7", not "UA-1"'


REFERENCES = [
    '{"case_id": "c1", "expected": [], "state": {"flight_id": "UA-512", "n": 1}}',
    '{"case_id": "c2", "expected": [], "state": {"flight_id": "UA-8"}}',
    '{"case_id": "c3", "expected": [], "state": {"flight_id": "UA-3"}}',
    '{"case_id": "c4", "expected": []}',
    '{"case_id": "c5", "expected": [], "state": {"seat": "12A"}}',
    '{"case_id": "c6", "expected": [], "state": {}}',
]


def test_the_state_of_the_case_is_expected_where_the_check_says_so(parquet):
    pairs = [(f"t{i}", f"c{i}") for i in range(1, 7)] + [("t7", None), ("t8", "unheard of")]
    out = verdicts(parquet, {"expect": "case"}, pairs=pairs, references=REFERENCES)
    assert out["passed"].to_list() == [True, False, False, None, None, None, None, None]
    assert out["reason"].to_list() == [
        None,
        'flight_id is "UA-7", not "UA-8"',
        "no row with this case_id",
        "the case has no state object",
        "the query returns no column 'seat'",
        "the case has no state object",
        "the trace has no case_id",
        "the case has no state object",
    ]


@pytest.mark.parametrize("expect", [None, {}, {"seat": "12A"}, {"n": 1, "seat": "12A"}])
def test_a_check_with_nothing_to_check_is_null_and_never_passed(parquet, expect):
    check = {} if expect is None else {"expect": expect}
    out = verdicts(parquet, check, pairs=[("t0", "c1"), ("t1", "gone")])
    assert out["passed"].to_list() == [None, None]
    assert out["reason"].null_count() == 0
    assert state_findings(out).is_empty()


def test_two_rows_for_one_case_have_failed(parquet):
    sql = "select case_id, n from bookings union all select case_id, n from bookings"
    out = verdicts(parquet, {"sql": sql, "expect": {"n": 1}}, pairs=[("t0", "c1")])
    assert out["passed"].to_list() == [False]
    assert out["reason"][0] == "2 rows with this case_id, not one"


def test_rows_can_be_found_by_trace_and_a_number_finds_the_id_of_the_same_text(parquet):
    by_trace = {"sql": "select case_id as trace_id, n from bookings", "expect": {"n": 1}}
    by_number = {"sql": "select 10 as case_id, 1 as n", "expect": {"n": 1}}
    out = verdicts(parquet, by_trace, by_number, pairs=[("c1", None), ("c2", "10")])
    assert out.select("trace", "check", "passed").rows() == [
        (0, "check 0", True),
        (0, "check 1", None),
        (1, "check 0", False),
        (1, "check 1", True),
    ]


def test_a_check_looks_at_its_own_cases_only(parquet):
    out = verdicts(parquet, {"expect": {"n": 1}, "cases": ["c2"]}, pairs=[("t0", "c1"), ("t1", "c2"), ("t2", None)])
    assert out["trace"].to_list() == [1]


def test_a_query_without_a_key_is_a_suite_error(parquet):
    with pytest.raises(SuiteError, match=r"state check 'check 0'.*neither trace_id nor case_id"):
        StateChecks.load(suite(parquet, {"sql": "select n from bookings", "expect": {"n": 1}}))


def test_an_empty_result_fails_every_trace(parquet):
    out = verdicts(
        parquet, {"sql": "select * from bookings where false", "expect": {"n": 1}}, pairs=[("t0", "c1"), ("t1", "c2")]
    )
    assert out["passed"].to_list() == [False, False]


def test_failures_become_findings_of_rung_four(parquet):
    out = verdicts(parquet, {"expect": {"n": 1}}, pairs=[("t0", "c1"), ("t1", "c2")])
    finding = state_findings(out).row(0, named=True)
    assert (finding["trace"], finding["rung"], finding["severity"]) == (1, 4, "error")
    assert finding["code"] == "state.check 0"
    assert finding["message"] == "state check 'check 0' failed: n is 2, not 1"


def test_the_query_runs_once_whatever_the_number_of_batches(parquet, monkeypatch):
    from tracelens.rungs.state import evaluate

    calls = []
    fetch = evaluate.fetch
    monkeypatch.setattr(evaluate, "fetch", lambda *a, **k: calls.append(a) or fetch(*a, **k))
    checks = StateChecks.load(suite(parquet, {"expect": {"n": 1}}))
    whole = checks.evaluate(traces(("t0", "c1"), ("t1", "c2")))
    parts = [checks.evaluate(traces(pair)) for pair in (("t0", "c1"), ("t1", "c2"))]
    assert len(calls) == 1
    assert pl.concat(parts).drop("trace").equals(whole.drop("trace"))


def test_sqlite_through_adbc(tmp_path):
    with sqlite3.connect(tmp_path / "b.db") as connection:
        connection.execute("create table bookings (case_id text, n integer, amount real, day text)")
        connection.executemany(
            "insert into bookings values (?, ?, ?, ?)", [("c1", 1, 10.5, "2026-11-02"), ("c2", 1, 9, None)]
        )
    connection.close()
    check = {"database": "sqlite:///b.db", "expect": {"n": 1, "amount": 10.5, "day": "2026-11-02"}}
    out = verdicts(tmp_path, check, pairs=[("t0", "c1"), ("t1", "c2")])
    assert out["passed"].to_list() == [True, False]
    assert out["reason"][1] == 'amount is 9, not 10.5; day is null, not "2026-11-02"'


@pytest.fixture
def postgres():
    address = os.environ.get("TRACELENS_TEST_POSTGRES")
    if not address:
        pytest.skip("needs a PostgreSQL server: set TRACELENS_TEST_POSTGRES=postgresql://… to one that may be used")
    return address


def test_postgresql_through_adbc(tmp_path, postgres):
    sql = """
        select * from (values
            ('c1', 1::bigint, 10.50::numeric(9, 2), date '2026-11-02', true, timestamptz '2026-11-02 11:00+01', '{"a": 1}'::jsonb),
            ('c2', 2, 9, null, false, null, null)
        ) t(case_id, n, amount, day, paid, at, extra)"""
    expect = {
        "n": 1,
        "amount": 10.5,
        "day": "2026-11-02",
        "paid": True,
        "at": "2026-11-02T10:00:00Z",
        "extra": {"a": 1},
    }
    check = {"database": postgres, "sql": sql, "expect": expect}
    out = verdicts(tmp_path, check, pairs=[("t0", "c1"), ("t1", "c2"), ("t2", "c3")])
    assert out["passed"].to_list() == [True, False, False]
    assert out["reason"][1].startswith("n is 2, not 1; amount is 9, not 10.5; day is null")


def test_postgresql_is_left_as_it_was_and_its_errors_name_the_check(tmp_path, postgres):
    write = {"database": postgres, "sql": "create table tl_left_behind (case_id text)", "expect": {"n": 1}}
    look = "select case_id from tl_left_behind"
    with pytest.raises((SuiteError, StateError)):
        StateChecks.load(suite(tmp_path, write))
    with pytest.raises(StateError, match=r"state check 'check 0'.*tl_left_behind"):
        StateChecks.load(suite(tmp_path, write | {"sql": look}))


def test_postgresql_runs_one_statement_which_may_end_in_a_semicolon(tmp_path, postgres):
    one = {"database": postgres, "sql": "select 'c1' as case_id, 1 as n;\n", "expect": {"n": 1}}
    assert verdicts(tmp_path, one, pairs=[("t0", "c1")])["passed"].to_list() == [True]
    with pytest.raises(StateError, match="multiple commands"):
        StateChecks.load(suite(tmp_path, one | {"sql": "select 'c1' as case_id; select 2"}))


@pytest.mark.parametrize("names", [("n", "n"), ("case_id", "case_id")])
def test_a_name_that_stands_for_two_columns_is_refused(tmp_path, names):
    pl.DataFrame({"case_id": ["c1"]}).write_parquet(tmp_path / "db.parquet")
    sql = f"select case_id, 1 as {names[0]}, 2 as {names[1]} from db"
    check = {"database": "db.parquet", "sql": sql, "expect": {"n": 1}}
    with pytest.raises(SuiteError, match=f"state check 'check 0': .*column '{names[0]}' more than once"):
        StateChecks.load(suite(tmp_path, check))
