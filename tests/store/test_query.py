"""Answers to SQL: every type of DuckDB comes out, as a value or as text, and can be printed."""

import datetime as dt
import json
from decimal import Decimal

import pytest

from tests.store.fake_run import fake_run
from tracelens.cli import main
from tracelens.errors import UsageError
from tracelens.store.connection import empty_connection
from tracelens.store.query import ask

BIG = 10**38


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("INTERVAL 1 MONTH", "1 month"),
        ("{'a': INTERVAL 1 DAY, 'b': 1}", "{'a': 1 day, 'b': 1}"),
        ("union_value(a := 1)", "1"),
        ("'\\xff'::BLOB", "\\xFF"),
        ("'101'::BIT", "101"),
        ("'a'::ENUM('a', 'b')", "a"),
        ("MAP {'a': 1}", {"a": 1}),
        ("MAP {'a': DATE 'infinity'}", "{a=infinity}"),
        ("(SELECT sum(x) FROM range(5) t(x))", 10),
        (f"{BIG - 1}::HUGEINT", Decimal(BIG - 1)),
        (f"{BIG}::HUGEINT", str(BIG)),
        ("NULL::HUGEINT", None),
        ("5::UHUGEINT", "5"),
        ("DATE '2026-11-02'", dt.date(2026, 11, 2)),
        ("DATE '9999-12-31'", dt.date(9999, 12, 31)),
        ("DATE '10000-01-01'", "10000-01-01"),
        ("DATE 'infinity'", "infinity"),
        ("TIMESTAMP '-infinity'", "-infinity"),
        ("TIMESTAMPTZ 'infinity'", "infinity"),
        ("TIMESTAMP_NS 'infinity'", "infinity"),
        ("TIMESTAMP '2026-11-02 10:00:00'", dt.datetime(2026, 11, 2, 10)),
        ("[DATE 'infinity', DATE '2026-11-02']", "[infinity, 2026-11-02]"),
        ("TIME '24:00:00'", "24:00:00"),
        ("TIME '10:00:00'", "10:00:00"),
        ("NULL", None),
    ],
)
def test_values(expression, value):
    with empty_connection() as duck:
        answer = ask(duck, f"SELECT {expression} AS x, 1 AS y")
    assert answer.columns == ["x", "y"]
    assert answer.to_dicts() == [{"x": value, "y": 1}]


def test_columns_of_one_name_stay_apart():
    with empty_connection() as duck:
        answer = ask(duck, "SELECT INTERVAL 1 DAY AS a, 2 AS a, 3 AS a_1")
    assert [str(value) for value in answer.row(0)] == ["1 day", "2", "3"]
    assert len(set(answer.columns)) == 3


def test_statements_and_mistakes():
    with empty_connection() as duck:
        assert ask(duck, "").shape == (0, 0)
        ask(duck, "CREATE TABLE t (a INTERVAL)")
        ask(duck, "INSERT INTO t VALUES (INTERVAL 1 DAY)")
        assert ask(duck, "FROM t").rows() == [("1 day",)]
        with pytest.raises(UsageError, match="nothing"):
            ask(duck, "SELECT nothing")


@pytest.mark.parametrize("output", ["table", "csv", "json"])
def test_every_type_is_printed(tmp_path, capsys, output):
    fake_run(tmp_path, "aa", 1)
    assert main(["sql", str(tmp_path), "FROM test_all_types()", "--output", output]) == 0
    printed = capsys.readouterr().out
    assert "83 years 3 months 999 days" in printed
    if output == "json":
        assert len(json.loads(printed)) == 3
