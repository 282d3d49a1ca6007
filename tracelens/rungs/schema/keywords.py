"""Compiling keywords about single values: each function adds a keyword's operations to a node.

What a keyword says about a kind of value by itself (most of ``type`` and ``enum``) is decided here.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tracelens.kernels import check_codes as k
from tracelens.kernels.check_number import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from tracelens.kernels.check_text import ASK, AT_SIGN, DATE, DATE_TIME, UUID
from tracelens.kernels.scan import ARRAY, FALSE, NULL, NUMBER, OBJECT, STRING, TRUE
from tracelens.rungs.schema.decimals import decimal_parts
from tracelens.rungs.schema.drafts import format_checker
from tracelens.rungs.schema.nodes import SILENT, Nodes
from tracelens.rungs.schema.program import ALL_KINDS, ALWAYS, NEVER, Node, op
from tracelens.rungs.schema.templates import Template, fixed, one_of
from tracelens.rungs.schema.walk import Place, resolve

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
MOST = 2**62
LARGEST = 1e300
MOST_OPTIONS = 60


def types(_nodes: Nodes, _place: Place, node: Node, value: Any) -> None:
    """``type``."""
    names = [value] if isinstance(value, str) else value
    allowed = {kind for name in names for kind in KINDS_OF_TYPE[name]}
    template = Template("type", "", f" is not of type {', '.join(repr(name) for name in names)}")
    node.add([kind for kind in ALL_KINDS if kind not in allowed], op(k.FAIL), template)
    if "integer" in names and "number" not in names:
        node.add([NUMBER], op(k.INTEGER), template)


def enum(nodes: Nodes, _place: Place, node: Node, value: Any) -> None:
    """``enum``."""
    among(nodes, node, value, Template("enum", "", f" is not one of {value!r}"))


def const(nodes: Nodes, _place: Place, node: Node, value: Any) -> None:
    """``const``."""
    among(nodes, node, [value], fixed("const", f"{value!r} was expected"))


def among(nodes: Nodes, node: Node, values: list[Any], template: Template) -> None:
    """Allow only the listed values."""
    words: tuple[tuple[int, object], ...] = ((NULL, None), (FALSE, False), (TRUE, True))
    for kind, word in words:
        if not any(each is word for each in values):
            node.add([kind], op(k.FAIL), template)
    _among_numbers(nodes, node, [each for each in values if _is_number(each)], template)
    strings = list(dict.fromkeys(each for each in values if isinstance(each, str)))
    row = op(k.ENUM_STRING, *nodes.builder.table(strings, local=False)) if strings else op(k.FAIL)
    node.add([STRING], row, template)
    containers: tuple[tuple[int, type], ...] = ((OBJECT, dict), (ARRAY, list))
    for kind, type_ in containers:
        wanted = [each for each in values if isinstance(each, type_)]
        first = nodes.builder.constant_list(wanted) if wanted else None
        row = op(k.ENUM_DEEP, first) if first is not None else op(k.CANNOT if wanted else k.FAIL)
        node.add([kind], row, template)


def _among_numbers(nodes: Nodes, node: Node, numbers: list[float], template: Template) -> None:
    """The numbers among the values."""
    if any(abs(each) > LARGEST for each in numbers):
        node.add([NUMBER], op(k.CANNOT), template)
        return
    row = op(k.ENUM_NUMBER, len(nodes.builder.numbers), len(numbers)) if numbers else op(k.FAIL)
    nodes.builder.numbers.extend(numbers)
    node.add([NUMBER], row, template)


def reference(nodes: Nodes, place: Place, node: Node, value: Any) -> None:
    """``$ref``."""
    target = nodes.node(resolve(place, "$ref", value), NEVER)
    if target != ALWAYS:
        node.add(ALL_KINDS, op(k.APPLY, target), SILENT)


def all_of(nodes: Nodes, place: Place, node: Node, value: Any) -> None:
    """``allOf``."""
    for each in value:
        if each is not True:
            node.add(ALL_KINDS, op(k.APPLY, nodes.same(place, each)), SILENT)


def any_of(nodes: Nodes, place: Place, node: Node, value: Any) -> None:
    """``anyOf``."""
    first = nodes.builder.listed([nodes.same(place, each) for each in value])
    template = Template("anyOf", "", " is not valid under any of the given schemas")
    node.add(ALL_KINDS, op(k.ANY_OF, first), template)


def one_of_them(nodes: Nodes, place: Place, node: Node, value: Any) -> None:
    """``oneOf``."""
    if len(value) > MOST_OPTIONS:
        node.add(ALL_KINDS, op(k.CANNOT), SILENT)
        return
    first = nodes.builder.listed([nodes.same(place, each) for each in value])
    node.add(ALL_KINDS, op(k.ONE_OF, first), one_of(value))


def negation(nodes: Nodes, place: Place, node: Node, value: Any) -> None:
    """``not``."""
    template = Template("not", "", f" should not be valid under {value!r}")
    node.add(ALL_KINDS, op(k.NOT, nodes.same(place, value)), template)


def condition(nodes: Nodes, place: Place, node: Node, value: Any) -> None:
    """``if`` with ``then`` and ``else``."""
    branches = [
        nodes.same(place, place.schema[word]) if place.schema.get(word, True) is not True else -1
        for word in ("then", "else")
    ]
    if branches != [-1, -1]:
        node.add(ALL_KINDS, op(k.IF, nodes.same(place, value), *branches), SILENT)


def bound(nodes: Nodes, _place: Place, node: Node, value: Any, keyword: str) -> None:
    """``minimum`` and its like."""
    relation, words = RELATIONS[keyword]
    if abs(value) > LARGEST:
        node.add([NUMBER], op(k.CANNOT), SILENT)
        return
    nodes.builder.numbers.append(value)
    template = Template(keyword, "", f" is {words} {value!r}")
    node.add([NUMBER], op(k.COMPARE, relation, len(nodes.builder.numbers) - 1), template)


def multiple_of(_nodes: Nodes, _place: Place, node: Node, value: Any) -> None:
    """``multipleOf``."""
    unit, exponent = decimal_parts(value)
    row = op(k.MULTIPLE, unit, exponent) if unit < 2**31 and abs(exponent) < 2**31 else op(k.CANNOT)
    node.add([NUMBER], row, Template("multipleOf", "", f" is not a multiple of {value}"))


def size(_nodes: Nodes, _place: Place, node: Node, value: Any, keyword: str) -> None:
    """``minLength`` and its like."""
    code, kind, special, special_words, words = SIZES[keyword]
    template = Template(keyword, "", f" {special_words if value == special else words}")
    node.add([kind], op(code, min(int(value), MOST)), template)


def pattern(nodes: Nodes, _place: Place, node: Node, value: Any) -> None:
    """``pattern``."""
    template = Template("pattern", "", f" does not match {value!r}")
    node.add([STRING], op(k.TEXT, *nodes.builder.pattern(value)), template)


def format_of(nodes: Nodes, _place: Place, node: Node, value: Any) -> None:
    """``format``."""
    checker = format_checker(nodes.draft)
    if not nodes.formats or value not in checker.checkers:
        return
    family = f"format of {nodes.draft.ID_OF(nodes.draft.META_SCHEMA)}"
    check = nodes.builder.string_check(family, value, partial(_conforms, checker, value), WAYS.get(value, ASK))
    node.add([STRING], op(k.TEXT, *check), Template("format", "", f" is not a {value!r}"))


def unique_items(_nodes: Nodes, _place: Place, node: Node, value: Any) -> None:
    """``uniqueItems``."""
    if value:
        node.add([ARRAY], op(k.UNIQUE), Template("uniqueItems", "", " has non-unique elements"))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _conforms(checker: Any, name: str, text: str) -> bool:
    return bool(checker.conforms(text, name))
