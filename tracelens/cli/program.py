"""The program `tracelens`: commands, errors and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from cyclopts import App, CycloptsError, Parameter

from tracelens.errors import TraceLensError, UsageError
from tracelens.version import __version__

INTERNAL = 4
"""Exit code of what should never happen."""


def _told(default: Any) -> str | None:
    """A default as help shows it; not where it says nothing, as of a switch that is off."""
    return None if default is None or default is False else str(default)


app = App(
    name="tracelens",
    help="Score traces of tool-using agents: schema checks, call matching, trajectories, state and routing.",
    version=__version__,
    help_epilogue=(
        "Start with `tracelens demo`; `tracelens COMMAND --help` shows options and an example. Exit codes: 0 done or "
        "passed, 1 gate failed or night with alerts, 2 usage or suite error, 3 input unreadable or nothing scored, "
        "4 internal error."
    ),
    help_format="markdown",
    default_parameter=Parameter(negative=(), show_default=_told),
    suppress_keyboard_interrupt=False,
)

_COMMANDS = (
    ("demo", "demo:demo", "Score a small example and learn what each rung finds."),
    ("init", "suites:init", "Write a starter suite from traces."),
    ("lint", "suites:lint", "Check a suite: schemas, formats, references."),
    ("formats", "formats:formats", "List the formats of traces, or explain one and show its sample."),
    ("score", "score:score", "Score traces with every rung and show the funnel."),
    ("rescore", "score:rescore", "Score the traces of a run again with another suite."),
    ("explain", "explain:explain", "Show one trace rung by rung."),
    ("modes", "dialects:modes", "What libraries call strict, unordered, subset, superset and accuracy."),
    ("compare-dialects", "dialects:compare_dialects", "Where libraries disagree on your traces, and why."),
    ("sql", "query:sql", "Ask the results in SQL."),
    ("report", "report:report", "Write a report about a run, or about some days."),
    ("gate", "gate:gate", "Say whether a run may pass, alone and beside a base run."),
    ("nightly", "nightly:nightly", "Take new traces, report the day, raise alerts."),
    ("queue", "judge:queue", "Write what a judge must look at, also as batch requests."),
    ("verdicts", "judge:verdicts", "Read the judge's answers."),
    ("export", "store:export", "Copy the results into a DuckDB file, CSV, Parquet or Arrow."),
    ("prune", "store:prune", "Remove old runs."),
    ("schema", "suites:schema", "Print the JSON Schema of the suite file, or what every column means."),
)

_EXAMPLES = {
    "demo": "--date 2026-11-02",
    "init": "traces.jsonl --out suite.toml",
    "lint": "suite.toml",
    "formats": "chat",
    "score": "traces.jsonl --suite suite.toml --out results",
    "rescore": "results --suite stricter.toml",
    "explain": "results TRACE",
    "modes": "ragas",
    "compare-dialects": "results --rows 3",
    "sql": "results 'SELECT * FROM top_reasons'",
    "report": "results --out report.html",
    "gate": "results --suite suite.toml --min pass_rate=0.95",
    "nightly": "nightly.toml --day 2026-11-02",
    "queue": "results --suite suite.toml --out queue.jsonl",
    "verdicts": "results answers.jsonl",
    "export": "results --duckdb results.duckdb",
    "prune": "results --keep 10",
    "schema": "> suite.schema.json",
}

for _order, (_name, _home, _help) in enumerate(_COMMANDS):
    # by name, so that only the command that is called is imported
    _example = f"Example: `tracelens {_name} {_EXAMPLES[_name]}`"
    app.command(f"tracelens.cli.{_home}", name=_name, help=_help, help_epilogue=_example, sort_key=_order)


def main(tokens: Sequence[str] | None = None) -> int:
    """Run the program.

    Args:
        tokens: The arguments; those of the process when None.

    Returns:
        The exit code. Errors are printed to standard error, with place and remedy.
    """
    # Arrow's own allocator keeps more of what it frees: 40 MiB of a long run
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    tokens = sys.argv[1:] if tokens is None else list(tokens)
    if tokens[:1] in (["score"], ["init"]):
        # a lone hyphen would be taken for an option without a name
        tokens = ["/dev/stdin" if word == "-" else word for word in tokens]
    try:
        code = app(tokens, result_action="return_value", exit_on_error=False)
    except SystemExit as stop:  # cyclopts has printed help
        return stop.code if isinstance(stop.code, int) else 0
    except CycloptsError as error:  # and has printed it
        return _failed(tokens, error, UsageError.exit_code)
    except TraceLensError as error:
        from tracelens.cli.console import print_error

        print_error(error)
        return _failed(tokens, error, error.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    except BrokenPipeError:
        # the reader of our output has left: nothing is wrong, and Python must not complain when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except BaseException as error:
        # the last resort of the program; what Rust calls a panic is no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        from tracelens.cli.console import print_internal

        print_internal(error)
        return _failed(tokens, error, INTERNAL)
    return code if isinstance(code, int) else 0


def _failed(tokens: Sequence[str], error: BaseException, exit_code: int) -> int:
    """The exit code, after telling whoever wants JSON in JSON what is wrong."""
    pairs = zip(tokens, [*tokens[1:], ""], strict=True)
    if any(token in {"--json", "--output=json"} or (token, after) == ("--output", "json") for token, after in pairs):
        from tracelens.cli.console import print_json_error

        print_json_error(error, exit_code)
    return exit_code
