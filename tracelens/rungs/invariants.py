"""Invariants: rules every trace must keep, whatever its reference says.

They see every requested call at every depth. A call counts as executed when its status is ok, error or unknown, and
as succeeded when it is ok or unknown. What was seen is a violation even in an incomplete trace; a verdict that rests
on something *not* having happened is null there, and a budget is not judged by what was not captured.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.columns import group_offsets
from tracelens.kernels.loops import first_equal
from tracelens.rungs.facts import failed, nothing, text_codes, trace_seconds, unknown_arguments
from tracelens.rungs.findings import FINDING_SCHEMA, concat_findings, finding_frame


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
        traces: One row per trace: ``trace`` u32, ``invariants_ok`` bool? (false: some violation; null: nothing to
            check, or something could not be judged and no violation was found), ``invariants_reason`` str? (why null).
    """

    findings: pl.DataFrame
    traces: pl.DataFrame


def check_invariants(calls: pl.DataFrame, traces: pl.DataFrame, rules: InvariantsLike) -> Verdicts:
    """Check all invariants of a batch.

    Args:
        calls: One row per call, by trace and index: ``trace``, ``call_index``, ``tool``, ``status``, ``error``,
            ``executed``, ``arguments_state``, ``digest_hi``, ``digest_lo``, ``started_at``, ``duration_ms``.
        traces: One row per trace: ``trace``, ``complete``, ``has_calls``, ``cost``, ``input_tokens``,
            ``output_tokens``, ``started_at``.
        rules: The invariants of the suite.

    Returns:
        Findings and verdicts.
    """
    parts = [*_call_rules(calls, traces, rules), *_budgets(calls, traces, rules)]
    findings = concat_findings(found for found, _ in parts)
    return Verdicts(findings, _verdicts(traces, findings, [judged for _, judged in parts]))


def _verdicts(traces: pl.DataFrame, findings: pl.DataFrame, judged: list[pl.Series]) -> pl.DataFrame:
    """``trace, invariants_ok, invariants_reason`` from what was found and what could be judged."""
    if not judged:
        n = traces.height
        none = (nothing("invariants_ok", pl.Boolean, n), nothing("invariants_reason", pl.String, n))
        return pl.DataFrame([traces["trace"], *none])
    known = functools.reduce(operator.and_, judged)
    broken = np.isin(traces["trace"].to_numpy(), findings["trace"].to_numpy())
    parts = {"trace": traces["trace"], "broken": broken, "known": known, "complete": _complete(traces)}
    unjudged = pl.when(~pl.col("complete")).then(pl.lit("incomplete")).otherwise(pl.lit("not_captured"))
    ok = pl.when("broken").then(pl.lit(value=False)).when("known").then(pl.lit(value=True))
    reason = pl.when(~pl.col("broken") & ~pl.col("known")).then(unjudged)
    return pl.DataFrame(parts).select("trace", invariants_ok=ok, invariants_reason=reason)


Part = tuple[pl.DataFrame, pl.Series]
"""Findings of one invariant, and by trace whether it could be judged."""


def _complete(traces: pl.DataFrame) -> pl.Series:
    return traces["has_calls"] & traces["complete"].fill_null(value=True)


def _call_rules(calls: pl.DataFrame, traces: pl.DataFrame, rules: InvariantsLike) -> Iterator[Part]:
    complete = _complete(traces)
    forbidden, allowed = tuple(rules.forbidden_tools), tuple(rules.allowed_tools)
    if forbidden:
        yield _findings(calls.filter(_named(calls, forbidden)), "forbidden_tools", "a forbidden tool"), complete
    if "*" not in allowed:
        strangers = calls.filter(~_named(calls, allowed) & calls["tool"].is_not_null())
        yield _findings(strangers, "allowed_tools", "a tool that is not allowed"), complete
    if rules.max_calls is not None:
        yield _over(calls, _by_trace(calls), rules.max_calls, "max_calls", "more than {n} calls"), complete
    for tool, most in rules.max_calls_by_tool.items():
        of_tool = calls.filter(pl.col("tool") == tool)
        yield (
            _over(of_tool, _by_trace(of_tool), most, "max_calls_by_tool", f"more than {{n}} calls of {tool}"),
            complete,
        )
    if rules.max_identical is not None:
        yield (
            _identical(calls, traces, rules.max_identical),
            complete & _arguments_known(calls, traces, rules.max_identical),
        )
    if rules.max_errors is not None:
        errors = calls.filter(failed())
        yield _over(errors, _by_trace(errors), rules.max_errors, "max_errors", "more than {n} errors"), complete
    for first, second in rules.after:
        yield _after(calls, traces, first, second), complete


def _named(calls: pl.DataFrame, globs: tuple[str, ...]) -> pl.Series:
    """Which calls have a tool that matches one of the patterns; calls without a name have none."""
    names = [
        name
        for name in calls["tool"].unique().to_list()
        if name is not None and any(fnmatchcase(name, glob) for glob in globs)
    ]
    return calls["tool"].is_in(names).fill_null(value=False)


def _findings(at: pl.DataFrame, name: str, message: str) -> pl.DataFrame:
    columns = {"trace": at["trace"], "call_index": at["call_index"], "tool": at["tool"], "effect": at["executed"]}
    return finding_frame({**columns, "rung": 1, "severity": "error", "code": f"invariant.{name}", "message": message})


def _over(calls: pl.DataFrame, group: npt.NDArray[np.int64], most: int, name: str, message: str) -> pl.DataFrame:
    """A finding at the first call beyond a limit, one per group (rows of a group need not stand together)."""
    crowded = np.flatnonzero(np.bincount(group, minlength=1)[group] > most) if len(group) else group
    if not crowded.size:
        return FINDING_SCHEMA.to_frame()
    ordinal = pl.int_range(pl.len()).over("group")
    beyond = calls[crowded.tolist()].with_columns(pl.Series("group", group[crowded])).filter(ordinal == most)
    return _findings(beyond, name, message.format(n=most)).with_columns(effect=pl.lit(None, pl.Boolean))


def _by_trace(calls: pl.DataFrame) -> npt.NDArray[np.int64]:
    return calls["trace"].to_numpy().astype(np.int64)


def _identical(calls: pl.DataFrame, traces: pl.DataFrame, most: int) -> pl.DataFrame:
    known = ~calls.select(unknown_arguments()).to_series() & calls["tool"].is_not_null()
    calls = calls if known.all() else calls.filter(known)
    offsets = group_offsets(calls["trace"].to_numpy(), traces.height)
    same = np.empty(calls.height, np.int64)
    high, low = (np.ascontiguousarray(calls[name].to_numpy()) for name in ("digest_hi", "digest_lo"))
    first_equal(offsets, text_codes(calls["tool"]), high, low, same)
    message = "more than {n} calls with the same tool and arguments"
    return _over(calls, same, most, "max_identical", message)


def _arguments_known(calls: pl.DataFrame, traces: pl.DataFrame, most: int) -> pl.Series:
    """By trace: whether calls with unknown arguments are too few to be identical more often than allowed."""
    unknown = calls.select("trace", "tool", unknown=unknown_arguments())
    suspects = unknown.filter("unknown").select("trace", "tool").unique()
    doubtful = (
        unknown.join(suspects, on=["trace", "tool"], how="semi", nulls_equal=True)
        .group_by("trace", "tool").agg(pl.len().alias("n")).filter(pl.col("n") > most)["trace"]
    )  # fmt: skip
    return ~traces["trace"].is_in(doubtful.unique().implode())


def _after(calls: pl.DataFrame, traces: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Calls of the first tool before any call of the second succeeded; nothing can be said of incomplete traces."""
    of_second = (pl.col("tool") == second).fill_null(value=False)
    ran = of_second & ~failed() & (pl.col("status").fill_null("ok") == "ok")
    succeeded = calls.select(ran).to_series().to_numpy().astype(np.int64)
    # successes before each row, in all traces and in those before its own
    before = np.concatenate([[0], np.cumsum(succeeded)])
    trace = _by_trace(calls)
    start = group_offsets(trace, traces.height)[trace]
    none_yet = pl.Series(before[:-1] == before[start])
    whole = pl.Series(_complete(traces).to_numpy()[trace])
    return _findings(
        calls.filter((calls["tool"] == first) & none_yet & whole), "after", f"{first} before {second} succeeded"
    )


def _budgets(calls: pl.DataFrame, traces: pl.DataFrame, rules: InvariantsLike) -> Iterator[Part]:
    whole = traces["complete"].fill_null(value=True)
    if rules.max_cost is not None:
        yield _budget(traces, traces["cost"], rules.max_cost, "max_cost", "cost"), whole & traces["cost"].is_not_null()
    if rules.max_tokens is not None:
        tokens = traces["input_tokens"].fill_null(0) + traces["output_tokens"].fill_null(0)
        both = traces["input_tokens"].is_not_null() & traces["output_tokens"].is_not_null()
        yield _budget(traces, tokens, rules.max_tokens, "max_tokens", "tokens"), whole & both
    if rules.max_seconds is not None:
        seconds = trace_seconds(calls, traces)
        yield _budget(traces, seconds, rules.max_seconds, "max_seconds", "seconds"), whole & seconds.is_not_null()


def _budget(traces: pl.DataFrame, spent: pl.Series, most: float, name: str, what: str) -> pl.DataFrame:
    over = traces.select("trace", spent.alias("spent")).filter(pl.col("spent") > most)
    return finding_frame(
        {
            "trace": over["trace"],
            "rung": 1,
            "severity": "error",
            "code": f"invariant.{name}",
            "message": f"more than {most:g} {what}",
            "value": over["spent"].cast(pl.String),
        }
    )
