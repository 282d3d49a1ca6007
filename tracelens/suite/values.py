"""Types of single values in a suite file, with their part of the editor's JSON Schema."""

from __future__ import annotations

import datetime as dt
import json
import math
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    WithJsonSchema,
)

from tracelens.errors import TraceLensError, did_you_mean
from tracelens.suite.matchers import check_matchers, pattern
from tracelens.suite.names import CODE_FAMILIES, PLAIN_RULES
from tracelens.suite.rules import RefusedError, check_rules, json_value


class Block(BaseModel):
    """Base of all tables of a suite file: frozen, closed, and strict about types."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


def path_key(text: str) -> str:
    """A key that is a path into arguments, after a look at its syntax.

    Raises:
        RefusedError: It does not parse.

    Example:
        >>> path_key("passengers[*].name")
        'passengers[*].name'
    """
    from tracelens.kernels.reference.paths import parse_path

    try:
        parts = parse_path(text)
    except (ValueError, TraceLensError) as error:
        raise RefusedError(f"{text!r} is no path: {error}", 'paths look like a.b, a[*].b or "a.b".c') from None
    if not parts:
        raise RefusedError("an empty path", "name an argument")
    return text


def _text(value: Any) -> Any:
    """Whole numbers as text, because case ids are compared as text."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _filled(value: str) -> str:
    if not value:
        raise RefusedError("should not be empty")
    return value


def _code(value: str) -> str:
    family, dot, rest = value.partition(".")
    if family not in CODE_FAMILIES or not dot or not rest:
        hint = did_you_mean(family, CODE_FAMILIES) or f"codes start with one of {', '.join(CODE_FAMILIES)}, and a dot"
        raise RefusedError(f"no findings have the code {value!r}", hint)
    return value


def _day(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            raise RefusedError(f"{value!r} is no date", "write 2026-12-31, without quotes") from None
    return value


def schema_value(value: Any) -> Any:
    """A JSON Schema, given as a table or as a JSON string.

    Returns:
        The schema as a dictionary, keys in the order written.

    Raises:
        RefusedError: It is no JSON object.

    Example:
        >>> schema_value('{"type": "object"}')
        {'type': 'object'}
    """
    if isinstance(value, str):
        try:
            value = json.loads(value, parse_constant=_constant)
        except ValueError as error:
            raise RefusedError(f"the JSON text of the schema cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise RefusedError("a schema should be a table or a JSON string that holds an object")
    return json_value(value, depth=math.inf)


def _constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_RULE_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"enum": list(PLAIN_RULES)},
        {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": {
                "datetime": {"type": "string", "description": "Time zone of naive times."},
                "number": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "abs_tol": {"type": "number", "minimum": 0},
                        "rel_tol": {"type": "number", "minimum": 0},
                        "decimals": {"type": "integer", "minimum": 0},
                    },
                },
                "unit": {"type": "string"},
                "default": {
                    "type": "object",
                    "additionalProperties": False,
                    "minProperties": 1,
                    "maxProperties": 1,
                    "properties": {"value": {}, "schema": {"const": True}},
                },
            },
        },
    ]
}
RULE_SCHEMA: dict[str, Any] = {
    "description": "A normalisation rule, or a list of rules that apply in order.",
    "anyOf": [*_RULE_SCHEMA["anyOf"], {"type": "array", "minItems": 1, "items": _RULE_SCHEMA}],
}
"""What an editor offers where rules stand."""

Names = Annotated[tuple[str, ...], Strict(False)]
"""A list of strings."""

Name = Annotated[str, AfterValidator(_filled)]
"""A string that is not empty."""

CaseId = Annotated[str, BeforeValidator(_text, json_schema_input_type=str | int)]
"""A case id: text; a whole number is read as its text."""

Pattern = Annotated[str, AfterValidator(pattern)]
"""A Python regular expression."""

Json = Annotated[Any, BeforeValidator(json_value)]
"""Any value that JSON can express."""

Matchable = Annotated[dict[str, Any], BeforeValidator(json_value), AfterValidator(check_matchers)]
"""Expected arguments: values or matchers by name."""

PathKey = Annotated[str, AfterValidator(path_key)]
"""A path into arguments."""

Rules = Annotated[Any, PlainValidator(check_rules), WithJsonSchema(RULE_SCHEMA)]
"""Normalisation rules as given (see `rule_list`)."""

Schema = Annotated[
    dict[str, Any],
    BeforeValidator(schema_value),
    WithJsonSchema({"description": "A JSON Schema, as a table or as a JSON string.", "type": ["object", "string"]}),
]
"""A JSON Schema."""

Code = Annotated[str, AfterValidator(_code)]
"""A finding code."""

Day = Annotated[dt.date, BeforeValidator(_day)]
"""A calendar date."""

Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""A whole number from 0, of at most 64 bits."""

Positive = Annotated[int, Field(ge=1, le=2**63 - 1)]
"""A whole number from 1, of at most 64 bits."""

Amount = Annotated[float, Field(ge=0)]
"""A number from 0."""
