"""What a schema says about the strings at a path."""

from __future__ import annotations

from typing import Any

import pytest

from tracelens.kernels.reference.schema_facts import Place, SchemaFacts

DATE = {"type": "string", "format": "date"}


def place(schema: Any, *path: str | int) -> tuple[SchemaFacts, Place | None]:
    facts = SchemaFacts(schema)
    at: Place | None = facts.root
    for part in path:
        if at is not None:
            at = facts.member(at, part) if isinstance(part, str) else facts.element(at, part)
    return facts, at


def format_at(schema: Any, *path: str | int) -> str | None:
    facts, at = place(schema, *path)
    return facts.format(at)


@pytest.mark.parametrize(
    ("schema", "path", "found"),
    [
        ({"properties": {"on": DATE}}, ("on",), "date"),
        ({"properties": {"on": {"format": "date"}}}, ("on",), "date"),
        ({"properties": {"on": {"type": "integer", "format": "date"}}}, ("on",), None),
        ({"properties": {"on": {"type": ["string", "null"], "format": "date"}}}, ("on",), "date"),
        ({"properties": {"on": DATE}}, ("off",), None),
        ({"properties": {"days": {"items": DATE}}}, ("days", 7), "date"),
        ({"properties": {"days": {"prefixItems": [{}, DATE], "items": {"format": "time"}}}}, ("days", 1), "date"),
        ({"properties": {"days": {"prefixItems": [{}, DATE], "items": {"format": "time"}}}}, ("days", 2), "time"),
        ({"properties": {"days": {"items": [{}, DATE]}}}, ("days", 1), "date"),
        ({"properties": {"days": {"items": [{}, DATE]}}}, ("days", 2), None),
        ({"allOf": [{"properties": {"on": {"type": "string"}}}, {"properties": {"on": DATE}}]}, ("on",), "date"),
        ({"allOf": [{"properties": {"on": {"format": "time"}}}, {"properties": {"on": DATE}}]}, ("on",), None),
        ({"properties": {"on": {"$ref": "#/$defs/day"}}, "$defs": {"day": DATE}}, ("on",), "date"),
        ({"properties": {"on": {"$ref": "#/$defs/a~1b%25"}}, "$defs": {"a/b%": DATE}}, ("on",), "date"),
        ({"properties": {"on": {"$ref": "#day"}}, "$defs": {"x": {"$anchor": "day", **DATE}}}, ("on",), "date"),
        ({"properties": {"on": {"$ref": "https://example.org/day"}}}, ("on",), None),
        ({"properties": {"on": {"$ref": "#/$defs/gone"}}}, ("on",), None),
        ({"properties": {"on": {"$ref": "#/$defs/loop"}}, "$defs": {"loop": {"$ref": "#/$defs/loop"}}}, ("on",), None),
        ({"properties": {"on": {"anyOf": [DATE, {"type": "null"}]}}}, ("on",), "date"),
        ({"properties": {"on": {"oneOf": [DATE, {"type": "integer"}, DATE | {"title": "x"}]}}}, ("on",), "date"),
        ({"properties": {"on": {"anyOf": [DATE, {"type": "string"}]}}}, ("on",), None),
        ({"properties": {"on": {"anyOf": [DATE, {"type": "string", "format": "date-time"}]}}}, ("on",), None),
        ({"properties": {"on": {"anyOf": [DATE, {"enum": [1, 2]}, {"const": None}, False]}}}, ("on",), "date"),
        ({"properties": {"on": {"anyOf": [DATE, {"enum": ["now"]}]}}}, ("on",), None),
        ({"anyOf": [{"properties": {"on": DATE}}, {"properties": {"off": DATE}}]}, ("on",), "date"),
        ({"anyOf": [{"properties": {"on": DATE}}, {"properties": {"on": {"type": "string"}}}]}, ("on",), None),
        (
            {
                "properties": {"on": {"anyOf": [{"anyOf": [DATE, {"type": "null"}]}, {"$ref": "#/$defs/d"}]}},
                "$defs": {"d": DATE},
            },
            ("on",),
            "date",
        ),
        ({"additionalProperties": DATE}, ("on",), None),
        ({"properties": {"on": {"not": DATE}}}, ("on",), None),
        (True, ("on",), None),
        (None, (), None),
        ({"properties": [], "items": 5, "allOf": {}, "anyOf": "x", "$ref": 7}, ("on",), None),
    ],
)
def test_format(schema: Any, path: tuple[str | int, ...], found: str | None) -> None:
    assert format_at(schema, *path) == found


def test_siblings_of_ref_count_since_2019_only() -> None:
    schema = {
        "properties": {"on": {"$ref": "#/definitions/s", "format": "date"}},
        "definitions": {"s": {"type": "string"}},
    }
    assert format_at(schema, "on") == "date"
    assert format_at(schema | {"$schema": "http://json-schema.org/draft-07/schema#"}, "on") is None


def test_recursive_schemas_come_back_to_the_same_place() -> None:
    tree = {
        "properties": {
            "on": DATE,
            "kids": {"items": {"$ref": "#"}},
            "twin": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        }
    }
    facts, here = place(tree, "kids", 0)
    assert here is not None
    kids = facts.member(here, "kids")
    assert kids is not None
    assert facts.element(kids, 7) == here
    assert format_at(tree, "kids", 3, "kids", 9, "on") == "date"
    assert format_at(tree, "twin", "twin", "kids", 1, "twin", "on") == "date"


def test_a_schema_that_unfolds_without_end_is_cut_short() -> None:
    levels = 40
    defs = {
        f"n{i}": {
            "anyOf": [{"$ref": f"#/$defs/n{i + 1}"}, {"type": "object", "allOf": [{"$ref": f"#/$defs/n{i + 1}"}]}]
        }
        for i in range(levels)
    }
    schema = {"properties": {"on": {"$ref": "#/$defs/n0"}}, "$defs": defs | {f"n{levels}": DATE}}
    assert format_at(schema, "on") in {"date", None}


def test_defaults() -> None:
    facts, at = place({"properties": {"page": {"default": 1.0}}}, "page")
    assert facts.default(at) == "1"
    facts, at = place({"properties": {"page": {"default": 1, "allOf": [{"default": 2}]}}}, "page")
    assert facts.default(at) is None
    facts, at = place({"properties": {"page": {"default": None}}}, "page")
    assert facts.default(at) == "null"
    facts, at = place({"properties": {"page": {"default": float("nan")}}}, "page")
    assert facts.default(at) is None
    assert facts.default(None) is None


def test_only_strings() -> None:
    for schema, only in [
        ({"type": "string"}, True),
        ({"type": ["string"]}, True),
        ({"type": ["string", "number"]}, False),
        ({}, False),
        ({"anyOf": [{"type": "string"}, {"type": "string", "minLength": 1}]}, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, False),
    ]:
        facts = SchemaFacts(schema)
        assert facts.only_strings(facts.root) is only
