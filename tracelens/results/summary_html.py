"""The summary of a run as light HTML: works offline, in dark mode, and stays small however large the run."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tracelens.results.page import short

Row = Mapping[str, Any]

_TABLE = '<table style="border-collapse:collapse;font-size:13px;overflow-wrap:anywhere;margin:0 2em 1em 0">'
_NUMBER = re.compile("[0-9][0-9,.]*%?|–")
_BAR = "display:inline-block;height:.7em;background:light-dark(#0969da,#58a6ff);opacity:.7"


def summary_html(
    head: str, funnel: Sequence[tuple[str, int, str]], tools: Sequence[Row], reasons: Sequence[Row]
) -> str:
    """Funnel, scores by tool and top reasons side by side.

    Args:
        head: One line of text above.
        funnel: Labels and numbers of traces, the first being all, and words about what was not checked.
        tools: Rows of the view `tool_scores`.
        reasons: Rows of the view `top_reasons`.

    Returns:
        HTML.
    """
    parts = [_funnel(funnel), _tools(tools), _reasons(reasons)]
    return (
        f'<div style="color-scheme:light dark;overflow-x:auto;overflow-wrap:anywhere"><p>{_text(head)}</p>'
        '<div style="display:flex;flex-wrap:wrap;align-items:flex-start">' + "".join(parts) + "</div></div>"
    )


def comparison_html(counts: Mapping[str, int], rates: str, worst: Sequence[Row], *, same_suite: bool) -> str:
    """How many cases changed, and those that got worse.

    Args:
        counts: Number of cases by change.
        rates: One line about the pass rates; empty for none.
        worst: Rows with ``case_id``, ``pass_rate_base`` and ``pass_rate_head``.
        same_suite: Whether both runs were scored with the same suite.

    Returns:
        HTML.
    """
    most = max(counts.values(), default=0) or 1
    bars = [
        (name.replace("_", " "), f"{n:,}", f'<span style="{_BAR};width:{round(100 * n / most)}px"></span>')
        for name, n in counts.items()
    ]
    cases = [(_text(row["case_id"]), f"{row['pass_rate_base']:.1%}", f"{row['pass_rate_head']:.1%}") for row in worst]
    tables = [_table("Cases", ("change", "cases", ""), bars)]
    tables += [_table("Worse", ("case", "before", "now"), cases)] if cases else []
    note = f"<p>{_text(rates)}</p>" if rates else ""
    note += "" if same_suite else "<p>The runs were scored with different suites.</p>"
    return (
        f'<div style="color-scheme:light dark;overflow-x:auto;overflow-wrap:anywhere">{note}'
        '<div style="display:flex;flex-wrap:wrap;align-items:flex-start">' + "".join(tables) + "</div></div>"
    )


def _funnel(steps: Sequence[tuple[str, int, str]]) -> str:
    total = max((n for _, n, _ in steps), default=0) or 1
    rows = [
        (
            _text(label),
            f"{n:,}",
            f'<span style="{_BAR};width:{round(100 * n / total)}px"></span> <small>{_text(words)}</small>',
        )
        for label, n, words in steps
    ]
    return _table("Funnel", ("step", "traces", ""), rows)


def _tools(tools: Sequence[Row]) -> str:
    counts = ("n_exact", "n_partial", "n_missing", "n_extra")
    rows = [
        (
            _text(row["tool"]),
            f"{row['n_calls']:,}",
            "–" if row["valid_share"] is None else f"{row['valid_share']:.1%}",
            *("–" if row[name] is None else f"{row[name]:,}" for name in counts),
        )
        for row in tools
    ]
    return _table("Tools", ("tool", "calls", "valid", "exact", "partial", "missing", "extra"), rows)


def _reasons(reasons: Sequence[Row]) -> str:
    rows = [(f"{row['n_traces']:,}", _text(row["reason"])) for row in reasons]
    return _table("Top reasons", ("traces", "reason"), rows) if rows else ""


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A small table; cells are HTML already, and columns of numbers stand to the right."""
    right = [bool(rows) and all(_NUMBER.fullmatch(row[at]) for row in rows) for at in range(len(names))]
    style = [
        f"padding:1px 8px;{'text-align:right;white-space:nowrap' if each else 'text-align:left;min-width:7em'}"
        for each in right
    ]
    head = "".join(
        f'<th scope="col" style="{of}">{name}</th>' if name else "<td></td>"
        for name, of in zip(names, style, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(f'<td style="{of}">{each}</td>' for each, of in zip(row, style, strict=True)) + "</tr>"
        for row in rows
    )
    return f"{_TABLE}<caption><b>{title}</b></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: object) -> str:
    """Text that came from traces, made harmless and at most 120 characters."""
    return html.escape(short(str(value), 120))
