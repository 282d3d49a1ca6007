"""What a run comes to: the funnel, the scores with their denominators, tools and reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracelens.errors import counted
from tracelens.results.page import Line, Style, plain, short
from tracelens.results.summary_html import summary_html
from tracelens.tables import SCORES

if TYPE_CHECKING:
    import altair as alt
    import duckdb

    from tracelens.store import Run

LABELS = {
    "traces": "traces in",
    "scored": "scored",
    "passed_rung_1": "passed rung 1, schema",
    "passed_rung_2": "passed rung 2, calls",
    "passed_rung_3": "passed rung 3, trajectory",
    "passed_rung_4": "passed rung 4, accuracy",
    "settled": "→ settled",
    "judge": "→ judge",
    "triage": "→ triage",
    "unscored": "→ unscored",
}
_STYLES: dict[str, Style] = {"settled": "good", "judge": "good", "triage": "bad", "unscored": "warn"}
_BAR = 24


@dataclass(frozen=True)
class Summary:
    """A run in a few numbers.

    Attributes:
        run_id: The run.
        suite: Name of the suite.
        format: Format of the input.
        n_traces: Traces in.
        n_scored: Traces that were not unscored.
        n_unscored: The others.
        n_passed: Traces routed to judge or settled.
        pass_rate: ``n_passed / n_scored``; None without a scored trace.
        n_calls: Recorded calls.
        n_rejects: Records that could not be read.
        missing_cases: Number of cases without a trace.
        funnel: Number of traces by step, in order.
        unchecked: By rung of the funnel, those of them that had nothing there to be held against.
        scores: By score its mean, and how many traces had it and had it not.
        reasons: The most frequent reasons for triage, with the number of traces.
        unscored: Reasons why traces are unscored, with their number.
        tools: By tool: calls, share valid, exact pairs, errors; the most called first.
    """

    run_id: str
    suite: str | None
    format: str
    n_traces: int
    n_scored: int
    n_unscored: int
    n_passed: int
    pass_rate: float | None
    n_calls: int
    n_rejects: int
    missing_cases: int
    funnel: dict[str, int]
    unchecked: dict[str, int]
    scores: dict[str, dict[str, float | int | None]]
    reasons: list[dict[str, Any]]
    unscored: list[dict[str, Any]]
    tools: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def lines(self, top: int = 5) -> list[Line]:
        """The funnel and the top reasons, line by line."""
        return list(_lines(self, top))

    def chart(self) -> alt.Chart:
        """The funnel as an Altair chart."""
        import polars as pl

        from tracelens.report.altair_charts import funnel_chart

        steps = [LABELS[step] for step in self.funnel]
        return funnel_chart(pl.DataFrame({"step": steps, "n_traces": list(self.funnel.values())}))

    def __str__(self) -> str:
        """Plain text."""
        return plain(self.lines())

    def _repr_html_(self) -> str:
        rate = "none scored" if self.pass_rate is None else f"{self.pass_rate:.1%} passed"
        head = f"{self.suite or 'no suite'} · {counted(self.n_traces, 'trace')} · {rate} · {self.n_unscored:,} unscored"
        funnel = [(LABELS[step], n, unchecked_words(step, self.unchecked.get(step))) for step, n in self.funnel.items()]
        return summary_html(head, funnel, self.tools, self.reasons)


def unchecked_words(step: str, n: int | None) -> str:
    """What a rung did not check, in words; empty where it checked every trace.

    Example:
        >>> unchecked_words("passed_rung_1", 1200), unchecked_words("passed_rung_2", 0)
        ('1,200 without a schema', '')
    """
    return f"{n:,} without a {'schema' if step == 'passed_rung_1' else 'reference'}" if n else ""


_FUNNEL = "SELECT step, n_traces, n_unchecked FROM funnel ORDER BY step_index"
_MEANS = ", ".join(f"tl_exact_mean({name}) AS {name}, count({name}) AS n_{name}" for name in SCORES)
_SCORES = f"SELECT count(*) AS n, {_MEANS} FROM stored.traces"  # noqa: S608  column names of ours
_FACTS = "SELECT suite, format, n_rejects, len(missing_cases) AS n_missing_cases FROM stored.runs"
_REASONS = "SELECT reason, n_traces, example_trace_id FROM top_reasons ORDER BY n_traces DESC, reason LIMIT ?"
_UNSCORED = """
    SELECT unscored_reason AS reason, count(*) AS n_traces FROM stored.traces
    WHERE route = 'unscored' GROUP BY ALL ORDER BY n_traces DESC, reason LIMIT ?
"""
_TOOLS = """
    SELECT tool, n_calls, valid_share, n_exact, n_partial, n_missing, n_extra, n_errors FROM tool_scores
    ORDER BY n_calls DESC, tool LIMIT ?
"""


def summarise(run: Run, connection: duckdb.DuckDBPyConnection, *, top: int = 10) -> Summary:
    """Count what a run came to.

    Args:
        run: The run.
        connection: DuckDB over this run alone.
        top: How many reasons and tools to keep.

    Returns:
        The numbers; bounded, however large the run.
    """
    steps = _rows(connection, _FUNNEL)
    funnel = {row["step"]: int(row["n_traces"]) for row in steps}
    scored = _rows(connection, _SCORES)[0]
    fact: dict[str, Any] = next(
        iter(_rows(connection, _FACTS)), {"suite": None, "format": "", "n_rejects": 0, "n_missing_cases": 0}
    )
    n, unscored = int(scored["n"]), funnel.get("unscored", 0)
    passed = funnel.get("judge", 0) + funnel.get("settled", 0)
    counts = {name: int(scored[f"n_{name}"]) for name in SCORES}
    return Summary(
        run_id=run.run_id,
        suite=fact["suite"],
        format=fact["format"],
        n_traces=n,
        n_scored=n - unscored,
        n_unscored=unscored,
        n_passed=passed,
        pass_rate=passed / (n - unscored) if n > unscored else None,
        n_calls=run.rows["calls"],
        n_rejects=fact["n_rejects"],
        missing_cases=fact["n_missing_cases"],
        funnel=funnel,
        unchecked={row["step"]: int(row["n_unchecked"]) for row in steps if row["n_unchecked"]},
        scores={name: {"mean": scored[name], "n_scored": k, "n_unscored": n - k} for name, k in counts.items()},
        reasons=_rows(connection, _REASONS, top),
        unscored=_rows(connection, _UNSCORED, top),
        tools=_rows(connection, _TOOLS, top),
    )


def _rows(connection: duckdb.DuckDBPyConnection, query: str, *values: int) -> list[dict[str, Any]]:
    """The answer to a query as dictionaries."""
    found = connection.execute(query, values)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _lines(of: Summary, top: int) -> Iterator[Line]:
    yield [
        ("Run ", "dim"),
        (of.run_id[:12], "strong"),
        (f"  suite {of.suite}" if of.suite else "  without a suite", ""),
        (f"  format {of.format}" if of.format else "", ""),
    ]
    yield []
    for step, n in of.funnel.items():
        share = n / of.n_traces if of.n_traces else 0.0
        bar, words = "█" * round(share * _BAR), unchecked_words(step, of.unchecked.get(step))
        yield [
            (f"  {LABELS[step]:<27}", _STYLES.get(step, "")),
            (f"{n:>11,}", "strong"),
            (f"  {share:>6.1%}  ", "dim"),
            (bar, _STYLES.get(step, "name")),
            (f"{' ' * (_BAR - len(bar))}  {words}" if words else "", "dim"),
        ]
    yield []
    rate = "none scored" if of.pass_rate is None else f"{of.pass_rate:.1%}"
    yield [("  pass rate ", ""), (rate, "strong"), (f"  {of.n_passed:,} of {of.n_scored:,} scored", "dim")]
    if of.n_rejects:
        yield [(f"  {counted(of.n_rejects, 'record')} rejected (table rejects)", "warn")]
    if of.missing_cases:
        yield [(f"  {counted(of.missing_cases, 'case')} without a trace", "warn")]
    for title, items in (("Top reasons for triage", of.reasons), ("Why traces are unscored", of.unscored)):
        if items:
            yield []
            yield [(title, "title")]
        for row in items[:top]:
            yield [(f"  {row['n_traces']:>9,}  ", "strong"), (short(row["reason"], 82), "")]
