"""The validators of ``jsonschema``, one per draft, with the deviations that TraceLens documents.

Regular expressions follow ECMA-262, ``multipleOf`` is exact, no reference is ever fetched. Everything else, messages
included, is the library's own code: its functions are bound to other globals, not rewritten.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from tracelens.library import load
from tracelens.rungs.schema.decimals import is_multiple
from tracelens.rungs.schema.ecma import compile_pattern

LATEST = "https://json-schema.org/draft/2020-12/schema"


class _EcmaSearch:
    """Stands in for the module ``re`` inside the library's functions."""

    @staticmethod
    def search(pattern: str, text: str) -> bool:
        return compile_pattern(pattern)(text)


def _additional(instance: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    """The members that neither ``properties`` nor ``patternProperties`` speak of; each pattern on its own."""
    found = [compile_pattern(pattern) for pattern in schema.get("patternProperties", {})]
    named = schema.get("properties", {})
    for member in instance:
        if member not in named and not any(matches(member) for matches in found):
            yield member


def _multiple_of(validator: Any, unit: float, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ARG001 - fixed by the library
    from jsonschema.exceptions import ValidationError

    if validator.is_type(instance, "number") and not is_multiple(instance, unit):
        yield ValidationError(f"{instance!r} is not a multiple of {unit}")


def _rebound(function: Any, **names: Any) -> Any:
    """The same code with some of its module's names replaced."""
    clone = types.FunctionType(
        function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__
    )
    # A function that calls itself must meet its own clone.
    clone.__globals__[function.__name__] = clone
    return clone


def _keywords(library: Any) -> dict[str, Any]:
    """The keyword functions of a draft that must see ECMA-262 patterns or exact decimals."""
    from jsonschema import _legacy_keywords, _utils

    search = _EcmaSearch()
    evaluated = "find_evaluated_property_keys_by_schema"
    changed: dict[str, Any] = {}
    for keyword in ("pattern", "patternProperties"):
        changed[keyword] = _rebound(library[keyword], re=search)
    changed["additionalProperties"] = _rebound(library["additionalProperties"], find_additional_properties=_additional)
    if "unevaluatedProperties" in library:
        own = library["unevaluatedProperties"]
        home = _legacy_keywords if own.__module__ == _legacy_keywords.__name__ else _utils
        keys = _rebound(getattr(home, evaluated), re=search)
        changed["unevaluatedProperties"] = _rebound(own, **{evaluated: keys})
    for keyword in ("multipleOf", "divisibleBy"):
        if keyword in library:
            changed[keyword] = _multiple_of
    return changed


@cache
def drafts() -> dict[str, Any]:
    """The validator class of every draft by the ``$schema`` that names it (without an empty fragment).

    Example:
        >>> drafts()[LATEST].__name__
        'Draft202012Validator'
    """
    load()
    from jsonschema import validators

    originals = [
        validators.Draft3Validator,
        validators.Draft4Validator,
        validators.Draft6Validator,
        validators.Draft7Validator,
        validators.Draft201909Validator,
        validators.Draft202012Validator,
    ]
    own = {each: validators.extend(each, _keywords(each.VALIDATORS)) for each in originals}
    for original, extended in own.items():
        extended.evolve = _evolve_among(own, original)
        extended.__name__ = original.__name__
    return {each.ID_OF(each.META_SCHEMA).rstrip("#"): extended for each, extended in own.items()}


def _evolve_among(own: dict[Any, Any], original: Any) -> Callable[..., Any]:
    """The library's ``evolve``, which follows ``$schema`` in subschemas, made to stay among our classes."""
    from attrs import fields
    from jsonschema.validators import validator_for

    names = [(field.name, field.alias) for field in fields(original) if field.init]

    def evolve(self: Any, **changes: Any) -> Any:
        schema = changes.setdefault("schema", self.schema)
        for name, alias in names:
            if alias not in changes:
                changes[alias] = getattr(self, name)
        return own[validator_for(schema, default=original)](**changes)

    return evolve


def draft_of(schema: Any, default: Any = None) -> Any:
    """The validator class for a schema: that of its ``$schema``; else ``default``, the newest draft if not given.

    Example:
        >>> draft_of({"$schema": "http://json-schema.org/draft-07/schema#"}).__name__
        'Draft7Validator'
    """
    classes = drafts()
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(named, str) and named.rstrip("#") in classes:
        return classes[named.rstrip("#")]
    return default or classes[LATEST]


@cache
def format_checker(draft: Any) -> Any:
    """The draft's own format checker, where whatever a check raises means that the text does not conform.

    The library lets some of its helpers' errors through; a score must not depend on which. ``regex`` means ECMA-262,
    as JSON Schema asks, and as `pattern` is read.
    """
    from jsonschema import FormatChecker

    checker = FormatChecker(())
    for name, (function, _) in draft.FORMAT_CHECKER.checkers.items():
        checker.checkers[name] = (_is_ecma if name == "regex" else function, Exception)
    return checker


def _is_ecma(instance: object) -> bool:
    if isinstance(instance, str):
        compile_pattern(instance)
    return True
