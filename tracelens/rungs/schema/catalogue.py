"""The tools that calls are checked against: those of the suite, per agent, and those recorded in traces."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.rungs.facts import Numbered
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
WAITING = -3

AT_ONCE = 256
"""Schemas that are made into a program before any call needs them; of more, most are never needed."""


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
        >>> catalogue.assign((np.array([0, 1]), ["book", "cook"])).tolist()
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
        self._waiting: dict[int, CompiledSchema] = {}
        self._done = 0
        self._recorded: dict[str, dict[str, int]] = {}
        self.common = {name: self._add(tool, None) for name, tool in suite.tools.items()}
        self.own = {agent: self._own(agent, entry) for agent, entry in suite.agents.items()}
        self._prepare([], AT_ONCE)

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
            self._roots.append(WAITING if compiled.usable else UNUSABLE)
            if compiled.usable:
                self._waiting[number] = compiled
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

    def _prepare(self, ids: Iterable[int], least: int = 0) -> None:
        """Make the schemas with these ids, and at least so many, part of the program."""
        with self._lock:
            needed = [number for number in ids if number in self._waiting]
            rest = (number for number in tuple(self._waiting) if number not in set(needed))
            # Each time as many again as there are: the program grows, and is put together, a few times only.
            more = max(least, self._done) - len(needed) if needed or least else 0
            for number in (*needed, *islice(rest, max(more, 0))):
                self._roots[number] = self._compiler.add(self._waiting.pop(number))
                self._done += 1
                self._engine = None

    @property
    def roots(self) -> npt.NDArray[np.int64]:
        """int64 per tool id: its schema's node, `NO_SCHEMA`, `UNUSABLE`, or `WAITING` where no call has needed it."""
        with self._lock:
            return np.array([*self._roots, UNUSABLE], np.int64)

    @property
    def engine(self) -> Engine:
        """The engine over every schema so far."""
        with self._lock:
            if self._engine is None:
                self._engine = Engine(self._compiler.builder.finish())
            return self._engine

    @property
    def has_recorded(self) -> bool:
        """Whether definitions were added that traces recorded."""
        return any(self._recorded.values())

    def names(self) -> list[str]:
        """Every tool that somebody may call, for hints."""
        pools = [self.common, *self.own.values(), *self._recorded.values()]
        return sorted({name for pool in pools for name in pool})

    def own_ids(self, tool: str) -> list[int]:
        """The ids of a tool that agents have as their own, each once, by agent as the suite names them."""
        ids = list(dict.fromkeys(pool[tool] for pool in self.own.values() if tool in pool))
        self._prepare(ids)
        return ids

    def assign(
        self,
        tools: Numbered,
        agents: Numbered | None = None,
        definitions: npt.NDArray[np.int32] | None = None,
        texts: Sequence[str] = (),
    ) -> npt.NDArray[np.int32]:
        """The tool id of each call.

        Args:
            tools: The n canonical names.
            agents: Which agent made the call; None where no call has one.
            definitions: int32[n], per call the number of its trace's recorded definitions in ``texts``; -1 for none.
            texts: Recorded definitions, each JSON text.

        Returns:
            int32[n]: an id, `UNKNOWN` or `EXEMPT`.
        """
        tool, names = tools
        agent, owners = agents if agents is not None else (np.int64(-1), ())
        given = definitions if definitions is not None else np.int64(-1)
        # The three numbers of a call, each counted from -1, as one number: few of these are distinct.
        shape = (len(names) + 1, len(owners) + 1, len(texts) + 1)
        keys = ((tool + np.int64(1)) * shape[1] + (agent + np.int64(1))) * shape[2] + (given + np.int64(1))
        encoded = pa.array(keys).dictionary_encode()
        places = zip(*np.unravel_index(encoded.dictionary.to_numpy(), shape), strict=True)
        ids = [
            self._find(*(known[k - 1] if k else None for known, k in zip((names, owners, texts), place, strict=True)))
            for place in places
        ]
        self._prepare(dict.fromkeys(ids))
        return np.asarray(np.array(ids, np.int32)[encoded.indices.to_numpy()])

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
