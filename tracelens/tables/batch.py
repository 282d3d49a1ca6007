"""Tables that live inside one batch: the findings that rungs give back.

A batch holds whole traces; `trace` is the row number of a trace inside its batch. What sources hand over is defined
beside the batch itself, in `tracelens.columns`.
"""

from __future__ import annotations

from tracelens.tables.model import Column, Table
from tracelens.tables.rows import FINDINGS

TRACE = Column("trace", "u32", "row number of the trace inside the batch")

_LATER = {"run_id", "trace_id", "waived_until", "waive_reason"}

BATCH_FINDINGS = Table(
    "batch_findings",
    "one row per defect or note of a batch",
    (),
    (TRACE, *(each for each in FINDINGS.columns if each.name not in _LATER)),
    stored=False,
)
"""What a rung gives."""
