"""Tables that live inside one batch, between rungs: the calls that rungs are given and the findings they give back.

A batch holds whole traces; `trace` is the row number of a trace inside its batch. What sources hand over is defined
beside the batch itself, in `tracelens.columns`.
"""

from __future__ import annotations

from tracelens.tables.model import Column, Table
from tracelens.tables.rows import CALLS, FINDINGS

TRACE = Column("trace", "u32", "row number of the trace inside the batch")

_BEFORE = ("call_index", "tool", "name", "malformed", "arguments", "arguments_state", "call_id", "turn", "agent")
_FACTS = ("depth", "status", "result", "error", "started_at", "duration_ms")
_AFTER = ("output_tool", "handoff", "executed", "digest_hi", "digest_lo")
_LATER = {"run_id", "trace_id", "waived_until", "waive_reason"}

BATCH_FINDINGS = Table(
    "batch_findings",
    "one row per defect or note of a batch",
    (),
    (TRACE, *(each for each in FINDINGS.columns if each.name not in _LATER)),
    stored=False,
)
"""What a rung gives."""

RUNG_CALLS = Table(
    "rung_calls",
    "one row per call of a batch, as rungs get it",
    ("trace", "call_index"),
    (
        TRACE,
        *(CALLS.by_name[name] for name in (*_BEFORE, *_FACTS)),
        Column("scored", "bool", "whether the call enters the scores"),
        *(CALLS.by_name[name] for name in _AFTER),
    ),
    stored=False,
)
"""What a rung gets."""

IN_BATCH = (BATCH_FINDINGS, RUNG_CALLS)
"""All tables of a batch."""
