"""`tracelens score` and `tracelens rescore`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from tracelens.cli.console import print_error, print_json, print_lines, print_notes, say
from tracelens.errors import InputError, UsageError, counted
from tracelens.results.page import safe

if TYPE_CHECKING:
    from tracelens.results import Results
    from tracelens.results.summary import Summary


def score(
    inputs: list[str],
    /,
    *,
    suite: Path | None = None,
    out: Path | None = None,
    format: str = "auto",
    json: bool = False,
    sample: str | None = None,
    since: str | None = None,
    until: str | None = None,
    where: list[str] | None = None,
    max_rejects: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    quiet: bool = False,
    profile: bool = False,
) -> int:
    """Score traces with every rung and show the funnel.

    Args:
        inputs: Files, globs or folders of traces; `-` is standard input.
        suite: The suite file. Without one: diagnostics, safety checks, and the calls that the input itself expects.
        out: Results folder, to which the run is added. Without one only the summary is shown.
        format: Name of the input format; `auto` finds it.
        json: Print the summary as JSON.
        sample: Score only this share of the traces, such as `10%`, by hash of the trace id: the same on every machine.
        since: Only traces that started at this day or time or later; UTC unless it says otherwise.
        until: Only traces that started before this day or time.
        where: Only traces with this tag, as `version=1.2`; give it again for further tags, or other values of one.
        max_rejects: Exit with 3 if more records than this cannot be read.
        quiet: No progress bar.
        profile: Say on standard error what each stage took.
    """
    from tracelens.results import score as run

    if not inputs:
        raise UsageError("no input given", hint="name a file, as in `tracelens score traces.jsonl --suite suite.toml`")
    results = run(
        inputs,
        suite,
        out=out,
        format=format,
        progress=False if quiet else "auto",
        sample=sample,
        since=since,
        until=until,
        where=where,
    )
    code = show(results, json=json, kept=out is not None, max_rejects=max_rejects)
    if profile:
        say(profiled(results.seconds, results.traces.height))
    return code


def profiled(seconds: dict[str, float], traces: int) -> str:
    """What each stage of a run took, the longest first.

    Args:
        seconds: Seconds of processor time by stage.
        traces: Number of traces.

    Example:
        >>> print(profiled({"read": 1.0, "write": 3.0}, 1_000_000))
        stage   CPU s  share  µs a trace
        write    3.00   75 %         3.0
        read     1.00   25 %         1.0
        total    4.00  100 %         4.0
    """
    total = sum(seconds.values())
    rows = [*sorted(seconds.items(), key=lambda stage: -stage[1]), ("total", total)]
    width = max(len(stage) for stage, _ in rows)
    lines = [f"{'stage':{width}}   CPU s  share  µs a trace"]
    for stage, each in rows:
        share, per_trace = each / total * 100 if total else 0.0, each / max(traces, 1) * 1e6
        lines.append(f"{stage:{width}} {each:7.2f} {share:4.0f} % {per_trace:11.1f}")
    return "\n".join(lines)


def rescore(
    results: Path,
    /,
    *,
    suite: Path,
    out: Path | None = None,
    run: str | None = None,
    json: bool = False,
) -> int:
    """Score the traces of a run again with another suite, without their source.

    Args:
        results: Results folder.
        suite: The suite file.
        out: Results folder for the new run; the same one by default.
        run: Id of the run, or its beginning; the latest one by default.
        json: Print the summary as JSON.
    """
    from tracelens.results import open_results

    again = open_results(results, run).rescore(suite, out=out or results)
    return show(again, json=json, kept=True)


def show(results: Results, *, json: bool, kept: bool, max_rejects: int | None = None) -> int:
    """Print the summary of a run; the exit code, which is not 0 if too much was rejected or nothing scored."""
    summary = results.summary()
    if json:
        print_json(summary.to_dict() | ({"path": str(results.path)} if kept else {}))
    else:
        print_lines(summary.lines())
    if "+" in results.run.info.get("format", ""):
        say("\n" + results.run.info["explanation"].replace("; ", "\n"))
    print_notes(results.runs["notes"].explode().drop_nulls().to_list())
    if kept:
        folder = results.path.parent.parent
        example = next((row["example_trace_id"] for row in summary.reasons), "TRACE")
        say(
            f"\nRun folder {results.path}\nLook at one trace: tracelens explain {quote(str(folder))} {quote(safe(example))}"
        )
    elif not json:
        say("\nNothing is kept; --out DIR keeps the tables that explain, sql, report and gate read")
    error = _too_little(summary, max_rejects, where=str(results.path) if kept else "")
    if error is None:
        return 0
    print_error(error)
    return error.exit_code


def _too_little(summary: Summary, max_rejects: int | None, where: str) -> InputError | None:
    """Why a run that was made is no success."""
    if max_rejects is not None and summary.n_rejects > max_rejects:
        return InputError(
            f"{counted(summary.n_rejects, 'record')} could not be read, more than --max-rejects {max_rejects}",
            where=where,
            hint="table `rejects` names file, line and reason of each",
        )
    if not summary.n_scored:
        return InputError(
            f"nothing was scored: {counted(summary.n_traces, 'trace')}, all unscored",
            where=where,
            hint="column `unscored_reason` of table `traces` says why",
        )
    return None
