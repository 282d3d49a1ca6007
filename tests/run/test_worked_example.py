"""The worked example of the definitions, every value, from files on disk."""

from __future__ import annotations

import json

import pytest

import tracelens as tl
from tests.run.scoring import by_trace, call, closed, grouped, trace, write

CODE = {"type": "string", "pattern": "^[A-Z]{3}$"}
DAY = {"type": "string", "format": "date"}
SCHEMAS = {
    "search_flights": closed("origin", "destination", "date", origin=CODE, destination=CODE, date=DAY),
    "book_flight": closed("flight_id", flight_id={"type": "string"}),
}
SUITE = """
name = "flights"
tools_file = "tools.json"
references_file = "golden.jsonl"

[match]
rows = ["positional", "best_unused", "optimal"]
"""


def search(day):
    return call("search_flights", origin="SFO", destination="JFK", date=day)


EXPECTED = [search("2026-11-02"), call("book_flight", flight_id="UA-512")]
ACTUAL = [search("2026-11-03"), search("2026-11-03"), call("book_flight", flight_id="UA-512", seat="12A")]
EXTRA_FIELD = "Additional properties are not allowed ('seat' was unexpected)"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flights")
    (folder / "tools.json").write_text(json.dumps(SCHEMAS))
    write(folder, [{"case_id": "flights-1", "expected": EXPECTED}], "golden.jsonl")
    (folder / "suite.toml").write_text(SUITE)
    traces = write(folder, [trace("t1", ACTUAL, case_id="flights-1")])
    return tl.score(traces, folder / "suite.toml", out=folder / "results", progress=False)


@pytest.fixture(scope="module")
def row(results):
    return by_trace(results.traces)["t1"]


def test_rung_one_has_one_finding(results):
    found = results.findings.filter(rung=1)
    assert found.select("tool", "message", "call_index", "code", "path", "severity").rows() == [
        ("book_flight", EXTRA_FIELD, 2, "schema.additionalProperties", "", "error")
    ]
    assert json.loads(found["value"].item()) == ACTUAL[2]["arguments"]
    assert results.calls["schema_state"].to_list() == ["valid", "valid", "invalid"]


@pytest.mark.parametrize(
    ("pairing", "statuses"),
    [
        ("positional", ["partial", "wrong_name", "extra"]),
        ("best_unused", ["partial", "extra", "partial"]),
        ("optimal", ["partial", "extra", "partial"]),
    ],
)
def test_rung_two_pairs(results, pairing, statuses):
    rows = results.pairs.filter(pairing=pairing)
    assert rows["status"].to_list() == statuses
    assert rows["call_index"].to_list() == [0, 1, 2]


def test_rung_two_says_what_differs(results):
    differences = grouped(results.argument_diffs.filter(pairing="optimal"), "call_index", "path", "status")["t1"]
    assert set(differences) == {
        (0, "origin", "equal"),
        (0, "destination", "equal"),
        (0, "date", "differs"),
        (2, "flight_id", "equal"),
        (2, "seat", "unexpected"),
    }


@pytest.mark.parametrize(
    ("score", "value"),
    [
        ("strict", 0.33),
        ("unordered", 1),
        ("subset", 1),
        ("superset", 1),
        ("subset_partial", 1),
        ("superset_partial", 1),
        ("precision", 0.67),
        ("recall", 1),
        ("f1", 0.8),
        ("lcs", 0.67),
        ("in_order", 1),
        ("any_order", 1),
        ("exact_order", 0),
        ("first_divergence", 1),
        ("accuracy_positional", 0.17),
        ("accuracy_best_unused", 0.33),
        ("accuracy_optimal", 0.33),
        ("accuracy_graded", 0.53),
        ("golden_score", 100),
        ("n_calls", 3),
        ("n_expected", 2),
        ("n_findings", 2),
        ("n_needless", 1),
        ("n_identical_repeats", 1),
    ],
)
def test_scores(row, score, value):
    assert round(row[score], 2) == value


@pytest.mark.parametrize(
    ("pairing", "counts"), [("positional", (0, 1, 0, 1)), ("best_unused", (0, 2, 0, 1)), ("optimal", (0, 2, 0, 1))]
)
def test_counts(row, pairing, counts):
    assert tuple(row[f"n_{status}_{pairing}"] for status in ("exact", "partial", "missing", "extra")) == counts
    assert row["n_wrong_name_positional"] == 1


def test_route_and_reasons(row):
    assert (row["route"], row["passed"], row["failed_rung"], row["unscored_reason"]) == ("triage", False, 1, None)
    assert row["reasons"] == [
        f"book_flight: {EXTRA_FIELD}",
        'call 0: search_flights.date is "2026-11-03", expected "2026-11-02"',
        "call 1: search_flights repeats call 0 and was not expected",
        'call 2: book_flight.seat = "12a" was not expected',
        "accuracy_optimal is 0.3333, below 1",
    ]


def test_golden_steps(results):
    assert results.steps.select("tool", "status").rows() == [
        ("search_flights", "correct"),
        ("search_flights", "unexpected"),
        ("book_flight", "correct"),
    ]


def test_a_call_without_arguments_lacks_those_expected(tmp_path):
    lines = [trace("t", [call("f")], [call("f", x=1)])]
    results = tl.score(write(tmp_path, lines), {"name": "s"})
    assert results.argument_diffs.select("path", "status").rows() == [("x", "missing")]
    assert results.traces["reasons"].to_list() == [
        ["call 0: f.x is missing, expected 1", "accuracy_optimal is 0.5, below 1"]
    ]
