"""The tables of a suite file, one class each, with the keys as they stand in the file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, Strict, WithJsonSchema, model_validator

from tracelens.suite.names import PACKS, RESTRICTED_PATHS, Pack, Pairing
from tracelens.suite.rules import RefusedError, json_value
from tracelens.suite.values import (
    Amount,
    Block,
    CaseId,
    Code,
    Count,
    Day,
    Json,
    Matchable,
    Name,
    Names,
    PathKey,
    Pattern,
    Positive,
    Rules,
    Schema,
)  # fmt: skip


class ToolEntry(Block):
    """What the suite says about one tool; it adds to the tools file, and overrides it."""

    schema_: Annotated[Schema | None, Field(alias="schema")] = None
    """JSON Schema of the arguments."""
    aliases: Names = ()
    """Other names of the same tool, in traces and in references."""
    price: Amount | None = None
    """Price of one call, in the currency of your choice."""
    known: bool | None = None
    """True: the tool has no schema, and calling it is no mistake."""


class AgentEntry(Block):
    """What the suite says about one agent."""

    tools: dict[Name, ToolEntry] = Field(default_factory=dict)
    """Tools of this agent; looked up before the tools of all."""


class FieldCheck(Block):
    """A check on one argument, beside the schema."""

    regex: Pattern | None = None
    """A Python regular expression that must be found in the text of the value."""
    equals: Json = None
    """The value it must have."""
    required: bool = False
    """Whether it must be there."""

    @model_validator(mode="after")
    def _checks_something(self) -> FieldCheck:
        if self.regex is None and not self.has_equals and not self.required:
            raise RefusedError("a field check that checks nothing", "give it regex, equals or required = true")
        return self

    @property
    def has_equals(self) -> bool:
        """Whether ``equals`` was given (null is a value too)."""
        return "equals" in self.model_fields_set


class Answer(Block):
    """Checks on the final answer."""

    contains: Names = ()
    """Texts that must occur."""
    not_contains: Names = ()
    """Texts that must not occur."""
    equals: str | None = None
    """The whole answer."""
    regex: Pattern | None = None
    """A Python regular expression that must be found."""
    json_schema: Schema | None = None
    """The answer must be JSON that this schema accepts."""
    max_length: Count | None = None
    """Longest answer, in characters."""


class Credit(Block):
    """What a pair of calls earns."""

    exact: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Name and arguments equal."""
    name: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Only the name equal."""

    @model_validator(mode="after")
    def _ordered(self) -> Credit:
        if self.name > self.exact:
            raise RefusedError(f"name earns {self.name}, more than exact with {self.exact}", "0 ≤ name ≤ exact ≤ 1")
        return self


def _dialect(value: Any) -> Any:
    return {"use": value} if isinstance(value, str) else value


class DialectEntry(Block):
    """Another library's numbers."""

    use: Name
    """The dialect."""
    name: Name | None = None
    """First part of its columns' names where it has parameters: the dialect's name, an underscore and more."""
    metrics: Names = ()
    """Which of its metrics; without them all that have the parameters."""
    params: dict[Name, Json] = Field(default_factory=dict)
    """Parameters of these metrics."""


DialectItem = Annotated[DialectEntry, BeforeValidator(_dialect, json_schema_input_type=str | DialectEntry)]


class Match(Block):
    """How actual calls are held against expected ones."""

    parallel: Literal["ordered", "unordered"] = "ordered"
    """unordered: calls of one turn may come in any order."""
    count: Literal["requested", "executed"] = "requested"
    """executed: leaves out calls that did not run."""
    depth: Literal["top", "all"] = "top"
    """all: includes the calls inside sub-agents."""
    rows: Annotated[tuple[Pairing, ...], Strict(False)] = ("optimal",)
    """Pairings that get rows in the table of pairs."""
    credit: Credit = Credit()
    """What a pair earns."""
    output_tools: Names = ()
    """Pseudo-tools by which an agent hands in its answer; they are no calls."""
    handoffs: Names = ()
    """Patterns (``*``, ``?``) of tool names that pass control to another agent; they are no calls."""
    dialects: Annotated[tuple[DialectItem, ...], Strict(False)] = ()
    """Other libraries' numbers to add as columns ``<name>__<metric>``: names, or tables with use, name and params."""


class Wrapper(Block):
    """A dispatcher tool whose arguments hold the real call."""

    name: PathKey
    """Path of the real tool's name in the arguments."""
    arguments: PathKey
    """Path of the real arguments in the arguments."""


def _must_call(value: Any) -> Any:
    return {"tool": value} if isinstance(value, str) else value


class MustCall(Block):
    """A call that must appear."""

    tool: Name
    """Name of the tool."""
    arguments: Matchable | None = None
    """Values or matchers that the call's arguments must have; others are free."""
    min: Positive = 1
    """How many such calls at least."""


MustCallItem = Annotated[MustCall, BeforeValidator(_must_call, json_schema_input_type=str | MustCall)]
Chain = Annotated[tuple[Name, ...], Strict(False), Field(min_length=2)]
Pair = Annotated[tuple[Name, Name], Strict(False)]


class Milestones(Block):
    """Calls that must appear, and their order."""

    must_call: Annotated[tuple[MustCallItem, ...], Strict(False)] = ()
    """Tool names, or tables with tool, arguments and min."""
    order: Annotated[tuple[Chain, ...], Strict(False)] = ()
    """Chains of tools: the first call of each must come before the next one's."""
    max_steps: Count | None = None
    """How many calls at most."""


class Invariants(Block):
    """Rules that need no reference."""

    forbidden_tools: Names = ()
    """Patterns of tools that must not be called."""
    allowed_tools: Names = ("*",)
    """Patterns of the only tools that may be called."""
    max_calls: Count | None = None
    """How many calls at most."""
    max_calls_by_tool: dict[Name, Count] = Field(default_factory=dict)
    """How many calls of one tool at most."""
    max_identical: Positive | None = None
    """How many calls with the same tool and arguments at most."""
    max_errors: Count | None = None
    """How many failed calls at most."""
    max_cost: Amount | None = None
    """Highest cost of a trace."""
    max_tokens: Count | None = None
    """Most tokens of a trace, input and output together."""
    max_seconds: Amount | None = None
    """Longest duration of a trace."""
    after: Annotated[tuple[Pair, ...], Strict(False)] = ()
    """Pairs of tools: the first only after the second succeeded."""


class SafetyPattern(Block):
    """An own safety pattern."""

    name: Name
    """Name in findings: ``safety.<name>``."""
    regex: Pattern
    """A Python regular expression that must not be found."""
    tools: Names = ()
    """Patterns of the tools it looks at; all when empty."""


class Safety(Block):
    """What no call may do, whatever the reference says."""

    packs: Annotated[tuple[Pack, ...], Strict(False)] = PACKS
    """Built-in packs that are on; an empty list switches all off."""
    restricted_paths: Names = RESTRICTED_PATHS
    """Files and folders that the pack ``paths`` guards."""
    patterns: Annotated[tuple[SafetyPattern, ...], Strict(False)] = ()
    """Own patterns."""


def _expect(value: Any) -> Any:
    if value != "case" and not isinstance(value, dict):
        raise RefusedError(f'expect should be a table of constants or "case", not {value!r}')
    return json_value(value)


class StateCheck(Block):
    """One look into a database after the traces ran."""

    name: Name
    """Name in findings: ``state.<name>``."""
    database: Name
    """postgresql://…, sqlite:///… or a Parquet file; ``${ENV}`` is expanded when it is opened."""
    sql: Name
    """A query that returns trace_id or case_id, and the columns of ``expect``."""
    expect: Annotated[
        dict[str, Any] | Literal["case"] | None,
        BeforeValidator(_expect),
        WithJsonSchema({"anyOf": [{"type": "object"}, {"const": "case"}]}),
    ] = None
    """Constants by column, or "case": the state object of the case in the references file."""
    cases: Annotated[tuple[CaseId, ...], Strict(False)] | None = None
    """The only cases it looks at."""


class OwnCheck(Block):
    """An own check: the rows it returns become findings."""

    name: Name
    """Name in findings: ``check.<name>``."""
    sql: Name | None = None
    """A query over the tables of the run."""
    python: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")] | None = None
    """An entry point ``package.module:function`` that takes and returns Arrow tables."""

    @model_validator(mode="after")
    def _one_of_two(self) -> OwnCheck:
        if (self.sql is None) == (self.python is None):
            raise RefusedError("a check needs either sql or python", 'write sql = "…" or python = "module:function"')
        return self


class Waiver(Block):
    """A known failure that must not block a gate for a while."""

    case_id: CaseId
    """The case."""
    code: Code
    """Code of the findings that are waived."""
    until: Day
    """Last day of the waiver."""
    reason: Name
    """Why."""


class Route(Block):
    """Where a trace goes after scoring."""

    require_reference: bool = False
    """True: a trace without a reference counts as not scored."""
    state_decides: bool = False
    """True: a passed state check replaces rungs two to four."""


class Judge(Block):
    """What is left for a judge."""

    questions: Names = ()
    """Open questions about a trace that passed."""
    price_per_1k_tokens: Amount | None = None
    """Price of a thousand tokens, for the calls avoided."""
    system: str | None = None
    """What the judge is told first; by default what it is about and how to answer."""
    prompt: str | None = None
    """What it is asked about a trace, with {questions}, {trajectory}, {final_answer}, {expected}, {trace_id} and {case_id}."""
    model: Name | None = None
    """Model that batch request files name."""
    max_tokens: Positive = 1024
    """Longest answer, in tokens."""


class Gate(Block):
    """What a run must reach so that it may pass `tracelens gate`; the command line can say more, and otherwise."""

    min: dict[Name, float] = Field(default_factory=dict)
    """Lowest mean by metric: pass_rate, a score, or a verdict such as safety_ok (the share that holds)."""
    max_drop: dict[Name, Amount] = Field(default_factory=dict)
    """How far the mean of a metric may fall below that of the base run, over the cases of both."""
    min_scored: Positive = 1
    """How many values a mean needs."""
    allow_unscored: Count = 0
    """How many traces may lack a value that they should have."""
    allow_missing: Count = 0
    """How many cases may have no trace."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] | None = None
    """A drop must also be significant at this confidence, and a smaller one detectable."""
    allow_inconclusive: bool = False
    """Whether the gate passes where too few cases could have shown such a drop."""
    no_safety_hits: bool = False
    """Whether any safety hit fails the gate."""


NormalizeTable = dict[Name, dict[PathKey, Rules]]
FieldsTable = dict[Name, dict[PathKey, FieldCheck]]
