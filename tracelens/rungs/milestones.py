"""Milestones: calls that must appear in a trace, the order of their first appearances, and a step maximum.

They come from the suite, for every trace, and from the references file, for the traces of a case; a trace has to
reach all of both. A call counts wherever it stands, at any depth, hand-offs included, requested or executed as the
suite counts; steps are the calls that enter the scores. Arguments of a milestone are held against those arguments
only: a call may have others.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import polars as pl

from tracelens.kernels.reference.matchers import matcher
from tracelens.kernels.reference.normal import NO_RULES, Rules
from tracelens.kernels.reference.relation import exact
from tracelens.kernels.reference.values import is_object, parse
from tracelens.rungs.facts import nothing
from tracelens.rungs.findings import FINDING_SCHEMA, finding_frame
from tracelens.suite import Suite

_UNKNOWN = ("not_captured", "truncated")
_MUST = {"text": pl.String, "item": pl.Int32, "tool": pl.String, "arguments": pl.String, "least": pl.Int64}
_ORDER = {"text": pl.String, "item": pl.Int32, "first": pl.String, "second": pl.String}
_VERDICTS = {
    "milestones_met": pl.Int32, "milestones_total": pl.Int32, "milestones_ok": pl.Boolean,
    "milestones_reason": pl.String,
}  # fmt: skip
_STEPS = {"text": pl.String, "item": pl.Int32, "most": pl.Int64}


class MustCallLike(Protocol):
    """A call that must appear."""

    @property
    def tool(self) -> str:
        """Name of the tool."""

    @property
    def arguments(self) -> Any:
        """Values or matchers of some arguments; None: any arguments."""

    @property
    def min(self) -> int:
        """How many such calls at least."""


class MilestonesLike(Protocol):
    """Milestones of a suite or a case."""

    @property
    def must_call(self) -> Iterable[MustCallLike]:
        """Calls that must appear."""

    @property
    def order(self) -> Iterable[Iterable[str]]:
        """Chains of tools."""

    @property
    def max_steps(self) -> int | None:
        """Most calls."""


def _same_name(name: str) -> str | None:
    return name


def _no_rules(_: str) -> Rules:
    return NO_RULES


@dataclass(frozen=True, slots=True)
class MilestonePlan:
    """What has to be reached.

    Attributes:
        suite: Milestones of all traces; None where the suite has none.
        cases: ``case_id`` str, ``milestones`` str? (JSON text), sorted by case; see the references of a suite.
        read: Reads milestones from JSON text.
        canonical_name: The name a tool goes by.
        rules_of: Normalisation rules of a tool, for its arguments.
        executed_only: Whether calls that did not run are left out.
    """

    suite: MilestonesLike | None
    cases: pl.DataFrame
    read: Callable[[str], MilestonesLike]
    canonical_name: Callable[[str], str | None] = field(default=_same_name)
    rules_of: Callable[[str], Rules] = field(default=_no_rules)
    executed_only: bool = False

    @classmethod
    def of(cls, suite: Suite, rules_of: Callable[[str], Rules] = _no_rules) -> MilestonePlan:
        """The milestones of a suite and its cases.

        Args:
            suite: The suite.
            rules_of: Normalisation rules of a tool.

        Example:
            >>> from tracelens.suite import Suite
            >>> MilestonePlan.of(Suite.default()).active
            False
        """
        from tracelens.suite.validate import milestones_from

        cases = pl.DataFrame(suite.references.cases.select(["case_id", "milestones"]))
        return cls(
            suite.milestones,
            cases.filter(pl.col("milestones").is_not_null()),
            lambda text: milestones_from(text)[0],
            suite.canonical_name,
            rules_of,
            suite.match.count == "executed",
        )

    @property
    def active(self) -> bool:
        """Whether there is anything to reach."""
        return self.suite is not None or self.cases.height > 0


@dataclass(frozen=True, slots=True)
class Reached:
    """What came of the milestones.

    Attributes:
        findings: One row per milestone that was missed, codes ``milestone.must_call``, ``milestone.order`` and
            ``milestone.max_steps``, rung 3.
        traces: One row per trace: ``trace`` u32, ``milestones_met`` i32? and ``milestones_total`` i32? (null without
            milestones; met is null where calls were not recorded), ``milestones_ok`` bool? (false: some milestone
            missed; null: no milestones, or some could not be judged and none was missed), ``milestones_reason`` str?
            (why null).
    """

    findings: pl.DataFrame
    traces: pl.DataFrame


def check_milestones(calls: pl.DataFrame, traces: pl.DataFrame, plan: MilestonePlan) -> Reached:
    """Check all milestones of a batch.

    Args:
        calls: One row per call, by trace and index: ``trace``, ``call_index``, ``tool``, ``arguments``,
            ``arguments_state``, ``scored``, ``executed``.
        traces: One row per trace: ``trace``, ``case_id``, ``complete``, ``has_calls``.
        plan: What has to be reached.

    Returns:
        Findings and verdicts. In an incomplete trace a call that is there counts as reached, and too many steps as
        missed; nothing else is judged there.
    """
    if not plan.active:
        return Reached(FINDING_SCHEMA.to_frame(), _no_verdicts(traces))
    wanted = _wanted(traces, plan)
    counted = calls.filter(pl.col("executed")) if plan.executed_only else calls
    judged = pl.concat(
        [_judge_must(counted, wanted, plan), _judge_order(counted, wanted, plan), _judge_steps(calls, wanted, plan)]
    )
    missed = judged.filter(~pl.col("met")).sort("trace", "item", maintain_order=True)
    constant = {"rung": 3, "severity": "error"}
    findings = finding_frame(
        {**{name: missed[name] for name in ("trace", "code", "tool", "message", "value")}, **constant}
    )
    return Reached(findings, _verdicts(judged, traces))


def _no_verdicts(traces: pl.DataFrame) -> pl.DataFrame:
    """The verdicts where there are no milestones."""
    return pl.DataFrame([traces["trace"], *(nothing(name, dtype, traces.height) for name, dtype in _VERDICTS.items())])


def _verdicts(judged: pl.DataFrame, traces: pl.DataFrame) -> pl.DataFrame:
    met = pl.col("met")
    by_trace = judged.group_by("trace").agg(
        met.sum().cast(pl.Int32).alias("milestones_met"),
        pl.len().cast(pl.Int32).alias("milestones_total"),
        pl.when((~met).any())
        .then(pl.lit(value=False))
        .when(met.is_not_null().all())
        .then(pl.lit(value=True))
        .alias("milestones_ok"),
        met.is_null().any().alias("open"),
    )
    out = traces.select("trace", "has_calls", "complete").join(by_trace, on="trace", how="left", maintain_order="left")
    incomplete = ~pl.col("has_calls") | ~pl.col("complete").fill_null(value=True)
    reason = pl.when(incomplete).then(pl.lit("incomplete")).otherwise(pl.lit("arguments_not_captured"))
    return out.select(
        "trace",
        pl.when(pl.col("has_calls")).then(pl.col("milestones_met")),
        "milestones_total",
        "milestones_ok",
        pl.when(pl.col("open") & pl.col("milestones_ok").is_null()).then(reason).alias("milestones_reason"),
    )


def _wanted(traces: pl.DataFrame, plan: MilestonePlan) -> pl.DataFrame:
    """``trace, whole, text``: a row per trace and set of milestones; the text is null for those of the suite."""
    whole = (pl.col("has_calls") & pl.col("complete").fill_null(value=True)).alias("whole")
    own = plan.cases.filter(pl.col("milestones").is_not_null()).select("case_id", text="milestones")
    of_case = traces.select("trace", "case_id", whole).join(own, on="case_id", how="inner", maintain_order="left")
    parts = [of_case.select("trace", "whole", "text")]
    if plan.suite is not None:
        parts.append(traces.select("trace", whole, pl.lit("").alias("text")))
    return pl.concat(parts)


def _sets(wanted: pl.DataFrame, plan: MilestonePlan) -> Iterator[tuple[str, MilestonesLike]]:
    """Each set of milestones that is wanted, by its text."""
    for text in wanted["text"].unique(maintain_order=True).to_list():
        if text:
            yield text, plan.read(text)
        elif plan.suite is not None:
            yield text, plan.suite


def _judge_must(calls: pl.DataFrame, wanted: pl.DataFrame, plan: MilestonePlan) -> pl.DataFrame:
    rows = [
        (text, number, plan.canonical_name(item.tool), _text(item.arguments), item.min)
        for text, milestones in _sets(wanted, plan)
        for number, item in enumerate(milestones.must_call)
    ]
    items = pl.DataFrame(rows, schema=_MUST, orient="row")
    asked = wanted.join(items, on="text", how="inner", maintain_order="left_right")
    made = calls.group_by("trace", "tool").agg(pl.len().cast(pl.Int64).alias("n"))
    by_name = asked.join(made, on=["trace", "tool"], how="left", maintain_order="left").with_columns(
        pl.col("n").fill_null(0), doubtful=pl.lit(0, pl.Int64)
    )
    exactly = by_name.filter(pl.col("arguments").is_not_null())
    if exactly.height:
        matched = _matched(calls, exactly, plan)
        key = ["trace", "text", "item"]
        counts = exactly.drop("n", "doubtful").join(matched, on=key, how="left", maintain_order="left")
        counts = counts.with_columns(pl.col("n", "doubtful").fill_null(0))
        by_name = pl.concat([by_name.filter(pl.col("arguments").is_null()), counts.select(by_name.columns)])
    met = (
        pl.when(pl.col("n") >= pl.col("least")).then(pl.lit(value=True))
        .when(pl.col("whole") & (pl.col("n") + pl.col("doubtful") < pl.col("least"))).then(pl.lit(value=False))
    )  # fmt: skip
    which = pl.when(pl.col("arguments").is_null()).then(pl.lit("")).otherwise(pl.lit(" with the arguments asked for"))
    message = pl.format("{}{} was called {} of {} times", "tool", which, "n", "least")
    return _judged(by_name, met, "must_call", message, tool=pl.col("tool"), value=pl.col("arguments").str.slice(0, 500))


def _matched(calls: pl.DataFrame, asked: pl.DataFrame, plan: MilestonePlan) -> pl.DataFrame:
    """``trace, text, item, n, doubtful``: calls whose arguments match, and calls whose arguments nobody knows."""
    candidates = asked.select("trace", "text", "item", "tool", "arguments").join(
        calls.select("trace", "tool", "arguments_state", actual="arguments"), on=["trace", "tool"], how="inner"
    )
    pairs = candidates.select("tool", "arguments", "actual", "arguments_state").unique()
    verdicts = [
        matches_arguments(expected, actual, state, plan.rules_of(tool))
        for tool, expected, actual, state in pairs.iter_rows()
    ]
    decided = pairs.with_columns(pl.Series("match", verdicts, dtype=pl.Boolean))
    on = ["tool", "arguments", "actual", "arguments_state"]
    return (
        candidates.join(decided, on=on, how="left", nulls_equal=True)
        .group_by("trace", "text", "item")
        .agg(pl.col("match").sum().cast(pl.Int64).alias("n"), pl.col("match").is_null().sum().cast(pl.Int64).alias("doubtful"))
    )  # fmt: skip


def matches_arguments(expected: str, actual: str | None, state: str, rules: Rules) -> bool | None:
    """Whether a call has the arguments of a milestone.

    Args:
        expected: Values or matchers of some arguments, JSON text.
        actual: The call's arguments as text.
        state: Their state.
        rules: Normalisation rules of the tool.

    Returns:
        None where the arguments are not known; false where they are no object.

    Example:
        >>> matches_arguments('{"id": {"$regex": "^UA"}}', '{"id": "UA-512", "seat": "12A"}', "object", NO_RULES)
        True
    """
    if state in _UNKNOWN:
        return None
    asked = parse(expected)
    if state == "text":
        return exact(actual or "", asked, rules)
    try:
        made = parse(actual) if state == "object" and actual is not None else {}
        made = parse(made) if isinstance(made, str) else made
    except ValueError:
        return False
    if state not in {"object", "empty"} or not is_object(made):
        return False
    if matcher(asked) is None:
        made = {name: value for name, value in made.items() if name in asked}
    return exact(made, asked, rules)


def _judge_order(calls: pl.DataFrame, wanted: pl.DataFrame, plan: MilestonePlan) -> pl.DataFrame:
    """Both tools must be called, the first one first."""
    rows = []
    for text, milestones in _sets(wanted, plan):
        chains = [[plan.canonical_name(tool) for tool in chain] for chain in milestones.order]
        steps = [step for chain in chains for step in itertools.pairwise(chain)]
        rows += [(text, number, first, second) for number, (first, second) in enumerate(steps)]
    items = pl.DataFrame(rows, schema=_ORDER, orient="row")
    asked = wanted.join(items, on="text", how="inner", maintain_order="left_right")
    begun = calls.group_by("trace", "tool").agg(pl.col("call_index").min().alias("at"))
    for side in ("first", "second"):
        start = begun.rename({"tool": side, "at": f"{side}_at"})
        asked = asked.join(start, on=["trace", side], how="left", maintain_order="left")
    in_order = (pl.col("first_at") < pl.col("second_at")).fill_null(value=False)
    met = pl.when(pl.col("whole")).then(in_order)
    missing = pl.concat_list(
        pl.when(pl.col(f"{side}_at").is_null()).then(pl.col(side)) for side in ("first", "second")
    ).list.drop_nulls()
    were = pl.when(missing.list.n_unique() > 1).then(pl.lit("were")).otherwise(pl.lit("was"))
    missed = missing.list.unique(maintain_order=True).list.join(" and ")
    message = (
        pl.when(missing.list.len() > 0)
        .then(pl.format("{} must come before {}, and {} {} not called", "first", "second", missed, were))
        .otherwise(pl.format("{} must come before {}", "first", "second"))
    )
    return _judged(asked, met, "order", message, tool=pl.col("first"))


def _judge_steps(calls: pl.DataFrame, wanted: pl.DataFrame, plan: MilestonePlan) -> pl.DataFrame:
    rows = [
        (text, 0, milestones.max_steps) for text, milestones in _sets(wanted, plan) if milestones.max_steps is not None
    ]
    items = pl.DataFrame(rows, schema=_STEPS, orient="row")
    asked = wanted.join(items, on="text", how="inner", maintain_order="left_right")
    steps = calls.filter(pl.col("scored")).group_by("trace").agg(pl.len().cast(pl.Int64).alias("n"))
    asked = asked.join(steps, on="trace", how="left", maintain_order="left").with_columns(pl.col("n").fill_null(0))
    over = pl.col("n") > pl.col("most")
    met = pl.when(over).then(pl.lit(value=False)).when(pl.col("whole")).then(pl.lit(value=True))
    noun = pl.when(pl.col("n") == 1).then(pl.lit("step")).otherwise(pl.lit("steps"))
    return _judged(asked, met, "max_steps", pl.format("{} {}, at most {} are allowed", "n", noun, "most"))


def _judged(
    asked: pl.DataFrame,
    met: pl.Expr,
    name: str,
    message: pl.Expr,
    tool: pl.Expr | None = None,
    value: pl.Expr | None = None,
) -> pl.DataFrame:
    null = pl.lit(None, pl.String)
    return asked.select(
        "trace",
        "item",
        met.cast(pl.Boolean).alias("met"),
        pl.lit(f"milestone.{name}").alias("code"),
        (null if tool is None else tool).alias("tool"),
        message.alias("message"),
        (null if value is None else value).alias("value"),
    )


def _text(arguments: Any) -> str | None:
    return None if arguments is None else json.dumps(arguments, ensure_ascii=False, default=str)
