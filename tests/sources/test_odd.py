"""Odd values of records: null, and reported with their number and first place, in every format."""

from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tracelens as tl
from tests.sources.reading import read, write
from tracelens.errors import InputError
from tracelens.run import score_run
from tracelens.sources.tables.table_columns import CHECKED, KNOWN

GOOD = {"turn": 1, "depth": 1, "duration_ms": 2.5, "started_at": "2026-11-02T10:00:00Z", "status": "ok", "agent": "a"}
ODD_OF_CALL = {
    "turn": [2**40, -1, 1.5, "1", True, 1e300, [], 2**31],
    "depth": [2**40, -1, 0.5, "1", False, {}],
    "duration_ms": [1e16, -1, 1e300, "12", True, [1]],
    "started_at": ["yesterday", 1793613600, "2026-13-01", "0001-01-01T00:00:00+23:00", {}],
    "status": ["done", "OK", 1, True],
    "agent": [5, ["a"]],
    "call_id": [True, {}],
}
ODD_OF_TRACE = {
    "started_at": ["x", 5],
    "complete": ["false", 0],
    "agent": [1],
    "session_id": [[]],
    "tools": [7],
    "usage": ["none", 5, []],
}
TOKENS = ("llm_calls", "input_tokens", "output_tokens")
ODD_OF_USAGE = {
    **{name: ["3", -1, 2**63, 1e30, 0.5, True] for name in TOKENS},
    "cost": ["0.1", -0.5, True, []],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in ODD_OF_CALL.items() for value in values], ids=str
)
def test_an_odd_value_of_a_call_is_null_and_reported(tmp_path, name, value):
    calls = [{"name": "f", **GOOD}, {"name": "f", **GOOD, name: value}, {"name": "g", **GOOD, name: value}]
    got = read(write(tmp_path, [json.dumps({"tool_calls": []}), json.dumps({"trace_id": "t", "tool_calls": calls})]))
    absent = 0 if name == "depth" else None
    assert [row[name] for row in got["calls"][1:]] == [absent, absent]
    assert got["calls"][0].get(name) is not None or name == "call_id"
    ((text, said),) = got["remarks"].items()
    assert text.startswith(f"a call's {name} is n")
    assert said == (2, "traces.jsonl:2, call 1")


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in ODD_OF_TRACE.items() for value in values], ids=str
)
def test_an_odd_value_of_a_trace_is_null_and_reported(tmp_path, name, value):
    got = read(write(tmp_path, [json.dumps({"tool_calls": [], name: value})]))
    assert got["traces"][0].get(name) is None
    ((text, said),) = got["remarks"].items()
    assert text.startswith(f"a trace's {name} is n")
    assert said == (1, "traces.jsonl:1")


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in ODD_OF_USAGE.items() for value in values], ids=str
)
def test_odd_usage_is_null_and_reported(tmp_path, name, value):
    rows = [{"tool_calls": [], "usage": {name: value}}, {"tool_calls": [], "usage": {name: 5}}]
    for text in (map(json.dumps, rows), [json.dumps(rows)]):
        got = read(write(tmp_path, text))
        assert [row[name] for row in got["traces"]] == [None, 5]
        ((said, (count, _)),) = got["remarks"].items()
        assert said.startswith(f"a trace's {name} is no")
        assert count == 1


def test_the_place_in_an_array_is_an_index(tmp_path):
    rows = [{"tool_calls": []}, {"tool_calls": [{"name": "f", "turn": -1}]}]
    assert [place for _, place in read(write(tmp_path, [json.dumps(rows)]))["remarks"].values()] == [
        "traces.jsonl[1], call 0"
    ]


def test_null_and_absent_values_are_nothing_to_report(tmp_path):
    empty = dict.fromkeys([*GOOD, "call_id"])
    rows = [
        {"tool_calls": [{"name": "f", **empty}, {"name": "f", **GOOD}], "usage": None, "complete": None},
        {"tool_calls": [], "usage": {"cost": None, "llm_calls": 0}, "complete": True, "agent": None},
        {"messages": [{"role": "tool", "content": "x", "status": "success"}, {"role": "user", "status": "odd"}]},
    ]
    for row in rows:
        assert read(write(tmp_path, [json.dumps(row)]))["remarks"] == {}


def test_what_results_of_conversations_say_of_success(tmp_path):
    messages = [{"role": "assistant", "content": "x"}, {"role": "tool", "content": "x", "status": "failed"}]
    messages += [{"role": "tool", "content": "x", "is_error": "yes"}]
    got = read(write(tmp_path, [json.dumps({"messages": messages, "usage": {"cost": -1}})]))
    assert {text.split(" is ")[0]: said for text, said in got["remarks"].items()} == {
        "a trace's cost": (1, "traces.jsonl:1"),
        "a message's is_error": (1, "traces.jsonl:1, message 2"),
        "a message's status": (1, "traces.jsonl:1, message 1"),
    }


BIG = pa.array([2**63, 1, None], pa.uint64())
ODD_OF_TABLE = {
    **{name: [[2**40, 1, None], [-1, 1, None], [1.5, 1.0, None], ["x", "1", None], BIG] for name in ("turn", "depth")},
    **{name: [[-1, 1, None], [float("inf"), 1.0, None], BIG] for name in TOKENS},
    "duration_ms": [
        [float("inf"), 1, None],
        [float("nan"), 1, None],
        [1e300, 1, None],
        [-1, 1, None],
        ["x", "1", None],
    ],
    "cost": [[float("inf"), 1, None], [float("nan"), 1, None], [-1, 1, None], ["inf", "1", None]],
    "started_at": [["junk", "2026-11-02", None], pa.array([2**53, 0, None], pa.timestamp("s"))],
    "trace_started_at": [["junk", "2026-11-02", None], pa.array([2**55, 0, None], pa.timestamp("ms"))],
    "complete": [["maybe", "true", None], [2, 1, None], [0.5, 1.0, None]],
    "has_calls": [["maybe", "true", None]],
    "malformed": [["maybe", "true", None]],
    "status": [["done", "ok", None]],
    "arguments_form": [[200, 3, None], [-1, 3, None]],
    "call_index": [[1.5, 1.0, None], ["x", "1", None]],
    "n_references": [[2**40, 1, None], [-1, 1, None]],
}


@pytest.mark.parametrize(
    ("name", "values"), [(name, values) for name, each in ODD_OF_TABLE.items() for values in each], ids=str
)
def test_an_odd_value_of_a_table_is_null_and_reported(tmp_path, name, values):
    values = values if isinstance(values, pa.Array) else pa.array(values)
    table = pa.table({"trace_id": ["a", "b", "c"], "name": ["f"] * 3, name: values})
    for source in (table, _parquet(tmp_path, table)):
        got = read(source, block_size=128)
        ((text, said),) = got["remarks"].items()
        assert text.startswith(f"a value of the column {name} is n")
        assert said == (1, f"row 1 of {'table' if source is table else 'calls.parquet'}")
    good = table.set_column(2, name, pa.array([None, values[1], None], values.type))
    assert read(good)["remarks"] == {}
    assert [row["trace_id"] for row in read(table)["traces"]] == ["a", "b", "c"]


def _parquet(folder, table):
    pq.write_table(table, folder / "calls.parquet")
    return folder / "calls.parquet"


def test_every_column_of_a_table_that_may_be_odd_is_tried():
    assert set(ODD_OF_TABLE) | {"reference_index"} == set(CHECKED)


def test_an_expected_call_of_no_reference_is_rejected_with_its_trace():
    table = pa.table(
        {"trace_id": ["a", "a", "b"], "name": ["f"] * 3, "row": ["call", "expected", "call"]}
        | {"reference_index": [None, 2**40, None]}
    )
    got = read(table)
    assert [row["trace_id"] for row in got["traces"]] == ["b"]
    assert [(row["line"], row["reason"]) for row in got["rejects"]] == [
        (2, "reference_index is no whole number from 0 to 9,999")
    ]


def test_more_references_than_rows_tell_are_empty_and_none_is_none():
    table = pa.table({"trace_id": ["a", "b"], "name": ["f"] * 2, "n_references": [2, 0]})
    assert [row["n_references"] for row in read(table)["traces"]] == [2, None]
    rows = pa.table(
        {"trace_id": ["a"] * 2, "name": ["f"] * 2, "row": ["trace", "expected"], "n_references": [1, None]}
        | {"reference_index": [None, 2]}
    )
    assert [row["n_references"] for row in read(rows)["traces"]] == [3]


def test_columns_that_are_not_read_are_named():
    table = pa.table(
        {"trace_id": ["a"], "name": ["f"], "expected": ["[]"], "usage": ["{}"], "argumnets": ["{}"], "x": [1]}
    )
    notes = read(table)["notes"]
    assert notes == [
        "columns that are not read: 'x'",
        "the column 'argumnets' is not read; did you mean 'arguments'?",
        "the column 'expected' is not read; give every expected call a row of its own, with row = 'expected'",
        "the column 'usage' is not read; give llm_calls, input_tokens, output_tokens and cost as columns",
    ]
    assert read(pl.DataFrame(table))["notes"] == notes
    assert read(pa.table({name: pa.nulls(1) for name in KNOWN} | {"trace_id": ["a"]}))["notes"] == []


def test_missing_ids_of_pandas_are_missing():
    frame = pd.DataFrame({"trace_id": ["a", "b"], "name": ["f", "g"], "case_id": [1, float("nan")]})
    assert [row["case_id"] for row in read(frame)["traces"]] == ["1", None]
    frame["case_id"] = ["c", float("nan")]
    assert [row["case_id"] for row in read(frame.set_index(pd.Index([5, 7])))["traces"]] == ["c", None]
    assert read(frame.set_index(pd.Index([5, 7])))["notes"] == []
    nan = pa.table({"trace_id": ["a", "b"], "name": ["f", "g"], "case_id": [1.0, float("nan")]})
    assert [row["case_id"] for row in read(nan)["traces"]] == ["1", None]
    with pytest.raises(InputError, match="give each column one type"):
        read(pd.DataFrame({"trace_id": [1, "b"], "name": ["f", "g"]}))


def test_a_run_says_what_was_odd_however_it_is_read(tmp_path):
    calls = [{"name": "f", "turn": 2**40, "duration_ms": 1e16}]
    rows = [json.dumps({"trace_id": str(n), "tool_calls": calls, "usage": {"cost": "x"}}) for n in range(400)]
    path = write(tmp_path, [*rows, rows[0]])
    found = []
    for size in (1 << 12, 1 << 22):
        run = score_run(path, tl.Suite.default(), out=tmp_path / str(size), block_size=size)
        found.append(tl.open_results(run).runs["notes"][0].to_list())
    assert found[0] == found[1]
    where = "(401 times, first at traces.jsonl:1"
    assert found[0] == [
        f"a trace's cost is no finite number of at least 0 and is read as not given {where})",
        f"a call's turn is no whole number from 0 to 2,147,483,647 and is read as not given {where}, call 0)",
        f"a call's duration_ms is no finite number from 0 to 1e+14 and is read as not given {where}, call 0)",
        "1 record merged, equal to an earlier one of the same trace_id",
    ]
