"""Random schemas and instances: the fast path equals the reference wherever it decides."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rungs.schema.harness import fast, slow
from tracelens.rungs.schema.truth import compile_schema

KEYS = ["a", "b", "c d", "é", 'q"']
TEXTS = ["", "a", "b", "ab", "é", "2024-02-29", "2024-02-30", "x@y", "😀", "O'Brien", 'say "hi"', "tab\t"]
NUMBERS = [0, 1, -1, 2, 1.0, 0.5, 2.5, 1e3, 4.02, 10**17, 2**53, 2**53 + 1, -(2**53), 1e16, 0.1, 123456789.123456]
PATTERNS = ["^a", "b$", r"^\d+$", "é", "^$", "(?=a)", r"\p{L}", "^[a-c]{1,2}$"]

scalars = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(TEXTS))
instances = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)),
    max_leaves=8,
)
types = st.sampled_from(["null", "boolean", "integer", "number", "string", "object", "array"])
small = st.integers(0, 3)


def keywords(inner):
    """One keyword with its value."""
    schema_map = st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    schema_list = st.lists(inner, min_size=1, max_size=3)
    names = st.lists(st.sampled_from(KEYS), unique=True, max_size=3)
    return st.one_of(
        st.tuples(st.just("type"), st.one_of(types, st.lists(types, unique=True, min_size=1, max_size=3))),
        st.tuples(st.just("enum"), st.lists(instances, min_size=1, max_size=3)),
        st.tuples(st.just("const"), instances),
        st.tuples(st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), st.sampled_from(NUMBERS)),
        st.tuples(st.just("multipleOf"), st.sampled_from([0.01, 0.5, 1, 2, 3, 2.5])),
        st.tuples(st.sampled_from(["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]), small),
        st.tuples(st.just("pattern"), st.sampled_from(PATTERNS)),
        st.tuples(st.just("format"), st.sampled_from(["date", "email", "uuid", "ipv4", "nothing"])),
        st.tuples(st.just("uniqueItems"), st.booleans()),
        st.tuples(st.just("required"), names),
        st.tuples(st.sampled_from(["properties", "dependentSchemas"]), schema_map),
        st.tuples(st.just("patternProperties"), st.dictionaries(st.sampled_from(PATTERNS), inner, max_size=2)),
        st.tuples(st.just("dependentRequired"), st.dictionaries(st.sampled_from(KEYS), names, max_size=2)),
        st.tuples(st.sampled_from(["additionalProperties", "propertyNames", "items", "contains", "not", "if", "then", "else"]), inner),
        st.tuples(st.sampled_from(["minContains", "maxContains"]), small),
        st.tuples(st.sampled_from(["allOf", "anyOf", "oneOf", "prefixItems"]), schema_list),
    )  # fmt: skip


schemas = st.recursive(
    st.one_of(st.booleans(), st.just({}), st.builds(lambda t: {"type": t}, types)),
    lambda inner: st.lists(keywords(inner), max_size=5).map(dict),
    max_leaves=10,
)


@settings(max_examples=150)
@given(schemas, st.lists(instances, min_size=1, max_size=6))
def test_the_fast_path_equals_the_reference(schema, values):
    compiled = compile_schema(schema)
    assert compiled.usable, compiled.reason
    pairs = [(compiled, json.dumps(value)) for value in values]
    for (_, text), found in zip(pairs, fast(pairs), strict=True):
        assert found is None or found == slow(compiled, text)


@settings(max_examples=60)
@given(schemas, instances)
def test_older_drafts(schema, value):
    for draft in ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"):
        whole = {
            "$schema": draft,
            "allOf": [schema],
            "items": [schema],
            "additionalItems": schema,
            "dependencies": {"a": ["b"], "b": schema},
        }
        compiled = compile_schema(whole)
        if compiled.usable:
            found = fast([(compiled, json.dumps(value))])[0]
            assert found is None or found == slow(compiled, json.dumps(value))


@settings(max_examples=60)
@given(instances, st.data())
def test_recursive_schemas(value, data):
    leaf = data.draw(schemas)
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "properties": {key: {"$ref": "#/$defs/node"} for key in KEYS},
                "items": {"$ref": "#/$defs/node"},
                "anyOf": [leaf, {"type": ["object", "array"]}],
            }
        },
    }
    compiled = compile_schema(schema)
    found = fast([(compiled, json.dumps(value))])[0]
    assert found is None or found == slow(compiled, json.dumps(value))


@settings(max_examples=100)
@given(st.lists(st.text(alphabet="0123456789-TZ:.+ abcdefé", max_size=26), max_size=8))
def test_formats_at_a_glance(texts):
    for name in ("date", "date-time", "uuid", "email"):
        compiled = compile_schema({"format": name})
        known = [
            "2024-02-29",
            "2023-02-29",
            "0000-01-01",
            "2024-01-01T10:00:00Z",
            "2024-01-01T10:00:00.5+01:00",
            "2024-01-01T24:00:00Z",
            "12345678-1234-1234-1234-123456789abc",
        ]
        pairs = [(compiled, json.dumps(text, ensure_ascii=False)) for text in [*texts, *known]]
        for (_, text), found in zip(pairs, fast(pairs), strict=True):
            assert found == slow(compiled, text)
