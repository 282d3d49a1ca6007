"""Rows of the tables that come from matching: pairs, argument differences, steps, expected calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.arguments import S_EMPTY
from tracelens.columns import coded, nullable, numbers
from tracelens.groups import rows_of_groups
from tracelens.kernels.pairing import PARTIAL
from tracelens.kernels.reference.differences import diffs
from tracelens.kernels.reference.pairing import STATUSES, UNIT
from tracelens.kernels.reference.values import parse
from tracelens.normalise.canonical import Program
from tracelens.normalise.differences import Compared, by_pair, difference_rows, differences
from tracelens.run.arrow import constant
from tracelens.run.calls import Calls
from tracelens.run.expected import Expected
from tracelens.run.matching import Matched
from tracelens.run.names import NameCodes
from tracelens.run.plan import Plan
from tracelens.run.raw import raw_equality
from tracelens.rungs.calls import Pairs, pairs_of
from tracelens.rungs.golden import STEP_STATUSES, steps_of
from tracelens.rungs.units import Units

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

EXPECTED_STATES = ("object", "empty", "any")


@dataclass(frozen=True, slots=True)
class Placed:
    """Who was held against whom under one pairing, best references only; row by row.

    Attributes:
        pairing: Its name.
        pairs: The pairs; ``unit`` counts in all units.
        trace: int64, trace of each row, ascending.
        actual_row: int64, row of the actual call among all of the batch, -1 for none.
        expected_row: int64, row of the expected call among all, -1 for none.
        call_index: int32, position of the actual call in its trace, -1 for none.
        expected_index: int32, position of the expected call in its reference, -1 for none.
        tool: int32, name code of the actual call, of the expected one where there is none.
        expected_tool: int32, name code of the expected call, -1 for none.
    """

    pairing: str
    pairs: Pairs
    trace: I64
    actual_row: I64
    expected_row: I64
    call_index: I32
    expected_index: I32
    tool: I32
    expected_tool: I32


def place(matched: Matched, calls: Calls, pairing: str) -> Placed:
    """The rows of one pairing, as numbers."""
    pairs = pairs_of(matched.scores.paired, pairing)
    if matched.best.size != len(matched.units):
        chosen = np.zeros(len(matched.units), np.bool_)
        chosen[matched.best] = True
        pairs = pairs.of(chosen[pairs.unit])
    placed = _located(matched, calls, pairs.unit, pairs.actual, pairs.expected)
    return Placed(pairing, pairs, matched.expected.trace[pairs.unit], *placed)


def _located(
    matched: Matched, calls: Calls, unit: I64, actual: npt.NDArray[np.integer], expected: npt.NDArray[np.integer]
) -> tuple[I64, I64, I32, I32, I32, I32]:
    """Rows of both calls, their indices, tool and expected tool, from calls counted in their units."""
    units = matched.units
    has, wants = actual >= 0, expected >= 0
    actual_row = _of_rows(matched.rows, np.where(has, units.a_first[unit] + actual, -1))
    expected_row = _of_rows(matched.expected_rows, np.where(wants, units.e_first[unit] + expected, -1))
    index = _of_rows(calls.index, actual_row)
    expected_index = np.where(wants, expected_row - matched.expected.first[unit], -1).astype(np.int32)
    wanted = _of_rows(matched.expected_forms.code, expected_row)
    tool = np.where(has, _of_rows(matched.actual_forms.code, actual_row), wanted)
    return actual_row, expected_row, index, expected_index, tool, wanted


def _of_rows(values: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Values of rows, -1 for no row, which is -1: the value behind all others."""
    return np.asarray(np.append(values, values.dtype.type(-1))[rows])


def pair_table(held: Placed, matched: Matched, codes: NameCodes) -> pa.Table:
    """Rows of `pairs`, with ``trace``."""
    pairs = held.pairs
    same, compared = raw_equality(matched, pairs, held.actual_row, held.expected_row)
    return pa.table(
        {
            "trace": held.trace.astype(np.uint32),
            "pairing": constant(held.pairing, len(pairs)),
            "call_index": nullable(held.call_index, held.actual_row < 0),
            "expected_index": nullable(held.expected_index, held.expected_row < 0),
            "tool": codes.coded(held.tool),
            "expected_tool": codes.coded(held.expected_tool),
            "status": coded(pairs.status, STATUSES),
            "exact_raw": nullable(same, ~compared),
            "agreement": nullable(pairs.agreement / UNIT, pairs.agreement < 0),
        }
    )


def difference_table(held: Placed, matched: Matched, plan: Plan, codes: NameCodes) -> pa.Table:
    """Rows of `argument_diffs` for the partial pairs, with ``trace``."""
    partial = np.flatnonzero(held.pairs.status == PARTIAL)
    found = _differences(matched, plan, held.actual_row[partial], held.expected_row[partial])
    row = partial[numbers(found["pair"])]
    return pa.table(
        {
            "trace": held.trace[row].astype(np.uint32),
            "pairing": constant(held.pairing, row.size),
            "call_index": held.call_index[row],
            "expected_index": held.expected_index[row],
            "tool": codes.coded(held.tool[row]),
            **{name: found[name] for name in ("path", "status", "actual", "expected")},
        }
    )


def _differences(matched: Matched, plan: Plan, pair_a: I64, pair_e: I64) -> pa.Table:
    """``pair, path, status, actual, expected`` of pairs of calls."""
    special = _is_related(matched, pair_a, pair_e)
    actual, expected = matched.actual_forms.arguments, matched.expected_forms.arguments
    compared = Compared(actual.distinct, matched.canonical)
    plain = np.flatnonzero(~special)
    rows = actual.row[pair_a[plain]], expected.row[pair_e[plain]]
    found = _of_distinct(compared, plan.program, *rows)
    if not special.any():
        return found
    found = found.set_column(0, "pair", pa.array(plain[numbers(found["pair"])]))
    return by_pair([found, _by_reference(matched, plan, pair_a, pair_e, np.flatnonzero(special))])


def _of_distinct(compared: Compared, program: Program, rows_a: I64, rows_e: I64) -> pa.Table:
    """`differences` of pairs of distinct arguments; where many pairs are alike, each is compared once."""
    key = rows_a * (rows_e.max(initial=0) + 1) + rows_e
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    if 2 * first.size > key.size:
        return differences(compared, compared, program, rows_a, rows_e)
    found = differences(compared, compared, program, rows_a[first], rows_e[first])
    count = np.bincount(numbers(found["pair"]), minlength=first.size)
    told = found.take(pa.array(rows_of_groups(count, which)))
    return told.set_column(0, "pair", pa.array(np.repeat(np.arange(key.size), count[which])))


def _is_related(matched: Matched, pair_a: I64, pair_e: I64) -> npt.NDArray[np.bool_]:
    """bool[pairs]: whether a matcher or tolerance decided the pair."""
    related = matched.related
    if related.actual.size == 0:
        return np.zeros(pair_a.size, np.bool_)
    width = np.int64(matched.expected_forms.code.size)
    decided = matched.rows[related.actual] * width + matched.expected_rows[related.expected]
    return np.isin(pair_a * width + pair_e, decided)


def _by_reference(matched: Matched, plan: Plan, pair_a: I64, pair_e: I64, rows: I64) -> pa.Table:
    """Differences of pairs with matchers or tolerances, by the plain-Python rules."""
    actual, expected = matched.actual_forms, matched.expected_forms
    out: list[tuple[int, str, str, str | None, str | None]] = []
    for row in rows.tolist():
        i, j = int(pair_a[row]), int(pair_e[row])
        if actual.arguments.state[i] > S_EMPTY or matched.accepts_any[j]:
            sent = actual.arguments.text(i).decode("utf-8", "replace")
            out.append((row, "", "not_compared", sent or None, None))
            continue
        rules = plan.program.rules[int(expected.tool[j])]
        left, right = parse(actual.arguments.text(i).decode()), parse(expected.arguments.text(j).decode())
        out.extend((row, *difference) for difference in diffs(left, right, rules))
    return difference_rows(out)


def step_table(matched: Matched, calls: Calls, codes: NameCodes) -> pa.Table:
    """Rows of `steps`, best references only, with ``trace``."""
    best, units = matched.best, matched.units
    chosen = Units(units.a_first[best], units.a_count[best], units.e_first[best], units.e_count[best])
    steps = steps_of(chosen, matched.a, matched.e, matched.joined)
    unit = best[steps.unit]
    _, _, index, expected_index, tool, _ = _located(matched, calls, unit, steps.actual, steps.expected)
    return pa.table(
        {
            "trace": matched.expected.trace[unit].astype(np.uint32),
            "step_index": steps.index,
            "call_index": nullable(index, steps.actual < 0),
            "expected_index": nullable(expected_index, steps.expected < 0),
            "tool": codes.coded(tool),
            "status": coded(steps.status, STEP_STATUSES),
        }
    )


def expected_table(
    matched: Matched, names: pa.DictionaryArray, codes: NameCodes, schemas: Mapping[str, pa.Array]
) -> pa.Table:
    """Rows of `expected`: every reference of every trace, with ``trace``; an empty reference has a row of its own.

    Args:
        matched: What was matched.
        names: Names of the expected calls as written.
        codes: Names of the tools.
        schemas: The columns that say what schemas say of each row.
    """
    expected = matched.expected
    unit, position, row = places_of(expected)
    chosen = np.zeros(expected.count.size, np.bool_)
    chosen[matched.best] = True
    state = np.where(matched.accepts_any, 2, matched.expected_forms.arguments.state == S_EMPTY).astype(np.int32)
    given = pa.table({"name": names, **{name: expected.calls[name] for name in ("arguments", "arguments_form")}})
    taken = _taken(given, row)
    return pa.table(
        {
            "trace": expected.trace[unit].astype(np.uint32),
            "reference_index": expected.reference[unit].astype(np.int32),
            "expected_index": position.astype(np.int32),
            "reference_source": coded(expected.from_suite[expected.trace[unit]], ("trace", "suite")),
            "chosen": chosen[unit],
            "tool": codes.coded(_of_rows(matched.expected_forms.code, row)),
            "name": taken["name"],
            "arguments": taken["arguments"],
            "arguments_form": taken["arguments_form"].fill_null(0),
            "arguments_state": coded(_of_rows(state, row), EXPECTED_STATES),
            **schemas,
        }
    )


def places_of(expected: Expected) -> tuple[I64, I64, I64]:
    """For each row of `expected`: its unit, the position there and the row of the expected call; -1 for an empty one."""
    counts = np.maximum(expected.count, 1)
    unit = np.repeat(np.arange(counts.size), counts)
    position = np.arange(unit.size) - (np.cumsum(counts) - counts)[unit]
    is_empty = expected.count[unit] == 0
    return unit, np.where(is_empty, -1, position), np.where(is_empty, -1, expected.first[unit] + position)


def _taken(calls: pa.Table, rows: I64) -> pa.Table:
    """Expected calls by row, null for no row; untouched where that is all of them in order."""
    if rows.size == calls.num_rows and np.array_equal(rows, np.arange(rows.size)):
        return calls
    return calls.take(pa.array(rows, mask=rows < 0))
