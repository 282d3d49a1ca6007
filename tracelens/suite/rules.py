"""The syntax of normalisation rules: a name, ``{rule = argument}``, or a list of them."""

from __future__ import annotations

import math
from typing import Any

from tracelens.errors import SuiteError, did_you_mean
from tracelens.kernels.reference.values import MAX_DEPTH
from tracelens.suite.names import ARGUMENT_RULES, PLAIN_RULES, RULES

_TOLERANCES = ("abs_tol", "rel_tol", "decimals")


class RefusedError(ValueError):
    """A value the suite cannot hold, with advice; pydantic turns it into a problem with its place."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def json_value(value: Any, *, depth: float = MAX_DEPTH) -> Any:
    """The value, after a look whether JSON can express it.

    Args:
        value: The value.
        depth: Containers that may be nested; by default as many as in the arguments of a call.

    Raises:
        RefusedError: A date, NaN, infinity or another thing that JSON does not have, or too many nested containers.

    Example:
        >>> json_value({"a": [1, 2.5, None]})
        {'a': [1, 2.5, None]}
    """
    if depth < isinstance(value, dict | list | tuple):
        raise RefusedError(f"nested deeper than {MAX_DEPTH} containers", "no call's arguments are")
    if isinstance(value, float) and not math.isfinite(value):
        raise RefusedError(f"{value} is no JSON value", "JSON has neither NaN nor infinity")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise RefusedError(f"key {key!r} is no string")
            json_value(item, depth=depth - 1)
    elif isinstance(value, list | tuple):
        for item in value:
            json_value(item, depth=depth - 1)
    elif value is not None and not isinstance(value, str | int | float):
        raise RefusedError(f"{value} is no JSON value", "write dates and times as strings, in quotes")
    return value


def rule_list(value: Any) -> tuple[tuple[str, Any], ...]:
    """The rules of one path as (name, argument) pairs.

    Args:
        value: What the suite says: a rule name, ``{rule = argument}`` or a list of them.

    Returns:
        One pair per rule, in the order given; the argument is None where the rule has none.

    Raises:
        RefusedError: An unknown rule, or an argument of the wrong kind.

    Example:
        >>> rule_list("fold")
        (('fold', None),)
        >>> rule_list(["trim", {"unit": "km"}])
        (('trim', None), ('unit', 'km'))
    """
    if isinstance(value, list | tuple):
        if not value:
            raise RefusedError("an empty list of rules", 'write "exact" to compare values as they are')
        return tuple(_one_rule(item) for item in value)
    return (_one_rule(value),)


def check_rules(value: Any) -> Any:
    """The value as given, after a look at its syntax, and whether it compiles.

    Raises:
        RefusedError: See `rule_list`.
    """
    from tracelens.kernels.reference.rules import compile_rule

    rule_list(value)
    try:
        compile_rule(value)
    except SuiteError as error:
        raise RefusedError(error.message, error.hint) from None
    return value


def _one_rule(value: Any) -> tuple[str, Any]:
    if isinstance(value, str):
        return _plain_rule(value), None
    if not isinstance(value, dict):
        raise RefusedError(f"{value!r} is no rule", "write a rule name, {rule = argument}, or a list of them")
    if len(value) != 1:
        raise RefusedError("a rule table needs exactly one rule", "put several rules in a list")
    (name, argument), *_ = value.items()
    if name not in RULES:
        raise RefusedError(f"unknown rule {name!r}", did_you_mean(str(name), RULES) or _choices(RULES))
    if name not in ARGUMENT_RULES:
        raise RefusedError(f"rule {name!r} takes no argument", f'write "{name}"')
    _ARGUMENTS[name](argument)
    return name, argument


def _plain_rule(name: str) -> str:
    if name in PLAIN_RULES:
        return name
    if name == "unit":
        raise RefusedError("rule 'unit' needs a unit", 'write {unit = "km"}')
    if name == "default":
        raise RefusedError(
            "rule 'default' needs a value", "write {default = {value = …}} or {default = {schema = true}}"
        )
    raise RefusedError(f"unknown rule {name!r}", did_you_mean(name, RULES) or _choices(RULES))


def _choices(names: tuple[str, ...]) -> str:
    return "one of " + ", ".join(names)


def _zone(argument: Any) -> None:
    from tracelens.kernels.reference.times import load_zone

    if not isinstance(argument, str):
        raise RefusedError("rule 'datetime' takes the name of a time zone", 'write {datetime = "Europe/Berlin"}')
    try:
        load_zone(argument)
    except ValueError as error:
        from zoneinfo import available_timezones

        near = did_you_mean(argument, sorted(available_timezones()))
        raise RefusedError(str(error), near or 'write {datetime = "Europe/Berlin"}') from None


def _number(argument: Any) -> None:
    if not isinstance(argument, dict):
        raise RefusedError("rule 'number' takes a table", "write {number = {abs_tol = 0.01}}")
    for key, value in argument.items():
        if key not in _TOLERANCES:
            raise RefusedError(
                f"rule 'number' has no {key!r}", did_you_mean(str(key), _TOLERANCES) or _choices(_TOLERANCES)
            )
        whole = key == "decimals"
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise RefusedError(
                f"{key} of rule 'number' should be {'an integer' if whole else 'a number'}, not {value!r}"
            )
        if not 0 <= value < math.inf:
            raise RefusedError(f"{key} of rule 'number' should be 0 or more, not {value!r}")


def _unit(argument: Any) -> None:
    from tracelens.kernels.reference.units import load_unit

    if not isinstance(argument, str):
        raise RefusedError("rule 'unit' takes the name of a unit", 'write {unit = "km"}')
    try:
        load_unit(argument)
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _default(argument: Any) -> None:
    if not isinstance(argument, dict) or set(argument) not in ({"value"}, {"schema"}):
        raise RefusedError(
            "rule 'default' takes one of value and schema", "write {default = {value = …}} or {schema = true}"
        )
    if "schema" in argument and argument["schema"] is not True:
        raise RefusedError("schema of rule 'default' can only be true", "leave the rule out to switch it off")
    json_value(argument.get("value"))


_ARGUMENTS = {"datetime": _zone, "number": _number, "unit": _unit, "default": _default}
