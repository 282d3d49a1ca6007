"""Compiled rules on one value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.errors import SuiteError
from tracelens.kernels.reference.rules import DEFAULT, EXACT, RULES, Leaf, canonical_leaf, compile_rule
from tracelens.kernels.reference.values import parse
from tracelens.suite.names import RULES as SUITE_RULES


def leaf(rules: Any, text: str) -> tuple[str, str]:
    found = canonical_leaf(parse(text), compile_rule(rules))
    assert found is not None
    return found.kind, found.text


@pytest.mark.parametrize(
    ("rules", "value", "kind", "text"),
    [
        ("exact", '" X\\u00e9 "', "string", " Xé "),
        ("trim", '" X "', "string", "X"),
        ("fold", '" ß"', "string", " ss"),
        ("upper", '" ß"', "string", " SS"),
        ("lower", '" Ä"', "string", " ä"),
        (["trim", "upper"], '" ab "', "string", "AB"),
        (["upper", "lower"], '"aB"', "string", "ab"),
        (["fold", "exact"], '"aB "', "string", "aB "),
        ("date", '"2026-11-02T23:00:00-08:00"', "string", "2026-11-02"),
        ("date", '" Next Week "', "string", "next week"),
        (["exact", "date"], '" Next Week "', "string", " Next Week "),
        (["date", "trim"], '" Next Week "', "string", "Next Week"),
        ("datetime", '"2026-11-02T10:00:00+01:00"', "instant", "2026-11-02T09:00:00Z"),
        ("datetime", '"2026-11-02"', "string", "2026-11-02"),
        ("datetime", '"2026-11-02T25:00:00Z"', "string", "2026-11-02t25:00:00z"),
        ({"datetime": "Europe/Berlin"}, '"2026-11-02T10:00"', "instant", "2026-11-02T09:00:00Z"),
        ("number", '"100"', "number", "1e2"),
        ("number", '" 1e3 "', "number", "1e3"),
        ("number", "100.0", "number", "1e2"),
        ("number", '"02134"', "string", "02134"),
        ("number", '"NaN"', "string", "nan"),
        ("number", "true", "boolean", "true"),
        ({"number": {"decimals": 2}}, "3.14159", "number", "314e-2"),
        ({"number": {"decimals": 2}}, '"3.14159"', "number", "314e-2"),
        ({"unit": "km"}, '"5000 M"', "string", "5000 m"),
        ({"unit": "km"}, '"5000 m"', "quantity", "5 km"),
        ({"unit": "km"}, '{"value": 5000, "unit": "m"}', "quantity", "5 km"),
        ({"unit": "km"}, '[5, "km"]', "quantity", "5 km"),
        ({"unit": "km"}, "5", "number", "5e0"),
        ({"unit": "km"}, '"5 Apples"', "string", "5 apples"),
        ("path", '"/A//b/../c"', "string", "/A/c"),
        ("url", '"HTTP://E/"', "string", "http://e/"),
        ("url", '" Example.com"', "string", "example.com"),
        ("text", '"Hello,  World!"', "string", "hello world"),
        ("ignore", '" X"', "string", "x"),
        ("null_is_missing", "null", "null", "null"),
    ],
)
def test_leaves(rules: Any, value: str, kind: str, text: str) -> None:
    assert leaf(rules, value) == (kind, text)


def test_containers_are_compared_by_their_parts() -> None:
    for rules in ("exact", "date", {"unit": "km"}, "set"):
        assert canonical_leaf(parse('{"value": 5}'), compile_rule(rules)) is None


def test_every_rule_of_a_suite_is_known_here() -> None:
    assert set(RULES) == set(SUITE_RULES)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("fodl", "suite: unknown rule 'fodl'. Hint: did you mean 'fold'"),
        (5, "suite: unknown rule 5. Hint: one of trim, fold"),
        ({"unit": "kilometrs"}, "suite: rule 'unit': unknown unit 'kilometrs', did you mean 'kilometres'"),
        ({"datetime": "Mars"}, "suite: rule 'datetime': unknown time zone 'Mars'"),
        ({"number": {"abs_tol": "a lot"}}, "suite: rule 'number': "),
        ({"default": {}}, "suite: rule 'default': 'value'"),
    ],
)
def test_errors_name_place_and_remedy(rules: Any, message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        compile_rule(rules, "suite")


def test_structural_rules_leave_strings_alone() -> None:
    for rules in ("ignore", "unordered", "set", "null_is_missing", {"default": {"value": 1}}):
        assert compile_rule(rules).steps is None
    assert compile_rule("exact") == EXACT
    assert compile_rule([]) == DEFAULT
    assert compile_rule(["unordered", "exact"]).array == "unordered"


LISTS = st.lists(
    st.sampled_from(
        [
            "trim",
            "fold",
            "upper",
            "lower",
            "date",
            "datetime",
            "number",
            "path",
            "url",
            "text",
            {"unit": "km"},
            {"number": {"decimals": 1}},
        ]
    ),
    min_size=1,
    max_size=1,
)
TEXTS = st.one_of(
    st.text(max_size=10),
    st.text("0123456789-:TZ .eKkMm/~%", max_size=14),
    st.sampled_from(["2026-11-02T10:00:00+01:00", "2026-11-02 10:00", "5 km", "http://E:80/%7e", "1.25", " 12:30 "]),
)


@given(LISTS, TEXTS)
def test_every_rule_is_idempotent(rules: Any, text: str) -> None:
    rule = compile_rule(rules)
    once = canonical_leaf(text, rule)
    assert once is not None
    again = canonical_leaf(parse(once.json), rule)
    assert again == once


@given(st.lists(LISTS.map(lambda one: one[0]), max_size=4), TEXTS)
def test_nothing_raises(rules: Any, text: str) -> None:
    assert isinstance(canonical_leaf(text, compile_rule(rules)), Leaf)
