"""Results of the real engine."""

import pytest

import tracelens as tl
from tests.run.scoring import call, trace, write
from tracelens import tables


@pytest.fixture(scope="module")
def demo(root):
    return root / "tracelens" / "demo"


@pytest.fixture(scope="module")
def results(demo, tmp_path_factory):
    return tl.score(demo / "traces.jsonl", demo / "suite.toml", out=tmp_path_factory.mktemp("results"), progress=False)


def test_what_the_engine_stores_keeps_the_contract(results):
    for table in tables.STORED_TABLES:
        tables.check(table, getattr(results, table))


def test_scoring_a_stored_run_again_gives_the_same_run(results, demo):
    again = results.rescore(demo / "suite.toml")
    assert again.run_id == results.run_id
    for table in tables.STORED_TABLES:
        assert getattr(results, table).equals(getattr(again, table)), table


def test_another_suite_gives_other_routes(results):
    assert results.rescore({"name": "none"}).traces["route"].to_list() == ["settled"]


def test_the_same_input_and_suite_give_the_same_run(results, demo):
    again = tl.score(demo / "traces.jsonl", tl.Suite.load(demo / "suite.toml"), progress=False)
    assert again.run_id == results.run_id
    for table in tables.STORED_TABLES:
        one, other = ((each.path / f"{table}.parquet").read_bytes() for each in (results, again))
        assert one == other


def test_summary_of_the_demo(results):
    summary = results.summary()
    assert summary.funnel["triage"] == summary.n_traces == 1
    assert {row["reason"] for row in summary.reasons} >= {
        "book_flight: Additional properties are not allowed ('seat' was unexpected)",
        "search_flights.date is not as expected",
        "search_flights repeats an earlier call",
        "accuracy_optimal below 1",
    }


def test_the_funnel_says_what_was_not_checked(tmp_path):
    """Without a suite nothing stops a trace; that is no pass of a check."""
    lines = [trace("a", [call("f")]), trace("b", [call("f")], [call("f")]), trace("c", [])]
    bare = tl.score(write(tmp_path, lines), progress=False)
    assert bare.sql("SELECT n_traces, n_unchecked FROM funnel WHERE n_unchecked IS NOT NULL").rows() == [(3, 2)] * 4
    text = str(bare.summary())
    assert "passed rung 1, schema                3  100.0%  ████████████████████████  2 without a schema" in text
    assert "2 without a reference" in bare._repr_html_()
    suite = {"tools": {"f": {"schema": {}}}, "milestones": {"must_call": ["f"]}}
    rows = tl.score(tmp_path / "in.jsonl", suite, progress=False).sql("SELECT n_traces, n_unchecked FROM funnel").rows()
    assert rows[2:6] == [(3, 0), (3, 2), (2, 0), (2, 1)]
