"""OpenAI Agents SDK traces: ``trace`` and ``trace.span`` objects, a record each, as its exporters write them.

A ``function`` span is a call; the format records no call id. Calls of one ``turn`` span were asked for together. A
``handoff`` span is a call of kind ``handoff`` named as the SDK names the tool, ``transfer_to_<agent>``. Results are texts
as Python prints them. A field that the SDK cut (it ends in ``... [truncated]``) is truncated, not malformed. The
session is ``group_id``; ``metadata`` and the workflow's name become tags.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import JSON_STRING, NOT_CAPTURED, TEXT, TRUNCATED
from tracelens.projection import ANYTHING, FORMS, NONE, NULL, NUMBER, OBJECT, STRING, Found, Projected, Projection, Row
from tracelens.sources.backends.members import json_text, member
from tracelens.sources.backends.parts import pieces_with_parts
from tracelens.sources.backends.spanned import (
    Spans,
    among,
    chosen,
    first_of,
    later,
    nanoseconds,
    numbers_of_kinds,
    tables_of,
)
from tracelens.sources.backends.steps.model import AGENT, CHAIN, LLM, TOOL, Mask, steps_table
from tracelens.sources.base import Head, Sniff, Tables
from tracelens.sources.gather import GatheredSource, Pieces, Seen
from tracelens.sources.reading.io import Block

KINDS = {
    "function": TOOL,
    "handoff": TOOL,
    "generation": LLM,
    "response": LLM,
    "agent": AGENT,
    "custom": CHAIN,
    "turn": CHAIN,
    "task": CHAIN,
}

CUT = "... [truncated]"
"""How the SDK ends a field that it cut."""

HIDDEN = (
    "inputs of function spans were not captured, so arguments are unknown: set trace_include_sensitive_data=True in the"
    " RunConfig, or OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA=true"
)

KEY = {"object": "object", "trace": "trace_id", "id": "id"}

SPAN = {
    **KEY,
    "parent": "parent_id",
    "start": "started_at",
    "end": "ended_at",
    "error": "error",
    "message": "error.message",
    "detail": "error.data.error",
    "workflow": "workflow_name",
    "session": "group_id",
    "metadata": "metadata",
    "case_id": "metadata.case_id",
    "kind": "span_data.type",
    "step": "span_data.data.sdk_span_type",
    "name": "span_data.name",
    "agent": "span_data.data.agent_name",
    "to": "span_data.to_agent",
    "input": "span_data.input",
    "output": ("span_data.output", "span_data.response"),
    "model": "span_data.model",
    "input_tokens": "span_data.usage.input_tokens",
    "output_tokens": "span_data.usage.output_tokens",
}


class OpenAIAgents(GatheredSource):
    """Traces of the OpenAI Agents SDK."""

    name = "openai-agents"
    title = "OpenAI Agents SDK trace export: JSON lines of trace and trace.span objects"
    sample = "openai-agents.jsonl"
    keys = Projection(Row("line", capture=KEY, rows=[Row("part", ("data[*]", "spans[*]"), KEY)]))
    projection = Projection(Row("line", capture=SPAN))

    def sniff(self, head: Head) -> Sniff:
        """Objects whose ``object`` is ``trace`` or ``trace.span``, alone or as ``data`` of an upload."""
        objects = [record for record in head.records if isinstance(record, dict)]
        for record in list(objects):
            data = record.get("data")
            objects += [each for each in data if isinstance(each, dict)] if isinstance(data, list) else []
        if any(record.get("object") in {"trace", "trace.span"} for record in objects):
            return Sniff(97, "records are trace and trace.span objects")
        return Sniff(0, "no record is a trace or trace.span object")

    def pieces_of(self, block: Block) -> Seen:
        """Traces and spans, alone or inside an upload."""
        return pieces_with_parts(block, self.keys, lambda rows, _: _trace_of(rows))

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole traces."""
        spans = spans_of(pieces.found, pieces.trace.astype(np.int64), pieces.n_traces)
        return tables_of(spans, pieces.columns(), pieces.n_traces, HIDDEN)


def _trace_of(rows: Found) -> pa.Array:
    """The trace of each record: spans name it, a trace is it."""
    kind = rows.text("object")
    own = chosen(among(kind, "trace"), rows.text("id"))
    return chosen(among(kind, "trace", "trace.span"), pc.coalesce(rows.text("trace"), own))


def spans_of(found: Projected, trace: npt.NDArray[np.int64], n: int) -> Spans:
    """What the records say."""
    line = found["line"]
    span = among(line.text("object"), "trace.span")
    spans = found.keeping(span)["line"]
    return Spans(
        _steps(spans, trace[span]),
        inputs=later(spans, "input"),
        columns={
            "session_id": first_of(line.text("session", STRING, NUMBER), trace, n),
            "case_id": first_of(line.text("case_id", STRING, NUMBER), trace, n),
        },
        tags=[
            member("workflow", first_of(json_text(line, "workflow", STRING), trace, n)),
            member("metadata", first_of(line.text("metadata", OBJECT), trace, n)),
        ],
    )


def _steps(span: Found, trace: npt.NDArray[np.int64]) -> pa.Table:
    """The spans."""
    word = span.text("kind")
    kind = numbers_of_kinds(word, KINDS)
    handoff = among(word, "handoff")
    given, form = _arguments(span, kind == TOOL, handoff)
    failed = ~span.has("error", NONE, NULL)
    parent = span.text("parent")
    turn = among(span.text("step"), "turn") | among(word, "turn")
    turns = pc.unique(span.text("id").filter(pa.array(turn)))
    return steps_table(
        span.n,
        trace=trace,
        span_id=span.text("id"),
        parent_id=parent,
        kind=kind,
        name=chosen(handoff, _handoff_names(span.text("to")), span.text("name")),
        agent=span.text("agent"),
        model=span.text("model"),
        start=nanoseconds(span, "start"),
        end=nanoseconds(span, "end"),
        status=pc.if_else(pa.array(failed), pa.scalar("error", TEXT), pa.scalar("ok", TEXT)),
        error=chosen(failed, pc.coalesce(span.text("detail", *ANYTHING), span.text("message"))),
        arguments=given,
        arguments_form=form,
        call_kind=chosen(handoff, pa.repeat(pa.scalar("handoff", TEXT), span.n)),
        output=span.text("output", *ANYTHING),
        group=pc.if_else(pc.is_in(parent, turns), parent, pa.scalar(None, TEXT)),
        input_tokens=span.integer("input_tokens"),
        output_tokens=span.integer("output_tokens"),
    )


def _arguments(span: Found, tool: Mask, handoff: Mask) -> tuple[pa.Array, npt.NDArray[np.uint8]]:
    """The arguments of calls, and how they are held."""
    given, form = span.text("input", *ANYTHING, where=tool), FORMS[span.kind("input")]
    cut = pc.fill_null(pc.ends_with(given, CUT), False).to_numpy(zero_copy_only=False)
    form = np.where(span.has("input", NONE, NULL) | handoff, np.uint8(NOT_CAPTURED), form).astype(np.uint8)
    form[cut & (form == JSON_STRING)] = TRUNCATED
    return given, form


def _handoff_names(to: pa.Array) -> pa.Array:
    """The tool by which the SDK hands over to an agent."""
    plain = pc.replace_substring_regex(pc.utf8_lower(to), "[^a-z0-9]", "_")
    return pc.binary_join_element_wise(pa.scalar("transfer_to_", TEXT), plain, pa.scalar("", TEXT))
