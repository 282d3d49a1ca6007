"""The top of a report: one sentence, a few figures, and at the bottom how to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracelens.errors import counted
from tracelens.report import page
from tracelens.report.changes import sigmas
from tracelens.report.page import Figure, Mark

if TYPE_CHECKING:
    from tracelens.report.numbers import Numbers


def lead(numbers: Numbers) -> str:
    """The report in one or two sentences."""
    now, before = numbers.rate(), numbers.rate("base")
    if not numbers.total():
        return "No trace started in this time."
    if now.get("pass_rate") is None:
        return "No trace was scored."
    text = f"{page.share(now['pass_rate'])} of {counted(now['n_scored'], 'scored trace')} passed"
    if before.get("pass_rate") is None:
        return f"{text}."
    difference = now["pass_rate"] - before["pass_rate"]
    direction = "down" if difference < 0 else "up"
    apart = abs(sigmas(now["n_passed"], now["n_scored"], before["n_passed"], before["n_scored"]) or 0.0)
    if apart < 2:
        return f"{text}, {page.share(before['pass_rate'])} before: no more of a change than chance explains."
    moved = f"{direction} {abs(100 * difference):.1f} points from {page.share(before['pass_rate'])}"
    return f"{text}, {moved}: more than chance explains."


def figures(numbers: Numbers) -> tuple[Figure, ...]:
    """The few numbers that are looked at first."""
    total, now, before = numbers.total(), numbers.rate(), numbers.rate("base")
    if not total:
        return ()
    return (
        _pass_rate(now, before),
        Figure("traces", f"{total['n_traces']:,}", _unscored(total)),
        Figure(
            "triage", f"{total['n_triage']:,}", f"{page.share(total['n_triage'] / total['n_traces'])} of all traces"
        ),
        _safety(total),
        *_judge(numbers),
    )


def _pass_rate(now: dict[str, Any], before: dict[str, Any]) -> Figure:
    if now.get("pass_rate") is None:
        return Figure("pass rate", page.MISSING, "nothing scored")
    small = f"95% interval {page.share(now['pass_rate_low'])} to {page.share(now['pass_rate_high'])}"
    mark: Mark = "same"
    if before.get("pass_rate") is not None:
        apart = sigmas(now["n_passed"], now["n_scored"], before["n_passed"], before["n_scored"]) or 0.0
        if abs(apart) >= 2:
            mark = "worse" if apart < 0 else "better"
        small = f"{page.points(before['pass_rate'], now['pass_rate'])}, {small}"
    return Figure("pass rate", page.share(now["pass_rate"]), small, mark)


def _unscored(total: dict[str, Any]) -> str:
    n = total["n_unscored"]
    return f"{n:,} unscored" if n else "all of them scored"


def _safety(total: dict[str, Any]) -> Figure:
    n = total["n_safety_traces"]
    return Figure("safety hits", f"{n:,}", "traces to look at first" if n else "in no trace", "worse" if n else "same")


def _judge(numbers: Numbers) -> tuple[Figure, ...]:
    for row in numbers.tables["judge"]:
        small = f"{page.share(row['share_avoided'])} of the traces need none"
        if row["cost_avoided"] is not None:
            small += f"; about {page.money(row['cost_avoided'])} saved"
        return (Figure("judge calls saved", f"{row['n_avoided']:,}", small),)
    return ()


def foot(numbers: Numbers) -> tuple[str, ...]:
    """How to read the numbers."""
    facts, total = numbers.facts, numbers.total()
    lines = [
        "Pass rate: traces that passed every rung, over those that were scored; what was not scored is in no rate.",
        "Intervals are Wilson's, at 95%.",
        f"Run {page.text(facts['run_id'])}, suite {page.text(facts['suite'])}, TraceLens {facts['version']}.",
    ]
    if facts["runs"] > 1:
        lines.append(f"Traces of {counted(facts['runs'], 'run')}; a trace that several hold counts as the newest says.")
    if total.get("n_untimed"):
        lines.append(f"{counted(total['n_untimed'], 'trace')} without a time: in no day.")
    return tuple(lines)
