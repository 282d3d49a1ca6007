"""`tracelens modes` and `tracelens compare-dialects`."""

from __future__ import annotations

import json

import pytest

from tests.run.scoring import call, score, trace
from tracelens.cli import main
from tracelens.dialects import DIALECTS
from tracelens.dialects.modes import ACTUAL, EXPECTED, OWN, modes

SEARCH, BOOK = call("search", day=1), call("book", seat="12A")
LINES = [
    trace("same", [SEARCH, BOOK], [SEARCH, BOOK]),
    trace("swapped", [BOOK, SEARCH], [SEARCH, BOOK]),
    trace("other day", [call("search", day=2), BOOK], [SEARCH, BOOK], case_id="c1"),
    trace("twice", [SEARCH, SEARCH, BOOK], [SEARCH, BOOK]),
    trace("nothing", [SEARCH], []),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dialects")
    score(folder, LINES, {"match": {"dialects": ["agentevals", "adk", "strands", "article"]}}, out=folder / "out")
    return folder / "out"


def test_modes_side_by_side(capsys):
    assert main(["modes"]) == 0
    page = capsys.readouterr().out
    assert page.count("\n  tracelens ") == 8
    assert "agentevals      trajectory_subset_match        false  A ⊆ E as multisets" in page
    assert "strands         exact_match_scorer              0.50  |{i : aᵢ = eᵢ}| / m" in page


def test_modes_as_json_have_our_own_numbers(capsys, tmp_path):
    assert main(["modes", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == len(modes())
    ours = score(tmp_path, [trace("t", list(ACTUAL), list(EXPECTED))]).traces.to_dicts()[0]
    own = [row for row in rows if row["dialect"] == OWN]
    assert {row["metric"]: row["value"] for row in own} == pytest.approx(
        {row["metric"]: ours[row["metric"]] for row in own}
    )


@pytest.mark.parametrize("name", DIALECTS)
def test_all_that_is_known_of_a_dialect(name, capsys):
    assert main(["modes", name]) == 0
    page = capsys.readouterr().out
    prose, dialect = " ".join(page.split()), DIALECTS[name]
    for said in (dialect.version, dialect.equality, dialect.empties, dialect.duplicates, dialect.bugs):
        assert said in prose
    assert max(map(len, page.split("\n\n")[0].splitlines())) < 120
    assert all(f"  {metric.name}  {metric.meaning}" in page for metric in dialect.metrics)
    assert main(["modes", name, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["metrics"]) == len(dialect.metrics)


def test_a_dialect_that_is_not_there(capsys):
    assert main(["modes", "agenteval"]) == 2
    assert "did you mean 'agentevals'?" in capsys.readouterr().err


def test_where_dialects_disagree_most_first(results, capsys):
    assert main(["compare-dialects", str(results), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["trace_id"] for row in found["traces"]][-1] != "same"
    spreads = [row["disagreement"] for row in found["traces"]]
    assert spreads == sorted(spreads, reverse=True)
    assert "same" not in {row["trace_id"] for row in found["traces"]}
    why = {row["trace_id"]: " ".join(row["why"]) for row in found["traces"]}
    assert "the order differs" in why["swapped"]
    assert "1 right tool with other arguments" in why["other day"]
    assert "1 repeated call" in why["twice"]
    assert "strands refuses: ZeroDivisionError: division by zero" in why["nothing"]
    assert {row["word"]: row["n_differ"] for row in found["words"]}["strict"] == 2
    means = {row["column"]: (row["n_scored"], row["mean"]) for row in found["numbers"] if row["word"] == "strict"}
    assert means["adk__exact"] == (5, pytest.approx(0.2))
    assert means["strands__exact_match_scorer"][0] == 4


def test_the_page_says_who_says_what(results, capsys):
    assert main(["compare-dialects", str(results), "--rows", "2"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("4 traces with disagreement")
    assert page.count("\nTrace ") == 2
    assert "agentevals__trajectory_strict_match" in page
    assert "\n  strict     " in page
    assert "\n  mean       0." in page


def test_a_run_without_dialects(tmp_path, capsys):
    score(tmp_path, LINES, {}, out=tmp_path / "out")
    assert main(["compare-dialects", str(tmp_path / "out")]) == 2
    assert 'dialects = ["article", …]' in capsys.readouterr().err
