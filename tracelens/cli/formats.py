"""`tracelens formats`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from tracelens.cli.console import print_json, print_lines, say
from tracelens.results.page import Line, safe

if TYPE_CHECKING:
    from tracelens.sources import guide


def formats(name: str | None = None, /, *, json: bool = False) -> None:
    """List the formats of traces that can be read, or say how one is read and show its bundled sample.

    Args:
        name: A format; all of them by default.
        json: Print it as JSON.
    """
    from tracelens.sources import guide

    if json:
        print_json(asdict(guide.entry(name)) if name else [asdict(each) for each in guide.entries()])
    elif name:
        print_lines(list(_one(guide.entry(name))))
    else:
        every = guide.entries()
        width = max(len(each.name) for each in every)
        print_lines([[(f"{each.name:<{width}}  ", "name"), (each.title, ""), (each.mark, "warn")] for each in every])
        say("\n`tracelens formats NAME` says how one is read; `tracelens score sample:NAME` tries it on its sample.")


def _one(entry: guide.Entry) -> Iterator[Line]:
    yield [(entry.name, "title"), (f"  {entry.title}", ""), (entry.mark, "warn")]
    yield []
    for line in entry.about.splitlines():
        yield [(safe(line).replace("``", "`"), "")]
    beginning = entry.beginning()
    if beginning:
        yield []
        yield [(f"Its sample, {entry.sample}, begins", "strong")]
        for line in beginning:
            yield [(f"  {safe(line)}", "dim")]
    yield []
    yield [("Try it: ", "strong"), (entry.command, "good")]
