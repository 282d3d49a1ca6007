"""Faults of evidence: nothing seen taken for nothing done, checks without a question, crashes that raise a mean."""

from __future__ import annotations

import json
import sqlite3

import pytest

import tracelens as tl
from tests.run.scoring import (
    SCORES,
    by_trace,
    call,
    closed,
    column,
    columns,
    errors,
    grouped,
    score,
    tools,
    trace,
    write,
)
from tracelens.cli import main


def test_what_could_not_be_scored_stays_out_of_means_and_is_counted(tmp_path):
    """A run that loses its hard cases must not look better for it."""
    good, wanted = call("a", x=1), [call("a", x=1)]
    lines = [
        trace("1", [good], wanted),
        trace("2", [good], wanted),
        trace("3", [], wanted, complete=False),
        {"trace_id": "4", "tool_calls": None, "expected": wanted},
        trace("5", [], wanted),
    ]
    summary = score(tmp_path, lines).summary()
    assert (summary.n_traces, summary.n_unscored, summary.n_scored, summary.n_passed) == (5, 2, 3, 2)
    assert summary.pass_rate == 2 / 3
    assert summary.scores["accuracy_optimal"] == {"mean": 2 / 3, "n_scored": 3, "n_unscored": 2}
    alone = score(tmp_path, lines[2:4]).summary()
    assert (alone.pass_rate, alone.n_passed, alone.n_unscored) == (None, 0, 2)
    assert alone.scores["accuracy_optimal"] == {"mean": None, "n_scored": 0, "n_unscored": 2}


def test_a_gate_fails_closed(tmp_path, capsys):
    """Scorers that failed, a metric nobody produced, and too few traces are no success."""
    good, wanted = call("a", x=1), [call("a", x=1)]
    lines = [trace("1", [good], wanted), trace("2", [good], wanted)]
    lines += [{"trace_id": each, "tool_calls": None, "expected": wanted} for each in "34"]
    (tmp_path / "suite.toml").write_text('name = "s"\n')
    tl.score(write(tmp_path, lines), tmp_path / "suite.toml", out=tmp_path / "results", progress=False)

    def gate(*options):
        code = main(["gate", str(tmp_path / "results"), "--suite", str(tmp_path / "suite.toml"), "--json", *options])
        found = json.loads(capsys.readouterr().out)
        return code, {each["name"]: each for each in found["checks"] if each["status"] != "passed"}

    code, failed = gate("--min", "accuracy_optimal=0.9")
    assert (code, set(failed)) == (1, {"unscored traces", "min accuracy_optimal"})
    assert (failed["unscored traces"]["n_unscored"], failed["min accuracy_optimal"]["value"]) == (2, 1.0)
    assert gate("--min", "accuracy_optimal=0.9", "--allow-unscored", "2") == (0, {})
    code, failed = gate("--min", "state_ok=1", "--allow-unscored", "2")
    assert (code, failed["min state_ok"]["message"]) == (1, "state_ok is null in every trace")
    code, failed = gate("--min", "accuracy_optimal=0.9", "--where", "tag=critical", "--min-scored", "3")
    assert (code, failed["min accuracy_optimal"]["n_scored"]) == (1, 0)


def bookings(folder, *rows):
    with sqlite3.connect(folder / "b.db") as connection:
        connection.execute("create table bookings (case_id text, id text, status text)")
        connection.executemany("insert into bookings values (?, ?, ?)", rows)
    connection.close()
    return "select case_id, id, status from bookings"


@pytest.mark.parametrize("check", ["no expect", "a column the query lacks", "the case says nothing"])
def test_a_check_without_a_question_never_passes(tmp_path, check):
    """The database is as it should be, because nothing was done and nothing had to be."""
    sql = bookings(tmp_path, ("c1", "BK-1", "open"))
    expect = {
        "no expect": {},
        "a column the query lacks": {"expect": {"n": 1}},
        "the case says nothing": {"expect": "case"},
    }[check]
    suite = {
        **tools(get_booking=closed("id", id={"type": "string"}), cancel_booking=closed("id", id={"type": "string"})),
        "state": [{"name": "booked", "database": "sqlite:///b.db", "sql": sql, **expect}],
        "references_file": "r.jsonl",
    }
    (tmp_path / "r.jsonl").write_text('{"case_id": "c1", "expected": []}\n')
    lazy = trace("lazy", [], case_id="c1")
    results = score(tmp_path, [lazy], suite)
    row = by_trace(results.traces)["lazy"]
    assert (row["state_ok"], row["route"], row["passed"]) == (None, "unscored", None)
    assert row["unscored_reason"].startswith("state: ")
    assert results.state_results["passed"].to_list() == [None]
    # Milestones see what the state cannot: that nothing was done.
    suite["milestones"] = {"must_call": ["get_booking"]}
    results = score(tmp_path, [lazy], suite)
    row = by_trace(results.traces)["lazy"]
    assert (row["state_ok"], row["milestones_ok"], row["route"]) == (None, False, "triage")
    assert (row["milestones_met"], row["milestones_total"]) == (0, 1)
    assert any("get_booking" in reason for reason in row["reasons"])
    assert not any("state" in reason for reason in row["reasons"])


def test_an_end_state_is_not_a_path(tmp_path):
    """A do-nothing agent may find the right state; the path and the state are two columns."""
    sql = bookings(tmp_path, ("c1", "BK-1", "open"))
    suite = {
        "state": [{"name": "booked", "database": "sqlite:///b.db", "sql": sql, "expect": {"status": "open"}}],
    }
    lines = [trace("lazy", [], [call("get_booking", id="BK-1")], case_id="c1")]
    row = by_trace(score(tmp_path, lines, suite).traces)["lazy"]
    assert (row["state_ok"], row["accuracy_optimal"], row["route"]) == (True, 0.0, "triage")


REFUND = {"name": "refund", "arguments": {"order": "O1", "amount": 900}}
LOOKUP = {"name": "lookup", "arguments": {"order": "O1"}}


def test_asked_for_refused_failed_and_done_are_four_things(tmp_path):
    calls = [
        {**REFUND, "status": "denied"},
        {**LOOKUP, "status": "error", "error": "down"},
        {**LOOKUP, "status": "ok"},
        {**LOOKUP},
    ]
    lines = [trace("t", calls[:3], [LOOKUP]), trace("unknown", [calls[3]], [LOOKUP])]
    suite = {"invariants": {"forbidden_tools": ["refund"]}}
    results = score(tmp_path, lines, suite)
    flags = grouped(results.calls, "name", "executed", "denied", "status")
    assert flags["t"] == [
        ("refund", False, True, "denied"),
        ("lookup", True, False, "error"),
        ("lookup", True, False, "ok"),
    ]
    assert flags["unknown"] == [("lookup", True, False, None)]
    rows = by_trace(results.traces)
    assert (rows["t"]["n_calls"], rows["t"]["n_denied"], rows["t"]["n_errors"]) == (3, 1, 1)
    assert (rows["t"]["n_recovered_errors"], rows["unknown"]["n_unknown_status"]) == (1, 1)
    assert rows["t"]["accuracy_optimal"] == 1 / 3
    assert rows["t"]["invariants_ok"] is False
    found = results.findings.filter(severity="error").select("trace_id", "code", "tool", "effect").rows()
    assert found == [
        ("t", "invariant.forbidden_tools", "refund", False),
        ("t", "threshold.accuracy_optimal", None, None),
    ]
    executed = score(tmp_path, lines, {**suite, "match": {"count": "executed"}})
    assert column(executed.traces, "accuracy_optimal") == {"t": 0.5, "unknown": 1.0}
    assert column(executed.traces, "invariants_ok")["t"] is False


@pytest.mark.parametrize("status", ["ok", "error", "denied", None])
def test_a_hit_stands_whatever_became_of_the_call(tmp_path, status):
    harmful = {**call("run", command="rm -rf /srv"), "status": status}
    mended = call("run", command="echo sorry")
    results = score(tmp_path, [trace("t", [harmful, mended])], {"safety": {"packs": ["destructive"]}})
    row = by_trace(results.traces)["t"]
    assert (row["safety_ok"], row["route"]) == (False, "triage")
    hits = results.findings.filter(severity="error")
    assert hits["call_index"].to_list() == [0]
    assert hits["effect"].to_list() == [status != "denied"]


INCOMPLETE = {
    "said to be incomplete": {"tool_calls": [], "complete": False},
    "calls are null": {"tool_calls": None},
    "calls are absent": {},
    "incomplete with calls": {"tool_calls": [LOOKUP], "complete": False},
}
COMPLETE = {"said to be complete": {"tool_calls": [], "complete": True}, "nothing said": {"tool_calls": []}}


def test_nothing_seen_is_not_nothing_done(tmp_path):
    """Without the whole trace no score can be given, and nothing can be said to be absent."""
    lines = [{"trace_id": name, "expected": [LOOKUP], **given} for name, given in (INCOMPLETE | COMPLETE).items()]
    suite = {
        "invariants": {"forbidden_tools": ["wire_money"], "max_calls": 5},
        "safety": {"packs": ["destructive"]},
        "milestones": {"must_call": ["lookup"]},
    }
    results = score(tmp_path, lines, suite)
    for name, row in by_trace(results.traces).items():
        whole = name in COMPLETE
        assert [row[each] is None for each in SCORES if each != "first_divergence"] == [not whole] * (len(SCORES) - 1)
        assert (row["invariants_ok"], row["safety_ok"]) == ((True, True) if whole else (None, None))
        assert row["route"] == ("triage" if whole else "unscored")
        assert row["passed"] is (False if whole else None)
    reasons = column(results.traces, "unscored_reason")
    assert reasons == dict.fromkeys(COMPLETE) | {
        "said to be incomplete": "incomplete",
        "calls are null": "calls_not_recorded",
        "calls are absent": "calls_not_recorded",
        "incomplete with calls": "incomplete",
    }
    counts = columns(results.traces, "n_calls", "has_calls", "n_expected")
    assert counts["calls are null"] == counts["calls are absent"] == (None, False, 1)
    assert counts["said to be incomplete"] == (0, True, 1)
    summary = results.summary()
    assert (summary.n_scored, summary.scores["accuracy_optimal"]["n_scored"]) == (2, 2)


@pytest.mark.parametrize(
    ("bad", "suite", "code"),
    [
        (call("wire_money"), {"invariants": {"forbidden_tools": ["wire_money"]}}, "invariant.forbidden_tools"),
        (call("run", command="rm -rf /srv"), {"safety": {"packs": ["destructive"]}}, None),
        (call("pay", amount="x"), tools(pay=closed(amount={"type": "number"})), "schema.type"),
        (call("nobody"), tools(pay={}), "tool.unknown"),
    ],
)
def test_what_was_found_stands_in_an_incomplete_trace(tmp_path, bad, suite, code):
    results = score(tmp_path, [trace("t", [bad], [LOOKUP], complete=False)], suite)
    row = by_trace(results.traces)["t"]
    assert (row["route"], row["passed"], row["failed_rung"]) == ("triage", False, 1)
    assert row["accuracy_optimal"] is None
    assert code is None or [found for found, _ in errors(results)["t"]] == [code]


def test_cases_are_joined_by_id_never_by_place(tmp_path):
    """Files sort 10 before 2; numbers and text are one id, and a file has its own order."""
    names = {"0": "a", "1": "b", "2": "c", "10": "k"}
    given = ["10", "2", 1, "0"]
    (tmp_path / "r.jsonl").write_text(
        "".join(f'{{"case_id": {case}, "expected": [{{"name": "{name}"}}]}}\n' for case, name in names.items())
    )
    lines = [trace(f"t{case}", [call(names[str(case)])], case_id=case) for case in given]
    lines.append(trace("t-other", [call("a")], case_id="01"))
    lines.append(trace("t-none", [call("a")]))
    results = score(tmp_path, lines, {"references_file": "r.jsonl"})
    assert column(results.traces, "accuracy_optimal") == {
        **{f"t{case}": 1.0 for case in given},
        "t-other": None,
        "t-none": None,
    }
    assert results.traces["case_id"].to_list() == ["10", "2", "1", "0", "01", None]
    assert results.runs["missing_cases"].item().to_list() == []
    assert set(results.traces["reference_source"]) == {"suite", None}
    trials = [trace(f"trial{n}", [call("k")] * n, case_id=10) for n in range(3)]
    fewer = score(tmp_path, trials, {"references_file": "r.jsonl"})
    assert column(fewer.traces, "accuracy_optimal") == {"trial0": 0.0, "trial1": 1.0, "trial2": 0.5}
    assert sorted(fewer.runs["missing_cases"].item()) == ["0", "1", "2"]
    assert sorted(fewer.sql("SELECT case_id FROM missing_cases")["case_id"]) == ["0", "1", "2"]
