"""Metrics of a run by trace: the value, and whether there should be one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from tracelens.suite.names import PASS_RATE, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import polars as pl

    from tracelens.selection import Selection
    from tracelens.store import Run

_ALWAYS = (
    "trace_id", "case_id", "tags", "started_at", "route", "passed", "waived_until", "n_references", "milestones_total",
    "safety_hits",
)  # fmt: skip


@dataclass(frozen=True)
class Metric:
    """One metric of one run.

    Attributes:
        name: Its name.
        values: float64?, by trace; NaN counts as null.
        needed: bool, by trace: whether it should have a value.
        there: Whether the run has such a column at all.
    """

    name: str
    values: pl.Series
    needed: pl.Series
    there: bool = True

    @property
    def n_scored(self) -> int:
        """How many values there are."""
        return self.values.len() - self.values.null_count()

    @property
    def n_unscored(self) -> int:
        """How many traces lack a value that they should have."""
        return int((self.needed & self.values.is_null()).sum())

    @property
    def mean(self) -> float | None:
        """Their mean; None without one."""
        import math

        known = self.values.drop_nulls().to_list()
        return math.fsum(known) / len(known) if known else None

    def by_case(self, cases: pl.Series) -> pl.DataFrame:
        """Mean by case: columns ``case`` and ``value``, of the cases that have one."""
        import polars as pl

        frame = pl.DataFrame({"case": cases, "value": self.values}).drop_nulls("value")
        return frame.group_by("case", maintain_order=True).agg(pl.col("value").mean())


def read_traces(run: Run, metrics: Iterable[str], selection: Selection) -> pl.DataFrame:
    """The traces of a run that a gate looks at, with the columns that it needs.

    Args:
        run: The run.
        metrics: Names of metrics; those that are no columns of the run are left out.
        selection: Which traces: times and tags.
    """
    import polars as pl

    scan = run.scan("traces")
    there = scan.collect_schema().names()
    columns = list(dict.fromkeys([*_ALWAYS, *(each for each in metrics if each in there)]))
    if selection.since is not None:
        scan = scan.filter(pl.col("started_at") >= selection.since)
    if selection.until is not None:
        scan = scan.filter(pl.col("started_at") < selection.until)
    frame = scan.select(columns).collect()
    for path, values in selection.where:
        texts = frame["tags"].unique().drop_nulls().to_list()
        meant = [text for text in texts if _has(text, path, values)]
        frame = frame.filter(pl.col("tags").is_in(meant))
    return frame


def _has(tags: str, path: str, values: Collection[str]) -> bool:
    """Whether a tag, or an element of one that is a list, has one of these values."""
    try:
        found: Any = json.loads(tags)
    except ValueError:
        return False
    if isinstance(found, dict) and path in found:
        found = found[path]
    else:
        for part in path.split("."):
            found = found.get(part) if isinstance(found, dict) else None
    each = found if isinstance(found, list) else [found]
    return any(item is not None and _text(item) in values for item in each)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def metric(traces: pl.DataFrame, name: str, today: date) -> Metric:
    """One metric of the traces.

    Args:
        traces: What `read_traces` gave.
        name: ``pass_rate``, a score, a verdict or a dialect's metric.
        today: Waived traces count as passed before ``waived_until``.

    Returns:
        Its values. Of ``pass_rate`` every trace should have one, of a score every trace with a reference, of
        ``milestones_ok`` every one with milestones, and of other verdicts every trace that is not unscored has what
        there is to have.
    """
    import polars as pl

    if name == PASS_RATE:
        waived = (pl.col("waived_until") > today).fill_null(value=False)
        value = pl.when(waived).then(pl.lit(1.0)).otherwise(pl.col("passed").cast(pl.Float64))
        needed: pl.Expr = pl.lit(value=True)
    elif name not in traces.columns:
        nothing = pl.Series(name, [None], dtype=pl.Float64).new_from_index(0, traces.height)
        return Metric(name, nothing, nothing.is_null(), there=False)
    else:
        value = pl.col(name).cast(pl.Float64).fill_nan(None)
        needed = pl.col("n_references").is_not_null()
        if name in VERDICTS:
            needed = pl.col("milestones_total").is_not_null() if name == "milestones_ok" else pl.lit(value=False)
            needed |= pl.col("route") == "unscored"
    columns = traces.select(value.alias("value"), needed.alias("needed"))
    if columns.height < traces.height:  # a literal alone is one row
        columns = traces.with_columns(value.alias("value"), needed.alias("needed"))
    return Metric(name, columns["value"], columns["needed"])
