"""The table of readers: copies of samples are traces of their own, and every floor that is there gets a turn."""

import pytest

from benchmarks.readers import READERS, measured, read, table, write_copies


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)
def test_copies_are_traces_of_their_own(tmp_path, reader):
    path = tmp_path / "copies.jsonl"
    size = write_copies(reader, path, 30_000)
    assert size == path.stat().st_size >= 30_000
    assert read(path, reader.format) > 10


def test_a_row_a_format(tmp_path):
    (otlp,) = (reader for reader in READERS if reader.format == "otlp")
    figures = {"otlp": measured(otlp, tmp_path, 20_000, 1)}
    assert {"tracelens", "orjson", "pyarrow", "duckdb"} <= figures["otlp"].keys()
    assert [line.split(" | ")[0] for line in table(figures)][-1] == "| `otlp`"
