"""The SQL macros: equal to the definitions, one object a file, documented."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.name_lists import SCHEMA_COLUMNS, Row, match_of, rows, wanted
from tracelens.kernels.reference.scores import all_scores
from tracelens.store.objects import macro_statements

NAMES = [
    "strict",
    "unordered",
    "subset",
    "superset",
    "subset_partial",
    "superset_partial",
    "any_order",
    "precision",
    "recall",
    "f1",
]
MACROS = sorted((Path(__file__).resolve().parents[2] / "sql" / "macros").glob("tl_*.sql"))


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for statement in macro_statements():
            connection.execute(statement)
        yield connection


def scores_of(duck: duckdb.DuckDBPyConnection, table: list[Row]) -> list[tuple[float | None, ...]]:
    """All macros over a table of lists."""
    duck.execute(
        f"CREATE OR REPLACE TEMP TABLE lists (place INTEGER, {', '.join(f'{c} VARCHAR[]' for c in SCHEMA_COLUMNS)})"
    )
    for place, row in enumerate(table):
        duck.execute("INSERT INTO lists VALUES (?, ?, ?, ?, ?)", [place, *(row[c] for c in SCHEMA_COLUMNS)])
    columns = [f"tl_{name}(actual, expected)" for name in NAMES]
    columns.append(f"tl_accuracy_optimal({', '.join(SCHEMA_COLUMNS)})")
    return duck.execute(f"SELECT {', '.join(columns)} FROM lists ORDER BY place").fetchall()


@given(st.lists(rows(), min_size=1, max_size=8))
@settings(max_examples=30, deadline=None)
def test_macros_equal_the_definitions(duck: duckdb.DuckDBPyConnection, table: list[Row]) -> None:
    matches = [match_of(row) for row in table]
    want = [tuple(wanted(m and all_scores(m), [*NAMES, "accuracy_optimal"])) for m in matches]
    assert scores_of(duck, table) == want


def test_worked_example(duck: duckdb.DuckDBPyConnection) -> None:
    lists = "['search', 'search', 'book'], ['search', 'book']"
    arguments = "['SFO JFK 3', 'SFO JFK 3', 'UA 12A'], ['SFO JFK 2', 'UA']"
    found = duck.execute(
        f"SELECT round(tl_strict({lists}), 2), tl_f1({lists}), round(tl_accuracy_optimal({lists}, {arguments}), 2)"
    )
    assert found.fetchone() == (0.33, 0.8, 0.33)


@pytest.mark.parametrize("path", MACROS, ids=lambda path: path.stem)
def test_one_documented_object_a_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("-- ")
    assert re.findall(r"^CREATE OR REPLACE MACRO (\w+)\(", text, re.MULTILINE) == [path.stem]
    assert re.sub("--.*", "", text).count(";") == 1
