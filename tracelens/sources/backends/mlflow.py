"""MLflow traces: ``{"info": …, "data": {"spans": […]}}``, a trace a record.

Every attribute is JSON text of its own, so inputs, outputs and the kind of a span are read twice. Spans of type ``TOOL``
are calls; the arguments are ``mlflow.spanInputs``, where positional ones are bound to names. Call ids stand only in
what chat models said. The schemas of MLflow 2 and 3 differ in where ids and times are. The session is
``mlflow.trace.session``; trace tags, metadata and assessments (as ``mlflow.<name>``) become tags. Previews are cut and not
read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import NOT_CAPTURED, TEXT, valid
from tracelens.projection import (
    ANYTHING,
    ARRAY,
    FORMS,
    NUMBER,
    OBJECT,
    STRING,
    Found,
    Projected,
    Projection,
    Row,
)
from tracelens.sources.backends.members import Members, json_text, member, named
from tracelens.sources.backends.spanned import (
    Spans,
    among,
    chosen,
    first_of,
    later,
    nanoseconds,
    numbers_of_kinds,
    problem,
    some,
    tables_of,
    verdict,
)
from tracelens.sources.backends.steps.arguments import recorded
from tracelens.sources.backends.steps.model import AGENT, CHAIN, LLM, TOOL, Mask, inside, steps_table
from tracelens.sources.backends.steps.results import results
from tracelens.sources.backends.steps.said import root_texts
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables

KINDS = {"TOOL": TOOL, "CHAT_MODEL": LLM, "LLM": LLM, "AGENT": AGENT, "CHAIN": CHAIN}

HIDDEN = (
    "spans of tools have no mlflow.spanInputs, so arguments are unknown: trace the tools with mlflow.trace or autologging,"
    " and export traces with their data"
)

SPAN = {
    "id": ("context.span_id", "span_id"),
    "parent": ("parent_id", "parent_span_id"),
    "name": "name",
    "start": ("start_time", "start_time_unix_nano"),
    "end": ("end_time", "end_time_unix_nano"),
    "status": ("status_code", "status.status_code", "status.code"),
    "message": ("status_message", "status.description", "status.message"),
    "kind": 'attributes."mlflow.spanType"',
    "inputs": 'attributes."mlflow.spanInputs"',
    "outputs": 'attributes."mlflow.spanOutputs"',
    "tools": 'attributes."mlflow.chat.tools"',
    "model": ('attributes."mlflow.llm.model"', 'attributes."model"'),
    "usage": 'attributes."mlflow.chat.tokenUsage"',
    "cost": 'attributes."mlflow.llm.cost"',
}

VALUE = Projection(Row("value"))

USAGE = Projection(Row("usage", capture={"input": "input_tokens", "output": "output_tokens", "cost": "total_cost"}))


class MLflow(JsonSource):
    """Traces of MLflow."""

    name = "mlflow"
    title = "MLflow traces: trace JSON (Trace.to_json), a trace a record"
    sample = "mlflow.json"
    projection = Projection(
        Row(
            "line",
            capture={
                "info": "info",
                "spans": "data.spans",
                "trace_id": ("info.request_id", "info.trace_id"),
                "session": (
                    'info.request_metadata."mlflow.trace.session"',
                    'info.trace_metadata."mlflow.trace.session"',
                ),
                "case_id": ("info.trace_metadata.case_id", "info.tags.case_id"),
                "state": ("info.status", "info.state"),
                "name": 'info.tags."mlflow.traceName"',
            },
            rows=[
                Row("tag", ("info.tags.*", "info.request_metadata.*", "info.trace_metadata.*")),
                Row(
                    "span",
                    "data.spans[*]",
                    SPAN,
                    [Row("event", "events[*]", {"text": 'attributes."exception.message"'})],
                ),
                Row(
                    "assessment",
                    ("info.assessments[*]", "assessments[*]"),
                    {
                        "name": ("name", "assessment_name"),
                        "value": ("feedback.value", "expectation.value", "numeric_value"),
                    },
                ),
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``info`` and ``data`` that has ``spans``."""
        for record in head.records:
            if isinstance(record, dict) and isinstance(record.get("info"), dict):
                data = record.get("data")
                if isinstance(data, dict) and "spans" in data:
                    return Sniff(97, "records have info and data with spans")
        return Sniff(0, "no record has info and data with spans")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A record without spans or without an id."""
        line = found["line"]
        yield ~line.has("@", OBJECT), "a trace must be a JSON object"
        yield ~line.has("spans", ARRAY), "data.spans is no array"
        yield ~line.has("trace_id", STRING), "info has no trace_id"

    def tables(self, records: Records) -> Tables:
        """The tables of the good records."""
        line = records.found["line"]
        columns = {
            "trace": np.arange(line.n, dtype=np.uint32),
            "trace_id": line.text("trace_id"),
            "id_given": np.ones(line.n, np.bool_),
            "has_calls": np.ones(line.n, np.bool_),
            "source": pa.repeat(pa.scalar(records.block.source, TEXT), line.n),
            "line": records.lines,
            "record_hi": records.digests[:, 0],
            "record_lo": records.digests[:, 1],
        }
        return tables_of(spans_of(records.found), columns, line.n, HIDDEN)


def inner(rows: Found, name: str, where: Mask | None = None) -> tuple[pa.Array, npt.NDArray[np.uint8]]:
    """An attribute that is JSON text: the text it holds if that is a string, else itself; and its form."""
    given = rows.text(name, *ANYTHING, where=where)
    top = inside(VALUE, given)["value"]
    string = top.has("@", STRING)
    out = np.arange(rows.n)
    out[top.parent[string]] = rows.n + np.arange(int(string.sum()))
    both = pa.concat_arrays([given, top.text("@").filter(pa.array(string))])
    form = np.full(rows.n, NOT_CAPTURED, np.uint8)
    form[valid(given)] = FORMS[STRING]
    form[top.parent] = FORMS[top.kind("@")]
    return both.take(pa.array(out)) if string.any() else given, form


def _instant(rows: Found, name: str) -> pa.Array:
    """Nanoseconds, as a number or as a time."""
    written = rows.text(name, NUMBER)
    try:
        number = written.cast(pa.int64())
    except pa.ArrowInvalid:  # some are no whole numbers, or beyond any instant
        number = rows.integer(name)
    return pc.coalesce(number, nanoseconds(rows, name)) if number.null_count else number


def spans_of(found: Projected) -> Spans:
    """What the spans of traces say."""
    line, span = found["line"], found["span"]
    trace = span.parent.astype(np.int64)
    root = ~valid(some(span.text("parent")))
    outputs = span.text("outputs", *ANYTHING, where=root)
    return Spans(
        _steps(found, trace),
        inputs=later(span, "inputs"),
        columns={
            "session_id": line.text("session"),
            "case_id": line.text("case_id"),
        },
        tags=_tags(found),
        answers=first_of(root_texts(outputs.filter(pa.array(root))), trace[root], line.n),
        tools=(trace, _lists(inner(span, "tools")[0])),
    )


def _steps(found: Projected, trace: npt.NDArray[np.int64]) -> pa.Table:
    """The spans of traces."""
    span, event = found["span"], found["event"]
    kind = numbers_of_kinds(inner(span, "kind")[0], KINDS)
    tool = kind == TOOL
    arguments, form, repair = recorded(*inner(span, "inputs", tool))
    gave = results(span.text("outputs", *ANYTHING, where=tool))
    code = span.text("status")
    failed = among(code, "STATUS_CODE_ERROR", "ERROR")
    thrown = first_of(event.text("text"), event.parent, span.n)
    usage, cost = _inside(span, "usage"), _inside(span, "cost")
    return steps_table(
        span.n,
        trace=trace,
        span_id=span.text("id"),
        parent_id=some(span.text("parent")),
        kind=kind,
        name=span.text("name"),
        model=inner(span, "model")[0],
        start=_instant(span, "start"),
        end=_instant(span, "end"),
        status=verdict(failed, gave.status, among(code, "STATUS_CODE_OK", "OK")),
        error=problem(failed, pc.coalesce(some(span.text("message")), thrown), gave),
        arguments=arguments,
        arguments_form=form,
        repair=repair,
        call_id=gave.call_id,
        output=chosen(tool, gave.text, span.text("outputs", *ANYTHING, where=kind == LLM)),
        input_tokens=first_of(usage.integer("input"), usage.parent, span.n),
        output_tokens=first_of(usage.integer("output"), usage.parent, span.n),
        cost=first_of(cost.float("cost"), cost.parent, span.n),
    )


def _lists(values: pa.Array) -> pa.Array:
    """Texts that are arrays."""
    opens = pc.starts_with(pc.utf8_ltrim_whitespace(values), "[")
    return pc.if_else(opens, values, pa.scalar(None, TEXT))


def _inside(span: Found, name: str) -> Found:
    """The members of an attribute that is the text of an object, a row for each span that has it."""
    return inside(USAGE, span.text(name, *ANYTHING))["usage"]


def _tags(found: Projected) -> list[Members]:
    """The name, what users set (not what MLflow itself did), and assessments."""
    line, mark, tag = found["line"], found["assessment"], found["tag"]
    key = tag.text("@key")
    own = pc.fill_null(pc.starts_with(key, "mlflow."), True)
    of_user = pc.if_else(own, pa.scalar(None, TEXT), json_text(tag, "@"))
    return [
        member("name", json_text(line, "name", STRING)),
        named("", json_text(tag, "@key"), of_user, tag.parent.astype(np.int64)),
        named("mlflow.", json_text(mark, "name", STRING), json_text(mark, "value"), mark.parent.astype(np.int64)),
    ]
