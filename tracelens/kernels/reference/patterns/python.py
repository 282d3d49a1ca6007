r"""Regular expressions of Python, as suites write them, read into trees.

The standard library's own parser reads them. Sets of characters and edges are written out again, each alone, and
asked of the standard library, so that flags, Unicode and the many meanings of ``$`` are never told a second time.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from importlib import import_module
from typing import Any

from tracelens.kernels.reference.patterns.bounded import Pattern, PatternFault, Span
from tracelens.kernels.reference.patterns.tree import Choice, Edge, Look, Node, One, Own, Repeat, Sequence

_KEPT = re.IGNORECASE | re.ASCII | re.DOTALL | re.MULTILINE

LAST = 0x10FFFF

_EDGES = {
    "AT_BEGINNING": "^", "AT_BEGINNING_STRING": r"\A", "AT_END": "$", "AT_END_STRING": r"\Z",
    "AT_BOUNDARY": r"\b", "AT_NON_BOUNDARY": r"\B",
}  # fmt: skip
_CATEGORIES = {
    f"CATEGORY_{'NOT_' if c.isupper() else ''}{name}": rf"\{c}"
    for name, letters in (("DIGIT", "dD"), ("SPACE", "sS"), ("WORD", "wW"))
    for c in letters
}


@lru_cache(maxsize=4096)
def python_pattern(text: str) -> Pattern:
    r"""A regular expression of Python, to be searched for.

    Raises:
        PatternFault: It does not compile, or a search could take forever.

    Example:
        >>> (
        ...     python_pattern(r"(?i)drop\s+table").found("x; DROP  TABLE y"),
        ...     python_pattern("^(a+)+$").found("a" * 99 + "b"),
        ... )
        (True, False)
        >>> python_pattern("(")
        Traceback (most recent call last):
        tracelens.kernels.reference.patterns.bounded.PatternFault: is no regular expression: missing ), unterminated subpattern at position 0
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "possible nested set", a flag that is not needed: none of our business
            search = re.compile(text).search
            tree = read(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternFault(f"is no regular expression: {error}") from None

    def place(subject: str) -> Span | None:
        found = search(subject)
        return None if found is None else found.span()

    return Pattern(tree, place)


def read(text: str) -> Node:
    """The tree of a regular expression that compiles."""
    parser: Any = import_module("re._parser")
    parsed = parser.parse(text)
    return _row(parsed, parsed.state.flags)


def _row(items: Any, flags: int) -> Node:
    parts = tuple(_part(str(operation), value, flags) for operation, value in items)
    return parts[0] if len(parts) == 1 else Sequence(parts)


def _part(operation: str, value: Any, flags: int) -> Node:
    match operation:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return _one(operation, value, flags)
        case "AT":
            return _edge(str(value), flags)
        case "BRANCH":
            return Choice(tuple(_row(option, flags) for option in value[1]))
        case "SUBPATTERN":
            _, added, removed, inner = value
            return _row(inner, (flags | added) & ~removed)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return _repeat(operation, value, flags)
        case "ASSERT" | "ASSERT_NOT":
            return Look(_row(value[1], flags), value[0] < 0, operation == "ASSERT_NOT")
        case "ATOMIC_GROUP":
            return Own(_row(value, flags))
        case "GROUPREF_EXISTS":
            _, yes, no = value
            return Own(Choice((_row(yes, flags), _row(no or [], flags))))
        case "GROUPREF":
            return Own()
        case "FAILURE":
            return Choice(())
        case _:
            # a later Python's news: no harm where it costs nothing, refused beside repetitions
            return Own(Repeat(Sequence(()), 0, None))


def _repeat(operation: str, value: Any, flags: int) -> Node:
    least, most, inner = value
    unlimited = most == import_module("re._constants").MAXREPEAT
    repeat = Repeat(_row(inner, flags), least, None if unlimited else most)
    return Own(repeat) if operation == "POSSESSIVE_REPEAT" else repeat


@lru_cache(maxsize=4096)
def _alone(source: str, flags: int) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(source, flags & _KEPT)


def _edge(name: str, flags: int) -> Edge:
    edge = _alone(_EDGES[name], flags)
    start = name == "AT_BEGINNING_STRING" or (name == "AT_BEGINNING" and not flags & re.MULTILINE)
    return Edge(lambda text: (found.start() for found in edge.finditer(text)), start)


def _one(operation: str, value: Any, flags: int) -> One:
    items = {"LITERAL": [("LITERAL", value)], "NOT_LITERAL": [("NEGATE", None), ("LITERAL", value)], "IN": value}
    source, borders = _set(items[operation]) if operation in items else (".", [ord("\n")])
    test = _alone(source, flags).fullmatch
    around = {chr(point) for border in borders for point in (border - 1, border, border + 1) if 0 <= point <= LAST}
    if flags & re.IGNORECASE:
        around |= {case for c in around for case in (c.lower(), c.upper()) if len(case) == 1}
    letter = ""
    if operation == "LITERAL":
        cases = {chr(value), chr(value).lower(), chr(value).upper()} if flags & re.IGNORECASE else {chr(value)}
        letter = "".join(sorted(case for case in cases if len(case) == 1))
    return One(lambda character: test(character) is not None, "".join(sorted(around)), letter)


def _set(items: Any) -> tuple[str, list[int]]:
    """A class of characters as text, and the ends of its ranges."""
    inner, borders = "", []
    for operation, value in items:
        match str(operation):
            case "NEGATE":
                inner += "^"
            case "LITERAL":
                inner += _member(value)
                borders.append(value)
            case "RANGE":
                inner += f"{_member(value[0])}-{_member(value[1])}"
                borders += value
            case "CATEGORY":
                inner += _CATEGORIES[str(value)]
    return f"[{inner}]", borders


def _member(point: int) -> str:
    return f"\\U{point:08x}"
