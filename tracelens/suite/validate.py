"""From the keys of a suite to its model: what pydantic says, in the words and with the places of the suite file."""

from __future__ import annotations

import json
from typing import Any

import pydantic

from tracelens.errors import did_you_mean
from tracelens.suite import blocks
from tracelens.suite.model import SuiteFile
from tracelens.suite.places import KeyPath, Where
from tracelens.suite.problems import Problem, Problems
from tracelens.suite.rules import RefusedError

_CLASSES: tuple[tuple[tuple[str, ...], type[pydantic.BaseModel]], ...] = (
    ((), SuiteFile),
    (("tools", "*"), blocks.ToolEntry),
    (("agents", "*"), blocks.AgentEntry),
    (("agents", "*", "tools", "*"), blocks.ToolEntry),
    (("fields", "*", "*"), blocks.FieldCheck),
    (("answer",), blocks.Answer),
    (("match",), blocks.Match),
    (("match", "credit"), blocks.Credit),
    (("wrappers", "*"), blocks.Wrapper),
    (("milestones",), blocks.Milestones),
    (("milestones", "must_call", "*"), blocks.MustCall),
    (("invariants",), blocks.Invariants),
    (("safety",), blocks.Safety),
    (("safety", "patterns", "*"), blocks.SafetyPattern),
    (("state", "*"), blocks.StateCheck),
    (("check", "*"), blocks.OwnCheck),
    (("waive", "*"), blocks.Waiver),
    (("route",), blocks.Route),
    (("judge",), blocks.Judge),
    (("gate",), blocks.Gate),
)
"""Which class stands at which place, to name the nearest valid key."""

_KINDS = {
    "string_type": "a string", "bool_type": "true or false", "int_type": "a whole number", "float_type": "a number",
    "dict_type": "a table", "tuple_type": "a list", "model_type": "a table", "date_type": "a date",
    "model_attributes_type": "a table", "finite_number": "a finite number",
}  # fmt: skip


def validated(raw: dict[str, Any], where: Where, problems: Problems) -> SuiteFile:
    """The model of what is right; what is wrong is noted and cut out, so that later checks still run.

    Args:
        raw: The keys of a suite; changed where something is cut out.
        where: Makes places.
        problems: Where to note what is wrong.

    Returns:
        The model of the rest.
    """
    gone: list[KeyPath] = []
    while True:
        try:
            return SuiteFile.model_validate(raw)
        except pydantic.ValidationError as error:
            found = error.errors(include_url=False)
        if any(not item["loc"] for item in found):
            problems.add(where(()), "a suite should be a table")
            return SuiteFile()
        for item in found:
            location = where.original(item["loc"])
            if not any(cut[: len(location)] == location for cut in gone):  # else it is only missing what was cut
                problems.extend([_problem(item, where)])
        for culprit in sorted({_culprit(raw, item["loc"]) for item in found}, key=_from_the_end):
            gone.append(where.original(culprit))
            if _cut(raw, culprit):
                where.cut(gone[-1])


def _from_the_end(location: KeyPath) -> tuple[int, int]:
    """Deep entries first, and list elements from the last, so that cutting moves nothing that is still to be cut."""
    last = location[-1]
    return (-len(location), -last if isinstance(last, int) else 0)


def _culprit(raw: Any, location: KeyPath) -> KeyPath:
    """The part of a location that exists in the data."""
    out: list[str | int] = []
    for part in location:
        inside = (
            part in raw
            if isinstance(raw, dict)
            else isinstance(raw, list) and isinstance(part, int) and part < len(raw)
        )
        if not inside:
            break
        out.append(part)
        raw = raw[part]
    return tuple(out) or location[:1]


def _cut(raw: Any, location: KeyPath) -> bool:
    """Takes one entry out; whether it was still there."""
    try:
        for part in location[:-1]:
            raw = raw[part]
        del raw[location[-1]]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _problem(error: Any, where: Where) -> Problem:
    """One error of pydantic in our words."""
    location = tuple(part for part in error["loc"] if part != "[key]")
    kind, given = error["type"], error["input"]
    if kind == "extra_forbidden":
        known = _known_keys(location[:-1])
        hint = did_you_mean(str(location[-1]), known) or f"known are {', '.join(known)}"
        return Problem(where(location), f"unknown key {location[-1]!r}", hint)
    if kind == "missing":
        entry = isinstance(location[-1], int)
        missing = f"entry {location[-1] + 1} of the list" if entry else f"the key {location[-1]!r}"
        return Problem(where(location[:-1]), f"{missing} is missing")
    if kind == "value_error":
        cause = error["ctx"]["error"]
        return Problem(where(location), str(cause), cause.hint if isinstance(cause, RefusedError) else "")
    if kind == "literal_error":
        near = did_you_mean(str(given), error["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", "))
        return Problem(where(location), f"should be {error['ctx']['expected']}, not {given!r}", near)
    if kind in _KINDS:
        return Problem(where(location), f"should be {_KINDS[kind]}, not {_short(given)}")
    return Problem(where(location), f"{error['msg'].replace('Input should', 'should')}, not {_short(given)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _known_keys(location: KeyPath) -> list[str]:
    """The keys that may stand in the table at a place."""
    for pattern, model in _CLASSES:
        fits = len(pattern) == len(location) and all(
            want in ("*", part) for want, part in zip(pattern, location, strict=True)
        )
        if fits:
            return [item.alias or name for name, item in model.model_fields.items()]
    return []


def milestones_from(text: str) -> tuple[blocks.Milestones, list[Problem]]:
    """The milestones of one case, from the JSON text in the references file.

    Returns:
        The milestones that can be used, and what is wrong with the others.

    Example:
        >>> milestones, problems = milestones_from('{"must_call": ["book"], "max_steps": 3}')
        >>> milestones.must_call[0].tool, problems
        ('book', [])
    """
    problems = Problems()
    model = validated({"milestones": json.loads(text)}, Where(""), problems)
    return model.milestones or blocks.Milestones(), list(problems)
