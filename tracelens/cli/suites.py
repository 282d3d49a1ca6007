"""`tracelens init`, `tracelens lint` and `tracelens schema`."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from tracelens.cli.console import print_json, print_lines, say
from tracelens.errors import InputError, UsageError, counted
from tracelens.results.page import Line, safe


def init(
    inputs: list[str],
    /,
    *,
    out: Path = Path("suite.toml"),
    name: str | None = None,
    format: str = "auto",
    force: bool = False,
) -> None:
    """Write a starter suite from traces: the tools seen, their schemas (found or inferred), and the references.

    Prints the files made.

    Args:
        inputs: Files, globs or folders of traces; `-` is standard input.
        out: The suite file; what it names is written beside it.
        name: Name of the suite; by default that of the suite file, or of its folder for `suite.toml`.
        format: Name of the input format; `auto` finds it.
        force: Replace files that exist.
    """
    from tracelens.init import starter_suite
    from tracelens.sources.detect import open_input

    if not inputs:
        raise UsageError("no input given", hint="name a file, as in `tracelens init traces.jsonl`")
    opened = open_input(inputs, format)
    say(opened.explanation)
    stem = out.resolve().parent.name if out.stem == "suite" else out.stem
    made = starter_suite((parse(block) for parse, block in opened.blocks()), name or stem)
    if not made.n_traces:
        raise InputError(
            "no trace in the input, so there is nothing to start from",
            where=", ".join(inputs),
            hint="; ".join(made.notes) or f"it was read as {opened.format_name}; --format reads it as another",
        )
    for file in made.save(out, overwrite=force):
        print(file)
    say(", ".join(map(counted, (made.n_traces, made.n_tools, made.n_cases), ("trace", "tool", "case"))))
    for note in made.notes:
        say(f"note: {note}")
    suite = shlex.quote(str(out))
    say(f"Next: tracelens lint {suite}, then tracelens score {shlex.join(inputs)} --suite {suite} --out results")


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
        print_lines([[(f"{counted(counts['error'], 'error')}, {counted(counts['warning'], 'warning')}", "strong")]])
    return 2 if counts["error"] or (strict and problems) else 0


def schema(*, tables: bool = False, json: bool = False) -> None:
    """Print the JSON Schema of the suite file, by which an editor completes and explains its keys.

    Args:
        tables: Print instead what every table and column of the results means, as Markdown.
        json: Print the tables as JSON.
    """
    from tracelens.tables import QUERIED_TABLES, describe, describe_dialects, markdown, markdown_dialects

    if tables and json:
        print_json({name: describe(name) for name in QUERIED_TABLES} | {"dialects": describe_dialects()})
    elif tables:
        sys.stdout.write("\n".join([*map(markdown, QUERIED_TABLES), markdown_dialects()]))
    else:
        from tracelens.suite.editor import suite_json_schema

        print_json(suite_json_schema())
