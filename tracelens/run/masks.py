"""Secrets out of every stored text."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tracelens.run.plan import Plan
from tracelens.rungs.safety.scan import mask_leaves, mask_series

TEXTS: Mapping[str, tuple[str, ...]] = {
    "traces": ("final_answer", "tags", "tools"),
    "calls": ("arguments", "result", "error"),
    "expected": ("arguments",),
    "findings": ("message", "value"),
    "state_results": ("reason", "observed", "expected"),
    "rejects": ("text", "reason"),
}
"""Columns in which free text may hold a secret."""

LEAVES = ("actual", "expected")
"""Columns of `argument_diffs` that hold the value of a path."""


def masked(tables: Mapping[str, pl.DataFrame], plan: Plan) -> dict[str, pl.DataFrame]:
    """The tables with secrets masked, where the suite asks for that.

    Args:
        tables: Frames by table.
        plan: The compiled suite.
    """
    if not plan.safety.masks:
        return dict(tables)
    return {name: _masked(name, frame) for name, frame in tables.items()}


def _masked(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    if name == "argument_diffs":
        return frame.with_columns(mask_leaves(frame["path"], frame[column]).alias(column) for column in LEAVES)
    present = [column for column in TEXTS.get(name, ()) if column in frame.columns and frame[column].dtype == pl.String]
    return frame.with_columns(mask_series(frame[column]).alias(column) for column in present)
