"""The suite as the rest of the program sees it: tools and references resolved, everything frozen."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tracelens.errors import UsageError, path_of, shown_type
from tracelens.suite.places import Where
from tracelens.suite.references import References
from tracelens.suite.tools import Agent, Tool

if TYPE_CHECKING:
    from tracelens.dialects.request import Request
    from tracelens.suite.blocks import (
        Answer,
        FieldCheck,
        Gate,
        Invariants,
        Judge,
        Match,
        Milestones,
        OwnCheck,
        Route,
        Safety,
        StateCheck,
        Waiver,
        Wrapper,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Suite:
    """What traces are scored against: one TOML file, with the files it names.

    Attributes have the names of the file's keys. `tools` holds the tools file and ``[tools]`` together; `normalize`
    and `fields` are by tool (``*``: all tools) and path; `thresholds` is None where the file has no such table.
    `references` holds the references file, `path` the suite file (None for a suite made in Python), `base` the
    folder that relative paths start from, and ``where(["match", "rows", 0])`` says where in the file a key stands.

    Example:
        >>> suite = Suite.from_dict({"tools": {"book": {"aliases": ["reserve"]}}, "server_prefixes": ["mcp__air__"]})
        >>> suite.canonical_name("mcp__air__reserve"), suite.match.credit.name, suite.thresholds
        ('book', 0.5, None)
    """

    name: str
    server_prefixes: tuple[str, ...]
    schemas_from: Literal["suite", "trace"]
    tools: Mapping[str, Tool]
    agents: Mapping[str, Agent]
    normalize: Mapping[str, Mapping[str, Any]]
    fields: Mapping[str, Mapping[str, FieldCheck]]
    answer: Answer | None
    match: Match
    wrappers: Mapping[str, Wrapper]
    thresholds: Mapping[str, float] | None
    milestones: Milestones | None
    invariants: Invariants
    safety: Safety
    state: tuple[StateCheck, ...]
    check: tuple[OwnCheck, ...]
    waive: tuple[Waiver, ...]
    route: Route
    judge: Judge
    gate: Gate
    references: References
    tools_file: str | None = None
    references_file: str | None = None
    path: Path | None = None
    base: Path = field(default_factory=Path)
    where: Where = field(default_factory=Where, repr=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Suite:
        """A suite from its TOML file.

        Args:
            path: The file; relative paths inside it start from its folder.

        Raises:
            SuiteProblemsError: Everything that is wrong, at once, each with file, line and key.
        """
        from tracelens.suite.load import load_suite

        return cls(**load_suite(path_of(path, "suite file")))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], base: str | Path | None = None) -> Suite:
        """A suite from what a TOML parser would give.

        Args:
            data: The keys of a suite file.
            base: The folder that relative paths start from; the working directory when None.

        Raises:
            SuiteProblemsError: Everything that is wrong, at once, each with its key.
        """
        from tracelens.suite.load import suite_from_dict

        if not isinstance(data, Mapping):
            raise UsageError(f"{shown_type(data)} is no suite", hint="give a dictionary of what a suite file holds")
        return cls(**suite_from_dict(data, Path(base) if base is not None else Path()))

    @classmethod
    def default(cls) -> Suite:
        """The suite that is used without one: diagnostics, every safety pack, no thresholds, no references.

        Example:
            >>> Suite.default().safety.packs
            ('shell', 'paths', 'secrets', 'destructive', 'network')
        """
        return cls.from_dict({"name": "default"})

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of everything that can change a result, with tools, schemas and references.

        File layout, comments, paths and the order of keys do not count, except inside schemas, whose order shows in
        messages. ``${NAME}`` stays unexpanded, so credentials in the environment never enter it.
        """
        from tracelens.suite.digest import suite_digest

        return suite_digest(vars(self), self.references)

    @property
    def has_tools(self) -> bool:
        """Whether the suite names any tool, so that other tools are unknown."""
        return bool(self.tools) or any(agent.tools for agent in self.agents.values())

    @cached_property
    def dialects(self) -> tuple[Request, ...]:
        """Other libraries' numbers that are asked for."""
        from tracelens.suite.dialects import requests_of

        return requests_of(self.match.dialects)[0]

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Canonical name by alias, over all tools and agents."""
        pools = [self.tools, *(agent.tools for agent in self.agents.values())]
        return {alias: tool.name for pool in pools for tool in pool.values() for alias in tool.aliases}

    @cached_property
    def _declared(self) -> frozenset[str]:
        return frozenset(self.tools) | {name for agent in self.agents.values() for name in agent.tools}

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        return tuple(sorted(self.server_prefixes, key=lambda prefix: (-len(prefix), prefix)))

    def canonical_name(self, raw: str | None) -> str | None:
        """The name a tool goes by, from the name a trace or a reference uses.

        A declared name or alias stands for itself; else the longest declared server prefix is taken off once. Names
        are compared as they are, without folding.

        Args:
            raw: The name as recorded.

        Returns:
            The canonical name; None for an empty or missing name, which equals nothing.

        Example:
            >>> Suite.default().canonical_name("") is None
            True
        """
        if not raw:
            return None
        if raw in self._declared or raw in self.aliases:
            return self.aliases.get(raw, raw)
        for prefix in self._prefixes:
            if raw.startswith(prefix) and len(raw) > len(prefix):
                rest = raw[len(prefix) :]
                return self.aliases.get(rest, rest)
        return raw

    def tool_for(self, agent: str | None, name: str | None) -> Tool | None:
        """The tool an agent means by a name: its own first, then the tools of all; None where there is none."""
        canonical = self.canonical_name(name)
        if canonical is None:
            return None
        own = self.agents[agent].tools if agent is not None and agent in self.agents else {}
        return own.get(canonical) or self.tools.get(canonical)

    def schema_of(self, agent: str | None, name: str | None) -> dict[str, Any] | None:
        """The JSON Schema of a tool's arguments (see `tool_for`); None where there is none."""
        tool = self.tool_for(agent, name)
        return tool.schema if tool is not None else None

    def agents_knowing(self, name: str | None) -> tuple[str, ...]:
        """Agents that have a tool of their own by that name, sorted: what to say about an unknown tool."""
        canonical = self.canonical_name(name)
        return tuple(sorted(agent for agent, entry in self.agents.items() if canonical in entry.tools))

    def is_output_tool(self, name: str | None) -> bool:
        """Whether a tool only hands in the answer, by its recorded or canonical name."""
        return name is not None and self._output_tools.issuperset({self.canonical_name(name)})

    @cached_property
    def _output_tools(self) -> frozenset[str | None]:
        return frozenset(map(self.canonical_name, self.match.output_tools)) - {None}

    def is_handoff(self, name: str | None) -> bool:
        """Whether a tool passes control to another agent: its recorded or canonical name fits a pattern.

        Example:
            >>> suite = Suite.from_dict({"match": {"handoffs": ["transfer_to_*"]}})
            >>> suite.is_handoff("transfer_to_billing"), suite.is_handoff("transfer"), suite.is_handoff(None)
            (True, False, False)
        """
        if not name:
            return False
        names = {name, self.canonical_name(name) or name}
        return any(fnmatch.fnmatchcase(one, glob) for one in names for glob in self.match.handoffs)
