"""Rows of the tables that come from matching: pairs, argument differences, steps, expected calls."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.arguments import S_EMPTY
from tracelens.columns import Batch
from tracelens.kernels.reference.differences import diffs
from tracelens.kernels.reference.values import parse
from tracelens.normalise.differences import Compared, differences
from tracelens.run.calls import Calls
from tracelens.run.matching import Matched
from tracelens.run.names import NameCodes
from tracelens.run.plan import Plan
from tracelens.rungs.calls import pair_frame
from tracelens.rungs.golden import step_frame
from tracelens.rungs.units import Units

I64 = npt.NDArray[np.int64]


def pair_rows(matched: Matched, calls: Calls, batch: Batch, codes: NameCodes, pairing: str) -> pl.DataFrame:
    """Rows of `pairs` for one pairing, best references only, with ``trace`` and the rows of both calls.

    Returns:
        The columns of `pairs` and ``trace`` (u32), ``actual_row`` (of all actual calls) and ``expected_row`` (of all
        expected calls), both int64 and -1 where there is none.
    """
    frame = pair_frame(matched.scores.paired, matched.a, matched.e, pairing)
    if matched.best.size != len(matched.units):
        chosen = np.zeros(len(matched.units), np.bool_)
        chosen[matched.best] = True
        frame = frame.filter(pl.Series(chosen[frame["unit"].to_numpy()]))
    unit = frame["unit"].to_numpy()
    actual = frame["actual"].fill_null(-1).to_numpy().astype(np.int64)
    expected = frame["expected"].fill_null(-1).to_numpy().astype(np.int64)
    actual_row = np.full(unit.size, -1, np.int64)
    has_a, has_e = actual >= 0, expected >= 0
    actual_row[has_a] = matched.rows[(matched.units.a_first[unit] + actual)[has_a]]
    expected_row = np.where(has_e, matched.units.e_first[unit] + expected, -1)
    tool_a = _codes(matched.actual_forms.code, actual_row)
    tool_e = _codes(matched.expected_forms.code, expected_row)
    index = columns.numbers(batch.calls["call_index"])
    return pl.DataFrame(
        {
            "trace": matched.expected.trace[unit].astype(np.uint32),
            "pairing": frame["pairing"].cast(pl.String),
            "call_index": _where(index, actual_row),
            "expected_index": frame["expected"],
            "tool": pl.Series(codes.texts(np.where(has_a, tool_a, tool_e))),
            "expected_tool": pl.Series(codes.texts(tool_e)),
            "status": frame["status"].cast(pl.String),
            "exact_raw": frame["exact_raw"],
            "agreement": frame["agreement"],
            "actual_row": actual_row,
            "expected_row": expected_row,
        }
    )


def _codes(code: npt.NDArray[np.int32], rows: I64) -> npt.NDArray[np.int32]:
    """Name codes of rows, -1 for no row."""
    if code.size == 0:
        return np.full(rows.size, -1, np.int32)
    return np.where(rows >= 0, code[rows], np.int32(-1))


def _where(values: npt.NDArray[np.int32], rows: I64) -> pa.Array:
    """Values of rows, null for no row."""
    taken = values[rows] if values.size else np.zeros(rows.size, np.int32)
    return pa.array(taken, mask=rows < 0)


def difference_rows(pairs: pl.DataFrame, matched: Matched, plan: Plan) -> pl.DataFrame:
    """Rows of `argument_diffs` for the partial pairs among `pair_rows`, with ``trace``."""
    partial = pairs.filter(pl.col("status") == "partial")
    pair_a, pair_e = partial["actual_row"].to_numpy(), partial["expected_row"].to_numpy()
    special = _is_related(matched, pair_a, pair_e)
    a = Compared(matched.actual_forms.arguments, matched.actual_forms.canonical)
    e = Compared(matched.expected_forms.arguments, matched.expected_forms.canonical)
    plain = np.flatnonzero(~special)
    found = differences(a, e, plan.program, pair_a[plain], pair_e[plain])
    found = found.with_columns(pl.Series("pair", plain.astype(np.uint32)[found["pair"].to_numpy()]))
    if special.any():
        found = pl.concat([found, _by_reference(matched, plan, pair_a, pair_e, np.flatnonzero(special))])
        found = found.sort("pair", maintain_order=True)
    pair = found["pair"].to_numpy()
    keys = partial.select("trace", "pairing", "call_index", "expected_index", "tool")[pair]
    return pl.concat([keys, found.drop("pair")], how="horizontal")


def _is_related(matched: Matched, pair_a: I64, pair_e: I64) -> npt.NDArray[np.bool_]:
    """bool[pairs]: whether a matcher or tolerance decided the pair."""
    related = matched.related
    if related.actual.size == 0:
        return np.zeros(pair_a.size, np.bool_)
    width = np.int64(matched.expected_forms.code.size)
    decided = matched.rows[related.actual] * width + related.expected
    return np.isin(pair_a * width + pair_e, decided)


def _by_reference(matched: Matched, plan: Plan, pair_a: I64, pair_e: I64, rows: I64) -> pl.DataFrame:
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
    schema = {"pair": pl.UInt32, "path": pl.String, "status": pl.String, "actual": pl.String, "expected": pl.String}
    return pl.DataFrame(out, schema=schema, orient="row")


def step_rows(matched: Matched, batch: Batch, codes: NameCodes) -> pl.DataFrame:
    """Rows of `steps`, best references only, with ``trace``."""
    best, units = matched.best, matched.units
    chosen = Units(units.a_first[best], units.a_count[best], units.e_first[best], units.e_count[best])
    frame = step_frame(chosen, matched.a, matched.e, matched.joined)
    unit = frame["unit"].to_numpy()
    actual = frame["actual"].fill_null(-1).to_numpy().astype(np.int64)
    expected = frame["expected"].fill_null(-1).to_numpy().astype(np.int64)
    actual_row = np.full(unit.size, -1, np.int64)
    has = actual >= 0
    actual_row[has] = matched.rows[(chosen.a_first[unit] + actual)[has]]
    expected_row = np.where(expected >= 0, chosen.e_first[unit] + expected, -1)
    tool_a = _codes(matched.actual_forms.code, actual_row)
    tool = np.where(has, tool_a, _codes(matched.expected_forms.code, expected_row))
    return pl.DataFrame(
        {
            "trace": matched.expected.trace[best][unit].astype(np.uint32),
            "step_index": frame["step_index"],
            "call_index": _where(columns.numbers(batch.calls["call_index"]), actual_row),
            "expected_index": frame["expected"],
            "tool": pl.Series(codes.texts(tool)),
            "status": frame["status"].cast(pl.String),
        }
    )


def expected_rows(matched: Matched, codes: NameCodes) -> pl.DataFrame:
    """Rows of `expected`: every reference of every trace, with ``trace``; an empty reference has a row of its own."""
    expected, units = matched.expected, matched.units
    counts = np.maximum(units.e_count, 1)
    unit = np.repeat(np.arange(len(units)), counts)
    position = np.arange(unit.size) - (np.cumsum(counts) - counts)[unit]
    is_empty = units.e_count[unit] == 0
    row = np.where(is_empty, -1, units.e_first[unit] + position)
    taken = expected.calls.take(pa.array(row, mask=is_empty))
    chosen = np.zeros(len(units), np.bool_)
    chosen[matched.best] = True
    state = np.where(matched.expected_forms.arguments.state == S_EMPTY, "empty", "object")
    state = np.where(matched.accepts_any, "any", state)
    from_suite = expected.from_suite[expected.trace[unit]]
    return pl.DataFrame(
        {
            "trace": expected.trace[unit].astype(np.uint32),
            "reference_index": expected.reference[unit].astype(np.int32),
            "expected_index": np.where(is_empty, -1, position).astype(np.int32),
            "reference_source": pl.select(
                pl.when(pl.Series(from_suite)).then(pl.lit("suite")).otherwise(pl.lit("trace")).alias("s")
            ).to_series(),
            "chosen": chosen[unit],
            "tool": pl.Series(codes.texts(_codes(matched.expected_forms.code, row))),
            "name": pl.Series(columns.one_chunk(taken["name"])),
            "arguments": pl.Series(columns.one_chunk(taken["arguments"])),
            "arguments_form": pl.Series(columns.one_chunk(taken["arguments_form"])).fill_null(0),
            "arguments_state": pl.Series(_taken(state, row)),
        },
        schema_overrides={"trace": pl.UInt32},
    )


def _taken(values: npt.NDArray[np.str_], rows: I64) -> pa.Array:
    """Texts of rows, null for no row."""
    table = pa.array(values.tolist(), pa.large_string())
    return table.take(pa.array(rows, mask=rows < 0))
