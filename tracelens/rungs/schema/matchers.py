"""Expected arguments against a schema, matchers among them: refused is only what no call could do right.

In place of each matcher stands a value that it accepts where there is one to take (``$optional``, ``$literal``, each
choice of ``$one_of``); where there is none (``$any``, ``$regex``, ``$range``) the place is free, and what a schema says
of it does not count. Neither does what a keyword says that looks at a whole value with a free place inside.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from tracelens.kernels.reference.matchers import looks_like_matcher
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.reference.values import Number, Value, parse
from tracelens.rungs.schema.truth import CompiledSchema, SchemaError, validate

_WHOLE = frozenset({
    "anyOf", "oneOf", "allOf", "not", "if", "contains", "uniqueItems", "enum", "const", "dependentSchemas",
    "unevaluatedProperties", "unevaluatedItems",
})  # fmt: skip
"""Keywords that look at a whole value: a free place anywhere inside leaves them open."""

_DEPENDS = frozenset({"if", "dependentSchemas", "dependencies"})
"""Keywords by which one part of a value decides what another one has to be."""

Place = tuple[str | int, ...]


class Plain(NamedTuple):
    """Expected arguments without their matchers.

    Attributes:
        text: JSON text with a value in place of each matcher; numbers as they were written.
        free: The places, as paths, where that value stands for what is not known.
        chosen: The places of ``$one_of``.
        choices: The largest number of choices there.
    """

    text: str
    free: tuple[str, ...]
    chosen: tuple[str, ...]
    choices: int

    def leaves_open(self, path: str, keyword: str | None, *, depends: bool = False) -> bool:
        """Whether an error may be the fault of the value that stands in a free place.

        Args:
            path: Where the error is.
            keyword: The keyword that failed; None where the schema is simply ``false``.
            depends: Whether parts of the schema hold under a condition, which a free place may or may not meet.
        """
        below = any(_leads_into(path, place) for place in self.free)
        above = (depends or keyword in _WHOLE) and any(_leads_into(place, path) for place in self.free)
        return below or above


def without_matchers(text: str, choice: int = 0) -> Plain:
    """Take the matchers out of expected arguments.

    Args:
        text: Their JSON text.
        choice: Which choice of ``$one_of`` to take, the last one where there are fewer.

    Example:
        >>> without_matchers('{"a": {"$one_of": [1.0, 2]}, "b": [{"$any": true}], "c": {"$literal": {"$any": 1}}}')
        Plain(text='{"a":1.0,"b":[null],"c":{"$any":1}}', free=('b[0]',), chosen=('a',), choices=2)
    """
    stripping = _Stripping(choice)
    plain = stripping.of(parse(text), ())
    return Plain(_text(plain), tuple(stripping.free), tuple(stripping.chosen), stripping.choices)


def refused(compiled: CompiledSchema, text: str) -> list[SchemaError]:
    """What a schema says against expected arguments.

    Args:
        compiled: A usable schema.
        text: Their JSON text, which may hold matchers, with no number beyond double range.

    Returns:
        Its errors; empty where some call that matches would be valid, or nobody can tell.

    Raises:
        CannotCheckError: The schema cannot be applied.

    Example:
        >>> from tracelens.rungs.schema.truth import compile_schema
        >>> schema = compile_schema({"properties": {"a": {"enum": [1, 2]}, "b": {"type": "string"}}})
        >>> [len(refused(schema, '{"a": {"$one_of": %s}, "b": {"$any": true}}' % each)) for each in ("[3, 2]", "[3]")]
        [0, 1]
    """
    if '"$' not in text:
        return validate(compiled, text)
    depends = any(isinstance(each.schema, dict) and not _DEPENDS.isdisjoint(each.schema) for each in compiled.places)
    plain = without_matchers(text)
    found = _errors(compiled, plain, depends=depends)
    bad = {place for place in plain.chosen if _any_into(place, found)}
    for choice in range(1, plain.choices if bad else 0):
        others = _errors(compiled, without_matchers(text, choice), depends=depends)
        bad = {place for place in bad if _any_into(place, others)}
    good = [place for place in plain.chosen if place not in bad]
    return [error for error in found if not any(_leads_into(render_path(error.path), place) for place in good)]


def _errors(compiled: CompiledSchema, plain: Plain, *, depends: bool) -> list[SchemaError]:
    errors = validate(compiled, plain.text)
    return [e for e in errors if not plain.leaves_open(render_path(e.path), e.keyword, depends=depends)]


def _any_into(place: str, errors: list[SchemaError]) -> bool:
    return any(_leads_into(render_path(error.path), place) for error in errors)


class _Stripping:
    """Takes matchers out of a value, and keeps what was met."""

    def __init__(self, choice: int) -> None:
        self.choice = choice
        self.choices = 0
        self.free: list[str] = []
        self.chosen: list[str] = []

    def of(self, value: Value, path: Place) -> Value:
        """The value without matchers."""
        if looks_like_matcher(value):
            (key, argument), *_ = value.items()
            return self._accepted(key, argument, path)
        if isinstance(value, dict):
            return {key: self.of(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self.of(item, (*path, index)) for index, item in enumerate(value)]
        return value

    def _accepted(self, key: str, argument: Value, path: Place) -> Value:
        """A value that a matcher accepts."""
        if key == "$literal":
            return argument
        if key == "$optional":
            return self.of(argument, path)
        if key == "$one_of":
            self.chosen.append(render_path(path))
            self.choices = max(self.choices, len(argument))
            return self.of(argument[min(self.choice, len(argument) - 1)], path)
        self.free.append(render_path(path))
        return None


def _text(value: Value) -> str:
    """A value as JSON text, numbers as they were written."""
    if isinstance(value, Number):
        return value.literal
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    return json.dumps(value)


def _leads_into(path: str, place: str) -> bool:
    """Whether a path leads to a place or into the value there."""
    return not place or path == place or path.startswith((f"{place}.", f"{place}["))
