"""Reports say what the store says, once, in every form."""

from dataclasses import replace
from datetime import UTC, date, datetime

import orjson
import polars as pl
import pytest

import tracelens as tl
from tests.report.traffic import FIRST
from tracelens.cli import main
from tracelens.errors import UsageError
from tracelens.report import measure, subject, write_reports
from tracelens.report.advice import actions_of
from tracelens.report.changes import changes_of, sigmas
from tracelens.report.html import html_page
from tracelens.report.markdown import markdown_page
from tracelens.report.sections import page_of
from tracelens.store.parts import Part, connect_parts


def test_a_run_is_held_against_the_one_before(store, whole):
    _, first, second = store
    assert whole.facts["against"] == f"run {first.run_id[:12]}"
    head, base = second.summary(), first.summary()
    for part, of in (("head", head), ("base", base)):
        assert whole.total(part)["n_traces"] == of.n_traces
        assert whole.total(part)["n_triage"] == of.funnel["triage"]
        assert whole.rate(part)["pass_rate"] == pytest.approx(of.pass_rate)
    assert [row["n_traces"] for row in whole.tables["funnel"]] == list(head.funnel.values())
    assert whole.total()["cost"] == pytest.approx(second.traces["cost"].sum())
    assert sum(row["n_traces"] for row in whole.tables["days"]) == 480
    assert whole.tables["paired"][0]["n_cases"] > 50


def test_days_are_taken_from_all_runs_and_no_trace_counts_twice(store, last_days):
    traces = store[2].traces.filter(pl.col("started_at") >= datetime(2026, 10, 11, tzinfo=UTC))
    assert last_days.total()["n_traces"] == traces.height == 120
    assert last_days.total("base")["n_traces"] == 120
    assert last_days.facts["against"] == "2026-10-09 to 2026-10-10"
    assert {row["day"] for row in last_days.tables["days"]} == {f"2026-10-{day:02}" for day in range(5, 13)}
    assert all(row["n_traces"] == 60 for row in last_days.tables["days"])
    parts = [Part("head", tuple(each.path for each in store[1:]))]
    with connect_parts(parts) as duck:
        assert duck.execute("SELECT count(*), count(DISTINCT trace_id) FROM traces").fetchall() == [(480, 480)]
        assert duck.execute("SELECT n_traces FROM runs").fetchall() == [(480,)]


def test_days_begin_where_the_reader_lives(store):
    about = subject(store[0], since=date(2026, 10, 8), until=date(2026, 10, 8), timezone="Asia/Tokyo")
    traces = store[2].traces["started_at"].dt.convert_time_zone("Asia/Tokyo").dt.date()
    with connect_parts(about.parts, timezone=about.timezone) as duck:
        query = "SELECT n, value FROM pass_rate WHERE run_id = 'head' AND dimension = 'day'"
        assert duck.execute(query).fetchall() == [((traces == date(2026, 10, 8)).sum(), "2026-10-08")]


def test_what_changed_leads(last_days):
    overall, *others = last_days.tables["changes"]
    assert (overall["kind"], overall["better"]) == ("overall", False)
    new = next(row for row in others if row["kind"] == "mistake")
    assert (new["tool"], new["code"], new["n_before"]) == ("book_flight", "schema.additionalProperties", 0)
    assert {("agent", "booker"), ("tool", "book_flight")} <= {(row["dimension"], row["value"]) for row in others}
    assert all(abs(row["sigmas"]) >= 3 for row in others)
    topics = [row["topic"] for row in last_days.tables["actions"]]
    assert topics[:2] == ["safety", "book_flight"]
    assert topics[-1] == "judge"


def test_the_same_traces_do_not_differ_from_themselves(whole):
    rates = [row for row in whole.tables["rates"] if row["part"] == "head"]
    mistakes = [row | {"n_traces_before": row["n_traces"]} for row in whole.tables["mistakes"]]
    totals = [whole.total(), whole.total() | {"part": "base"}]
    both = {"rates": [*rates, *(row | {"part": "base"} for row in rates)], "mistakes": mistakes, "totals": totals}
    found = changes_of(replace(whole, tables={**whole.tables, **both}))
    assert [(row["kind"], row["sigmas"]) for row in found] == [("overall", 0.0)]


def test_mistakes_made_once_are_something_to_do_as_well(whole):
    once = {**whole.tables, "mistakes": [], "arguments": [], "safety": []}
    steps = actions_of(replace(whole, tables=once))
    causes = [row["reason"] for row in whole.tables["reasons"] if " below " not in row["reason"]]
    assert [row["topic"] for row in steps][:2] == causes[:2]


def test_causes_are_told_and_not_the_thresholds_that_they_miss(whole):
    told = ["accuracy_optimal below 1", "book_flight.date is not as expected", "search was not expected", "odd"]
    reasons = [{"reason": text, "n_traces": 2, "example_trace_id": "t"} for text in told]
    none = {name: [] for name in ("mistakes", "arguments", "safety")}
    steps = actions_of(replace(whole, tables=whole.tables | none | {"reasons": reasons}))
    assert [step["topic"] for step in steps if step["why"].startswith("a reason")] == told[1:]
    assert len({step["what"] for step in steps if step["topic"] in told}) == 3
    steps = actions_of(replace(whole, tables=whole.tables | none | {"reasons": reasons[:1]}))
    assert steps[0]["topic"] == told[0]


def test_every_trace_of_a_safety_hit_is_listed(store, whole, tmp_path):
    hits = store[2].findings.filter(pl.col("code").str.starts_with("safety."), severity="error")
    listed = {trace for row in whole.tables["safety"] for trace in row["trace_ids"]}
    assert listed == set(hits["trace_id"])
    assert len(listed) == 2
    row = next(row for row in whole.tables["safety"] if row["tool"] == "run_shell")
    assert row["n_traces_with_effect"] == 0


def test_standard_errors():
    assert sigmas(0, 0, 1, 2) is None
    assert sigmas(5, 5, 7, 7) is None
    assert sigmas(40, 100, 30, 100) == pytest.approx(1.4825, abs=1e-4)
    assert sigmas(30, 100, 40, 100) == -sigmas(40, 100, 30, 100)


def test_all_forms_are_the_same_bytes_again(store, whole, tmp_path):
    made = []
    for name, found in (("a", whole), ("b", measure(subject(store[0])))):
        to = tmp_path / name
        write_reports(found, html=to / "r.html", markdown=to / "r.md", json=to / "r.json", parquet=to / "pq")
        made.append({path.relative_to(to): path.read_bytes() for path in sorted(to.rglob("*")) if path.is_file()})
    assert made[0] == made[1]
    assert len(made[0]) > 12
    tables = orjson.loads((tmp_path / "a" / "r.json").read_bytes())["tables"]
    for path in (tmp_path / "a" / "pq").iterdir():
        assert pl.read_parquet(path).height == len(tables[path.stem])


def test_the_command(store, tmp_path, capsys):
    out = tmp_path / "r.html"
    assert main(["report", str(store[0]), "--out", str(out), "--by", "agent", "--since", "2026-10-12"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(out)]
    assert "By agent" in out.read_text()
    assert "By version" not in out.read_text()
    wrong = (
        [], ["--out", "x", "--since", "yesterday"], ["--out", "x", "--by", "colour"], ["--out", "x", "--tz", "Mars"],
        ["--out", "x", "--since", "2026-10-12", "--until", "2026-10-11"],
    )  # fmt: skip
    for options in wrong:
        assert main(["report", str(store[0]), *options]) == 2
    assert "hint" in capsys.readouterr().err


def test_results_write_their_report(store, tmp_path):
    text = store[1].report(tmp_path / "r.md").read_text()
    assert text.startswith("# travel desk\n")
    assert "What changed" not in text  # there is no run before the first


def test_verdicts_of_the_judge_are_told(whole):
    assert whole.tables["verdicts"] == []
    rows = [
        {"verdict": "fail", "n_traces": 7, "n_answers": 9, "agreement": 0.5, "cost": 0.25},
        {"verdict": None, "n_traces": 1, "n_answers": 1, "agreement": None, "cost": None},
    ]
    text = markdown_page(page_of(replace(whole, tables={**whole.tables, "verdicts": rows})))
    assert "| fail | 7 | 9 | 50.0% | 0.25 |" in text
    assert "| no usable answer | 1 | 1 | – | – |" in text


def test_days_without_a_trace_say_so(whole):
    nothing = replace(whole, tables={name: [] for name in whole.tables})
    assert "No trace started in this time." in html_page(page_of(nothing))


def test_an_unscored_run_says_so(tmp_path):
    from tests.report.traffic import write

    row = {"trace_id": "a", "tool_calls": [], "started_at": FIRST.isoformat()}
    results = tl.score(write(tmp_path / "in.jsonl", [row]), {"answer": {"contains": ["x"]}}, out=tmp_path / "out")
    text = results.report(tmp_path / "r.md").read_text()
    assert "No trace was scored." in text
    assert "1 trace unscored" in text


def test_no_dimension_of_that_name(store):
    with pytest.raises(UsageError, match="cannot tell apart by 'colour'"):
        measure(subject(store[0]), by=["colour"])
