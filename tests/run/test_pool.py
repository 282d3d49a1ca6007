"""Equal arguments are read once, and every call still gets its own."""

import numpy as np
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tracelens import columns
from tracelens.run.pool import Side, of_calls, pool_arguments, rounds

TEXTS = st.one_of(
    st.sampled_from(["", "{}", '{"a":1}', '{"a":2}', '{"a": 1}', "x" * 7, "x" * 8, "x" * 9, "x" * 16, "x" * 17]),
    st.text(max_size=40),
)
FORMS = st.sampled_from([columns.JSON_VALUE, columns.JSON_STRING, columns.FREE_TEXT])
CALLS = st.lists(st.tuples(TEXTS, FORMS, st.integers(-1, 2)), max_size=30)
NAMES = ["f", "g", "h"]


def side(calls: list[tuple[str, int, int]]) -> Side:
    """Calls as one side."""
    values = pa.chunked_array([pa.array([call[0] for call in calls], pa.large_string())])
    return Side(
        np.array([call[2] for call in calls], np.int32), values, np.array([call[1] for call in calls], np.uint8)
    )


@given(CALLS, CALLS)
def test_every_call_finds_its_text_form_and_tool_and_no_two_rows_are_equal(
    actual: list[tuple[str, int, int]], expected: list[tuple[str, int, int]]
) -> None:
    pool = pool_arguments(side(actual), side(expected), NAMES)
    kept = [
        (text.decode(), int(form), int(code)) for text, form, code in zip(pool.texts, pool.form, pool.code, strict=True)
    ]
    assert kept == list(dict.fromkeys([*actual, *expected])), "in the order of first appearance"
    assert [kept[row] for row in pool.actual.row] == actual
    assert [kept[row] for row in pool.expected.row] == expected
    assert pool.tools.to_list() == [None if code < 0 else NAMES[code] for _, _, code in kept]


def test_texts_that_differ_in_one_byte_anywhere_are_different() -> None:
    long = "abcdefgh" * 5
    texts = [long, *(long[:k] + "-" + long[k + 1 :] for k in range(len(long))), *(long[:k] for k in range(len(long)))]
    pool = pool_arguments(side([(text, columns.FREE_TEXT, 0) for text in texts]), side([]), NAMES)
    assert pool.actual.row.tolist() == list(range(len(texts)))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=40))
def test_every_call_is_answered_once_with_what_it_asked(calls: list[tuple[int, int]]) -> None:
    row, asked = np.array([each[0] for each in calls], np.int64), np.array([each[1] for each in calls], np.int32)
    told: list[int] = []
    for number, (answered, chosen) in enumerate(rounds(row, asked, 6, -1)):
        assert number <= 3
        assert (chosen[row[answered]] == asked[answered]).all()
        told += answered.tolist()
    assert sorted(told) == list(range(len(calls)))


@given(st.lists(st.integers(0, 4), max_size=10), st.lists(st.integers(0, 4), max_size=12))
def test_findings_go_to_every_call_that_carries_the_arguments(about: list[int], row: list[int]) -> None:
    found = pl.DataFrame({"call": sorted(about), "message": [f"m{i}" for i in range(len(about))]}, strict=False)
    found = found.cast({"call": pl.Int64, "message": pl.String})
    calls = np.arange(len(row)) * 2
    got = of_calls(found, calls, np.array(row, np.int64)) if row else found.clear()
    wanted = [(2 * i, message) for i, at in enumerate(row) for call, message in found.rows() if call == at]
    assert got.rows() == wanted
