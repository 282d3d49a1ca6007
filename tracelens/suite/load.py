"""From a TOML file to a suite, with every problem gathered on the way."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pydantic

from tracelens.errors import did_you_mean
from tracelens.suite import blocks
from tracelens.suite.checks import check_names
from tracelens.suite.core import Agent, Suite
from tracelens.suite.model import SuiteFile
from tracelens.suite.places import KeyPath, Lines, Where
from tracelens.suite.problems import Problem, Problems
from tracelens.suite.references import References, load_references
from tracelens.suite.rules import RefusedError
from tracelens.suite.tools import Tool, tool_definitions

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
)
"""Which class stands at which place, to name the nearest valid key."""

_KINDS = {
    "string_type": "a string", "bool_type": "true or false", "int_type": "a whole number", "float_type": "a number",
    "dict_type": "a table", "tuple_type": "a list", "model_type": "a table", "date_type": "a date",
    "model_attributes_type": "a table", "finite_number": "a finite number",
}  # fmt: skip


def load_suite(path: Path) -> Suite:
    """See `Suite.load`."""
    problems = Problems()
    text = _read(path, problems)
    problems.raise_if_any()
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problems.add(str(path), f"is no valid TOML: {error}")
        problems.raise_if_any()
    return _build(raw, path.parent, Where(str(path), Lines(text)), path)


def suite_from_dict(data: Mapping[str, Any], base: Path) -> Suite:
    """See `Suite.from_dict`."""
    return _build(copy.deepcopy(dict(data)), base, Where(""), None)


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
    model = _validated({"milestones": json.loads(text)}, Where(""), problems)
    return model.milestones or blocks.Milestones(), list(problems)


def _read(path: Path, problems: Problems) -> str:
    """The text of a file, or nothing and a problem."""
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        problems.add(str(path), f"is no UTF-8 text: {error.reason} at byte {error.start}")
    except OSError as error:
        near = ""
        if path.parent.is_dir():
            near = did_you_mean(path.name, sorted(item.name for item in path.parent.iterdir()))
        problems.add(str(path), f"cannot be read: {error.strerror}", near)
    return ""


def _build(raw: dict[str, Any], base: Path, where: Where, path: Path | None) -> Suite:
    problems = Problems()
    model = _validated(raw, where, problems)
    tools = _all_tools(model, base, where, problems)
    agents = {
        name: Agent(
            {
                tool: _merged(tool, entry, None, where(["agents", name, "tools", tool]))
                for tool, entry in agent.tools.items()
            }
        )
        for name, agent in model.agents.items()
    }
    references = _references(model, base, where, problems)
    check_names(model, tools, agents, where, problems)
    problems.raise_if_any()
    return Suite(
        tools=tools,
        agents=agents,
        references=references,
        path=path,
        base=base,
        where=where,
        **{key: getattr(model, key) for key in SuiteFile.model_fields if key not in {"tools", "agents"}},
    )


def _validated(raw: dict[str, Any], where: Where, problems: Problems) -> SuiteFile:
    """The model of what is right; what is wrong is noted and cut out, so that later checks still run."""
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
        return Problem(where(location[:-1]), f"the key {location[-1]!r} is missing")
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


def _all_tools(model: SuiteFile, base: Path, where: Where, problems: Problems) -> dict[str, Tool]:
    """Tools of the tools file, overridden and extended by those of the suite."""
    tools = dict(_tools_file(base / model.tools_file, where, problems) if model.tools_file else {})
    for name, entry in model.tools.items():
        tools[name] = _merged(name, entry, tools.get(name), where(["tools", name]))
    return tools


def _merged(name: str, entry: blocks.ToolEntry, known: Tool | None, place: str) -> Tool:
    schema = entry.schema_ if entry.schema_ is not None else known.schema if known else None
    keeps = entry.schema_ is None and known is not None
    return Tool(
        name,
        schema,
        aliases=entry.aliases,
        price=entry.price,
        known=entry.known if entry.known is not None else known is not None or schema is not None,
        place=known.place if known is not None and keeps else place,
    )


def _tools_file(path: Path, where: Where, problems: Problems) -> dict[str, Tool]:
    before = len(problems)
    text = _read(path, problems)
    if len(problems) > before:
        return {}
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except ValueError as error:
        problems.add(str(path), f"cannot be read as JSON: {error}", f"named by {where(['tools_file'])}")
        return {}
    tools, found = tool_definitions(data, f"{path}: ")
    problems.extend([Problem(p.place.replace(": .", ": "), p.message, p.hint) for p in found])
    return tools


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without repeated keys: of two schemas for one key, nobody could say which one counts."""
    out = dict(pairs)
    if len(out) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # `add` returns None on purpose
        raise ValueError(f"key {twice!r} stands there twice in one object")
    return out


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _references(model: SuiteFile, base: Path, where: Where, problems: Problems) -> References:
    if not model.references_file:
        return References.empty()
    path = base / model.references_file
    try:
        return load_references(path, str(path), problems)
    except OSError as error:
        near = did_you_mean(path.name, sorted(p.name for p in path.parent.iterdir())) if path.parent.is_dir() else ""
        problems.add(where(["references_file"]), f"{path} cannot be read: {error.strerror or error}", near)
        return References.empty()
