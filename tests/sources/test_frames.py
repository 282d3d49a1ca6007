"""Exports of backends as Parquet, and their frames in memory: the same calls as out of their JSON."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tracelens as tl
from tests.sources.frame_writers import FRAMES, langsmith_table, phoenix_table
from tests.sources.reading import read
from tests.sources.test_backends import TRACE, check
from tracelens.columns import JSON_STRING
from tracelens.errors import InputError
from tracelens.sources.detect import open_input
from tracelens.sources.frames import ROWS

OTHER = {**TRACE, "id": "f" * 32, "turns": TRACE["turns"][:2], "answer": "Another."}


def both(form):
    """Two traces, their rows mixed."""
    table = pa.concat_tables([FRAMES[form](TRACE, 1), FRAMES[form](OTHER, 2)], promote_options="default")
    return table.take(pa.array(np.random.default_rng(4).permutation(table.num_rows)))


def one(got, answer):
    (trace,) = [row["trace"] for row in got["traces"] if row["final_answer"] == answer]
    return {**got, "calls": [row for row in got["calls"] if row["trace"] == trace]}


@pytest.mark.parametrize("form", FRAMES)
def test_a_file_and_a_frame_give_the_calls_of_the_format(tmp_path, form):
    table = both(form)
    path = tmp_path / "export.parquet"
    pq.write_table(table, path, row_group_size=5)
    others = (table, table.to_pandas()) if form == "langsmith-parquet" else ()
    for source in (path, pl.from_arrow(table).lazy(), *others):
        assert open_input(source).format_name == form
        got = read(source, block_size=3000)
        check(form, TRACE, one(got, TRACE["answer"]))
        check(form, OTHER, one(got, OTHER["answer"]))
        assert not got["rejects"]
        assert [row["source"] for row in got["traces"]] == ["export.parquet" if source is path else "table"] * 2


def test_a_frame_is_scored(tmp_path):
    suite = {"name": "desk", "invariants": {"max_errors": 0}}
    results = tl.score(langsmith_table(TRACE), suite=tl.Suite.from_dict(suite), out=tmp_path / "run")
    assert results.traces["n_calls"].to_list() == [5]
    assert results.traces["n_errors"].to_list() == [1]


def test_text_that_is_no_strict_json_spoils_nothing():
    rows = langsmith_table(TRACE).to_pylist()
    tool = next(k for k, row in enumerate(rows) if row["run_type"] == "tool")
    for text in ('{"topic": NaN}', '{"topic": 1e999}', '{"topic": "moss"', '{"topic": "\\ud83d"}'):
        rows[tool]["inputs"] = text
        got = read(pa.Table.from_pylist(rows))
        assert not got["rejects"]
        assert (got["calls"][0]["arguments"], got["calls"][0]["arguments_form"]) == (text, JSON_STRING)


def test_null_members_of_structs_are_padding():
    rows = [
        {"run_type": "chain", "id": "r", "trace_id": "t", "parent_run_id": None, "inputs": {"q": "?", "a": None}},
        {"run_type": "tool", "id": "x", "trace_id": "t", "parent_run_id": "r", "inputs": {"q": None, "a": [1]}},
    ]
    got = read(pa.Table.from_pylist([{**row, "name": "look"} for row in rows]))
    assert [json.loads(row["arguments"]) for row in got["calls"]] == [{"a": [1]}]


def test_traces_of_mlflow_come_without_the_column_that_holds_them_whole(tmp_path):
    (record,) = [json.loads(row["trace"]) for row in FRAMES["mlflow-parquet"](TRACE).to_pylist()]
    info = {name: record["info"].get(name) for name in ("trace_metadata", "tags", "state")}
    row = {"trace_id": TRACE["id"], "request": "…", "response": "…", "spans": record["data"]["spans"], **info}
    texts = {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in row.items()}
    for form in (row, texts):
        path = tmp_path / "export.parquet"
        pq.write_table(pa.Table.from_pylist([form]), path)
        assert open_input(path).format_name == "mlflow-parquet"
        got = read(path)
        check("mlflow-parquet", TRACE, got)
        (trace,) = got["traces"]
        assert (trace["trace_id"], trace["session_id"], trace["case_id"]) == (TRACE["id"], "visit-7", "lend-1")
    assert got["rejects"] == []


def test_rows_become_lines_a_part_at_a_time_and_keep_their_text():
    rows = langsmith_table(TRACE).to_pylist()
    tool = next(k for k, row in enumerate(rows) if row["run_type"] == "tool")
    rows[tool] |= {"inputs": '{\n "topic": 1.0,\r\n "n": 12345678901234567890}', "name": 'find "a"\\b\n\x01'}
    table = pa.Table.from_pylist(rows * 300)
    assert table.num_rows > ROWS
    got = read(table, block_size=1 << 16)
    assert got["calls"][0]["arguments"] == '{  "topic": 1.0,   "n": 12345678901234567890}'
    assert 'find "a"\\b\n\x01' in {span["name"] for span in got["spans"]}
    assert got["n_records"] == table.num_rows
    assert got["n_merged"] == table.num_rows - len(rows)


def test_a_frame_without_its_columns_is_refused(tmp_path):
    path = tmp_path / "spans.parquet"
    pq.write_table(phoenix_table(TRACE).drop_columns(["context.trace_id"]), path)
    with pytest.raises(InputError, match="looks like phoenix-parquet"):
        read(path)
    with pytest.raises(InputError, match=r"there is no column 'context\.trace_id'"):
        read(path, "phoenix-parquet")
    path.write_bytes(b"PAR1" + path.read_bytes()[4:90])
    with pytest.raises(InputError, match="no readable Parquet file"):
        read(path, "phoenix-parquet")


def test_a_frame_that_arrow_cannot_hold_is_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"trace_id": ["t", "t"], "run_type": ["tool", "tool"], "inputs": [{"a": 1}, "text"]})
    with pytest.raises(InputError, match="cannot be read as Arrow"):
        read(frame)
