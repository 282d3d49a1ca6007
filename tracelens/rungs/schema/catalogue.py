"""The tools that calls are checked against: those of the suite, per agent, and those recorded in traces."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.rungs.schema.compile import Compiler
from tracelens.rungs.schema.engine import Engine
from tracelens.rungs.schema.truth import CompiledSchema, compile_schema
from tracelens.suite.tools import Agent, Tool, tool_definitions

UNKNOWN = -1
"""Tool id of a call whose tool nobody knows."""

EXEMPT = -2
"""Tool id of a call that no schema applies to: a hand-off, an output pseudo-tool, or no tools are known at all."""

NO_SCHEMA = -1
UNUSABLE = -2


class SuiteLike(Protocol):
    """What is needed of a suite."""

    @property
    def tools(self) -> Any:
        """Tools of all agents by canonical name."""

    @property
    def agents(self) -> Any:
        """Agents with their own tools."""

    @property
    def schemas_from(self) -> Literal["suite", "trace"]:
        """Whether recorded definitions come first."""

    def is_output_tool(self, name: str) -> bool:
        """Whether a name is that of a declared output pseudo-tool."""

    def is_handoff(self, name: str) -> bool:
        """Whether a name is that of a hand-off."""


@dataclass(frozen=True)
class UnusableTool:
    """A tool whose schema cannot be used, and why.

    Attributes:
        tool: Canonical name.
        agent: Agent whose own tool it is; None for a tool of all.
        reason: One sentence.
    """

    tool: str
    agent: str | None
    reason: str


class Catalogue:
    """Tools by agent and name, their schemas compiled; recorded definitions are added as they turn up.

    Example:
        >>> from tracelens.suite import Suite
        >>> catalogue = Catalogue.build(Suite.from_dict({"tools": {"book": {"schema": {"type": "object"}}}}))
        >>> catalogue.assign(pl.Series(["book", "cook"])).tolist()
        [0, -1]
    """

    def __init__(self, suite: SuiteLike) -> None:
        self.suite = suite
        self.schemas: list[CompiledSchema | None] = []
        self.unusable: list[UnusableTool] = []
        self._compiler = Compiler()
        self._roots: list[int] = []
        self._engine: Engine | None = None
        self._lock = threading.RLock()
        self._known: dict[str, int] = {}
        self._recorded: dict[str, dict[str, int]] = {}
        self.common = {name: self._add(tool, None) for name, tool in suite.tools.items()}
        self.own = {agent: self._own(agent, entry) for agent, entry in suite.agents.items()}

    @classmethod
    def build(cls, suite: SuiteLike) -> Catalogue:
        """The catalogue of a suite.

        Args:
            suite: Its tools, per agent too; ``unusable`` of the result lists those that cannot be checked.
        """
        return cls(suite)

    def _own(self, name: str, agent: Agent) -> dict[str, int]:
        return {tool: self._add(entry, name) for tool, entry in agent.tools.items()}

    def _add(self, tool: Tool, agent: str | None) -> int:
        """The id of a tool; tools with one schema share one."""
        if tool.schema is None:
            return self._without_schema() if tool.known else UNKNOWN
        text = json.dumps(tool.schema, default=repr)
        number = self._known.get(text)
        if number is None:
            compiled = compile_schema(tool.schema)
            number = self._known[text] = len(self._roots)
            self.schemas.append(compiled)
            self._roots.append(self._compiler.add(compiled) if compiled.usable else UNUSABLE)
            self._engine = None
        compiled_ = self.schemas[number]
        if compiled_ is not None and not compiled_.usable:
            found = UnusableTool(tool.name, agent, compiled_.reason)
            if found not in self.unusable:
                self.unusable.append(found)
        return number

    def _without_schema(self) -> int:
        if "" not in self._known:
            self._known[""] = len(self._roots)
            self.schemas.append(None)
            self._roots.append(NO_SCHEMA)
        return self._known[""]

    @property
    def roots(self) -> npt.NDArray[np.int64]:
        """int64 per tool id: its schema's node, `NO_SCHEMA` or `UNUSABLE`."""
        with self._lock:
            return np.array([*self._roots, UNUSABLE], np.int64)

    @property
    def engine(self) -> Engine:
        """The engine over every schema so far."""
        with self._lock:
            if self._engine is None:
                self._engine = Engine(self._compiler.builder.finish())
            return self._engine

    def names(self) -> list[str]:
        """Every tool that somebody may call, for hints."""
        pools = [self.common, *self.own.values(), *self._recorded.values()]
        return sorted({name for pool in pools for name in pool})

    def assign(
        self,
        tools: pl.Series,
        agents: pl.Series | None = None,
        definitions: npt.NDArray[np.int32] | None = None,
        texts: Sequence[str] = (),
    ) -> npt.NDArray[np.int32]:
        """The tool id of each call.

        Args:
            tools: str?[n], canonical names.
            agents: str?[n], which agent made the call; None where no call has one.
            definitions: int32[n], per call the number of its trace's recorded definitions in ``texts``; -1 for none.
            texts: Recorded definitions, each JSON text.

        Returns:
            int32[n]: an id, `UNKNOWN` or `EXEMPT`.
        """
        n = tools.len()
        frame = pl.DataFrame(
            {
                "tool": tools.cast(pl.String),
                "agent": agents.cast(pl.String)
                if agents is not None
                else pl.Series([None], dtype=pl.String).new_from_index(0, n),
                "definitions": definitions if definitions is not None else np.full(n, -1, np.int32),
            }
        )
        distinct = frame.unique(maintain_order=True)
        ids = [self._find(tool, agent, texts[d] if d >= 0 else None) for tool, agent, d in distinct.iter_rows()]
        joined = frame.join(
            distinct.with_columns(pl.Series("id", ids, dtype=pl.Int32)),
            on=["tool", "agent", "definitions"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        return joined["id"].to_numpy().astype(np.int32)

    def _find(self, tool: str | None, agent: str | None, definitions: str | None) -> int:
        recorded = self._read(definitions) if definitions is not None else {}
        own = self.own.get(agent, {}) if agent is not None else {}
        pools = (recorded, own, self.common) if self.suite.schemas_from == "trace" else (own, self.common, recorded)
        for pool in pools:
            if tool is not None and tool in pool:
                return pool[tool]
        if tool is not None and (self.suite.is_output_tool(tool) or self.suite.is_handoff(tool)):
            return EXEMPT
        return UNKNOWN if any((recorded, self.common, self.own)) else EXEMPT

    def _read(self, definitions: str) -> dict[str, int]:
        """The ids of recorded tools; what cannot be read is left out."""
        with self._lock:
            if definitions not in self._recorded:
                try:
                    tools, _ = tool_definitions(json.loads(definitions))
                except ValueError:
                    tools = {}
                self._recorded[definitions] = {name: self._add(tool, None) for name, tool in tools.items()}
            return self._recorded[definitions]
