"""Call tables: the same calls from Parquet, Arrow, Polars, pandas and DuckDB, together or not."""

import json
import random

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracelens.sources.tables.table as module
from tests.sources.reading import read, write
from tracelens.columns import ABSENT, JSON_STRING, NOT_CAPTURED
from tracelens.errors import InputError
from tracelens.sources.detect import open_input

ROWS = [
    {"trace_id": "a", "name": "find", "arguments": '{"q":1.0}', "call_id": "1", "status": "ok", "case_id": "c"},
    {"trace_id": "a", "name": "book", "arguments": None, "error": "boom"},
    {"trace_id": "a", "row": "expected", "name": "find", "arguments": "{}"},
    {"trace_id": "b", "row": "trace", "final_answer": "no", "tags": '{"x":1}', "complete": False},
    {"trace_id": "c", "name": None, "arguments": "", "status": "odd"},
    {"trace_id": "c", "row": "expected", "name": None, "reference_index": 0},
    {"trace_id": "c", "row": "expected", "name": "z", "reference_index": 2},
]
NAMES = list(dict.fromkeys(name for row in ROWS for name in row))
TABLE = pa.table({name: [row.get(name) for row in ROWS] for name in NAMES})


def parquet(folder, table, name="calls.parquet", **options):
    pq.write_table(table, folder / name, **options)
    return folder / name


def stripped(got):
    """Without what tells where rows came from."""
    traces = [{k: v for k, v in row.items() if k not in {"source", "record_hi", "record_lo"}} for row in got["traces"]]
    return traces, got["calls"], got["expected"]


def test_rows_make_traces_calls_and_references(tmp_path):
    got = read(parquet(tmp_path, TABLE))
    assert [(t["trace_id"], t["case_id"], t["final_answer"], t["complete"], t["tags"]) for t in got["traces"]] == [
        ("a", "c", None, None, None),
        ("b", None, "no", False, '{"x":1}'),
        ("c", None, None, None, None),
    ]
    assert [t["n_references"] for t in got["traces"]] == [1, None, 3]
    assert [(t["source"], t["line"]) for t in got["traces"]] == [
        ("calls.parquet", 1),
        ("calls.parquet", 4),
        ("calls.parquet", 5),
    ]
    calls = [
        (c["trace"], c["call_index"], c["name"], c["malformed"], c["arguments"], c["arguments_form"], c["status"])
        for c in got["calls"]
    ]
    assert calls == [
        (0, 0, "find", False, '{"q":1.0}', JSON_STRING, "ok"),
        (0, 1, "book", False, None, ABSENT, "error"),
        (2, 0, None, True, "", JSON_STRING, None),
    ]
    expected = [
        (e["trace"], e["reference_index"], e["expected_index"], e["name"], e["arguments_form"]) for e in got["expected"]
    ]
    assert expected == [(0, 0, 0, "find", JSON_STRING), (2, 2, 0, "z", ABSENT)]


def frames():
    relation = duckdb.from_arrow(TABLE) if hasattr(duckdb, "from_arrow") else duckdb.sql("select * from TABLE")
    return {
        "arrow": TABLE,
        "batch": TABLE.combine_chunks().to_batches()[0],
        "reader": TABLE.to_reader(max_chunksize=2),
        "dataset": ds.dataset(TABLE),
        "polars": pl.from_arrow(TABLE),
        "lazy": pl.from_arrow(TABLE).lazy(),
        "categorical": pl.from_arrow(TABLE).with_columns(pl.col("trace_id", "name").cast(pl.Categorical)),
        "pandas": pd.DataFrame(ROWS, columns=NAMES).convert_dtypes(),
        "duckdb": relation,
    }


@pytest.mark.parametrize("kind", list(frames()))
def test_every_kind_of_table_reads_the_same(tmp_path, kind):
    assert stripped(read(frames()[kind])) == stripped(read(parquet(tmp_path, TABLE)))


def test_order_follows_call_index_where_there_is_one():
    table = pa.table({"trace_id": ["a"] * 4, "name": ["x", "y", "z", "w"], "call_index": [2, None, 0, 1]})
    assert [c["name"] for c in read(table)["calls"]] == ["z", "w", "x", "y"]


def test_traces_that_are_not_together_are_gathered(tmp_path):
    rows = [(f"t{k % 40}", f"n{k}") for k in range(400)]
    order = list(dict.fromkeys(name for name, _ in rows))
    table = pa.table({"trace_id": [r[0] for r in rows], "name": [r[1] for r in rows]})
    for source in (table, table.to_reader(max_chunksize=30), parquet(tmp_path, table, row_group_size=50)):
        got = read(source, block_size=1 << 12)
        assert [t["trace_id"] for t in got["traces"]] == order
        assert [(order[c["trace"]], c["name"]) for c in got["calls"]] == sorted(rows, key=lambda r: order.index(r[0]))


def test_a_trace_over_two_files_is_one_trace(tmp_path):
    parquet(tmp_path, pa.table({"trace_id": ["a", "b"], "name": ["x", "y"]}), "1.parquet")
    parquet(tmp_path, pa.table({"trace_id": ["b", "c"], "name": ["z", "w"]}), "2.parquet")
    got = read(tmp_path)
    assert [(t["trace_id"], t["source"], t["line"]) for t in got["traces"]] == [
        ("a", "1.parquet", 1),
        ("b", "1.parquet", 2),
        ("c", "2.parquet", 2),
    ]
    assert [(c["trace"], c["name"]) for c in got["calls"]] == [(0, "x"), (1, "y"), (1, "z"), (2, "w")]
    assert len(got["records"]) == 2 * 16


def test_the_input_is_known_by_its_bytes_or_its_values(tmp_path):
    one = read(parquet(tmp_path, TABLE))["records"]
    assert one == read(parquet(tmp_path, TABLE, "again.parquet"), block_size=128)["records"]
    values = read(TABLE)["records"]
    assert values == read(pl.from_arrow(TABLE), block_size=128)["records"]
    assert (
        values != read(TABLE.set_column(1, "name", pa.array(["find", "book", "find", None, None, "q", "z"])))["records"]
    )


def test_ids_are_text_and_forms_may_be_given():
    table = pa.table(
        {
            "trace_id": [10, 10, 11],
            "name": ["a", "b", "c"],
            "arguments": [None, "x", "y"],
            "arguments_form": [NOT_CAPTURED, None, 4],
        }
    )
    got = read(table)
    assert [t["trace_id"] for t in got["traces"]] == ["10", "11"]
    assert [c["arguments_form"] for c in got["calls"]] == [NOT_CAPTURED, JSON_STRING, 4]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"name": ["a"]}, "no column 'trace_id'"),
        ({"trace_id": ["a"], "tool": ["x"]}, "no column 'name'"),
        ({"trace_id": ["a"], "name": ["x"], "arguments": [{"q": 1}]}, r"struct<q: int64>.*to_json\(column\)"),
        ({"trace_id": ["a"], "name": ["x"], "result": [[1]]}, "already lost"),
        ({"trace_id": [1.5], "name": ["x"]}, "cannot be read as text"),
        ({"trace_id": ["a"], "name": ["x"], "turn": [[1]]}, "cannot be read as whole"),
    ],
)
def test_tables_that_cannot_be_right_are_refused_with_a_remedy(columns, message):
    with pytest.raises(InputError, match=message):
        read(pa.table(columns))


def test_what_is_no_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="a dict is no input"):
        read({"trace_id": ["a"]})
    with pytest.raises(InputError, match="no column name and trace_id"):
        read(parquet(tmp_path, pa.table({"x": [1]})))
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(InputError, match="no readable Parquet file"):
        read(tmp_path / "broken.parquet")


def test_rows_that_cannot_be_placed_are_rejected():
    table = pa.table({"trace_id": ["a", None, "a"], "name": ["x", "y", "z"], "row": [None, None, "what"]})
    got = read(table)
    assert [c["name"] for c in got["calls"]] == ["x"]
    assert sorted((r["line"], r["reason"]) for r in got["rejects"]) == [
        (2, "there is no trace_id"),
        (3, "row is none of call, expected and trace"),
    ]


def test_times_are_instants_however_they_are_written():
    texts = ["2026-11-02T10:00:00Z", "2026-11-02T11:00:00+01:00", "junk"]
    got = read(pa.table({"trace_id": ["a"] * 3, "name": ["x"] * 3, "started_at": texts}))
    moments = [c["started_at"] for c in got["calls"]]
    assert moments[0] == moments[1]
    assert moments[2] is None
    stamps = pa.array([1793613600000] * 3, pa.timestamp("ms"))
    again = read(pa.table({"trace_id": ["a"] * 3, "name": ["x"] * 3, "started_at": stamps}))
    assert again["calls"][0]["started_at"] == moments[0]


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["call", "expected"])), max_size=40), st.integers(1, 9)
)
@settings(max_examples=30)
def test_blocks_change_nothing(rows, size):
    if not rows:
        return
    rows = sorted(rows, key=lambda row: row[0])
    table = pa.table(
        {"trace_id": [r[0] for r in rows], "row": [r[1] for r in rows], "name": [str(k) for k in range(len(rows))]}
    )
    assert read(table, block_size=128 * size) == read(table)


def test_native_lines_and_their_table_give_the_same_calls(tmp_path):
    random_ = random.Random(3)
    lines, rows = [], []
    for number in range(30):
        calls = [
            {"name": random_.choice("ab"), "arguments": json.dumps({"k": random_.random()})}
            for _ in range(random_.randint(1, 4))
        ]
        lines.append(json.dumps({"trace_id": f"t{number}", "tool_calls": calls}))
        rows += [{"trace_id": f"t{number}", **one} for one in calls]
    assert read(write(tmp_path, lines))["calls"] == read(pa.Table.from_pylist(rows))["calls"]


def test_blocks_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 10)
    table = pa.table({"trace_id": [f"t{k // 3}" for k in range(90)], "name": ["x"] * 90})
    blocks = list(module.CallTable().memory_blocks(table, module.Options()))
    assert len(blocks) > 5
    assert sum(block.rows.num_rows for block in blocks) == 90


def test_memory_does_not_grow_with_the_file(tmp_path):
    chance = random.Random(1)
    texts = [f'"{chance.randbytes(50).hex()}"' for _ in range(1 << 18)]
    table = pa.table({"trace_id": [str(k) for k in range(len(texts))], "name": ["f"] * len(texts), "arguments": texts})
    path = parquet(tmp_path, table, row_group_size=1 << 14, compression="none", use_dictionary=False)
    del table, texts
    before, most = pa.total_allocated_bytes(), 0
    for _ in open_input(path, "table", block_size=1 << 21).blocks():
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < path.stat().st_size
