"""Rows of differing arguments."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from tests.kernels.reference.examples import JSON, RULES
from tracelens.kernels.reference.differences import diffs
from tracelens.kernels.reference.normal import NO_RULES, Rules
from tracelens.kernels.reference.relation import exact
from tracelens.kernels.reference.values import parse


def rows(actual: str, expected: str, rules: Rules = NO_RULES) -> list[tuple[str, str, str | None, str | None]]:
    return [tuple(row) for row in diffs(parse(actual), parse(expected), rules)]


def test_the_worked_example() -> None:
    sent = '{"origin": "SFO", "destination": "JFK", "date": "2026-11-03"}'
    wanted = '{"origin": "sfo", "destination": "JFK", "date": "2026-11-02"}'
    assert rows(sent, wanted) == [
        ("origin", "equal", '"sfo"', '"sfo"'),
        ("destination", "equal", '"jfk"', '"jfk"'),
        ("date", "differs", '"2026-11-03"', '"2026-11-02"'),
    ]
    assert rows('{"flight_id": "UA-512", "seat": "12A"}', '{"flight_id": "UA-512"}')[1] == (
        "seat",
        "unexpected",
        '"12a"',
        None,
    )


def test_paths_of_leaves_and_empty_containers() -> None:
    assert rows('{"a": {"b.c": [1, {}]}, "n": null}', '{"a": {"b.c": [1, []], "d": [[2]]}, "n": null}') == [
        ('a."b.c"[0]', "equal", "1", "1"),
        ('a."b.c"[1]', "differs", "{}", "[]"),
        ("n", "equal", "null", "null"),
        ("a.d[0][0]", "missing", None, "2"),
    ]
    assert rows('{"a": 5}', '{"a": {"x": 1}}') == [("a", "unexpected", "5", None), ("a.x", "missing", None, "1")]
    assert rows('{"a": {}}', '{"a": {"x": 1}}') == [("a", "unexpected", "{}", None), ("a.x", "missing", None, "1")]


def test_no_arguments_at_all_are_no_leaf() -> None:
    assert rows("{}", '{"x": 1}') == [("x", "missing", None, "1")]
    assert rows('{"x": 1}', "{}") == [("x", "unexpected", "1", None)]
    assert rows('{"x": 1}', '{"$literal": {}}') == [("x", "unexpected", "1", None)]
    assert rows("{}", "{}") == []
    assert rows("{}", '{"$any": true}') == [("", "not_compared", "{}", '{"$any":true}')]


def test_true_is_not_one() -> None:
    assert rows('{"level": true, "tags": [1, 0]}', '{"level": 1, "tags": [true, 0.0]}') == [
        ("level", "differs", "true", "1"),
        ("tags[0]", "differs", "1", "true"),
        ("tags[1]", "equal", "0", "0"),
    ]


def test_rules_show() -> None:
    rules = Rules.compile(
        {
            "*": {
                "_auth": "ignore",
                "tags": "set",
                "at": "datetime",
                "page": {"default": {"value": 1}},
                "n": "null_is_missing",
            }
        },
        "t",
    )
    actual = '{"_auth": "Bearer Q", "tags": ["B", "a"], "at": "2026-11-02T10:00:00+01:00", "page": 1, "n": null}'
    expected = '{"_auth": {"k": 1}, "tags": ["a"], "at": "2026-11-02T09:00:00Z"}'
    assert rows(actual, expected, rules) == [
        ("_auth", "ignored", '"Bearer Q"', '{"k":1}'),
        ("tags", "differs", '["a","b"]', '["a"]'),
        ("at", "equal", '"2026-11-02T09:00:00Z"', '"2026-11-02T09:00:00Z"'),
        ("page", "equal", "1", None),
        ("n", "equal", "null", None),
    ]
    assert rows('{"page": 2, "q": 1}', '{"q": 1}', rules)[:1] == [("page", "unexpected", "2", None)]
    assert rows('{"q": 1}', '{"q": 1, "page": 2, "_auth": 1}', rules)[1:] == [
        ("page", "missing", None, "2"),
        ("_auth", "ignored", None, "1"),
    ]


def test_matchers_are_leaves() -> None:
    expected = '{"a": {"$any": true}, "b": {"$regex": "^UA"}, "c": {"$range": [1, 3]}, "d": {"$optional": 1}, "e": {"$literal": {"$any": true}}}'
    assert rows('{"a": {"x": [1]}, "b": "DL", "c": 2, "e": {"$any": false}}', expected) == [
        ("a", "not_compared", '{"x":[1]}', '{"$any":true}'),
        ("b", "differs", '"dl"', '{"$regex":"^UA"}'),
        ("c", "equal", "2", '{"$range":[1,3]}'),
        ('e."$any"', "differs", "false", "true"),
        ("d", "equal", None, '{"$optional":1}'),
    ]


@given(JSON, JSON, RULES)
def test_rows_are_one_per_path_and_symmetric(a: Any, b: Any, rules: Rules) -> None:
    there, back = diffs(a, b, rules), diffs(b, a, rules)
    assert len({row.path for row in there}) == len(there)
    swap = {"missing": "unexpected", "unexpected": "missing"}
    assert {(row.path, row.status, row.actual, row.expected) for row in there} == {
        (row.path, swap.get(row.status, row.status), row.expected, row.actual) for row in back
    }


@given(JSON, JSON, RULES)
def test_unequal_arguments_have_a_row_that_says_so(a: Any, b: Any, rules: Rules) -> None:
    statuses = {row.status for row in diffs(a, b, rules)}
    if not exact(a, b, rules):
        assert statuses & {"differs", "missing", "unexpected"}
    assert {row.status for row in diffs(a, a, rules)} <= {"equal", "ignored"}
