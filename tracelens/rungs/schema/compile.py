"""Compiling schemas to operations for the kernel.

A node's operations are chosen per kind of value, so what a kind decides alone (most of ``type`` and ``enum``) costs
nothing at run time. Operations and their numbers (columns a to e):

    FAIL; CANNOT; INTEGER; UNIQUE
    ENUM_NUMBER   a first float, b count          ENUM_STRING  a table, b mask        ENUM_DEEP  a list of constants
    COMPARE       a relation, b float             MULTIPLE     a unit, b exponent
    MIN_LENGTH, MAX_LENGTH, MIN_SIZE, MAX_SIZE    a number
    TEXT          a check, b way, c automaton     NAMES        a node                 APPLY      a node
    ITEMS         a list of nodes, b node of the rest (-1 none, CLOSED)
    OBJECT        a table, b mask, c list of properties (number, then text, node, declared), d list of patterns
                  (number, then check, way, automaton, node; -1 none), e node of other members (-1 none, CLOSED)
    REQUIRED      a property                      DEPEND       a, b properties        DEPEND_APPLY  a property, b node
    ANY_OF, ONE_OF  a list of nodes               NOT          a node
    IF            a node, b then, c else          CONTAINS     a node, b least, c most (-1 any)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tracelens.kernels import check_codes as k
from tracelens.kernels.scan import ARRAY, OBJECT
from tracelens.rungs.schema import keywords, members
from tracelens.rungs.schema.nodes import SILENT, Nodes
from tracelens.rungs.schema.program import ALL_KINDS, NEVER, Node, op
from tracelens.rungs.schema.truth import CompiledSchema
from tracelens.rungs.schema.walk import Place, keywords_of

OBJECT_KEYWORDS = frozenset(
    ("properties", "patternProperties", "additionalProperties", "required", "dependentRequired", "dependentSchemas")
) | {"dependencies"}
ITEM_KEYWORDS = frozenset(("items", "prefixItems", "additionalItems"))
CANNOT_ON = {"unevaluatedProperties": (OBJECT,), "unevaluatedItems": (ARRAY,)}

PLAIN: dict[str, Callable[[Nodes, Place, Node, Any], None]] = {
    "type": keywords.types,
    "enum": keywords.enum,
    "const": keywords.const,
    "$ref": keywords.reference,
    "allOf": keywords.all_of,
    "anyOf": keywords.any_of,
    "oneOf": keywords.one_of_them,
    "not": keywords.negation,
    "if": keywords.condition,
    "multipleOf": keywords.multiple_of,
    "pattern": keywords.pattern,
    "format": keywords.format_of,
    "uniqueItems": keywords.unique_items,
    "contains": members.contains_some,
    "propertyNames": members.property_names,
    **{keyword: partial(keywords.bound, keyword=keyword) for keyword in keywords.RELATIONS},
    **{keyword: partial(keywords.size, keyword=keyword) for keyword in keywords.SIZES},
}


class Compiler(Nodes):
    """Adds schemas to a program.

    Example:
        >>> from tracelens.rungs.schema.truth import compile_schema
        >>> compiler = Compiler()
        >>> compiler.add(compile_schema({"type": "object"}))
        3
    """

    def __init__(self) -> None:
        super().__init__()
        # Nodes are numbered by the identity of schema objects, which must therefore stay alive.
        self._kept: list[CompiledSchema] = []

    def add(self, compiled: CompiledSchema) -> int:
        """The node of a usable schema."""
        self._kept.append(compiled)
        self.draft = compiled.draft
        self.formats = compiled.validator.format_checker is not None
        root = self.node(compiled.places[0], NEVER)
        while self.queue:
            self._fill(*self.queue.pop())
        return root

    def _fill(self, place: Place, node: Node) -> None:
        """Compile every keyword of a place."""
        found = keywords_of(place.draft, place.schema)
        if "$id" not in place.draft.META_SCHEMA or place.draft is not self.draft:
            # The oldest drafts, and mixtures of drafts, differ in too much; they are left to the library.
            node.add(ALL_KINDS, op(k.CANNOT), SILENT)
            return
        for keyword, value in found.items():
            plain = PLAIN.get(keyword)
            if plain is not None:
                plain(self, place, node, value)
            elif keyword not in OBJECT_KEYWORDS and keyword not in ITEM_KEYWORDS:
                node.add(CANNOT_ON.get(keyword, ALL_KINDS), op(k.CANNOT), SILENT)
        if OBJECT_KEYWORDS & found.keys():
            members.objects(self, place, node, found)
        if ITEM_KEYWORDS & found.keys():
            members.items(self, place, node, found)
