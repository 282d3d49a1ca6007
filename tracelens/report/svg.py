"""Drawings as SVG, by hand: small, the same bytes every time, and coloured by the page, so that dark pages work.

Classes, not colours: ``line``, ``band``, ``bar``, ``dot``, ``hollow``, ``grid``, ``axis``. Everything is drawn twice,
for wide and for narrow pages, since text that shrinks with the page cannot be read.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tracelens.report.page import Interval

Row = dict[str, Any]

WIDE, NARROW = 860, 350
"""Widths of the two drawings."""

_DATE = 88.0
"""Room that a date takes."""


def chart(kind: str, rows: Sequence[Row], *, title: str, words: str) -> str:
    """A drawing for wide and one for narrow pages.

    Args:
        kind: ``days`` or ``funnel``.
        rows: What it draws.
        title: Its title, which a screen reader says first.
        words: What it shows, in a sentence or two.

    Returns:
        Two SVG elements, of which the page shows one.
    """
    draw = {"days": _days, "funnel": _funnel}[kind]
    return "".join(
        _svg(draw(rows, width), width, name, title, words) for width, name in ((WIDE, "wide"), (NARROW, "narrow"))
    )


def _svg(drawn: tuple[str, int], width: int, name: str, title: str, words: str) -> str:
    body, height = drawn
    label = html.escape(f"{title}. {words}", quote=True)
    return f'<svg class="chart {name}" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{body}</svg>'


def interval(of: Interval) -> str:
    """A share with its interval on a line from 0 to 1; it says nothing that the text beside it does not."""
    x = [_at(value, 4, 96) for value in (of.low, of.high, of.mid)]
    hollow = "" if of.before is None else f'<circle class="hollow" cx="{_at(of.before, 4, 96)}" cy="8" r="3.2"/>'
    return (
        '<svg class="interval" viewBox="0 0 100 16" aria-hidden="true"><line class="track" x1="4" x2="96" y1="8" y2="8"/>'
        f'<line class="reach" x1="{x[0]}" x2="{x[1]}" y1="8" y2="8"/>{hollow}<circle class="dot" cx="{x[2]}" cy="8" r="3.4"/></svg>'
    )


def _at(value: float, low: float, high: float) -> str:
    """Where a share stands between two coordinates."""
    return _n(low + (high - low) * min(max(value, 0.0), 1.0))


def _n(value: float) -> str:
    """A coordinate: one decimal is finer than any screen."""
    return f"{value:.1f}".removesuffix(".0")


def _text(x: float, y: float, words: str, kind: str = "axis", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}">{html.escape(words)}</text>'


def _days(rows: Sequence[Row], width: int) -> tuple[str, int]:
    """Pass rate as a line with its interval, number of traces as bars below."""
    left, right, top, middle, bottom = 44.0, width - 14.0, 26.0, 196.0, 262.0
    step = (right - left) / max(len(rows), 1)
    x = [left + step * (number + 0.5) for number in range(len(rows))]
    least = _floor(rows)

    def y(rate: float) -> float:
        return middle - (middle - top) * (rate - least) / (1 - least)

    parts = [
        *_span(rows, x, step, top, bottom),
        _text(left - 36, 13, "pass rate", "label"),
        *_grid(least, y, left, right),
    ]
    for run in _runs(rows):
        parts.append(_band(run, x, y, rows))
        points = " ".join(f"{_n(x[k])},{_n(y(rows[k]['pass_rate']))}" for k in run)
        parts.append(f'<polyline class="line" points="{points}"/>')
        radius = "2.6" if step > 8 else "1.6"
        parts += [f'<circle class="dot" cx="{_n(x[k])}" cy="{_n(y(rows[k]["pass_rate"]))}" r="{radius}"/>' for k in run]
    parts += _bars(rows, x, step, middle + 30, bottom)
    parts += [_text(left - 36, middle + 22, "traces", "label"), *_dates(rows, x, bottom + 16, right)]
    return "".join(parts), int(bottom) + 24


def _span(rows: Sequence[Row], x: Sequence[float], step: float, top: float, bottom: float) -> Iterator[str]:
    """The days that the report is about, where the drawing shows others, too."""
    inside = [number for number, row in enumerate(rows) if row.get("inside")]
    if inside and len(inside) < len(rows):
        left, wide = x[inside[0]] - step / 2, step * (inside[-1] - inside[0] + 1)
        yield f'<rect class="span" x="{_n(left)}" y="{_n(top)}" width="{_n(wide)}" height="{_n(bottom - top)}"/>'
        yield _text(left + wide, top - 7, "this report", anchor="end")


def _floor(rows: Sequence[Row]) -> float:
    """Where the axis begins: at 0, or at half if nothing lies below; said by the axis itself."""
    lows = [row["pass_rate_low"] for row in rows if row["pass_rate_low"] is not None]
    return 0.5 if lows and min(lows) >= 0.5 else 0.0


def _grid(least: float, y: Any, left: float, right: float) -> Iterator[str]:
    """Lines at round shares."""
    for share in (least, least + (1 - least) / 2, 1.0):
        yield f'<line class="grid" x1="{_n(left)}" x2="{_n(right)}" y1="{_n(y(share))}" y2="{_n(y(share))}"/>'
        yield _text(left - 6, y(share) + 4, f"{share:.0%}", anchor="end")


def _runs(rows: Sequence[Row]) -> Iterator[list[int]]:
    """Days in a row that have a pass rate: the line breaks where there is none."""
    run: list[int] = []
    for number, row in enumerate(rows):
        if row["pass_rate"] is not None:
            run.append(number)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _band(run: Sequence[int], x: Sequence[float], y: Any, rows: Sequence[Row]) -> str:
    """The interval as an area."""
    above = [f"{_n(x[k])},{_n(y(rows[k]['pass_rate_high']))}" for k in run]
    below = [f"{_n(x[k])},{_n(y(rows[k]['pass_rate_low']))}" for k in reversed(run)]
    return f'<polygon class="band" points="{" ".join([*above, *below])}"/>'


def _bars(rows: Sequence[Row], x: Sequence[float], step: float, top: float, bottom: float) -> Iterable[str]:
    """Number of traces by day."""
    most = max((row["n_traces"] for row in rows), default=0) or 1
    wide = max(min(step * 0.7, 26.0), 1.0)
    for at, row in zip(x, rows, strict=True):
        high = (bottom - top) * row["n_traces"] / most
        yield f'<rect class="bar" x="{_n(at - wide / 2)}" y="{_n(bottom - high)}" width="{_n(wide)}" height="{_n(high)}"/>'
    yield _text(x[0] - step / 2 - 6, top + 8, f"{most:,}", anchor="end")


def _dates(rows: Sequence[Row], x: Sequence[float], y: float, right: float) -> Iterable[str]:
    """The last date, and as many before it as have room."""
    fits = max(int((right - x[0]) // _DATE), 1)
    every = max(-(-len(rows) // fits), 1)
    yield _text(right, y, rows[-1]["day"], anchor="end")
    for number in range(len(rows) - 1 - every, -1, -every):
        if x[0] + 20 < x[number] < right - 1.5 * _DATE:
            yield _text(x[number], y, rows[number]["day"], anchor="middle")


def _funnel(rows: Sequence[Row], width: int) -> tuple[str, int]:
    """Bars from the left, with their numbers."""
    label, number = (190.0, 84.0) if width == WIDE else (178.0, 54.0)
    most = max((row["n_traces"] for row in rows), default=0) or 1
    parts, y = [], 4.0
    for row in rows:
        if row["step"] == "settled":
            y += 8
        long = (width - label - number) * row["n_traces"] / most
        kind = "bar bad" if row["step"] == "triage" else "bar"
        parts.append(_text(label - 8, y + 13, row["label"], "label", "end"))
        parts.append(
            f'<rect class="{kind}" x="{_n(label)}" y="{_n(y)}" width="{_n(max(long, 1))}" height="17" rx="2"/>'
        )
        parts.append(_text(label + long + 6, y + 13, f"{row['n_traces']:,}", "value"))
        y += 23
    return "".join(parts), int(y) + 2
