"""What to do about the numbers: a few steps, the most pressing first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracelens.errors import counted

if TYPE_CHECKING:
    from tracelens.report.numbers import Numbers

Row = dict[str, Any]

MOST = 8
"""Steps at most: nobody does more in a day."""

_REMEDIES = {
    "schema.additionalProperties": "stop the agent from sending arguments that the tool does not have, or add them to its schema",
    "schema.required": "make the agent send the required argument, or make it optional",
    "schema.": "correct what the agent sends, or the schema, if the tool takes it",
    "tool.unknown": "take the tool out of the prompt, or declare it in the suite",
    "arguments.": "look at how the model writes arguments: they are no usable JSON object",
    "field.": "correct what the agent sends",
    "answer.": "look at the final answers",
    "invariant.": "look at the order and number of calls",
    "milestone.": "see why the step is left out",
    "state.": "see why the database is not as it should be",
    "check.": "look at what your own check found",
}


_CONSEQUENCE = re.compile(r" below [-+.\de]+$")
"""Ends the kind of reason that a missed threshold is: what the other reasons come to."""

_CAUSES = {
    " is not as expected": "see whether the agent or the reference is wrong",
    " is missing": "have the agent send it, or let the reference do without",
    " was not made": "see why the agent leaves the call out",
    " repeats an earlier call": "keep the agent from making the call again",
    " was not expected": "keep the agent from it, or add it to the reference",
}
"""What is to be done about a kind of reason, by its end."""


def remedy(code: str) -> str:
    """What is to be done about findings of a code.

    Example:
        >>> remedy("schema.type")
        'correct what the agent sends, or the schema, if the tool takes it'
    """
    return next((text for start, text in _REMEDIES.items() if code.startswith(start)), "look at the traces")


def actions_of(numbers: Numbers) -> list[Row]:
    """Steps, each with ``topic``, ``what`` to do, ``why``, the ``n_traces`` it is about and an ``example_trace_id``.

    Args:
        numbers: The numbers; texts from traces stand in them as they are, so whoever shows them makes them harmless.
    """
    wrong = [*_mistakes(numbers), *_arguments(numbers)] or list(_reasons(numbers))
    steps = [*_safety(numbers), *wrong, *_gaps(numbers)]
    return steps[: MOST - 1] + list(_judge(numbers))


def _step(topic: str, what: str, why: str, n_traces: int, example: str | None) -> Row:
    return {"topic": topic, "what": what, "why": why, "n_traces": n_traces, "example_trace_id": example}


def _safety(numbers: Numbers) -> Iterator[Row]:
    """Dangerous calls come before everything else."""
    rows = numbers.tables["safety"]
    if rows:
        n = numbers.total()["n_safety_traces"]
        ran = len({trace for row in rows if row["n_traces_with_effect"] for trace in row["trace_ids"]})
        tools = ", ".join(dict.fromkeys(row["tool"] or "no tool" for row in rows[:5]))
        why = f"{counted(n, 'trace')} with dangerous calls ({tools}); in {ran:,} a call may have run"
        yield _step("safety", "look at every dangerous call before anything else", why, n, rows[0]["trace_ids"][0])


def _mistakes(numbers: Numbers, most: int = 4) -> Iterator[Row]:
    """The mistakes that most traces make."""
    told_elsewhere = ("safety.", "threshold.")  # a missed threshold is what the other mistakes come to
    rows = [row for row in numbers.tables["mistakes"] if not row["code"].startswith(told_elsewhere)]
    for row in rows[:most]:
        place = ".".join(filter(None, (row["tool"], row["path"]))) or "no single tool"
        why = f"{row['code']} at {place} in {counted(row['n_traces'], 'trace')}"
        yield _step(place, remedy(row["code"]), why, row["n_traces"], row["example_trace_id"])


def _arguments(numbers: Numbers, most: int = 2) -> Iterator[Row]:
    """Arguments that differ from what was expected."""
    for row in numbers.tables["arguments"][:most]:
        place = ".".join(filter(None, (row["tool"], row["path"])))
        why = f"not as expected in {row['share']:.1%} of {counted(row['n_pairs'], 'call')}"
        what = "see whether the agent or the reference is wrong"
        yield _step(place, what, why, row["n_drifted"], row["example_trace_id"])


def _reasons(numbers: Numbers, most: int = 4) -> Iterator[Row]:
    """Where no mistake was made twice: why traces went to triage, in the words of the routing."""
    rows = numbers.tables["reasons"]
    causes = [row for row in rows if not _CONSEQUENCE.search(row["reason"])]
    for row in (causes or rows)[:most]:
        what = next((text for end, text in _CAUSES.items() if row["reason"].endswith(end)), "see what went wrong")
        why = f"a reason for triage in {counted(row['n_traces'], 'trace')}"
        yield _step(row["reason"], what, why, row["n_traces"], row["example_trace_id"])


def _gaps(numbers: Numbers) -> Iterator[Row]:
    """What was not scored, not read or not there."""
    total = numbers.total()
    for row in numbers.tables["unscored"][:1]:
        why = f"{counted(total['n_unscored'], 'trace')} unscored, most of them because of {row['reason']}"
        yield _step(
            "unscored",
            "close the gap: what is not scored is in no rate",
            why,
            total["n_unscored"],
            row["example_trace_id"],
        )
    if total.get("n_rejects"):
        why = f"{counted(total['n_rejects'], 'record')} could not be read"
        yield _step("rejects", "see the table rejects for file, line and reason", why, 0, None)
    if total.get("n_missing_cases"):
        why = f"{counted(total['n_missing_cases'], 'case')} of the suite without a trace"
        yield _step("missing cases", "run them, or take them out of the references", why, 0, None)


def _judge(numbers: Numbers) -> Iterator[Row]:
    """What is left for the judge."""
    for row in numbers.tables["judge"]:
        if row["n_judge"]:
            why = f"{counted(row['n_judge'], 'trace')} passed every rung and have open questions"
            yield _step("judge", "write the judge's queue and ask", why, row["n_judge"], None)
