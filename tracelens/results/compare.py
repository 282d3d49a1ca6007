"""Two runs held against each other, case by case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracelens.results.summary_html import comparison_html

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tracelens.store import Run

SCORES = ("accuracy_optimal", "f1", "golden_score")
"""Scores that a comparison shows beside passed."""


@dataclass(frozen=True, repr=False)
class Comparison:
    """What changed from a base run to a head run.

    Attributes:
        cases: One row per case (per trace where it has no case): ``key``; ``trials_*``, the number of traces;
            ``pass_rate_*``, over the scored ones (null: none); means of a few scores; ``change``: better, worse,
            same, unknown (pass rate null on a side), only_base or only_head.
        counts: Number of rows by change.
        same_suite: Whether both runs used the same suite; if not, differences need not come from the agent.
    """

    cases: pl.DataFrame
    counts: dict[str, int]
    same_suite: bool

    def chart(self) -> alt.Chart:
        """How many cases changed, and how, as an Altair chart."""
        from tracelens.report.altair_charts import change_chart

        return change_chart(self.cases)

    def _repr_html_(self) -> str:
        return comparison_html(self.counts, self._worst().to_dicts(), same_suite=self.same_suite)

    def _worst(self, most: int = 10) -> pl.DataFrame:
        """The cases that got worse, the worst first."""
        import polars as pl

        fallen = self.cases.filter(pl.col("change") == "worse")
        change = pl.col("pass_rate_head") - pl.col("pass_rate_base")
        return fallen.sort(change, "key").head(most)

    def __repr__(self) -> str:
        """Counts in one line."""
        counts = ", ".join(f"{n} {change}" for change, n in self.counts.items() if n) or "no cases"
        return f"Comparison({counts}{'' if self.same_suite else '; different suites'})"


def compare(base: Run, head: Run) -> Comparison:
    """Pair the cases of two runs.

    Args:
        base: The run before.
        head: The run after.

    Returns:
        Cases with their pass rates and mean scores on both sides. A case is better if its pass rate rose.
    """
    import polars as pl

    cases = _cases(base).join(_cases(head), on="key", how="full", coalesce=True, suffix="_head")
    cases = cases.rename({name: f"{name}_base" for name in ("trials", "pass_rate", *SCORES)}).sort("key")
    before, after = pl.col("pass_rate_base"), pl.col("pass_rate_head")
    change = (
        pl.when(pl.col("trials_head").is_null())
        .then(pl.lit("only_base"))
        .when(pl.col("trials_base").is_null())
        .then(pl.lit("only_head"))
        .when(before.is_null() | after.is_null())
        .then(pl.lit("unknown"))
        .when(after > before)
        .then(pl.lit("better"))
        .when(after < before)
        .then(pl.lit("worse"))
        .otherwise(pl.lit("same"))
    )
    cases = cases.with_columns(change.alias("change"))
    counted = dict(cases["change"].value_counts().iter_rows())
    order = ("better", "worse", "same", "unknown", "only_base", "only_head")
    digests = [run.read("runs", ["suite_digest"])["suite_digest"].to_list() for run in (base, head)]
    return Comparison(cases, {name: counted.get(name, 0) for name in order}, digests[0] == digests[1])


def _cases(run: Run) -> pl.DataFrame:
    """One row per case of a run."""
    import polars as pl

    return (
        run.scan("traces")
        .group_by(pl.coalesce("case_id", "trace_id").alias("key"))
        .agg(
            pl.len().alias("trials"),
            pl.col("passed").cast(pl.Float64).mean().alias("pass_rate"),
            *(pl.col(name).mean() for name in SCORES),
        )
        .collect()
    )
