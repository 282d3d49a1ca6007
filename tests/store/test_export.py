import duckdb
import polars as pl
import pytest

from tests.store.fake_run import fake_run
from tracelens.errors import StoreError, UsageError
from tracelens.store import connect, export
from tracelens.tables import QUERIED_TABLES


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fake_run(folder, "aa")
    fake_run(folder, "bb", 2)
    return folder


def test_one_duckdb_file_holds_tables_views_macros_and_comments(results, tmp_path):
    (file,) = export(results, tmp_path / "out.duckdb")
    assert [each.name for each in tmp_path.iterdir()] == ["out.duckdb"]
    with duckdb.connect(str(file), read_only=True) as copy, connect(results) as live:
        views = live.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = 'main'")
        for (view,) in views.fetchall():
            query = f"SELECT * FROM {view} ORDER BY ALL"
            assert copy.execute(query).fetchall() == live.execute(query).fetchall()
        macros = "SELECT function_name FROM duckdb_functions() WHERE NOT internal ORDER BY ALL"
        assert copy.execute(macros).fetchall() == live.execute(macros).fetchall()
        missing = copy.execute("SELECT * FROM duckdb_columns() WHERE NOT internal AND comment IS NULL").fetchall()
        assert missing == []


def test_the_file_says_its_storage_version(results, tmp_path):
    (file,) = export(results, tmp_path / "out.duckdb")
    with duckdb.connect() as other:
        other.execute(f"ATTACH '{file}' AS copy (READ_ONLY)")
        tags = other.execute("SELECT tags FROM duckdb_databases() WHERE database_name = 'copy'").fetchone()[0]
    assert tags["storage_version"].startswith("v1.5.0")


@pytest.mark.parametrize(("form", "read"), [("csv", pl.read_csv), ("parquet", pl.read_parquet), ("arrow", pl.read_ipc)])
def test_one_file_a_table(results, tmp_path, form, read):
    files = export(results, tmp_path / "out", form=form, names=("traces", "calls", "tool_scores"))
    assert [each.name for each in files] == [f"traces.{form}", f"calls.{form}", f"tool_scores.{form}"] or form == "csv"
    assert [read(each).height for each in files[1:]] == [9, 4]


def test_a_list_column_reaches_csv_as_text(results, tmp_path):
    (file,) = export(results, tmp_path, form="csv", names=("traces",))
    assert "search_flights: date differs" in file.read_text()


def test_all_tables_by_default(results, tmp_path):
    assert {each.stem for each in export(results, tmp_path, form="parquet")} == set(QUERIED_TABLES)


def test_what_cannot_be_exported(results, tmp_path):
    with pytest.raises(UsageError, match="did you mean 'parquet'"):
        export(results, tmp_path, form="parqet")
    with pytest.raises(UsageError, match="did you mean 'traces'"):
        export(results, tmp_path, form="csv", names=("trace",))
    export(results, tmp_path / "x.duckdb")
    with pytest.raises(StoreError, match="exists already"):
        export(results, tmp_path / "x.duckdb")
    with pytest.raises(StoreError, match="cannot write here"):
        export(results, tmp_path / "x.duckdb", form="csv")
