"""Phoenix spans (OpenInference): the JSON of its API and command line, and ``get_spans_dataframe`` saved as JSON.

Attributes are flat with dots (``attributes.tool.name``), nested, or columns of their own. Spans of kind ``TOOL`` are calls:
arguments are ``input.value``, results ``output.value``. ``tool.parameters`` is a schema and no argument. Models ask for
calls in ``llm.output_messages``. LangChain's bare strings (a tool with one text parameter) take the arguments of the
request, and whole tool messages in ``output.value`` are taken apart. Frames hold spans newest first; start times give
the order. Span annotations (``annotations``) become tags ``phoenix.<name>`` where they are the root's: the score, or
the label where there is no score.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import NOT_CAPTURED, TEXT, valid
from tracelens.projection import (
    ANYTHING,
    FORMS,
    NONE,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    Found,
    Projected,
    Projection,
    Row,
)
from tracelens.sources.backends.members import joined, json_text, member, named
from tracelens.sources.backends.parts import pieces_with_parts
from tracelens.sources.backends.spanned import (
    Spans,
    among,
    chosen,
    decimals,
    first_of,
    nanoseconds,
    numbers_of_kinds,
    problem,
    some,
    tables_of,
    verdict,
)
from tracelens.sources.backends.steps.arguments import LOST, recorded
from tracelens.sources.backends.steps.model import AGENT, CHAIN, LLM, OTHER, TOOL, asks_table, steps_table
from tracelens.sources.backends.steps.results import results
from tracelens.sources.backends.steps.said import root_texts
from tracelens.sources.base import Head, Sniff, Tables
from tracelens.sources.gather import GatheredSource, Pieces, Seen
from tracelens.sources.reading.io import Block

KINDS = {
    "TOOL": TOOL,
    "LLM": LLM,
    "AGENT": AGENT,
    "CHAIN": CHAIN,
    "RETRIEVER": OTHER,
    "EMBEDDING": OTHER,
    "RERANKER": OTHER,
    "GUARDRAIL": OTHER,
    "EVALUATOR": OTHER,
    "PROMPT": OTHER,
}

HIDDEN = (
    "spans of tools have no input.value, so arguments are unknown: do not set OPENINFERENCE_HIDE_INPUTS, and export"
    " attributes.input.value"
)

REDACTED = "__REDACTED__"
"""What OpenInference writes in place of a value that is hidden."""


def attribute(path: str) -> list[str]:
    """Where an attribute may stand: a column, nested, or flat inside of ``attributes``.

    Example:
        >>> attribute("tool.name")
        ['"attributes.tool.name"', 'attributes.tool.name', 'attributes."tool.name"']
    """
    return [f'"attributes.{path}"', f"attributes.{path}", f'attributes."{path}"']


def messages(name: str) -> list[str]:
    """Where lists of messages may stand."""
    return [f"{path}[*]" for path in attribute(name)]


MARK = {"name": "name", "score": ("score", "result.score"), "label": ("label", "result.label")}

KEY = {"trace": ('"context.trace_id"', "context.trace_id", "trace_id")}

SPAN = {
    **KEY,
    "id": ('"context.span_id"', "context.span_id", "span_id"),
    "parent": "parent_id",
    "name": "name",
    "kind": ("span_kind", *attribute("openinference.span.kind")),
    "start": "start_time",
    "end": "end_time",
    "status": "status_code",
    "message": "status_message",
    "input": attribute("input.value"),
    "output": attribute("output.value"),
    "tool": attribute("tool.name"),
    "call_id": [*attribute("tool.id"), *attribute("tool_call.id")],
    "agent": [*attribute("agent.name"), *attribute("graph.node.id")],
    "model": attribute("llm.model_name"),
    "input_tokens": attribute("llm.token_count.prompt"),
    "output_tokens": attribute("llm.token_count.completion"),
    "cost": attribute("llm.cost.total"),
    "session": attribute("session.id"),
    "metadata": attribute("metadata"),
    "case_id": ("attributes.metadata.case_id", '"attributes.metadata".case_id'),
}

CALL = {
    "id": ('"tool_call.id"', "tool_call.id"),
    "name": ('"tool_call.function.name"', "tool_call.function.name"),
    "arguments": ('"tool_call.function.arguments"', "tool_call.function.arguments"),
}

MESSAGE = {
    "role": ('"message.role"', "message.role"),
    "content": ('"message.content"', "message.content"),
    "call_id": ('"message.tool_call_id"', "message.tool_call_id"),
}


class Phoenix(GatheredSource):
    """Spans of Phoenix."""

    name = "phoenix"
    title = "Phoenix spans (OpenInference): JSON of the API, or a dataframe as JSON, a span a record"
    seen = False
    sample = "phoenix.jsonl"
    keys = Projection(Row("line", capture=KEY, rows=[Row("part", ("data[*]", "spans[*]"), KEY)]))
    projection = Projection(
        Row(
            "line",
            capture=SPAN,
            rows=[
                Row(
                    "said",
                    messages("llm.output_messages"),
                    MESSAGE,
                    [Row("call", ('"message.tool_calls"[*]', "message.tool_calls[*]"), CALL)],
                ),
                Row("told", messages("llm.input_messages"), MESSAGE),
                Row("tool", messages("llm.tools"), {"schema": ('"tool.json_schema"', "tool.json_schema")}),
                Row("mark", "annotations[*]", MARK),
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``context.trace_id`` (or ``context`` with a ``trace_id``) and ``span_kind``."""
        found = [record for record in head.records if isinstance(record, dict)]
        for record in list(found):
            for key in ("data", "spans"):
                inner = record.get(key)
                found += [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []
        for record in found:
            context = record.get("context")
            nested = isinstance(context, dict) and "trace_id" in context
            if (nested or "context.trace_id" in record) and ("span_kind" in record or "attributes" in record):
                return Sniff(97, "records have a context with a trace_id, and span_kind")
        return Sniff(0, "records have no context.trace_id with span_kind")

    def pieces_of(self, block: Block) -> Seen:
        """Spans, alone or in a page of the API."""
        return pieces_with_parts(block, self.keys, lambda rows, _: rows.text("trace", STRING, NUMBER))

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole traces."""
        spans = spans_of(pieces.found, pieces.trace.astype(np.int64), pieces.n_traces)
        return tables_of(spans, pieces.columns(), pieces.n_traces, HIDDEN)


def spans_of(found: Projected, trace: npt.NDArray[np.int64], n: int) -> Spans:
    """What spans say."""
    line, mark = found["line"], found["mark"]
    root = line.has("parent", NONE, NULL)
    outputs = line.text("output", *ANYTHING, where=root)
    of_root = chosen(root[mark.parent], json_text(mark, "name", STRING))
    said = pc.coalesce(json_text(mark, "score", NUMBER), json_text(mark, "label", STRING))
    return Spans(
        _steps(found, trace),
        asks=_asks(found),
        columns={
            "session_id": first_of(line.text("session", STRING, NUMBER), trace, n),
            "case_id": first_of(line.text("case_id", STRING, NUMBER), trace, n),
        },
        tags=[
            member("name", first_of(chosen(root, json_text(line, "name", STRING)), trace, n)),
            member("metadata", first_of(chosen(root, line.text("metadata", OBJECT)), trace, n)),
            named("phoenix.", of_root, said, trace[mark.parent]),
        ],
        answers=first_of(root_texts(outputs.filter(pa.array(root))), trace[root], n),
        tools=_tools(found, trace),
    )


def _steps(found: Projected, trace: npt.NDArray[np.int64]) -> pa.Table:
    """The spans."""
    line, said = found["line"], found["said"]
    kind = numbers_of_kinds(pc.utf8_upper(line.text("kind")), KINDS)
    tool = kind == TOOL
    arguments, form, repair = _arguments(line, tool)
    gave = results(line.text("output", *ANYTHING, where=tool))
    code = pc.utf8_upper(line.text("status"))
    failed = among(code, "ERROR")
    name = line.text("name")
    spoken = first_of(said.text("content"), said.parent, line.n)
    return steps_table(
        line.n,
        trace=trace,
        span_id=line.text("id"),
        parent_id=some(line.text("parent")),
        kind=kind,
        name=chosen(tool, pc.coalesce(line.text("tool"), name), name),
        agent=line.text("agent"),
        model=line.text("model"),
        start=nanoseconds(line, "start"),
        end=nanoseconds(line, "end"),
        status=verdict(failed, gave.status, among(code, "OK")),
        error=problem(failed, some(line.text("message")), gave),
        arguments=arguments,
        arguments_form=form,
        repair=repair,
        call_id=chosen(tool, pc.coalesce(line.text("call_id", STRING, NUMBER), gave.call_id)),
        output=pc.coalesce(spoken, chosen(tool, gave.text, line.text("output", *ANYTHING, where=kind == LLM))),
        input_tokens=_whole(line, "input_tokens"),
        output_tokens=_whole(line, "output_tokens"),
        cost=decimals(line, "cost"),
    )


def _whole(line: Found, name: str) -> pa.Array:
    """Whole numbers, also where a frame made them floats."""
    return pc.coalesce(line.integer(name), line.float(name).cast(pa.int64(), safe=False))


def _arguments(line: Found, tool: npt.NDArray[np.bool_]) -> tuple[pa.Array, npt.NDArray[np.uint8], pa.Array]:
    """Arguments of tools: ``input.value``; a bare string lost its key."""
    given, form = line.text("input", *ANYTHING, where=tool), FORMS[line.kind("input")]
    form = np.where(line.has("input", NONE, NULL) | among(given, REDACTED), np.uint8(NOT_CAPTURED), form)
    arguments, form, repair = recorded(given, form.astype(np.uint8))
    opens = pc.fill_null(pc.match_substring_regex(arguments, r"^\s*\{"), True)
    bare = pa.array(tool & line.has("input", STRING) & ~opens.to_numpy(zero_copy_only=False))
    return arguments, form, pc.if_else(bare, pa.scalar(LOST, TEXT), repair)


def _asks(found: Projected) -> pa.Table:
    """The calls in output messages."""
    said, call = found["said"], found["call"]
    arguments, form = call.arguments("arguments")
    name = call.text("name")
    return asks_table(
        call.n,
        step=said.parent[call.parent].astype(np.int64),
        name=name,
        malformed=~valid(name),
        arguments=arguments,
        arguments_form=form,
        call_id=call.text("id", STRING, NUMBER),
    )


def _tools(found: Projected, trace: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """Tool definitions of models, an array for each span."""
    line, tool = found["line"], found["tool"]
    schema = tool.text("schema", OBJECT, STRING)
    return trace, joined(schema, tool.parent, line.n)
