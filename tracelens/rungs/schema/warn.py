"""What a schema says in vain: keywords that its draft ignores, and formats that nothing can check."""

from __future__ import annotations

from functools import cache
from typing import Any

from tracelens.errors import did_you_mean
from tracelens.rungs.schema.drafts import LATEST, drafts, format_checker
from tracelens.rungs.schema.truth import compile_schema
from tracelens.rungs.schema.walk import Place

_NEED = {
    "then": "if", "else": "if", "minContains": "contains", "maxContains": "contains",
    "contentSchema": "contentMediaType",
}  # fmt: skip


def schema_warnings(schema: Any) -> list[str]:
    """The keywords of a schema that are ignored, and the formats without a checker.

    Args:
        schema: A JSON Schema as Python objects.

    Returns:
        One sentence each, with its place; empty for a schema that cannot be used at all.

    Example:
        >>> schema_warnings({"properties": {"a": {"minLenght": 1, "format": "colour"}}})
        ["#/properties/a: keyword 'minLenght' is ignored; did you mean 'minLength'?", "#/properties/a: nothing checks format 'colour'"]
    """
    return [f"{place.pointer}: {message}" for place in compile_schema(schema).places for message in _warnings_at(place)]


def _warnings_at(place: Place) -> list[str]:
    schema = place.schema
    if not isinstance(schema, dict):
        return []
    out: list[str] = []
    named = schema.get("$schema")
    if isinstance(named, str) and named.rstrip("#") not in drafts():
        out.append(f"draft {named!r} is unknown, so the schema is read as {LATEST}")
    known = known_keywords(place.draft)
    silenced = dict(place.draft._APPLICABLE_VALIDATORS(schema))  # noqa: SLF001 - the only place where the library says so
    for keyword in schema:
        if keyword not in known:
            if not keyword.startswith("x-"):
                hint = did_you_mean(keyword, sorted(known))
                out.append(f"keyword {keyword!r} is ignored{f'; {hint}' if hint else ''}")
        elif keyword not in silenced and keyword in place.draft.VALIDATORS:
            out.append(f"keyword {keyword!r} is ignored, because it stands beside '$ref'")
        elif _NEED.get(keyword, keyword) not in schema:
            out.append(f"keyword {keyword!r} is ignored without {_NEED[keyword]!r}")
    named = schema.get("format")
    if "format" in silenced and isinstance(named, str) and named not in format_checker(place.draft).checkers:
        out.append(f"nothing checks format {named!r}")
    return out


@cache
def known_keywords(draft: Any) -> frozenset[str]:
    """The keywords that a draft knows: those it acts on, and those that its metaschema describes."""
    from jsonschema_specifications import REGISTRY

    out = set(draft.VALIDATORS) | {"$schema", "$comment", "examples", "deprecated"}
    pages = [draft.META_SCHEMA]
    root = draft.ID_OF(draft.META_SCHEMA)
    resolver = REGISTRY.resolver(base_uri=root)
    for page in pages:
        out |= set(page.get("properties", {}))
        pages.extend(resolver.lookup(each["$ref"]).contents for each in page.get("allOf", ()) if "$ref" in each)
    # The newest metaschema still describes what older drafts called otherwise, but the validator does not act on it.
    gone = {"dependencies", "$recursiveRef", "$recursiveAnchor"} - set(draft.VALIDATORS)
    return frozenset(out - gone)
