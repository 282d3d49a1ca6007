"""Holds the rows of each state check against what was expected, for batches of traces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from tracelens.errors import SuiteError
from tracelens.rungs.state.databases import fetch
from tracelens.rungs.state.values import canonical, column_texts

if TYPE_CHECKING:
    from tracelens.suite import Suite

STATE_RESULTS = pl.Schema(
    {
        "trace": pl.UInt32(),
        "check": pl.String(),
        "passed": pl.Boolean(),
        "reason": pl.String(),
        "observed": pl.String(),
        "expected": pl.String(),
    }
)
"""One row per trace and state check that applies to it; ``passed`` is null where there was nothing to hold it against."""

_KEY, _ROWS, _OBSERVED, _EXPECTED, _VACUOUS = "~key", "~rows", "~observed", "~expected", "~vacuous"


@dataclass(frozen=True, slots=True)
class _Check:
    """One check with its rows, ready to be joined to traces.

    Attributes:
        name: The check's name.
        key: The column rows are found by: ``trace_id`` or ``case_id``.
        cases: The only cases it looks at; None = all.
        rows: One row per key: ``~key``, ``~rows`` (how many the query returned), ``~observed`` (the row as a JSON
            object) and each expected column's value as canonical text under ``=<column>``.
        wanted: One row per case, or a single row for all (then without ``~key``): ``~expected`` (a JSON object),
            ``~vacuous`` (why there is nothing to hold a row against; null = there is) and ``?<column>`` with the
            canonical expected value (null = the case says nothing about this column).
        columns: The expected columns.
    """

    name: str
    key: str
    cases: tuple[str, ...] | None
    rows: pl.DataFrame
    wanted: pl.DataFrame
    columns: tuple[str, ...]


class StateChecks:
    """All state checks of a suite, their queries already run.

    Example:
        >>> from tracelens.suite import Suite
        >>> StateChecks.load(Suite.default()).names
        ()
    """

    def __init__(self, checks: tuple[_Check, ...]) -> None:
        self._checks = checks

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the checks, in the suite's order."""
        return tuple(check.name for check in self._checks)

    @classmethod
    def load(cls, suite: Suite) -> StateChecks:
        """Run each check's query once, for all traces as a set.

        Args:
            suite: The suite; its ``state`` has the checks, its references the state objects of cases.

        Returns:
            The checks, ready for batches.

        Raises:
            StateError: A database cannot be reached or refuses a query.
            SuiteError: A query returns neither ``trace_id`` nor ``case_id``.
        """
        states = _case_states(suite) if any(item.expect == "case" for item in suite.state) else {}
        checks = []
        for item in suite.state:
            table = fetch(item.database, item.sql, base=suite.base, check=item.name)
            checks.append(_prepare(item.name, table, item.expect, states, item.cases))
        return cls(tuple(checks))

    def evaluate(self, traces: pl.DataFrame) -> pl.DataFrame:
        """The verdict of every check on every trace it applies to.

        A trace whose row is missing has failed. A verdict is null, with a reason, where there is nothing to hold the
        row against: no expectation, an expected column that the query does not return, a case without a state
        object, or a trace without the id that rows are found by.

        Args:
            traces: ``trace`` (u32), ``trace_id`` (str), ``case_id`` (str or null).

        Returns:
            A frame of `STATE_RESULTS`, sorted by trace and then the suite's order of checks.
        """
        if not self._checks:
            return pl.DataFrame(schema=STATE_RESULTS)
        parts = [_verdicts(check, traces, order) for order, check in enumerate(self._checks)]
        return pl.concat(parts).sort("trace", "order").select(STATE_RESULTS.names())


def state_findings(results: pl.DataFrame) -> pl.DataFrame:
    """An error finding for every failed state check.

    Args:
        results: A frame of `STATE_RESULTS`.

    Returns:
        One row per failed check, with code ``state.<name>``, rung 4, concerning the whole trace.

    Example:
        >>> state_findings(pl.DataFrame(schema=STATE_RESULTS)).height
        0
    """
    return results.filter(~pl.col("passed")).select(
        "trace",
        pl.lit(None, pl.Int32).alias("call_index"),
        pl.lit(4, pl.Int8).alias("rung"),
        pl.lit("error").alias("severity"),
        pl.format("state.{}", "check").alias("code"),
        pl.lit(None, pl.String).alias("tool"),
        pl.lit(None, pl.String).alias("path"),
        pl.format("state check '{}' failed: {}", "check", "reason").alias("message"),
        pl.col("observed").str.head(500).alias("value"),
        pl.lit(None, pl.Boolean).alias("effect"),
    )


def _case_states(suite: Suite) -> dict[str, Any]:
    """State objects by case, numbers exact."""
    cases = suite.references.cases
    pairs = zip(cases["case_id"].to_pylist(), cases["state"].to_pylist(), strict=True)
    return {case: json.loads(text, parse_float=Decimal) for case, text in pairs if text is not None}


def _prepare(
    name: str, table: pa.Table, expect: Any, states: Mapping[str, Any], cases: tuple[str, ...] | None
) -> _Check:
    key = next((column for column in ("trace_id", "case_id") if column in table.column_names), None)
    if key is None:
        hint = "select trace_id or case_id beside the columns you expect"
        raise SuiteError("the query returns neither trace_id nor case_id", where=f"state check {name!r}", hint=hint)
    _refuse_duplicates(table, f"state check {name!r}")
    texts = pl.DataFrame({column: column_texts(table[column]) for column in table.column_names})
    instants = {field.name for field in table.schema if pa.types.is_timestamp(field.type)}
    wanted = _per_case(states, instants) if expect == "case" else _constants(expect, instants)
    columns = tuple(column[1:] for column in wanted.columns if column.startswith("?"))
    absent = [column for column in columns if column not in texts.columns]
    wanted = wanted.with_columns(_vacuous(absent).alias(_VACUOUS))
    return _Check(name, key, cases, _rows(texts, key, columns), wanted, columns)


def _refuse_duplicates(table: pa.Table, where: str) -> None:
    """Refuse a result in which a name stands for two columns."""
    names = table.column_names
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        hint = "give each column a name of its own, with `as`"
        raise SuiteError(f"the query returns the column {twice!r} more than once", where=where, hint=hint)


def _constants(expect: Mapping[str, Any] | None, instants: set[str]) -> pl.DataFrame:
    """The one row that all traces are held against."""
    if not expect:
        return pl.DataFrame({_EXPECTED: [None]}, schema={_EXPECTED: pl.String})
    values = {f"?{column}": [canonical(value, instant=column in instants)] for column, value in expect.items()}
    return pl.DataFrame({_EXPECTED: [canonical(expect)], **values})


def _per_case(states: Mapping[str, Any], instants: set[str]) -> pl.DataFrame:
    """One row per case with a state object."""
    names = sorted({column for state in states.values() for column in state})
    data: dict[str, list[str | None]] = {
        _KEY: list(states),
        _EXPECTED: [canonical(state) if state else None for state in states.values()],
    }
    for column in names:
        instant = column in instants
        data[f"?{column}"] = [
            canonical(state[column], instant=instant) if column in state else None for state in states.values()
        ]
    return pl.DataFrame(data, schema=dict.fromkeys(data, pl.String))


def _vacuous(absent: list[str]) -> pl.Expr:
    """Why a row of expectations cannot be held against anything; null where it can."""
    nothing = pl.when(pl.col(_EXPECTED).is_null()).then(pl.lit("nothing is expected"))
    gaps = [
        pl.when(pl.col(f"?{column}").is_not_null()).then(pl.lit(f"the query returns no column {column!r}"))
        for column in absent
    ]
    return pl.coalesce(nothing, *gaps)


def _rows(texts: pl.DataFrame, key: str, columns: tuple[str, ...]) -> pl.DataFrame:
    """The query's rows, one per key; of several the one that sorts first, with their number."""
    shown = [column for column in texts.columns if column != key]
    parts = [pl.concat_str(pl.lit(f"{json.dumps(column, ensure_ascii=False)}:"), pl.col(column)) for column in shown]
    # A key is compared as text: 10 finds the case "10".
    text = pl.when(pl.col(key).str.starts_with('"')).then(pl.col(key).str.json_decode(pl.String)).otherwise(pl.col(key))
    return (
        texts.filter(pl.col(key) != "null")
        .select(
            text.alias(_KEY),
            pl.concat_str(pl.lit("{"), pl.concat_str(parts, separator=",") if parts else pl.lit(""), pl.lit("}")).alias(
                _OBSERVED
            ),
            *(pl.col(column).alias(f"={column}") for column in columns if column in texts.columns),
        )
        .sort(_KEY, _OBSERVED)
        .group_by(_KEY, maintain_order=True)
        .agg(pl.len().alias(_ROWS), pl.all().first())
    )


def _verdicts(check: _Check, traces: pl.DataFrame, order: int) -> pl.DataFrame:
    found = traces if check.cases is None else traces.filter(pl.col("case_id").is_in(list(check.cases)))
    frame = found.select("trace", "trace_id", "case_id")
    if _KEY in check.wanted.columns:
        wanted = _only(check.wanted, frame["case_id"])
        frame = frame.join(wanted, left_on="case_id", right_on=_KEY, how="left", maintain_order="left")
        no_case = pl.col("case_id").is_null()
        gap = (
            pl.when(no_case).then(pl.lit("the trace has no case_id")).otherwise(pl.lit("the case has no state object"))
        )
        unknown = pl.when(pl.col(_EXPECTED).is_null()).then(gap).otherwise(pl.col(_VACUOUS))
    else:
        frame = frame.join(check.wanted, how="cross")
        unknown = pl.col(_VACUOUS)
    rows = _only(check.rows, frame[check.key])
    frame = frame.join(rows, left_on=check.key, right_on=_KEY, how="left", maintain_order="left", coalesce=False)
    lost = pl.lit(f"the trace has no {check.key}")
    vacuous = pl.when(pl.col(check.key).is_null()).then(lost).otherwise(unknown)
    return frame.with_columns(vacuous.alias(_VACUOUS)).select(
        "trace",
        pl.lit(check.name).alias("check"),
        pl.when(pl.col(_VACUOUS).is_null()).then(_failure(check).is_null()).alias("passed"),
        pl.coalesce(_VACUOUS, _failure(check)).alias("reason"),
        pl.col(_OBSERVED).alias("observed"),
        pl.col(_EXPECTED).alias("expected"),
        pl.lit(order).alias("order"),
    )


def _only(frame: pl.DataFrame, keys: pl.Series) -> pl.DataFrame:
    """The rows with one of these keys: a batch is small, what the query returned may not be."""
    return frame.join(pl.DataFrame({_KEY: keys}), on=_KEY, how="semi")


def _failure(check: _Check) -> pl.Expr:
    """What is wrong with a trace's row; null where nothing is."""
    parts = []
    for column in check.columns:
        if f"={column}" in check.rows.columns:
            got, want = pl.col(f"={column}"), pl.col(f"?{column}")
            parts.append(pl.when(got != want).then(pl.format("{} is {}, not {}", pl.lit(column), got, want)))
    differs = pl.concat_str(parts, separator="; ", ignore_nulls=True) if parts else pl.lit("")
    return (
        pl.when(pl.col(_ROWS).is_null())
        .then(pl.lit(f"no row with this {check.key}"))
        .when(pl.col(_ROWS) > 1)
        .then(pl.format("{} rows with this {}, not one", _ROWS, pl.lit(check.key)))
        .when(differs != "")
        .then(differs)
    )
