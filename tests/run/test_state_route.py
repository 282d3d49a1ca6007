"""Routes with all their reasons, repeated traces, counts of records, exit codes, and secrets nowhere."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3

import polars as pl
import pytest

import tracelens as tl
from tests.run.scoring import by_trace, call, closed, column, columns, errors, score, tools, trace, write
from tests.rungs.safety.examples import AWS, JWT, PEM
from tracelens.cli import main
from tracelens.errors import InputError, StateError
from tracelens.tables import STORED_TABLES

A, B = call("a", x=1), call("b")
ROUTE = ("route", "passed", "failed_rung", "unscored_reason")


def routes(folder, lines, suite=None):
    return columns(score(folder, lines, suite).traces, *ROUTE)


def test_every_route_without_thresholds(tmp_path):
    lines = [
        trace("exact", [A], [A]),
        trace("partial", [call("a", x=2)], [A]),
        trace("extra", [A, B], [A]),
        trace("missing", [], [A]),
        trace("no reference", [A]),
        trace("incomplete", [A], [A], complete=False),
        trace("not recorded", None, [A]),
    ]
    triage = ("triage", False, 4, None)
    assert routes(tmp_path, lines) == {
        "exact": ("settled", True, None, None),
        "partial": triage,
        "extra": triage,
        "missing": triage,
        "no reference": ("settled", True, None, None),
        "incomplete": ("unscored", None, None, "incomplete"),
        "not recorded": ("unscored", None, None, "calls_not_recorded"),
    }
    asked = routes(tmp_path, lines, {"judge": {"questions": ["Is it grounded?"]}})
    assert {name for name, (route, *_) in asked.items() if route == "judge"} == {"exact", "no reference"}
    assert asked["exact"] == ("judge", True, None, None)
    assert asked["partial"] == triage
    strict = routes(tmp_path, lines, {"route": {"require_reference": True}})
    assert strict["no reference"] == ("unscored", None, None, "no_reference")
    assert strict["exact"][0] == "settled"


@pytest.mark.parametrize(
    ("thresholds", "rung"),
    [
        ({"strict": 0.5}, 3),
        ({"f1": 0.9}, 3),
        ({"golden_score": 100}, None),
        ({"accuracy_optimal": 0.5}, None),
        ({"accuracy_optimal": 0.51}, 4),
        ({"accuracy_optimal": 1.0, "strict": 1.0}, 3),
        ({"n_exact_optimal": 1}, None),
        ({"n_exact_optimal": 2, "strict": 1.0}, 2),
        ({"n_exact_positional": 1}, 2),
        ({}, None),
    ],
)
def test_thresholds_are_at_least(tmp_path, thresholds, rung):
    """The call is right, one too many comes before it: strict 0, f1 2/3, accuracy 1/2, one exact pair."""
    lines = [trace("t", [B, A], [A]), trace("free", [B])]
    found = routes(tmp_path, lines, {"thresholds": thresholds})
    assert found["t"] == (("settled", True, None, None) if rung is None else ("triage", False, rung, None))
    assert found["free"] == ("settled", True, None, None)


def test_reasons_name_every_defect_once(tmp_path):
    suite = {
        **tools(a=closed("x", x={"type": "integer"}), b={}),
        "invariants": {"max_calls": 2},
        "thresholds": {"accuracy_optimal": 1.0, "strict": 1.0},
        "milestones": {"must_call": ["c"]},
        "answer": {"contains": ["done"]},
        "safety": {"patterns": [{"name": "mark", "regex": "boom"}]},
    }
    calls = [call("a", x="boom"), call("nope"), call("b"), call("b")]
    results = score(tmp_path, [trace("t", calls, [A, call("c")], final_answer="no")], suite)
    row = by_trace(results.traces)["t"]
    assert (row["route"], row["failed_rung"]) == ("triage", 1)
    assert len(set(row["reasons"])) == len(row["reasons"])
    for words in (
        *(
            "'boom' is not of type 'integer'",
            "'nope' is unknown",
            "pattern mark",
            "'done'",
            "c was called 0",
            "than 2 calls",
        ),
        *('call 0: a.x is "boom", expected 1', "call 1: nope was not expected", "call 3: b repeats call 2"),
        *("expected call 1: c was not made", "strict is 0.25", "accuracy_optimal is 0.125"),
    ):
        assert any(words in reason for reason in row["reasons"]), words
    codes = {code for code, _ in errors(results)["t"]}
    assert codes >= {"schema.type", "tool.unknown", "safety.mark", "invariant.max_calls"}
    assert {code.split(".")[0] for code in codes} >= {"answer", "milestone"}


@pytest.mark.parametrize(
    ("suite", "bad", "rung"),
    [
        (tools(a=closed(x={"type": "string"})), A, 1),
        ({"invariants": {"max_calls": 0}}, A, 1),
        ({"safety": {"packs": ["destructive"]}}, call("run", command="rm -rf /srv"), 1),
        ({"fields": {"a": {"x": {"equals": 2}}}}, A, 1),
        ({"answer": {"contains": ["yes"]}}, A, 1),
        ({"milestones": {"must_call": ["b"]}}, A, 3),
    ],
)
def test_every_rung_sends_to_triage_without_a_reference(tmp_path, suite, bad, rung):
    lines = [trace("t", [bad], final_answer="no")]
    assert routes(tmp_path, lines, {**suite, "judge": {"questions": ["?"]}})["t"] == ("triage", False, rung, None)


@pytest.fixture
def shop(tmp_path):
    """Bookings after the traces ran: c1 as it should be, c2 twice, c3 none."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("create table bookings (case_id text, flight text)")
        connection.executemany("insert into bookings values (?, ?)", [("c1", "UA"), ("c2", "UA"), ("c2", "LH")])
    connection.close()
    write(
        tmp_path,
        [
            {"case_id": "c1", "expected": [A], "state": {"flight": "UA"}},
            {"case_id": "c2", "expected": [A], "state": {"flight": "UA"}},
            {"case_id": "c3", "expected": [A], "state": {"flight": "UA"}},
        ],
        "cases.jsonl",
    )
    sql = "select case_id, count(*) as n, min(flight) as flight from bookings group by case_id"
    return {"name": "once", "database": "sqlite:///shop.db", "sql": sql, "expect": {"n": 1}}


def test_state_is_a_verdict_of_its_own(tmp_path, shop):
    lines = [
        trace("other path", [B], case_id="c1"),
        trace("right path", [A], case_id="c1"),
        trace("twice", [A], case_id="c2"),
        trace("no row", [A], case_id="c3"),
    ]
    suite = {"references_file": "cases.jsonl", "state": [shop]}
    results = score(tmp_path, lines, suite)
    assert column(results.traces, "state_ok") == {
        "other path": True,
        "right path": True,
        "twice": False,
        "no row": False,
    }
    assert columns(results.traces, *ROUTE) == {
        "other path": ("triage", False, 4, None),
        "right path": ("settled", True, None, None),
        "twice": ("triage", False, 4, None),
        "no row": ("triage", False, 4, None),
    }
    decided = score(tmp_path, lines, {**suite, "route": {"state_decides": True}})
    assert columns(decided.traces, *ROUTE) == columns(results.traces, *ROUTE) | {
        "other path": ("settled", True, None, None)
    }
    assert column(decided.traces, "accuracy_optimal")["other path"] == 0.0
    by_case = {**suite, "state": [{**shop, "expect": "case"}]}
    assert column(score(tmp_path, lines, by_case).traces, "state_ok") == {
        "other path": True,
        "right path": True,
        "twice": False,
        "no row": False,
    } | {"twice": score(tmp_path, lines, by_case).state_results.filter(trace_id="twice")["passed"].item()}
    limited = {**suite, "state": [{**shop, "cases": ["c2"]}]}
    assert column(score(tmp_path, lines, limited).traces, "state_ok") == {
        "other path": None,
        "right path": None,
        "twice": False,
        "no row": None,
    }


def test_a_deciding_state_forgives_no_finding(tmp_path, shop):
    """It replaces rungs two to four; rung one, invariants and safety stand."""
    suite = {"references_file": "cases.jsonl", "state": [shop], "route": {"state_decides": True}}
    lines = [trace("t", [B], case_id="c1")]
    assert routes(tmp_path, lines, {**suite, "invariants": {"forbidden_tools": ["b"]}})["t"][:3] == ("triage", False, 1)
    assert routes(tmp_path, lines, {**suite, "milestones": {"must_call": ["a"]}})["t"][:2] == ("settled", True)
    lost = [trace("t", [B], case_id="c1", complete=False)]
    assert routes(tmp_path, lost, suite)["t"][3] == "incomplete"


def test_a_database_that_cannot_be_reached_is_no_result(tmp_path, shop, capsys):
    write(tmp_path, [trace("t", [A], case_id="c1")])
    gone = {**shop, "database": "sqlite:///gone.db"}
    with pytest.raises(StateError):
        score(tmp_path, [trace("t", [A], case_id="c1")], {"state": [gone]})
    text = (
        f'[[state]]\nname = "x"\ndatabase = "sqlite:///gone.db"\nsql = {json.dumps(shop["sql"])}\nexpect = {{n = 1}}\n'
    )
    (tmp_path / "suite.toml").write_text(text)
    assert main(["score", str(tmp_path / "in.jsonl"), "--suite", str(tmp_path / "suite.toml"), "--quiet"]) != 0
    assert "gone.db" in capsys.readouterr().err


def own(sql, name="own", **more):
    return {"check": [{"name": name, "sql": sql}], **more}


def test_own_checks_change_routes(tmp_path):
    lines = [trace("bad", [A, B], [A, B]), trace("good", [A], [A]), trace("lost", [B], [A], complete=False)]
    sql = "SELECT trace_id, call_index, tool, 'no b, please' AS message FROM calls WHERE tool = 'b'"
    results = score(tmp_path, lines, own(sql, judge={"questions": ["?"]}))
    assert columns(results.traces, *ROUTE) == {
        "bad": ("triage", False, 1, None),
        "good": ("judge", True, None, None),
        "lost": ("triage", False, 1, None),
    }
    assert column(results.traces, "checks_ok") == {"bad": False, "good": True, "lost": False}
    assert column(results.traces, "reasons")["bad"].to_list() == ["no b, please"]
    assert errors(results) == {"bad": [("check.own", None)], "lost": [("check.own", None)]}
    assert column(results.traces, "n_findings") == {"bad": 1, "good": 0, "lost": 1}
    note = own("SELECT trace_id, 'note' AS severity, 'hm' AS message FROM traces")
    noted = score(tmp_path, lines, note)
    assert set(noted.traces["n_notes"]) == {1}
    assert column(noted.traces, "route") == {"bad": "settled", "good": "settled", "lost": "unscored"}


def test_own_checks_see_every_table_of_the_run(tmp_path):
    for table in ("traces", "calls", "expected", "pairs", "argument_diffs", "steps", "findings"):
        results = score(tmp_path, [trace("t", [B], [call("b", y=2)])], own(f"SELECT DISTINCT trace_id FROM {table}"))
        assert sorted(errors(results)["t"]) == [("check.own", None), ("threshold.accuracy_optimal", None)], table


def test_waivers_are_told_and_change_no_route(tmp_path):
    lines = [trace("t1", [A], case_id="c1"), trace("t2", [A], case_id="c2"), trace("both", [A, B], case_id="c1")]
    until = dt.date(2026, 12, 30)
    waiver = {"case_id": "c1", "code": "schema.type", "until": until, "reason": "known"}
    suite = {**tools(a=closed(x={"type": "string"})), "waive": [waiver]}
    results = score(tmp_path, lines, suite)
    free = until + dt.timedelta(days=1)
    assert column(results.traces, "waived_until") == {"t1": free, "t2": None, "both": None}
    assert set(results.traces["route"]) == {"triage"}
    found = results.findings.select("trace_id", "code", "waived_until", "waive_reason").rows()
    assert sorted(found) == [
        ("both", "schema.type", free, "known"),
        ("both", "tool.unknown", None, None),
        ("t1", "schema.type", free, "known"),
        ("t2", "schema.type", None, None),
    ]


@pytest.mark.parametrize(
    ("codes", "waived"),
    [
        (["schema.*"], False),
        (["threshold.f1", "threshold.accuracy_optimal"], False),
        (["schema.*", "threshold.*"], True),
    ],
)
def test_a_missed_threshold_is_a_finding_that_a_waiver_may_name(tmp_path, codes, waived):
    until = dt.date(2026, 12, 30)
    waivers = [{"case_id": "c1", "code": code, "until": until, "reason": "known"} for code in codes]
    suite = {**tools(a=closed(x={"type": "string"})), "waive": waivers}
    results = score(tmp_path, [trace("t", [A], [call("a", x="other")], case_id="c1")], suite)
    row = by_trace(results.traces)["t"]
    assert sorted(results.findings["code"]) == ["schema.type", "threshold.accuracy_optimal"]
    assert (row["route"], row["n_findings"], row["failed_rung"]) == ("triage", 2, 1)
    assert row["waived_until"] == (until + dt.timedelta(days=1) if waived else None)


def test_a_waived_own_check(tmp_path):
    waiver = {"case_id": "c1", "code": "check.own", "until": dt.date(2026, 12, 30), "reason": "known"}
    lines = [trace("t1", [A], case_id="c1"), trace("t2", [A], case_id="c2")]
    results = score(tmp_path, lines, own("SELECT trace_id FROM traces", waive=[waiver]))
    assert column(results.traces, "waived_until") == {"t1": dt.date(2026, 12, 31), "t2": None}
    assert set(results.traces["route"]) == {"triage"}


def test_own_checks_and_findings_are_waived_together(tmp_path):
    """A trace is waived while all its errors are, and counts again when the first of them does."""
    first, later = dt.date(2026, 6, 1), dt.date(2026, 12, 30)
    waivers = [
        {"case_id": case, "code": code, "until": until, "reason": "known"}
        for case, code, until in (
            ("both", "check.own", later),
            ("both", "schema.type", first),
            ("check only", "check.own", later),
            ("schema only", "schema.type", first),
        )
    ]
    lines = [trace(case, [A], case_id=case) for case in ("both", "check only", "schema only", "neither")]
    suite = {**tools(a=closed(x={"type": "string"})), **own("SELECT trace_id FROM traces", waive=waivers)}
    assert column(score(tmp_path, lines, suite).traces, "waived_until") == {
        "both": first + dt.timedelta(days=1),
        "check only": None,
        "schema only": None,
        "neither": None,
    }


def test_the_best_reference_counts_for_every_column(tmp_path):
    lines = [
        {"trace_id": "second", "tool_calls": [A], "references": [[B], [A], [A]]},
        {"trace_id": "closest", "tool_calls": [call("a", x=2)], "references": [[B, B], [B], [A]]},
        {"trace_id": "empty", "tool_calls": [], "references": [[A], []]},
        {"trace_id": "tie", "tool_calls": [A, B], "references": [[A], [B]]},
    ]
    results = score(tmp_path, lines)
    assert columns(results.traces, "reference_index", "n_references", "n_expected", "accuracy_optimal") == {
        "second": (1, 3, 1, 1.0),
        "closest": (2, 3, 1, 0.5),
        "empty": (1, 2, 0, 1.0),
        "tie": (0, 2, 1, 0.5),
    }
    chosen = results.expected.filter("chosen").select("trace_id", "reference_index").unique().rows()
    assert sorted(chosen) == [("closest", 2), ("empty", 1), ("second", 1), ("tie", 0)]


def test_repeated_ids_merge_or_are_rejected(tmp_path):
    line = json.dumps(trace("t", [A]))
    other = json.dumps(trace("t", [B]))
    lines = [line, "", line, other, json.dumps(trace("u", [])), line, "{", other, json.dumps({"tool_calls": []})]
    lines.append(json.dumps({"tool_calls": []}))
    results = score(tmp_path, lines)
    assert results.traces["trace_id"].to_list() == ["t", "u", "in.jsonl:9", "in.jsonl:10"]
    assert results.calls["name"].to_list() == ["a"]
    rejected = results.rejects.select("line", "reason").rows()
    assert [number for number, _ in rejected] == [4, 7, 8]
    assert "came before" in rejected[0][1]
    run = results.runs.row(0, named=True)
    counts = (run["n_records"], run["n_traces"], run["n_merged"], run["n_blank"], run["n_rejects"])
    assert counts == (10, 4, 2, 1, 3)
    assert any("merged" in note for note in run["notes"])
    assert run["n_calls"] == results.calls.height


def test_repeated_ids_in_other_files_and_blocks(tmp_path):
    for name, calls in (("a.jsonl", [A]), ("b.jsonl", [A]), ("c.jsonl", [B])):
        write(tmp_path / "many", [trace("t", calls), trace(name, calls)], name)
    results = tl.score(tmp_path / "many", {"name": "s"}, progress=False)
    assert results.traces["trace_id"].to_list() == ["t", "a.jsonl", "b.jsonl", "c.jsonl"]
    assert results.rejects.select("source", "line").rows() == [("c.jsonl", 1)]
    assert results.runs.select("n_records", "n_traces", "n_merged", "n_rejects").row(0) == (6, 4, 1, 1)


def test_cases_without_a_trace_are_listed(tmp_path):
    write(tmp_path, [{"case_id": f"c{n}", "expected": []} for n in range(4)], "cases.jsonl")
    results = score(
        tmp_path, [trace("t", [], case_id="c2"), trace("u", [], case_id="zz")], {"references_file": "cases.jsonl"}
    )
    assert results.runs["missing_cases"].item().to_list() == ["c0", "c1", "c3"]
    assert results.summary().missing_cases == 3


@pytest.mark.parametrize(
    ("lines", "suite", "code"),
    [
        ([trace("t", [A], [B])], "", 0),
        ([trace("t", [A]), "{"], "", 0),
        ([trace("t", [A])], "nonsense = 1", 2),
        ([trace("t", [A])], "[match]\nparallel = 3", 2),
        ([trace("t", [A])], "references_file = 'gone.jsonl'", 2),
        ([trace("t", [A])], "[[check]]\nname = 'x'\nsql = 'SELECT nothing FROM nowhere'", 2),
        ([trace("t", [A])], "[[check]]\nname = 'x'\nsql = \"SELECT * FROM read_text('/etc/hostname')\"", 2),
        (["{"], "", 3),
        ([], "", 3),
    ],
)
def test_exit_codes(tmp_path, capsys, lines, suite, code):
    path = write(tmp_path, lines)
    (tmp_path / "suite.toml").write_text(suite)
    assert (
        main(["score", str(path), "--suite", str(tmp_path / "suite.toml"), "--out", str(tmp_path / "o"), "--quiet"])
        == code
    )
    told = capsys.readouterr()
    assert bool(told.out) == (code == 0)
    assert (tmp_path / "o" / "runs").is_dir() == (code == 0) or not any((tmp_path / "o").glob("runs/*"))


def test_a_missing_input_is_code_3(tmp_path, capsys):
    assert main(["score", str(tmp_path / "none.jsonl"), "--quiet"]) == 3
    assert "none.jsonl" in capsys.readouterr().err
    with pytest.raises(InputError):
        tl.score(tmp_path / "none.jsonl", progress=False)


SECRET = "ghp_" + "Zz9abcdefghijklmnopqrstuvwxyz0123456"
PASSWORD = "hunter2-hunter2"
OTHERS = {"aws": AWS, "jwt": JWT, "pem": PEM, "bearer": "Bearer Qq7abcdefgh", "url": "postgresql://ann:Hunter3@db/x"}
PARTS = ("IOSFODNN7EXAMPL3", "dozjgNryP4J3jVmNHl0w5N", "MIIEowIBAAKCAQEA7", "Qq7abcdefgh", "Hunter3", SECRET, PASSWORD)
"""What must be seen nowhere, in any case of letters: canonical values are folded."""


def test_secrets_stand_in_no_table(tmp_path):
    """Wherever a trace holds one: as value, key, text that is no JSON, result, error, answer, tag, reference, damaged line."""
    places = [
        trace("value", [call("a", token=SECRET)], [call("a", token="x")]),
        trace("password", [call("a", password=PASSWORD)], [call("a", password="other-" + PASSWORD)]),
        trace("nested", [call("a", body=json.dumps({"api_key": SECRET}))], [call("a", body="{}")]),
        trace("header", [call("a", headers={"Authorization": f"Bearer {SECRET}"})], [call("a", headers={})]),
        trace("key", [call("a", **{SECRET: 1})], [call("a")]),
        trace("broken", [{"name": "a", "arguments": f'{{"token": "{SECRET}"'}], [call("a")]),
        trace("array", [{"name": "a", "arguments": json.dumps([SECRET])}], [call("a")]),
        trace("result", [{**A, "result": {"token": SECRET}, "error": f"bad token {SECRET}", "status": "error"}], [A]),
        trace("answer", [A], final_answer=f"Your token is {SECRET}."),
        trace("tags", [A], tags={"token": SECRET}),
        trace("tools", [A], tools=[{"name": "a", "description": SECRET, "input_schema": {"enum": [SECRET]}}]),
        trace("expected", [A], [call("a", x=SECRET), call("b", token=SECRET)]),
        trace("type", [call("strict", x=SECRET)]),
        trace("extra", [call("strict", **{SECRET: 1})]),
        trace("state", [A], case_id="c1"),
        *(trace(name, [call("a", note=text)], [call("a", note=f"x {text}")]) for name, text in OTHERS.items()),
        f'{{"trace_id": "damaged", "final_answer": "{SECRET}',
        f'{{"trace_id": "value", "tool_calls": [], "final_answer": "{SECRET}"}}',
    ]
    with sqlite3.connect(tmp_path / "s.db") as connection:
        connection.execute("create table t (case_id text, token text)")
        connection.execute("insert into t values ('c1', ?)", [SECRET])
    connection.close()
    suite = {
        "tools": {
            "a": {"schema": {}},
            "b": {"schema": {}},
            "strict": {"schema": closed(x={"type": "string", "maxLength": 3})},
        },
        "safety": {"packs": ["secrets"], "patterns": [{"name": "any", "regex": "ghp_\\w+"}]},
        "match": {"rows": ["optimal", "positional"]},
        "answer": {"not_contains": ["token"], "equals": "nothing"},
        "fields": {"a": {"token": {"equals": "y"}}},
        "state": [
            {"name": "t", "database": "sqlite:///s.db", "sql": "select case_id, token from t", "expect": {"token": "x"}}
        ],
    }
    suite |= own("SELECT trace_id, call_index, arguments AS message FROM calls")
    results = score(tmp_path, places, suite, out=tmp_path / "out")
    assert results.rejects.height == 2
    held = {
        f"{table}.{column.name}"
        for table in STORED_TABLES
        for column in getattr(results, table)
        for word in PARTS
        if word.casefold() in column.to_frame().write_json().casefold()
    }
    assert held == set()
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file() and path.suffix != ".parquet":
            assert not [word for word in PARTS if word in path.read_text(encoding="utf-8", errors="replace")], path
    for row in results.traces.iter_rows(named=True):
        assert not [word for word in PARTS if word.casefold() in str(results.explain(row["trace_id"])).casefold()]
    assert "[secret:" in results.calls["arguments"].str.join("").item()
    assert results.findings.filter(pl.col("code").str.starts_with("safety.")).height > 5
