"""The summary of a run as light HTML: works offline, in dark mode, and stays small however large the run."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracelens.results.page import safe
from tracelens.results.summary import LABELS

if TYPE_CHECKING:
    from tracelens.results.summary import Summary

_TABLE = '<table style="border-collapse:collapse;font-size:13px;text-align:left;margin:0 2em 1em 0">'
_BAR = "display:inline-block;height:.7em;background:light-dark(#0969da,#58a6ff);opacity:.7"


def summary_html(of: Summary) -> str:
    """Funnel, scores by tool and top reasons side by side."""
    rate = "none scored" if of.pass_rate is None else f"{of.pass_rate:.1%} passed"
    head = f"<b>{_text(of.suite or 'no suite')}</b> · {of.n_traces:,} traces · {rate} · {of.n_unscored:,} unscored"
    parts = [_funnel(of), _tools(of), _reasons(of)]
    return (
        '<div style="color-scheme:light dark"><p>' + head + "</p>"
        '<div style="display:flex;flex-wrap:wrap;align-items:flex-start">' + "".join(parts) + "</div></div>"
    )


def _funnel(of: Summary) -> str:
    rows = []
    for step, n in of.funnel.items():
        width = round(100 * n / of.n_traces) if of.n_traces else 0
        rows.append((_text(LABELS[step]), f"{n:,}", f'<span style="{_BAR};width:{width}px"></span>'))
    return _table("Funnel", ("step", "traces", ""), rows)


def _tools(of: Summary) -> str:
    rows = [
        (
            _text(row["tool"]),
            f"{row['n_calls']:,}",
            "–" if row["valid_share"] is None else f"{row['valid_share']:.1%}",
            *(
                "–" if row[name] is None else f"{row[name]:,}"
                for name in ("n_exact", "n_partial", "n_missing", "n_extra")
            ),
        )
        for row in of.tools
    ]
    return _table("Tools", ("tool", "calls", "valid", "exact", "partial", "missing", "extra"), rows)


def _reasons(of: Summary) -> str:
    rows = [(f"{row['n_traces']:,}", _text(row["reason"])) for row in of.reasons]
    return _table("Top reasons", ("traces", "reason"), rows) if rows else ""


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A small table; cells are HTML already."""
    cell = '<td style="padding:1px 8px">{}</td>'
    head = "".join(f'<th style="padding:1px 8px">{name}</th>' for name in names)
    body = "".join("<tr>" + "".join(cell.format(each) for each in row) + "</tr>" for row in rows)
    return f"{_TABLE}<caption><b>{title}</b></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: object) -> str:
    """Text that came from traces, made harmless and at most 120 characters."""
    return html.escape(safe(str(value)[:120]))
