"""The worked example comes out as documented, through the command that users meet first."""

import json
import subprocess
import sys

import pytest

from tracelens.cli import main


@pytest.fixture
def demo(capsys):
    def call(*tokens):
        assert main(["demo", *tokens]) == 0
        out, error = capsys.readouterr()
        assert error == ""
        return out

    return call


def statuses(found, pairing):
    rows = [row for row in found["pairs"] if row["pairing"] == pairing and row["call_index"] is not None]
    return [row["status"] for row in sorted(rows, key=lambda row: row["call_index"])]


def test_every_value_of_the_example(demo):
    found = json.loads(demo("--json"))
    trace = found["trace"]
    scores = {
        "strict": 1 / 3, "unordered": 1, "subset": 1, "superset": 1, "precision": 2 / 3, "recall": 1, "f1": 0.8,
        "lcs": 2 / 3, "in_order": 1, "any_order": 1, "exact_order": 0, "first_divergence": 1,
        "accuracy_positional": 1 / 6, "accuracy_best_unused": 1 / 3, "accuracy_optimal": 1 / 3,
        "accuracy_graded": 0.53, "golden_score": 100,
    }  # fmt: skip
    assert {name: trace[name] for name in scores} == pytest.approx(scores, abs=0.005)
    finding, *missed = [row for row in found["findings"] if row["severity"] == "error"]
    assert (finding["tool"], finding["code"]) == ("book_flight", "schema.additionalProperties")
    assert finding["message"] == "Additional properties are not allowed ('seat' was unexpected)"
    assert {row["code"] for row in missed} == {"threshold.strict", "threshold.accuracy_optimal"}
    assert statuses(found, "positional") == ["partial", "wrong_name", "extra"]
    assert statuses(found, "optimal") == statuses(found, "best_unused") == ["partial", "extra", "partial"]
    assert (trace["route"], trace["failed_rung"], trace["passed"]) == ("triage", 1, False)
    reasons = " | ".join(trace["reasons"])
    assert all(word in reasons for word in ("seat", "date", "search_flights"))
    assert len(trace["reasons"]) >= 3


def test_the_right_date_changes_the_numbers(demo):
    found = json.loads(demo("--date", "2026-11-02", "--json"))
    assert statuses(found, "optimal") == ["exact", "extra", "partial"]
    assert found["trace"]["accuracy_optimal"] == pytest.approx(0.5)


def test_a_date_that_is_none_is_a_finding(demo):
    findings = json.loads(demo("--date", "soon", "--json"))["findings"]
    assert {row["code"] for row in findings if row["rung"] == 1} == {"schema.additionalProperties", "schema.format"}


def test_the_page_teaches_rung_by_rung(demo):
    page = demo()
    for words in (
        "A user asks:",
        "Rung 1  schema checks",
        "Additional properties are not allowed ('seat' was unexpected)",
        "Rung 2  function calls",
        '≠ date                   "2026-11-03"  expected "2026-11-02"',
        "positional pairing: partial, wrong_name, extra",
        "Rung 3  trajectory",
        "strict           0.33",
        "Rung 4  accuracy",
        "Rung 5  route",
        "triage  failed at rung 1",
        "tracelens demo --date 2026-11-02",
    ):
        assert words in page
    assert max(map(len, page.splitlines())) <= 100


def test_the_demo_loads_nothing_that_it_does_not_need():
    heavy = ("pandas", "duckdb", "rich", "altair", "jinja2", "adbc_driver_manager")
    code = f"""
import sys
from tracelens.cli import main
assert main(["demo"]) == 0
print([name for name in {heavy!r} if name in sys.modules], "pandas" in str(sys.meta_path))
import pandas, pyarrow
assert pyarrow.table({{"a": [1]}}).to_pandas()["a"].tolist() == [1]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] False"
