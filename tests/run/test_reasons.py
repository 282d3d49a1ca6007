"""The reasons of a trace are those that plain Python reads from the other tables."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import tracelens as tl
from tests.run.random_traces import pairs_of_lists, table_of
from tracelens.run.details import SHOWN

SUITE: dict[str, Any] = {
    "name": "s",
    "tools": {"a": {"schema": {"properties": {"p": {"type": "integer"}}, "required": ["q"]}}, "b": {"known": True}},
    "thresholds": {"accuracy_optimal": 0.9, "f1": 1.0},
    "milestones": {"must_call": ["a"]},
}


def shown(value: str) -> str:
    return value if len(value) <= SHOWN else value[: SHOWN - 3] + "..."


def found(row: dict[str, Any]) -> str:
    place = ".".join(each for each in (row["tool"], row["path"]) if each)
    return f"{place}: {row['message']}" if place else row["message"]


def unpaired(row: dict[str, Any], calls: list[dict[str, Any]]) -> str | None:
    tool = row["tool"] or "a call without a name"
    if row["status"] == "missing":
        return f"expected call {row['expected_index']}: {tool} was not made"
    if row["status"] == "malformed":
        return f"call {row['call_index']}: malformed entry"
    if row["status"] != "extra":
        return None
    call = calls[row["call_index"]]
    key = ("tool", "digest_hi", "digest_lo")
    equal = [each for each in calls if [each[k] for k in key] == [call[k] for k in key]]
    again = equal[0] is not call and None not in [call[k] for k in key]
    repeats = f" repeats call {equal[0]['call_index']} and" if again else ""
    return f"call {row['call_index']}: {tool}{repeats} was not expected"


def differing(row: dict[str, Any]) -> str | None:
    place = f"call {row['call_index']}: " + ".".join(each for each in (row["tool"], row["path"]) if each)
    match row["status"]:
        case "differs":
            return f"{place} is {shown(row['actual'])}, expected {shown(row['expected'])}"
        case "missing":
            return f"{place} is missing, expected {shown(row['expected'])}"
        case "unexpected":
            return f"{place} = {shown(row['actual'])} was not expected"
        case "not_compared" if row["actual"] is not None:
            return f"{place}: arguments could not be compared"
    return None


def reasons(trace: dict[str, Any], tables: dict[str, list[dict[str, Any]]]) -> list[str]:
    """What went wrong, rung by rung."""
    said = [(row["rung"], found(row)) for row in tables["findings"] if row["severity"] == "error"]
    for name, least in sorted(SUITE["thresholds"].items()):
        if trace[name] is not None and trace[name] < least:
            score = pl.Series([trace[name]]).round(4).cast(pl.String)[0]
            said.append((4 if name == "accuracy_optimal" else 3, f"{name} is {score}, below {least:g}"))
    if any(rung >= 2 for rung, _ in said):
        for row in tables["pairs"]:
            leaves = [each for each in tables["argument_diffs"] if each["call_index"] == row["call_index"]]
            texts = [unpaired(row, tables["calls"]), *map(differing, leaves if row["status"] == "partial" else [])]
            said += [(2, text) for text in texts if text is not None]
    return list(dict.fromkeys(text for _, text in sorted(said, key=lambda each: each[0])))


@given(st.lists(pairs_of_lists(lost=True), min_size=1, max_size=12))
@settings(max_examples=12)
def test_reasons_are_what_the_tables_say(pairs):
    results = tl.score(table_of(pairs), SUITE, progress=False)
    names = ("findings", "pairs", "argument_diffs", "calls")
    rows = {name: getattr(results, name).rows_by_key("trace_id", named=True, include_key=True) for name in names}
    for trace in results.traces.iter_rows(named=True):
        tables = {name: rows[name].get(trace["trace_id"], []) for name in names}
        assert trace["reasons"] == reasons(trace, tables), trace["trace_id"]
