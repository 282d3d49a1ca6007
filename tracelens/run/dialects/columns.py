"""The columns that dialects add to the table of traces."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tracelens import columns
from tracelens.arguments import S_INVALID
from tracelens.columns import Batch
from tracelens.groups import group_offsets
from tracelens.run.calls import Calls
from tracelens.run.dialects.evaluate import evaluate
from tracelens.run.dialects.lists import Lists, Side
from tracelens.run.matching import Forms, Matched
from tracelens.run.pool import Pool
from tracelens.suite import Suite

I64 = npt.NDArray[np.int64]


def dialect_values(
    batch: Batch, calls: Calls, matched: Matched, pool: Pool, names: list[str], findings: pl.DataFrame, suite: Suite
) -> dict[str, pa.Array]:
    """Other libraries' numbers, one a trace.

    They are null where the scores of a trace are: without a reference, and where calls are missing.

    Args:
        batch: The batch.
        calls: Its calls.
        matched: Its calls held against their references; the references that counted are used.
        pool: Its arguments.
        names: Canonical name by code.
        findings: All findings, by trace.
        suite: Says which dialects.

    Returns:
        Columns of the table `traces`; none where the suite asks for none.
    """
    if not suite.dialects:
        return {}
    trace = matched.expected.trace[matched.best]
    known = columns.numbers(batch.traces["has_calls"]).astype(np.bool_)
    known &= columns.numbers(batch.traces["complete"], default=True).astype(np.bool_)
    units = matched.units.table[matched.best][known[trace]]
    actual, expected = _actual(batch, calls, matched, len(names)), _expected(batch, matched, len(names))
    lists = Lists([*names, ""], pool.arguments, actual, expected, units)
    errors = _schema_errors(calls, findings, batch.traces.num_rows)[trace[known[trace]]] if suite.has_tools else None
    unit = np.full(known.size, -1, np.int64)
    unit[trace[known[trace]]] = np.arange(units.shape[0])
    found = evaluate(lists, suite.dialects, errors)
    return {name: _by_trace(values, unit) for name, values in found.items()}


def _actual(batch: Batch, calls: Calls, matched: Matched, nameless: int) -> Side:
    """The actual calls that enter scores."""
    rows = matched.rows
    form = columns.numbers(batch.calls["arguments_form"])[rows]
    failed = columns.numbers(pc.equal(batch.calls["status"], "error"), default=False)[rows]
    return _side(matched.actual_forms, rows, form, batch.text_is_given, nameless, calls.malformed[rows], failed)


def _expected(batch: Batch, matched: Matched, nameless: int) -> Side:
    """The expected calls that count; the text of a suite's references is its own choice."""
    rows = matched.expected_rows
    form = columns.numbers(matched.expected.calls["arguments_form"])[rows]
    nothing = np.zeros(rows.size, np.bool_)
    return _side(matched.expected_forms, rows, form, batch.text_is_given, nameless, nothing, nothing)


def _side(
    forms: Forms,
    rows: I64,
    form: npt.NDArray[np.uint8],
    text_is_given: bool,
    nameless: int,
    malformed: npt.NDArray[np.bool_],
    failed: npt.NDArray[np.bool_],
) -> Side:
    """Some calls; one of an empty name has a name of its own."""
    if not text_is_given:
        form = np.where(form == columns.NULL, np.uint8(columns.ABSENT), form)
    code = forms.code[rows]
    text = ((form == columns.JSON_STRING) & text_is_given) | (forms.arguments.state[rows] == S_INVALID)
    name = np.where(code < 0, np.int32(nameless), code).astype(np.int32)
    return Side(name, forms.arguments.row[rows], form, text, malformed, failed)


def _schema_errors(calls: Calls, findings: pl.DataFrame, n: int) -> I64:
    """int64[traces], what schemas found in the calls that enter scores."""
    schema = pl.col("code").str.starts_with("schema.") | (pl.col("code") == "tool.unknown")
    found = findings.filter(schema, pl.col("severity") == "error", pl.col("call_index").is_not_null())
    trace, index = found["trace"].to_numpy().astype(np.int64), found["call_index"].to_numpy().astype(np.int64)
    first = group_offsets(calls.trace, n)
    counts = calls.in_score[first[trace] + index]
    return np.bincount(trace[counts], minlength=n).astype(np.int64)


def _by_trace(values: pa.Array, unit: I64) -> pa.Array:
    """Values of units by trace, null for none."""
    if len(values) == unit.size and np.array_equal(unit, np.arange(unit.size)):
        return values
    return values.take(columns.nullable(unit, unit < 0))
