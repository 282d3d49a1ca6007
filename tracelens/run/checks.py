"""The suite's own checks, after all batches: they see whole tables, and what they find changes routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tracelens.rungs.checks import run_checks
from tracelens.rungs.waivers import apply_waivers
from tracelens.store import RunWriter
from tracelens.tables import STORED_TABLES, polars_schema

if TYPE_CHECKING:
    from tracelens.suite import Suite

HELD = ("traces", "findings")
"""Tables that own checks may change, so that they are written only afterwards."""


def apply_checks(suite: Suite, writer: RunWriter, held: dict[str, list[pl.DataFrame]]) -> None:
    """Run the suite's own checks and write the tables that were held back.

    Args:
        suite: The suite.
        writer: The run; every table but the held ones and `runs` is finished here.
        held: Frames of the tables `HELD`.
    """
    tables = {
        name: pl.concat([pl.DataFrame(schema=polars_schema(name, without=["run_id"])), *_aligned(name, held[name])])
        for name in HELD
    }
    others = {name: writer.finish(name) for name in STORED_TABLES if name not in {*HELD, "runs"}}
    found = run_checks(suite, {**others, **{name: frame.to_arrow() for name, frame in tables.items()}})
    found = apply_waivers(found, tables["traces"].select("trace_id", "case_id"), suite.waive)
    writer.write("traces", _rerouted(tables["traces"], found))
    writer.write("findings", pl.concat([tables["findings"], _aligned("findings", [found])[0]]))


def _aligned(name: str, frames: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """The frames with exactly the stored columns; columns they lack are null."""
    schema = polars_schema(name, without=["run_id"])
    return [
        frame.select(
            (pl.col(column) if column in frame.columns else pl.lit(None)).cast(dtype).alias(column)
            for column, dtype in schema.items()
        )
        for frame in frames
    ]


def _rerouted(traces: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """The traces with what the checks found: an error sends its trace to triage, at rung one."""
    errors = pl.col("severity") == "error"
    by_trace = found.group_by("trace_id", maintain_order=True).agg(
        pl.col("message").filter(errors).unique(maintain_order=True).alias("new_reasons"),
        errors.sum().cast(pl.Int32).alias("new_errors"),
        (~errors).sum().cast(pl.Int32).alias("new_notes"),
    )
    failed = pl.col("new_errors").fill_null(0) > 0
    joined = traces.join(by_trace, on="trace_id", how="left", maintain_order="left")
    return joined.with_columns(
        n_findings=pl.col("n_findings") + pl.col("new_errors").fill_null(0),
        n_notes=pl.col("n_notes") + pl.col("new_notes").fill_null(0),
        checks_ok=~failed,
        route=pl.when(failed).then(pl.lit("triage")).otherwise("route"),
        passed=pl.when(failed).then(pl.lit(value=False)).otherwise("passed"),
        failed_rung=pl.when(failed).then(pl.lit(1, pl.Int8)).otherwise("failed_rung"),
        unscored_reason=pl.when(failed).then(None).otherwise("unscored_reason"),
        waived_until=pl.when(failed).then(None).otherwise("waived_until"),
        reasons=pl.when(failed).then(pl.concat_list("reasons", "new_reasons")).otherwise("reasons"),
    ).drop("new_reasons", "new_errors", "new_notes")
