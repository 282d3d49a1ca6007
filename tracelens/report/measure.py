"""Asking the store for the numbers of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tracelens.errors import UsageError
from tracelens.report import queries
from tracelens.report.advice import actions_of
from tracelens.report.changes import changes_of
from tracelens.report.numbers import Numbers, Row
from tracelens.store.parts import connect_parts
from tracelens.store.query import records

if TYPE_CHECKING:
    from tracelens.report.about import Subject
    from tracelens.store.parts import Connection

BY = ("agent", "tag:version")
"""Dimensions that a report tells apart by default, beside tools and days."""


def measure(of: Subject, *, by: Sequence[str] = BY, alerts: Iterable[Row] = ()) -> Numbers:
    """Ask the store.

    Args:
        of: What the report is about.
        by: Dimensions of the view `pass_rate` to tell apart by: ``tool``, ``agent``, ``day``, ``tag:NAME``.
        alerts: What a nightly run raised, to be told in front.

    Raises:
        UsageError: A dimension that does not exist.
    """
    wrong = [name for name in by if name not in {"tool", "agent", "day"} and not name.startswith("tag:")]
    if wrong:
        raise UsageError(f"cannot tell apart by {wrong[0]!r}", hint="give tool, agent, day or tag:NAME")
    with connect_parts(of.parts, timezone=of.timezone) as duck:
        tables, left_out = _tables(of, duck, by)
    tables["alerts"] = list(alerts)
    facts: Row = {
        "title": of.title,
        "against": of.against,
        "timezone": of.timezone,
        "run_id": of.run.run_id,
        "runs": len(of.parts[0].folders),
        "since": of.days[0].isoformat() if of.days else None,
        "until": of.days[1].isoformat() if of.days else None,
        "by": [name for name in by if name != "day"],
    }
    run = of.run.read("runs").to_dicts()
    facts |= {name: run[0][name] if run else None for name in ("suite", "version", "questions")}
    if not facts["questions"]:  # without a question there is no judge, and nothing to save
        tables["judge"] = []
    found = Numbers(facts, tables, left_out)
    tables["changes"] = changes_of(found) if of.has_base else []
    tables["actions"] = actions_of(found)
    return found


def _tables(of: Subject, duck: Connection, by: Sequence[str]) -> tuple[dict[str, list[Row]], dict[str, int]]:
    """Every table, cut where it is long."""
    both = {"base", "head"} <= {row["run_id"] for row in _ask(duck, queries.PARTS)}
    tables: dict[str, list[Row]] = {
        "totals": _ask(duck, queries.TOTALS),
        "rates": _ask(duck, queries.RATES, dimensions=["tool", "day", *by]),
        "funnel": _ask(duck, queries.FUNNEL),
        "tools": _ask(duck, queries.TOOLS),
        "arguments": _ask(duck, queries.ARGUMENTS),
        "modes": _ask(duck, queries.MODES),
        "mistakes": _ask(duck, queries.MISTAKES),
        "reasons": _ask(duck, queries.REASONS),
        "unscored": _ask(duck, queries.UNSCORED),
        "safety": _ask(duck, queries.SAFETY),
        "judge": _ask(duck, queries.JUDGE),
        "verdicts": _ask(duck, queries.VERDICTS),
        "paired": _ask(duck, queries.PAIRED) if both else [],
        "worse": _ask(duck, queries.WORSE) if both else [],
    }
    tables["days"] = _days(of, duck, tables["rates"])
    tables["rates"] = [row for row in tables["rates"] if row["dimension"] != "day"]
    long = ("tools", "arguments", "modes", "mistakes", "reasons")
    paired = next(iter(tables["paired"]), {"n_worse": 0})
    left_out = {name: len(tables[name]) - queries.LIMIT for name in long if len(tables[name]) > queries.LIMIT}
    if paired["n_worse"] > len(tables["worse"]):
        left_out["worse"] = paired["n_worse"] - len(tables["worse"])
    return {name: rows[: queries.LIMIT] if name in long else rows for name, rows in tables.items()}, left_out


def _days(of: Subject, duck: Connection, rates: list[Row]) -> list[Row]:
    """A row per day that the trends show; the rates of a whole run are known already."""
    if of.trend == "head":
        found = [
            row for row in rates if (row["part"], row["dimension"]) == ("head", "day") and row["value"] is not None
        ]
    else:
        found = _ask(duck, queries.DAY_RATES, trend=of.trend)
    facts = {row["day"]: row for row in _ask(duck, queries.DAY_FACTS, trend=of.trend)}
    names = ("n_scored", "n_passed", "pass_rate", "pass_rate_low", "pass_rate_high")
    return [
        {"day": row["value"], "n_traces": row["n"], **{name: row[name] for name in names}, **facts[row["value"]]}
        for row in sorted(found, key=lambda each: str(each["value"]))
    ]


def _ask(duck: Connection, query: str, **values: Any) -> list[Row]:
    """The answer to a query as dictionaries."""
    return [{name: _rounded(value) for name, value in row.items()} for row in records(duck, query, **values)]


def _rounded(value: Any) -> Any:
    """Sums of floating-point numbers differ in the last places with the order of the threads; nobody reads those."""
    return float(f"{value:.12g}") if isinstance(value, float) else value
