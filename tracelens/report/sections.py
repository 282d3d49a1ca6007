"""From numbers to the page: which number stands where, under which words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracelens.errors import counted
from tracelens.report import page
from tracelens.report.page import Cell, Chart, Ids, Interval, Items, Page, Section, Table
from tracelens.report.summary import figures, foot, lead
from tracelens.report.words import alert_item, change_item, dimension_name, step_item, value_name

if TYPE_CHECKING:
    from tracelens.report.numbers import Numbers

Row = dict[str, Any]

_STEPS = {
    "traces": "traces in",
    "scored": "scored",
    "passed_rung_1": "passed rung 1, schema",
    "passed_rung_2": "passed rung 2, calls",
    "passed_rung_3": "passed rung 3, trajectory",
    "passed_rung_4": "passed rung 4, accuracy",
    "settled": "settled",
    "judge": "to the judge",
    "triage": "triage",
    "unscored": "unscored",
}


def page_of(numbers: Numbers) -> Page:
    """Lay out the numbers.

    Args:
        numbers: The numbers of a report.

    Returns:
        The page: what changed and what to do first, then trends, groups, tools, failures, safety and cost. Sections
        without a row are left out, but for safety: that nothing was found there is worth a line.
    """
    made = (
        _changes(numbers), _actions(numbers), _trend(numbers), _funnel(numbers), *_groups(numbers), _tools(numbers),
        _arguments(numbers), _modes(numbers), _safety(numbers), _costs(numbers), _cases(numbers),
    )  # fmt: skip
    facts = numbers.facts
    title = page.text(facts["suite"] or "traces without a suite")
    total = numbers.total()
    days = " to ".join(dict.fromkeys(filter(None, (total.get("first_day"), total.get("last_day")))))
    parts = (facts["title"], counted(total.get("n_traces", 0), "trace"), days if days not in facts["title"] else "")
    about = " · ".join(filter(None, parts))
    sections = tuple(each for each in made if each is not None)
    return Page(title, about, lead(numbers), figures(numbers), sections, foot(numbers))


def _changes(numbers: Numbers) -> Section | None:
    against, alerts = numbers.facts["against"], [alert_item(row) for row in numbers.tables["alerts"]]
    if against is None and not alerts:
        return None
    changed = [change_item(row) for row in numbers.tables["changes"]]
    items = (*alerts, *changed) or (page.Item("same", "nothing to compare", "no scored trace on one side"),)
    intro = f"Held against {against}. " if against else ""
    intro += "Differences of groups are listed where they lie three standard errors or more apart."
    return Section("changes", "What changed", intro, (Items(items),))


def _actions(numbers: Numbers) -> Section:
    items = tuple(step_item(row) for row in numbers.tables["actions"])
    if not items:
        return Section("actions", "What to do", "Nothing: every trace was scored and passed.", ())
    intro = "The most pressing first. `tracelens explain DIR TRACE` shows the trace that is named, rung by rung."
    return Section("actions", "What to do", intro, (Items(items, ordered=True),))


def _trend(numbers: Numbers) -> Section | None:
    days = numbers.tables["days"]
    if len(days) < 2:
        return None
    costs = any(row["cost"] is not None for row in days)
    heads = ("day", "traces", "pass rate", "95% interval", "traces with safety hits", *(("cost",) if costs else ()))
    rows = tuple(
        (
            Cell(row["day"]), page.count(row["n_traces"]), Cell(page.share(row["pass_rate"]), number=True),
            _ends(row), page.count(row["n_safety_traces"]),
            *((Cell(page.money(row["cost"]), number=True),) if costs else ()),
        )
        for row in days
    )  # fmt: skip
    table = Table("Every day in numbers", heads, rows)
    rated = [row for row in days if row["pass_rate"] is not None]
    words = f"{counted(len(days), 'day')}, {days[0]['day']} to {days[-1]['day']}."
    if rated:
        low, high = (pick(rated, key=lambda row: row["pass_rate"]) for pick in (min, max))
        words += (
            f" Pass rate {page.share(rated[0]['pass_rate'])} on the first day and {page.share(rated[-1]['pass_rate'])} on the"
            f" last; lowest {page.share(low['pass_rate'])} on {low['day']}, highest {page.share(high['pass_rate'])} on"
            f" {high['day']}."
        )
    since, until = numbers.facts["since"] or "", numbers.facts["until"] or "9999"
    drawn = tuple(row | {"inside": since <= row["day"] <= until} for row in days)
    chart = Chart("days", "Pass rate and traces by day", words, drawn, table)
    zone = numbers.facts["timezone"]
    return Section("days", "Day by day", f"{words} Days begin at midnight, {zone}.", (chart,))


def _ends(row: Row) -> Cell:
    if row["pass_rate_low"] is None:
        return Cell(page.MISSING, number=True)
    return Cell(f"{page.share(row['pass_rate_low'])} to {page.share(row['pass_rate_high'])}", number=True)


def _funnel(numbers: Numbers) -> Section | None:
    rows = [row | {"label": _STEPS[row["step"]]} for row in numbers.tables["funnel"]]
    if not rows:
        return None
    cells = page.rows_of(
        rows, lambda row: Cell(row["label"]), lambda row: page.count(row["n_traces"]),
        lambda row: Cell(page.share(row["share"]), number=True), lambda row: page.count(row["n_unchecked"]),
    )  # fmt: skip
    table = Table("Traces by step", ("step", "traces", "share", "not checked"), cells)
    words = ", ".join(f"{row['label']} {row['n_traces']:,}" for row in rows) + "."
    intro = "How far the traces came, rung by rung, and where they went."
    if any(row["n_unchecked"] for row in rows):
        intro += " Not checked are traces that a rung let through because it had no schema or no reference for them."
    return Section("funnel", "Funnel", intro, (Chart("funnel", "Traces by step", words, tuple(rows), table),))


def _groups(numbers: Numbers) -> Iterator[Section | None]:
    """A section per dimension that the report tells apart by."""
    before = {(row["dimension"], row["value"]): row for row in numbers.tables["rates"] if row["part"] == "base"}
    for dimension in dict.fromkeys(name for name in numbers.facts["by"] if name != "tool"):
        rows = [row for row in numbers.tables["rates"] if row["part"] == "head" and row["dimension"] == dimension]
        if not any(row["value"] is not None for row in rows):
            continue
        name = dimension_name(dimension)
        shown, left = rows[:50], max(len(rows) - 50, 0)
        cells = page.rows_of(
            shown, lambda row: cell_of(row["value"]), lambda row: _rate(row, before.get((row["dimension"], row["value"]))),
            lambda row: _before(before.get((row["dimension"], row["value"]))), lambda row: page.count(row["n"]),
            lambda row: page.count(row["n_unscored"]),
        )  # fmt: skip
        heads = (name, "pass rate", "before", "traces", "unscored")
        table = Table(f"Pass rate by {name}", heads, cells, page.more(left, "view pass_rate"))
        yield Section(f"by-{len(name)}-{_slug(name)}", f"By {name}", _RATE_INTRO, (table,))


_RATE_INTRO = "Share of the scored traces that passed, with its 95% interval; the hollow mark is the share before."


def cell_of(value: Any) -> Cell:
    """A cell that names the value of a dimension."""
    return Cell(value_name(value), code=value is not None)


def _slug(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower())[:40]


def _rate(row: Row, other: Row | None) -> Cell:
    """A pass rate with its interval."""
    if row["pass_rate"] is None:
        return Cell(page.MISSING, number=True)
    before = other["pass_rate"] if other else None
    interval = Interval(row["pass_rate"], row["pass_rate_low"], row["pass_rate_high"], before)
    return Cell(page.share(row["pass_rate"]), number=True, interval=interval)


def _before(other: Row | None) -> Cell:
    return Cell(page.share(other["pass_rate"] if other else None), number=True)


def _tools(numbers: Numbers) -> Section | None:
    rows = numbers.tables["tools"]
    if not rows:
        return None
    rates = {(row["part"], row["value"]): row for row in numbers.tables["rates"] if row["dimension"] == "tool"}
    nothing = {"pass_rate": None}
    cells = page.rows_of(
        rows, lambda row: page.cell(row["tool"]),
        lambda row: _rate(rates.get(("head", row["tool"]), nothing), rates.get(("base", row["tool"]))),
        lambda row: page.count(row["n_calls"]),
        lambda row: page.count(row["n_missing"]), lambda row: page.count(row["n_extra"]),
        lambda row: page.count(row["n_errors"]),
        lambda row: Cell(page.MISSING if row["mean_ms"] is None else f"{row['mean_ms']:,.0f}", number=True),
        lambda row: Cell(page.money(row["cost"]), number=True),
    )  # fmt: skip
    heads = ("tool", "without finding", "calls", "not made", "extra", "errors", "mean ms", "cost")
    note = page.more(numbers.left_out.get("tools", 0), "view tool_scores")
    intro = "Share of the schema-checked calls without an error finding; calls that were expected and not made, or made and not expected; calls that ended in an error."
    return Section("tools", "Tools", intro, (Table("Tools by number of calls", heads, cells, note),))


def _arguments(numbers: Numbers) -> Section | None:
    rows = numbers.tables["arguments"]
    if not rows:
        return None
    cells = page.rows_of(
        rows, lambda row: page.cell(".".join(filter(None, (row["tool"], row["path"])))),
        lambda row: page.count(row["n_pairs"]), lambda row: Cell(page.share(row["share"]), number=True),
        lambda row: Cell(page.share(row["share_before"]), number=True), lambda row: page.count(row["n_differs"]),
        lambda row: page.count(row["n_missing"]), lambda row: page.count(row["n_unexpected"]),
        lambda row: page.cell(row["example_trace_id"]),
    )  # fmt: skip
    heads = ("argument", "calls compared", "drifted", "before", "differs", "missing", "unexpected", "look at")
    note = page.more(numbers.left_out.get("arguments", 0), "view argument_drift")
    intro = "Arguments of calls that were held against an expected one and were not equal to it after normalisation."
    return Section(
        "arguments", "Arguments that drift", intro, (Table("Arguments not as expected", heads, cells, note),)
    )


def _modes(numbers: Numbers) -> Section | None:
    if not numbers.tables["mistakes"] and not numbers.tables["modes"] and not numbers.tables["reasons"]:
        return None
    n, n_before = numbers.total().get("n_traces", 0), numbers.total("base").get("n_traces", 0)
    mistakes = page.rows_of(
        numbers.tables["mistakes"], lambda row: page.cell(row["code"]),
        lambda row: page.cell(".".join(filter(None, (row["tool"], row["path"]))) or None),
        lambda row: page.count(row["n_traces"]), lambda row: Cell(page.share(row["n_traces"] / n), number=True),
        lambda row: Cell(page.share(row["n_traces_before"] / n_before if n_before else None), number=True),
        lambda row: page.cell(row["example_trace_id"]),
    )  # fmt: skip
    modes = page.rows_of(
        numbers.tables["modes"], lambda row: page.cell(row["kinds"]), lambda row: page.count(row["n_traces"]),
        lambda row: Cell(page.share(row["share"]), number=True), lambda row: page.cell(row["example_trace_id"]),
    )  # fmt: skip
    reasons = page.rows_of(
        numbers.tables["reasons"], lambda row: Cell(page.text(row["reason"])), lambda row: page.count(row["n_traces"]),
        lambda row: page.cell(row["example_trace_id"]),
    )  # fmt: skip
    left = numbers.left_out
    tables = (
        Table("Mistakes made in several traces", ("code", "where", "traces", "share", "before", "look at"), mistakes,
              page.more(left.get("mistakes", 0), "view repeat_offenders")),
        Table("Findings that occur together", ("findings", "traces", "share of failing", "look at"), modes,
              page.more(left.get("modes", 0), "view failure_modes")),
        Table("Reasons for triage", ("reason", "traces", "look at"), reasons,
              page.more(left.get("reasons", 0), "view top_reasons")),
    )  # fmt: skip
    intro = "What goes wrong how often. A trace counts once per row, and under every reason that it has."
    return Section("failures", "Failure modes", intro, tuple(table for table in tables if table.rows))


def _safety(numbers: Numbers) -> Section:
    rows = numbers.tables["safety"]
    if not rows:
        return Section("safety", "Safety hits", "No safety pattern hit.", ())
    cells = page.rows_of(
        rows, lambda row: page.cell(row["code"]), lambda row: page.cell(row["tool"]), lambda row: page.count(row["n_traces"]),
        lambda row: page.count(row["n_traces_with_effect"]), lambda row: Cell(page.text(row["example_message"])),
    )  # fmt: skip
    heads = ("pattern", "tool", "traces", "may have run", "for example")
    ids = tuple(
        Ids(f"{page.text(row['code'])} in {page.text(row['tool'])}: {counted(row['n_traces'], 'trace')}",
            tuple(page.text(each, 400) for each in row["trace_ids"]))
        for row in rows
    )  # fmt: skip
    intro = "A hit counts even if the call was refused or the agent corrected itself. Every trace is listed below."
    return Section("safety", "Safety hits", intro, (Table("Safety patterns that hit", heads, cells), *ids))


def _costs(numbers: Numbers) -> Section:
    total, before = numbers.total(), numbers.total("base")
    names = (
        ("cost of the traces, as recorded", "cost", page.money), ("cost of tool calls, at the suite's prices", "tool_cost", page.money),
        ("input tokens", "input_tokens", _whole), ("output tokens", "output_tokens", _whole),
    )  # fmt: skip
    rows = [
        (Cell(label), *_totals(total, name, show), *_totals(before, name, show))
        for label, name, show in names
        if total.get(name) is not None
    ]
    blocks = [Table("Cost", ("what", "total", "a trace", "before", "a trace before"), tuple(rows))] if rows else []
    judged = [
        (Cell(label), Cell(f"{row[f'n_{key}']:,}", number=True), Cell(_whole(row[f"tokens_{tokens}"]), number=True),
         Cell(page.money(row[f"cost_{tokens}"]), number=True))
        for row in numbers.tables["judge"]
        for label, key, tokens in (("judge calls saved", "avoided", "avoided"), ("judge calls needed", "judge", "needed"))
    ]  # fmt: skip
    if judged:
        blocks.append(Table("Judge", ("what", "calls", "tokens, about", "price, about"), tuple(judged)))
    if numbers.tables["verdicts"]:
        blocks.append(_verdicts(numbers))
    intro = "A trace whose path alone settles it needs no judge. A judge call is the size of the whole trace, estimated at four bytes a token."
    return Section("cost", "Cost and judge calls saved", intro, tuple(blocks))


def _verdicts(numbers: Numbers) -> Table:
    """What the judge said."""
    cells = page.rows_of(
        numbers.tables["verdicts"],
        lambda row: Cell("no usable answer" if row["verdict"] is None else page.text(row["verdict"])),
        lambda row: page.count(row["n_traces"]),
        lambda row: page.count(row["n_answers"]),
        lambda row: Cell(page.share(row["agreement"]), number=True),
        lambda row: Cell(page.money(row["cost"]), number=True),
    )
    heads = ("final verdict", "traces", "answers", "agreement of answers", "cost")
    return Table("Verdicts of the judge", heads, cells)


def _whole(value: float | None) -> str:
    return page.MISSING if value is None else f"{value:,.0f}"


def _totals(total: Row, name: str, show: Any) -> tuple[Cell, Cell]:
    """A total, and what it is for one trace."""
    value, n = total.get(name), total.get("n_traces")
    each = value / n if value is not None and n else None
    return Cell(show(value), number=True), Cell(show(each), number=True)


def _cases(numbers: Numbers) -> Section | None:
    paired = next(iter(numbers.tables["paired"]), None)
    if paired is None or not paired["n_cases"]:
        return None
    cells = page.rows_of(
        numbers.tables["worse"], lambda row: page.cell(row["case_id"]), lambda row: page.count(row["n_trials_head"]),
        lambda row: Cell(page.share(row["pass_rate_base"]), number=True),
        lambda row: Cell(page.share(row["pass_rate_head"]), number=True),
        lambda row: Cell(page.points(0, row["difference"]), number=True), lambda row: page.cell(row["example_trace_id"]),
    )  # fmt: skip
    intro = (
        f"{counted(paired['n_cases'], 'case')} scored on both sides: {paired['n_better']:,} better, {paired['n_worse']:,} worse,"
        f" {paired['n_same']:,} the same. Mean difference {page.points(0, paired['difference'])} (95% interval"
        f" {page.points(0, paired['difference_low'])} to {page.points(0, paired['difference_high'])}, bootstrap over cases);"
        f" exact McNemar test p = {paired['p_value']:.2g}."
    )
    if not paired["same_suite"]:
        intro += " The two were scored with different suites, so a difference need not come from the agent."
    heads = ("case", "traces", "before", "now", "difference", "look at")
    note = page.more(numbers.left_out.get("worse", 0), "macro compare_cases")
    tables = (Table("Cases that got worse", heads, cells, note),) if cells else ()
    return Section("cases", "Case by case", intro, tables)
