"""The suite's own field checks."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens import columns
from tracelens.arguments import read_arguments
from tracelens.rungs.fields import check_fields
from tracelens.suite import Suite


def run(fields, texts, tools=None):
    forms = np.full(len(texts), columns.JSON_STRING, np.uint8)
    arguments = read_arguments(pa.array(texts, pa.large_string()), forms)
    names = pl.Series(tools or ["t"] * len(texts), dtype=pl.String)
    frame = check_fields(arguments, names, Suite.from_dict({"fields": fields}).fields)
    return frame.select("call", "code", "path", "message", "value").rows()


def test_each_check():
    fields = {"t": {"origin": {"regex": "^[A-Z]{3}$"}, "currency": {"equals": "EUR", "required": True}}}
    texts = ['{"origin": "SFO", "currency": "EUR"}', '{"origin": "sfo", "currency": "USD"}', "{}"]
    assert run(fields, texts) == [
        (1, "field.equals", "currency", '"USD" should be "EUR"', '"USD"'),
        (1, "field.regex", "origin", "\"sfo\" does not match '^[A-Z]{3}$'", '"sfo"'),
        (2, "field.required", "currency", "currency is missing", None),
    ]


def test_null_is_there_and_missing_is_not():
    assert run({"t": {"a": {"required": True}}}, ['{"a": null}', "{}"]) == [
        (1, "field.required", "a", "a is missing", None)
    ]
    assert run({"t": {"a": {"equals": None}}}, ['{"a": null}', "{}", '{"a": 0}']) == [
        (2, "field.equals", "a", "0 should be null", "0")
    ]


def test_only_calls_of_the_tool_with_an_object_are_looked_at():
    fields = {"t": {"a": {"required": True}}, "*": {"b": {"equals": 1}}}
    texts = ["{}", '{"a": 1, "b": 2}', "[1]", '{"a"', '{"b": 1.0}']
    assert run(fields, texts, ["t", "u", "t", "t", None]) == [
        (0, "field.required", "a", "a is missing", None),
        (1, "field.equals", "b", "2 should be 1", "2"),
    ]


def test_paths_into_containers():
    fields = {
        "t": {
            "legs[*].from": {"required": True, "regex": "^[A-Z]"},
            "legs[1].n": {"equals": 2},
            'a."b.c"': {"required": True},
        }
    }
    texts = ['{"legs": [{"from": "A", "n": 1}, {"n": 3}, {"from": "b"}, 7], "a": {"b.c": 1}}', '{"a": 1}']
    assert [row[:3] for row in run(fields, texts)] == [
        (0, "field.required", "legs[1].from"),
        (0, "field.equals", "legs[1].n"),
        (0, "field.regex", "legs[2].from"),
        (0, "field.required", "legs[3].from"),
        (1, "field.required", 'a."b.c"'),
    ]


def test_a_regular_expression_sees_contents_or_json_text():
    texts = [r'{"a": "caf\u00e9"}', '{"a": 12.50}', '{"a": true}', '{"a": [1]}']
    assert run({"t": {"a": {"regex": r"^(café|12\.50|true|\[1\])$"}}}, texts) == []


def test_duplicates_and_escaped_keys():
    assert run({"t": {"é": {"equals": 2}}}, [r'{"\u00e9": 1, "é": 2}', r'{"é": 2, "\u00e9": 1}'])[0][:2] == (
        1,
        "field.equals",
    )


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from([0, 1, 1.0, True, False, None, "1", [1], [1.0], [True], {"a": 1}, {"a": 1.0}, {}]), min_size=1
    ),
    st.sampled_from([1, True, None, [1], {"a": 1}, "1"]),
)
def test_equality_is_that_of_json(values, wanted):
    def key(value):
        if isinstance(value, list):
            return ("list", [key(each) for each in value])
        if isinstance(value, dict):
            return ("dict", sorted((name, key(each)) for name, each in value.items()))
        return (isinstance(value, bool), value)

    failed = {row[0] for row in run({"t": {"v": {"equals": wanted}}}, [json.dumps({"v": value}) for value in values])}
    assert failed == {row for row, value in enumerate(values) if key(value) != key(wanted)}
