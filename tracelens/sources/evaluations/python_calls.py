"""Calls that a model wrote as Python: ``[f(a=1), g.h(b="x")]``. The text is parsed and never run.

Values are literals. A bare word is the text that it is, because models leave quotes out; so is any other expression.
A tuple is a list. Arguments without names belong to no parameter that the file names, so they stand as they are written.
"""

from __future__ import annotations

import ast
import json
import math
import re
import threading
import warnings
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from tracelens.columns import JSON_STRING, JSON_VALUE

BEGINS = re.compile(r"(?P<list>\[?)\s*(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)\s*\((?P<rest>.*)", re.DOTALL)
FENCE = re.compile(r"\A```\w*\n|\n?```\Z")
AROUND = "` \t\r\n"

_QUIET = threading.Lock()


class PythonCall(NamedTuple):
    """One call.

    Attributes:
        name: The function, with what stands before its dots; None for an entry of a list that is no call.
        arguments: A JSON object, or what stands between the brackets where that makes none.
        form: How they are held, see `tracelens.columns`.
    """

    name: str | None
    arguments: str
    form: int


def calls_in(text: str) -> list[PythonCall] | None:
    """The calls that a text is; None where it is no list of calls, but words.

    A list that begins with a call and cannot be read is one call whose arguments are broken.

    Example:
        >>> [(call.name, call.arguments) for call in calls_in("[geo.find(name='Ulm', near=[1, (2, None)]), stop()]")]
        [('geo.find', '{"name": "Ulm", "near": [1, [2, null]]}'), ('stop', '{}')]
        >>> calls_in("I cannot do that.") is None, calls_in("[]")
        (True, [])
        >>> calls_in("[book(seat=")
        [PythonCall(name='book', arguments='seat=', form=3)]
    """
    body = FENCE.sub("", text.strip()).strip(AROUND)
    begun = BEGINS.match(body)
    if begun is None:
        return [] if body == "[]" else None
    try:
        tree = _parsed(body).body
        entries = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
        if any(isinstance(each, ast.Call) for each in entries):
            return [_call(each, body) for each in entries]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return [PythonCall(begun["name"], begun["rest"], JSON_STRING)] if begun["list"] else None


def _parsed(body: str) -> ast.Expression:
    if "\\" not in body:
        return ast.parse(body, mode="eval")
    with _QUIET, warnings.catch_warnings():  # of escapes that Python does not know
        warnings.simplefilter("ignore")
        return ast.parse(body, mode="eval")


def _call(node: ast.expr, body: str) -> PythonCall:
    name = _dotted(node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or name is None:
        return PythonCall(None, _written(node, body), JSON_STRING)
    if not node.args and all(keyword.arg is not None for keyword in node.keywords):
        members = {str(keyword.arg): _value(keyword.value, body) for keyword in node.keywords}
        with suppress(UnicodeEncodeError):  # half a character
            return PythonCall(name, json.dumps(members, ensure_ascii=False).encode().decode(), JSON_VALUE)
    inside = ", ".join(_written(each, body) for each in (*node.args, *node.keywords))
    return PythonCall(name, inside, JSON_STRING)


def _dotted(node: ast.expr) -> str | None:
    """A name with its dots; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return None if before is None else f"{before}.{node.attr}"
    return None


def _value(node: ast.expr, body: str) -> Any:
    """What JSON has for an expression."""
    match node:
        case ast.Constant(value=bool() | int() | str() | None as plain):
            return plain
        case ast.Constant(value=float() as number) if math.isfinite(number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if math.isfinite(number):
            return -number
        case ast.List(elts=inner) | ast.Tuple(elts=inner):
            return [_value(each, body) for each in inner]
        case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
            return {_key(key): _value(value, body) for key, value in zip(_constants(keys), values, strict=True)}
    return _written(node, body)


def _constants(keys: Iterable[ast.expr | None]) -> list[ast.Constant]:
    return [key for key in keys if isinstance(key, ast.Constant)]


def _key(key: ast.Constant) -> str:
    return key.value if isinstance(key.value, str) else json.dumps(key.value, default=str)


def _written(node: ast.AST, body: str) -> str:
    """The text of a part, as it is written."""
    return ast.get_source_segment(body, node) or ast.unparse(node)
