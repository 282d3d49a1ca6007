"""What a tool's JSON Schema says about the strings at a path: format, default, whether only strings are allowed.

Looked up through ``properties``, ``items`` (and ``prefixItems``), ``allOf`` and local ``$ref``. Under ``anyOf`` and
``oneOf`` a format counts only if every branch that declares a string there declares the same one. A place is a set
of subschemas that all hold there, and of alternatives; recursive schemas come back to the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from tracelens.kernels.reference.values import Value, plain_text

# Alternatives within alternatives beyond this depth are not followed; nothing a person writes comes near.
_DEEPEST = 12
# Nor is a schema that unfolds to more subschemas than this: what lies beyond has no formats and no defaults.
_MOST = 100_000


class Place(NamedTuple):
    """Where one stands in a schema.

    Attributes:
        all: Numbers of the subschemas that hold here, ascending.
        any: Alternatives, each a set of places of which one or more hold.
    """

    all: tuple[int, ...]
    any: frozenset[frozenset[Place]]


class SchemaFacts:
    """One JSON Schema, walked by member and element.

    Args:
        schema: The schema as parsed JSON (numbers of any type); anything but an object says nothing.

    Example:
        >>> facts = SchemaFacts(
        ...     {"properties": {"on": {"anyOf": [{"format": "date", "type": "string"}, {"type": "null"}]}}}
        ... )
        >>> facts.format(facts.member(facts.root, "on"))
        'date'
    """

    def __init__(self, schema: Any) -> None:
        self._document = schema
        self._schemas: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._old_refs = isinstance(schema, Mapping) and any(
            f"draft-0{draft}" in str(schema.get("$schema")) for draft in (3, 4, 6, 7)
        )
        self._anchors: dict[str, Any] | None = None
        self._expanded: dict[int, Place] = {}
        self._left = _MOST
        self.root = self._place(schema)

    def member(self, place: Place, key: str) -> Place | None:
        """The place of a declared member; None where nothing is declared."""
        return self._step(place, lambda schema: _get(_get(schema, "properties"), key))

    def element(self, place: Place, index: int | None) -> Place | None:
        """The place of an array's element; ``index`` None is every element beyond those declared one by one."""

        def child(schema: Any) -> Any:
            items = _get(schema, "items")
            listed = items if isinstance(items, list | tuple) else _get(schema, "prefixItems")
            if isinstance(listed, list | tuple) and index is not None and index < len(listed):
                return listed[index]
            return items if isinstance(items, Mapping) else None

        return self._step(place, child)

    def members(self, place: Place) -> set[str]:
        """The names of the members that are declared here."""
        found: set[str] = set()
        for schema in self._every(place):
            properties = _get(schema, "properties")
            found.update(key for key in properties or () if isinstance(key, str))
        return found

    def ends_at(self, place: Place) -> bool:
        """Whether nothing is declared of members or elements here, as the schemas of plain values have it."""
        return not place.any and not any(
            key in _mapping(self._schemas[n]) for n in place.all for key in ("properties", "items", "prefixItems")
        )

    def listed(self, place: Place) -> int:
        """How many elements are declared one by one."""
        lists = [_get(schema, key) for schema in self._every(place) for key in ("prefixItems", "items")]
        return max((len(found) for found in lists if isinstance(found, list | tuple)), default=0)

    def format(self, place: Place | None) -> str | None:
        """The one format that strings have here; None where there is none, or no agreement."""
        if place is None or not self._takes_strings(place):
            return None
        own = (_get(self._schemas[number], "format") for number in place.all)
        found = {name for name in own if isinstance(name, str)}
        for branches in place.any:
            names = {self.format(branch) for branch in branches if self._takes_strings(branch)}
            if len(names) == 1:
                found |= {name for name in names if name is not None}
        return found.pop() if len(found) == 1 else None

    def default(self, place: Place | None) -> str | None:
        """JSON text of the declared default; None where there is none, or more than one."""
        if place is None:
            return None
        found = {_text(self._schemas[n]["default"]) for n in place.all if "default" in _mapping(self._schemas[n])}
        return found.pop() if len(found) == 1 else None

    def only_strings(self, place: Place | None) -> bool:
        """Whether the type here is declared to be string, and nothing else."""
        if place is None:
            return False
        own = any(_get(self._schemas[number], "type") in ("string", ["string"]) for number in place.all)
        return own or any(all(self.only_strings(branch) for branch in branches) for branches in place.any)

    def _takes_strings(self, place: Place) -> bool:
        if not all(_takes_strings(self._schemas[number]) for number in place.all):
            return False
        return all(any(self._takes_strings(branch) for branch in branches) for branches in place.any)

    def _every(self, place: Place) -> Iterable[Any]:
        yield from (self._schemas[number] for number in place.all)
        for branches in place.any:
            for branch in branches:
                yield from self._every(branch)

    def _step(self, place: Place, child: Callable[[Any], Any]) -> Place | None:
        parts: list[Place] = []
        for number in place.all:
            below = child(self._schemas[number])
            if below is not None:
                parts.append(self._place(below))
        for branches in place.any:
            steps = {self._step(branch, child) for branch in branches}
            declared = frozenset(step for step in steps if step is not None)
            if declared:
                parts.append(Place((), frozenset({declared})))
        return _merge(parts) if parts else None

    def _place(self, schema: Any) -> Place:
        number = self._number(schema)
        if number not in self._expanded:
            self._expanded[number] = self._expand(schema, frozenset())
        return self._expanded[number]

    def _expand(self, schema: Any, seen: frozenset[int]) -> Place:
        """The place of a subschema, with everything that holds along with it."""
        number = self._number(schema)
        self._left -= 1
        if number in seen or self._left < 0:
            return Place((), frozenset())
        seen |= {number}
        reference = _get(schema, "$ref")
        target = self._resolve(reference) if isinstance(reference, str) else None
        parts = [Place((number,), frozenset())]
        if target is not None:
            parts.append(self._expand(target, seen))
            if self._old_refs:
                return parts[1]
        parts += [self._expand(part, seen) for part in _list(schema, "allOf")]
        for key in ("anyOf", "oneOf"):
            branches = frozenset(self._expand(branch, seen) for branch in _list(schema, key))
            if branches:
                parts.append(Place((), frozenset({branches})))
        return _merge(parts)

    def _number(self, schema: Any) -> int:
        # By identity: the document is kept, so no id is used twice.
        if id(schema) not in self._numbers:
            self._numbers[id(schema)] = len(self._schemas)
            self._schemas.append(schema)
        return self._numbers[id(schema)]

    def _resolve(self, reference: str) -> Any:
        """What a local reference points at; None where it is remote or points at nothing."""
        if not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:])
        if fragment and not fragment.startswith("/"):
            if self._anchors is None:
                self._anchors = {}
                self._collect_anchors(self._document, 0, self._anchors)
            return self._anchors.get(fragment)
        found = self._document
        for token in fragment.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list | tuple):
                found = found[int(key)] if key.isascii() and key.isdigit() and int(key) < len(found) else None
            else:
                found = _get(found, key)
        return found

    def _collect_anchors(self, schema: Any, depth: int, anchors: dict[str, Any]) -> None:
        if depth > 64:
            return
        if isinstance(schema, Mapping):
            name = schema.get("$anchor") or str(schema.get("$id", "")).partition("#")[2]
            if isinstance(name, str) and name:
                anchors.setdefault(name, schema)
        below = schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list | tuple) else ()
        for part in below:
            self._collect_anchors(part, depth + 1, anchors)


def _merge(parts: list[Place]) -> Place:
    """One place where all of the parts hold; alternatives that turn out to be one are no alternatives."""
    numbers: set[int] = set()
    alternatives: set[frozenset[Place]] = set()
    for part in parts:
        numbers.update(part.all)
        for branches in part.any:
            if len(branches) == 1:
                inner = next(iter(branches))
                numbers.update(inner.all)
                alternatives |= inner.any
            else:
                alternatives.add(branches)
    place = Place(tuple(sorted(numbers)), frozenset(alternatives))
    return place if _depth(place) <= _DEEPEST else Place(place.all, frozenset())


def _depth(place: Place) -> int:
    return 1 + max((_depth(branch) for branches in place.any for branch in branches), default=0)


def _takes_strings(schema: Any) -> bool:
    if schema is False:
        return False
    types = _get(schema, "type")
    if isinstance(types, str) and types != "string":
        return False
    if isinstance(types, list | tuple) and "string" not in types:
        return False
    if "const" in _mapping(schema) and not isinstance(schema["const"], str):
        return False
    values = _get(schema, "enum")
    return not isinstance(values, list | tuple) or any(isinstance(value, str) for value in values)


def _mapping(schema: Any) -> Mapping[str, Any]:
    if type(schema) is dict:
        return schema
    return schema if isinstance(schema, Mapping) else {}


def _get(schema: Any, key: str) -> Any:
    if type(schema) is dict:  # the usual case, and much faster than asking what else it may be
        return schema.get(key)
    return schema.get(key) if isinstance(schema, Mapping) else None


def _list(schema: Any, key: str) -> list[Any]:
    found = _get(schema, key)
    return list(found) if isinstance(found, list | tuple) else []


def _text(value: Value) -> str | None:
    try:
        return plain_text(value)
    except (ValueError, TypeError):
        return None
