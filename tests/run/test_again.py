"""Scoring a stored run again: the same suite gives the same tables, and what was masked is never judged."""

from __future__ import annotations

import json

import polars as pl
import pytest

import tracelens as tl
from tests.run.scoring import asked, asking, by_trace, call, closed, column, score, table_bytes, tools, trace, write
from tests.run.test_laws import CHECK, FULL, corpus
from tracelens.tables import STORED_TABLES

SECRET = "hunter2-Zq9"
STRICT = {**tools(login={"type": "object", "properties": {"password": {"type": "string", "maxLength": 12}}})}


def same(results: tl.Results, again: tl.Results) -> list[str]:
    """Tables whose bytes differ."""
    one, other = table_bytes(results), table_bytes(again)
    return [name for name in STORED_TABLES if one[name] != other[name]]


@pytest.mark.parametrize("own", [{}, CHECK], ids=["rungs", "own checks"])
def test_the_same_suite_gives_the_same_run(tmp_path, own):
    lines = [line for line in corpus() if "ghp_" not in line]
    cases = [{"case_id": f"c{n}", "expected": [call("find", p=n)]} for n in range(0, 45, 2)]
    write(tmp_path, cases, "golden.jsonl")
    results = score(tmp_path, lines, {**FULL, **own})
    assert results.rejects.height > 8
    assert results.runs["n_merged"][0] > 0
    assert results.runs["n_blank"][0] > 0
    again = results.rescore(tl.Suite.from_dict({"name": "s", **FULL, **own}, tmp_path))
    assert again.run_id == results.run_id
    assert same(results, again) == []
    assert "masked" not in " ".join(again.runs["notes"][0])


def test_conversations_and_dispatchers_give_the_same_run(tmp_path):
    twice = json.dumps(json.dumps({"a": 1}))
    messages = [
        asking(asked("f", twice), asked("f", '{"a": 1, "a": 2}', "c2"), asked("f", "{", "c3"), {"type": "nothing"}),
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        asking({"id": "c4", "type": "custom", "custom": {"name": "patch", "input": "free text"}}),
        asking(asked("run", json.dumps({"tool": "g", "args": {"x": 1}}), "c5"), asked("run", "{}", "c6")),
        {"role": "assistant", "content": "bye"},
    ]
    suite = {**tools(f=closed(a={"type": "integer"}), g={}), "wrappers": {"run": {"name": "tool", "arguments": "args"}}}
    results = score(tmp_path, [{"messages": messages, "expected": [call("f", a=1)]}], suite)
    assert set(results.findings["code"]) >= {"arguments.decoded", "arguments.duplicate_keys", "arguments.invalid_json"}
    again = results.rescore({"name": "s", **suite})
    assert again.run_id == results.run_id
    assert same(results, again) == []


def test_counts_and_rejects_stay(tmp_path):
    rows = [trace("a", [call("f")]), "", trace("a", [call("f")]), "{", trace("b", []), trace("a", [])]
    results = score(tmp_path, rows)
    again = results.rescore({"name": "other"})
    counts = ["n_records", "n_traces", "n_merged", "n_blank", "n_rejects", "notes", "input_digest"]
    assert again.runs.select(counts).rows() == results.runs.select(counts).rows()
    assert again.runs["n_records"][0] == 6
    assert again.rejects.drop("run_id").equals(results.rejects.drop("run_id"))
    assert again.run_id != results.run_id


def masked_run(tmp_path, **more):
    calls = [call("login", user="ann", password=SECRET), call("look", q="x")]
    rows = [
        trace("a", calls, [call("login", user="ann", password=SECRET), call("look", q="x")], **more),
        trace("b", [call("look", q="x")], [call("look", q="x")]),
        trace("c", [call("login", user="ann", password="x")], [call("login", user="ann", password=SECRET)]),
    ]
    return score(tmp_path, rows, {"safety": {"packs": ["secrets"]}})


def test_masked_values_are_never_judged(tmp_path):
    results = masked_run(tmp_path)
    assert column(results.traces, "accuracy_optimal") == {"a": 1.0, "b": 1.0, "c": 0.5}
    again = results.rescore({**STRICT, "fields": {"login": {"password": {"equals": SECRET}}}})
    rows = by_trace(again.traces)
    assert column(again.traces, "accuracy_optimal") == {"a": None, "b": 1.0, "c": None}
    assert {name: row["null_reason"] for name, row in rows.items()} == {
        "a": "arguments_not_captured", "b": None, "c": "arguments_not_captured"
    }  # fmt: skip
    assert rows["a"]["strict"] == 1.0
    assert again.findings.filter(pl.col("code").str.contains("schema|field")).is_empty()
    assert again.calls["arguments_state"].to_list() == ["not_captured"] * 2 + ["object", "not_captured"]
    assert again.run_id != results.run_id
    assert any("masked" in note for note in again.runs["notes"][0])


def test_a_suite_that_knows_the_secret_does_not_blame_the_mask(tmp_path):
    results = score(tmp_path, [trace("a", [call("login", password=SECRET)], case_id="1")], {})
    write(tmp_path, [{"case_id": "1", "expected": [call("login", password=SECRET)]}], "golden.jsonl")
    suite = tl.Suite.from_dict({"references_file": "golden.jsonl"}, tmp_path)
    assert tl.score(write(tmp_path, [trace("a", [call("login", password=SECRET)], case_id="1")]), suite).traces[
        "accuracy_optimal"
    ].to_list() == [1.0]
    again = results.rescore(suite)
    assert again.traces["accuracy_optimal"].to_list() == [None]
    assert again.pairs["status"].to_list() == ["name_only"]
    assert again.argument_diffs.is_empty()


def test_masked_runs_scored_twice_again_are_one_run(tmp_path):
    suite = {"name": "plain", "safety": {"packs": ["secrets"]}}
    once = masked_run(tmp_path).rescore(suite)
    twice = once.rescore(suite)
    assert twice.run_id == once.run_id
    assert same(once, twice) == []


def test_safety_finds_in_masked_calls_what_it_found_before(tmp_path):
    row = trace("a", [call("run", command="sudo rm -rf /srv --password=hunter2", body="mail me")])
    suite = {"safety": {"packs": ["secrets", "destructive", "shell"], "patterns": [{"name": "own", "regex": "mail"}]}}
    results = score(tmp_path, [row], suite)
    again = results.rescore({"name": "s", **suite})
    kept = ["code", "severity", "path", "message", "value"]
    wanted = results.findings.select(kept)
    assert set(wanted["code"]) == {"safety.destructive", "safety.secrets", "safety.own"}
    assert again.findings.filter(pl.col("code").str.starts_with("safety")).select(kept).equals(wanted)
    assert again.traces["safety_ok"].to_list() == [False]


def test_no_hit_says_nothing_where_patterns_would_have_seen_the_secret(tmp_path):
    again = masked_run(tmp_path).rescore({"safety": {"packs": [], "patterns": [{"name": "own", "regex": SECRET}]}})
    assert column(again.traces, "safety_ok") == {"a": None, "b": True, "c": None}
    assert by_trace(again.traces)["a"]["route"] == "unscored"


def test_a_masked_answer_is_not_checked(tmp_path):
    results = masked_run(tmp_path, final_answer=f"password={SECRET}")
    again = results.rescore({"answer": {"max_length": 20}, "safety": {"packs": []}})
    rows = by_trace(again.traces)
    assert (rows["a"]["answer_ok"], rows["a"]["unscored_reason"]) == (None, "answer_masked")
    assert again.findings.filter(pl.col("code").str.starts_with("answer")).is_empty()


def test_repetition_of_masked_calls_is_unknown(tmp_path):
    calls = [call("login", password=SECRET), call("login", password=SECRET.upper()), call("look")]
    results = score(tmp_path, [trace("a", calls)], {"safety": {"packs": ["secrets"]}})
    again = by_trace(results.rescore({"invariants": {"max_identical": 1}}).traces)["a"]
    assert results.traces["n_identical_repeats"].to_list() == [1]
    names = ("n_identical_repeats", "longest_loop", "oscillation", "n_repeated_errors", "invariants_ok")
    assert {name: again[name] for name in names} == dict.fromkeys(names)
