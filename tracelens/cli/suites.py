"""`tracelens init`, `tracelens lint` and `tracelens schema`."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from tracelens.cli.console import print_json, print_lines
from tracelens.results.page import Line, safe


def lint(suite: Path, /, *, strict: bool = False, json: bool = False) -> int:
    """Check a suite: schemas usable, formats enforceable, references valid against the schemas, rules that work.

    Exits with 2 if there is an error.

    Args:
        suite: The suite file.
        strict: Warnings count as errors.
        json: Print the problems as JSON.
    """
    from tracelens.lint import lint as check
    from tracelens.suite import Suite

    problems = check(Suite.load(suite))
    counts = Counter(problem.severity for problem in problems)
    if json:
        print_json([asdict(problem) for problem in problems])
    else:
        for problem in problems:
            bad = problem.severity == "error"
            place = f"{safe(problem.place)}: " if problem.place else ""
            lines: list[Line] = [
                [(f"{problem.severity}: ", "bad" if bad else "warn"), (place, "name"), (safe(problem.message), "")]
            ]
            if problem.hint:
                lines.append([("  hint: ", "dim"), (safe(problem.hint), "good")])
            print_lines(lines)
        print_lines([[(f"{counts['error']} errors, {counts['warning']} warnings", "strong")]])
    return 2 if counts["error"] or (strict and problems) else 0


def schema(*, tables: bool = False, json: bool = False) -> None:
    """Print the JSON Schema of the suite file, by which an editor completes and explains its keys.

    Args:
        tables: Print instead what every table and column of the results means, as Markdown.
        json: Print the tables as JSON.
    """
    from tracelens.tables import STORED_TABLES, describe, markdown

    if tables and json:
        print_json({name: describe(name) for name in STORED_TABLES})
    elif tables:
        sys.stdout.write("\n".join(markdown(name) for name in STORED_TABLES))
    else:
        from tracelens.suite.editor import suite_json_schema

        print_json(suite_json_schema())
