"""The columns that dialects add to runs: documented, thresholded, kept by a rescore, the same whatever the batches are."""

from __future__ import annotations

import pytest

import tracelens as tl
from tests.run.scoring import by_trace, call, score, trace, write
from tracelens.dialects import DIALECTS
from tracelens.run import batch
from tracelens.run.dialects import dialect_values
from tracelens.run.score import score_run
from tracelens.tables import STORED_TABLES, describe_dialects

ALL = {"name": "s", "match": {"dialects": list(DIALECTS)}}
LINES = [
    trace("exact", [call("f", a=1)], [call("f", a=1)]),
    trace("float", [call("f", a=1)], [call("f", a=1.0)]),
    trace("text", [{"name": "f", "arguments": '{"a": 1}'}], [call("f", a=1)]),
    trace("nothing expected", [call("f")], []),
    trace("no reference", [call("f")]),
    trace("incomplete", [call("f")], [call("f")], complete=False),
    trace("malformed", [{"arguments": {}}, call("f")], [call("f")]),
    trace("failed", [{**call("f", a=1), "status": "error"}, call("g")], [call("g")]),
    trace("empty name", [call("")], [call("f"), call("f", o={"k": [1.50, True, None]})]),
    *(trace(f"r{n}", [call("f", n=n % 3), call("g")] * (n % 4), [call("g"), call("f", n=n % 2)]) for n in range(40)),
]


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    return score(tmp_path_factory.mktemp("scored"), LINES, ALL)


@pytest.fixture(scope="module")
def rows(scored):
    return by_trace(scored.traces)


def test_every_dialect_has_its_documented_columns(scored):
    documented = [row["column"] for row in describe_dialects()]
    assert [name for name in scored.traces.columns if "__" in name] == documented
    assert all(len(row["meaning"]) > 15 and row["null"] for row in describe_dialects())


def test_values_and_refusals(rows):
    assert (rows["exact"]["adk__exact"], rows["exact"]["mlflow__tool_call_correctness"]) == (1, 1)
    assert (rows["float"]["adk__exact"], rows["float"]["mlflow__tool_call_correctness"]) == (1, 0)
    assert rows["text"]["adk__exact"] is None
    assert rows["text"]["adk__refused"].startswith("ValidationError")
    assert (rows["text"]["agentevals__trajectory_strict_match"], rows["text"]["agentevals__refused"]) == (1, None)
    assert rows["text"]["article__refused"] == "AttributeError: 'str' object has no attribute 'items'"
    assert rows["nothing expected"]["strands__exact_match_scorer"] is None
    assert rows["nothing expected"]["strands__in_order_match_scorer"] == 1
    assert rows["nothing expected"]["strands__refused"] == "ZeroDivisionError: division by zero"
    assert rows["malformed"]["vertex__refused"] == "malformed call: it has no name"
    assert rows["exact"]["article__exact_match_rows"] == "[true]"
    assert rows["empty name"]["tau2__matches"] == "[false, false]"


@pytest.mark.parametrize("trace_id", ["no reference", "incomplete"])
def test_no_value_where_there_is_nothing_to_compare(rows, trace_id):
    assert {value for name, value in rows[trace_id].items() if "__" in name} == {None}


def test_calls_that_failed_do_not_count_in_pydantic_evals(rows, tmp_path):
    assert rows["failed"]["pydantic-evals__tool_correctness"] == 1
    assert rows["failed"]["adk__exact"] == 0
    entry = {"use": "pydantic-evals", "params": {"include_failed": True}}
    again = by_trace(score(tmp_path, LINES, {"match": {"dialects": [entry]}}).traces)
    assert again["failed"]["pydantic-evals__tool_correctness"] == 0


def test_text_is_decoded_where_the_format_writes_it(tmp_path):
    arguments = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]
    line = {"messages": [{"role": "assistant", "tool_calls": arguments}], "expected": [call("f", a=1)]}
    frame = score(tmp_path, [line], ALL).traces
    assert frame.select("adk__exact", "ragas__tool_call_accuracy", "article__tool_call_accuracy").row(0) == (1, 1, 1)


def test_the_same_bytes_whatever_the_batches_are_and_after_a_run_that_broke_off(tmp_path, monkeypatch):
    source, suite, batches = write(tmp_path, LINES), tl.Suite.from_dict(ALL), []

    def breaks_off(*args):
        batches.append(args)
        if len(batches) == 2:
            raise KeyboardInterrupt
        return dialect_values(*args)

    with monkeypatch.context() as patched:
        patched.setattr(batch, "dialect_values", breaks_off)
        with pytest.raises(KeyboardInterrupt):
            score_run(source, suite, out=tmp_path / "2", threads=1, block_size=1500)
    runs = [
        score_run(source, suite, out=tmp_path / str(threads), threads=threads, block_size=size)
        for threads, size in ((1, 1 << 20), (2, 1500))
    ]
    assert len(list((tmp_path / "2" / "runs").iterdir())) == 1
    for name in STORED_TABLES:
        assert len({(run / f"{name}.parquet").read_bytes() for run in runs}) == 1


def test_matchers_are_nothing_that_a_library_knows(tmp_path):
    wanted = [call("f", a={"$any": True})]
    lines = [trace("t", [call("f", a=1)], wanted), trace("text", [{"name": "f", "arguments": '{"a": 1}'}], wanted)]
    for row in score(tmp_path, lines, ALL).traces.to_dicts():
        assert row["accuracy_optimal"] == 1
        assert (row["article__strict"], row["strands__exact_match_scorer"]) == (1, 1)
        for name in (
            "vertex__trajectory_recall",
            "agentevals__trajectory_subset_match",
            "futureagi__tool_call_accuracy",
        ):
            assert row[name] is None, name
        assert "expected arguments hold a matcher" in row["futureagi__refused"]


def test_text_null_and_nothing_stay_apart_in_a_rescore(tmp_path):
    given = [call("f"), {"name": "f", "arguments": None}, *({"name": "f", "arguments": t} for t in ("", "null", "{}"))]
    lines = [trace(str(n), [one], [call("f")]) for n, one in enumerate([{"name": "f"}, *given])]
    scored = score(tmp_path, lines, ALL)
    values = by_trace(scored.traces)
    found = [values[str(n)]["futureagi__tool_call_accuracy"] for n in range(len(lines))]
    assert found == [1.0, 1.0, 0.5, 0.5, 0.5, 1.0]
    assert [values[str(n)]["accuracy_optimal"] for n in range(len(lines))] == [1.0] * len(lines)
    assert scored.rescore(ALL).traces.equals(scored.traces)


def test_a_rescore_adds_and_keeps_them(scored, tmp_path):
    plain = score(tmp_path, LINES, {})
    again = plain.rescore(ALL)
    assert again.run_id == scored.run_id
    assert again.traces.equals(scored.traces)


def test_a_threshold_on_another_library_s_number(tmp_path):
    suite = {"match": {"dialects": ["adk"]}, "thresholds": {"adk__in_order": 1}}
    found = by_trace(score(tmp_path, LINES, suite).traces)
    assert (found["exact"]["route"], found["r1"]["route"]) == ("settled", "triage")
    assert "adk__in_order" in " ".join(found["r1"]["reasons"])


def test_sql_knows_them(scored):
    query = "SELECT comment FROM duckdb_columns() WHERE table_name = 'traces' AND column_name = 'adk__in_order'"
    with tl.connect(scored.path.parents[1]) as duck:
        (comment,) = duck.execute(query).fetchone()
        (mean,) = duck.execute('SELECT avg("pydantic-evals__trajectory_exact") FROM traces').fetchone()
    assert comment.startswith("google-adk: 1 if E is a subsequence of A, else 0 (0..1); null: no reference")
    assert mean == pytest.approx(scored.traces["pydantic-evals__trajectory_exact"].mean())


def test_arguments_that_nobody_knows_have_no_value(tmp_path):
    secret = "ghp_" + "x9Y8z7W6v5" * 4
    lines = [trace("a", [call("f", token=secret)], [call("f", token="t")])]
    (row,) = score(tmp_path, lines, {}).rescore(ALL).traces.to_dicts()
    assert (row["strands__exact_match_scorer"], row["pydantic-evals__trajectory_exact"]) == (1, 1)
    assert (row["adk__exact"], row["adk__refused"]) == (None, "arguments_not_captured")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("adq", "did you mean 'adk'?"),
        ({"use": "adk", "params": {"ignore_arg": True}}, "did you mean 'ignore_args'?"),
        ({"use": "adk", "params": {"match_type": "SOME"}}, "match_type cannot be 'SOME'"),
        ({"use": "adk", "name": "mine"}, "begin it with 'adk_'"),
        ({"use": "adk", "name": "adk__x"}, "two underscores"),
        ({"use": "adk", "metrics": ["exakt"]}, "did you mean 'exact'?"),
        ({"use": "strands", "metrics": ["tool_called"]}, "tool_called needs tool_name"),
        ({"use": "strands", "params": {"tool_name": "f", "trajectory": "names"}}, "no metric of strands has all"),
    ],
)
def test_what_cannot_be_asked_for(entry, message):
    with pytest.raises(tl.errors.SuiteError, match=r"match\.dialects\[0\]") as caught:
        tl.Suite.from_dict({"match": {"dialects": [entry]}})
    assert message in str(caught.value)


def test_a_dialect_twice_and_a_threshold_on_one_that_is_not_there():
    with pytest.raises(tl.errors.SuiteError, match="'adk' is there twice"):
        tl.Suite.from_dict({"match": {"dialects": ["adk", "adk"]}})
    with pytest.raises(tl.errors.SuiteError, match=r"add 'adk' to match\.dialects"):
        tl.Suite.from_dict({"thresholds": {"adk__exact": 1}})
