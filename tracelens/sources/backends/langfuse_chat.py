"""Langfuse's chat form: what a trace's observations were told and said, as messages, by the observation's id.

``{"<observation>": {"input": {"success": …, "data": […]}, "output": {…}}}``, a trace a record. The form has no times, no
parents and no types: calls are those that outputs ask for, results those that inputs tell, order that of the file. A
request that several observations repeat counts once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tracelens.columns import TEXT
from tracelens.projection import ARRAY, OBJECT, Projected, Projection, Row
from tracelens.sources.backends.spanned import Spans, among, tables_of
from tracelens.sources.backends.steps.model import LLM, steps_table
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables

UNORDERED = "the chat form of Langfuse has no times: calls stand in the order of the file"


ENTRY = {
    "input": "input.data",
    "output": "output.data",
    "role": "output.data[*].role",
    "tools": "input.data[*].tools",
}


class LangfuseChat(JsonSource):
    """The chat form of Langfuse."""

    name = "langfuse-chat"
    title = "Langfuse chat form: messages in and out by observation, a trace a record"
    sample = "langfuse-chat.json"
    projection = Projection(
        Row(
            "line",
            rows=[Row("entry", ".*", ENTRY)],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects whose members all have messages in or out, with word of whether they could be read."""
        for record in head.records:
            if isinstance(record, dict) and record and all(_is_entry(each) for each in record.values()):
                return Sniff(97, "records hold messages in and out by observation")
        return Sniff(0, "records do not hold messages in and out by observation")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A record that is no object."""
        yield ~found["line"].has("@", OBJECT), "a trace must be a JSON object"

    def tables(self, records: Records) -> Tables:
        """The tables of the good records."""
        line, entry = records.found["line"], records.found["entry"]
        inputs, outputs = entry.text("input", ARRAY, OBJECT), entry.text("output", ARRAY, OBJECT)
        trace = entry.parent.astype(np.int64)
        steps = steps_table(
            entry.n,
            trace=trace,
            span_id=entry.text("@key"),
            kind=np.where(among(entry.text("role"), "assistant", "model", "ai", "AI"), LLM, 0).astype(np.uint8),
            arguments_form=np.zeros(entry.n, np.uint8),
            output=outputs,
        )
        columns = {
            "trace": np.arange(line.n, dtype=np.uint32),
            "trace_id": pa.array([records.place(row) for row in range(line.n)], TEXT),
            "id_given": np.zeros(line.n, np.bool_),
            "has_calls": np.ones(line.n, np.bool_),
            "source": pa.repeat(pa.scalar(records.block.source, TEXT), line.n),
            "line": records.lines,
            "record_hi": records.digests[:, 0],
            "record_lo": records.digests[:, 1],
        }
        spans = Spans(
            steps,
            inputs=lambda rows: inputs.take(pa.array(rows)),
            tools=(trace, entry.text("tools", ARRAY)),
            notes=(UNORDERED,),
        )
        return tables_of(spans, columns, line.n, UNORDERED)


def _is_entry(value: object) -> bool:
    """Whether a value has messages in or out, each with word of its success."""
    if not isinstance(value, dict) or not value.keys() <= {"input", "output"}:
        return False
    return bool(value) and all(isinstance(side, dict) and "success" in side for side in value.values())
