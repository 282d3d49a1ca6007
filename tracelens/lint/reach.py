"""Whether a path can lead anywhere in the values that a schema accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from tracelens.kernels.reference.paths import Part


def reach(schema: Any, parts: Sequence[Part]) -> list[Any] | None:
    """The schemas that rule the values at a path.

    Args:
        schema: A JSON Schema as Python objects.
        parts: Members, indices and "every element", from the root of the value.

    Returns:
        The schemas found there, none where the schema leaves it open; None where no accepted value has such a path.
        In doubt (conditions, alternatives, patterns of names) the path counts as open.

    Example:
        >>> closed = {"properties": {"a": {"type": "string"}}, "additionalProperties": False}
        >>> reach(closed, ["a"]), reach(closed, ["b"]), reach({}, ["b"])
        ([{'type': 'string'}], None, [])
    """
    here = [schema]
    for part in parts:
        conjuncts = list(_conjuncts(schema, here))
        if any(one is False for one in conjuncts):
            return None
        tables = [one for one in conjuncts if isinstance(one, dict)]
        found = _members(tables, part) if isinstance(part, str) else _elements(tables, part)
        if not found:
            return found
        here = found
    return here


def _conjuncts(root: Any, schemas: list[Any]) -> Iterator[Any]:
    """The schemas themselves, and all that must hold together with them."""
    queue, seen = list(schemas), set[int]()
    while queue:
        schema = queue.pop(0)
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        if isinstance(schema, dict):
            queue += [part for part in schema.get("allOf", []) if isinstance(part, dict | bool)]
            target = _local(root, schema.get("$ref"))
            if target is not None:
                queue.append(target)


def _local(root: Any, reference: Any) -> Any:
    """What a reference inside the document leads to; None for any other."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    at = root
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and key in at:
            at = at[key]
        elif isinstance(at, list) and key.isdigit() and int(key) < len(at):
            at = at[int(key)]
        else:
            return None
    return at


def _open(tables: list[dict[str, Any]], *keys: str) -> bool:
    """Whether something beside plain conjuncts has a say."""
    doubtful = ("anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef", *keys)
    return any(key in table for table in tables for key in doubtful)


def _is(table: dict[str, Any], kind: str) -> bool:
    types = table.get("type", kind)
    return types == kind or (isinstance(types, list) and kind in types)


def _members(tables: list[dict[str, Any]], name: str) -> list[Any] | None:
    if not all(_is(table, "object") for table in tables):
        return None
    named = [t["properties"][name] for t in tables if isinstance(t.get("properties"), dict) and name in t["properties"]]
    if _open(tables, "patternProperties"):
        return named
    others_allowed = any(table.get("additionalProperties", False) is not False for table in tables)
    for table in tables:
        own = table.get("properties")
        if isinstance(own, dict) and name in own:
            continue
        rest = table.get("additionalProperties")
        if rest is False or (table.get("unevaluatedProperties") is False and not (named or others_allowed)):
            return None
        if isinstance(rest, dict):
            named.append(rest)
    return named


def _elements(tables: list[dict[str, Any]], part: Part) -> list[Any] | None:
    if not all(_is(table, "array") for table in tables):
        return None
    out: list[Any] = []
    for table in tables:
        items, prefix = table.get("items"), table.get("prefixItems")
        lists = [each for each in (items, prefix) if isinstance(each, list)]
        if isinstance(part, int) and lists and part < len(lists[0]):
            out.append(lists[0][part])
        elif isinstance(items, dict) and (not lists or isinstance(part, int)):
            out.append(items)
        elif items is False and isinstance(part, int):
            return None
    return out
