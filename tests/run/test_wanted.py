"""Expected calls against the schemas: which references are stale, whoever made the calls."""

import json
from typing import Any

import pytest

import tracelens as tl
from tests.run.scoring import call, closed, score, tools, trace, write

CODE = {"type": "string", "pattern": "^[A-Z]{3}$"}
FIND = closed("to", to=CODE, n={"type": "integer", "multipleOf": 0.1}, more={"type": "array", "items": CODE})
IF = {"if": {"properties": {"to": {"const": "X"}}}, "else": {"required": ["n"]}}
VALID = ("valid", None, None)


@pytest.fixture(scope="module")
def held(tmp_path_factory) -> Any:
    """What is said of one expected call with these arguments."""
    cases = [(name, arguments) for name, arguments, _ in SAID]
    lines = [trace(f"t{i}", [], [{"name": name, **arguments}]) for i, (name, arguments) in enumerate(cases)]
    suite = tools(find=FIND, cond=IF, bad={"type": 7}) | {"match": {"handoffs": ["to_*"]}}
    suite["tools"]["free"] = {"known": True}
    rows = score(tmp_path_factory.mktemp("wanted"), lines, suite).expected
    return list(rows.select("schema_state", "schema_code", "schema_path").iter_rows())


def _with(**arguments: Any) -> dict[str, Any]:
    return {"arguments": arguments}


SAID = [
    ("find", _with(to="SFO"), VALID),
    ("find", _with(to="sfo"), ("invalid", "schema.pattern", "to")),
    ("find", {"arguments": '{"to": "sfo"}'}, ("invalid", "schema.pattern", "to")),
    ("find", _with(), ("invalid", "schema.required", "")),
    ("find", _with(to="sfo", n="x"), ("invalid", "schema.type", "n")),
    ("find", _with(to="SFO", n=float("1e300")), VALID),
    ("find", {}, ("not_applicable", None, None)),
    ("fnd", {}, ("unknown_tool", "tool.unknown", "")),
    ("fnd", _with(to="SFO"), ("unknown_tool", "tool.unknown", "")),
    ("free", _with(to=1), ("no_schema", None, None)),
    ("bad", _with(to=1), ("unusable", None, None)),
    ("to_desk", _with(to=1), ("not_applicable", None, None)),
    ("find", _with(to={"$any": True}), VALID),
    ("find", _with(to={"$regex": "^S"}, more=[{"$any": True}, "JFK"]), VALID),
    ("find", _with(to={"$any": True}, more=[{"$any": True}, "jfk"]), ("invalid", "schema.pattern", "more[1]")),
    ("find", _with(to={"$any": True}, seat=1), ("invalid", "schema.additionalProperties", "")),
    ("find", _with(n={"$range": [1, 2]}), ("invalid", "schema.required", "")),
    ("find", _with(to={"$one_of": ["sfo", "SFO"]}), VALID),
    ("find", _with(to={"$one_of": ["sfo", "jfk"]}), ("invalid", "schema.pattern", "to")),
    ("find", _with(to={"$one_of": ["SFO", "jfk"]}, more={"$one_of": ["x", []]}), VALID),
    ("find", _with(to={"$optional": "sfo"}), ("invalid", "schema.pattern", "to")),
    ("find", _with(to={"$literal": {"$any": True}}), ("invalid", "schema.type", "to")),
    ("cond", _with(to="Y"), ("invalid", "schema.required", "")),
    ("cond", _with(to={"$any": True}), VALID),
]


@pytest.mark.parametrize("at", range(len(SAID)), ids=[f"{name} {json.dumps(given)}" for name, given, _ in SAID])
def test_what_is_said_of_an_expected_call(held, at):
    assert held[at] == SAID[at][2]


def test_a_text_that_both_sides_have_is_judged_for_each(tmp_path):
    same = call("find", to={"$any": True})
    results = score(tmp_path, [trace("t", [same, call("find", to="SFO")], [same])], tools(find=FIND))
    assert results.calls["schema_state"].to_list() == ["invalid", "valid"]
    assert results.expected["schema_state"].to_list() == ["valid"]


def test_references_without_calls_and_without_tools(tmp_path):
    results = score(tmp_path, [trace("t", [], []), trace("u", [], [call("find", to=1)])])
    states = results.expected.select("schema_state", "schema_code").rows()
    assert states == [(None, None), ("not_applicable", None)]


def test_where_agents_differ_one_schema_is_enough(tmp_path):
    agents = {name: {"tools": {"f": {"schema": closed(key, **{key: CODE})}}} for key, name in (("x", "a"), ("y", "b"))}
    wanted = [call("f", x="SFO"), call("f", y="SFO"), call("f", y={"$any": True}), call("f", z=1), call("f", y="sfo")]
    results = score(tmp_path, [trace("t", [], wanted, agent="b")], {"agents": agents})
    assert results.expected["schema_state"].to_list() == ["valid"] * 3 + ["unknown_tool"] * 2


def test_recorded_tools_are_those_of_the_trace(tmp_path):
    """One case of the suite, held against by traces whose tools differ: each is told by its own."""
    write(tmp_path, [{"case_id": "c", "expected": [call("f", x="SFO")]}], "refs.jsonl")
    recorded = [[{"name": "f", "input_schema": closed(key, **{key: CODE})}] for key in "xy"]
    lines = [trace(f"t{i}", [], case_id="c", tools=each) for i, each in enumerate(recorded)]
    results = score(tmp_path, lines, {"references_file": "refs.jsonl"})
    assert results.expected["schema_state"].to_list() == ["valid", "invalid"]
    stale = results.sql("SELECT case_id, tool, code, path, n_traces, example_trace_id FROM stale_references").rows()
    assert stale == [("c", "f", "schema.additionalProperties", "", 1, "t1")]


def test_what_a_mask_hides_is_not_judged(tmp_path):
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    suite = {**tools(find=closed("key", key={"type": "string", "pattern": "^AKIA"})), "safety": {"packs": ["secrets"]}}
    results = score(tmp_path, [trace("t", [], [call("find", key=key), call("find", key="x")])], suite)
    assert results.expected["schema_state"].to_list() == ["valid", "invalid"]
    again = results.rescore(tl.Suite.from_dict({"name": "other", **suite}))
    assert again.expected["schema_state"].to_list() == ["not_captured", "invalid"]
