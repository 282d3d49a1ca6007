import sqlite3
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.errors import StateError, SuiteError
from tracelens.rungs.state import databases
from tracelens.rungs.state.statements import split_sqlite


def test_a_missing_sqlite_file_is_an_error_and_is_not_made(tmp_path):
    with pytest.raises(StateError, match="there is no file"):
        databases.fetch("sqlite:///gone.db", "select 1", base=tmp_path, check="c")
    assert not (tmp_path / "gone.db").exists()


def test_a_sqlite_query_cannot_write(tmp_path):
    sqlite3.connect(tmp_path / "a.db").execute("create table t (n)").connection.close()
    sql = "with x as (select 1 as n) insert into t select n from x returning n"
    with pytest.raises(StateError, match="readonly"):
        databases.fetch("sqlite:///a.db", sql, base=tmp_path, check="c")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("attach 'new.db' as x", "no select but 'attach'"),
        ("/* ; */ ATTACH 'new.db' as x -- select", "no select but 'attach'"),
        ("insert into t values (1) returning n", "no select but 'insert'"),
        ("pragma user_version", "no select but 'pragma'"),
        ("select 1 as n; select 2 as n", "there are 2 statements"),
        ("select 1 as n; attach 'new.db' as x", "there are 2 statements"),
        ("select 1;;select 'x", "there are 2 statements"),
        (" -- nothing\n;", "the query is empty"),
    ],
)
def test_a_sqlite_query_is_one_select(tmp_path, sql, message):
    sqlite3.connect(tmp_path / "a.db").execute("create table t (n)").connection.close()
    with pytest.raises(SuiteError, match=message) as caught:
        databases.fetch("sqlite:///a.db", sql, base=tmp_path, check="booked")
    assert str(caught.value).startswith("state check 'booked': ")
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


@pytest.mark.parametrize(
    "sql",
    [
        "select ';' as n;",
        """SELECT 'it''s; ' || ";" || `a;b` || [c;d] AS n FROM (SELECT ';' AS ";", 1 AS `a;b`, 2 AS [c;d]) -- ; x""",
        "with x as (select 1 as n) select n from x /* ; */ ; ; ",
        "values (1)",
    ],
)
def test_semicolons_in_texts_names_and_comments_end_nothing(tmp_path, sql):
    sqlite3.connect(tmp_path / "a.db").execute("create table t (n)").connection.close()
    assert databases.fetch("sqlite:///a.db", sql, base=tmp_path, check="c").num_rows == 1


@given(st.lists(st.sampled_from(["'", '"', "`", "[", "]", "--", "\n", "/*", "*/", ";", "a", " ", "x'"]), max_size=12))
def test_sqlite_ends_statements_where_we_do(pieces):
    sql = "".join(pieces)
    if sqlite3.complete_statement(sql + ";") and len([each for each in split_sqlite(sql) if each]) == 1:
        assert "one statement at a time" not in sqlite_says(sql)


def sqlite_says(sql):
    """What SQLite says of a text."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(sql)
    except (sqlite3.Error, sqlite3.Warning) as error:
        return str(error)
    finally:
        connection.close()
    return ""


@pytest.mark.parametrize("database", ["x.parquet", "a.duckdb"])
@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("attach 'new.db' as y", "no select but 'attach'"),
        ("copy (select 1 as n) to 'new.csv'", "no select but 'copy'"),
        ("select 1 as n; select 2 as n", "there are 2 statements"),
        ("insert into t values (2)", "no select but 'insert'"),
        ("", "the query is empty"),
    ],
)
def test_a_duckdb_query_is_one_select(tmp_path, monkeypatch, database, sql, message):
    monkeypatch.chdir(tmp_path)
    duckdb.sql(f"copy (select 7 as n) to '{tmp_path}/x.parquet'")
    with duckdb.connect(tmp_path / "a.duckdb") as connection:
        connection.execute("create table t as select 1 as n")
    with pytest.raises(SuiteError, match=message):
        databases.fetch(database, sql, base=tmp_path, check="c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.duckdb", "x.parquet"]
    for good in ("from range(1)", "pivot (select 1 as a, 2 as b) on a using sum(b)", "values (';');"):
        assert databases.fetch(database, good, base=tmp_path, check="c").num_rows == 1


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
    with pytest.raises(SuiteError, match="no select"):
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
        "host=127.0.0.1 port=1 user=ada password=s3cretpw dbname=app",
        "host=127.0.0.1 port=1 user=ada password = 's3cretpw and s3cret' dbname=app",
        r"host=127.0.0.1 port=1 password='it\'s3cretpw' dbname=app",
        "host=127.0.0.1 port=1 password=one s3cretpw dbname=app",
        "host=127.0.0.1 port=1 password=s3cretpw wrong",
        "host=127.0.0.1 port=1 passwrd=s3cretpw",
        "user=ada password=s3cretpw host=127.0.0.1 port=notaport",
        "password='s3cretpw",
    ],
)
def test_a_database_that_cannot_be_reached_is_an_error_without_credentials(address, monkeypatch):
    monkeypatch.setenv("TL_TEST_ADDRESS", address)
    with pytest.raises(StateError) as caught:
        databases.fetch("${TL_TEST_ADDRESS}", "select 1", base=Path(), check="c")
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in str(caught.value.__cause__) + str(caught.value.__context__)


@pytest.mark.parametrize(
    "address",
    [
        "Driver={PostgreSQL};Server=db;Uid=ada;Pwd=s3cretpw;",
        "mssql+pyodbc://ada:s3cretpw@db/app",
        "ada:s3cretpw@db/app",
        "account=x;token='s3cretpw'",
        "mysql host=db password=s3cretpw",
    ],
)
def test_an_address_of_no_known_form_shows_no_credentials(address):
    with pytest.raises(SuiteError, match="unknown database") as caught:
        databases.fetch(address, "select 1", base=Path(), check="c")
    assert "s3cret" not in str(caught.value)
    assert "ada" not in str(caught.value)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="*"), min_size=1, max_size=12))
def test_no_password_survives_redaction(password):
    address = f"postgresql://ada:{password}@db/app"
    message = databases.redact(f"cannot open <{password}> at {address}", address)
    text = message.replace("the driver's message is withheld, as it may quote a credential", "")
    text = text.replace("cannot open <", "").replace("> at postgresql://db/app", "")
    assert password not in text


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="*"), min_size=1, max_size=12))
def test_no_password_of_a_key_survives_redaction(password):
    quoted = password.replace("\\", r"\\").replace("'", r"\'")
    address = f"host=db password='{quoted}' dbname=app"
    message = databases.redact(f"cannot open <{password}> at {address}", address)
    text = message.replace("the driver's message is withheld, as it may quote a credential", "")
    text = text.replace("cannot open <", "").replace("> at host=db dbname=app", "")
    assert not password.strip() or password not in text
