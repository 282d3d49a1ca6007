"""Lint of names: tools and paths that rules, checks and milestones speak of."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from typing import Any

from tracelens.errors import did_you_mean
from tracelens.kernels.reference.paths import parse_path
from tracelens.lint.problem import Found
from tracelens.lint.reach import reach
from tracelens.lint.schemas import all_tools
from tracelens.suite import Suite
from tracelens.suite.rules import rule_list

KeyPath = list[str | int]


class Names:
    """The tool names of a suite.

    Args:
        suite: The suite.
        found: Where to note problems.
    """

    def __init__(self, suite: Suite, found: Found) -> None:
        self.suite = suite
        self.found = found
        self.declared = {tool.name for _, tool in all_tools(suite)}

    def check(self, path: KeyPath, name: str, *, canonical: bool = False) -> None:
        """Notes a name that no tool has.

        Args:
            path: Where it stands.
            name: The name.
            canonical: Whether an alias does not do there.
        """
        real = self.suite.canonical_name(name)
        if canonical and real != name:
            self.found.error(
                self.suite.where(path), f"{name!r} is another name of tool {real!r}", f"write {real!r} here"
            )
        elif self.declared and real not in self.declared:
            message = f"no tool is called {name!r}"
            hint = did_you_mean(name, sorted(self.declared))
            note = self.found.error if self.suite.schemas_from == "suite" else self.found.warning
            note(self.suite.where(path), message, hint or "declare it under [tools]")

    def check_pattern(self, path: KeyPath, pattern: str) -> None:
        """Notes a pattern that fits no tool."""
        if self.declared and not any(fnmatch.fnmatchcase(name, pattern) for name in self.declared):
            hint = did_you_mean(pattern, sorted(self.declared))
            self.found.warning(self.suite.where(path), f"no tool is called {pattern!r}", hint)

    def schemas(self, name: str) -> list[dict[str, Any]]:
        """The schemas of a tool, of whichever agent; of all tools for ``*``."""
        tools = [tool for _, tool in all_tools(self.suite) if name in ("*", tool.name)]
        if any(tool.schema is None for tool in tools):
            return []
        return [tool.schema for tool in tools if tool.schema is not None]


def lint_names(suite: Suite, found: Found) -> None:
    """Names of tools in rules, field checks, milestones, invariants and safety patterns; paths in the first two.

    Args:
        suite: The suite.
        found: Where to note problems.
    """
    names = Names(suite, found)
    for key in ("normalize", "fields"):
        for tool, entries in getattr(suite, key).items():
            if tool != "*":
                names.check([key, tool], tool, canonical=True)
            for path, entry in entries.items():
                _lint_path(names, [key, tool, path], tool, path)
                if key == "normalize":
                    _lint_rules(names, [key, tool, path], tool, path, entry)
    for at, name in _mentions(suite):
        names.check(at, name)
    for at, pattern in _patterns(suite):
        names.check_pattern(at, pattern)


def _mentions(suite: Suite) -> Iterator[tuple[KeyPath, str]]:
    milestones, invariants = suite.milestones, suite.invariants
    if milestones is not None:
        for index, call in enumerate(milestones.must_call):
            yield ["milestones", "must_call", index], call.tool
        for index, chain in enumerate(milestones.order):
            for step, name in enumerate(chain):
                yield ["milestones", "order", index, step], name
    for name in invariants.max_calls_by_tool:
        yield ["invariants", "max_calls_by_tool", name], name
    for index, pair in enumerate(invariants.after):
        for side, name in enumerate(pair):
            yield ["invariants", "after", index, side], name


def _patterns(suite: Suite) -> Iterator[tuple[KeyPath, str]]:
    for index, name in enumerate(suite.invariants.forbidden_tools):
        yield ["invariants", "forbidden_tools", index], name
    for index, name in enumerate(suite.invariants.allowed_tools):
        yield ["invariants", "allowed_tools", index], name
    for index, pattern in enumerate(suite.safety.patterns):
        for at, name in enumerate(pattern.tools):
            yield ["safety", "patterns", index, "tools", at], name


def _lint_path(names: Names, at: KeyPath, tool: str, path: str) -> None:
    schemas = names.schemas(tool)
    if not schemas or any(reach(schema, parse_path(path)) is not None for schema in schemas):
        return
    properties = sorted({key for schema in schemas for key in schema.get("properties", {})})
    whose = "no tool has" if tool == "*" else f"the schema of {tool!r} allows no"
    names.found.warning(names.suite.where(at), f"{whose} argument {path!r}", did_you_mean(path, properties))


def _lint_rules(names: Names, at: KeyPath, tool: str, path: str, entry: Any) -> None:
    rules = dict(rule_list(entry))
    place = names.suite.where(at)
    if "exact" in list(rules)[1:]:
        names.found.warning(place, "exact removes the rules before it, so they do nothing", "drop them, or exact")
    if "ignore" in rules and len(rules) > 1:
        names.found.warning(place, "an ignored value is not compared, so the other rules do nothing")
    schemas = names.schemas(tool)
    if rules.get("default") == {"schema": True} and schemas:
        ruling = [one for schema in schemas for one in reach(schema, parse_path(path)) or []]
        if not any(isinstance(one, dict) and "default" in one for one in ruling):
            names.found.warning(place, f"the schema gives no default for {path!r}", "write {default = {value = …}}")
