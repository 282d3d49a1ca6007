"""What a schema says about a call, by definition: the ``jsonschema`` library, and the few documented deviations.

Deviations: regular expressions follow ECMA-262, ``multipleOf`` is decided on exact decimals, and a text with a number
beyond double range must not be asked about (whoever reads the arguments has reported it already).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tracelens.rungs.schema.decimals import loads
from tracelens.rungs.schema.drafts import draft_of, format_checker
from tracelens.rungs.schema.quick import surely_valid
from tracelens.rungs.schema.walk import Place, Unusable, new_validator, walk

_ROOM = threading.Lock()


class CannotCheckError(Exception):
    """The library raised on a schema that its metaschema allows; the message is the library's."""


class SchemaError(NamedTuple):
    """One error of one instance.

    Attributes:
        keyword: Keyword that failed; None where the schema is simply ``false``.
        path: Members and indices from the root of the instance.
        message: The library's message.
        instance: The value that failed.
    """

    keyword: str | None
    path: tuple[str | int, ...]
    message: str
    instance: Any


@dataclass(frozen=True)
class CompiledSchema:
    """A schema that was looked at once.

    Attributes:
        schema: The schema.
        usable: Whether calls can be checked against it.
        reason: Why not; empty where it is usable.
        draft: Validator class of its draft.
        validator: Validator of the whole schema; None where it is not usable.
        places: Every schema it reaches.
    """

    schema: Any
    usable: bool
    reason: str
    draft: Any
    validator: Any = None
    places: tuple[Place, ...] = ()


def compile_schema(schema: Any, *, formats: bool = True) -> CompiledSchema:
    """Look at a schema: is it valid under its draft, do its references resolve, are its patterns ECMA-262?

    Args:
        schema: A JSON Schema as Python objects; the draft is that of ``$schema``, 2020-12 without one.
        formats: Whether ``format`` is checked.

    Returns:
        The compiled schema; ``usable`` is false and ``reason`` says why where calls cannot be checked against it.

    Example:
        >>> compile_schema({"type": "object"}).usable
        True
        >>> compile_schema({"properties": {"a": {"$ref": "#/$defs/A"}}}).reason
        "$ref '#/$defs/A' at #/properties/a does not resolve"
    """
    draft = draft_of(schema)
    try:
        if not isinstance(schema, (dict, bool)):
            raise Unusable(f"a schema is an object or a boolean, not {type(schema).__name__}")
        _check(draft, schema, "#")
        validator = new_validator(draft, schema, format_checker(draft) if formats else None)
        places = walk(draft, validator)
        for place in places:
            # What only a reference reaches may stand where the metaschema does not look.
            if place.referred and not _covered(place):
                _check(place.draft, place.schema, place.pointer)
    except Unusable as error:
        return CompiledSchema(schema, usable=False, reason=str(error), draft=draft)
    return CompiledSchema(schema, usable=True, reason="", draft=draft, validator=validator, places=tuple(places))


def _covered(place: Place) -> bool:
    """Whether the metaschema has looked at the target of a reference already."""
    homes = ("$defs", "definitions") if "unevaluatedItems" in place.draft.VALIDATORS else ("definitions",)
    parts = place.pointer.split("/")
    return len(parts) == 3 and parts[0] == "#" and parts[1] in homes


def _check(draft: Any, schema: Any, pointer: str) -> None:
    from jsonschema.exceptions import SchemaError as Invalid

    if surely_valid(draft.ID_OF(draft.META_SCHEMA).rstrip("#"), schema):
        return
    try:
        draft.check_schema(schema, format_checker=format_checker(draft))
    except Invalid as error:
        inside = "".join(f"/{part}" for part in error.absolute_path)
        why = f": {error.cause}" if error.cause else ""
        raise Unusable(f"not a valid schema at {pointer}{inside}: {error.message}{why}") from None
    except RecursionError:
        raise Unusable(f"the schema at {pointer} is nested too deeply") from None


def validate(compiled: CompiledSchema, text: str | bytes) -> list[SchemaError]:
    """The errors of one instance.

    Args:
        compiled: A usable schema.
        text: JSON text, with no number beyond double range.

    Returns:
        One entry per error, in the library's order; empty for a valid instance.

    Raises:
        CannotCheckError: The library itself failed.

    Example:
        >>> found = validate(compile_schema({"properties": {"n": {"multipleOf": 0.01}}}), '{"n": 4.021}')
        >>> found[0].keyword, found[0].path, found[0].message
        ('multipleOf', ('n',), '4.021 is not a multiple of 0.01')
    """

    def run() -> list[SchemaError]:
        errors = compiled.validator.iter_errors(loads(text))
        return [SchemaError(each.validator, tuple(each.absolute_path), each.message, each.instance) for each in errors]

    try:
        try:
            return run()
        except RecursionError:
            return _with_room(run)
    except Exception as error:
        raise CannotCheckError(f"{type(error).__name__}: {error}") from error


def _with_room(run: Callable[[], list[SchemaError]]) -> list[SchemaError]:
    """Run a deep recursion in a thread with a large stack; the library needs several frames per level."""
    out: list[list[SchemaError] | Exception] = []

    def target() -> None:
        try:
            out.append(run())
        except Exception as error:  # noqa: BLE001 - raised again by whoever waits
            out.append(error)

    with _ROOM:
        limit, size = sys.getrecursionlimit(), threading.stack_size(512 * 2**20)
        try:
            sys.setrecursionlimit(200_000)
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        finally:
            threading.stack_size(size)
            sys.setrecursionlimit(limit)
    if isinstance(out[0], Exception):
        raise out[0]
    return out[0]
