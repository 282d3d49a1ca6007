"""Canonical forms under the rules of a tool: precedence, structure, defaults."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference.examples import JSON, RULES
from tracelens.errors import SuiteError
from tracelens.kernels.reference.normal import AS_SENT, NO_RULES, Rules, canonical, canonical_text
from tracelens.kernels.reference.rules import DEFAULT, EXACT, compile_rule
from tracelens.kernels.reference.values import parse


def equal(a: str, b: str, rules: Rules = NO_RULES) -> bool:
    return canonical(parse(a), rules) == canonical(parse(b), rules)


def one(path: str, given_rules: Any, schema: Any = None) -> Rules:
    return Rules.compile({"t": {path: given_rules}}, "t", schema)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
        ("[1, 1.0, 1e0]", "[1.0, 1, 10e-1]"),
        ('{"x": {"y": ["  Ab "]}}', '{"x": {"y": ["aB"]}}'),
        ('{"a": 1, "a": 2}', '{"a": 2}'),
        ('"\\u00e9"', '"e\\u0301"'),
        ("0", "-0.0"),
    ],
)
def test_equal_by_default(a: str, b: str) -> None:
    assert equal(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("true", "1"),
        ('{"level": true, "tags": [1, 0]}', '{"level": 1, "tags": [true, false]}'),
        ("false", "0"),
        ("null", "false"),
        ('{"a": null}', "{}"),
        ('"1"', "1"),
        ("9007199254740993", "9007199254740992"),
        ("-5", "5"),
        ("[1, 2]", "[2, 1]"),
        ("[]", "{}"),
        ('{"Key": 1}', '{"key": 1}'),
        ('{" a": 1}', '{"a": 1}'),
        ('"null"', "null"),
        ("[[1], 2]", "[1, [2]]"),
        ('"2026-11-02T10:00:00+01:00"', '"2026-11-02T09:00:00Z"'),
    ],
)
def test_different_by_default(a: str, b: str) -> None:
    assert not equal(a, b)


def test_json_equality_before_normalisation() -> None:
    assert equal('{"a": [1.0, "x"], "b": 0}', '{"b": -0, "a": [1, "x"]}', AS_SENT)
    assert not equal('"x"', '"X"', AS_SENT)
    assert not equal('{"deep": {"er": [" x"]}}', '{"deep": {"er": ["x"]}}', AS_SENT)


def test_the_most_specific_path_wins_then_the_tool() -> None:
    rules = Rules.compile(
        {
            "*": {
                "a.b": "upper",
                "a[*].c": "exact",
                "a[0].c": "lower",
                "x": "trim",
                "m[*][0]": "upper",
                "m[0][*]": "lower",
            },
            "t": {"a[*].c": "fold", "x": "exact", "m[*][*]": "trim"},
            "u": {"x": "upper"},
        },
        "t",
    )
    assert rules.at(["a", "b"]) == compile_rule("upper")
    assert rules.at(["a", 5, "c"]) == compile_rule("fold")
    assert rules.at(["a", 0, "c"]) == compile_rule("lower")
    assert rules.at(["x"]) == EXACT
    assert rules.at(["m", 0, 0]) == compile_rule("lower")
    assert rules.at(["m", 1, 0]) == compile_rule("upper")
    assert rules.at(["m", 1, 1]) == compile_rule("trim")
    assert rules.at(["a"]) == rules.at(["nothing", "here"]) == DEFAULT
    assert Rules.compile({"*": {"x": "trim"}}, "other").at(["x"]) == compile_rule("trim")


def test_members_with_dots_are_quoted() -> None:
    rules = one('"a.b".c', "exact")
    assert rules.at(["a.b", "c"]) == EXACT
    assert rules.at(["a", "b", "c"]) == DEFAULT


@pytest.mark.parametrize(
    ("path", "message"), [("a[", "normalize.t.a\\[: path 'a\\['.*at position 1"), ("a..b", "at position 2")]
)
def test_a_bad_path_names_its_place(path: str, message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        one(path, "exact")


SCHEMA = {
    "properties": {
        "on": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "id": {"type": "string", "format": "uuid"},
        "mail": {"type": "string", "format": "email"},
        "page": {"type": "integer", "default": 1},
        "zip": {"type": "string"},
        "legs": {
            "items": {"properties": {"on": {"type": "string", "format": "date"}, "legs": {"$ref": "#/properties/legs"}}}
        },
    }
}


def test_formats_of_the_schema() -> None:
    rules = Rules.compile({}, "t", SCHEMA)
    assert equal('{"on": "2026-11-02"}', '{"on": "2026-11-02T23:00:00-08:00"}', rules)
    assert not equal('{"on": "2026-11-02"}', '{"on": "2026-11-03"}', rules)
    assert equal('{"at": "2026-11-02T10:00:00+01:00"}', '{"at": "2026-11-02t09:00:00.000z"}', rules)
    assert not equal('{"at": "2026-11-02T09:00:00"}', '{"at": "2026-11-02T09:00:00Z"}', rules)
    assert not equal('{"at": "2026-11-02"}', '{"at": "2026-11-02T00:00:00"}', rules)
    assert equal('{"at": " TBD"}', '{"at": "tbd"}', rules)
    assert equal(
        '{"id": "3F2504E0-4F89-11D3-9A0C-0305E82C3301"}', '{"id": "3f2504e0-4f89-11d3-9a0c-0305e82c3301"}', rules
    )
    assert equal('{"mail": "A@B.C"}', '{"mail": "a@b.c"}', rules)
    deep = '{"legs": [{"legs": [{}, {"legs": [{"on": "%s"}]}]}]}'
    assert equal(deep % "2026-11-02", deep % "2026-11-02 08:00", rules)
    assert not equal('{"legs": [{"off": "2026-11-02"}]}', '{"legs": [{"off": "2026-11-02 08:00"}]}', rules)


def test_a_suite_rule_replaces_the_format_and_exact_removes_it() -> None:
    sent, same_instant = '{"at": "2026-11-02T10:00:00+01:00"}', '{"at": "2026-11-02T09:00:00Z"}'
    assert not equal(sent, same_instant, one("at", "exact", SCHEMA))
    assert not equal(sent, same_instant, one("at", "trim", SCHEMA))
    # A rule about something else than strings leaves the format in force.
    assert equal(sent, same_instant, one("at", "null_is_missing", SCHEMA))
    assert equal(sent, same_instant, one("at", "datetime"))


def test_an_instant_never_equals_a_string() -> None:
    rules = one("[*]", ["datetime", "exact"])
    assert not equal('["2026-11-02T09:00:00Z"]', '["2026-11-02T09:00:00Zz"]', rules)
    text = '"2026-11-02T09:00:00Z"'
    assert canonical(parse(text), one("", "datetime")) != canonical(parse(text), one("", "exact"))


def test_ignored_values_are_dropped_on_both_sides() -> None:
    rules = Rules.compile({"*": {"_auth": "ignore", "meta.ids[*]": "ignore"}}, "t")
    assert equal('{"org": "acme", "_auth": "Bearer q1"}', '{"org": "acme", "_auth": "Bearer z9"}', rules)
    assert equal('{"org": "acme", "_auth": {"deep": 1}}', '{"org": "acme"}', rules)
    assert equal('{"meta": {"ids": [1, 2]}}', '{"meta": {"ids": [7]}}', rules)
    assert not equal('{"org": "acme", "x": {"_auth": 1}}', '{"org": "acme", "x": {"_auth": 2}}', rules)
    assert equal('{"a": 1}', '{"b": 2}', one("", "ignore"))


def test_defaults_are_opt_in_and_fold_on_both_sides() -> None:
    spelled, short, other = '{"q": "x", "page": 1}', '{"q": "x"}', '{"q": "x", "page": 2}'
    assert not equal(spelled, short, Rules.compile({}, "t", SCHEMA))
    for given_rules in ({"default": {"schema": True}}, {"default": {"value": 1}}, {"default": {"value": 1.0}}):
        rules = one("page", given_rules, SCHEMA)
        assert equal(spelled, short, rules)
        assert equal('{"page": 1.0, "q": "x"}', short, rules)
        assert not equal(other, short, rules)
        assert not equal(other, spelled, rules)
        assert not equal('{"q": "x", "page": true}', short, rules)
        assert not equal('{"q": "x", "page": 1, "drop_all": true}', short, rules)
    assert not equal('{"zip": ""}', "{}", one("zip", {"default": {"schema": True}}, SCHEMA))
    assert equal('{"tags": ["B", "a"]}', "{}", one("tags", ["unordered", {"default": {"value": ["A", "b"]}}]))
    assert equal('{"o": {"k": " X"}}', "{}", one("o", {"default": {"value": {"k": "x"}}}))


def test_null_is_missing_is_opt_in_by_path() -> None:
    assert not equal('{"q": "x", "limit": null}', '{"q": "x"}')
    rules = one("limit", "null_is_missing")
    assert equal('{"q": "x", "limit": null}', '{"q": "x"}', rules)
    assert not equal('{"q": null}', "{}", rules)
    assert not equal('{"limit": 0}', '{"limit": null}', rules)
    both = one("page", ["null_is_missing", {"default": {"value": 1}}])
    assert equal('{"page": null}', '{"page": 1}', both)
    assert equal('{"page": null}', "{}", both)


def test_numeric_strings_are_opt_in_and_names_stay_names() -> None:
    amount = '{"amount": "100"}'
    assert not equal(amount, '{"amount": 100}')
    assert equal(amount, '{"amount": 100}', one("amount", "number"))
    assert equal('{"zip": "100"}', '{"zip": " 100.0"}', one("zip", "number", SCHEMA))
    for name in ("02134", "1e3"):
        assert not equal(json.dumps({"zip": name}), json.dumps({"zip": float(name)}), one("zip", "number", SCHEMA))
    assert equal('{"amount": "1e3"}', '{"amount": 1000}', one("amount", "number"))


def test_multisets_and_sets() -> None:
    multiset, as_set = one("a", "unordered"), one("a", "set")
    assert equal('{"a": [1, "x", {"k": [1, 2]}]}', '{"a": [{"k": [1, 2]}, "X", 1.0]}', multiset)
    assert not equal('{"a": [1, 1, 2]}', '{"a": [1, 2, 2]}', multiset)
    assert not equal('{"a": [{"k": [1, 2]}]}', '{"a": [{"k": [2, 1]}]}', multiset)
    assert equal('{"a": [1, 1, 2]}', '{"a": [2, 1, 2]}', as_set)
    assert not equal('{"a": [1]}', '{"a": [1, true]}', as_set)
    both = Rules.compile({"t": {"a": "set", "a[*]": "exact"}}, "t")
    assert not equal('{"a": ["x"]}', '{"a": ["X"]}', both)
    assert equal('{"a": {"b": 1}}', '{"a": {"b": 1.0}}', multiset)


def test_units_in_text_and_in_pairs() -> None:
    rules = one("far", {"unit": "km"})
    assert equal('{"far": "5 km"}', '{"far": {"value": 5000, "unit": "m"}}', rules)
    assert not equal('{"far": "5 km"}', '{"far": 5}', rules)
    assert canonical_text(parse('{"far": "5000 m"}'), rules) == '{"far":"5 km"}'


def test_texts() -> None:
    text = canonical_text(parse('{"b": [1.50, -0, 1e2, "É\\n"], "a": {"x": null, "B": true}}'))
    assert text == '{"a":{"B":true,"x":null},"b":[1.5,0,100,"é"]}'


@given(JSON, RULES)
def test_normalising_twice_changes_nothing(value: Any, rules: Rules) -> None:
    text = canonical_text(value, rules)
    assert canonical_text(parse(text), rules) == text


@given(JSON, RULES, st.randoms(use_true_random=False))
def test_the_order_of_keys_is_invisible(value: Any, rules: Rules, random: Any) -> None:
    def shuffled(item: Any) -> Any:
        if isinstance(item, dict):
            keys = list(item)
            random.shuffle(keys)
            return {key: shuffled(item[key]) for key in keys}
        return [shuffled(part) for part in item] if isinstance(item, list) else item

    assert canonical(shuffled(value), rules) == canonical(value, rules)
