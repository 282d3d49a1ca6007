"""Which attributes carry what, by dialect. A new dialect is an entry of `DIALECTS`; nothing else needs to know it.

The first dialect whose mark a span has is the span's; `GENAI`, the OpenTelemetry conventions, is that of all others.
Keys of a field are tried in order, those of the dialect first, those of the conventions after them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LLM, TOOL, AGENT, CHAIN, OTHER = range(5)
KINDS = ("llm", "tool", "agent", "chain", "other")
"""Kinds of spans by number."""

Keys = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way of writing spans of agents.

    Attributes:
        name: What remarks call it.
        marks: A span that has one of these attributes is of this dialect.
        scopes: So is a span of an instrumentation whose name starts like this.
        kind: Attributes that say what kind of a span it is, before those of the conventions.
        tool: Attributes with a tool's name; where none is there, the span's name counts.
        arguments: Attributes with a call's arguments; ``plain`` says which of them may hold a wrapper (`inside`).
        result: Attributes with a call's result.
        call_id: Attributes with a call's id.
        agent: Attributes with the agent's name.
        session: Attributes with the id of the session.
        answer: Attributes of agent spans with the final answer.
        output: Attributes of model spans with messages that the model wrote, as JSON.
        model: Attributes with the model's name.
        input_tokens: Attributes with the number of tokens read.
        output_tokens: Attributes with the number of tokens written.
        cost: Attributes with the cost.
        definitions: Attributes with the tools that the model could call.
        phantoms: Tool names that stand for no call.
        nobody: Names of agents that stand for no agent.
        inside: Path of the real arguments where the attribute holds a wrapper around them.
        invalid: Member that holds the text of arguments that were no JSON.
        blank: Arguments that are this text were not captured, where none of the file has others.
        single: Whether arguments may be the bare value of the tool's only parameter.
        capture: How to have arguments captured.
    """

    name: str
    capture: str
    marks: Keys = ()
    scopes: Keys = ()
    kind: Keys = ()
    tool: Keys = ()
    arguments: Keys = ()
    result: Keys = ()
    call_id: Keys = ()
    agent: Keys = ()
    session: Keys = ()
    answer: Keys = ()
    output: Keys = ()
    model: Keys = ()
    input_tokens: Keys = ()
    output_tokens: Keys = ()
    cost: Keys = ()
    definitions: Keys = ()
    phantoms: Keys = ()
    nobody: Keys = ()
    inside: str = ""
    invalid: str = ""
    blank: str = ""
    single: bool = False
    kinds: Mapping[str, int] = field(default_factory=dict)


OPERATIONS = {
    "chat": LLM,
    "text_completion": LLM,
    "generate_content": LLM,
    "execute_tool": TOOL,
    "tools/call": TOOL,
    "invoke_agent": AGENT,
    "create_agent": OTHER,
    "invoke_workflow": CHAIN,
    "execute_task": CHAIN,
    "handoff": CHAIN,
    "plan": CHAIN,
    "unknown": CHAIN,
    "embeddings": OTHER,
    "retrieval": OTHER,
}
"""Kinds by ``gen_ai.operation.name``."""

SPAN_KINDS = {"llm": LLM, "tool": TOOL, "agent": AGENT, "chain": CHAIN, "workflow": CHAIN, "task": CHAIN}
"""Kinds by the attributes of other dialects, in lower case."""

AI_OPERATIONS = {
    "ai.toolCall": TOOL,
    "ai.generateText": AGENT,
    "ai.streamText": AGENT,
    "ai.generateObject": AGENT,
    "ai.streamObject": AGENT,
    "ai.generateText.doGenerate": LLM,
    "ai.streamText.doStream": LLM,
    "ai.generateObject.doGenerate": LLM,
    "ai.streamObject.doStream": LLM,
}

GENAI = Dialect(
    name="OpenTelemetry GenAI",
    capture="set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY (older instrumentations: true)",
    kind=("gen_ai.operation.name", "mcp.method.name"),
    kinds=OPERATIONS,
    tool=("gen_ai.tool.name",),
    arguments=("gen_ai.tool.call.arguments",),
    result=("gen_ai.tool.call.result",),
    call_id=("gen_ai.tool.call.id",),
    agent=("gen_ai.agent.name",),
    session=("gen_ai.conversation.id", "session.id"),
    answer=(),
    output=("gen_ai.output.messages",),
    model=("gen_ai.response.model", "gen_ai.request.model"),
    input_tokens=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    output_tokens=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    cost=("gen_ai.usage.cost", "operation.cost"),
    definitions=("gen_ai.tool.definitions",),
)

ADK = Dialect(
    name="Google ADK",
    capture=(
        "set OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and"
        " OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY, or"
        " ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true for the older attributes"
    ),
    scopes=("gcp.vertex.agent",),
    marks=("gcp.vertex.agent.event_id",),
    arguments=("gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args"),
    result=("gen_ai.tool.call.result", "gcp.vertex.agent.tool_response"),
    session=("gcp.vertex.agent.session_id",),
    phantoms=("(merged tools)",),
    blank="{}",
)

OPENAI_AGENTS = Dialect(
    name="OpenAI Agents instrumentation",
    capture="set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_and_event",
    scopes=("opentelemetry.instrumentation.openai_agents",),
    nobody=("OpenAI Agent",),
)

PYDANTIC_AI = Dialect(
    name="Pydantic AI",
    capture="instrument with InstrumentationSettings(include_content=True)",
    scopes=("pydantic-ai",),
    marks=("tool_arguments", "pydantic_ai.all_messages", "all_messages_events"),
    arguments=("gen_ai.tool.call.arguments", "tool_arguments"),
    result=("gen_ai.tool.call.result", "tool_response"),
    agent=("gen_ai.agent.name", "agent_name"),
    answer=("final_result",),
    output=("gen_ai.output.messages", "events"),
    invalid="INVALID_JSON",
)

VERCEL_AI = Dialect(
    name="Vercel AI SDK",
    capture="leave recordInputs and recordOutputs of experimental_telemetry on",
    marks=("ai.operationId",),
    kind=("ai.operationId",),
    kinds=AI_OPERATIONS,
    tool=("ai.toolCall.name",),
    arguments=("ai.toolCall.args", "ai.toolCall.input"),
    result=("ai.toolCall.result", "ai.toolCall.output"),
    call_id=("ai.toolCall.id",),
    agent=("ai.telemetry.functionId",),
    session=("ai.telemetry.metadata.sessionId",),
    answer=("ai.response.text", "ai.result.text", "ai.response.object"),
    output=("ai.response.toolCalls", "ai.result.toolCalls"),
    model=("ai.response.model", "ai.model.id"),
    input_tokens=("ai.usage.inputTokens", "ai.usage.promptTokens"),
    output_tokens=("ai.usage.outputTokens", "ai.usage.completionTokens"),
)

OPENINFERENCE = Dialect(
    name="OpenInference",
    capture="unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS",
    marks=("openinference.span.kind",),
    kind=("openinference.span.kind",),
    kinds=SPAN_KINDS,
    tool=("tool.name",),
    arguments=("input.value",),
    result=("output.value",),
    call_id=("tool_call.id", "tool.id"),
    agent=("agent.name", "graph.node.id"),
    session=("session.id",),
    answer=("output.value",),
    model=("llm.model_name",),
    input_tokens=("llm.token_count.prompt",),
    output_tokens=("llm.token_count.completion",),
    cost=("llm.cost.total",),
    single=True,
)

TRACEAI = Dialect(
    name="traceAI",
    capture="unset FI_HIDE_INPUTS and FI_HIDE_OUTPUTS",
    marks=("gen_ai.span.kind", "fi.span.kind"),
    kind=("gen_ai.span.kind", "fi.span.kind"),
    kinds=SPAN_KINDS,
    tool=("gen_ai.tool.name", "tool.name"),
    arguments=("gen_ai.tool.call.arguments", "input.value"),
    result=("gen_ai.tool.call.result", "output.value"),
    agent=("gen_ai.agent.name", "lc_agent_name"),
    session=("session.id",),
    answer=("output.value",),
    single=True,
)

TRACELOOP = Dialect(
    name="OpenLLMetry",
    capture="set TRACELOOP_TRACE_CONTENT=true",
    marks=("traceloop.span.kind", "traceloop.workflow.name", "llm.request.type"),
    kind=("gen_ai.operation.name", "traceloop.span.kind", "llm.request.type"),
    kinds={**OPERATIONS, **SPAN_KINDS, "completion": LLM},
    tool=("gen_ai.tool.name", "traceloop.entity.name"),
    arguments=("gen_ai.tool.call.arguments", "traceloop.entity.input"),
    result=("gen_ai.tool.call.result", "traceloop.entity.output"),
    agent=("gen_ai.agent.name",),
    session=("traceloop.association.properties.session_id", "traceloop.association.properties.thread_id"),
    inside="inputs",
)

MLFLOW = Dialect(
    name="MLflow",
    capture="leave the inputs of mlflow.trace on",
    marks=("mlflow.spanType",),
    kind=("mlflow.spanType",),
    kinds={**SPAN_KINDS, "chat_model": LLM, '"tool"': TOOL, '"llm"': LLM, '"chat_model"': LLM, '"agent"': AGENT},
    arguments=("mlflow.spanInputs",),
    result=("mlflow.spanOutputs",),
)

DIALECTS = (VERCEL_AI, OPENINFERENCE, TRACELOOP, PYDANTIC_AI, ADK, OPENAI_AGENTS, TRACEAI, MLFLOW, GENAI)
"""All of them, in the order in which marks are looked for."""
