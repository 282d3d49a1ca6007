"""What the metadata of a Langfuse observation says of the span it came from: OpenTelemetry attributes, LangChain inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, valid
from tracelens.projection import ARRAY, NUMBER, OBJECT, STRING, Found, Projection, Row
from tracelens.sources.backends.members import joined, json_text, named, objects
from tracelens.sources.backends.spanned import among, first_of
from tracelens.sources.backends.steps.model import Mask, inside

METADATA = Projection(
    Row(
        "metadata",
        capture={"attributes": "attributes", "inputs": "inputs", "tools": "tools", "case_id": "case_id"},
        rows=[Row("tool", "tools[*]")],
    )
)

ATTRIBUTES = Projection(
    Row(
        "attributes",
        capture={
            "tool": ('"tool.name"', '"ai.toolCall.name"', '"gen_ai.tool.name"'),
            "call_id": ('"tool_call.id"', '"ai.toolCall.id"', '"gen_ai.tool.call.id"'),
            "kind": ('"openinference.span.kind"', '"gen_ai.operation.name"'),
            "traced": '"langsmith.span.kind"',
            "agent": ('"agent_name"', '"gen_ai.agent.name"'),
            "answer": '"final_result"',
            "parameters": '"model_request_parameters"',
        },
    )
)

MEMBERS = Projection(
    Row(
        "metadata",
        capture={"attributes": "attributes", "resource": "resourceAttributes", "scope": "scope"},
        rows=[Row("member", ".*")],
    )
)

PARAMETERS = Projection(Row("parameters", capture={"tools": "function_tools"}))


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata by observation.

    Attributes:
        tool: str?[n], name of a tool.
        call_id: str?[n].
        is_tool: bool[n]: the span was that of a tool.
        wraps: bool[n]: the tracer put the arguments into a member ``input``.
        agent: str?[n], name of the agent whose span it is.
        inputs: str?[n], arguments as LangChain's callback kept them beside the printed ones.
        tools: str?[n], tool definitions, a JSON array.
        case_id: str?[n].
    """

    tool: pa.Array
    call_id: pa.Array
    is_tool: Mask
    wraps: Mask
    agent: pa.Array
    inputs: pa.Array
    tools: pa.Array
    case_id: pa.Array


def _read(what: Projection, given: pa.Array) -> tuple[dict[str, Found], Found]:
    """The tables of a projection of texts, and the outermost one."""
    found = inside(what, given)
    return found.tables, found.top


def metadata_of(given: pa.Array) -> Metadata:
    r"""Read metadata.

    Args:
        given: str?[n], JSON text; attributes may be text inside it once more.

    Example:
        >>> found = metadata_of(pa.array(['{"attributes": "{\\"gen_ai.tool.name\\": \\"find\\"}"}'], TEXT))
        >>> found.tool.to_pylist(), found.is_tool.tolist()
        (['find'], [True])
    """
    n = len(given)
    tables, top = _read(METADATA, given)
    row = top.parent.astype(np.int64)

    def spread(values: pa.Array, of: npt.NDArray[np.int64]) -> pa.Array:
        return first_of(values, of, n)

    _, inner = _read(ATTRIBUTES, top.text("attributes", OBJECT, STRING))
    deep = row[inner.parent]
    kinds = pc.utf8_lower(inner.text("kind"))
    traced = among(inner.text("traced"), "tool")
    is_tool = among(kinds, "tool", "execute_tool") | traced | valid(inner.text("tool"))
    other = among(kinds, "llm", "chat", "agent", "invoke_agent", "chain")
    _, asked = _read(PARAMETERS, inner.text("parameters", OBJECT, STRING))
    of_parameters = deep[asked.parent]
    listed = tables["tool"]
    definitions = pc.coalesce(
        spread(_empty(asked.text("tools", ARRAY)), of_parameters),
        spread(joined(listed.text("@", OBJECT, STRING), listed.parent, top.n), row),
    )
    flags = np.zeros((2, n), np.bool_)
    flags[0, deep] = is_tool & ~other
    flags[1, deep] = traced
    return Metadata(
        tool=spread(inner.text("tool"), deep),
        call_id=spread(inner.text("call_id", STRING, NUMBER), deep),
        is_tool=flags[0],
        wraps=flags[1],
        agent=spread(inner.text("agent"), deep),
        inputs=spread(top.text("inputs", OBJECT), row),
        tools=definitions,
        case_id=spread(top.text("case_id", STRING, NUMBER), row),
    )


def own_members(given: pa.Array) -> pa.Array:
    """str?[n]: metadata without what OpenTelemetry put there, null where nothing is left.

    Example:
        >>> own_members(pa.array(['{"a": 1, "scope": {}}', '{"scope": {}}'], TEXT)).to_pylist()
        ['{"a": 1}', None]
    """
    tables, top = _read(MEMBERS, given)
    inside = tables["member"]
    row = top.parent.astype(np.int64)
    return objects(len(given), [named("", json_text(inside, "@key"), json_text(inside, "@"), row[inside.parent])])


def _empty(values: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(values, "[]"), pa.scalar(None, TEXT), values)
