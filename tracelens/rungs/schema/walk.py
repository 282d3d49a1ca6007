"""Every schema that a validator can reach from a root, with how it gets there.

The walk follows the keywords of the draft, local references included, and nothing else: a broken definition that is
never used does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tracelens.rungs.schema.drafts import draft_of

IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf", "extends")
CHILD_MAPS = ("properties", "patternProperties")
CHILD_VALUES = (
    "additionalProperties", "propertyNames", "additionalItems", "contains", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class Unusable(Exception):  # noqa: N818 - it is no error of the program, but what is wrong with a schema
    """A schema that cannot be used; the message says why."""


@dataclass(slots=True)
class Place:
    """A schema that is reached.

    Attributes:
        schema: An object or a boolean.
        resolver: Resolves the references inside it.
        draft: Validator class in charge.
        pointer: Where it stands, for people: ``#/properties/a``, or the reference that led to it.
        referred: Whether a reference led here first.
        applied: Places that are applied to the same instance as this one.
    """

    schema: Any
    resolver: Any
    draft: Any
    pointer: str
    referred: bool = False
    applied: list[Place] = field(default_factory=list)


def new_validator(draft: Any, schema: Any, format_checker: Any = None) -> Any:
    """A validator that knows the metaschemas and fetches nothing."""
    return draft(schema, registry=_no_documents(), format_checker=format_checker)


@cache
def _no_documents() -> Any:
    """A registry that holds nothing and fetches nothing."""
    import referencing

    return referencing.Registry()


def keywords_of(draft: Any, schema: Any) -> dict[str, Any]:
    """The keywords of a schema object that the draft acts on: before 2019-09 a ``$ref`` silences its siblings.

    Example:
        >>> keywords_of(draft_of({}), {"type": "string", "title": "name"})
        {'type': 'string'}
    """
    if not isinstance(schema, dict):
        return {}
    applicable = draft._APPLICABLE_VALIDATORS(schema)  # noqa: SLF001 - the only place where the library says so
    return {key: value for key, value in applicable if key in draft.VALIDATORS}


def resolve(place: Place, keyword: str, reference: Any) -> Place:
    """The place that a reference leads to.

    Raises:
        Unusable: It leads nowhere, or to something that is no schema.
    """
    try:
        found = place.resolver.lookup("#" if keyword == "$recursiveRef" else reference)
    except Exception as error:
        raise Unusable(f"{keyword} {reference!r} at {place.pointer} does not resolve") from error
    if not isinstance(found.contents, (dict, bool)):
        raise Unusable(f"{keyword} {reference!r} at {place.pointer} leads to something that is no schema")
    target = subplace(place, found.contents, str(reference), found.resolver)
    target.referred = True
    return target


def subplace(place: Place, schema: Any, pointer: str, resolver: Any = None) -> Place:
    """The place of a schema inside or beside another one."""
    if not isinstance(schema, dict):
        return Place(schema, resolver or place.resolver, place.draft, pointer)
    if resolver is None and "$id" not in schema and "id" not in schema:
        resolver = place.resolver
    if resolver is None:
        from referencing.jsonschema import specification_with

        # `$id` changes the base of references; what an `$id` is depends on the draft.
        dialect = place.draft.ID_OF(place.draft.META_SCHEMA)
        resolver = place.resolver.in_subresource(specification_with(dialect).create_resource(schema))
    return Place(schema, resolver, draft_of(schema, default=place.draft), pointer)


def children(place: Place) -> Iterator[tuple[Place, bool]]:
    """The schemas that a schema applies, each with whether to the same instance (else to a part of it)."""
    found = keywords_of(place.draft, place.schema)
    if "additionalItems" in found and isinstance(place.schema.get("items"), bool):
        raise Unusable(
            f"additionalItems at {place.pointer} stands beside a boolean items, which the library cannot read"
        )
    for keyword, value in found.items():
        here = f"{place.pointer}/{keyword}"
        if keyword in REFERENCES:
            yield resolve(place, keyword, value), True
        elif keyword in IN_PLACE_LISTS and isinstance(value, list):
            for index, each in enumerate(value):
                yield subplace(place, each, f"{here}/{index}"), True
        elif keyword in CHILD_MAPS:
            for name, each in value.items():
                yield subplace(place, each, f"{here}/{name}"), False
        elif keyword in ("dependentSchemas", "dependencies"):
            for name, each in value.items():
                if isinstance(each, (dict, bool)):
                    yield subplace(place, each, f"{here}/{name}"), True
        elif keyword in ("items", "prefixItems"):
            for index, each in enumerate(value if isinstance(value, list) else [value]):
                yield subplace(place, each, f"{here}/{index}" if isinstance(value, list) else here), False
        elif keyword in CHILD_VALUES:
            yield subplace(place, value, here), False
        elif keyword in ("not", "if") and isinstance(value, (dict, bool)):
            yield subplace(place, value, here), True
    if "if" in found:
        for keyword in ("then", "else"):
            if keyword in place.schema:
                yield subplace(place, place.schema[keyword], f"{place.pointer}/{keyword}"), True


def walk(draft: Any, validator: Any) -> list[Place]:
    """All places that are reached from a root, each once.

    Args:
        draft: Validator class in charge of the root.
        validator: Validator of the root, see `new_validator`.

    Raises:
        Unusable: A reference does not resolve, what it leads to is no valid schema, or a schema applies itself to
            the same instance again and again.
    """
    root = Place(validator.schema, validator._resolver, draft, "#")  # noqa: SLF001 - as above
    seen: dict[tuple[int, str, int], Place] = {place_key(root): root}
    queue = [root]
    for place in queue:
        for child, in_place in children(place):
            known = seen.get(place_key(child))
            if known is None:
                known = seen[place_key(child)] = child
                queue.append(child)
            if in_place:
                place.applied.append(known)
    _refuse_endless(queue)
    return queue


def place_key(place: Place) -> tuple[int, str, int]:
    """What makes two places the same: the schema object, the base of its references, the draft."""
    if isinstance(place.schema, bool):
        return int(place.schema), "", 0
    return id(place.schema), place.resolver._base_uri, id(place.draft)  # noqa: SLF001 - not public, and needed


def _refuse_endless(places: list[Place]) -> None:
    """Raise where a chain of schemas on one instance comes back to itself."""
    state: dict[int, int] = {}
    for start in places:
        stack = [(start, iter(start.applied))] if id(start) not in state else []
        state.setdefault(id(start), 1)
        while stack:
            place, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[id(place)] = 2
                stack.pop()
            elif state.get(id(following)) == 1:
                raise Unusable(f"{following.pointer} applies itself to the same value without end")
            elif id(following) not in state:
                state[id(following)] = 1
                stack.append((following, iter(following.applied)))
