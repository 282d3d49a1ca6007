"""`tracelens demo`: the worked example, scored for real and explained rung by rung."""

from __future__ import annotations

import json as _json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from tracelens.cli.console import print_json, print_lines
from tracelens.results.page import Line

_REQUEST = "Book me a flight from San Francisco to New York on 2 November 2026."


def demo(*, date: str | None = None, json: bool = False) -> None:
    """Score a small trace and show what each rung finds.

    Args:
        date: The date the agent searches for; with 2026-11-02 it searches for the right one.
        json: Print everything the run knows about the trace as JSON.
    """
    with _without_pandas():
        _show(date, json)


def _show(date: str | None, json: bool) -> None:
    """Score the example, with the date if there is one, and print what came out."""
    from tracelens.results import score

    with as_file(files("tracelens") / "demo") as folder, tempfile.TemporaryDirectory() as place:
        traces = Path(place) / "traces.jsonl"
        traces.write_text(_with_date((folder / "traces.jsonl").read_text(encoding="utf-8"), date), encoding="utf-8")
        results = score(traces, folder / "suite.toml")
        page = results.explain("demo-1")
        if json:
            print_json(page.to_dict())
            return
        print_lines([*_introduction(), *page.lines(lesson=True), *_outlook(date)])


class _NoPandas:
    """A finder of modules that says that there is no pandas."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> None:  # noqa: ARG002  the protocol
        """Stop the search for pandas, and for nothing else."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


@contextmanager
def _without_pandas() -> Iterator[None]:
    """PyArrow looks for pandas when it first makes an array; where pandas is there, loading it takes a while."""
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _with_date(text: str, date: str | None) -> str:
    """The trace with another date in its searches."""
    if date is None:
        return text
    trace = _json.loads(text)
    for call in trace["tool_calls"]:
        if "date" in call["arguments"]:
            call["arguments"]["date"] = date
    return _json.dumps(trace) + "\n"


def _introduction() -> Iterator[Line]:
    """What the example is about."""
    yield [("A user asks: ", "dim"), (_REQUEST, "strong")]
    yield [("The suite expects two calls. TraceLens holds what the agent did against them, rung by rung.", "dim")]
    yield []


def _outlook(date: str | None) -> Iterator[Line]:
    """What to try next."""
    yield []
    yield [("Try next", "title")]
    if date is None:
        yield [("  tracelens demo --date 2026-11-02", "name"), ("    the agent searches for the right date", "dim")]
    else:
        yield [("  tracelens demo", "name"), ("                      the agent searches for the wrong date", "dim")]
    yield [("  tracelens init traces.jsonl", "name"), ("         a starter suite from traces of your own", "dim")]
    yield [("  tracelens score traces.jsonl --suite suite.toml --out results", "name")]
