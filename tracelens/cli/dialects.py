"""`tracelens modes` and `tracelens compare-dialects`."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from tracelens.cli.console import print_json, print_lines
from tracelens.errors import UsageError, counted, did_you_mean
from tracelens.results.page import Line, safe

if TYPE_CHECKING:
    from tracelens.dialects import Dialect
    from tracelens.results.dialects import Disagreements

WIDE = 105
"""Characters of a line of prose."""


def modes(name: str | None = None, /, *, json: bool = False) -> None:
    """Show what libraries call strict, unordered, subset, superset and accuracy, with the numbers of one example.

    Args:
        name: A dialect, to see all that is known of it instead.
        json: Print JSON.
    """
    from tracelens.dialects import DIALECTS
    from tracelens.dialects.modes import modes as all_modes

    if name is None:
        rows = [mode._asdict() for mode in all_modes()]
        print_json(rows) if json else print_lines(_side_by_side(rows))
        return
    if name not in DIALECTS:
        raise UsageError(
            f"no dialect {name!r}", hint=did_you_mean(name, DIALECTS) or f"known are {', '.join(DIALECTS)}"
        )
    print_json(_facts(DIALECTS[name])) if json else print_lines(_page(DIALECTS[name]))


def _number(value: Any) -> str:
    """A value of a library, short."""
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value).lower()


def _side_by_side(rows: list[dict[str, Any]]) -> list[Line]:
    """All meanings by word."""
    from tracelens.dialects.modes import EXAMPLE, NOTATION

    lines: list[Line] = [[(NOTATION, "dim")], [(EXAMPLE, "dim")]]
    first, second = (max(len(row[key]) for row in rows) for key in ("dialect", "metric"))
    word = ""
    for row in rows:
        if row["word"] != word:
            word = row["word"]
            lines += [[], [(word, "title")]]
        lines.append(
            [
                (f"  {row['dialect']:<{first}}  ", "name"),
                (f"{row['metric']:<{second}}  {_number(row['value']):>5}  ", ""),
                (row["meaning"], "dim"),
            ]
        )
    return lines


def _facts(dialect: Dialect) -> dict[str, Any]:
    """What is known of a dialect."""
    from tracelens.dialects.modes import example

    metrics = [
        {
            "name": each.name,
            "also": each.also,
            "meaning": each.meaning,
            "parameters": {name: _default(value) for name, value in each.parameters.items()},
            "choices": each.choices,
            "column": each.column,
            "example": example(dialect.name, each.name) if each.problem({}) is None else None,
        }
        for each in dialect.metrics
    ]
    told = ("name", "library", "version", "source", "equality", "empties", "duplicates", "bugs")
    return {key: getattr(dialect, key) for key in told} | {"metrics": metrics}


def _default(value: Any) -> Any:
    """A parameter's default for JSON."""
    return (
        value
        if value is None or isinstance(value, bool | int | float | str)
        else list(value)
        if isinstance(value, tuple)
        else "required"
    )


def _page(dialect: Dialect) -> list[Line]:
    """All that is known of a dialect."""
    facts = _facts(dialect)
    lines: list[Line] = [[(dialect.name, "title"), (f"  {dialect.library} {dialect.version}", "")]]
    for key in ("source", "equality", "empties", "duplicates", "bugs"):
        heads = [key, *[""] * len(facts[key])]
        lines += [
            [(f"  {head:<12}", "dim"), (text, "")] for head, text in zip(heads, wrap(facts[key], WIDE), strict=False)
        ]
    lines.append([])
    for each in facts["metrics"]:
        column = "" if each["column"] else "  (with parameters only)"
        lines.append([(f"  {each['name']}", "name"), (f"  {each['meaning']}", ""), (column, "dim")])
        if each["parameters"]:
            said = ", ".join(f"{name} = {_shown(value)}" for name, value in each["parameters"].items())
            lines.append([(f"      {said}", "dim")])
        lines.append([(f"      worked example: {_shown(each['example'])}", "dim")])
    return lines


def _shown(value: Any) -> str:
    """A value as text, numbers short."""
    return str(value) if isinstance(value, list | dict) else _number(value)


def compare_dialects(results: Path, /, *, run: str | None = None, rows: int = 5, json: bool = False) -> None:
    """Show where libraries disagree on your own traces and why, most disagreement first.

    Args:
        results: Results folder; the run's suite names dialects.
        run: Run id or its beginning; the newest by default.
        rows: Traces to show.
        json: Print JSON.
    """
    from tracelens.results.dialects import disagreements, reasons
    from tracelens.store import open_run

    found = disagreements(open_run(results, run))
    top = found.traces.head(rows).to_dicts()
    for row in top:
        row["why"] = reasons(row)
    if json:
        told = {"words": found.words.to_dicts(), "numbers": found.numbers.to_dicts()}
        print_json({**told, "n_traces": found.traces.height, "traces": top})
        return
    print_lines([*_words(found), *(line for row in top for line in _trace(row, found))])


def _words(found: Disagreements) -> list[Line]:
    """How often each word's numbers differ, and the mean of each number."""
    lines: list[Line] = [[(f"{counted(found.traces.height, 'trace')} with disagreement", "title")], []]
    for row in found.words.iter_rows(named=True):
        told = f"{row['n_differ']:,} of {counted(row['n_traces'], 'trace')}"
        spread = "" if row["mean_spread"] is None else f"  mean spread {row['mean_spread']:.2f}"
        lines.append(
            [(f"  {row['word']:<11}", "name"), (f"{counted(row['columns'], 'number')} differ on {told}{spread}", "")]
        )
        numbers = found.numbers.filter(word=row["word"]).iter_rows(named=True)
        lines += _by_value([("mean", _number(each["mean"]), each["column"]) for each in numbers])
    return lines


def _by_value(numbers: list[tuple[str, str, str]]) -> list[Line]:
    """A line for each value with the names of all numbers that have it, from (head, value, name); the head once."""
    names: dict[str, list[str]] = {}
    for _, value, name in numbers:
        names.setdefault(value, []).append(name)
    heads = [numbers[0][0], *[""] * len(names)]
    return [
        [(f"  {head:<11}{value:>4}  ", "name"), (", ".join(those), "")]
        for head, (value, those) in zip(heads, names.items(), strict=False)
    ]


def _trace(row: dict[str, Any], found: Disagreements) -> list[Line]:
    """One trace: who says what, and why."""
    case = f"  case {safe(row['case_id'])}" if row["case_id"] else ""
    lines: list[Line] = [
        [],
        [(f"Trace {safe(row['trace_id'])}", "title"), (f"{case}  disagreement {row['disagreement']:.2f}", "dim")],
    ]
    for word, names in found.columns.items():
        values = sorted(
            ((word, _number(row[name]), name) for name in names),
            key=lambda each: (each[1] != "–", each[1]),
            reverse=True,
        )
        if len({value for _, value, _ in values}) > 1:
            lines += _by_value(values)
    lines += [[("  • ", "dim"), (safe(reason), "")] for reason in row["why"]]
    return lines
