"""A report as one HTML file that needs nothing from anywhere: no script, no font, no picture."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from tracelens.report import svg
from tracelens.report.page import Chart, Ids, Items, Page, Table

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

_KINDS = {Table: "table", Items: "items", Chart: "chart", Ids: "ids"}


def html_page(page: Page) -> str:
    """The page as HTML.

    Args:
        page: The page; its texts are harmless already, and are escaped here.

    Example:
        >>> made = html_page(Page("<b>", "a run", "All passed.", (), (), ()))
        >>> "<b>" in made, "<script" in made
        (False, False)
    """
    return _template().render(page=page)


def _ticks(text: str) -> Markup:
    """The text, escaped, with what stands between back-quotes as code."""
    from markupsafe import Markup, escape

    parts = [str(escape(part)) for part in text.split("`")]
    return Markup("".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts)))  # noqa: S704


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    folder = files("tracelens.report") / "templates"
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["kind"] = lambda block: _KINDS[type(block)]
    environment.filters["drawn"] = lambda of: Markup(  # noqa: S704  our own drawing, whose texts are escaped there
        svg.chart(of.kind, of.rows, title=of.title, words=of.words)
    )
    environment.filters["ticks"] = _ticks
    environment.filters["interval"] = lambda of: Markup(svg.interval(of))  # noqa: S704  numbers only
    style = (folder / "report.css").read_text(encoding="utf-8")
    environment.globals["style"] = Markup(style)  # noqa: S704  our own file
    return environment.from_string((folder / "report.html.j2").read_text(encoding="utf-8"))
