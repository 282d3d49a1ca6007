"""The views and macros over a small store of two runs whose answers can be counted by hand."""

from datetime import UTC, datetime
from math import comb

import duckdb
import pytest

from tests.store.fake_run import frame
from tracelens.store import RunWriter, connect
from tracelens.store.objects import documented
from tracelens.store.sqlfiles import sql_files

LATE = datetime(2026, 11, 2, 23, 30, tzinfo=UTC)


def trace(trace_id, case, route, **more):
    passed = {"judge": True, "settled": True, "triage": False}.get(route)
    more.setdefault("reasons", ["f: bad"] if route == "triage" else [])
    failed = {"failed_rung": 1} if route == "triage" else {}
    return {"trace_id": trace_id, "case_id": case, "route": route, "passed": passed, **failed, **more}


def call(trace_id, index, tool, state="valid", **more):
    of = {"trace_id": trace_id, "call_index": index, "tool": tool, "name": tool, "schema_state": state}
    return of | {"executed": True, "status": "ok", "arguments": "{}", "duration_ms": 10.0} | more


def wanted(trace_id, index, **more):
    of = {"trace_id": trace_id, "expected_index": index, "tool": "find", "name": "find", "reference_index": 0}
    return of | {"reference_source": "suite", "chosen": True} | more


def finding(trace_id, index, tool, code, path="", **more):
    of = {"trace_id": trace_id, "call_index": index, "tool": tool, "code": code, "path": path}
    return of | {"severity": "error", "rung": 1, "message": f"{code} {path}"} | more


BASE = {
    "traces": [
        trace("a1", "a", "judge", agent="x", tags='{"v":"1","we\\"ird":true}', started_at=LATE, final_answer="yes"),
        trace("a2", "a", "triage", agent="x", tags='{"v":"1"}', started_at=LATE),
        trace("b1", "b", "judge", agent="y", tags='{"v":"2"}', final_answer="12345678"),
        trace("b2", "b", "judge", agent="y", reasons=[]),
        trace("c1", "c", "triage", safety_hits=1),
        trace("c2", "c", "triage", reasons=["one", "two"]),
        trace("d1", "d", "unscored", unscored_reason="incomplete"),
        trace("e1", None, "judge"),
    ],
    "calls": [
        call("a1", 0, "find"),
        call("a2", 0, "find", "invalid"),
        call("a2", 1, "pay", status="error"),
        call("c1", 0, "find", "invalid", executed=False, denied=True, status="denied", duration_ms=None),
        call("c2", 0, "find", "invalid"),
        call("c2", 1, "odd", "not_captured", duration_ms=None),
    ],
    "expected": [
        wanted("c1", 2, schema_state="invalid", schema_code="schema.type", schema_path="day", schema_message="not a day"),
        wanted("c2", 2, schema_state="invalid", schema_code="schema.type", schema_path="day", schema_message="not a day"),
        wanted("c2", 3, schema_state="valid"),
    ],
    "findings": [
        finding("a2", 0, "find", "schema.required", "rows[0].x"),
        finding("a2", 0, "find", "schema.required", "rows[3].x"),
        finding("a2", 1, "pay", "invariant.after"),
        finding("c1", 0, "find", "schema.required", "rows[1].x"),
        finding("c1", None, None, "invariant.max_calls", None),
        finding("c2", 0, "find", "schema.type", "day"),
        finding("c2", 0, "find", "arguments.decoded", severity="note"),
    ],
    "pairs": [
        {"trace_id": "c2", "pairing": "optimal", "call_index": 0, "expected_index": 2, "tool": "find", "status": "exact"},
        {"trace_id": "a2", "pairing": "optimal", "call_index": 0, "expected_index": 0, "tool": "find", "status": "partial"},
    ],
    "runs": [{"suite_digest": "5a", "n_traces": 8, "questions": ["why?"], "judge_price_per_1k_tokens": 0.5}
             | {"tool_prices": '{"find":0.25,"never":1}'}],
}  # fmt: skip

HEAD = {
    "traces": [
        trace("a1", "a", "judge"),
        trace("a2", "a", "judge"),
        trace("b1", "b", "triage"),
        trace("b2", "b", "judge"),
        trace("c1", "c", "triage"),
        trace("d1", "d", "judge"),
        trace("n1", "new", "judge"),
    ],
    "findings": [finding("b1", 0, "find", "schema.type", "day"), finding("c1", 0, "find", "schema.type", "day")],
    "runs": [{"suite_digest": "5b", "n_traces": 7}],
}


@pytest.fixture(scope="module")
def sql(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for run_id, tables in (("base1", BASE), ("head1", HEAD)):
        with RunWriter(folder) as run:
            for name, rows in tables.items():
                run.write(name, frame(name, *rows))
            run.commit(run_id, {})
    with connect(folder) as duck:
        yield lambda query: duck.execute(query).fetchall()


def test_the_pass_rate_of_traces_by_what_they_are_told_apart_by(sql):
    rows = sql(
        "SELECT dimension, value, n, n_scored, n_passed, n_unscored FROM pass_rate WHERE run_id = 'base1' AND dimension <> 'tool'"
    )
    assert rows == [
        ("agent", "x", 2, 2, 1, 0),
        ("agent", "y", 2, 2, 2, 0),
        ("agent", None, 4, 3, 1, 1),
        ("all", None, 8, 7, 4, 1),
        ("day", "2026-11-02", 2, 2, 1, 0),
        ("day", None, 6, 5, 3, 1),
        ("tag:v", "1", 2, 2, 1, 0),
        ("tag:v", "2", 1, 1, 1, 0),
        ("tag:v", None, 5, 4, 2, 1),
        ('tag:we"ird', "true", 1, 1, 1, 0),
        ('tag:we"ird', None, 7, 6, 3, 1),
    ]


def test_the_pass_rate_of_tools_counts_checked_calls_without_an_error(sql):
    rows = sql("SELECT value, n, n_scored, n_passed, n_unscored, pass_rate FROM pass_rate WHERE dimension = 'tool'")
    assert rows == [("find", 4, 4, 1, 0, 0.25), ("odd", 1, 0, 0, 1, None), ("pay", 1, 1, 0, 0, 0.0)]


def test_days_are_of_the_zone_that_was_asked_for(sql):
    query = "SELECT value FROM pass_rate WHERE dimension = 'day' AND value IS NOT NULL"
    sql("SET VARIABLE tz = 'Europe/Berlin'")
    assert sql(query) == [("2026-11-03",)]
    sql("RESET VARIABLE tz")
    assert sql(query) == [("2026-11-02",)]


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [(8, 10, 0.4901625, 0.9433178), (0, 10, 0.0, 0.2775328), (10, 10, 0.7224672, 1.0), (1, 1, 0.2065493, 1.0)],
)
def test_wilson_intervals(sql, passed, n, low, high):
    """Values of statsmodels' proportion_confint(method="wilson")."""
    assert sql(f"SELECT tl_wilson_low({passed}, {n}), tl_wilson_high({passed}, {n})")[0] == pytest.approx(
        (low, high), abs=1e-6
    )


def test_nothing_scored_has_no_interval(sql):
    assert sql("SELECT tl_wilson_low(0, 0), tl_wilson_high(0, 0)") == [(None, None)]


def test_findings_that_occur_together(sql):
    rows = sql("SELECT kinds, n_kinds, n_traces, share, example_trace_id FROM failure_modes WHERE run_id = 'base1'")
    assert sorted(rows) == [
        (["invariant.after pay", "schema.required find.rows[*].x"], 2, 1, pytest.approx(1 / 3), "a2"),
        (["invariant.max_calls", "schema.required find.rows[*].x"], 2, 1, pytest.approx(1 / 3), "c1"),
        (["schema.type find.day"], 1, 1, pytest.approx(1 / 3), "c2"),
    ]


def test_the_same_mistake_again_and_again(sql):
    rows = sql("SELECT run_id, tool, code, path, n_findings, n_traces, n_runs, example_trace_id FROM repeat_offenders")
    assert rows == [
        ("base1", "find", "schema.required", "rows[*].x", 3, 2, 1, "a2"),
        ("head1", "find", "schema.type", "day", 2, 2, 2, "b1"),
    ]


def test_what_calls_cost(sql):
    rows = sql("SELECT tool, n_calls, n_executed, n_errors, price, cost, n_timed, total_ms, mean_ms FROM tool_costs")
    assert rows == [
        ("find", 4, 3, 0, 0.25, 0.75, 3, 30.0, 10.0),
        ("pay", 1, 1, 1, None, None, 1, 10.0, 10.0),
        ("odd", 1, 1, 0, None, None, 0, None, None),
    ]


def test_the_queue_of_the_judge_and_what_it_saves(sql):
    rows = sql(
        "SELECT trace_id, questions, final_answer FROM judge_queue WHERE run_id = 'base1' ORDER BY trace_id LIMIT 2"
    )
    assert rows == [("a1", ["why?"], "yes"), ("b1", ["why?"], "12345678")]
    (row,) = sql(
        "SELECT n_traces, n_judge, n_avoided, share_avoided, tokens_per_call, tokens_avoided, cost_avoided "
        "FROM judge_savings WHERE run_id = 'base1'"
    )
    # names and arguments of the calls: 6 * 2 + 4 * 4 + 2 * 3; answers 11; a question of 4 for each
    tokens = -(-((12 + 4 * 4 + 3 + 3 + 11) / 8 + 4) // 4)
    assert row == (8, 4, 4, 0.5, tokens, 4 * tokens, pytest.approx(4 * tokens * 0.5 / 1000))


def test_what_to_look_at_first(sql):
    rows = sql("SELECT trace_id, safety_hits, n_reasons, first_reason FROM triage WHERE run_id = 'base1'")
    assert rows == [("c1", 1, 1, "f: bad"), ("c2", 0, 2, "one"), ("a2", 0, 1, "f: bad")]


def test_references_that_the_schemas_refuse(sql):
    rows = sql(
        "SELECT case_id, expected_index, tool, code, path, message, n_traces, example_trace_id FROM stale_references"
    )
    assert rows == [("c", 2, "find", "schema.type", "day", "not a day", 2, "c1")]


def test_cases_that_pass_sometimes(sql):
    rows = sql("SELECT run_id, case_id, n_trials, n_scored, n_passed, pass_rate, example_trace_id FROM flaky_cases")
    assert rows == [("base1", "a", 2, 2, 1, 0.5, "a2"), ("head1", "b", 2, 2, 1, 0.5, "b1")]


def test_estimates_of_several_trials(sql):
    assert sql("SELECT case_id, pass_at_k FROM pass_at_k(2) WHERE run_id = 'base1'") == [
        ("a", 1.0),
        ("b", 1.0),
        ("c", 0.0),
    ]
    assert sql("SELECT case_id, pass_hat_k FROM pass_hat_k(2) WHERE run_id = 'base1'") == [
        ("a", 0.0),
        ("b", 1.0),
        ("c", 0.0),
    ]
    assert sql("SELECT DISTINCT pass_hat_k FROM pass_hat_k(3)") == [(None,)]


def test_estimates_are_those_of_the_literature(sql):
    numbers = [(n, c, k) for n in range(1, 9) for c in range(n + 1) for k in range(1, n + 1)]
    values = ", ".join(str(each) for each in numbers)
    rows = sql(f"SELECT n, c, k, tl_pass_at_k(n, c, k), tl_pass_hat_k(n, c, k) FROM (VALUES {values}) t(n, c, k)")
    assert len(rows) == len(numbers)
    for n, c, k, at, hat in rows:
        assert (at, hat) == pytest.approx((1 - comb(n - c, k) / comb(n, k), comb(c, k) / comb(n, k)), abs=1e-12)


def test_two_runs_case_by_case(sql):
    rows = sql(
        "SELECT case_id, pass_rate_base, pass_rate_head, change, example_trace_id FROM compare_cases('base', 'head1')"
    )
    assert sorted(rows) == [
        ("a", 0.5, 1.0, "better", None),
        ("b", 1.0, 0.5, "worse", "b1"),
        ("c", 0.0, 0.0, "same", "c1"),
        ("d", None, 1.0, "unknown", None),
        ("e1", 1.0, None, "only_base", None),
        ("new", None, 1.0, "only_head", None),
    ]


def test_a_run_is_the_same_as_itself(sql):
    query = "SELECT n_cases, n_better, n_worse, n_same, n_unknown, n_only_base, n_only_head, difference, same_suite"
    assert sql(f"{query} FROM compare('base', 'base')") == [(4, 0, 0, 4, 1, 0, 0, 0.0, True)]


@pytest.mark.parametrize("macro", ["compare", "compare_cases"])
@pytest.mark.parametrize(("ids", "said"), [("'base', 'nope'", '0 runs .* "nope"'), ("'', 'base'", '2 runs .* ""')])
def test_runs_that_cannot_be_told_are_refused(sql, macro, ids, said):
    with pytest.raises(duckdb.InvalidInputException, match=said):
        sql(f"FROM {macro}({ids})")


def test_sums_do_not_depend_on_the_order(sql):
    few = "SELECT tl_exact_sum(x), tl_exact_mean(x) FROM (VALUES {}) t(x)"
    assert sql(few.format("(1e9), (0.1), (-1e9), (NULL)")) == sql(few.format("(NULL), (-1e9), (1e9), (0.1)"))
    assert sql(few.format("(0.1), (0.2), (0.6)")) == [(0.9, 0.3)]
    assert sql(few.format("(1e300), (1e300)")) == [(2e300, 1e300)]
    assert sql(few.format("(NULL::DOUBLE)")) == [(None, None)]


def test_two_runs_in_one_row(sql):
    query = "SELECT n_cases, n_better, n_worse, n_same, n_unknown, n_only_base, n_only_head, difference, p_value, same_suite"
    assert sql(f"{query} FROM compare('base', 'head')") == [(3, 1, 1, 1, 1, 1, 1, 0.0, pytest.approx(1.0), False)]
    (low, high), *_ = sql("SELECT difference_low, difference_high FROM compare('base', 'head')")
    assert low == -high == pytest.approx(-0.5)
    assert sql("SELECT difference_low FROM compare('base', 'head', seed := 2)") != [(None,)]


@pytest.mark.parametrize(
    ("better", "worse", "p"), [(0, 0, 1), (5, 5, 1), (1, 0, 1), (0, 6, 1 / 32), (2, 10, 0.03857422)]
)
def test_the_exact_mcnemar_test(sql, better, worse, p):
    assert sql(f"SELECT tl_mcnemar({better}, {worse})")[0][0] == pytest.approx(p, abs=1e-8)


def test_numbers_that_look_random(sql):
    (found,) = sql(
        "SELECT avg(r), stddev_pop(r), corr(r, s) FROM (SELECT tl_random(i) r, tl_random(i + 1) s FROM range(50000) t(i))"
    )
    assert found == pytest.approx((0.5, 12**-0.5, 0), abs=0.01)


def test_every_column_of_a_macro_is_documented(sql):
    arguments = {"pass_at_k": "1", "pass_hat_k": "1", "compare": "'base', 'head'", "compare_cases": "'base', 'head'"}
    found = {name: documented(name, text) for name, text in sql_files("macros")}
    tables = {name for name, each in found.items() if each.gives_table}
    assert tables == set(arguments)
    for name in tables:
        columns = [row[0] for row in sql(f"DESCRIBE FROM {name}({arguments[name]})")]
        assert list(found[name].columns) == columns
    assert sql("SELECT function_name FROM duckdb_functions() WHERE NOT internal AND coalesce(comment, '') = ''") == []
