import gc

import polars as pl
import pytest

import tracelens
from tests.store.fake_run import fake_run, frame, worked_example
from tracelens import tables
from tracelens.errors import InputError, StoreError, UsageError
from tracelens.results import Results, open_results, page, score, trace_page
from tracelens.run import score as engine_module
from tracelens.store import RunWriter


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return open_results(fake_run(tmp_path_factory.mktemp("results"), n=3))


def written(folder, *, run_id="ab12", **changes):
    """A run of one worked example whose rows are changed: ``traces=[{...}]`` overrides row by row."""
    rows = worked_example("t0")
    with RunWriter(folder) as writer:
        for name, given in rows.items():
            changed = [row | change for row, change in zip(given, changes.get(name, [{}] * len(given)), strict=True)]
            writer.write(name, frame(name, *changed))
        writer.write("runs", frame("runs", {"suite_digest": "5a"}))
        return open_results(writer.commit(run_id, {}))


@pytest.fixture
def engine(monkeypatch):
    """An engine that writes a hand-made run and notes how it was called."""
    calls = []

    def score_run(source, suite, *, out, format, selection, report):
        calls.append((source, suite.name, format, report))
        return fake_run(out)

    monkeypatch.setattr(engine_module, "score_run", score_run)
    return calls


def test_a_property_per_table(results):
    for table in tables.STORED_TABLES:
        tables.check(table, getattr(results, table))
    assert results.calls["run_id"].unique().to_list() == ["ab12"]


def test_summary(results):
    summary = results.summary()
    assert (summary.n_traces, summary.n_scored, summary.n_passed, summary.pass_rate) == (3, 3, 0, 0.0)
    assert (summary.n_rejects, summary.missing_cases, summary.suite) == (1, 1, "flights")
    assert summary.scores["f1"] == {"mean": pytest.approx(0.8), "n_scored": 3, "n_unscored": 0}
    assert summary.scores["precision"] == {"mean": None, "n_scored": 0, "n_unscored": 3}
    assert [row["tool"] for row in summary.tools] == ["search_flights", "book_flight"]
    assert {row["n_traces"] for row in summary.reasons} == {3}
    assert "traces in                            3  100.0%" in str(summary)


def test_summary_counts_unscored_traces_apart(tmp_path):
    change = {"route": "unscored", "passed": None, "unscored_reason": "incomplete", "failed_rung": None, "reasons": []}
    summary = written(tmp_path, traces=[change]).summary()
    assert (summary.pass_rate, summary.n_unscored, summary.reasons) == (None, 1, [])
    assert summary.unscored == [{"reason": "incomplete", "n_traces": 1}]
    assert "none scored" in str(summary)
    assert "none scored" in summary._repr_html_()


def test_failures(results):
    found = results.failures()
    assert found.height == 3
    assert found.row(0, named=True)["arguments"] == '{"flight_id":"UA-512","seat":"12A"}'
    assert found.row(0, named=True)["case_id"] == "flights-1"
    assert results.failures(code="schema").height == results.failures(code="schema.additionalProperties").height == 3
    assert results.failures(code="sche").height == results.failures(tool="search_flights").height == 0
    assert results.failures(tool="book_flight").height == 3


def test_notes_are_no_failures(tmp_path):
    assert written(tmp_path, findings=[{"severity": "note"}]).failures().is_empty()


def test_sql_sees_this_run_alone(tmp_path):
    fake_run(tmp_path, "aa", 2)
    fake_run(tmp_path, "bb", 3)
    assert open_results(tmp_path, "aa").sql("SELECT count(*) AS n FROM traces").item() == 2
    with pytest.raises(UsageError, match="syntax error"):
        open_results(tmp_path).sql("SELEC")


def test_explain_aligns_calls(results):
    page = str(results.explain("t1"))
    for words in (
        "call 2 book_flight  schema.additionalProperties",
        "≈  0 search_flights            0 search_flights            partial",
        '≠ date                   "2026-11-03"  expected "2026-11-02"',
        "= origin equal",
        "+  1 search_flights            –                           extra",
        '+ seat                   "12a"  not expected',
        "strict           0.33",
        "first divergence at call 1",
        "golden trace 100 of 100",
        "triage  failed at rung 1",
        "• search_flights: 1 call too many",
    ):
        assert words in page
    assert max(map(len, page.splitlines())) <= page_width()


def page_width():
    return page.WIDTH


def test_explain_with_a_lesson_says_what_each_rung_looks_at(results):
    text = page.plain(results.explain("t1").lines(lesson=True))
    assert all(sentence in text for sentence in trace_page._LESSON.values())


def test_explain_of_a_trace_that_was_not_evaluated(tmp_path):
    nothing = dict.fromkeys(
        ("strict", "unordered", "subset", "superset", "f1", "lcs", "accuracy_positional", "accuracy_optimal")
    )
    change = nothing | {"null_reason": "incomplete", "complete": False, "golden_score": None, "first_divergence": None}
    text = str(written(tmp_path, traces=[change]).explain("t0"))
    assert text.count("not evaluated: incomplete") == 2
    assert "incomplete  → triage" in text


def test_explain_shows_missing_calls_where_they_were_expected(tmp_path):
    rows = [{}, {}, {"call_index": None, "status": "missing", "agreement": None, "exact_raw": None}]
    lines = str(written(tmp_path, pairs=rows).explain("t0")).splitlines()
    missing = next(i for i, line in enumerate(lines) if line.endswith("missing"))
    extra = next(i for i, line in enumerate(lines) if line.endswith("extra"))
    assert missing < extra
    assert lines[missing + 1].strip() == '{"flight_id":"UA-512"}'


def test_explain_of_an_unknown_trace_gives_a_hint(results):
    with pytest.raises(UsageError, match="did you mean"):
        results.explain("t11")
    with pytest.raises(UsageError, match="the first trace is 't0'"):
        results.explain("zzzz")


def test_text_from_traces_is_harmless(tmp_path):
    evil = "<script>alert(1)</script>\x1b[31m\u202e"
    shown = written(
        tmp_path,
        traces=[{"reasons": [evil], "case_id": evil}],
        findings=[{"message": evil, "tool": evil, "path": evil}],
    )
    for text in (str(shown.explain("t0")), str(shown.summary())):
        assert "\x1b" not in text
        assert "\u202e" not in text
    for text in (shown.explain("t0")._repr_html_(), shown._repr_html_()):
        assert "<script>" not in text
        assert "\x1b" not in text
        assert "&lt;script&gt;" in text


def test_html_needs_nothing_from_elsewhere_and_stays_small(results):
    text = results._repr_html_()
    assert "http" not in text
    assert "<script" not in text
    assert len(text) < 20_000
    assert "light-dark(" in text


def test_compare_pairs_cases(tmp_path):
    base = written(tmp_path / "a")
    passes = {"passed": True, "route": "settled", "failed_rung": None, "reasons": []}
    head = written(tmp_path / "b", run_id="cd34", traces=[passes])
    change = base.compare(head)
    assert change.counts == {"better": 1, "worse": 0, "same": 0, "unknown": 0, "only_base": 0, "only_head": 0}
    assert head.compare(tmp_path / "a").counts["worse"] == 1
    assert base.compare(base).counts["same"] == 1
    rates = "pass rate 0.0% → 100.0%, +100.0 points (95%: +100.0 to +100.0), p = 1"
    assert repr(change) == f"Comparison(1 better; {rates})"
    assert rates in change._repr_html_()
    assert change.cases.select("case_id", "pass_rate_base", "pass_rate_head").row(0) == ("flights-1", 0.0, 1.0)
    assert change.totals["difference"] == 1


def test_compare_says_what_cannot_be_compared(tmp_path):
    base = written(tmp_path / "a")
    other = written(tmp_path / "b", run_id="cd34", traces=[{"case_id": "other"}])
    unscored = written(tmp_path / "c", run_id="ef56", traces=[{"passed": None, "route": "unscored"}])
    assert {name: n for name, n in base.compare(other).counts.items() if n} == {"only_base": 1, "only_head": 1}
    assert base.compare(unscored).counts["unknown"] == 1


def test_compare_warns_of_different_suites(tmp_path):
    one = open_results(fake_run(tmp_path / "a"))
    with RunWriter(tmp_path / "b") as writer:
        facts = frame("runs", {"suite_digest": "6b"})
        writer.write("runs", facts)
        other = open_results(writer.commit("cd", {}))
    assert one.compare(one).same_suite
    assert "different suites" in repr(one.compare(other))


def test_save_copies_the_run(tmp_path, results):
    folder = results.save(tmp_path / "kept")
    assert open_results(tmp_path / "kept").traces.equals(results.traces)
    assert [each.name for each in folder.parent.iterdir()] == ["ab12"]
    with pytest.raises(StoreError, match="there already"):
        results.save(tmp_path / "kept")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write"):
        results.save(tmp_path / "file")


def test_score_without_out_keeps_the_run_as_long_as_the_results(engine):
    results = score("in.jsonl", {"name": "mine"})
    folder = results.path
    assert engine == [("in.jsonl", "mine", "auto", None)]
    assert results.traces.height == 1
    del results
    gc.collect()
    assert not folder.exists()


def test_score_into_a_folder(engine, tmp_path):
    score("in.jsonl", out=tmp_path)
    assert engine == [("in.jsonl", "default", "auto", None)]
    gc.collect()
    assert open_results(tmp_path).run_id == "ab12"


def test_a_failed_score_leaves_no_temporary_folder(monkeypatch, tmp_path):
    def fails(*_, out, **__):
        fake_run(out)
        raise InputError("unreadable")

    monkeypatch.setattr(engine_module, "score_run", fails)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InputError):
        score("in.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_rescore_reads_the_run_itself(engine, results):
    results.rescore({"name": "other"})
    ((source, name, _, report),) = engine
    assert (source.format_name, source.names, name, report) == ("native", ("in.jsonl",), "other", None)
    batches = [parse(block) for parse, block in source.blocks()]
    assert [batch.calls.num_rows for batch in batches] == [9]


def test_repr(results):
    assert repr(results) == f"Results(ab12: 3 traces, 9 calls, in {results.path})"


def test_repr_of_results_that_nobody_keeps(engine):
    assert repr(score("in.jsonl")).endswith(" calls, not saved)")


def test_public_verbs_are_there_and_loaded_late():
    assert tracelens.Results is Results
    assert set(tracelens.__all__) <= set(dir(tracelens))
    with pytest.raises(AttributeError, match="scoer"):
        _ = tracelens.scoer


def test_frames_are_polars(results):
    assert isinstance(results.traces, pl.DataFrame)


def test_charts_are_altair_and_comparisons_show_themselves(results, tmp_path):
    funnel = results.summary().chart().to_dict()
    assert funnel["mark"]["type"] == "bar"
    rows = worked_example("t0")["traces"][0] | {"case_id": "<b>", "source": "in.jsonl"}
    better = {"passed": True, "route": "settled", "failed_rung": None, "reasons": []}
    before = written(tmp_path / "a", run_id="aa", traces=[rows | better])
    after = written(tmp_path / "b", run_id="bb", traces=[rows])
    compared = before.compare(after)
    page = compared._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<td" in page
    assert "100.0%" in page
    assert compared.chart().to_dict()["mark"]["type"] == "bar"
