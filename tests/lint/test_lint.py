"""Lint: each kind of doubt is found, and a sound suite raises none."""

import datetime as dt
import json

import pytest

from tracelens.lint import lint
from tracelens.lint.problem import SHOWN
from tracelens.suite import Suite

TODAY = dt.date(2026, 11, 2)
ROOM = {
    "type": "object",
    "properties": {
        "room": {"type": "integer", "maximum": 99},
        "day": {"type": "string", "format": "date"},
        "note": {"type": ["string", "null"], "default": ""},
    },
    "required": ["room"],
    "additionalProperties": False,
}
TOOLS = {"book": {"schema": ROOM, "aliases": ["reserve"]}, "find": {"known": True}}


def made(tmp_path, *cases, **keys):
    """A suite with these references and keys."""
    data = {"tools": TOOLS, **keys}
    if cases:
        text = "\n".join(json.dumps({"case_id": f"c{n}", **case}) for n, case in enumerate(cases))
        (tmp_path / "r.jsonl").write_text(text)
        data["references_file"] = "r.jsonl"
    return Suite.from_dict(data, tmp_path)


def told(tmp_path, *cases, **keys):
    return [f"{p.severity}: {p.message}" for p in lint(made(tmp_path, *cases, **keys), TODAY)]


def calls(*arguments, name="book"):
    return {"expected": [{"name": name, "arguments": each} for each in arguments]}


def test_a_sound_suite_raises_no_doubt(tmp_path):
    keys = {
        "normalize": {"*": {"day": "date"}, "book": {"note": ["trim", {"default": {"schema": True}}]}},
        "fields": {"book": {"room": {"required": True}}},
        "thresholds": {"f1": 1.0, "accuracy_optimal": 0.5, "golden_score": 100},
        "milestones": {"must_call": ["find", {"tool": "reserve"}], "order": [["find", "book"]], "max_steps": 4},
        "invariants": {"forbidden_tools": ["find"], "max_calls": 3, "after": [["book", "find"]]},
        "state": [{"name": "s", "database": "x.db", "sql": "SELECT case_id, room FROM t", "expect": "case"}],
        "waive": [{"case_id": "c0", "code": "schema.type", "until": TODAY, "reason": "r"}],
        "server_prefixes": ["mcp__"],
        "safety": {"patterns": [{"name": "p", "regex": "x", "tools": ["bo*"]}]},
    }
    keys["invariants"]["forbidden_tools"] = []
    assert told(tmp_path, {**calls({"room": 1}), "state": {"room": 1}}, **keys) == []


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"tools": {"book": {"schema": {"type": "strnig"}}}},
            "error: the schema of tool 'book' cannot be used: not a valid schema at #/type",
        ),
        (
            {"tools": {"book": {"schema": {"properties": {"a": {"$ref": "#/$defs/A"}}}}}},
            "error: the schema of tool 'book' cannot be used: $ref '#/$defs/A' at #/properties/a does not resolve",
        ),
        ({"tools": {"book": {"schema": {"pattern": "(?<"}}}}, "error: the schema of tool 'book' cannot be used"),
        (
            {"agents": {"a": {"tools": {"odd": {"schema": {"$ref": "nowhere.json"}}}}}},
            "error: the schema of tool 'odd' cannot be used",
        ),
        ({"answer": {"json_schema": {"type": 3}}}, "error: the schema of the answer cannot be used"),
        (
            {"tools": {"book": {"schema": {"minLenght": 1}}}},
            "warning: schema of tool 'book': #: keyword 'minLenght' is ignored; did you mean 'minLength'?",
        ),
        (
            {"tools": {"book": {"schema": {"format": "colour"}}}},
            "warning: schema of tool 'book': #: nothing checks format 'colour'",
        ),
        ({"tools": {"book": {"price": 1}}}, "warning: tool 'book' has no schema, so calls of it are unknown"),
        ({"server_prefixes": ["air"]}, "warning: prefix 'air' does not end with a separator, so it also cuts words"),
        ({"normalize": {"bok": {"a": "fold"}}}, "error: no tool is called 'bok'"),
        ({"normalize": {"reserve": {"room": "number"}}}, "error: 'reserve' is another name of tool 'book'"),
        ({"normalize": {"book": {"rom": "number"}}}, "warning: the schema of 'book' allows no argument 'rom'"),
        ({"normalize": {"book": {"day.month": "date"}}}, "warning: the schema of 'book' allows no argument 'day.month'"),
        ({"normalize": {"book": {"day": ["fold", "exact"]}}}, "warning: exact removes the rules before it, so they do nothing"),
        ({"normalize": {"book": {"day": ["ignore", "date"]}}}, "warning: an ignored value is not compared"),
        (
            {"normalize": {"book": {"day": {"default": {"schema": True}}}}},
            "warning: the schema gives no default for 'day'",
        ),
        ({"fields": {"book": {"rom": {"required": True}}}}, "warning: the schema of 'book' allows no argument 'rom'"),
        ({"fields": {"fnd": {"a": {"required": True}}}}, "error: no tool is called 'fnd'"),
        ({"milestones": {"must_call": ["fnd"]}}, "error: no tool is called 'fnd'"),
        ({"milestones": {"order": [["find", "bok"]]}}, "error: no tool is called 'bok'"),
        ({"milestones": {"must_call": ["fnd"]}, "schemas_from": "trace"}, "warning: no tool is called 'fnd'"),
        (
            {"milestones": {"must_call": ["find"]}, "invariants": {"forbidden_tools": ["fi*"]}},
            "error: 'find' must be called, and the invariants forbid it",
        ),
        (
            {"milestones": {"must_call": ["find", {"tool": "book", "min": 2}], "max_steps": 2}},
            "error: at most 2 calls allowed, and milestones ask for 3",
        ),
        (
            {"milestones": {"must_call": ["find", "book"]}, "invariants": {"max_calls": 1}},
            "error: at most 1 call allowed, and milestones ask for 2",
        ),
        ({"invariants": {"max_calls_by_tool": {"fnd": 1}}}, "error: no tool is called 'fnd'"),
        ({"invariants": {"after": [["book", "fnd"]]}}, "error: no tool is called 'fnd'"),
        ({"invariants": {"forbidden_tools": ["drop"]}}, "warning: no tool is called 'drop'"),
        ({"safety": {"patterns": [{"name": "p", "regex": "x", "tools": ["run"]}]}}, "warning: no tool is called 'run'"),
        (
            {"safety": {"packs": ["shell"], "restricted_paths": ["/x"]}},
            "warning: nothing looks at restricted paths",
        ),
        ({"thresholds": {"f1": 1.5}}, "error: f1 is never above 1, so 1.5 cannot be met"),
        ({"thresholds": {"golden_score": 101}}, "error: golden_score is never above 100, so 101 cannot be met"),
        ({"thresholds": {"f1": 0}}, "warning: every trace meets f1 ≥ 0"),
        (
            {"match": {"credit": {"exact": 0.8}}},
            "error: the threshold that stands for none: accuracy_optimal is never above 0.8 with this credit",
        ),
        ({"thresholds": {"f1": 1}}, "warning: the suite has no references, so thresholds apply only to traces that"),
        ({"route": {"require_reference": True}}, "warning: the suite has no references, so traces without their own"),
        (
            {"state": [{"name": "s", "database": "x", "sql": "select case_id from t"}]},
            "warning: state check 's' expects nothing, so it never passes",
        ),
        (
            {"state": [{"name": "s", "database": "x", "sql": "select case_id from t", "expect": "case"}]},
            "error: state check 's' expects the state of the case, and no case has one",
        ),
        (
            {"state": [{"name": "s", "database": "x", "sql": "select n, count(*) from t", "expect": {"n": 1}}]},
            "error: the query returns neither trace_id nor case_id, so no row belongs to a trace",
        ),
        (
            {"state": [{"name": "s", "database": "x", "sql": "select trace_id from t", "expect": {"seats": 1}}]},
            "warning: the query does not seem to return the expected column 'seats'",
        ),
        (
            {"state": [{"name": "s", "database": "${NO_SUCH_VAR_}", "sql": "select * from t", "expect": {"n": 1}}]},
            "warning: the variable 'NO_SUCH_VAR_' is not set here",
        ),
        (
            {"check": [{"name": "c", "python": "no_such_module_.x:run"}]},
            "warning: module 'no_such_module_' is not installed here",
        ),
        (
            {"waive": [{"case_id": "x", "code": "schema.type", "until": "2026-11-01", "reason": "r"}]},
            "warning: the waiver of schema.type for case 'x' expired on 2026-11-01",
        ),
    ],
)  # fmt: skip
def test_each_doubt_is_told_once(tmp_path, keys, message):
    found = told(tmp_path, **keys)
    general = "warning: the suite has no references"
    found = [each for each in found if message.startswith(general) or not each.startswith(general)]
    assert len(found) == 1, found
    assert found[0].startswith(message)


@pytest.mark.parametrize(
    ("case", "keys", "message"),
    [
        (calls({}, name="bok"), {}, "error: case 'c0' expects the unknown tool 'bok'"),
        (calls({}, name="bok"), {"schemas_from": "trace"}, "warning: case 'c0' expects the unknown tool 'bok'"),
        (calls({"room": "1"}), {}, "refuses: room: '1' is not of type 'integer'"),
        (calls({"room": 1, "rom": 1}), {}, "refuses: arguments: Additional properties are not allowed ('rom' was unexpected)"),
        (calls({"room": 1e400}), {}, "a number is beyond double range"),
        (calls({"room": {"$optional": 100}}), {}, "refuses: room: 100 is greater than the maximum of 99"),
        (calls({"room": {"$one_of": ["x"]}}), {}, "refuses: room: 'x' is not of type 'integer'"),
        (calls({"room": {"$literal": {"$any": True}}}), {}, "is not of type 'integer'"),
        (calls({"rom": {"$any": True}, "room": 1}), {}, "Additional properties"),
        (calls({"room": 1}, {"room": 2}), {"invariants": {"max_calls": 1}}, "case 'c0' expects 2 calls, and at most 1 allowed"),
        (calls({"room": 1}), {"invariants": {"forbidden_tools": ["book"]}}, "which the invariants forbid"),
        (calls({"x": {"$regx": "a"}}, name="find"), {}, "'$regx' is compared as plain data; did you mean '$regex'?"),
        (
            calls({"room": 1}),
            {"waive": [{"case_id": "other", "code": "schema.type", "until": "2027-01-01", "reason": "r"}]},
            "the references have no case 'other'",
        ),
        (
            {"state": {"n": 1}},
            {"state": [{"name": "s", "database": "x", "sql": "select * from t", "expect": "case", "cases": ["z"]}]},
            "the references have no case 'z'",
        ),
    ],
)  # fmt: skip
def test_doubts_about_references(tmp_path, case, keys, message):
    text = json.dumps({"case_id": "c0", **case}).replace("Infinity", "1e400")
    (tmp_path / "r.jsonl").write_text(text)
    suite = Suite.from_dict({"tools": TOOLS, "references_file": "r.jsonl", **keys}, tmp_path)
    found = [f"{p.severity}: {p.message}" for p in lint(suite, TODAY)]
    assert len(found) == 1, found
    assert message in found[0]


@pytest.mark.parametrize(
    "arguments",
    [
        {"room": {"$any": True}}, {"room": {"$range": [1, 2]}}, {"room": 1, "day": {"$regex": "^2026"}},
        {"room": {"$one_of": [1, 2]}}, {"room": {"$optional": 3}}, {"room": {"$literal": 4}},
    ],
)  # fmt: skip
def test_matchers_are_not_held_against_a_schema(tmp_path, arguments):
    assert told(tmp_path, calls(arguments)) == []


def test_a_matcher_leaves_alternatives_open(tmp_path):
    schema = {"properties": {"a": {"anyOf": [{"properties": {"b": {"type": "string"}}, "required": ["b"]}]}}}
    tools = {"f": {"schema": schema}}
    assert told(tmp_path, calls({"a": {"b": {"$any": True}}}, name="f"), tools=tools) == []
    assert len(told(tmp_path, calls({"a": {"b": 3}}, name="f"), tools=tools)) == 1


def test_handoffs_and_output_tools_need_no_schema(tmp_path):
    match = {"handoffs": ["to_*"], "output_tools": ["final"]}
    assert told(tmp_path, {"expected": [{"name": "to_x"}, {"name": "final"}]}, match=match) == []


def test_where_agents_differ_one_schema_is_enough(tmp_path):
    agents = {
        "a": {"tools": {"f": {"schema": {"required": ["x"]}}}},
        "b": {"tools": {"f": {"schema": {"required": ["y"]}}}},
    }
    assert told(tmp_path, calls({"y": 1}, name="f"), agents=agents) == []
    assert len(told(tmp_path, calls({"z": 1}, name="f"), agents=agents)) == 1


def test_places_and_repeats(tmp_path):
    suite = made(tmp_path, calls({"room": "x"}), calls({"room": "x"}, {"room": "x"}))
    (problem,) = lint(suite, TODAY)
    assert problem.place == f"{tmp_path / 'r.jsonl'}:1"
    assert "(and in 2 more places)" in problem.message


def test_a_flood_is_cut(tmp_path):
    found = told(tmp_path, *[calls({"room": f"x{n}"}) for n in range(SHOWN + 7)])
    assert sum(each.startswith("error") for each in found) == SHOWN
    assert found[-1] == "warning: 7 more problems of the kind: references that a schema refuses"


def test_errors_come_first_and_lines_are_told(tmp_path):
    (tmp_path / "s.toml").write_text("[thresholds]\nf1 = 0\nrecall = 2\n[tools.a]\nknown = true\n")
    found = lint(Suite.load(tmp_path / "s.toml"), TODAY)
    assert [p.severity for p in found] == ["error", "warning", "warning"]
    assert found[0].place == f"{tmp_path / 's.toml'}:3: thresholds.recall"


def test_without_tools_no_name_is_doubted(tmp_path):
    keys = {"tools": {}, "milestones": {"must_call": ["x"]}, "normalize": {"y": {"a": "fold"}}}
    assert told(tmp_path, calls({"room": 1}), **keys) == []
