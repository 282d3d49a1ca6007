"""OTLP/JSON: lines, arrays or documents of spans and log records, every dialect of agent spans in one reader.

The trace is the ``traceId``; spans of a trace may lie anywhere in the files, log records with content (operation
details, choices) in files of their own. A span counts once by its id. Calls are merged from messages and tool spans;
see `tracelens.sources.otlp.merge`. ``case_id`` is the attribute ``tracelens.case_id`` or ``case_id`` of any span, else of
the resource; ``tags`` holds the service's name.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import (
    CALLS,
    NOT_CAPTURED,
    SPANS,
    TEXT,
    TIME,
    TRACES,
    Remark,
    nullable,
    numbers,
    one_of,
    places,
    table,
    true,
    valid,
)
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ARRAY, STRING, Projected, Projection, Row, run
from tracelens.sources.base import Head, Sniff, Tables
from tracelens.sources.gather import GatheredSource, Pieces, Seen
from tracelens.sources.otlp.dialects import DIALECTS, KINDS
from tracelens.sources.otlp.executed import Executed, executed
from tracelens.sources.otlp.merge import Merged, merge, own_arguments
from tracelens.sources.otlp.messages import Requested, requested
from tracelens.sources.otlp.results import answered
from tracelens.sources.otlp.spans import LOG, SPAN, Spans, read_spans
from tracelens.sources.otlp.traces import trace_columns, usage
from tracelens.sources.reading.digests import digests_of
from tracelens.sources.reading.index import Found
from tracelens.sources.reading.io import Block
from tracelens.sources.rejects import Rejects

I64 = npt.NDArray[np.int64]

LINES = Projection(
    Row(
        "line",
        capture={"spans": "resourceSpans", "logs": "resourceLogs", "metrics": "resourceMetrics"},
        rows=[
            Row(
                "resource",
                ("resourceSpans[*]", "resourceLogs[*]"),
                rows=[
                    Row("resource_attribute", "resource.attributes[*]", {"key": "key", "string": "value.stringValue"}),
                    Row(
                        "scope",
                        ("scopeSpans[*]", "scopeLogs[*]", "instrumentationLibrarySpans[*]"),
                        capture={"name": ("scope.name", "instrumentationLibrary.name")},
                        rows=[
                            Row("span", "spans[*]", {"trace": "traceId", "id": "spanId"}),
                            Row("log", "logRecords[*]", {"trace": "traceId"}),
                        ],
                    ),
                ],
            )
        ],
    )
)
"""Where the spans and log records of a line stand, and what stands around them."""

LISTED = (ARRAY,)

NO_OTLP = "the record has neither resourceSpans nor resourceLogs"
METRICS = "the record holds metrics, which are no part of a trace"
NO_TRACE = "a span or log record without a traceId"
NO_ID = "a span without a spanId"


class Otlp(GatheredSource):
    """Spans of agents as OTLP/JSON."""

    name = "otlp"
    title = "OTLP/JSON spans: OpenTelemetry GenAI, OpenInference, traceAI, OpenLLMetry, Vercel AI, Pydantic AI, ADK"
    seen = True
    sample = "otlp.jsonl"
    identified = True
    projection = SPAN

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``resourceSpans`` or ``resourceLogs``."""
        objects = [record for record in head.records if isinstance(record, dict)]
        if any("resourceSpans" in record for record in objects):
            return Sniff(97, "records have resourceSpans")
        if any("resourceLogs" in record for record in objects):
            return Sniff(90, "records have resourceLogs")
        start = b"".join(head.start[:4096].split())
        if start.startswith((b'{"resourceSpans":', b'[{"resourceSpans":', b'{"resourceLogs":')):
            return Sniff(95, "the file begins with resourceSpans or resourceLogs")
        return Sniff(0, "records have neither resourceSpans nor resourceLogs")

    def pieces_of(self, block: Block) -> Seen:
        """The spans and log records of a block's lines."""
        marks = block.records()
        found = run(LINES, block.data, marks.starts, marks.ends)
        rejects = Rejects(block, marks)
        rejects.add_broken(found)
        line, scope, span, log = (found[name] for name in ("line", "scope", "span", "log"))
        record = line.parent.astype(np.int64)
        lists = line.has("spans", *LISTED) | line.has("logs", *LISTED)
        for row in np.flatnonzero(~lists):
            rejects.add(int(record[row]), METRICS if line.has("metrics", *LISTED)[row] else NO_OTLP)
        around = np.concatenate([span.parent, log.parent]).astype(np.int64)
        of_line = record[found["resource"].parent[scope.parent[around]]]
        keys = pc.ascii_lower(pa.concat_arrays([span.text("trace", STRING), log.text("trace", STRING)]))
        cells = [rows.cells("@") for rows in (span, log)]
        start = np.concatenate([cell.start for cell in cells]).astype(np.int64)
        end = np.concatenate([cell.end for cell in cells]).astype(np.int64)
        is_log = np.arange(start.size) >= span.n
        no_trace = ~valid(keys) | true(pc.equal(pc.binary_length(keys), 0))
        no_id = ~no_trace & ~is_log
        cell = span.cells("id")
        no_id[: span.n] &= ~span.has("id", STRING) | (cell.start == cell.end)
        for mask, why in ((no_trace, NO_TRACE), (no_id, NO_ID)):
            for row in np.flatnonzero(mask):
                rejects.add(int(of_line[row]), why, int(start[row]))
        labels, label = _labels(found, around, is_log)
        good = np.flatnonzero(~no_trace & ~no_id)
        good = good[np.argsort(start[good], kind="stable")]
        pieces = Found(
            keys.take(pa.array(good)), start[good], end[good], marks.lines[of_line[good]], label[good], labels
        )
        filled = np.zeros(marks.starts.size, np.bool_)
        filled[of_line] = True
        filled[record[~lists]] = True
        empty_lines = int(np.count_nonzero((found.errors[:, 0] <= 0) & ~filled))
        return Seen(pieces, rejects.table(), empty_lines, digests_of(block.data, marks.starts, marks.ends))

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole traces."""
        spans, n_merged = read_spans(pieces)
        asked, ran = requested(spans), executed(spans)
        merged = merge(spans, asked, ran)
        named, has = spans.agents()
        agents = spans.inherited(named, has)
        calls, remarks = _calls(spans, asked, ran, merged, agents)
        used = usage(spans)
        traces = table(TRACES, pieces.n_traces, **trace_columns(spans, asked, named, used))
        return Tables(traces, calls, spans=_spans(spans, ran, merged, agents, used), remarks=remarks, n_merged=n_merged)


def _labels(found: Projected, around: I64, is_log: npt.NDArray[np.bool_]) -> tuple[list[str], npt.NDArray[np.int32]]:
    """What stands around spans: span or log, scope, service and case, line by line; and which each has."""
    scope, resource, inner = found["scope"], found["resource"], found["resource_attribute"]
    columns = [scope.text("name")]
    key, value = inner.text("key"), inner.text("string")
    for name in ("service.name", "tracelens.case_id"):
        row = np.full(resource.n, -1, np.int64)
        at = np.flatnonzero(one_of(key, name))
        row[inner.parent[at]] = at
        of_scope = row[scope.parent]
        columns.append(value.take(places(of_scope)) if inner.n else pa.nulls(scope.n, TEXT))
    coded = [pc.fill_null(column, "").dictionary_encode() for column in columns]
    code = np.zeros(scope.n, np.int64)
    for column in coded:
        code = code * max(len(column.dictionary), 1) + numbers(column.indices)
    whole = code[around] * 2 + is_log
    _, first, label = np.unique(whole, return_index=True, return_inverse=True)
    texts = []
    for k in first.tolist():
        at_scope = int(around[k])
        parts = [column.dictionary[column.indices[at_scope].as_py()].as_py().replace("\n", " ") for column in coded]
        texts.append("\n".join([LOG if is_log[k] else "span", *parts]))
    return texts or [""], label.astype(np.int32)


def _calls(
    spans: Spans, asked: Requested, ran: Executed, merged: Merged, agents: pa.Array
) -> tuple[pa.Table, list[Remark]]:
    """The rows of `calls`, and what is to be said about them."""
    n = merged.asked.size
    ran_row = places(merged.ran)
    asked_row = places(merged.asked)

    def of_ran(values: pa.Array) -> pa.Array:
        return values.take(ran_row) if len(values) else pa.nulls(n, values.type)

    def of_asked(values: pa.Array) -> pa.Array:
        return values.take(asked_row) if len(values) else pa.nulls(n, values.type)

    arguments, form, written = own_arguments(asked, ran, merged)
    trace = merged.trace
    name = pc.coalesce(of_asked(asked.name), of_ran(ran.name))
    name = pc.if_else(pc.equal(name, ""), pa.scalar(None, TEXT), name)
    began = merged.ran >= 0
    started = np.where(began, spans.start[merged.span], 0)
    lasted = np.where(began & (spans.end[merged.span] > 0), spans.end[merged.span] - started, -1)
    server = np.zeros(n, np.bool_)
    server[merged.asked >= 0] = asked.server[merged.asked[merged.asked >= 0]]
    result = of_ran(ran.result)
    calls = table(
        CALLS,
        n,
        trace=trace.astype(np.uint32),
        call_index=positions_in(group_offsets(trace, spans.pieces.n_traces)),
        name=name,
        malformed=~valid(name),
        arguments=arguments,
        arguments_form=form,
        call_id=pc.coalesce(of_asked(asked.id), of_ran(ran.id)),
        turn=merged.turn.astype(np.int32),
        agent=agents.take(pa.array(merged.span)),
        depth=merged.depth.astype(np.int32),
        status=of_ran(ran.status),
        result=pc.coalesce(result, answered(spans, asked, merged)),
        error=of_ran(ran.error),
        started_at=nullable(started // 1000, started <= 0).cast(TIME),
        duration_ms=nullable(lasted / 1e6, (lasted < 0) | (started <= 0)),
        kind=pc.if_else(pa.array(server), pa.scalar("server", TEXT), pa.scalar(None, TEXT)),
        repair=pc.if_else(pa.array(written), pa.scalar(None, TEXT), of_ran(ran.repair)),
    )
    return calls, _remarks(spans, merged, form)


def _remarks(spans: Spans, merged: Merged, form: npt.NDArray[np.uint8]) -> list[Remark]:
    """What a reader should know of the calls: capture that was off, joins by name, ties."""
    hidden = form == NOT_CAPTURED
    told = []
    for number, dialect in enumerate(DIALECTS):
        mine = hidden & (spans.dialect[merged.span] == number)
        told.append((mine, f"a call's arguments were not captured by {dialect.name}; to have them, {dialect.capture}"))
    told += [
        (merged.inferred, "a call's message and its span were joined by name and order, because one has no id"),
        (
            merged.tied,
            "a call began when the one before it did, and only their order in the input tells which was first",
        ),
    ]
    out = []
    for mask, text in told:
        at = np.flatnonzero(mask)
        if at.size:
            out.append(Remark(text, at.size, spans.pieces.place(int(merged.span[at[0]]))))
    return out


def _spans(spans: Spans, ran: Executed, merged: Merged, agents: pa.Array, used: dict[str, pa.Array]) -> pa.Table:
    """The rows of `spans`, in the order in which they began."""
    index = np.full(spans.n, -1, np.int64)
    counted = positions_in(group_offsets(merged.trace, spans.pieces.n_traces))
    with_span = merged.ran >= 0
    index[ran.span[merged.ran[with_span]]] = counted[with_span]
    at = spans.by_start[~spans.is_log[spans.by_start]]
    where = pa.array(at)
    start, end = spans.start[at], spans.end[at]
    status = np.where(spans.code[at] == 2, 1, np.where(spans.code[at] == 1, 0, -1))
    return table(
        SPANS,
        at.size,
        trace=spans.trace[at].astype(np.uint32),
        span_id=spans.id.take(where),
        parent_id=spans.parent_id.take(where),
        kind=pa.array(KINDS, TEXT).take(pa.array(spans.kind[at])),
        name=spans.name.take(where),
        agent=agents.take(where),
        model=spans.text("model").take(where),
        call_index=nullable(index[at].astype(np.int32), index[at] < 0),
        status=pa.array(["ok", "error"], TEXT).take(places(status)),
        started_at=nullable(start // 1000, start <= 0).cast(TIME),
        duration_ms=nullable((end - start) / 1e6, (start <= 0) | (end <= 0)),
        **{name: values.take(where) for name, values in used.items()},
    )
