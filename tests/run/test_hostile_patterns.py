"""Patterns that a backtracking engine never finishes, wherever a suite may hold one: scored, in seconds."""

from __future__ import annotations

import time
from pathlib import Path

import tracelens as tl
from tests.run.scoring import call, trace, write

HOSTILE = "^(a+)+$"
LONG = "a" * 3000 + "!"


def test_every_place_of_a_pattern(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string", "pattern": HOSTILE}}}
    schema["patternProperties"] = {"^(z+)+$": {"type": "null"}}
    suite = {
        "tools": {"f": {"schema": schema}},
        "fields": {"f": {"q": {"regex": HOSTILE}}},
        "answer": {"regex": HOSTILE},
        "safety": {"patterns": [{"name": "own", "regex": "^(a+)+!?$"}]},
        "milestones": {"must_call": [{"tool": "f", "arguments": {"q": {"$regex": HOSTILE}}}]},
    }
    expected = [{"name": "f", "arguments": {"q": {"$regex": HOSTILE}}}]
    lines = [
        trace("bad", [call("f", q=LONG)], expected, final_answer=LONG),
        trace("bad2", [call("f", q="é" + LONG)], expected, final_answer=LONG),
        trace("good", [call("f", q=LONG[:-1])], expected, final_answer=LONG[:-1]),
    ]
    started = time.process_time()
    results = tl.score(write(tmp_path, lines), suite)
    assert time.process_time() - started < 60
    codes = {
        (row["trace_id"], row["code"])
        for row in results.findings.select("trace_id", "code").to_dicts()
        if row["trace_id"] == "bad"
    }
    wanted = {"schema.pattern", "field.regex", "answer.regex", "safety.own", "milestone.must_call"}
    wanted |= {"threshold.accuracy_optimal"}
    assert {code for _, code in codes} == wanted
    scores = {row["trace_id"]: row["accuracy_optimal"] for row in results.traces.to_dicts()}
    assert scores == {"bad": 0.5, "bad2": 0.5, "good": 1.0}


def test_a_pattern_that_no_engine_bounds_is_refused_where_it_stands(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string", "pattern": r"^(\w+)+\1$"}}}
    expected = [{"name": "f", "arguments": {"q": {"$regex": r"^(\w+)+\1$"}}}]
    lines = [trace("a", [call("f", q=LONG)]), trace("b", [call("f", q=LONG)], expected)]
    results = tl.score(write(tmp_path, lines), {"tools": {"f": {"schema": schema}}})
    assert results.findings.select("code", "severity").rows() == [("schema.unusable", "note")]
    assert [row["line"] for row in results.rejects.to_dicts()] == [2]
    assert "could take forever" in results.rejects["reason"][0]
