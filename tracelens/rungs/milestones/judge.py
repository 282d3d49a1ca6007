"""Judging the milestones of a whole batch."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tracelens import columns
from tracelens.columns import numbered
from tracelens.groups import offsets_of
from tracelens.rungs.facts import CallFacts
from tracelens.rungs.findings import NO_FINDINGS, finding_frame
from tracelens.rungs.milestones.plan import MilestonePlan, MilestonesLike, matches_arguments
from tracelens.rungs.pieces import series
from tracelens.rungs.sentences import Part, sentences

B1 = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Reached:
    """What came of the milestones, by trace.

    Attributes:
        findings: One row per milestone that was missed, codes ``milestone.must_call``, ``milestone.order`` and
            ``milestone.max_steps``, rung 3.
        met: int32?[traces], milestones reached; null without milestones, or where calls were not recorded.
        total: int32?[traces], milestones asked for; null without milestones.
        ok: bool?[traces]; false: some milestone missed; null: no milestones, or some could not be judged and none was
            missed.
        incomplete: bool[traces], where that is null because calls may be missing.
        not_captured: bool[traces], where it is null because arguments were not captured.
    """

    findings: pl.DataFrame
    met: pa.Array
    total: pa.Array
    ok: pa.Array
    incomplete: B1
    not_captured: B1


class Wanted(NamedTuple):
    """What traces have to reach.

    Attributes:
        trace: int64[w], a trace and a set of milestones for it; first those of cases, then those of the suite.
        which: int64[w], number of the set.
        sets: The sets.
        whole: bool[traces], whether all calls of a trace are known.
    """

    trace: I64
    which: I64
    sets: list[MilestonesLike]
    whole: B1

    def each(self, sizes: Iterable[int]) -> tuple[I64, I64, I64]:
        """Trace, place in its set and place among all, of every item asked for, where sets have so many items."""
        first = offsets_of(np.array([*sizes], np.int64))
        counts = np.diff(first)[self.which]
        row = np.repeat(np.arange(self.which.size), counts)
        place = np.arange(row.size) - offsets_of(counts)[row]
        return self.trace[row], place, first[self.which][row] + place


class Judged(NamedTuple):
    """Milestones of one kind, one row per trace and milestone.

    Attributes:
        trace: int64[n].
        place: int64[n], place in its set.
        met: bool[n], reached.
        missed: bool[n]; neither of the two where that cannot be judged.
        told: Columns of findings about the missed ones.
    """

    trace: I64
    place: I64
    met: B1
    missed: B1
    told: dict[str, Any]


class Made:
    """The calls that count, to be found by trace and tool."""

    def __init__(self, facts: CallFacts, rows: I64) -> None:
        self._facts = facts
        self._codes = {name: code for code, name in enumerate(facts.names)}
        self._width = len(facts.names) + 1
        key = facts.trace[rows].astype(np.int64) * self._width + facts.tool[rows]
        order = np.argsort(key, kind="stable")
        self._key, self._row = key[order], rows[order]

    def code(self, tool: str | None) -> int:
        """Number of a tool; one that nobody called has one too."""
        return self._codes.get(tool or "", self._width - 1)

    def bounds(self, trace: I64, tool: I64) -> tuple[I64, I64]:
        """Where the calls of a trace and tool begin and end among all."""
        key = trace * self._width + tool
        return np.searchsorted(self._key, key), np.searchsorted(self._key, key, side="right")

    def first(self, trace: I64, tool: I64) -> I64:
        """Index of the first call of a trace and tool, -1 for none."""
        begin, end = self.bounds(trace, tool)
        out = np.full(trace.size, -1, np.int64)
        out[begin < end] = self._facts.index[self._row[begin[begin < end]]]
        return out

    def rows(self, trace: I64, tool: I64) -> tuple[I64, I64]:
        """Rows of the calls of each trace and tool, and which of those each belongs to."""
        begin, end = self.bounds(trace, tool)
        owner = np.repeat(np.arange(trace.size), end - begin)
        place = np.arange(owner.size) - offsets_of(end - begin)[owner]
        return self._row[begin[owner] + place], owner


def check_milestones(facts: CallFacts, calls: pa.Table, traces: pa.Table, plan: MilestonePlan) -> Reached:
    """Check all milestones of a batch.

    Args:
        facts: What is known of the calls.
        calls: The same calls: ``arguments``, ``arguments_state`` (texts or a dictionary), ``in_score``.
        traces: One row per trace: ``case_id``, ``complete``, ``has_calls``.
        plan: What has to be reached.

    Returns:
        Findings and verdicts. In an incomplete trace a call that is there counts as reached, and too many steps as
        missed; nothing else is judged there.
    """
    recorded = columns.numbers(traces["has_calls"])
    wanted = _wanted(traces, recorded & columns.numbers(traces["complete"], default=True), plan)
    made = Made(facts, np.flatnonzero((facts.tool >= 0) & (facts.executed if plan.executed_only else True)))
    parts = [
        _judge_must(made, wanted, calls, plan),
        _judge_order(made, wanted, plan),
        _judge_steps(facts.count(columns.numbers(calls["in_score"])), wanted),
    ]
    trace = np.concatenate([each.trace for each in parts])
    met, missed = np.concatenate([each.met for each in parts]), np.concatenate([each.missed for each in parts])
    n = traces.num_rows
    total, reached = (np.bincount(rows, minlength=n).astype(np.int32) for rows in (trace, trace[met]))
    failed, open_ = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    failed[trace[missed]], open_[trace[~met & ~missed]] = True, True
    open_ &= ~failed
    return Reached(
        _findings(parts),
        columns.nullable(reached, ~recorded | (total == 0)),
        columns.nullable(total, total == 0),
        columns.nullable(~failed, open_ | (total == 0)),
        open_ & ~wanted.whole,
        open_ & wanted.whole,
    )


def _findings(parts: Sequence[Judged]) -> pl.DataFrame:
    """A finding for every missed milestone, by trace and place."""
    frames = [
        finding_frame({"trace": each.trace[each.missed].tolist(), "rung": 3, "severity": "error", **each.told})
        for each in parts
        if each.missed.any()
    ]
    if not frames:
        return NO_FINDINGS
    trace = np.concatenate([each.trace[each.missed] for each in parts])
    place = np.concatenate([each.place[each.missed] for each in parts])
    return pl.concat(frames)[np.lexsort((place, trace))]


def _wanted(traces: pa.Table, whole: B1, plan: MilestonePlan) -> Wanted:
    """What each trace has to reach."""
    trace, which, sets = np.zeros(0, np.int64), np.zeros(0, np.int64), list[MilestonesLike]()
    if plan.cases.num_rows:
        row = pc.index_in(traces["case_id"], columns.one_chunk(plan.cases["case_id"]), skip_nulls=True)
        trace = np.flatnonzero(columns.valid(row))
        number, texts = numbered(plan.cases["milestones"].take(row.drop_null()))
        trace, which = trace[number >= 0], number[number >= 0].astype(np.int64)
        sets = [plan.read(text) for text in texts]
    if plan.suite is not None:
        trace = np.concatenate([trace, np.arange(whole.size)])
        which = np.concatenate([which, np.full(whole.size, len(sets))])
        sets.append(plan.suite)
    return Wanted(trace, which, sets, whole)


def _judge_must(made: Made, wanted: Wanted, calls: pa.Table, plan: MilestonePlan) -> Judged:
    lists = [list(each.must_call) for each in wanted.sets]
    trace, place, item = wanted.each(map(len, lists))
    items = list(itertools.chain(*lists))
    tools = [plan.canonical_name(each.tool) or "" for each in items]
    asked = [None if each.arguments is None else _text(each.arguments) for each in items]
    least = np.array([each.min for each in items], np.int64)[item]
    tool = np.array([made.code(name) for name in tools], np.int64)[item]
    begin, end = made.bounds(trace, tool)
    n, doubtful = end - begin, np.zeros(item.size, np.int64)
    exactly = np.flatnonzero(np.array([each is not None for each in asked], np.bool_)[item])
    if exactly.size:
        rows, owner = made.rows(trace[exactly], tool[exactly])
        match = _matches(calls.take(pa.array(rows)), item[exactly][owner], asked, tools, plan)
        n[exactly], doubtful[exactly] = (np.bincount(owner[match == each], minlength=exactly.size) for each in (1, -1))
    met = n >= least
    missed = ~met & wanted.whole[trace] & (n + doubtful < least)
    at = item[missed]
    nothing = np.zeros(at.size, np.int64)
    message = sentences(
        [
            (tools, at),
            (["" if each is None else " with the arguments asked for" for each in asked], at),
            ([" was called "], nothing),
            _numbers(n[missed]),
            ([" of "], nothing),
            _numbers(least[missed]),
            ([" times"], nothing),
        ]
    )
    values = pl.Series([each and each[:500] for each in asked], dtype=pl.String)
    told = {"tool": pl.Series(tools, dtype=pl.String).gather(at), "value": values.gather(at)}
    return Judged(trace, place, met, missed, {"code": "milestone.must_call", "message": series(message), **told})


def _numbers(values: I64) -> Part:
    """Numbers as a part of sentences."""
    known, which = np.unique(values, return_inverse=True)
    return [str(number) for number in known.tolist()], which


def _matches(
    calls: pa.Table, item: I64, asked: Sequence[str | None], tools: Sequence[str], plan: MilestonePlan
) -> npt.NDArray[np.int8]:
    """int8 by call, whether it has the arguments of a milestone: 1 or 0, -1 where nobody knows; equal ones once."""
    text, texts = numbered(calls["arguments"])
    state, states = numbered(calls["arguments_state"])
    key = (item * (len(texts) + 1) + text + 1) * len(states) + state
    distinct, which = np.unique(key, return_inverse=True)
    verdicts = []
    for number in distinct.tolist():
        rest, in_state = divmod(number, len(states))
        milestone, made = divmod(rest, len(texts) + 1)
        actual = texts[made - 1] if made else None
        rules = plan.rules_of(tools[milestone])
        verdict = matches_arguments(asked[milestone] or "", actual, states[in_state], rules)
        verdicts.append(-1 if verdict is None else int(verdict))
    return np.array(verdicts, np.int8)[which]


def _judge_order(made: Made, wanted: Wanted, plan: MilestonePlan) -> Judged:
    """Both tools must be called, the first one first."""
    lists = [
        [pair for chain in each.order for pair in itertools.pairwise(plan.canonical_name(tool) or "" for tool in chain)]
        for each in wanted.sets
    ]
    trace, place, item = wanted.each(map(len, lists))
    pairs = list(itertools.chain(*lists))
    names = [[pair[side] for pair in pairs] for side in (0, 1)]
    first, second = (made.first(trace, np.array([made.code(name) for name in side], np.int64)[item]) for side in names)
    met = (first >= 0) & (second >= 0) & (first < second)
    whole = wanted.whole[trace]
    missed = whole & ~met
    at = item[missed]
    same = np.array([one == other for one, other in pairs], np.bool_)[at]
    no_first, no_second = first[missed] < 0, (second[missed] < 0) & ~same
    either, both = no_first | no_second, no_first & no_second
    message = sentences(
        [
            (names[0], at),
            ([" must come before "], np.zeros(at.size, np.int64)),
            (names[1], at),
            ([", and "], np.where(either, 0, -1)),
            (names[0], np.where(no_first, at, -1)),
            ([" and "], np.where(both, 0, -1)),
            (names[1], np.where(no_second, at, -1)),
            ([" was not called", " were not called"], np.where(either, both, -1)),
        ]
    )
    told = {"message": series(message), "tool": pl.Series(names[0], dtype=pl.String).gather(at)}
    return Judged(trace, place, whole & met, missed, {"code": "milestone.order", **told})


def _judge_steps(steps: npt.NDArray[np.int32], wanted: Wanted) -> Judged:
    """No more steps than allowed."""
    most = [each.max_steps for each in wanted.sets]
    trace, place, item = wanted.each(limit is not None for limit in most)
    limit = np.array([each for each in most if each is not None], np.int64)[item]
    n = steps[trace].astype(np.int64)
    missed = n > limit
    nothing = np.zeros(int(missed.sum()), np.int64)
    message = sentences(
        [
            _numbers(n[missed]),
            ([" step", " steps"], n[missed] != 1),
            ([", at most "], nothing),
            _numbers(limit[missed]),
            ([" are allowed"], nothing),
        ]
    )
    told = {"code": "milestone.max_steps", "message": series(message)}
    return Judged(trace, place, wanted.whole[trace] & ~missed, missed, told)


def _text(arguments: Any) -> str:
    return json.dumps(arguments, ensure_ascii=False, default=str)
