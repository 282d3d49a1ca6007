"""From a TOML file to a suite, with every problem gathered on the way."""

from __future__ import annotations

import copy
import json
import tomllib
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracelens.errors import did_you_mean
from tracelens.suite import blocks
from tracelens.suite.checks import check_names
from tracelens.suite.model import SuiteFile
from tracelens.suite.places import Lines, Where
from tracelens.suite.problems import Problem, Problems, SuiteProblemsError
from tracelens.suite.references import References, load_references
from tracelens.suite.tools import Agent, Tool, tool_definitions
from tracelens.suite.validate import validated

TOO_DEEP = "something in it is nested too deeply"


def load_suite(path: Path) -> dict[str, Any]:
    """The attributes of a suite, from its file (see `Suite.load`)."""
    problems = Problems()
    text = _read(path, problems)
    problems.raise_if_any()
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problems.add(str(path), f"is no valid TOML: {error}")
    except RecursionError:
        problems.add(str(path), TOO_DEEP, "put what is nested into a file of its own, or into a JSON string")
    problems.raise_if_any()
    return _built(raw, path.parent, Where(str(path), Lines(text)), path)


def suite_from_dict(data: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """The attributes of a suite, from its keys (see `Suite.from_dict`)."""
    return _built(data, base, Where(""), None)


def _built(raw: Mapping[str, Any], base: Path, where: Where, path: Path | None) -> dict[str, Any]:
    """See `_build`; what is nested deeper than Python can follow is a problem like any other."""
    try:
        return _build(copy.deepcopy(dict(raw)) if path is None else dict(raw), base, where, path)
    except RecursionError:
        raise SuiteProblemsError([Problem(where(()), TOO_DEEP)]) from None


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


def _build(raw: dict[str, Any], base: Path, where: Where, path: Path | None) -> dict[str, Any]:
    problems = Problems()
    model = validated(raw, where, problems)
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
    plain = {key: getattr(model, key) for key in SuiteFile.model_fields}
    resolved = {"tools": tools, "agents": agents, "references": references}
    return {**plain, **resolved, "path": path, "base": base, "where": where}


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
    except (ValueError, RecursionError) as error:
        why = TOO_DEEP if isinstance(error, RecursionError) else error
        problems.add(str(path), f"cannot be read as JSON: {why}", f"named by {where(['tools_file'])}")
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
    except (EOFError, zlib.error) as error:
        problems.add(str(path), f"the compressed data is damaged or cut off: {error}", "compress it again")
    return References.empty()
