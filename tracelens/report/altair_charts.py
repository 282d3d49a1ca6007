"""Charts for notebooks, as Altair objects: change them as you like, or show them as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#888888"
"""Colours that people with any kind of colour vision tell apart."""

_CHANGES = ("better", "worse", "same", "unknown", "only_base", "only_head")


def funnel_chart(steps: pl.DataFrame) -> alt.Chart:
    """How far the traces of a run came.

    Args:
        steps: Columns ``step`` and ``n_traces``, in order.

    Example:
        >>> import polars as pl
        >>> funnel_chart(pl.DataFrame({"step": ["traces in"], "n_traces": [3]})).to_dict()["mark"]["type"]
        'bar'
    """
    import altair as alt

    chart: alt.Chart = (
        alt.Chart(steps, title="Funnel")
        .mark_bar(color=BLUE)
        .encode(
            alt.X("n_traces:Q", title="traces"),
            alt.Y("step:N", sort=None, title=None),
            tooltip=["step:N", alt.Tooltip("n_traces:Q", format=",")],
        )
        .properties(width=420)
    )
    return chart


def curve_chart(curve: pl.DataFrame, *, score: str, threshold: float | None = None) -> alt.LayerChart | alt.FacetChart:
    """Pass rate against threshold.

    Args:
        curve: Columns ``threshold``, ``pass_rate`` and ``reached``.
        score: Name of the score, for the axis.
        threshold: The threshold that the suite sets, drawn as a dashed line.

    Example:
        >>> import polars as pl
        >>> curve = pl.DataFrame({"threshold": [0.0, 1.0], "pass_rate": [1.0, 0.5], "reached": [1.0, 0.6]})
        >>> len(curve_chart(curve, score="f1", threshold=1.0).layer)
        2
    """
    import altair as alt

    folded = curve.unpivot(["pass_rate", "reached"], index="threshold", variable_name="share of", value_name="share")
    names = {"pass_rate": "traces that pass", "reached": "traces that reach it"}
    folded = folded.with_columns(folded["share of"].replace(names))
    shown, legend = list(names.values()), alt.Legend(title=None, labelLimit=0, orient="bottom")
    lines = (
        alt.Chart(folded, title=f"Pass rate against the threshold of {score}")
        .mark_line(interpolate="step-before")
        .encode(
            alt.X("threshold:Q", title=f"threshold of {score}"),
            alt.Y("share:Q", title="share", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            alt.Color("share of:N", scale=alt.Scale(domain=shown, range=[BLUE, ORANGE]), legend=legend),
            alt.StrokeDash("share of:N", scale=alt.Scale(domain=shown, range=[[1, 0], [5, 3]]), legend=legend),
            tooltip=["threshold:Q", "share of:N", alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=420)
    )
    at = alt.Chart(folded.head(int(threshold is not None)).select("threshold"))
    rule = at.mark_rule(color=GREY, strokeDash=[4, 4]).encode(x=alt.datum(threshold))
    return alt.layer(lines, rule)


def change_chart(cases: pl.DataFrame) -> alt.Chart:
    """What became of each case, from one run to another.

    Args:
        cases: Column ``change``, one row per case.

    Example:
        >>> import polars as pl
        >>> change_chart(pl.DataFrame({"change": ["better", "same"]})).to_dict()["mark"]["type"]
        'bar'
    """
    import altair as alt

    colours = [BLUE, ORANGE, *[GREY] * 4]
    chart: alt.Chart = (
        alt.Chart(cases.select("change").to_series().value_counts(name="cases"), title="Cases by change")
        .mark_bar()
        .encode(
            alt.X("cases:Q", title="cases"),
            alt.Y("change:N", sort=list(_CHANGES), title=None),
            alt.Color("change:N", scale=alt.Scale(domain=list(_CHANGES), range=colours), legend=None),
            tooltip=["change:N", alt.Tooltip("cases:Q", format=",")],
        )
        .properties(width=420)
    )
    return chart
