"""The suite's checks on the final answer."""

import polars as pl

from tracelens.rungs.answers import check_answers
from tracelens.suite import Suite


def run(answers, **checks):
    result = check_answers(pl.Series(answers, dtype=pl.String), Suite.from_dict({"answer": checks}).answer)
    return result.ok.to_list(), result.findings.select("row", "severity", "code", "path", "message").rows()


def test_texts():
    ok, found = run(["It is booked", "Sorry", None, ""], contains=["booked"], not_contains=["Sorry"])
    assert ok == [True, False, None, False]
    assert found == [
        (1, "error", "answer.contains", None, "'booked' does not occur in the answer"),
        (1, "error", "answer.not_contains", None, "'Sorry' occurs in the answer"),
        (3, "error", "answer.contains", None, "'booked' does not occur in the answer"),
    ]


def test_the_whole_answer():
    assert run(["yes", "Yes"], equals="yes")[0] == [True, False]
    assert run(["", "x"], equals="")[0] == [True, False]
    assert run(["a1", "b"], regex=r"\d$")[0] == [True, False]
    ok, found = run(["ééé", "éééé"], max_length=3)
    assert ok == [True, False]
    assert found[0][4] == "the answer has 4 characters, more than 3"


def test_json_answers():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    answers = ['{"n": 1}', '{"n": "x"}', "{}", "n=1", '{"n": 1e999}']
    ok, found = run(answers, json_schema=schema)
    assert ok == [True, False, False, False, False]
    assert [(row, path, message) for row, _, _, path, message in found] == [
        (1, "n", "'x' is not of type 'integer'"),
        (2, "", "'n' is a required property"),
        (3, None, "the answer is not one JSON value: unexpected character, at byte 0"),
        (4, None, "the answer holds a number beyond the range of a double"),
    ]
    assert {code for _, _, code, _, _ in found} == {"answer.json_schema"}


def test_a_schema_that_cannot_be_used_decides_nothing():
    broken = {"$ref": "#/nowhere"}
    ok, found = run(["x", None], json_schema=broken)
    assert ok == [None, None]
    assert [(row, severity, code) for row, severity, code, _, _ in found] == [(0, "note", "schema.unusable")]
    assert run(["x"], json_schema=broken, contains=["y"])[0] == [False]


def test_nothing_to_look_at():
    assert run([], contains=["x"]) == ([], [])
    assert run([None], contains=["x"]) == ([None], [])
