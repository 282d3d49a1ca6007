import sqlite3
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.errors import StateError, SuiteError
from tracelens.rungs.state import databases


def test_a_missing_sqlite_file_is_an_error_and_is_not_made(tmp_path):
    with pytest.raises(StateError, match="there is no file"):
        databases.fetch("sqlite:///gone.db", "select 1", base=tmp_path, check="c")
    assert not (tmp_path / "gone.db").exists()


def test_a_sqlite_query_cannot_write(tmp_path):
    sqlite3.connect(tmp_path / "a.db").execute("create table t (n)").connection.close()
    with pytest.raises(StateError, match="readonly"):
        databases.fetch("sqlite:///a.db", "insert into t values (1) returning n", base=tmp_path, check="c")


def test_a_sqlite_column_keeps_late_values(tmp_path):
    with sqlite3.connect(tmp_path / "a b?.db") as connection:
        connection.execute("create table t (case_id, n)")
        connection.executemany("insert into t values (?, ?)", [(str(i), i if i > 3000 else None) for i in range(3002)])
    connection.close()
    table = databases.fetch("sqlite:///a b%3F.db", "select * from t", base=tmp_path, check="c")
    assert table["n"].to_pylist()[-1] == 3001


def test_parquet_files_are_views_named_after_the_file_or_the_folder(tmp_path):
    (tmp_path / "orders").mkdir()
    duckdb.sql(f"copy (select 7 as n) to '{tmp_path}/orders/x.parquet'")
    for database, view in (("orders/x.parquet", "x"), ("orders/*.parquet", "orders")):
        table = databases.fetch(database, f"select n from {view}", base=tmp_path, check="c")
        assert table.to_pylist() == [{"n": 7}]


def test_a_duckdb_file_is_read_and_not_written(tmp_path):
    with duckdb.connect(tmp_path / "a.duckdb") as connection:
        connection.execute("create table t as select 1 as n")
    assert databases.fetch("a.duckdb", "select n from t", base=tmp_path, check="c").to_pylist() == [{"n": 1}]
    with pytest.raises(StateError, match="read-only"):
        databases.fetch("a.duckdb", "insert into t values (2)", base=tmp_path, check="c")
    with pytest.raises(StateError):
        databases.fetch("gone.duckdb", "select 1", base=tmp_path, check="c")


def test_a_bad_query_names_the_check_and_the_database(tmp_path):
    duckdb.sql(f"copy (select 7 as n) to '{tmp_path}/x.parquet'")
    with pytest.raises(StateError, match=r"state check 'booked once': x\.parquet.*wrong"):
        databases.fetch("x.parquet", "select wrong from x", base=tmp_path, check="booked once")


def test_an_address_of_no_known_form_says_which_there_are():
    with pytest.raises(SuiteError, match=r"unknown database 'mysql://db/app'.*postgresql://"):
        databases.fetch("mysql://ada:s3cret@db/app", "select 1", base=Path(), check="c")


def test_variables_come_from_the_environment(tmp_path, monkeypatch):
    duckdb.sql(f"copy (select 7 as n) to '{tmp_path}/x.parquet'")
    monkeypatch.setenv("TL_TEST_FILE", "x")
    assert databases.fetch("${TL_TEST_FILE}.parquet", "select n from x", base=tmp_path, check="c").num_rows == 1
    with pytest.raises(StateError, match="TL_TEST_NONE is not set"):
        databases.fetch("${TL_TEST_NONE}.parquet", "select 1", base=tmp_path, check="c")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:s3cretpw@127.0.0.1:1/app",
        "postgresql://ada:s3cretpw@127.0.0.1:notaport/app",
        "postgresql://ada:x@s3cretpw/z@127.0.0.1:1/app",
        "postgresql://127.0.0.1:1/app?user=ada&password=s3cretpw",
        "postgresql://127.0.0.1:1/app?password=s3cretpw&wrong=1",
        "postgresql://ada:s3cret%70w@127.0.0.1:1/app",
        "postgresql://ada:s3cretpw@[127.0.0.1/app",
    ],
)
def test_a_database_that_cannot_be_reached_is_an_error_without_credentials(address, monkeypatch):
    monkeypatch.setenv("TL_TEST_ADDRESS", address)
    with pytest.raises(StateError) as caught:
        databases.fetch("${TL_TEST_ADDRESS}", "select 1", base=Path(), check="c")
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in str(caught.value.__cause__) + str(caught.value.__context__)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="*"), min_size=1, max_size=12))
def test_no_password_survives_redaction(password):
    address = f"postgresql://ada:{password}@db/app"
    message = databases.redact(f"cannot open <{password}> at {address}", address)
    text = message.replace("the driver's message is withheld, as it may quote a credential", "")
    text = text.replace("cannot open <", "").replace("> at postgresql://db/app", "")
    assert password not in text
