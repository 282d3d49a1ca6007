"""The suite file as a whole: its keys, and how validation errors become problems with a place."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Strict

from tracelens.suite.blocks import (
    AgentEntry,
    Answer,
    FieldsTable,
    Gate,
    Invariants,
    Judge,
    Match,
    Milestones,
    NormalizeTable,
    OwnCheck,
    Route,
    Safety,
    StateCheck,
    ToolEntry,
    Waiver,
    Wrapper,
)  # fmt: skip
from tracelens.suite.values import Block, Name, Names


class SuiteFile(Block):
    """A suite: tools with their schemas, references, rules, checks and thresholds."""

    name: Name = "suite"
    """Name of the suite, for people."""
    tools_file: Name | None = None
    """OpenAI, Anthropic or MCP tool definitions, or {name: schema}; relative to this file."""
    references_file: Name | None = None
    """JSON lines with the expected calls of each case; relative to this file."""
    server_prefixes: Names = ()
    """Prefixes of tool names, such as ``mcp__air__``, that do not count."""
    schemas_from: Literal["suite", "trace"] = "suite"
    """trace: definitions recorded in the trace come first."""
    tools: dict[Name, ToolEntry] = Field(default_factory=dict)
    """Tools by name."""
    agents: dict[Name, AgentEntry] = Field(default_factory=dict)
    """Agents with tools of their own."""
    normalize: NormalizeTable = Field(default_factory=dict)
    """Normalisation rules by tool (``*``: all) and path."""
    fields: FieldsTable = Field(default_factory=dict)
    """Checks on single arguments, by tool and path."""
    answer: Answer | None = None
    """Checks on the final answer."""
    match: Match = Match()
    """How calls are matched."""
    wrappers: dict[Name, Wrapper] = Field(default_factory=dict)
    """Dispatcher tools whose arguments hold the real call."""
    thresholds: dict[str, float] | None = None
    """Lowest acceptable value by score or number of exact pairs; without it a trace with a reference needs accuracy_optimal = 1."""
    milestones: Milestones | None = None
    """Calls that must appear in every case."""
    invariants: Invariants = Invariants()
    """Rules that need no reference."""
    safety: Safety = Safety()
    """What no call may do."""
    state: Annotated[tuple[StateCheck, ...], Strict(False)] = ()
    """Looks into a database after the traces ran."""
    check: Annotated[tuple[OwnCheck, ...], Strict(False)] = ()
    """Own checks."""
    waive: Annotated[tuple[Waiver, ...], Strict(False)] = ()
    """Known failures."""
    route: Route = Route()
    """Where traces go."""
    judge: Judge = Judge()
    """What is left for a judge."""
    gate: Gate = Gate()
    """What a run must reach."""
