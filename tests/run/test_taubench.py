"""The recorded tau-bench runs: what the engine finds in real traces."""

from __future__ import annotations

import json

import polars as pl
import pytest

import tracelens as tl


@pytest.fixture(scope="module")
def recorded(shared):
    path = shared / "workloads" / "tau-bench" / "gpt-4o-airline.json"
    return path, tl.score(path, {"name": "tau"}, progress=False)


def test_every_trace_and_call_is_found(recorded):
    _, results = recorded
    assert (results.traces.height, results.calls.height, results.rejects.height) == (200, 1164, 0)
    run = results.runs.row(0, named=True)
    assert (run["format"], run["n_traces"], run["n_calls"], run["n_records"]) == ("tau-bench", 200, 1164, 200)
    assert results.traces["n_calls"].sum() == 1164
    assert results.traces["trace_id"].n_unique() == 200
    assert results.traces["case_id"].n_unique() == 50


def test_calls_are_those_of_the_file(recorded):
    path, results = recorded
    runs = json.loads(path.read_text())
    wanted = [
        [call["function"]["name"] for message in run["traj"] for call in message.get("tool_calls") or ()]
        for run in runs
    ]
    calls = results.calls.group_by("trace_id", maintain_order=True).agg("name")
    found = dict(calls.iter_rows())
    assert [found.get(trace_id, []) for trace_id in results.traces["trace_id"]] == wanted
    golden = [[action["name"] for action in run["info"]["task"]["actions"]] for run in runs]
    assert results.traces["n_expected"].to_list() == [len(actions) for actions in golden]


def test_every_score_equals_the_definition(recorded):
    path, results = recorded
    for run, row in zip(json.loads(path.read_text()), results.traces.iter_rows(named=True), strict=True):
        actual = [
            {"name": call["function"]["name"], "arguments": call["function"]["arguments"]}
            for message in run["traj"]
            for call in message.get("tool_calls") or ()
        ]
        expected = [{"name": each["name"], "arguments": each["kwargs"]} for each in run["info"]["task"]["actions"]]
        wanted = tl.metrics.all_scores(actual, expected)
        assert {name: row[name] for name in wanted if name in row} == pytest.approx(
            {name: value for name, value in wanted.items() if name in row}, abs=1e-12
        )


def test_path_scores_go_along_with_rewards(recorded):
    _, results = recorded
    reward = results.traces["tags"].str.json_path_match("$.reward").cast(pl.Float64)
    means = results.traces.with_columns(solved=reward == 1.0).group_by("solved").agg(pl.col("recall").mean())
    by = dict(means.iter_rows())
    assert by[True] > by[False]
