"""Two runs held against each other, case by case: what the macros `compare` and `compare_cases` say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracelens import store
from tracelens.results.summary_html import comparison_html

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tracelens.store import Run

CHANGES = ("better", "worse", "same", "unknown", "only_base", "only_head")
"""What may have become of a case; those of one run alone come last."""


@dataclass(frozen=True, repr=False)
class Comparison:
    """What changed from a base run to a head run.

    Attributes:
        cases: The macro `compare_cases`, one row per case (per trace where it has no case): trials, pass rates and mean
            scores on both sides, and ``change``, one of `CHANGES`.
        totals: The macro `compare`, one row: pass rates over the cases that both runs scored, their ``difference`` with
            its bootstrap interval, and the ``p_value`` of the exact McNemar test.
    """

    cases: pl.DataFrame
    totals: dict[str, Any]

    @property
    def counts(self) -> dict[str, int]:
        """Number of cases by change."""
        return {change: int(self.totals[f"n_{change}"]) for change in CHANGES}

    @property
    def same_suite(self) -> bool:
        """Whether both runs used the same suite; if not, differences need not come from the agent."""
        return bool(self.totals["same_suite"])

    def chart(self) -> alt.Chart:
        """How many cases changed, and how, as an Altair chart."""
        from tracelens.report.altair_charts import change_chart

        return change_chart(self.cases)

    def _repr_html_(self) -> str:
        return comparison_html(self.counts, self._rates(), self._worst().to_dicts(), same_suite=self.same_suite)

    def _rates(self) -> str:
        """Both pass rates, and whether their difference may be chance, in one line; empty where no case was scored."""
        of = self.totals
        if of["difference"] is None:
            return ""
        low, high = (f"{100 * of[name]:+.1f}" for name in ("difference_low", "difference_high"))
        return (
            f"pass rate {of['pass_rate_base']:.1%} → {of['pass_rate_head']:.1%}, "
            f"{100 * of['difference']:+.1f} points (95%: {low} to {high}), p = {of['p_value']:.2g}"
        )

    def _worst(self, most: int = 10) -> pl.DataFrame:
        """The cases that got worse, the worst first."""
        import polars as pl

        return self.cases.filter(pl.col("change") == "worse").sort("difference", "case_id").head(most)

    def __repr__(self) -> str:
        """Counts and rates in one line."""
        counts = ", ".join(f"{n} {change}" for change, n in self.counts.items() if n) or "no cases"
        parts = [counts, self._rates(), "" if self.same_suite else "different suites"]
        return f"Comparison({'; '.join(part for part in parts if part)})"


def compare(base: Run, head: Run) -> Comparison:
    """Pair the cases of two runs, wherever they lie.

    Args:
        base: The run before.
        head: The run after.
    """
    with store.connect(base.folder, head.folder, comments=False) as duck:
        ids = {"base": base.run_id, "head": head.run_id}
        cases = duck.sql("FROM compare_cases($base, $head)", params=ids).pl()
        (totals,) = duck.sql("FROM compare($base, $head)", params=ids).pl().to_dicts()
    return Comparison(cases, totals)
