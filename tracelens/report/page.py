"""What a page is made of, whatever it is written in: sections of sentences, steps, tables and charts.

All text is made harmless here, once, so that no renderer can forget it; renderers escape for their own language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tracelens.shown import short

Mark = Literal["worse", "better", "same", "act"]

MISSING = "–"
"""What stands for null."""

_WIDEST = 160


@dataclass(frozen=True, slots=True)
class Interval:
    """A share with its interval, and what it was before.

    Attributes:
        mid: The share, 0 to 1.
        low: Lower end of its interval.
        high: Upper end.
        before: The share before; None: not known.
    """

    mid: float
    low: float
    high: float
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: What it says.
        number: Whether it is a number, set to the right.
        code: Whether it names something of a trace: a tool, a path, an id.
        interval: A share to draw beside the text.
    """

    text: str
    number: bool = False
    code: bool = False
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of a row names the row."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to know or to do: what it is about, what is to be said, and small print."""

    mark: Mark
    head: str
    text: str
    small: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of them; `ordered` where the first comes first."""

    items: tuple[Item, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing: the name of its kind, the rows it draws, and in words what it shows."""

    kind: Literal["days", "funnel"]
    title: str
    words: str
    rows: tuple[dict[str, Any], ...]
    table: Table


@dataclass(frozen=True, slots=True)
class Ids:
    """A list of trace ids, however long, under a heading."""

    title: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page."""

    id: str
    title: str
    intro: str
    blocks: tuple[Table | Items | Chart | Ids, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the few numbers at the top."""

    label: str
    value: str
    small: str
    mark: Mark = "same"


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report."""

    title: str
    about: str
    lead: str
    figures: tuple[Figure, ...]
    sections: tuple[Section, ...]
    foot: tuple[str, ...]


def text(value: Any, width: int = _WIDEST) -> str:
    r"""Whatever came out of a trace, harmless and not too long.

    Example:
        >>> text(None), text("a\x07")
        ('–', 'a\\x07')
    """
    return MISSING if value is None else short(str(value), width)


def count(value: int | None) -> Cell:
    """A cell with a whole number."""
    return Cell(MISSING if value is None else f"{value:,}", number=True)


def share(value: float | None) -> str:
    """A share in percent.

    Example:
        >>> share(0.1234), share(None)
        ('12.3%', '–')
    """
    return MISSING if value is None else f"{value:.1%}"


def money(value: float | None) -> str:
    """An amount of money, with as many decimals as it takes to see something.

    Example:
        >>> money(1234.5), money(0.00412), money(0), money(None)
        ('1,234.50', '0.0041', '0.00', '–')
    """
    if value is None:
        return MISSING
    return f"{value:,.2f}" if value == 0 or abs(value) >= 0.1 else f"{value:.2g}"


def points(before: float, after: float) -> str:
    """A difference of two shares in points.

    Example:
        >>> points(0.9, 0.85), points(0.5, 0.501)
        ('−5.0 points', '+0.1 points')
    """
    difference = 100 * (after - before)
    return f"{'−' if difference < 0 else '+'}{abs(difference):.1f} points"


def cell(value: Any) -> Cell:
    """A cell that names something of a trace."""
    return Cell(text(value), code=value is not None)


def more(left_out: int, where: str) -> str:
    """What to say beneath a table that was cut."""
    return f"and {left_out:,} more; all of them: {where}" if left_out else ""


def rows_of(rows: Sequence[dict[str, Any]], *makers: Any) -> tuple[tuple[Cell, ...], ...]:
    """Rows of cells: each maker makes a cell of a row."""
    return tuple(tuple(make(row) for make in makers) for row in rows)
