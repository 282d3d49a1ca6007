"""Normalisation rules: what a suite writes for a path, compiled, and applied to one leaf.

A list of rules composes from left to right. Rules for text (``trim``, ``fold``, ``upper``, ``lower``, ``path``,
``text``) turn a string into a string. Typed rules (``date``, ``datetime``, ``number``, ``unit``, ``url``) recognise
some strings and leave the others alone; where a list has typed rules only, what none of them recognises falls back
to the default rules for strings. ``exact`` removes every string rule before it, the default ones included. The other
rules say how a value takes part (``ignore``, ``unordered``, ``set``, ``default``, ``null_is_missing``) and leave the
string rules as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from tracelens.errors import SuiteError, did_you_mean
from tracelens.kernels.reference import locations, strings
from tracelens.kernels.reference.decimal_form import decimal_form, is_number, number_text, rounded
from tracelens.kernels.reference.times import calendar_date, instant, load_zone
from tracelens.kernels.reference.units import find_unit, load_unit, quantity_pair, quantity_text
from tracelens.kernels.reference.values import Value, is_array, is_object, number_form, plain_text, quote


class Leaf(NamedTuple):
    """The canonical form of a value that is compared as one.

    Attributes:
        kind: ``null``, ``boolean``, ``number``, ``string``, ``instant`` or ``quantity``; different kinds never equal.
        text: Canonical text; of a number its canonical form, of a string the string itself.
    """

    kind: str
    text: str

    @property
    def json(self) -> str:
        """The leaf as JSON text, as tables show it; an instant and a quantity are shown as strings."""
        if self.kind == "number":
            return number_text(self.text)
        return self.text if self.kind in {"null", "boolean"} else quote(self.text)


class Step(NamedTuple):
    """One string rule with its argument, all of it hashable."""

    name: str
    argument: str | int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """The compiled rules of one path.

    Attributes:
        steps: String rules from left to right; None for the default ones.
        ignore: Whether the value takes no part in matching.
        array: How an array compares: ``ordered``, ``unordered`` (multiset) or ``set``.
        null_is_missing: Whether null equals missing.
        default: JSON text of the value that missing equals; None without one.
        schema_default: Whether the schema's own default is to be looked up.
        abs_tol: Absolute tolerance between numbers.
        rel_tol: Relative tolerance between numbers.
    """

    steps: tuple[Step, ...] | None = None
    ignore: bool = False
    array: str = "ordered"
    null_is_missing: bool = False
    default: str | None = None
    schema_default: bool = False
    abs_tol: Fraction = Fraction(0)
    rel_tol: Fraction = Fraction(0)

    @property
    def has_relation(self) -> bool:
        """Whether equality is a tolerance, which no digest can express."""
        return self.abs_tol > 0 or self.rel_tol > 0

    @property
    def is_whole(self) -> bool:
        """Whether a container under this rule is one leaf in a list of differences."""
        return self.ignore or self.array != "ordered" or bool(self.steps)


DEFAULT = Rule()
"""No rule of a suite, no format of a schema."""

EXACT = Rule(steps=())
"""Strings as they are."""

_TEXT: dict[str, Callable[[str], str]] = {
    "trim": strings.trim,
    "fold": strings.fold,
    "upper": strings.upper,
    "lower": strings.lower,
    "path": locations.path,
    "text": strings.text,
}


def _date(text: str, _: str | int | None) -> Leaf | None:
    found = calendar_date(text)
    return None if found is None else Leaf("string", found)


def _datetime(text: str, zone: str | int | None) -> Leaf | None:
    found = instant(text, None if zone is None else str(zone))
    return None if found is None else Leaf("instant", found)


def _url(text: str, _: str | int | None) -> Leaf | None:
    found = locations.url(text)
    return None if found is None else Leaf("string", found)


def _number(text: str, decimals: str | int | None) -> Leaf | None:
    text = strings.trim(text)
    if not is_number(text):
        return None
    form = decimal_form(text)
    return Leaf("number", form if decimals is None else rounded(form, int(decimals)))


def _plain_number(text: str, decimals: str | int | None) -> Leaf | None:
    return None if "e" in text.casefold() else _number(text, decimals)


def _unit(text: str, unit: str | int | None) -> Leaf | None:
    found = quantity_text(text, load_unit(str(unit)))
    return None if found is None else Leaf("quantity", found)


_TYPED: dict[str, Callable[[str, str | int | None], Leaf | None]] = {
    "date": _date,
    "datetime": _datetime,
    "url": _url,
    "number": _number,
    # A number rule on a property that its schema declares a string: there 1e3 is a name, and stays one.
    "plain_number": _plain_number,
    "unit": _unit,
}
_STRUCTURAL = ("exact", "unordered", "set", "ignore", "default", "null_is_missing")
RULES = (*_TEXT, *(name for name in _TYPED if name != "plain_number"), *_STRUCTURAL)
"""Every rule a suite may name."""

FORMATS = {"date": Rule(steps=(Step("date"),)), "date-time": Rule(steps=(Step("datetime"),))}
"""Rules that a string format of a JSON Schema brings along. ``uuid`` needs none: the default rules ignore case."""


def compile_rule(given: Any, where: str = "") -> Rule:
    """The compiled form of what a suite writes for a path.

    Args:
        given: A rule name, ``{rule = argument}``, or a list of them.
        where: The place in the suite, for errors.

    Returns:
        The rule.

    Raises:
        SuiteError: An unknown rule, unit or zone, or an argument of the wrong kind.

    Example:
        >>> compile_rule(["trim", "upper"]).steps
        (Step(name='trim', argument=None), Step(name='upper', argument=None))
        >>> compile_rule("fodl")
        Traceback (most recent call last):
        tracelens.errors.SuiteError: unknown rule 'fodl'. Hint: did you mean 'fold'?
    """
    rule = DEFAULT
    for item in given if isinstance(given, Sequence) and not isinstance(given, str) else [given]:
        name, argument = _name_and_argument(item, where)
        try:
            rule = _extend(rule, name, argument)
        except (ValueError, TypeError, KeyError) as error:
            raise SuiteError(f"rule {name!r}: {error}", where=where) from None
    return rule


def _name_and_argument(item: Any, where: str) -> tuple[str, Any]:
    if isinstance(item, Mapping) and len(item) == 1:
        name, argument = next(iter(item.items()))
    else:
        name, argument = item, None
    if not isinstance(name, str) or name not in RULES:
        hint = did_you_mean(str(name), RULES) or f"one of {', '.join(RULES)}"
        raise SuiteError(f"unknown rule {name!r}", where=where, hint=hint)
    return name, argument


def _extend(rule: Rule, name: str, argument: Any) -> Rule:
    """The rule with one more rule behind it."""
    before = rule.steps or ()
    if name == "exact":
        return dataclasses.replace(rule, steps=())
    if name == "ignore":
        return dataclasses.replace(rule, ignore=True)
    if name == "null_is_missing":
        return dataclasses.replace(rule, null_is_missing=True)
    if name in {"unordered", "set"}:
        return dataclasses.replace(rule, array=name)
    if name == "default":
        if argument.get("schema") is True:
            return dataclasses.replace(rule, schema_default=True)
        return dataclasses.replace(rule, default=plain_text(argument["value"]))
    if name == "number":
        given = argument or {}
        absolute, relative = (Fraction(str(given.get(key, 0))) for key in ("abs_tol", "rel_tol"))
        rule = dataclasses.replace(rule, abs_tol=absolute, rel_tol=relative)
        argument = given.get("decimals")
    if name == "unit":
        load_unit(argument)
    if name == "datetime" and argument is not None:
        load_zone(argument)
    # `exact` leaves an empty list behind; a first typed rule after it must not bring the default rules back.
    if rule.steps == () and name in _TYPED:
        return dataclasses.replace(rule, steps=(Step("exact"), Step(name, argument)))
    return dataclasses.replace(rule, steps=(*before, Step(name, argument)))


def canonical_leaf(value: Value, rule: Rule) -> Leaf | None:
    """The canonical form of a value under a rule, where it is compared as one.

    Args:
        value: A scalar, or a container that a ``unit`` rule may read as a value and its unit.
        rule: The rules of its path.

    Returns:
        The leaf; None for a container that is compared by its parts.

    Example:
        >>> canonical_leaf(" 2026-11-02T08:00 ", compile_rule("date"))
        Leaf(kind='string', text='2026-11-02')
        >>> canonical_leaf("Soon", compile_rule("date")), canonical_leaf("Soon", EXACT)
        (Leaf(kind='string', text='soon'), Leaf(kind='string', text='Soon'))
    """
    if value is None:
        return Leaf("null", "null")
    if isinstance(value, bool):
        return Leaf("boolean", "true" if value else "false")
    form = number_form(value)
    if form is not None:
        return Leaf("number", _rounded(form, rule))
    if isinstance(value, str):
        return _string(value, rule)
    return _pair(value, rule)


def _rounded(form: str, rule: Rule) -> str:
    for step in rule.steps or ():
        if step.name in {"number", "plain_number"} and step.argument is not None:
            form = rounded(form, int(step.argument))
    return form


def _pair(value: Value, rule: Rule) -> Leaf | None:
    for step in rule.steps or ():
        unit = find_unit(str(step.argument)) if step.name == "unit" else None
        found = quantity_pair(value, unit) if unit is not None and (is_object(value) or is_array(value)) else None
        if found is not None:
            return Leaf("quantity", found)
    return None


def _string(text: str, rule: Rule) -> Leaf:
    if rule.steps is None:
        return Leaf("string", strings.default_string(text))
    leaf, settled = Leaf("string", text), not rule.steps
    for step in rule.steps:
        if leaf.kind != "string":
            break
        if step.name in _TYPED:
            found = _TYPED[step.name](leaf.text, step.argument)
            leaf, settled = found or leaf, settled or found is not None
        else:
            settled = True
            leaf = Leaf("string", _TEXT[step.name](leaf.text)) if step.name in _TEXT else leaf
    return leaf if settled else Leaf("string", strings.default_string(leaf.text))
