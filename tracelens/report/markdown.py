"""A report as Markdown: the same page, for a pull request, a chat or a mail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tracelens.report.page import Chart, Ids, Item, Items, Page, Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&@$!]|^[-+](?=\s))")


def markdown_page(page: Page) -> str:
    r"""The page as GitHub's Markdown.

    Args:
        page: The page; what Markdown or HTML would take for markup is escaped here.

    Example:
        >>> markdown_page(Page("<b>", "a *run*", "All passed.", (), (), ())).splitlines()[:3]
        ['# \\<b\\>', '', 'a \\*run\\*']
    """
    return "\n".join(_lines(page)).rstrip() + "\n"


def escaped(text: str) -> str:
    """Text that means itself."""
    return _SPECIAL.sub(r"\\\1", text)


def _code(text: str) -> str:
    """Text in a code span that it cannot end, with bars that end no cell."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    edge = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{edge}{text}{edge}{ticks}".replace("|", "\\|")


def _lines(page: Page) -> Iterator[str]:
    yield from (f"# {escaped(page.title)}", "", escaped(page.about), "", f"**{escaped(page.lead)}**", "")
    for figure in page.figures:
        yield f"- {figure.label}: **{figure.value}** ({escaped(figure.small)})"
    for section in page.sections:
        intro = section.intro.replace("`tracelens explain DIR TRACE`", "\0")
        yield from (
            "",
            f"## {escaped(section.title)}",
            "",
            escaped(intro).replace("\0", "`tracelens explain DIR TRACE`"),
        )
        for block in section.blocks:
            yield ""
            if isinstance(block, Table):
                yield from _table(block)
            elif isinstance(block, Items):
                yield from _items(block.items, ordered=block.ordered)
            elif isinstance(block, Chart):
                yield from _table(block.table)
            else:
                yield from _ids(block)
    yield from ("", *map(escaped, page.foot))


def _table(table: Table) -> Iterator[str]:
    yield from (f"**{escaped(table.caption)}**", "")
    numbers = [cell.number for cell in table.rows[0]] if table.rows else [False] * len(table.heads)
    yield f"| {' | '.join(map(escaped, table.heads))} |"
    yield f"| {' | '.join('---:' if number else '---' for number in numbers)} |"
    for row in table.rows:
        yield f"| {' | '.join(_code(cell.text) if cell.code else escaped(cell.text) for cell in row)} |"
    if table.note:
        yield from ("", escaped(table.note))


def _items(items: Sequence[Item], *, ordered: bool) -> Iterator[str]:
    for number, item in enumerate(items, start=1):
        mark = {"worse": "▼ worse ", "better": "▲ better "}.get(item.mark, "")
        example = f", for example {_code(item.example)}" if item.example else ""
        small = f" ({escaped(item.small)}{example})" if item.small or example else ""
        yield f"{f'{number}.' if ordered else '-'} {mark}**{escaped(item.head)}** {escaped(item.text)}{small}"


def _ids(ids: Ids) -> Iterator[str]:
    yield f"{escaped(ids.title)}: {', '.join(map(_code, ids.ids))}"
