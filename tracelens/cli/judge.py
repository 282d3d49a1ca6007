"""`tracelens queue` and `tracelens verdicts`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from tracelens.cli.console import print_json, print_lines, say
from tracelens.errors import counted
from tracelens.results.page import Line, safe, short

_SAVINGS = "SELECT * EXCLUDE (run_id) FROM judge_savings WHERE run_id = "
_SHOWN = 10


def queue(
    results: Path,
    /,
    *,
    out: Path,
    suite: Path | None = None,
    form: Literal["lines", "openai", "anthropic"] = "lines",
    model: str | None = None,
    run: str | None = None,
    again: bool = False,
    force: bool = False,
    json: bool = False,
) -> None:
    """Write what a judge must look at: only traces that passed every rung and have open questions. Prints the files made.

    Each comes with its questions, whole trajectory, tool results and final answer; secrets are masked.

    Args:
        results: Results folder.
        out: The file to write; where a provider's limits ask for several, each gets a number.
        suite: The suite, whose table `[judge]` has `prompt`, `system`, `model` and `max_tokens`; defaults without one.
        form: Plain JSON lines, or requests for the batch interface of OpenAI or Anthropic.
        model: Model that the requests name, instead of the suite's.
        run: Id of the run, or its beginning; the latest one by default.
        again: Ask again about traces that have an answer.
        force: Replace files that exist.
        json: Print what was written as JSON.
    """
    from tracelens.judge import write_queue
    from tracelens.judge.prompt import Prompts
    from tracelens.store import open_run
    from tracelens.suite import Suite

    chosen = open_run(results, run)
    loaded = Suite.load(suite) if suite is not None else Suite.default()
    made = write_queue(chosen, out, form=form, prompts=Prompts.of(loaded.judge, model), again=again, overwrite=force)
    saved = _saved(chosen.folder)
    if json:
        facts = {"files": list(map(str, made.files)), "n_traces": made.n_traces, "n_answered": made.n_answered,
                 "prompt_tokens": -(-made.n_bytes // 4), "too_large": list(made.too_large)}  # fmt: skip
        print_json(facts | {"savings": saved})
        return
    for file in made.files:
        print(safe(str(file)))
    left = f", {made.n_answered:,} have an answer" if made.n_answered else ""
    say(f"{counted(made.n_traces, 'trace')} for the judge{left}; about {-(-made.n_bytes // 4):,} tokens to read")
    if saved.get("n_questions"):
        say(_avoided(saved))
    if not (made.n_traces or made.n_answered or made.too_large):
        say(_nothing(saved))
    for trace_id in made.too_large[:_SHOWN]:
        say(f"left out, larger than a file of {form} may be: {trace_id}")
    if len(made.too_large) > _SHOWN:
        say(f"and {counted(len(made.too_large) - _SHOWN, 'more trace')}")


def verdicts(results: Path, answers: Path, /, *, run: str | None = None, json: bool = False) -> None:
    """Read the judge's answers and keep them beside the run; views `final_verdicts` and `judge_savings` show them.

    Partial files are fine: `tracelens queue` then writes what is still open. A file that was read before changes nothing;
    another answer about the same trace counts as a second opinion.

    Args:
        results: Results folder.
        answers: JSON lines: the output file of a batch, or objects with trace_id (or custom_id) and verdict.
        run: Id of the run, or its beginning; the latest one by default.
        json: Print what came of it as JSON.
    """
    from tracelens.judge import read_answers
    from tracelens.store import open_run

    chosen = open_run(results, run)
    read = read_answers(chosen, answers)
    saved = _saved(chosen.folder)
    if json:
        print_json({**vars(read), "savings": saved})
        return
    lines: list[Line] = [
        [(f"{read.n_usable:>9,}  ", "strong"), ("answers with a verdict", "")],
        [(f"{read.n_repeated:>9,}  ", "strong"), ("of them about traces that had one", "dim")],
        [(f"{read.n_unusable:>9,}  ", "strong"), ("answers without a verdict", "")],
        [(f"{len(read.strangers):>9,}  ", "strong"), ("lines that are no answer about this run", "")],
        [(f"{read.n_pending:>9,}  ", "strong"), ("traces still wait for the judge", "")],
    ]
    if read.n_again:
        lines.insert(0, [("This file was read before: nothing has changed.", "warn")])
    for number, problem in [*read.strangers.items(), *read.problems.items()][:_SHOWN]:
        lines.append([(f"  line {number}: ", "name"), (short(problem, 80), "")])
    more = len(read.strangers) + len(read.problems) - _SHOWN
    if more > 0:
        lines.append([(f"  and {counted(more, 'more line')}", "dim")])
    print_lines(lines)
    say(_avoided(saved))


def _saved(folder: Path) -> dict[str, Any]:
    """The row of `judge_savings` of a run."""
    from tracelens.store import ask, connect

    with connect(folder, comments=False) as duck:
        rows = ask(duck, f"{_SAVINGS}'{folder.name}'").to_dicts()
    return rows[0] if rows else {}


def _nothing(saved: dict[str, Any]) -> str:
    """Why there is nothing to write."""
    if saved.get("n_questions"):
        return "nothing was written: no trace passed every rung"
    add = 'add `questions = ["…"]` under `[judge]` and run `tracelens rescore`'
    return f"nothing was written: the suite of the run asks a judge nothing; {add}"


def _avoided(saved: dict[str, Any]) -> str:
    """What the rungs saved, as a sentence."""
    if not saved.get("n_questions"):
        return "the suite of the run asks a judge nothing, so no judge call is saved"
    text = f"{saved['n_avoided']:,} of {counted(saved['n_traces'], 'judge call')} avoided"
    if saved["tokens_avoided"]:
        text += f", about {saved['tokens_avoided']:,} tokens"
    if saved["cost_avoided"]:
        text += f" or {saved['cost_avoided']:.4g} in the currency of the suite"
    if saved["cost_spent"]:
        text += f"; {saved['cost_spent']:.4g} spent on answers"
    return text
