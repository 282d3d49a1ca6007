"""Sentences put together by column are those that plain Python puts together."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracelens.columns import PADDING, texts
from tracelens.rungs.sentences import sentences

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
