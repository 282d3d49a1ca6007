r"""Writing the tree of an ECMA-262 pattern in the dialect of the ``regex`` library.

Nothing is left to the target's own meaning of ``\d``, ``\s``, ``.``, ``$`` or ``\b``: every set is written out.
"""

from __future__ import annotations

from tracelens.rungs.schema.ecma.syntax import (
    WORD,
    Back,
    Char,
    CharSet,
    Choice,
    Edge,
    Group,
    Look,
    Node,
    Property,
    Repeat,
    Sequence,
)

_WORD = "[0-9A-Z_a-z]"
_EDGES = {
    "start": r"\A",
    "end": r"\Z",
    "word": rf"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    "inside": rf"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}


def emit(node: Node) -> str:
    r"""The pattern of a tree for the ``regex`` library, version 0 behaviour, no flags.

    Example:
        >>> from tracelens.rungs.schema.ecma.parse import parse
        >>> emit(parse(r"^\d$"))
        '\\A[0-9]\\Z'
    """
    match node:
        case Char(point):
            return _point(point)
        case CharSet():
            return _set(node)
        case Sequence(parts):
            return "".join(emit(part) for part in parts)
        case Choice(options):
            return "(?:" + "|".join(emit(option) for option in options) + ")"
        case Repeat():
            return _repeat(node)
        case Group(part, _):
            return f"({emit(part)})"
        case Look(part, behind, negated):
            return f"(?{'<' if behind else ''}{'!' if negated else '='}{emit(part)})"
        case Back(number):
            # A group that has not taken part matches the empty text in ECMA-262, and nothing elsewhere.
            return f"(?({number})\\{number}|)"
        case Edge(kind):
            return _EDGES[kind]


def _repeat(node: Repeat) -> str:
    most = "" if node.most is None else str(node.most)
    bounds = f"{{{node.least},{most}}}"
    return f"(?:{emit(node.part)}){bounds}{'' if node.greedy else '?'}"


def _set(node: CharSet) -> str:
    if not node.ranges and not node.properties:
        return r"(?s:.)" if node.negated else r"(?!)"
    inner = "".join(_range(low, high) for low, high in node.ranges)
    inner += "".join(_property(each) for each in node.properties)
    return f"[{'^' if node.negated else ''}{inner}]"


def _range(low: int, high: int) -> str:
    return _point(low) if low == high else f"{_point(low)}-{_point(high)}"


def _property(each: Property) -> str:
    return rf"\{'P' if each.negated else 'p'}{{{each.name}}}"


def _point(point: int) -> str:
    if any(low <= point <= high for low, high in WORD):
        return chr(point)
    return f"\\U{point:08X}" if point > 0xFF else f"\\x{point:02X}"
