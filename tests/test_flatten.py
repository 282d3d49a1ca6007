"""Dispatcher calls become the real ones, by rule only."""

import json
from types import SimpleNamespace

from tests.sources.reading import batches, write
from tracelens.columns import ABSENT, JSON_STRING, JSON_VALUE
from tracelens.flatten import flatten

RULES = {"Dispatcher.handle": SimpleNamespace(name="call.tool_name", arguments="call.args")}


def flat(tmp_path, arguments, rules=None):
    calls = [{"name": "Dispatcher.handle", "arguments": item} for item in arguments]
    calls.insert(1, {"name": "other", "arguments": {"call": {"tool_name": "x"}}})
    path = write(tmp_path, [json.dumps({"trace_id": "t", "tool_calls": calls})])
    return flatten(batches(path)[0], RULES if rules is None else rules).checked()


def test_a_declared_wrapper_is_taken_off(tmp_path):
    inner = [
        {"call": {"tool_name": "list", "args": {"year": 2026}}},
        json.dumps({"call": {"tool_name": "text", "args": '{"a": 1}'}}),
        {"call": {"tool_name": "bare"}},
        {"call": {"args": {}}},
        "not json",
    ]
    found = flat(tmp_path, inner)
    rows = [(c["name"], c["arguments"], c["arguments_form"], c["wrapper"]) for c in found.calls.to_pylist()]
    assert rows[:4] == [
        ("list", '{"year": 2026}', JSON_VALUE, "Dispatcher.handle"),
        ("other", '{"call": {"tool_name": "x"}}', JSON_VALUE, None),
        ("text", '{"a": 1}', JSON_STRING, "Dispatcher.handle"),
        ("bare", None, ABSENT, "Dispatcher.handle"),
    ]
    assert [row[0] for row in rows[4:]] == ["Dispatcher.handle"] * 2
    assert found.notes == ("some calls of Dispatcher.handle hold no tool name at call.tool_name and stay as they are",)


def test_without_a_rule_nothing_changes(tmp_path):
    found = flat(tmp_path, [{"call": {"tool_name": "list"}}], {})
    assert [c["name"] for c in found.calls.to_pylist()] == ["Dispatcher.handle", "other"]
    assert found.notes == ()
