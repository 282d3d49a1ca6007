"""Equality with tolerances and matchers, and agreement."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.reference.examples import JSON, OBJECTS, RULES
from tracelens.kernels.reference.matchers import has_matcher, matcher
from tracelens.kernels.reference.normal import NO_RULES, Rules, canonical
from tracelens.kernels.reference.relation import agreement, exact, has_relation
from tracelens.kernels.reference.values import Number, parse
from tracelens.suite.matchers import check_matchers, is_matcher

LOOSE = Rules.compile(
    {"t": {"x": {"number": {"abs_tol": 0.1}}, "xs": "unordered", "xs[*]": {"number": {"abs_tol": 0.1}}}}, "t"
)


@pytest.mark.parametrize(
    ("actual", "expected", "right"),
    [
        ('{"a": 5}', '{"a": {"$any": true}}', True),
        ('{"a": null}', '{"a": {"$any": true}}', True),
        ("{}", '{"a": {"$any": true}}', False),
        ('{"anything": 1}', '{"$any": true}', True),
        ('{"a": "UA-512"}', '{"a": {"$regex": "^UA"}}', True),
        ('{"a": "X-UA"}', '{"a": {"$regex": "UA$"}}', True),
        ('{"a": "ua-512"}', '{"a": {"$regex": "^UA"}}', False),
        ('{"a": 512}', '{"a": {"$regex": "5"}}', False),
        ('{"a": "b "}', '{"a": {"$one_of": ["A", "B"]}}', True),
        ('{"a": "c"}', '{"a": {"$one_of": ["A", "B"]}}', False),
        ('{"a": "UA"}', '{"a": {"$one_of": [1, {"$regex": "UA"}]}}', True),
        ('{"a": 2}', '{"a": {"$range": [1, 3]}}', True),
        ('{"a": 3.0}', '{"a": {"$range": [1, 3]}}', True),
        ('{"a": 3.0000000000000000001}', '{"a": {"$range": [1, 3]}}', False),
        ('{"a": -20}', '{"a": {"$range": [-100, -3]}}', True),
        ('{"a": -2}', '{"a": {"$range": [-100, -3]}}', False),
        ('{"a": 0}', '{"a": {"$range": [-0.5, 1e-9]}}', True),
        ('{"a": "2"}', '{"a": {"$range": [1, 3]}}', False),
        ('{"a": true}', '{"a": {"$range": [0, 3]}}', False),
        ('{"a": "2026-11-02"}', '{"a": {"$range": ["2026-11-01", "2026-11-30"]}}', True),
        ('{"a": "2026-12-02"}', '{"a": {"$range": ["2026-11-01", "2026-11-30"]}}', False),
        ("{}", '{"a": {"$optional": 5}}', True),
        ('{"a": 5}', '{"a": {"$optional": 5}}', True),
        ('{"a": 6}', '{"a": {"$optional": 5}}', False),
        ('{"a": null}', '{"a": {"$optional": 5}}', False),
        ('{"a": {"b": "UA1"}}', '{"a": {"$optional": {"b": {"$regex": "^UA"}}}}', True),
        ('{"a": {"$any": true}}', '{"a": {"$literal": {"$any": true}}}', True),
        ('{"a": 5}', '{"a": {"$literal": {"$any": true}}}', False),
        ('{"a": [{"$any": true}]}', '{"a": {"$literal": [{"$any": true}]}}', True),
        ('{"a": [5]}', '{"a": {"$literal": [{"$any": true}]}}', False),
        ('{"a": {"$any": false}}', '{"a": {"$any": false}}', True),
        ('{"a": {"$regex": "["}}', '{"a": {"$regex": "["}}', True),
        ('{"a": {"$gt": 5}}', '{"a": {"$gt": 5}}', True),
        ('{"a": [1, 3]}', '{"a": [1, {"$optional": 2}, 3]}', True),
        ('{"a": [1, 2, 3]}', '{"a": [1, {"$optional": 2}, 3]}', True),
        ('{"a": [1, 5, 3]}', '{"a": [1, {"$optional": 2}, 3]}', False),
        ('{"a": [1, 9]}', '{"a": [1, {"$any": true}]}', True),
        ('{"a": [1]}', '{"a": [1, {"$any": true}]}', False),
        ('{"a": 1, "b": 2}', '{"a": {"$any": true}}', False),
    ],
)
def test_matchers(actual: str, expected: str, right: bool) -> None:
    assert exact(parse(actual), parse(expected)) is right


def test_matchers_follow_the_rules_of_their_path() -> None:
    rules = Rules.compile(
        {
            "t": {
                "at": "datetime",
                "n": "number",
                "far": {"unit": "km"},
                "skip": "ignore",
                "p": {"default": {"value": 3}},
            }
        },
        "t",
    )
    soon = {"at": {"$range": ["2026-11-02T09:00:00Z", "2026-11-02T10:00:00Z"]}}
    assert exact({"at": "2026-11-02T10:30:00.5+01:00"}, soon, rules)
    assert exact({"at": "2026-11-02T09:00:00.5Z"}, soon, rules)
    assert not exact({"at": "2026-11-02T10:00:00.5Z"}, soon, rules)
    assert not exact({"at": "2026-11-02T09:30:00"}, soon, rules)
    assert exact({"n": "7"}, {"n": {"$range": [1, 10]}}, rules)
    assert exact({"far": "9999 m"}, {"far": {"$range": ["5 km", "10 km"]}}, rules)
    assert not exact({"far": "11 km"}, {"far": {"$range": ["5 km", "10 km"]}}, rules)
    assert exact({"skip": 1}, {"skip": {"$regex": "never"}}, rules)
    assert exact({}, {"p": {"$range": [1, 5]}}, rules)


def test_tolerance() -> None:
    assert exact({"x": 1.05}, {"x": 1.1}, LOOSE)
    assert exact({"x": "1.05"}, {"x": 1.1}, LOOSE)
    assert not exact({"x": 1.05}, {"x": 1.2}, LOOSE)
    assert exact({"x": Number("1e400")}, {"x": Number("1e400")}, LOOSE)
    assert not exact({"x": True}, {"x": 1}, LOOSE)
    relative = Rules.compile({"t": {"x": {"number": {"rel_tol": "0.01"}}}}, "t")
    assert exact({"x": 100}, {"x": 101}, relative)
    assert not exact({"x": 100}, {"x": 102}, relative)
    assert has_relation(LOOSE)
    assert not has_relation(Rules.compile({"t": {"x": {"number": {"decimals": 1}}}}, "t"))


def test_a_tolerance_inside_a_multiset_is_an_assignment() -> None:
    # Greedy pairing fails here: 1.0 must not take 1.05, which is the only partner of 1.1.
    for actual in permutations([1.0, 1.1]):
        for expected in permutations([0.95, 1.05]):
            assert exact({"xs": list(actual)}, {"xs": list(expected)}, LOOSE)
    assert not exact({"xs": [1.0, 1.0]}, {"xs": [1.0, 2.0]}, LOOSE)
    assert not exact({"xs": [1.0]}, {"xs": [1.0, 1.0]}, LOOSE)
    assert exact({"xs": [2, 1]}, {"xs": [1, {"$optional": 5}, 2]}, LOOSE)
    assert exact({"xs": [2, "UA"]}, {"xs": [{"$regex": "^U"}, {"$any": True}]}, LOOSE)
    as_set = Rules.compile({"t": {"xs": "set"}}, "t")
    assert exact({"xs": [1, 1, 2]}, {"xs": [2, {"$any": True}]}, as_set)
    assert not exact({"xs": [1]}, {"xs": [1, 2, {"$optional": 3}]}, as_set)
    assert exact({"xs": [1]}, {"xs": [1, {"$optional": 3}]}, as_set)


@pytest.mark.parametrize(
    ("actual", "expected", "value"),
    [
        ({}, {}, 1.0),
        ({"a": 1}, {"a": 1}, 1.0),
        ({"a": 1}, {"a": 2}, 0.0),
        ({"a": 1, "b": 2}, {"a": 1}, 0.5),
        ({"flight_id": "UA-512", "seat": "12A"}, {"flight_id": "ua-512"}, 0.5),
        ({"a": 1, "b": {"c": 1}}, {"a": 1, "b": {"c": 2}, "d": 1}, 0.333333333),
        ({"a": 1}, {"$any": True}, 1.0),
        ({"a": 5}, {"a": 5, "b": {"$optional": 1}}, 1.0),
        ([1], {"a": 1}, 0.0),
        (None, {"a": 1}, 0.0),
        ({"a": 1}, [], 0.0),
        (" Patch", "patch", 1.0),
        ("x", "y", 0.0),
    ],
)
def test_agreement(actual: Any, expected: Any, value: float) -> None:
    assert agreement(actual, expected) == value


def test_agreement_leaves_out_what_takes_no_part() -> None:
    rules = Rules.compile({"*": {"id": "ignore", "n": "null_is_missing", "page": {"default": {"value": 1}}}}, "t")
    assert agreement({"a": 1, "id": 1, "n": None, "page": 1}, {"a": 1, "id": 2}, rules) == 1.0
    assert agreement({"a": 1, "id": 1}, {"b": 1, "id": 1}, rules) == 0.0
    assert agreement({"a": 1, "page": 1}, {"a": 1, "page": 2}, rules) == 0.5
    assert agreement({"id": 1}, {"id": 2}, rules) == 1.0


@given(JSON, JSON, RULES)
def test_without_tolerance_and_matchers_it_is_canonical_equality(a: Any, b: Any, rules: Rules) -> None:
    assert exact(a, b, rules) == (canonical(a, rules) == canonical(b, rules))
    assert exact(a, a, rules)
    assert exact(a, {"$literal": b}, rules) == exact(a, b, rules)
    assert exact(a, {"$one_of": [b, a]}, rules)


@given(OBJECTS, OBJECTS, RULES)
def test_full_agreement_is_equality(a: dict[str, Any], b: dict[str, Any], rules: Rules) -> None:
    found = agreement(a, b, rules)
    assert 0.0 <= found <= 1.0
    assert found == agreement(b, a, rules)
    assert (found == 1.0) == exact(a, b, rules)


@given(
    st.lists(st.sampled_from([0.0, 0.05, 0.1, 0.15, 0.2]), max_size=4),
    st.lists(st.sampled_from([0.0, 0.05, 0.1, 0.2]), max_size=4),
)
def test_assignment_by_trying_all_orders(a: list[float], b: list[float]) -> None:
    right = len(a) == len(b) and any(
        all(exact({"x": x}, {"x": y}, LOOSE) for x, y in zip(a, order, strict=True)) for order in permutations(b)
    )
    assert exact({"xs": a}, {"xs": b}, LOOSE) is right


@given(
    st.sampled_from(["$any", "$regex", "$one_of", "$range", "$optional", "$literal", "$x"]),
    st.one_of(JSON, st.sampled_from([True, "^a", [1, 2], ["a", "b"], [1, "a"], "["])),
)
def test_what_a_suite_accepts_as_a_matcher_is_one_here(key: str, argument: Any) -> None:
    value = {key: argument}
    try:
        check_matchers(value)
    except ValueError:
        return
    assert (matcher(value) is not None) == is_matcher(value)


def test_has_matcher_looks_everywhere() -> None:
    assert has_matcher({"a": {"b": [1, {"$range": [1, 2]}]}})
    assert has_matcher({"$literal": {}})
    assert not has_matcher({"a": {"$range": [1, "x"]}, "b": "$any", "c": None})
    assert exact({"a": "x"}, {"a": "X"}, NO_RULES)
