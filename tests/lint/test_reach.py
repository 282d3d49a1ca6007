"""Paths that a schema allows; and never a claim that a path leads nowhere when a value has it."""

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.kernels.reference.paths import parse_path
from tracelens.lint.reach import reach

CLOSED = {"properties": {"a": {"type": "string"}, "l": {"items": {"properties": {"n": {}}, "additionalProperties": False}}},
          "additionalProperties": False}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "path", "found"),
    [
        (CLOSED, "a", [{"type": "string"}]),
        (CLOSED, "b", None),
        (CLOSED, "a.b", None),
        (CLOSED, "l[*].n", [{}]),
        (CLOSED, "l[*].m", None),
        (CLOSED, "l[0].m", None),
        (CLOSED, "a[*]", None),
        ({}, "a.b[0]", []),
        ({**CLOSED, "patternProperties": {"^x": {}}}, "b", []),
        ({**CLOSED, "anyOf": [{}]}, "b", []),
        ({"additionalProperties": {"type": "integer"}}, "b", [{"type": "integer"}]),
        ({"additionalProperties": {"type": "integer"}}, "b.c", None),
        ({"$ref": "#/$defs/x", "$defs": {"x": CLOSED}}, "b", None),
        ({"$ref": "#/$defs/x%20y", "$defs": {"x y": CLOSED}}, "a", [{"type": "string"}]),
        ({"$ref": "#anchor"}, "b", []),
        ({"allOf": [CLOSED, {"properties": {"b": {}}}]}, "b", None),
        ({"allOf": [{"properties": {"a": {"minLength": 1}}}, CLOSED]}, "a", [{"minLength": 1}, {"type": "string"}]),
        ({"unevaluatedProperties": False, "properties": {"a": {}}}, "b", None),
        ({"unevaluatedProperties": False, "additionalProperties": {}}, "b", [{}]),
        ({"unevaluatedProperties": False, "allOf": [{"additionalProperties": True}]}, "b", []),
        ({"prefixItems": [{"type": "string"}], "items": False}, "[0]", [{"type": "string"}]),
        ({"prefixItems": [{"type": "string"}], "items": False}, "[1]", None),
        ({"items": [{"type": "string"}]}, "[0]", [{"type": "string"}]),
        ({"properties": {"a": False}}, "a.b", None),
        ({"type": ["object", "null"]}, "a", []),
    ],
)
def test_paths(schema, path, found):
    assert reach(schema, parse_path(path)) == found


NAMES = st.sampled_from(["a", "b"])
LEAVES = st.sampled_from([{}, {"type": "string"}, {"type": "array"}, {"type": ["object", "integer"]}, True, False])
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.fixed_dictionaries({}, optional={
        "type": st.sampled_from(["object", "array", "string"]),
        "properties": st.dictionaries(NAMES, inner, max_size=2),
        "additionalProperties": inner, "unevaluatedProperties": st.just(False), "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2), "allOf": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=2), "patternProperties": st.dictionaries(st.just("^a"), inner, max_size=1),
    }),
    max_leaves=6,
)  # fmt: skip
VALUES = st.recursive(
    st.sampled_from(["", 1, None]),
    lambda inner: st.dictionaries(NAMES, inner, max_size=2) | st.lists(inner, max_size=2),
    max_leaves=5,
)


def paths(value, at=()):
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*at, key))


@given(SCHEMAS, VALUES)
def test_an_accepted_value_has_only_paths_that_are_allowed(schema, value):
    if jsonschema.Draft202012Validator(schema).is_valid(value):
        for path in paths(value):
            assert reach(schema, path) is not None
