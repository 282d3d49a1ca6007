"""What a record of our own making says about its trace beside the calls: ids, tags, usage, references.

The native format and its relatives share these fields of the top level of a record, so their declaration, checks and
columns stand here once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import EXPECTED, TEXT, numbers, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import (
    ANYTHING,
    ARRAY,
    NONE,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    Found,
    Projected,
    Row,
)
from tracelens.sources.base import Fault, Records, some_inside
from tracelens.sources.oddities import Oddities
from tracelens.sources.references import are_objects

ENVELOPE: Mapping[str, str] = {
    "trace_id": "trace_id",
    "session_id": "session_id",
    "case_id": "case_id",
    "agent": "agent",
    "started_at": "started_at",
    "tags": "tags",
    "complete": "complete",
    "usage": "usage",
    "tools": "tools",
    "final_answer": "final_answer",
    "llm_calls": "usage.llm_calls",
    "input_tokens": "usage.input_tokens",
    "output_tokens": "usage.output_tokens",
    "cost": "usage.cost",
    "expected": "expected",
    "references": "references",
}
"""Columns of the outermost table."""

_WANTED = {"name": "name", "arguments": "arguments"}

REFERENCES = (
    Row("expected", "expected[*]", _WANTED),
    Row("reference", "references[*]", rows=[Row("listed", "[*]", _WANTED)]),
)
"""Tables inside the outermost one: one inline reference, or a list of them."""


def envelope_faults(found: Projected, line: Found) -> Iterator[Fault]:
    """What makes the shared fields of a record unusable."""
    yield ~line.has("trace_id", NONE, NULL, STRING, NUMBER), "trace_id is neither a string nor a number"
    yield ~line.has("case_id", NONE, NULL, STRING, NUMBER), "case_id is neither a string nor a number"
    yield ~line.has("tags", NONE, NULL, OBJECT), "tags is no object"
    yield ~line.has("expected", NONE, NULL, ARRAY), "expected is no array"
    yield ~line.has("references", NONE, NULL, ARRAY), "references is no array"
    yield line.has("expected", ARRAY) & line.has("references", ARRAY), "both expected and references are given"
    yield some_inside(found, "reference", ~found["reference"].has("@", ARRAY)), "an entry of references is no array"
    for name in ("expected", "listed"):
        rows = found[name]
        nameless = ~rows.has("@", OBJECT) | ~rows.has("name", STRING)
        yield some_inside(found, name, nameless), "an expected call has no name"
        yield some_inside(found, name, ~_usable_arguments(rows)), "expected arguments are no object"


def _usable_arguments(rows: Found) -> npt.NDArray[np.bool_]:
    """bool[n]: arguments of expected calls that are absent, null, an object, or a string that is blank or holds one."""
    good = rows.has("arguments", NONE, NULL, OBJECT)
    written = rows.has("arguments", STRING)
    if written.any():
        good |= written & are_objects(rows.text("arguments"))
    return good


def trace_columns(
    records: Records, line: Found, odd: Oddities, *, made_up: bool = True, stand_in: str | None = None
) -> dict[str, Any]:
    """The columns of `tracelens.columns.TRACES` that a record's shared fields give.

    Args:
        records: The good records.
        line: Their outermost table.
        odd: Is told of values that are not what they should be.
        made_up: Whether a record without a ``trace_id`` gets one from its file and place.
        stand_in: The column that stands in for ``trace_id``, where a format has one.
    """
    block = records.block
    given = line.text("trace_id", STRING, NUMBER)
    given = pc.if_else(pc.equal(given, ""), pa.scalar(None, TEXT), given)
    if stand_in is not None and given.null_count:
        given = pc.coalesce(given, line.text(stand_in, STRING, NUMBER))
    lines = records.lines
    columns: dict[str, Any] = {
        "trace": np.arange(line.n, dtype=np.uint32),
        "trace_id": given,
        "id_given": pc.is_valid(given),
        "session_id": odd.checked(line, "session_id", line.text("session_id", STRING, NUMBER), "text"),
        "case_id": line.text("case_id", STRING, NUMBER),
        "agent": odd.checked(line, "agent", line.text("agent"), "text"),
        "started_at": odd.checked(line, "started_at", line.time("started_at"), "time"),
        "tags": line.text("tags", OBJECT),
        "complete": odd.checked(line, "complete", line.boolean("complete"), "flag"),
        "tools": odd.checked(line, "tools", line.text("tools", ARRAY, OBJECT, STRING), "definitions"),
        "final_answer": line.text("final_answer", *ANYTHING),
        "n_references": reference_counts(records.found, line),
        "source": pa.repeat(pa.scalar(block.source, TEXT), line.n),
        "line": lines,
        "record_hi": records.digests[:, 0],
        "record_lo": records.digests[:, 1],
        "cost": odd.checked(line, "cost", line.float("cost"), "number"),
    }
    for name in ("llm_calls", "input_tokens", "output_tokens"):
        columns[name] = odd.checked(line, name, line.integer(name), "whole")
    odd.note_unless(line, "usage", "object", OBJECT)
    if made_up and given.null_count:
        places = pa.array([records.place(row) for row in range(line.n)], TEXT)
        columns["trace_id"] = pc.coalesce(given, places)
    return columns


def reference_counts(found: Projected, line: Found) -> pa.Array:
    """Inline references by trace: 1 for ``expected``, their number for ``references``, null for none."""
    counts = np.bincount(found["reference"].parent, minlength=line.n)
    counts[line.has("expected", ARRAY)] = 1
    return pa.array(counts.astype(np.int32), mask=counts == 0)


def expected_table(found: Projected) -> pa.Table:
    """The inline references of all traces."""
    direct, listed = found["expected"], found["listed"]
    if not direct.n and not listed.n:
        return EXPECTED.empty_table()
    reference = found["reference"]
    ordinal = positions_in(group_offsets(reference.parent, found.top.n))
    parts = [
        _expected_rows(
            direct, direct.parent, np.zeros(direct.n, np.int32), positions_in(group_offsets(direct.parent, found.top.n))
        ),
        _expected_rows(
            listed,
            reference.parent[listed.parent],
            ordinal[listed.parent],
            positions_in(group_offsets(listed.parent, reference.n)),
        ),
    ]
    both = pa.concat_tables(part for part in parts if part.num_rows)
    trace = numbers(both["trace"])
    if direct.n and listed.n:
        both = both.take(np.argsort(trace, kind="stable"))
    return both.combine_chunks()


def _expected_rows(rows: Found, trace: Any, reference: Any, index: Any) -> pa.Table:
    arguments, form = rows.arguments("arguments")
    return table(
        EXPECTED,
        rows.n,
        trace=trace.astype(np.uint32),
        reference_index=reference,
        expected_index=index,
        name=rows.text("name"),
        arguments=arguments,
        arguments_form=form,
    )
