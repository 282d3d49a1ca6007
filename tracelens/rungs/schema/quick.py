"""Schemas that are valid at a glance, so that the library need not hold them against its metaschema.

That takes it most of the time a suite needs to load. The answer here is "surely valid" or "ask the library": every
keyword of the metaschemas of the newer drafts is either checked as strictly as any of them does, or makes the answer
the latter. Keywords that no metaschema knows may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tracelens.rungs.schema.ecma import PatternError, compile_pattern

DRAFTS = frozenset({
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
})  # fmt: skip
"""The drafts (without an empty fragment) that this knows."""

_DEEPEST = 40
"""The library cannot follow a schema that nests deeper than some hundred levels; where exactly is its own business."""

_TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
_REFERENCE = re.compile(r"#(?:/[A-Za-z0-9_$.~-]+)*\Z")
_ASK = frozenset((
    "$id", "id", "$schema", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary",
))  # fmt: skip


def surely_valid(draft: str, schema: Any) -> bool:
    """Whether a schema is valid under its draft, as far as that can be seen quickly.

    Args:
        draft: Name of the draft, without an empty fragment.
        schema: A JSON Schema as Python objects.

    Returns:
        True where the metaschema surely accepts it; False says nothing.

    Example:
        >>> surely_valid("https://json-schema.org/draft/2020-12/schema", {"properties": {"a": {"type": "string"}}})
        True
        >>> surely_valid("https://json-schema.org/draft/2020-12/schema", {"type": "strnig"})
        False
    """
    if draft not in DRAFTS:
        return False
    if isinstance(schema, dict) and schema.get("$schema") in (draft, f"{draft}#"):
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    return _schema(schema, 0)


def _schema(value: Any, depth: int) -> bool:
    if type(value) is not dict:
        return type(value) is bool
    if depth > _DEEPEST:
        return False
    for key, each in value.items():
        check = _CHECKS.get(key)
        if check is not None and not check(each, depth + 1):
            return False
    return True


def _schemas(value: Any, depth: int) -> bool:
    return type(value) is list and bool(value) and all(_schema(each, depth) for each in value)


def _named_schemas(value: Any, depth: int) -> bool:
    return type(value) is dict and all(_schema(each, depth) for each in value.values())


def _named_patterns(value: Any, depth: int) -> bool:
    return _named_schemas(value, depth) and all(_pattern(key, depth) for key in value)


def _names(value: Any, _: int) -> bool:
    return type(value) is list and all(type(each) is str for each in value) and len(set(value)) == len(value)


def _named_names(value: Any, depth: int) -> bool:
    return type(value) is dict and all(_names(each, depth) for each in value.values())


def _dependencies(value: Any, depth: int) -> bool:
    return type(value) is dict and all(_names(each, depth) or _schema(each, depth) for each in value.values())


def _types(value: Any, depth: int) -> bool:
    return value in _TYPES if type(value) is str else _names(value, depth) and bool(value) and _TYPES.issuperset(value)


def _pattern(value: Any, _: int) -> bool:
    if type(value) is not str:
        return False
    try:
        compile_pattern(value)
    except PatternError:
        return False
    return True


def _text(value: Any, _: int) -> bool:
    return type(value) is str


def _flag(value: Any, _: int) -> bool:
    return type(value) is bool


def _list(value: Any, _: int) -> bool:
    return type(value) is list


def _count(value: Any, _: int) -> bool:
    return type(value) is int and value >= 0


def _number(value: Any, _: int) -> bool:
    return type(value) is int or type(value) is float


def _unit(value: Any, depth: int) -> bool:
    return _number(value, depth) and value > 0


def _reference(value: Any, _: int) -> bool:
    return type(value) is str and _REFERENCE.match(value) is not None


def _ask(_: Any, __: int) -> bool:
    return False


_CHECKS: dict[str, Callable[[Any, int], bool]] = {
    "type": _types,
    "$ref": _reference,
    "pattern": _pattern,
    "patternProperties": _named_patterns,
    "required": _names,
    "dependentRequired": _named_names,
    "dependencies": _dependencies,
    "multipleOf": _unit,
    **dict.fromkeys(_ASK, _ask),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _schemas),
    **dict.fromkeys(("properties", "$defs", "definitions", "dependentSchemas"), _named_schemas),
    **dict.fromkeys(
        ("additionalProperties", "items", "contains", "propertyNames", "not", "if", "then", "else", "additionalItems",
         "unevaluatedItems", "unevaluatedProperties", "contentSchema"),
        _schema,
    ),
    **dict.fromkeys(("enum", "examples"), _list),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _flag),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains",
         "maxContains"),
        _count,
    ),
    **dict.fromkeys(
        ("title", "description", "$comment", "format", "contentEncoding", "contentMediaType"), _text
    ),
}  # fmt: skip
"""By keyword: whether any draft's metaschema surely accepts a value."""
