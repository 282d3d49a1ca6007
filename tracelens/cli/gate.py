"""`tracelens gate`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tracelens.cli.console import print_json, print_lines, say
from tracelens.errors import StoreError, UsageError
from tracelens.results.page import Line, Style, safe

if TYPE_CHECKING:
    from tracelens.gate import GateResult

_SIGNS: dict[str, tuple[str, Style]] = {"passed": ("✓", "good"), "failed": ("✗", "bad"), "inconclusive": ("?", "warn")}


def gate(
    results: Path,
    /,
    *,
    suite: Path,
    base: Path | None = None,
    min: Annotated[list[str] | None, Parameter(negative=())] = None,
    max_drop: list[str] | None = None,
    min_scored: int | None = None,
    confidence: float | None = None,
    allow_unscored: int | None = None,
    allow_missing: int | None = None,
    allow_inconclusive: bool = False,
    where: list[str] | None = None,
    run: str | None = None,
    base_run: str | None = None,
    today: datetime | None = None,
    seed: int = 1,
    junit: Path | None = None,
    markdown: Path | None = None,
    github: bool = False,
    json: bool = False,
) -> int:
    """Say whether a run may pass: exit code 0, or 1. What is absent, null or too little never passes.

    Args:
        results: Results folder; its latest run is looked at.
        suite: The suite of the run. Its table `[gate]` holds the rules; what is given here goes over them.
        base: Results folder of the run that it must not fall behind; its latest run.
        min: Lowest mean of a metric, as `pass_rate=0.95`; may be given more than once.
        max_drop: How far a metric may fall below the base, as `accuracy_optimal=0.02`; may be given more than once.
        min_scored: How many values a mean needs.
        confidence: A drop must also be significant, and a smaller one detectable, at this confidence, as 0.95.
        allow_unscored: How many traces may be unscored.
        allow_missing: How many cases may have no trace.
        allow_inconclusive: Pass where too few cases could have shown such a drop.
        where: Only traces with this tag, as `critical=true`; may be given more than once.
        run: Id of the run, or its beginning.
        base_run: Id of the base run, or its beginning.
        today: Day on which waivers are read; the present one in UTC by default.
        seed: Seed of permutation tests.
        junit: Write JUnit XML to this file.
        markdown: Write Markdown, for a pull request, to this file.
        github: Print annotations of GitHub Actions.
        json: Print the outcome as JSON.
    """
    from tracelens import gate as gates
    from tracelens.selection import Selection
    from tracelens.store import open_run
    from tracelens.suite import Suite
    from tracelens.suite.dialects import requests_of

    loaded = Suite.load(suite)
    if max_drop and base is None and base_run is None:
        raise UsageError("--max-drop needs a base run", hint="give --base DIR, or --base-run ID of this folder")
    more = [score for request in requests_of(loaded.match.dialects)[0] for score in request.scores]
    rules = gates.GateRules.of(
        loaded.gate,
        min=gates.limits(min or (), "--min", more),
        max_drop=gates.limits(max_drop or (), "--max-drop", more),
        min_scored=min_scored,
        allow_unscored=allow_unscored,
        allow_missing=allow_missing,
        confidence=confidence,
        allow_inconclusive=allow_inconclusive,
    )
    result = gates.decide(
        open_run(results, run),
        loaded,
        rules,
        base=None if base is None and base_run is None else open_run(base or results, base_run),
        selection=Selection.of(where=where),
        today=_day(today),
        seed=seed,
    )
    for file, text in ((junit, gates.junit), (markdown, gates.markdown)):
        if file is not None:
            _write(file, text(result))
    if github:
        sys.stdout.write(gates.github_annotations(result))
    if json:
        print_json(result.to_dict())
    elif not github:
        print_lines(_lines(result))
    return 0 if result.passed else 1


def _day(moment: datetime | None) -> date | None:
    return None if moment is None else moment.date()


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write here ({error.strerror})", where=str(file)) from error
    say(str(file))


def _lines(result: GateResult) -> Iterator[Line]:
    """The outcome, a line a check."""
    sign, style = _SIGNS[result.status]
    against = f" against {result.base_run_id[:12]}" if result.base_run_id else ""
    word = "passed" if result.passed else result.status
    yield [("Gate ", ""), (word, style), (f"  suite {safe(result.suite)}  run {result.run_id[:12]}{against}", "dim")]
    width = max(len(check.name) for check in result.checks)
    for check in result.checks:
        sign, style = _SIGNS[check.status]
        yield [(f"  {sign} ", style), (f"{check.name:<{width}}  ", "name"), (safe(check.message), "")]
    for warning in result.warnings:
        yield [("  warning: ", "warn"), (safe(warning), "")]
