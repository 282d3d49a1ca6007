"""The reference: its documented deviations from the library, unusable schemas, warnings."""

import json
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from tracelens.rungs.schema.truth import compile_schema, validate
from tracelens.rungs.schema.warn import schema_warnings

DRAFT7 = "http://json-schema.org/draft-07/schema#"


def found(schema, text):
    compiled = compile_schema(schema)
    assert compiled.usable, compiled.reason
    return [(each.keyword, each.path, each.message) for each in validate(compiled, text)]


def library(schema, value):
    return [error.message for error in Draft202012Validator(schema).iter_errors(value)]


def test_deviation_patterns_are_ecmascript():
    digits = {"pattern": r"^\d+$"}
    assert library(digits, "٣") == []
    assert found(digits, '"٣"') == [("pattern", (), r"'٣' does not match '^\\d+$'")]
    assert library(digits, "1\n") == []
    assert found(digits, r'"1\n"') != []
    letters = {"patternProperties": {r"^\p{L}+$": {"type": "integer"}}, "additionalProperties": False}
    assert found(letters, '{"é": 1}') == []
    assert found(letters, '{"é": "x", "1": 1}') == [
        ("type", ("é",), "'x' is not of type 'integer'"),
        ("additionalProperties", (), r"'1' does not match any of the regexes: '^\\p{L}+$'"),
    ]
    assert found({"patternProperties": {r"^\p{L}$": True}, "unevaluatedProperties": False}, '{"é": 1}') == []


def test_deviation_multiples_are_exact():
    cents = {"multipleOf": 0.01}
    assert library(cents, 4.02) != []
    assert found(cents, "4.02") == []
    assert found(cents, "19.99") == []
    assert found(cents, "4.021") == [("multipleOf", (), "4.021 is not a multiple of 0.01")]
    # The digits count as they were written, also where a double cannot hold them.
    assert found(cents, "4.0200000000000000000000001") != []
    assert found({"multipleOf": 3}, "9007199254740993") == []
    assert found({"multipleOf": 3}, "1e300") != []


def test_deviations_hold_inside_a_schema_that_names_its_draft():
    # The library follows `$schema` to its own classes; here it must come back to ours.
    schema = {
        "$schema": DRAFT7,
        "properties": {"a": {"$ref": "#"}, "b": {"multipleOf": 0.01}, "c": {"pattern": r"^\p{L}$"}},
    }
    assert found(schema, '{"a": {"b": 4.02, "c": "é"}}') == []


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"exclusiveMinimum": True}, "not a valid schema at #/exclusiveMinimum: True is not of type 'number'"),
        ({"type": "strin"}, "not a valid schema at #/type"),
        ({"pattern": "(?i)a"}, "begins nothing that ECMA-262 knows"),
        ({"patternProperties": {"(": {}}}, "a group is not closed"),
        ({"$ref": "#/$defs/A"}, "$ref '#/$defs/A' at # does not resolve"),
        ({"items": {"$ref": "https://example.com/x"}}, "does not resolve"),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#nowhere"}}}, "$ref '#nowhere' at #/$defs/A does not resolve"),
        ({"$ref": "#/enum", "enum": [1]}, "leads to something that is no schema"),
        ({"$ref": "#/x", "x": {"type": 12}}, "not a valid schema at #/x/type"),
        ({"$dynamicRef": "#gone"}, "$dynamicRef '#gone' at # does not resolve"),
        ({"$ref": "#"}, "without end"),
        ({"anyOf": [{"not": {"$ref": "#"}}]}, "without end"),
        ({"$schema": DRAFT7, "items": True, "additionalItems": False}, "boolean items"),
        (12, "a schema is an object or a boolean, not int"),
    ],
)
def test_unusable(schema, reason):
    compiled = compile_schema(schema)
    assert not compiled.usable
    assert reason in compiled.reason


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"broken": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"$ref": "#"}}},
        {"$schema": DRAFT7, "$ref": "#/definitions/a", "definitions": {"a": {}}, "properties": {"x": {"$ref": "#/no"}}},
        {"$schema": "urn:our-own", "type": "object"},
        {"pattern": r"\@"},
        {"enum": [{"$ref": "#/nowhere"}]},
        True,
    ],
)
def test_usable(schema):
    assert compile_schema(schema).usable


def test_nothing_is_fetched(monkeypatch):
    import socket

    monkeypatch.setattr(socket, "socket", None)
    assert not compile_schema({"$ref": "https://example.com/schema.json"}).usable
    assert compile_schema({"$ref": "https://json-schema.org/draft/2020-12/schema"}).usable


def test_what_a_format_helper_raises_is_no_match():
    # The library lets the helper's ValueError through here.
    assert [each[0] for each in found({"format": "relative-json-pointer"}, '"²1"')] == ["format"]


def test_formats_of_the_draft():
    schema = {"format": "duration"}
    assert found(schema, '"soon"') == [("format", (), "'soon' is not a 'duration'")]
    assert found({"$schema": DRAFT7, **schema}, '"soon"') == []


def test_deep_instances_do_not_break_the_reference():
    schema = {
        "$ref": "#/$defs/n",
        "$defs": {"n": {"allOf": [{"properties": {"a": {"$ref": "#/$defs/n"}}}], "type": "object"}},
    }
    text = '{"a":' * 300 + "1" + "}" * 300
    assert found(schema, text) == [("type", ("a",) * 300, "1 is not of type 'object'")]


def test_warnings():
    schema = {
        "$schema": DRAFT7,
        "properties": {
            "a": {"$ref": "#/definitions/a", "minLength": 2},
            "b": {"format": "color", "dependentRequired": {}},
        },
        "definitions": {"a": {"then": {}, "x-note": 1, "title": "fine"}},
        "requierd": ["a"],
    }
    said = schema_warnings(schema)
    assert said == [
        "#: keyword 'requierd' is ignored; did you mean 'required'?",
        "#/properties/a: keyword 'minLength' is ignored, because it stands beside '$ref'",
        "#/properties/b: keyword 'dependentRequired' is ignored; did you mean 'dependencies'?",
        "#/properties/b: nothing checks format 'color'",
        "#/definitions/a: keyword 'then' is ignored without 'if'",
    ]
    assert schema_warnings({"$schema": "urn:x"}) == [
        "#: draft 'urn:x' is unknown, so the schema is read as https://json-schema.org/draft/2020-12/schema"
    ]
    assert schema_warnings({"type": "strin"}) == []
    assert (
        schema_warnings(
            json.loads(
                json.dumps(
                    {"$defs": {}, "description": "x", "default": 1, "examples": [], "deprecated": True, "$comment": ""}
                )
            )
        )
        == []
    )


def test_the_grammar_of_iris_is_imported_only_when_asked_for():
    code = """
import sys
from tracelens.rungs.schema.truth import compile_schema, validate
assert validate(compile_schema({"format": "uri"}), '"no"')
assert "lark" not in sys.modules and "rfc3987_syntax" not in sys.modules
iri = compile_schema({"format": "iri"})
assert validate(iri, '"no"') and not validate(iri, '"https://example.com/é"')
assert "lark" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
