"""Suites that no trace can pass are told so."""

import json

import pytest

from tests.lint.test_lint import TODAY
from tracelens.lint import lint
from tracelens.suite import Suite


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"milestones": {"order": [["a", "a"]]}}, "error: the first call of 'a' would have to come before itself"),
        ({"milestones": {"order": [["a", "b", "c"], ["c", "a"]]}}, "error: the first call of 'a' would have"),
        (
            {"milestones": {"order": [["a", "b"]], "max_steps": 1}},
            "error: at most 1 call allowed, and milestones ask for 2",
        ),
        (
            {"milestones": {"order": [["a", "b"]]}, "invariants": {"forbidden_tools": ["b"]}},
            "error: 'b' must be called, and the invariants forbid it",
        ),
        (
            {"milestones": {"must_call": [{"tool": "a", "min": 3}]}, "invariants": {"max_calls_by_tool": {"a": 2}}},
            "error: at most 2 calls of 'a' allowed, and milestones ask for 3",
        ),
        ({"invariants": {"after": [["a", "a"]]}}, "warning: 'a' may only be called after itself, so it may never be"),
        ({"invariants": {"after": [["a", "b"], ["b", "a"]]}}, "warning: 'b' may only be called after itself"),
        ({"fields": {"*": {"x": {"regex": "^a", "equals": "b"}}}}, "error: no value can pass: 'b', which it should"),
        ({"answer": {"contains": ["ab"], "not_contains": ["a"]}}, "error: no answer can pass: it should contain 'ab'"),
        (
            {"answer": {"contains": ["abc"], "max_length": 2}},
            "error: no answer can pass: it should contain 3 characters",
        ),
        ({"answer": {"equals": "abc", "max_length": 2}}, "error: no answer can pass: the text that it should equal"),
        ({"answer": {"equals": "abc", "json_schema": {}}}, "error: no answer can pass: the text that it should equal"),
    ],
)
def test_contradictions(keys, message):
    (found,) = [f"{problem.severity}: {problem.message}" for problem in lint(Suite.from_dict(keys), TODAY)]
    assert found.startswith(message)


@pytest.mark.parametrize(
    "keys",
    [
        {"milestones": {"order": [["a", "b"], ["a", "c"], ["b", "c"]], "must_call": ["a"], "max_steps": 3}},
        {"invariants": {"after": [["b", "a"], ["c", "b"]], "max_calls_by_tool": {"a": 0}}},
        {"fields": {"*": {"x": {"regex": "^a", "equals": "ab"}, "y": {"regex": "1", "equals": 1}}}},
        {"answer": {"equals": "abc", "contains": ["b"], "max_length": 3, "regex": "c$"}},
        {"answer": {"contains": ["a"], "not_contains": ["ab"], "max_length": 1}},
    ],
)
def test_rules_that_hold_together(keys):
    assert lint(Suite.from_dict(keys), TODAY) == []


@pytest.mark.parametrize(
    ("ids", "pairs"),
    [
        ([10, 10.0, "1e1", "b"], ["'10' and '10.0'", "'10' and '1e1'"]),
        (["0", "-0"], ["'-0' and '0'"]),
        ([1, 2, "1.x", "01", "v1.0"], []),
        ([1.5, "2.50", 10], []),
    ],
)
def test_one_number_in_two_spellings(tmp_path, ids, pairs):
    (tmp_path / "r.jsonl").write_text("".join(json.dumps({"case_id": case, "expected": []}) + "\n" for case in ids))
    found = lint(Suite.from_dict({"references_file": "r.jsonl"}, tmp_path), TODAY)
    assert sorted(problem.message.split(" are ")[0].removeprefix("cases ") for problem in found) == sorted(pairs)
