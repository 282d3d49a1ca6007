"""Compiling keywords about what containers hold: each function adds operations to a node."""

from __future__ import annotations

from typing import Any

from tracelens.kernels import check_codes as k
from tracelens.kernels.scan import ARRAY, OBJECT
from tracelens.rungs.schema.keywords import MOST
from tracelens.rungs.schema.nodes import SILENT, Nodes
from tracelens.rungs.schema.program import Node, op
from tracelens.rungs.schema.templates import Template, closed_array, closed_object, closed_tuple, contains, fixed
from tracelens.rungs.schema.walk import Place


def contains_some(nodes: Nodes, place: Place, node: Node, value: Any) -> None:
    """``contains`` with ``minContains`` and ``maxContains``."""
    child = nodes.same(place, value)
    if "dependentSchemas" not in place.draft.VALIDATORS:
        template = Template("contains", "None of ", " are valid under the given schema")
        node.add([ARRAY], op(k.CONTAINS, child, 1, -1), template)
        return
    least, most = place.schema.get("minContains", 1), place.schema.get("maxContains")
    if least > 0 or most is not None:
        bounds = (min(int(least), MOST), -1 if most is None else min(int(most), MOST))
        node.add([ARRAY], op(k.CONTAINS, child, *bounds), contains(least, most))


def items(nodes: Nodes, place: Place, node: Node, found: dict[str, Any]) -> None:
    """``items``, ``prefixItems`` and ``additionalItems`` together."""
    items = found.get("items", True)
    if "prefixItems" in place.draft.VALIDATORS:
        prefix, rest = found.get("prefixItems", []), items
        template = closed_array(len(prefix))
    elif isinstance(items, list):
        prefix, rest = items, found.get("additionalItems", True)
        template = closed_tuple(len(prefix))
    else:
        # Here `false` fails every element, not the array.
        first = nodes.builder.listed([])
        node.add([ARRAY], op(k.ITEMS, first, nodes.part(place, items)), SILENT)
        return
    first = nodes.builder.listed([nodes.part(place, each) for each in prefix])
    node.add([ARRAY], op(k.ITEMS, first, k.CLOSED if rest is False else nodes.part(place, rest)), template)


def property_names(nodes: Nodes, place: Place, node: Node, value: Any) -> None:
    """``propertyNames``."""
    if value is not True:
        node.add([OBJECT], op(k.NAMES, nodes.same(place, value)), SILENT)


def objects(nodes: Nodes, place: Place, node: Node, found: dict[str, Any]) -> None:
    """All keywords about members at once: one walk over the members serves them all."""
    declared = found.get("properties", {})
    dependent = {**found.get("dependentRequired", {}), **found.get("dependentSchemas", {})}
    legacy = found.get("dependencies", {})
    names = list(dict.fromkeys([*declared, *found.get("required", []), *dependent, *legacy, *_needed(found)]))
    place_of = {name: place_ for place_, name in enumerate(names)}
    nodes.builder.n_seen = max(nodes.builder.n_seen, len(names))
    rows: list[int] = []
    for name in names:
        child = nodes.part(place, declared[name]) if name in declared else -1
        rows.extend((nodes.builder.text(name), child, int(name in declared)))
    listed = nodes.builder.listed(rows, count=len(names))
    table = nodes.builder.table(names, local=True)
    patterns = _patterns(nodes, place, found.get("patternProperties", {}))
    other = found.get("additionalProperties", True)
    rest = k.CLOSED if other is False else nodes.part(place, other)
    node.add([OBJECT], op(k.OBJECT, *table, listed, patterns, rest), closed_object(place.schema))
    for name in found.get("required", []):
        node.add([OBJECT], op(k.REQUIRED, place_of[name]), fixed("required", f"{name!r} is a required property"))
    _dependents(nodes, place, node, found, place_of)


def _dependents(nodes: Nodes, place: Place, node: Node, found: dict[str, Any], place_of: dict[str, int]) -> None:
    """Properties that ask for others."""
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        for name, value in found.get(keyword, {}).items():
            if not isinstance(value, list):
                row = op(k.DEPEND_APPLY, place_of[name], nodes.same(place, value))
                node.add([OBJECT], row, SILENT)
                continue
            for each in value:
                template = fixed(keyword, f"{each!r} is a dependency of {name!r}")
                node.add([OBJECT], op(k.DEPEND, place_of[name], place_of[each]), template)


def _patterns(nodes: Nodes, place: Place, patterns: dict[str, Any]) -> int:
    """The list of patterns, or -1."""
    if not patterns:
        return -1
    rows: list[int] = []
    for pattern, schema in patterns.items():
        rows.extend((*nodes.builder.pattern(pattern), nodes.part(place, schema)))
    return nodes.builder.listed(rows, count=len(patterns))


def _needed(found: dict[str, Any]) -> list[str]:
    """The members that others depend on."""
    both = [*found.get("dependentRequired", {}).values(), *found.get("dependencies", {}).values()]
    return [name for value in both if isinstance(value, list) for name in value]
