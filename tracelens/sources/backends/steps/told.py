"""The results that models were told: messages of role ``tool`` and their relatives in the inputs of models.

These are needed where no span ran a call, as with a plain client of a provider.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, true
from tracelens.projection import ANYTHING, NUMBER, STRING, Found, Projection, Row
from tracelens.sources.backends.steps.model import I64, inside

LISTS = (
    "[*]",
    "messages[*]",
    "messages[*][*]",
    "input[*]",
    "input.messages[*]",
    "args[*].messages[*]",
    "args[*].input[*]",
)
"""Where inputs of models keep their messages."""

RESULT = {
    "call_id": (
        "tool_call_id",
        "kwargs.tool_call_id",
        "data.tool_call_id",
        "call_id",
        "tool_use_id",
        "toolCallId",
        "id",
    ),
    "type": "type",
    "role": "role",
    "content": ("content", "kwargs.content", "data.content", "output", "response", "result"),
    "status": ("status", "kwargs.status", "data.status"),
    "is_error": "is_error",
}

ANSWERING = (
    "tool",
    "function",
    "ToolMessage",
    "tool_result",
    "tool_call_response",
    "function_call_output",
    "tool-result",
)
"""Roles and types of what carries a result."""


@cache
def inputs() -> Projection:
    """The declaration of what a model may have been told."""
    parts = Row("part", ("content[*]", "parts[*]"), RESULT)
    return Projection(Row("input", rows=[Row("message", LISTS, RESULT, [parts])]))


@dataclass(frozen=True, slots=True)
class Told:
    """Results by the input they stand in.

    Attributes:
        row: int64[n]: row of the input.
        call_id: str[n].
        result: str?[n].
        status: str?[n]: ok or error where the message says so.
    """

    row: I64
    call_id: pa.Array
    result: pa.Array
    status: pa.Array


def told(given: pa.Array) -> Told:
    """Read the inputs of models.

    Args:
        given: str?[n], JSON text.

    Example:
        >>> found = told(pa.array(['[{"role": "tool", "tool_call_id": "c", "content": "4"}]'], TEXT))
        >>> found.call_id.to_pylist(), found.result.to_pylist()
        (['c'], ['4'])
    """
    found = inside(inputs(), given)
    record, message = found["input"].parent.astype(np.int64), found["message"]
    rows, tables = [], []
    for name in ("message", "part"):
        part = found[name]
        owner = part.parent if name == "message" else message.parent[part.parent]
        keep = np.flatnonzero(_answers(part))
        rows.append(record[owner[keep]])
        tables.append(_results(part).take(pa.array(keep)))
    every = pa.concat_tables(tables).combine_chunks()
    return Told(np.concatenate(rows), *(every[name].combine_chunks() for name in every.column_names))


def _answers(part: Found) -> np.ndarray:
    known = pa.array(ANSWERING, TEXT)
    by_role = true(pc.is_in(part.text("role"), known))
    by_type = true(pc.is_in(part.text("type"), known))
    blocks = part.has("content", STRING) | (part.table.name == "part") | by_type
    return np.asarray((by_role | by_type) & part.has("call_id", STRING, NUMBER) & blocks, np.bool_)


def _results(part: Found) -> pa.Table:
    status = part.text("status")
    said = pc.if_else(pc.equal(status, "success"), "ok", pc.if_else(pc.equal(status, "error"), "error", None))
    flag = part.boolean("is_error")
    return pa.table(
        {
            "call_id": part.text("call_id", STRING, NUMBER),
            "result": part.text("content", *ANYTHING),
            "status": pc.coalesce(pc.if_else(flag, "error", "ok"), said).cast(TEXT),
        }
    )
