"""Strategies for argument values and rules that meet often enough to be interesting."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tracelens.kernels.reference.normal import Rules

KEYS = st.sampled_from(["a", "b", "c", "é"])
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 1.0, -1, 2, 0.5, 100, 1e30, 9007199254740993]),
    st.sampled_from(["", "x", " X", "É", "e\u0301", "ß", "SS", "1", "1.0", "null", "a\n\u3000"]),
    st.sampled_from(
        ["2026-11-02", "2026-11-02T10:00:00Z", "2026-11-02 11:00+01:00", "2026-11-02T10:00", "5 km", "5000 m"]
    ),
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3),
        st.sampled_from([{"value": 5, "unit": "km"}, [5000, "m"], {}, []]),
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, JSON, max_size=4)
PATHS = st.sampled_from(
    ["a", "b", "c", "a.a", "a.b", "a[*]", "b[*]", "b[0]", "a[*].b", "c[*][*]", "a.b[1]", '"é"', "a.a.a"]
)
GIVEN: st.SearchStrategy[Any] = st.sampled_from(
    [
        "exact",
        "trim",
        "fold",
        "date",
        "datetime",
        "number",
        "unordered",
        "set",
        "ignore",
        "null_is_missing",
        "text",
        {"unit": "km"},
        {"number": {"decimals": 0}},
        {"default": {"value": 1}},
        {"default": {"value": "x"}},
        {"default": {"value": []}},
        {"default": {"value": {"b": 1}}},
        {"default": {"value": ["x", 1, 1]}},
        ["null_is_missing", "datetime"],
        ["unordered", {"default": {"value": [1, "x"]}}],
        ["set", "exact"],
    ]
)
SCHEMAS: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        {"properties": {"a": {"format": "date"}, "b": {"items": {"format": "date-time"}}}},
        {"properties": {"a": {"$ref": "#"}, "b": {"format": "date-time"}, "c": {"prefixItems": [{"format": "date"}]}}},
    ]
)
NORMALIZE = st.dictionaries(st.sampled_from(["*", "t"]), st.dictionaries(PATHS, GIVEN, max_size=4))
RULES = st.builds(lambda normalize, schema: Rules.compile(normalize, "t", schema), NORMALIZE, SCHEMAS)
