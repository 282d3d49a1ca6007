"""Rungs two to four of a batch: actual calls held against every reference, and the best reference of each trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.arguments import S_EMPTY, S_NOT_CAPTURED, S_OBJECT, S_TEXT, S_TRUNCATED, CallArguments
from tracelens.columns import Batch
from tracelens.groups import group_offsets, offsets_of
from tracelens.kernels.reference.values import quote
from tracelens.normalise.canonical import Canonical, canonical, digest_texts
from tracelens.run.calls import Calls
from tracelens.run.expected import Expected
from tracelens.run.names import NameCodes, Names
from tracelens.run.plan import Plan
from tracelens.run.pool import Pool
from tracelens.run.relations import Side, relate
from tracelens.rungs.scores import UnitScores, score_units
from tracelens.rungs.units import CallArrays, Credit, Related, Units, joined_calls

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
B1 = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Digests:
    """The distinct arguments of a batch, digested.

    Attributes:
        canonical: Digests under the rules of each row's tool.
        hi: uint64[d], digest of each row; of a free text its canonical form.
        lo: uint64[d].
    """

    canonical: Canonical
    hi: U64
    lo: U64


@dataclass(frozen=True, slots=True)
class Forms:
    """One side's calls.

    Attributes:
        names: Their names.
        tool: int64[n], tool numbers of the rules.
        arguments: Their arguments.
        hi: uint64[n], digest of each call's arguments; of a free text its canonical form.
        lo: uint64[n].
    """

    names: Names
    tool: I64
    arguments: CallArguments
    hi: U64
    lo: U64

    @classmethod
    def of(cls, names: Names, arguments: CallArguments, digests: Digests, codes: NameCodes, plan: Plan) -> Forms:
        """Calls, from the digests of their distinct arguments."""
        row = arguments.row
        return cls(names, plan.rule_numbers(codes.names, names.code), arguments, digests.hi[row], digests.lo[row])

    @property
    def code(self) -> I32:
        """int32[n], name codes."""
        return self.names.code


@dataclass(frozen=True, slots=True)
class Matched:
    """A batch matched.

    Attributes:
        expected: The expected side.
        actual_forms: All actual calls.
        expected_forms: All expected calls.
        canonical: Digests of all distinct arguments.
        accepts_any: bool, expected calls without arguments.
        rows: int64, rows of actual calls that enter the scores; units count in these.
        expected_rows: int64, likewise of expected calls: hand-offs and output tools stay out on both sides.
        units: All units.
        best: int64, unit of each trace that has a reference, ascending by trace.
        scores: Scores of all units.
        a: What the kernels saw of the actual calls in ``rows``.
        e: What they saw of the expected calls.
        joined: Which actual calls may be reordered; None where order counts.
        related: What matchers and tolerances decided.
    """

    expected: Expected
    actual_forms: Forms
    expected_forms: Forms
    canonical: Canonical
    accepts_any: B1
    rows: I64
    expected_rows: I64
    units: Units
    best: I64
    scores: UnitScores
    a: CallArrays
    e: CallArrays
    joined: B1 | None
    related: Related


def digest_pool(pool: Pool, codes: NameCodes, plan: Plan) -> Digests:
    """Digest the distinct arguments under the rules of their tools."""
    arguments, tool = pool.arguments, plan.rule_numbers(codes.names, pool.code)
    found = canonical(arguments.data, arguments.tape, tool, plan.program)
    hi, lo = found.root_hi, found.root_lo
    texts = np.flatnonzero(arguments.state == S_TEXT)
    if texts.size:
        hi, lo = hi.copy(), lo.copy()
        quoted = [quote(arguments.text(int(row)).decode()) for row in texts]
        hi[texts], lo[texts] = digest_texts(plan.program.apply_slow(-1, quoted))
    return Digests(found, hi, lo)


def match(
    batch: Batch, calls: Calls, expected: Expected, sides: tuple[Forms, Forms], digests: Digests, plan: Plan
) -> Matched:
    """Hold a batch's calls against their references.

    Args:
        batch: The batch.
        calls: Its calls.
        expected: Its references.
        sides: The actual and the expected calls.
        digests: Their arguments.
        plan: The compiled suite.
    """
    actual, wanted = sides
    accepts_any = columns.numbers(expected.calls["arguments_form"]).astype(np.uint8) <= columns.NULL
    rows = calls.scored_rows
    first = group_offsets(calls.trace[rows], batch.traces.num_rows)
    counts = ~wanted.names.output_tool & ~wanted.names.handoff
    expected_rows, before = np.flatnonzero(counts), offsets_of(counts.astype(np.int64))
    e_first = before[expected.first]
    e_count = before[expected.first + expected.count] - e_first
    units = Units(first[expected.trace], np.diff(first)[expected.trace], e_first, e_count)
    a = _arrays(actual, digests, calls.malformed, rows)
    e = _arrays(wanted, digests, np.zeros(counts.size, np.bool_), expected_rows)
    related = _related(units, _side(actual, rows), _side(wanted, expected_rows), accepts_any[expected_rows], plan)
    joined = _joined(batch, calls, rows) if plan.suite.match.parallel == "unordered" else None
    credit = Credit(plan.suite.match.credit.exact, plan.suite.match.credit.name)
    scores = score_units(units, a, e, related=related, joined=joined, credit=credit)
    best = best_units(expected.trace, scores.frame)
    return Matched(
        expected,
        actual,
        wanted,
        digests.canonical,
        accepts_any,
        rows,
        expected_rows,
        units,
        best,
        scores,
        a,
        e,
        joined,
        related,
    )


def best_units(trace: I64, scores: pl.DataFrame) -> I64:
    """The unit that counts for each trace: highest accuracy_optimal, where that is null highest f1, lowest index.

    Args:
        trace: int64[units], ascending.
        scores: ``accuracy_optimal`` and ``f1`` by unit.

    Returns:
        int64, one unit per trace that has any, ascending.
    """
    if trace.size == 0 or (trace[1:] != trace[:-1]).all():
        return np.arange(trace.size)
    accuracy = scores["accuracy_optimal"].fill_null(-1.0).to_numpy()
    order = np.lexsort((np.arange(trace.size), -scores["f1"].to_numpy() * (accuracy < 0), -accuracy, trace))
    first = np.ones(trace.size, np.bool_)
    first[1:] = trace[order][1:] != trace[order][:-1]
    return np.asarray(order[first], np.int64)


def _arrays(forms: Forms, digests: Digests, malformed: B1, rows: I64) -> CallArrays:
    """What the kernels see of some calls."""
    state, at = forms.arguments.state[rows], forms.arguments.row[rows]
    found = digests.canonical
    return CallArrays(
        code=forms.code[rows],
        hi=forms.hi[rows],
        lo=forms.lo[rows],
        captured=(state != S_NOT_CAPTURED) & (state != S_TRUNCATED),
        usable=(state == S_OBJECT) | (state == S_EMPTY) | (state == S_TEXT),
        malformed=malformed[rows],
        top_first=found.top_first[at],
        top_count=found.top_count[at],
        top=found.top,
    )


def _side(forms: Forms, rows: I64) -> Side:
    """Those calls of one side that enter the scores."""
    arguments = forms.arguments
    return Side(forms.code[rows], forms.tool[rows], arguments.distinct, arguments.row[rows])


def _related(units: Units, actual: Side, wanted: Side, accepts_any: B1, plan: Plan) -> Related:
    """What matchers and tolerances decide; calls counted as units count them."""
    found = relate(
        (units.a_first, units.a_count, units.e_first, units.e_count),
        actual,
        wanted,
        accepts_any,
        plan.program.rules,
        plan.program.has_relation,
    )
    return Related(found.actual, found.expected, found.exact, found.agreement)


def _joined(batch: Batch, calls: Calls, rows: I64) -> B1:
    """Which scored calls may be reordered with the one before: same trace, same known turn."""
    turn = batch.calls["turn"].take(pa.array(rows))
    return joined_calls(calls.trace[rows], columns.numbers(turn, default=-1).astype(np.int64), columns.valid(turn))
