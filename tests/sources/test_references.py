"""References that an input brings along: what cannot be used is a reject that says where, never a literal."""

from __future__ import annotations

import json

import polars as pl
import pytest

from tests.sources.reading import read, write
from tracelens.init import starter_suite
from tracelens.lint import lint
from tracelens.sources.detect import open_input
from tracelens.suite import Suite

MALFORMED = [
    ({"$regex": 5}, "$regex should be a string, not 5"),
    ({"$regex": "("}, "is no regular expression"),
    ({"$regex": r"^(\w+)+\1$"}, "could take forever"),
    ({"$one_of": 3}, "$one_of should be a list"),
    ({"$one_of": []}, "$one_of should be a list"),
    ({"$one_of": [{"$regex": None}]}, "$regex should be a string, not null"),
    ({"$any": False}, "$any should be true"),
    ({"$range": [3]}, "$range should be [lowest, highest], not [3]"),
    ({"$range": [1, "x"]}, "two numbers or two strings"),
    ({"$range": [3, -3]}, "holds nothing"),
    ('{"$range": [2e400, 1e400]}', "holds nothing"),
    ({"$optional": {"x": [{"$range": 1}]}}, "$range should be"),
]


def line(value):
    text = value if isinstance(value, str) else json.dumps(value)
    call = f'{{"name":"f","arguments":{{"deep":[{{"q":{text}}}]}}}}'
    return f'{{"tool_calls":[],"expected":[{{"name":"g"}},{call}]}}'


@pytest.mark.parametrize(("value", "message"), MALFORMED)
def test_a_malformed_matcher_rejects_its_trace(tmp_path, value, message):
    good = '{"trace_id":"g","tool_calls":[{"name":"a"}],"expected":[{"name":"a","arguments":{"q":{"$any":true}}}]}'
    got = read(write(tmp_path, [good, line(value), good.replace('"g"', '"h"')]))
    assert [trace["trace_id"] for trace in got["traces"]] == ["g", "h"]
    assert [row["trace"] for row in got["expected"]] == [0, 1]
    (reject,) = got["rejects"]
    assert (reject["line"], reject["offset"]) == (2, len(good) + 1)
    assert "f.deep[0].q" in reject["reason"]
    assert message in reject["reason"]


@pytest.mark.parametrize(("value", "message"), MALFORMED)
def test_the_same_matchers_are_refused_in_a_references_file(tmp_path, value, message):
    expected = line(value)[len('{"tool_calls":[],') :]
    (tmp_path / "r.jsonl").write_text('{"case_id":"a",' + expected + "\n")
    with pytest.raises(Exception, match="deep") as caught:
        Suite.from_dict({"references_file": "r.jsonl"}, tmp_path)
    assert message in str(caught.value)


def test_wherever_the_matcher_stands(tmp_path):
    text = json.dumps(json.dumps({"q": {"$regex": 5}}))
    lines = [
        f'{{"tool_calls":[],"expected":[{{"name":"f","arguments":{text}}}]}}',
        '{"tool_calls":[],"references":[[],[{"name":"f","arguments":{"q":{"\\u0024regex":5}}}]]}',
        '{"tool_calls":[],"expected":[{"name":"f","arguments":{"$range":5}}]}',
        '{"tool_calls":[],"expected":[{"name":"f","arguments":{"q":{"$literal":{"$regex":5}}}}]}',
        '{"tool_calls":[],"expected":[{"name":"f","arguments":{"q":{"$regex":5,"more":1}}}]}',
    ]
    got = read(write(tmp_path, lines))
    assert [reject["line"] for reject in got["rejects"]] == [1, 2, 3]
    assert len(got["traces"]) == 2
    talk = '{"messages":[{"role":"user","content":"x"}],"expected":[{"name":"f","arguments":{"q":{"$regex":5}}}]}'
    assert [reject["line"] for reject in read(write(tmp_path, [talk]), "chat")["rejects"]] == [1]


def test_a_key_that_only_looks_like_a_matcher_is_data_and_a_note(tmp_path):
    got = read(write(tmp_path, [line({"$near": "x"}), line({"$gt": 1, "$lt": 5}), line({"$literal": {"$gte": 1}})]))
    assert not got["rejects"]
    (note,) = got["notes"]
    assert "'$near'" in note
    assert "$literal" in note


def test_tables(tmp_path):
    rows = [
        ("a", "call", "f", "{}"),
        ("a", "expected", "f", '{"q": {"$regex": 5}}'),
        ("a", "expected", "f", '{"q": {"$regex": 6}}'),
        ("b", "call", "f", "{}"),
        ("b", "expected", "f", " "),
        ("c", "expected", "f", "[1]"),
        ("c", "trace", None, None),
        ("d", "expected", "f", None),
    ]
    got = read(pl.DataFrame(rows, schema=["trace_id", "row", "name", "arguments"], orient="row"))
    assert [trace["trace_id"] for trace in got["traces"]] == ["b", "d"]
    assert [
        (reject["line"], "f.q" in reject["reason"], "no object" in reject["reason"]) for reject in got["rejects"]
    ] == [
        (2, True, False),
        (6, False, True),
    ]
    assert [row["trace"] for row in got["expected"]] == [0, 1]
    assert got["n_records"] == 4


def test_a_starter_suite_of_such_traces_passes_lint(tmp_path):
    lines = [line(value)[:-1] + f',"case_id":"c{n}"}}' for n, (value, _) in enumerate(MALFORMED)]
    path = write(tmp_path, [*lines, line({"$near": 1})[:-1] + ',"case_id":"near"}'])
    opened = open_input(path)
    made = starter_suite(parse(block) for parse, block in opened.blocks())
    made.save(tmp_path / "suite.toml")
    suite = Suite.load(tmp_path / "suite.toml")
    assert suite.references.cases["case_id"].to_pylist() == ["near"]
    assert [problem.severity for problem in lint(suite)] == ["warning"]
