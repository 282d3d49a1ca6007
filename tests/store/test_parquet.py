import datetime as dt
import functools
import math
import struct

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens.errors import InternalError
from tracelens.store import encode
from tracelens.store.categories import as_categories
from tracelens.store.encode import encode_categories, encode_lists, encode_numbers, encode_runs, encode_texts
from tracelens.store.parquet import ParquetWriter

TEXT = pa.large_string()
TEXTS = st.one_of(st.sampled_from(["", "a", "b", "für", "x" * 90]), st.text(max_size=12))
NUMBERS = {
    pa.bool_(): st.booleans(),
    pa.int8(): st.integers(-128, 127),
    pa.uint8(): st.integers(0, 255),
    pa.int32(): st.one_of(st.integers(0, 4), st.integers(-(2**31), 2**31 - 1)),
    pa.uint32(): st.one_of(st.integers(0, 4), st.integers(0, 2**32 - 1)),
    pa.int64(): st.one_of(st.integers(0, 4), st.integers(-(2**63), 2**63 - 1)),
    pa.uint64(): st.one_of(st.integers(0, 4), st.integers(0, 2**64 - 1)),
    pa.float64(): st.one_of(st.sampled_from([0.0, -0.0, 0.5, 1.0]), st.floats(allow_nan=False)),
    pa.date32(): st.dates(),
    pa.timestamp("us", tz="UTC"): st.datetimes(
        dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1), timezones=st.just(dt.UTC)
    ),
}


def parts_of(values, kind, sizes, build=None):
    """The values as arrays of these sizes, each a slice with something before and behind."""
    out, at = [], 0
    for size in [*sizes, len(values)]:
        part = values[at : at + size]
        at += size
        if part:
            whole = pa.array([part[0], *part, part[-1]], kind)
            out.append((build(whole) if build else whole).slice(1, len(part)))
    return out


def written(path, field, encoded, rows):
    writer = ParquetWriter(path, pa.schema([field]))
    writer.write_group(rows, [encoded])
    writer.close()
    return path


@functools.cache
def connection():
    found = duckdb.connect()
    found.execute("SET TimeZone = 'UTC'; SET threads = 1; SET enable_external_file_cache = false")
    return found


def readers(path):
    """The column as PyArrow, Polars and DuckDB read it."""
    arrow = pq.read_table(path).column(0)
    duck = connection().sql(f"FROM read_parquet('{path}')").to_arrow_table().column(0)
    return arrow.to_pylist(), pl.read_parquet(path).to_series().to_list(), duck.to_pylist()


def agree(path, values):
    for name, found in zip(("PyArrow", "Polars", "DuckDB"), readers(path), strict=True):
        assert found == values, name
        if any(isinstance(value, float) for value in values):
            signs = [math.copysign(1, value) for value in values if value is not None]
            assert [math.copysign(1, value) for value in found if value is not None] == signs


SIZES = st.lists(st.integers(1, 20), max_size=3)


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_numbers_come_back(tmp_path, kind):
    @given(st.lists(st.one_of(st.none(), NUMBERS[kind]), min_size=1, max_size=60), SIZES, st.integers(1, 8))
    @settings(max_examples=25, deadline=None)
    def check(values, sizes, times):
        values = values * times  # so that dictionaries pay
        encoded = encode_numbers(parts_of(values, kind, sizes), nullable=True)
        agree(written(tmp_path / "x", pa.field("c", kind), encoded, len(values)), values)
        there = [value for value in values if value is not None]
        if there:
            again = encode_numbers(parts_of(there, kind, sizes), nullable=False)
            agree(written(tmp_path / "y", pa.field("c", kind, nullable=False), again, len(there)), there)

    check()


@pytest.mark.parametrize("how", ["texts", "categories", "runs", "coded runs"])
def test_texts_come_back(tmp_path, how, monkeypatch):
    monkeypatch.setattr(encode, "PAGE", 200)
    nullable = how in {"texts", "categories"}
    value = st.one_of(st.none(), TEXTS) if nullable else TEXTS

    @given(st.lists(st.tuples(value, st.integers(1, 9)), min_size=1, max_size=20), SIZES)
    @settings(max_examples=40, deadline=None)
    def check(runs, sizes):
        values = [text for text, length in runs for _ in range(length)]
        build = as_categories if how in {"categories", "coded runs"} else None
        arrays = parts_of(values, TEXT, sizes, build)
        if how == "texts":
            encoded = encode_texts(arrays, nullable=True, codec="snappy")
        else:
            encoded = encode_categories(arrays, nullable=True) if nullable else encode_runs(arrays, limits=True)
        agree(written(tmp_path / "x", pa.field("c", TEXT, nullable=nullable), encoded, len(values)), values)

    check()


@given(st.lists(st.lists(st.one_of(st.none(), TEXTS), max_size=4), min_size=1, max_size=30), SIZES)
@settings(max_examples=40, deadline=None)
def test_lists_come_back(tmp_path_factory, values, sizes):
    kind = pa.large_list(TEXT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encode, "PAGE", 100)
        encoded = encode_lists(parts_of(values, kind, sizes), codec="snappy")
        path = tmp_path_factory.mktemp("lists") / "x"
        agree(written(path, pa.field("c", kind, nullable=False), encoded, len(values)), values)


def test_a_list_may_not_be_null(tmp_path):
    with pytest.raises(InternalError, match="a list may not be null"):
        ParquetWriter(tmp_path / "x", pa.schema([("c", pa.large_list(TEXT))]))


def test_types_limits_and_encodings_stand_in_the_metadata(tmp_path):
    when = dt.datetime(2026, 11, 2, tzinfo=dt.UTC)
    ids = as_categories(pa.array(["b"] * 5 + ["a"] * 5 + ["c"] * 5, TEXT))
    times = pa.array([when, None, when + dt.timedelta(days=1)] * 5, pa.timestamp("us", tz="UTC"))
    counts = pa.array(range(15), pa.uint8())
    fields = [pa.field("trace_id", TEXT, nullable=False), pa.field("at", times.type), pa.field("n", counts.type)]
    writer = ParquetWriter(tmp_path / "x", pa.schema(fields))
    columns = [
        encode_runs([ids], limits=True),
        encode_numbers([times], nullable=True, limits=True),
        encode_numbers([counts], nullable=True),
    ]
    writer.write_group(15, columns)
    writer.close()
    file = pq.ParquetFile(tmp_path / "x")
    first, second, third = (file.metadata.row_group(0).column(i) for i in range(3))
    assert (first.statistics.min, first.statistics.max, first.statistics.null_count) == ("a", "c", 0)
    assert (second.statistics.min, second.statistics.null_count) == (when, 5)
    assert "RLE_DICTIONARY" in first.encodings
    assert "RLE_DICTIONARY" in second.encodings
    assert third.encodings == ("PLAIN", "RLE")
    assert third.statistics is None
    assert file.schema_arrow.types == [pa.string(), times.type, pa.uint8()]
    assert [field.nullable for field in file.schema_arrow] == [False, True, True]
    assert file.metadata.row_group(0).num_rows == 15


def test_texts_are_cut_into_pages_and_compressed(tmp_path):
    texts = pa.array([f"text number {i} " * 3 for i in range(40_000)], TEXT)
    encoded = encode_texts([texts], nullable=False, codec="snappy")
    *pages, last = [len(page.body) for page in encoded.pages]
    assert len(pages) > 5
    assert all(encode.PAGE <= size < encode.PAGE + 100 for size in pages)
    assert last < encode.PAGE
    encoded = encode_texts([texts], nullable=False, codec="snappy")
    path = written(tmp_path / "x", pa.field("c", TEXT, nullable=False), encoded, len(texts))
    assert path.stat().st_size < texts.nbytes / 3
    agree(path, texts.to_pylist())
    found = pq.ParquetFile(path).metadata.row_group(0).column(0)
    assert (found.compression, found.total_compressed_size < found.total_uncompressed_size) == ("SNAPPY", True)


def test_many_distinct_numbers_have_no_dictionary(tmp_path):
    values = np.arange(20_000).repeat(3)
    kind = pa.int32()
    encoded = encode_numbers([pa.array(values, kind)], nullable=False)
    assert encoded.encodings == (0, 3)
    agree(written(tmp_path / "x", pa.field("c", kind, nullable=False), encoded, values.size), values.tolist())


def test_what_lies_below_a_null_is_not_written(tmp_path):
    def hidden(values, buffer_type):
        mask = pa.array([True, False, True]).buffers()[1]
        return pa.Array.from_buffers(buffer_type, 3, [mask, *values.buffers()[1:]])

    for junk in (7, 9):
        numbers = hidden(pa.array([1, junk, 1], pa.int64()), pa.int64())
        texts = hidden(pa.array(["a", "junk" * junk, "b"], TEXT), TEXT)
        columns = [encode_numbers([numbers], nullable=True), encode_texts([texts], nullable=True, codec="snappy")]
        writer = ParquetWriter(tmp_path / str(junk), pa.schema([("n", pa.int64()), ("t", TEXT)]))
        writer.write_group(3, columns)
        writer.close()
    assert (tmp_path / "7").read_bytes() == (tmp_path / "9").read_bytes()


def test_the_file_ends_as_the_format_says(tmp_path):
    path = tmp_path / "x"
    encoded = encode_numbers([pa.array([1, 2], pa.int32())], nullable=False)
    data = written(path, pa.field("c", pa.int32(), nullable=False), encoded, 2).read_bytes()
    (length,) = struct.unpack("<I", data[-8:-4])
    assert (data[:4], data[-4:]) == (b"PAR1", b"PAR1")
    assert pq.read_metadata(path).serialized_size == length
