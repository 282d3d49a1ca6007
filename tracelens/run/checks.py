"""The suite's own checks, after all batches: they see whole tables, and what they find changes routes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow.parquet as pq

from tracelens.run.masks import masked_rows
from tracelens.rungs.checks import run_checks
from tracelens.rungs.safety import mask
from tracelens.rungs.waivers import apply_waivers
from tracelens.store import RunWriter
from tracelens.store.columnar import TableWriter
from tracelens.tables import STORED_TABLES

if TYPE_CHECKING:
    from tracelens.run.plan import Plan
    from tracelens.suite.blocks import Waiver

HELD = ("traces", "findings")
"""Tables that own checks may change, so that they are written for good only afterwards."""


class Held:
    """The tables that wait for the own checks, on disk beside the run, so that memory does not grow with the input.

    Args:
        writer: The run; the files lie in its hidden folder until `apply` has written the tables.
    """

    def __init__(self, writer: RunWriter) -> None:
        self._writer = writer
        self._folder = writer.folder / "held"
        self._folder.mkdir()
        self._tables = {name: TableWriter(self._path(name), name) for name in HELD}

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.parquet"

    def write(self, name: str, frame: Any) -> None:
        """Add rows to a held table, or to another table of the run."""
        if name in self._tables:
            self._tables[name].write(frame)
        else:
            self._writer.write(name, frame)

    def apply(self, plan: Plan) -> None:
        """Run the suite's own checks and write the held tables for good; every table but `runs` is finished here."""
        suite = plan.suite
        for table in self._tables.values():
            table.close()
        others = {name: self._writer.finish(name) for name in STORED_TABLES if name not in {*HELD, "runs"}}
        found = run_checks(suite, {**others, **{name: self._path(name) for name in HELD}})
        cases = pl.read_parquet(self._path("traces"), columns=["trace_id", "case_id"])
        found = masked_rows(apply_waivers(found, cases, _as_stored(suite.waive, plan)), plan)
        for traces in self._parts("traces"):
            self._writer.write("traces", rerouted(traces, found))
        for findings in self._parts("findings"):
            self._writer.write("findings", findings)
            columns = findings.schema
        self._writer.write("findings", found.cast({n: t for n, t in columns.items() if n in found.columns}))
        shutil.rmtree(self._folder)

    def _parts(self, name: str) -> Iterator[pl.DataFrame]:
        """A held table, some rows at a time; at least one (perhaps empty) part."""
        yield pl.read_parquet(self._path(name), n_rows=0)
        for batch in pq.ParquetFile(self._path(name)).iter_batches(batch_size=65_536):
            yield pl.DataFrame(batch)


def _as_stored(waivers: Sequence[Waiver], plan: Plan) -> list[Waiver]:
    """The waivers, for traces whose case may be masked by now."""
    return [each.model_copy(update={"case_id": mask(each.case_id)}) if plan.safety.masks else each for each in waivers]


def rerouted(traces: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Traces with what own checks found: an error sends its trace to triage, at rung one.

    Args:
        traces: Rows of `traces`, without ``run_id``.
        found: Findings of the checks: ``trace_id``, ``severity``, ``message``, ``waived_until``.

    Returns:
        The rows with route, counts and reasons brought up to date; ``checks_ok`` is set in every row.
    """
    errors = pl.col("severity") == "error"
    by_trace = found.group_by("trace_id", maintain_order=True).agg(
        pl.col("message").filter(errors).unique(maintain_order=True).alias("new_reasons"),
        errors.sum().cast(pl.Int32).alias("new_errors"),
        (~errors).sum().cast(pl.Int32).alias("new_notes"),
        pl.col("waived_until").filter(errors).min().alias("new_until"),
        (errors & pl.col("waived_until").is_null()).any().alias("new_open"),
    )
    failed = pl.col("new_errors").fill_null(0) > 0
    # A trace that failed before needs its own waiver as well, and counts again with whichever ends first.
    covered = ~pl.col("new_open") & (pl.col("failed_rung").is_null() | pl.col("waived_until").is_not_null())
    until = pl.min_horizontal("waived_until", "new_until")
    joined = traces.with_columns(pl.col("trace_id").cast(pl.String)).join(
        by_trace, on="trace_id", how="left", maintain_order="left"
    )
    return joined.with_columns(
        n_findings=pl.col("n_findings") + pl.col("new_errors").fill_null(0),
        n_notes=pl.col("n_notes") + pl.col("new_notes").fill_null(0),
        checks_ok=~failed,
        route=pl.when(failed).then(pl.lit("triage")).otherwise(pl.col("route").cast(pl.String)),
        passed=pl.when(failed).then(pl.lit(value=False)).otherwise("passed"),
        failed_rung=pl.when(failed).then(pl.lit(1, pl.Int8)).otherwise("failed_rung"),
        unscored_reason=pl.when(failed).then(None).otherwise(pl.col("unscored_reason").cast(pl.String)),
        waived_until=pl.when(~failed).then("waived_until").when(~covered).then(None).otherwise(until),
        reasons=pl.when(failed).then(pl.concat_list("reasons", "new_reasons")).otherwise("reasons"),
    ).drop("new_reasons", "new_errors", "new_notes", "new_until", "new_open")
