"""Scores as Polars expressions: equal to the definitions, and without Python per row."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracelens as tl
from tests.name_lists import SCHEMA_COLUMNS, Row, match_of, rows, wanted
from tracelens.kernels.reference.scores import BY_CONTENT, BY_ORDER, all_scores

NAMES = [*BY_ORDER, *BY_CONTENT]
ACCURACIES = ["accuracy_positional", "accuracy_best_unused", "accuracy_optimal"]


def frame_of(table: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(table, schema=dict.fromkeys(SCHEMA_COLUMNS, pl.List(pl.String)), orient="row")


def every_score() -> list[pl.Expr]:
    of_names = [getattr(tl.expr, name)("actual", "expected").alias(name) for name in NAMES]
    return of_names + [getattr(tl.expr, name)(*SCHEMA_COLUMNS).alias(name) for name in ACCURACIES]


@given(st.lists(rows(), max_size=8))
@settings(max_examples=40, deadline=None)
def test_expressions_equal_the_definitions(table: list[Row]) -> None:
    found = frame_of(table).select(every_score()).rows()
    matches = [match_of(row) for row in table]
    assert found == [tuple(wanted(m and all_scores(m), NAMES + ACCURACIES)) for m in matches]


@given(rows())
@settings(max_examples=40, deadline=None)
def test_credits(row: Row) -> None:
    match = match_of(row)
    score = tl.expr.accuracy_optimal(*SCHEMA_COLUMNS, exact=0.75, name=0.25)
    want = None if match is None else all_scores(match, (0.75, 0.25))["accuracy_optimal"]
    assert frame_of([row]).select(score).item() == want


def test_worked_example_on_expressions_of_any_kind() -> None:
    frame = pl.DataFrame({"calls": [[{"n": "search"}, {"n": "search"}, {"n": "book"}]], "e": [["search", "book"]]})
    names = pl.col("calls").list.eval(pl.element().struct.field("n"))
    lazy = frame.lazy().select(
        tl.expr.strict(names, "e").round(2).alias("s"), tl.expr.f1(names, pl.col("e")).alias("f")
    )
    assert lazy.collect(engine="streaming").rows() == lazy.collect().rows() == [(0.33, 0.8)]


def test_dictionary_encoded_names() -> None:
    frame = pl.DataFrame({"a": [["x", "y"]], "e": [["y"]]}).cast(pl.List(pl.Categorical))
    assert frame.select(tl.expr.recall("a", "e")).item() == 1.0


def test_lists_of_different_lengths_are_an_error() -> None:
    frame = frame_of([dict(zip(SCHEMA_COLUMNS, (["a"], ["a"], ["x", "y"], ["x"]), strict=True))])
    with pytest.raises(pl.exceptions.ComputeError, match="differ in length"):
        frame.select(tl.expr.accuracy_optimal(*SCHEMA_COLUMNS))


def count_python_calls(frame: pl.DataFrame) -> int:
    calls = 0

    def profile(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(profile)
    try:
        frame.select(every_score())
    finally:
        sys.setprofile(None)
    return calls


def test_no_python_per_row() -> None:
    """A thousand times the rows, the same number of Python calls."""
    row: Row = {"actual": ["a", "b"], "expected": ["b"], "actual_arguments": ["x", "y"], "expected_arguments": ["y"]}
    small, large = frame_of([row] * 2), frame_of([row] * 2000)
    count_python_calls(small)  # imports and compilation
    assert count_python_calls(large) <= count_python_calls(small) + 10
