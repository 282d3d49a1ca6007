"""Compiling schemas to operations, keyword by keyword.

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

from tracelens.kernels import check as k
from tracelens.kernels.check_number import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from tracelens.kernels.check_text import ASK, AT_SIGN, DATE, DATE_TIME, UUID
from tracelens.kernels.scan import ARRAY, FALSE, NULL, NUMBER, OBJECT, STRING, TRUE
from tracelens.rungs.schema.decimals import decimal_parts
from tracelens.rungs.schema.drafts import format_checker
from tracelens.rungs.schema.program import ALL_KINDS, ALWAYS, CONTAINERS, NEVER, NEVER_ABOVE, Builder, Node, op
from tracelens.rungs.schema.templates import Template, closed_array, closed_object, closed_tuple, contains, fixed, one_of
from tracelens.rungs.schema.truth import CompiledSchema
from tracelens.rungs.schema.walk import Place, keywords_of, place_key, resolve, subplace

KINDS_OF_TYPE = {
    "null": (NULL,), "boolean": (FALSE, TRUE), "integer": (NUMBER,), "number": (NUMBER,), "string": (STRING,),
    "object": (OBJECT,), "array": (ARRAY,),
}  # fmt: skip
WAYS = {"date": DATE, "date-time": DATE_TIME, "uuid": UUID, "email": AT_SIGN, "idn-email": AT_SIGN}
RELATIONS = {
    "minimum": (GREATER_EQUAL, "less than the minimum of"),
    "maximum": (LESS_EQUAL, "greater than the maximum of"),
    "exclusiveMinimum": (GREATER, "less than or equal to the minimum of"),
    "exclusiveMaximum": (LESS, "greater than or equal to the maximum of"),
}
SIZES = {
    "minLength": (k.MIN_LENGTH, STRING, 1, "should be non-empty", "is too short"),
    "maxLength": (k.MAX_LENGTH, STRING, 0, "is expected to be empty", "is too long"),
    "minItems": (k.MIN_SIZE, ARRAY, 1, "should be non-empty", "is too short"),
    "maxItems": (k.MAX_SIZE, ARRAY, 0, "is expected to be empty", "is too long"),
    "minProperties": (k.MIN_SIZE, OBJECT, 1, "should be non-empty", "does not have enough properties"),
    "maxProperties": (k.MAX_SIZE, OBJECT, 0, "is expected to be empty", "has too many properties"),
}
OBJECT_KEYWORDS = frozenset(
    ("properties", "patternProperties", "additionalProperties", "required", "dependentRequired", "dependentSchemas")
) | {"dependencies"}
ITEM_KEYWORDS = frozenset(("items", "prefixItems", "additionalItems"))
CANNOT_ON = {"unevaluatedProperties": (OBJECT,), "unevaluatedItems": (ARRAY,)}
MOST = 2**62
LARGEST = 1e300
MOST_OPTIONS = 60
CANNOT = Template("", "", "")


class Compiler:
    """Adds schemas to a program; a schema that is reached twice is compiled once.

    Example:
        >>> from tracelens.rungs.schema.truth import compile_schema
        >>> compiler = Compiler()
        >>> compiler.add(compile_schema({"type": "object"}))
        3
    """

    def __init__(self) -> None:
        self.builder = Builder()
        self.numbers: dict[tuple[int, str, int], int] = {}
        self.queue: list[tuple[Place, Node]] = []
        self.formats = True
        # Numbers are by identity of schema objects, which must therefore stay alive.
        self.kept: list[CompiledSchema] = []

    def add(self, compiled: CompiledSchema) -> int:
        """The node of a usable schema."""
        self.kept.append(compiled)
        self.formats = compiled.validator.format_checker is not None
        root = self.node(compiled.places[0], NEVER)
        while self.queue:
            place, node = self.queue.pop()
            self.fill(place, node)
        return root

    def node(self, place: Place, never: int) -> int:
        """The node of a place; ``never`` stands for the schema ``false``."""
        if place.schema is True:
            return ALWAYS
        if place.schema is False:
            return never
        key = place_key(place)
        if key not in self.numbers:
            self.numbers[key] = len(self.builder.nodes)
            self.queue.append((place, self.builder.node()))
        return self.numbers[key]

    def same(self, place: Place, schema: Any) -> int:
        """The node of a schema for the same value."""
        return self.node(subplace(place, schema, ""), NEVER)

    def part(self, place: Place, schema: Any) -> int:
        """The node of a schema for a member or element; -1 where it says nothing."""
        if schema is True or schema == {}:
            return -1
        return self.node(subplace(place, schema, ""), NEVER_ABOVE)

    def fill(self, place: Place, node: Node) -> None:
        """Compile every keyword of a place."""
        found = keywords_of(place.draft, place.schema)
        if "$id" not in place.draft.META_SCHEMA or place.draft is not self.kept[-1].draft:
            # The oldest drafts, and mixtures of drafts, differ in too much; they are left to the library.
            node.add(ALL_KINDS, op(k.CANNOT), CANNOT)
            return
        for keyword, value in found.items():
            plain = PLAIN.get(keyword)
            if plain is not None:
                plain(self, place, node, value)
            elif keyword not in OBJECT_KEYWORDS and keyword not in ITEM_KEYWORDS:
                node.add(CANNOT_ON.get(keyword, ALL_KINDS), op(k.CANNOT), CANNOT)
        if OBJECT_KEYWORDS & found.keys():
            self.objects(place, node, found)
        if ITEM_KEYWORDS & found.keys():
            self.items(place, node, found)

    # ------------------------------------------------------------------ any kind of value

    def types(self, place: Place, node: Node, value: Any) -> None:
        names = [value] if isinstance(value, str) else value
        allowed = {kind for name in names for kind in KINDS_OF_TYPE[name]}
        template = Template("type", "", f" is not of type {', '.join(repr(name) for name in names)}")
        node.add([kind for kind in ALL_KINDS if kind not in allowed], op(k.FAIL), template)
        if "integer" in names and "number" not in names:
            node.add([NUMBER], op(k.INTEGER), template)

    def enum(self, place: Place, node: Node, value: Any) -> None:
        self.among(node, value, Template("enum", "", f" is not one of {value!r}"))

    def const(self, place: Place, node: Node, value: Any) -> None:
        self.among(node, [value], fixed("const", f"{value!r} was expected"))

    def among(self, node: Node, values: list[Any], template: Template) -> None:
        """Allow only the listed values."""
        for kind, word in ((NULL, None), (FALSE, False), (TRUE, True)):
            if not any(each is word for each in values):
                node.add([kind], op(k.FAIL), template)
        self.among_numbers(node, [each for each in values if _is_number(each)], template)
        strings = list(dict.fromkeys(each for each in values if isinstance(each, str)))
        row = op(k.ENUM_STRING, *self.builder.table(strings, local=False)) if strings else op(k.FAIL)
        node.add([STRING], row, template)
        for kind, type_ in zip(CONTAINERS, (dict, list), strict=True):
            wanted = [each for each in values if isinstance(each, type_)]
            first = self.builder.constant_list(wanted) if wanted else None
            row = op(k.ENUM_DEEP, first) if first is not None else op(k.CANNOT if wanted else k.FAIL)
            node.add([kind], row, template)

    def among_numbers(self, node: Node, numbers: list[float], template: Template) -> None:
        if any(abs(each) > LARGEST for each in numbers):
            node.add([NUMBER], op(k.CANNOT), template)
            return
        row = op(k.ENUM_NUMBER, len(self.builder.numbers), len(numbers)) if numbers else op(k.FAIL)
        self.builder.numbers.extend(numbers)
        node.add([NUMBER], row, template)

    def reference(self, place: Place, node: Node, value: Any) -> None:
        target = self.node(resolve(place, "$ref", value), NEVER)
        if target != ALWAYS:
            node.add(ALL_KINDS, op(k.APPLY, target), CANNOT)

    def all_of(self, place: Place, node: Node, value: Any) -> None:
        for each in value:
            if each is not True:
                node.add(ALL_KINDS, op(k.APPLY, self.same(place, each)), CANNOT)

    def any_of(self, place: Place, node: Node, value: Any) -> None:
        first = self.builder.listed([self.same(place, each) for each in value])
        template = Template("anyOf", "", " is not valid under any of the given schemas")
        node.add(ALL_KINDS, op(k.ANY_OF, first), template)

    def one_of(self, place: Place, node: Node, value: Any) -> None:
        if len(value) > MOST_OPTIONS:
            node.add(ALL_KINDS, op(k.CANNOT), CANNOT)
            return
        first = self.builder.listed([self.same(place, each) for each in value])
        node.add(ALL_KINDS, op(k.ONE_OF, first), one_of(value))

    def negation(self, place: Place, node: Node, value: Any) -> None:
        template = Template("not", "", f" should not be valid under {value!r}")
        node.add(ALL_KINDS, op(k.NOT, self.same(place, value)), template)

    def condition(self, place: Place, node: Node, value: Any) -> None:
        branches = [
            self.same(place, place.schema[word]) if place.schema.get(word, True) is not True else -1
            for word in ("then", "else")
        ]
        if branches != [-1, -1]:
            node.add(ALL_KINDS, op(k.IF, self.same(place, value), *branches), CANNOT)

    # ------------------------------------------------------------------ numbers and strings

    def bound(self, place: Place, node: Node, value: Any, keyword: str) -> None:
        relation, words = RELATIONS[keyword]
        if abs(value) > LARGEST:
            node.add([NUMBER], op(k.CANNOT), CANNOT)
            return
        self.builder.numbers.append(value)
        template = Template(keyword, "", f" is {words} {value!r}")
        node.add([NUMBER], op(k.COMPARE, relation, len(self.builder.numbers) - 1), template)

    def multiple_of(self, place: Place, node: Node, value: Any) -> None:
        unit, exponent = decimal_parts(value)
        row = op(k.MULTIPLE, unit, exponent) if unit < 2**31 and abs(exponent) < 2**31 else op(k.CANNOT)
        node.add([NUMBER], row, Template("multipleOf", "", f" is not a multiple of {value}"))

    def size(self, place: Place, node: Node, value: Any, keyword: str) -> None:
        code, kind, special, special_words, words = SIZES[keyword]
        template = Template(keyword, "", f" {special_words if value == special else words}")
        node.add([kind], op(code, min(int(value), MOST)), template)

    def pattern(self, place: Place, node: Node, value: Any) -> None:
        template = Template("pattern", "", f" does not match {value!r}")
        node.add([STRING], op(k.TEXT, *self.builder.pattern(value)), template)

    def format(self, place: Place, node: Node, value: Any) -> None:
        checker = format_checker(self.kept[-1].draft)
        if not self.formats or value not in checker.checkers:
            return
        family = f"format of {self.kept[-1].draft.ID_OF(self.kept[-1].draft.META_SCHEMA)}"
        check = self.builder.string_check(family, value, partial(_conforms, checker, value), WAYS.get(value, ASK))
        node.add([STRING], op(k.TEXT, *check), Template("format", "", f" is not a {value!r}"))

    def unique_items(self, place: Place, node: Node, value: Any) -> None:
        if value:
            node.add([ARRAY], op(k.UNIQUE), Template("uniqueItems", "", " has non-unique elements"))

    # ------------------------------------------------------------------ arrays and objects

    def contains(self, place: Place, node: Node, value: Any) -> None:
        child = self.same(place, value)
        if "dependentSchemas" not in place.draft.VALIDATORS:
            template = Template("contains", "None of ", " are valid under the given schema")
            node.add([ARRAY], op(k.CONTAINS, child, 1, -1), template)
            return
        least, most = place.schema.get("minContains", 1), place.schema.get("maxContains")
        if least > 0 or most is not None:
            bounds = (min(int(least), MOST), -1 if most is None else min(int(most), MOST))
            node.add([ARRAY], op(k.CONTAINS, child, *bounds), contains(least, most))

    def items(self, place: Place, node: Node, found: dict[str, Any]) -> None:
        items = found.get("items", True)
        if "prefixItems" in place.draft.VALIDATORS:
            prefix, rest = found.get("prefixItems", []), items
            template = closed_array(len(prefix))
        elif isinstance(items, list):
            prefix, rest = items, found.get("additionalItems", True)
            template = closed_tuple(len(prefix))
        else:
            # Here `false` fails every element, not the array.
            first = self.builder.listed([])
            node.add([ARRAY], op(k.ITEMS, first, self.part(place, items)), CANNOT)
            return
        first = self.builder.listed([self.part(place, each) for each in prefix])
        node.add([ARRAY], op(k.ITEMS, first, k.CLOSED if rest is False else self.part(place, rest)), template)

    def property_names(self, place: Place, node: Node, value: Any) -> None:
        if value is not True:
            node.add([OBJECT], op(k.NAMES, self.same(place, value)), CANNOT)

    def objects(self, place: Place, node: Node, found: dict[str, Any]) -> None:
        """All keywords about members at once: one walk over the members serves them all."""
        declared = found.get("properties", {})
        dependent = {**found.get("dependentRequired", {}), **found.get("dependentSchemas", {})}
        legacy = found.get("dependencies", {})
        names = list(dict.fromkeys([*declared, *found.get("required", []), *dependent, *legacy, *_needed(found)]))
        place_of = {name: place_ for place_, name in enumerate(names)}
        self.builder.n_seen = max(self.builder.n_seen, len(names))
        rows: list[int] = []
        for name in names:
            child = self.part(place, declared[name]) if name in declared else -1
            rows.extend((self.builder.text(name), child, int(name in declared)))
        listed = self.builder.listed(rows, count=len(names))
        table = self.builder.table(names, local=True)
        patterns = self.patterns(place, found.get("patternProperties", {}))
        other = found.get("additionalProperties", True)
        rest = k.CLOSED if other is False else self.part(place, other)
        node.add([OBJECT], op(k.OBJECT, *table, listed, patterns, rest), closed_object(place.schema))
        for name in found.get("required", []):
            node.add([OBJECT], op(k.REQUIRED, place_of[name]), fixed("required", f"{name!r} is a required property"))
        self.dependents(place, node, found, place_of)

    def dependents(self, place: Place, node: Node, found: dict[str, Any], place_of: dict[str, int]) -> None:
        for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
            for name, value in found.get(keyword, {}).items():
                if not isinstance(value, list):
                    row = op(k.DEPEND_APPLY, place_of[name], self.same(place, value))
                    node.add([OBJECT], row, CANNOT)
                    continue
                for each in value:
                    template = fixed(keyword, f"{each!r} is a dependency of {name!r}")
                    node.add([OBJECT], op(k.DEPEND, place_of[name], place_of[each]), template)

    def patterns(self, place: Place, patterns: dict[str, Any]) -> int:
        if not patterns:
            return -1
        rows: list[int] = []
        for pattern, schema in patterns.items():
            rows.extend((*self.builder.pattern(pattern), self.part(place, schema)))
        return self.builder.listed(rows, count=len(patterns))


PLAIN: dict[str, Callable[[Compiler, Place, Node, Any], None]] = {
    "type": Compiler.types,
    "enum": Compiler.enum,
    "const": Compiler.const,
    "$ref": Compiler.reference,
    "allOf": Compiler.all_of,
    "anyOf": Compiler.any_of,
    "oneOf": Compiler.one_of,
    "not": Compiler.negation,
    "if": Compiler.condition,
    "multipleOf": Compiler.multiple_of,
    "pattern": Compiler.pattern,
    "format": Compiler.format,
    "uniqueItems": Compiler.unique_items,
    "contains": Compiler.contains,
    "propertyNames": Compiler.property_names,
    **{keyword: partial(Compiler.bound, keyword=keyword) for keyword in RELATIONS},
    **{keyword: partial(Compiler.size, keyword=keyword) for keyword in SIZES},
}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _needed(found: dict[str, Any]) -> list[str]:
    """The members that others depend on."""
    both = [*found.get("dependentRequired", {}).values(), *found.get("dependencies", {}).values()]
    return [name for value in both if isinstance(value, list) for name in value]


def _conforms(checker: Any, name: str, text: str) -> bool:
    return bool(checker.conforms(text, name))
