"""Weave calls (Weights & Biases): a call of an op a record, as ``calls/stream_query`` and the exports of the UI give them.

The name of an op is the part of its URI before the version. An op whose kind (``attributes.weave.kind`` or
``attributes.kind``) is ``tool`` is a call; so is an op of the name of a tool that a model asked for. Ops that return what
a model says (``choices``, content blocks, ``candidates``) are models. Of the inputs of a method ``self`` is left out.
Feedback on the root, whatever a scorer gave, becomes a tag ``weave.<type>``. The session is ``thread_id``, the case ``case_id``
of the root's attributes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import JSON_VALUE, NOT_CAPTURED, TEXT, one_chunk, valid
from tracelens.projection import (
    ANYTHING,
    ARRAY,
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
from tracelens.sources.backends.members import json_text, member, named, objects
from tracelens.sources.backends.spanned import (
    Spans,
    among,
    chosen,
    first_of,
    later,
    nanoseconds,
    numbers_of_kinds,
    problem,
    tables_of,
    verdict,
    without_idle,
)
from tracelens.sources.backends.steps.arguments import recorded
from tracelens.sources.backends.steps.asks import said
from tracelens.sources.backends.steps.model import AGENT, LLM, MAYBE, OTHER, TOOL, Mask, inside, steps_table
from tracelens.sources.backends.steps.results import results
from tracelens.sources.backends.steps.said import root_texts
from tracelens.sources.base import Head, Sniff, Tables
from tracelens.sources.gather import GatheredSource, Pieces

KINDS = {"tool": TOOL, "llm": LLM, "agent": AGENT, "guardrail": OTHER, "scorer": OTHER, "retriever": OTHER}

OP = r"^weave:///(?:.*/)?op/([^:]*)(?::.*)?$"
"""The URI of an op: entity, project, name and version."""

HIDDEN = "calls have no inputs, so arguments are unknown: export calls with their inputs, without redaction"

CALL = {
    "trace": "trace_id",
    "id": "id",
    "op": "op_name",
    "parent": "parent_id",
    "session": "thread_id",
    "start": "started_at",
    "end": "ended_at",
    "kind": ("attributes.kind", "attributes.weave.kind"),
    "case_id": "attributes.case_id",
    "attributes": "attributes",
    "inputs": "inputs",
    "self": "inputs.self",
    "output": "output",
    "choices": ("output.choices", "output.candidates", "output.generations"),
    "blocks": "output.content",
    "error": "exception",
    "status": "summary.weave.status",
}

USAGE = {"input": ("prompt_tokens", "input_tokens"), "output": ("completion_tokens", "output_tokens")}

TOOLS = Projection(Row("inputs", capture={"tools": "tools"}))


class Weave(GatheredSource):
    """Calls of Weave."""

    name = "weave"
    title = "Weave calls: JSON lines or an array, a call of an op a record"
    seen = False
    sample = "weave.jsonl"
    keys = Projection(Row("line", capture={"trace": "trace_id"}))
    projection = Projection(
        Row(
            "line",
            capture=CALL,
            rows=[
                Row("argument", "inputs.*"),
                Row("usage", "summary.usage.*", USAGE),
                Row("score", "summary.weave.feedback[*]", {"name": "feedback_type", "value": "payload.output"}),
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``op_name``, ``started_at`` and ``inputs``."""
        found = [record for record in head.records if isinstance(record, dict)]
        if any({"op_name", "started_at", "inputs"} <= record.keys() for record in found):
            return Sniff(97, "records have op_name, started_at and inputs")
        return Sniff(0, "records have no op_name with started_at and inputs")

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole traces."""
        spans = spans_of(pieces.found, pieces.trace.astype(np.int64), pieces.n_traces)
        return tables_of(spans, pieces.columns(), pieces.n_traces, HIDDEN)


def spans_of(found: Projected, trace: npt.NDArray[np.int64], n: int) -> Spans:
    """What the calls of ops say."""
    line, score = found["line"], found["score"]
    root = line.has("parent", NONE, NULL)
    name = pc.replace_substring_regex(line.text("op"), OP, r"\1")
    kind = _kinds(line)
    spoken = line.text("output", *ANYTHING, where=kind == LLM)
    kind = without_idle(kind, name, one_chunk(said(spoken).asks["name"]))
    outputs = line.text("output", *ANYTHING, where=root)
    of_root = chosen(root[score.parent], json_text(score, "name", STRING))
    return Spans(
        _steps(found, kind, trace, name, spoken),
        inputs=later(line, "inputs"),
        columns={
            "session_id": first_of(line.text("session", STRING, NUMBER), trace, n),
            "case_id": first_of(chosen(root, line.text("case_id", STRING, NUMBER)), trace, n),
        },
        tags=[
            member("attributes", first_of(chosen(root, line.text("attributes", OBJECT)), trace, n)),
            named("weave.", of_root, json_text(score, "value"), trace[score.parent]),
        ],
        answers=first_of(root_texts(outputs.filter(pa.array(root))), trace[root], n),
        tools=(trace, _tools(line.text("inputs", OBJECT, where=kind == LLM))),
    )


def _steps(
    found: Projected, kind: npt.NDArray[np.uint8], trace: npt.NDArray[np.int64], name: pa.Array, spoken: pa.Array
) -> pa.Table:
    """The calls of ops as spans."""
    line, usage = found["line"], found["usage"]
    tool = (kind == TOOL) | (kind == MAYBE)
    arguments, form, repair = recorded(*_inputs(found, tool))
    gave = results(line.text("output", *ANYTHING, where=tool))
    error, said = line.text("error", *ANYTHING), line.text("status")
    failed = valid(error) | among(said, "error")
    return steps_table(
        line.n,
        trace=trace,
        span_id=line.text("id"),
        parent_id=line.text("parent"),
        kind=kind,
        name=name,
        model=first_of(usage.text("@key"), usage.parent, line.n),
        start=nanoseconds(line, "start"),
        end=nanoseconds(line, "end"),
        status=verdict(failed, gave.status, among(said, "success")),
        error=problem(failed, error, gave),
        arguments=arguments,
        arguments_form=form,
        repair=repair,
        call_id=gave.call_id,
        output=chosen(tool, gave.text, spoken),
        input_tokens=first_of(usage.integer("input"), usage.parent, line.n),
        output_tokens=first_of(usage.integer("output"), usage.parent, line.n),
    )


def _kinds(line: Found) -> npt.NDArray[np.uint8]:
    """uint8[n]: kinds of ops, models also by what they return."""
    kind = numbers_of_kinds(pc.utf8_lower(line.text("kind")), KINDS, MAYBE)
    speaks = line.has("choices", ARRAY) | line.has("blocks", ARRAY)
    kind[(kind == MAYBE) & speaks] = LLM
    return kind


def _inputs(found: Projected, tool: Mask) -> tuple[pa.Array, npt.NDArray[np.uint8]]:
    """The inputs of calls without ``self``."""
    line, argument = found["line"], found["argument"]
    given, form = line.text("inputs", *ANYTHING, where=tool), FORMS[line.kind("inputs")]
    form = np.where(line.has("inputs", NONE, NULL), np.uint8(NOT_CAPTURED), form).astype(np.uint8)
    bound = tool & ~line.has("self", NONE)
    if bound.any():
        of_tool = chosen(bound[argument.parent], json_text(argument, "@key"))
        rest = objects(line.n, [named("", of_tool, json_text(argument, "@"), argument.parent)])
        given = chosen(bound, pc.coalesce(rest, pa.scalar("{}", TEXT)), given)
        form[bound] = JSON_VALUE
    return given, form


def _tools(given: pa.Array) -> pa.Array:
    """The tools that models were offered."""
    top = inside(TOOLS, given)["inputs"]
    return first_of(top.text("tools", ARRAY), top.parent, len(given))
