"""Sentences put together by column are those that plain Python puts together."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracelens.columns import PADDING, texts
from tracelens.rungs.sentences import sentences, shortened, together

POOLS = st.lists(st.text(max_size=20), min_size=1, max_size=6)


@given(st.data(), st.lists(POOLS, min_size=1, max_size=4), st.integers(0, 9))
def test_each_row_is_its_parts_in_order(data, pools, n):
    which = [data.draw(st.lists(st.integers(-1, len(pool) - 1), min_size=n, max_size=n)) for pool in pools]
    got = sentences((texts(pool), np.array(rows, np.int64)) for pool, rows in zip(pools, which, strict=True))
    expected = [
        "".join(pool[rows[row]] if rows[row] >= 0 else "" for pool, rows in zip(pools, which, strict=True))
        for row in range(n)
    ]
    assert [each.decode() for each in got] == expected
    assert not got.data[got.offsets[-1] :].any()
    assert got.data.size >= got.offsets[-1] + PADDING


@given(
    st.lists(st.text(max_size=12), min_size=1, max_size=5), st.lists(st.integers(-1, 4), max_size=8), st.integers(2, 9)
)
def test_long_texts_end_in_a_mark(pool, rows, most):
    rows = [row % len(pool) if row >= 0 else -1 for row in rows]
    got = sentences(shortened(texts(pool), np.array(rows, np.int64), most, "…"))
    shown = [text if len(text) <= most else text[: most - 1] + "…" for text in pool]
    assert [each.decode() for each in got] == [shown[row] if row >= 0 else "" for row in rows]


@given(st.data(), st.lists(st.lists(st.text(max_size=9), max_size=4), min_size=1, max_size=3))
def test_rows_of_several_texts_in_one_order(data, lots):
    every = [text for lot in lots for text in lot]
    order = data.draw(st.permutations(range(len(every))))
    got = together([texts(lot) for lot in lots], np.array(order, np.int64))
    assert [each.decode() for each in got] == [every[row] for row in order]
