"""What is valid at a glance is valid for the library; and most schemas of tools are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.exceptions import SchemaError

from tracelens.rungs.schema.drafts import draft_of, format_checker
from tracelens.rungs.schema.quick import _CHECKS, DRAFTS, surely_valid
from tracelens.rungs.schema.truth import compile_schema
from tracelens.rungs.schema.warn import known_keywords

NAMES = st.sampled_from(["a", "b", "é", "^x", "(", "$ref"])
SCALARS = st.sampled_from([
    None, True, False, 0, 1, -1, 3, 1.5, 2.0, 0.0, -0.5, 1e400, "", "a", "string", "integer", "object", "any", "date", "^a$", "(",
    r"\Z", "#", "#/$defs/A", "#/a b", "#a", "http://x/y", "https://json-schema.org/draft/2020-12/schema", "%zz",
])  # fmt: skip
WORDS = st.lists(st.sampled_from(["a", "b", "string", "null"]), max_size=3)
KEYS = st.sampled_from([
    *sorted(_CHECKS), "x-extra", "default", "const", "strict", "$$", "minLenght",
])  # fmt: skip


def near(key: str, inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value for a keyword, mostly of the right kind."""
    right: dict[str, st.SearchStrategy[Any]] = {
        "type": st.one_of(st.sampled_from(["string", "object", "null", "number"]), WORDS),
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "patternProperties": st.dictionaries(NAMES, inner, max_size=2),
        "$defs": st.dictionaries(NAMES, inner, max_size=2),
        "definitions": st.dictionaries(NAMES, inner, max_size=2),
        "dependentSchemas": st.dictionaries(NAMES, inner, max_size=2),
        "dependencies": st.dictionaries(NAMES, st.one_of(inner, WORDS), max_size=2),
        "dependentRequired": st.dictionaries(NAMES, WORDS, max_size=2),
        "required": WORDS,
        "enum": st.lists(SCALARS, max_size=3),
        "examples": st.lists(SCALARS, max_size=2),
        "allOf": st.lists(inner, max_size=2),
        "anyOf": st.lists(inner, max_size=2),
        "oneOf": st.lists(inner, max_size=2),
        "prefixItems": st.lists(inner, max_size=2),
        "items": st.one_of(inner, st.lists(inner, max_size=2)),
        "uniqueItems": st.booleans(),
    }
    numbers = st.sampled_from([0, 1, 2, 5, 1.5, 2.0, -1])
    fallback = numbers if key.startswith(("min", "max", "multiple", "exclusive")) else st.one_of(inner, SCALARS)
    wanted = right.get(key, fallback)
    return st.integers(0, 11).flatmap(lambda n: wanted if n else st.one_of(inner, SCALARS, WORDS))


def tables(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = KEYS.flatmap(lambda key: st.tuples(st.just(key), near(key, inner)))
    return st.lists(pairs, max_size=4).map(dict)


SCHEMAS = st.recursive(st.one_of(st.booleans(), st.just({}), st.just({"type": "string"})), tables, max_leaves=10)


def library_accepts(schema: Any) -> bool:
    draft = draft_of(schema)
    try:
        draft.check_schema(schema, format_checker=format_checker(draft))
    except SchemaError:
        return False
    return True


@pytest.mark.parametrize("draft", sorted(DRAFTS))
@settings(max_examples=150)
@given(schema=SCHEMAS)
def test_what_is_surely_valid_is_valid(draft: str, schema: Any) -> None:
    if isinstance(schema, dict):
        schema = {"$schema": draft, **schema}
        if draft_of(schema).ID_OF(draft_of(schema).META_SCHEMA).rstrip("#") == draft and surely_valid(draft, schema):
            assert library_accepts(schema), schema


@pytest.mark.parametrize("draft", sorted(DRAFTS))
def test_every_keyword_of_the_metaschemas_is_looked_at(draft: str) -> None:
    free = {"default", "const", "$schema"}
    keywords = known_keywords(draft_of({"$schema": draft}))
    assert keywords - free <= _CHECKS.keys()
    for keyword in sorted(keywords - free):
        for wrong in (None, 5.5, "", "(", [], [1], {"a": 5}, -1):
            schema = {"$schema": draft, keyword: wrong}
            assert not surely_valid(draft, schema) or library_accepts(schema), schema


def test_schemas_of_tools_are_seen_to_be_valid() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "description": "x",
        "properties": {
            "day": {"type": "string", "format": "date", "pattern": r"^\d{4}-"},
            "n": {"type": ["integer", "null"], "minimum": 0, "exclusiveMaximum": 9.5, "default": None},
            "tags": {"type": "array", "items": {"enum": ["a", 1]}, "uniqueItems": True, "maxItems": 3},
            "who": {"$ref": "#/$defs/Who"},
            "any": {"anyOf": [{"type": "string"}, True], "x-note": 5, "title": "Any"},
        },
        "required": ["day"],
        "additionalProperties": False,
        "$defs": {"Who": {"type": "object", "additionalProperties": {"type": "string"}}},
    }
    assert surely_valid("https://json-schema.org/draft/2020-12/schema", schema)
    assert compile_schema(schema).usable


def test_the_reason_is_that_of_the_library() -> None:
    reason = compile_schema({"properties": {"a": {"type": "strnig"}}}).reason
    assert reason == "not a valid schema at #/properties/a/type: 'strnig' is not valid under any of the given schemas"
    deep: Any = {}
    for _ in range(300):
        deep = {"allOf": [deep]}
    assert compile_schema(deep).reason == "the schema at # is nested too deeply"
