"""Invariants: rules every trace must keep, whatever its reference says.

They see every requested call at every depth. A call counts as executed when its status is ok, error or unknown, and
as succeeded when it is ok or unknown. What was seen is a violation even in an incomplete trace; a verdict that rests
on something *not* having happened is null there, and a budget is not judged by what was not captured.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.columns import nullable
from tracelens.groups import offsets_of
from tracelens.rungs.facts import CallFacts, trace_seconds
from tracelens.rungs.findings import concat_findings, finding_frame

B1 = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]


class InvariantsLike(Protocol):
    """The invariants of a suite; see the suite's own documentation."""

    @property
    def forbidden_tools(self) -> Iterable[str]:
        """Patterns of tools that must not be called."""

    @property
    def allowed_tools(self) -> Iterable[str]:
        """Patterns of the only tools that may be called."""

    @property
    def max_calls(self) -> int | None:
        """Most calls of a trace."""

    @property
    def max_calls_by_tool(self) -> Mapping[str, int]:
        """Most calls by tool."""

    @property
    def max_identical(self) -> int | None:
        """Most calls with the same tool and canonical arguments."""

    @property
    def max_errors(self) -> int | None:
        """Most calls that end in an error."""

    @property
    def max_cost(self) -> float | None:
        """Highest cost of a trace, in the currency of the source."""

    @property
    def max_tokens(self) -> int | None:
        """Most tokens of a trace, input and output together."""

    @property
    def max_seconds(self) -> float | None:
        """Longest duration of a trace, in seconds."""

    @property
    def after(self) -> Iterable[tuple[str, str]]:
        """Pairs of tools: the first only after the second succeeded."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What came of the invariants.

    Attributes:
        findings: One row per violation, codes ``invariant.<name>``, rung 1.
        ok: bool?[traces]; false: some violation; null: nothing to check, or something could not be judged and no
            violation was found.
        incomplete: bool[traces], where that is null because calls may be missing.
        not_captured: bool[traces], where it is null because something was not captured.
    """

    findings: pl.DataFrame
    ok: pa.Array
    incomplete: B1
    not_captured: B1


Part = tuple[pl.DataFrame | None, B1]
"""Findings of one invariant, and by trace whether it could be judged."""


def check_invariants(facts: CallFacts, calls: pa.Table, traces: pa.Table, rules: InvariantsLike) -> Verdicts:
    """Check all invariants of a batch.

    Args:
        facts: What is known of the calls.
        calls: The same calls: ``trace``, ``started_at``, ``duration_ms``.
        traces: One row per trace: ``trace``, ``complete``, ``has_calls``, ``cost``, ``input_tokens``,
            ``output_tokens``, ``started_at``.
        rules: The invariants of the suite.

    Returns:
        Findings and verdicts.
    """
    whole = columns.numbers(traces["complete"], default=True)
    complete = columns.numbers(traces["has_calls"]) & whole
    parts = [*_call_rules(facts, complete, rules), *_budgets(calls, traces, whole, rules)]
    findings = concat_findings(found for found, _ in parts if found is not None)
    broken = np.zeros(whole.size, np.bool_)
    broken[findings["trace"].to_numpy()] = True
    known = functools.reduce(operator.and_, (judged for _, judged in parts), np.full(whole.size, bool(parts)))
    unjudged = ~broken & ~known if parts else np.zeros(whole.size, np.bool_)
    return Verdicts(findings, nullable(~broken, ~broken & ~known), unjudged & ~complete, unjudged & complete)


def _call_rules(calls: CallFacts, complete: B1, rules: InvariantsLike) -> Iterator[Part]:
    forbidden, allowed = tuple(rules.forbidden_tools), tuple(rules.allowed_tools)
    if forbidden:
        rows = np.flatnonzero(calls.of_tools(_like(forbidden)))
        yield _findings(calls, rows, "forbidden_tools", "a forbidden tool"), complete
    if "*" not in allowed:
        rows = np.flatnonzero(~calls.of_tools(_like(allowed)) & (calls.tool >= 0))
        yield _findings(calls, rows, "allowed_tools", "a tool that is not allowed"), complete
    if rules.max_calls is not None:
        every = np.arange(calls.trace.size)
        yield _over(calls, every, calls.trace, rules.max_calls, "max_calls", "more than {n} calls"), complete
    for tool, most in rules.max_calls_by_tool.items():
        rows = np.flatnonzero(calls.of_tools(tool.__eq__))
        message = f"more than {{n}} calls of {tool}"
        yield _over(calls, rows, calls.trace[rows], most, "max_calls_by_tool", message), complete
    if rules.max_identical is not None:
        rows = np.flatnonzero(calls.known & (calls.tool >= 0))
        message = "more than {n} calls with the same tool and arguments"
        found = _over(calls, rows, calls.same[rows], rules.max_identical, "max_identical", message)
        yield found, complete & _arguments_known(calls, rules.max_identical)
    if rules.max_errors is not None:
        rows = np.flatnonzero(calls.failed)
        yield _over(calls, rows, calls.trace[rows], rules.max_errors, "max_errors", "more than {n} errors"), complete
    for first, second in rules.after:
        yield _after(calls, complete, first, second), complete


def _like(globs: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a name matches one of the patterns."""
    return lambda name: any(fnmatchcase(name, glob) for glob in globs)


def _findings(calls: CallFacts, rows: I64, name: str, message: str, *, effects: bool = True) -> pl.DataFrame | None:
    """A finding for each of some calls."""
    if not rows.size:
        return None
    constant = {"rung": 1, "severity": "error", "code": f"invariant.{name}", "message": message}
    effect = {"effect": pl.Series(calls.executed[rows])} if effects else {}
    return finding_frame({**calls.at(rows), **effect, **constant})


def _over(
    calls: CallFacts, rows: I64, group: npt.NDArray[np.integer], most: int, name: str, message: str
) -> pl.DataFrame | None:
    """A finding at the first call beyond a limit, one per group (rows of a group need not stand together)."""
    crowded = np.flatnonzero(np.bincount(group)[group] > most) if group.size else rows
    order = crowded[np.argsort(group[crowded], kind="stable")]
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    return _findings(calls, np.sort(rows[order[first + most]]), name, message.format(n=most), effects=False)


def _arguments_known(calls: CallFacts, most: int) -> B1:
    """By trace: whether calls with unknown arguments are too few to be identical more often than allowed."""
    out = np.ones(calls.offsets.size - 1, np.bool_)
    if not calls.known.all():
        _, tool, count = np.unique(
            calls.trace.astype(np.int64) << 32 | (calls.tool + 1), return_inverse=True, return_counts=True
        )
        out[calls.trace[~calls.known & (count[tool] > most)]] = False
    return out


def _after(calls: CallFacts, complete: B1, first: str, second: str) -> pl.DataFrame | None:
    """Calls of the first tool before any call of the second succeeded; nothing can be said of incomplete traces."""
    succeeded = calls.of_tools(second.__eq__) & calls.succeeded
    # successes before each row, in all traces and in those before its own
    before = offsets_of(succeeded)
    none_yet = before[:-1] == before[calls.offsets[calls.trace]]
    rows = np.flatnonzero(calls.of_tools(first.__eq__) & none_yet & complete[calls.trace])
    return _findings(calls, rows, "after", f"{first} before {second} succeeded")


def _budgets(calls: pa.Table, traces: pa.Table, whole: B1, rules: InvariantsLike) -> Iterator[Part]:
    if rules.max_cost is not None:
        cost = pl.Series(traces["cost"])
        yield _budget(cost, rules.max_cost, "max_cost", "cost"), whole & cost.is_not_null().to_numpy()
    if rules.max_tokens is not None:
        # 128 bits, so that a sum of two counts never comes round as a negative one
        sent, got = (pl.Series(traces[name]).cast(pl.Int128) for name in ("input_tokens", "output_tokens"))
        both = (sent.is_not_null() & got.is_not_null()).to_numpy()
        yield _budget(sent.fill_null(0) + got.fill_null(0), rules.max_tokens, "max_tokens", "tokens"), whole & both
    if rules.max_seconds is not None:
        seconds = trace_seconds(calls, traces)
        yield _budget(seconds, rules.max_seconds, "max_seconds", "seconds"), whole & seconds.is_not_null().to_numpy()


def _budget(spent: pl.Series, most: float, name: str, what: str) -> pl.DataFrame:
    over = (spent > most).arg_true()
    return finding_frame(
        {
            "trace": over,
            "rung": 1,
            "severity": "error",
            "code": f"invariant.{name}",
            "message": f"more than {most:g} {what}",
            "value": spent.gather(over).cast(pl.String),
        }
    )
