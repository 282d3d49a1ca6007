"""The native format: JSON lines, one trace a line, with ``tool_calls``.

A call's arguments may be a value or JSON text. An entry of ``tool_calls`` that is no object or has no name is kept as
a malformed call. Calls count as not recorded where ``tool_calls`` is absent or null. A call with an ``error`` and no
``status`` failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import ABSENT, CALLS, TEXT, TRACES, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ANYTHING, ARRAY, NONE, NULL, NUMBER, OBJECT, STRING, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables
from tracelens.sources.envelope import (
    ENVELOPE,
    REFERENCES,
    envelope_faults,
    expected_table,
    trace_columns,
)
from tracelens.sources.limits import STATUSES
from tracelens.sources.oddities import Oddities

CALL = Row(
    "call",
    "tool_calls[*]",
    capture={
        "name": "name",
        "arguments": "arguments",
        "call_id": "call_id",
        "turn": "turn",
        "agent": "agent",
        "depth": "depth",
        "status": "status",
        "result": "result",
        "error": "error",
        "started_at": "started_at",
        "duration_ms": "duration_ms",
    },
)


class Native(JsonSource):
    """Traces as one JSON object each, with ``tool_calls``."""

    name = "native"
    title = "TraceLens JSON lines: one trace a line, with tool_calls"
    sample = "native.jsonl"
    text_is_given = True
    projection = Projection(Row("line", capture={**ENVELOPE, "tool_calls": "tool_calls"}, rows=[CALL, *REFERENCES]))

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``tool_calls`` and without ``messages``."""
        objects = [record for record in head.records if isinstance(record, dict)]
        if not objects:
            return Sniff(0, "no record is an object")
        if any("messages" in record for record in objects):
            return Sniff(0, "records have messages")
        with_calls = sum("tool_calls" in record for record in objects)
        if not with_calls:
            known = sum("trace_id" in record for record in objects)
            return Sniff(20 if known else 0, "no record has tool_calls")
        return Sniff(95 if any("trace_id" in record for record in objects) else 85, "records have tool_calls")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A record that is no object, or whose shared fields or ``tool_calls`` have a wrong type."""
        line = found["line"]
        yield ~line.has("@", OBJECT), "a trace must be a JSON object"
        yield ~line.has("tool_calls", NONE, NULL, ARRAY), "tool_calls is no array"
        yield from envelope_faults(found, line)

    def tables(self, records: Records) -> Tables:
        """The tables of the good records."""
        line, call = records.found["line"], records.found["call"]
        odd = Oddities(records)
        columns = trace_columns(records, line, odd)
        columns["has_calls"] = line.has("tool_calls", ARRAY)
        calls = table(CALLS, call.n, **call_columns(call, line.n, odd))
        traces = table(TRACES, line.n, **columns)
        return Tables(traces, calls, expected_table(records.found), remarks=odd.found)


def call_columns(call: Found, n_traces: int, odd: Oddities) -> dict[str, Any]:
    """The columns of `tracelens.columns.CALLS` of native calls."""
    arguments, form = call.arguments("arguments")
    nameless = ~call.has("@", OBJECT) | ~call.has("name", STRING)
    error = call.text("error", *ANYTHING)
    status = _statuses(call, error, odd)
    return {
        "trace": call.parent.astype(np.uint32),
        "call_index": positions_in(group_offsets(call.parent, n_traces)),
        "name": call.text("name"),
        "malformed": nameless,
        "arguments": arguments,
        "arguments_form": np.where(call.has("@", OBJECT), form, ABSENT).astype(np.uint8),
        "call_id": odd.checked(call, "call_id", call.text("call_id", STRING, NUMBER), "text"),
        "turn": odd.checked(call, "turn", call.integer("turn"), "whole"),
        "agent": odd.checked(call, "agent", call.text("agent"), "text"),
        "depth": pc.fill_null(odd.checked(call, "depth", call.integer("depth"), "whole"), 0),
        "status": status,
        "result": call.text("result", *ANYTHING),
        "error": error,
        "started_at": odd.checked(call, "started_at", call.time("started_at"), "time"),
        "duration_ms": odd.checked(call, "duration_ms", call.float("duration_ms"), "number"),
    }


def _statuses(call: Found, error: pa.Array, odd: Oddities) -> pa.Array:
    """Known statuses; a call with an error and none failed."""
    status = call.text("status")
    if call.absent("status") and error.null_count == call.n:
        return status
    known = pc.if_else(pc.is_in(status, STATUSES), status, pa.scalar(None, TEXT))
    odd.checked(call, "status", known, "status")
    silent = pc.and_(pc.is_null(status), pc.is_valid(error))
    return pc.if_else(silent, pa.scalar("error", TEXT), known)
