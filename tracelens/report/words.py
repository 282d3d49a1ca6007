"""Rows of a report in words."""

from __future__ import annotations

from typing import Any

from tracelens.errors import counted
from tracelens.report import page
from tracelens.report.page import Item, Mark

Row = dict[str, Any]


def dimension_name(dimension: str) -> str:
    """What a dimension is called.

    Example:
        >>> dimension_name("tag:version"), dimension_name("agent")
        ('version', 'agent')
    """
    return page.text(dimension.removeprefix("tag:"), 60)


def value_name(value: str | None) -> str:
    """What a value of a dimension is called.

    Example:
        >>> value_name(None), value_name("booker")
        ('not given', 'booker')
    """
    return "not given" if value is None else page.text(value, 80)


def change_item(row: Row) -> Item:
    """What changed, as one item."""
    mark: Mark = "better" if row["better"] else "worse"
    if row["kind"] == "mistake":
        return _mistake(row, mark)
    apart = row["sigmas"] or 0.0
    if row["kind"] == "overall":
        head, unit = "All traces:", "trace"
        if abs(apart) < 2:
            mark = "same"
    else:
        head = f"{dimension_name(row['dimension'])} {value_name(row['value'])}:"
        unit = "call" if row["dimension"] == "tool" else "trace"
    did = "are without a finding" if unit == "call" else "passed"
    text = f"{page.share(row['after'])} of {counted(row['n_after'], unit)} {did}, {page.share(row['before'])} before"
    return Item(mark, head, text, f"{page.points(row['before'], row['after'])}, {_apart(apart)}")


def _mistake(row: Row, mark: Mark) -> Item:
    """A mistake that is new, or more or less frequent."""
    where = page.text(".".join(filter(None, (row["tool"], row["path"]))) or "no single tool", 80)
    before = f"{page.share(row['before'])} before" if row["n_before"] else "in none before"
    text = f"{page.text(row['code'])} in {page.share(row['after'])} of the traces, {before}"
    example = page.text(row["example_trace_id"]) if row["example_trace_id"] else ""
    return Item(mark, f"{where}:", text, f"{counted(row['n_after'], 'trace')}, {_apart(row['sigmas'])}", example)


def _apart(sigmas: float) -> str:
    return "within chance" if abs(sigmas) < 2 else f"{abs(sigmas):.0f} standard errors"


def step_item(row: Row) -> Item:
    """A step to do."""
    what = row["what"][:1].upper() + row["what"][1:]
    example = page.text(row["example_trace_id"]) if row["example_trace_id"] else ""
    return Item("act", page.text(row["topic"], 80), f"{what}.", page.text(row["why"], 300), example)


def alert_item(row: Row) -> Item:
    """An alert of a nightly run."""
    example = page.text(row["first_trace_id"]) if row.get("first_trace_id") else ""
    return Item("worse", "Alert", page.text(row["message"], 400), page.text(row["kind"]).replace("_", " "), example)
