"""Results of the real engine."""

import pytest

import tracelens as tl
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
