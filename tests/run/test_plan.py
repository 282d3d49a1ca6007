"""Whoever scores trace by trace with one suite has it compiled once."""

import json

import pytest

import tracelens as tl
from tracelens.run.plan import Plan

TOOL = {"name": "book", "input_schema": {"type": "object", "required": ["id"]}}


@pytest.mark.parametrize(("suite", "recorded", "compiled"), [({"tools": {"book": {}}}, [], 1), ({}, [TOOL], 2)])
def test_a_plan_serves_again_unless_traces_have_added_to_it(tmp_path, monkeypatch, suite, recorded, compiled):
    made, compile_plan = [], Plan.compile
    monkeypatch.setattr(Plan, "compile", lambda suite: made.append(1) or compile_plan(suite))
    trace = {"trace_id": "t", "tool_calls": [{"name": "book", "arguments": {}}], "tools": recorded}
    (tmp_path / "t.jsonl").write_text(json.dumps(trace))
    loaded = tl.Suite.from_dict(suite)
    first, second = (tl.score(tmp_path / "t.jsonl", loaded, out=tmp_path / each) for each in "ab")
    assert len(made) == compiled
    assert first.findings.equals(second.findings)
    assert first.traces.equals(second.traces)
