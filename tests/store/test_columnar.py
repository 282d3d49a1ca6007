import hashlib
import itertools

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.fake_run import frame
from tracelens import tables
from tracelens.errors import InternalError
from tracelens.store import columnar
from tracelens.store.categories import as_categories, canonical
from tracelens.store.columnar import TableWriter
from tracelens.store.sizes import LONG, text_bytes, text_total

TOOLS = ["search", "book", "für", "", None]
ROWS = [
    {"trace_id": f"t{i // 3}", "pairing": "optimal", "call_index": i % 3, "tool": TOOLS[i % 5], "status": "exact"}
    | {"agreement": None if i % 4 else i / 100}
    for i in range(100)
]


def written(path, name, frames):
    writer = TableWriter(path, name)
    for each in frames:
        writer.write(each)
    return writer.close()


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def small_groups(monkeypatch):
    monkeypatch.setattr(columnar, "ROWS", 7)


@settings(max_examples=40, deadline=None)
@given(sizes=st.lists(st.integers(0, 40), min_size=1, max_size=8), forms=st.lists(st.integers(0, 3), min_size=9))
def test_bytes_depend_on_the_rows_alone(tmp_path_factory, sizes, forms):
    folder = tmp_path_factory.mktemp("x")
    whole = frame("pairs", *ROWS)
    cuts = [min(sum(sizes[:i]), 100) for i in range(len(sizes) + 1)] + [100]
    parts = [_form(whole[a:b], form) for a, b, form in zip(cuts, cuts[1:], forms, strict=False)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columnar, "ROWS", 7)
        assert written(folder / "whole", "pairs", [whole]) == written(folder / "parts", "pairs", parts) == 100
    assert digest(folder / "whole") == digest(folder / "parts")


def _form(part, form):
    if form == 0:
        return part.with_columns(pl.col("tool", "status").cast(pl.Categorical))
    if form == 1:
        return part.select(reversed(part.columns)).to_arrow()
    if form == 2:
        return pa.concat_tables([part[:3].to_arrow(), part[3:].to_arrow()])
    return part.with_columns(pl.col("status").cast(pl.Enum(["partial", "exact"])))


def test_parts_of_a_full_row_group_do_not_show(tmp_path):
    random = np.random.default_rng(5)
    lines = random.integers(-(2**62), 2**62, columnar.ROWS + 7)
    texts = [f"reason {line % 99991}" for line in lines]
    known = {"source": ["a"] * lines.size, "line": lines, "offset": random.permutation(lines)}
    rows = pl.DataFrame(known | {"reason": texts, "text": texts[::-1]})
    cuts = [0, 5, 40_000, 40_001, 100_003, lines.size]
    written(tmp_path / "x", "rejects", [rows])
    written(tmp_path / "y", "rejects", [rows[a:b] for a, b in itertools.pairwise(cuts)])
    assert digest(tmp_path / "x") == digest(tmp_path / "y")


def test_rows_come_back_as_they_went_in(tmp_path, small_groups):
    written(tmp_path / "x", "pairs", [frame("pairs", *ROWS)])
    assert pl.read_parquet(tmp_path / "x").equals(frame("pairs", *ROWS))
    file = pq.ParquetFile(tmp_path / "x")
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [7] * 14 + [2]


def test_long_texts_end_a_row_group_early(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "TEXT_BYTES", 1000)
    rows = [{"source": "a", "line": i, "reason": "cut", "text": "é" * (600 if i == 3 else 10)} for i in range(60)]
    written(tmp_path / "x", "rejects", [frame("rejects", *rows)])
    written(tmp_path / "y", "rejects", [frame("rejects", *rows[:2]), frame("rejects", *rows[2:])])
    file = pq.ParquetFile(tmp_path / "x")
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [4, 44, 12]
    assert digest(tmp_path / "x") == digest(tmp_path / "y")


def test_an_empty_table_keeps_its_columns(tmp_path):
    for name in tables.STORED_TABLES:
        assert written(tmp_path / name, name, []) == 0
        found = pl.read_parquet(tmp_path / name)
        assert found.schema == tables.polars_schema(name, without=("run_id",))


def test_a_frame_that_breaks_the_contract_is_refused(tmp_path):
    writer = TableWriter(tmp_path / "x", "pairs")
    with pytest.raises(InternalError, match="column 'status' is absent"):
        writer.write(frame("pairs", *ROWS).drop("status"))
    writer.abandon()


def test_extra_columns_of_dialects(tmp_path):
    writer = TableWriter(tmp_path / "x", "traces", extra=("article__strict",))
    writer.write(frame("traces", {"trace_id": "a"}).with_columns(pl.lit(0.5).alias("article__strict")))
    writer.close()
    assert pl.read_parquet(tmp_path / "x")["article__strict"].to_list() == [0.5]


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(["b", "a", "ä", "", None]), max_size=6), max_size=5))
def test_canonical_categories_keep_the_values_and_sort_the_dictionary(parts):
    chunks = [as_categories(pa.array(part, pa.string())) for part in parts]
    column = pa.chunked_array(chunks, type=pa.dictionary(pa.int32(), pa.large_string()))
    whole = canonical(column)
    flat = [value for part in parts for value in part]
    assert whole.to_pylist() == flat
    assert whole.dictionary.to_pylist() == sorted({value for value in flat if value is not None}, key=str.encode)


@settings(deadline=None)
@given(st.lists(st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=3), max_size=8), st.integers(0, 8))
def test_text_bytes_counts_every_kind_of_text(rows, start):
    rows = [[text and text * 40 for text in row] for row in rows]
    lists = pa.array(rows, pa.large_list(pa.large_string()))
    first = pa.array([row[0] if row else None for row in rows], pa.large_string())
    table = pa.table({"l": lists, "s": first, "d": as_categories(first), "n": pa.array([1] * len(rows), pa.int64())})
    sizes = [[len((text or "").encode()) for text in row] for row in rows]
    wanted = [sum(row) + sum(row[:1]) + sum(size for size in row[:1] if size >= LONG) for row in sizes]
    assert text_bytes(table).tolist() == wanted
    assert text_bytes(table.slice(start)).tolist() == wanted[start:]
    assert text_total(table.slice(start)) == sum(wanted[start:])


def test_a_wide_table_has_shorter_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "WIDE_ROWS", 3)
    written(tmp_path / "x", "traces", [frame("traces", *[{"trace_id": f"t{i}"} for i in range(7)])])
    assert [pq.ParquetFile(tmp_path / "x").metadata.row_group(i).num_rows for i in range(3)] == [3, 3, 1]
