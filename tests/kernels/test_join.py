"""Joining results to calls: the kernel against a plain reading of its definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracelens.kernels.join import join_results

events = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6), st.integers(0, 2), st.booleans()), max_size=14).map(
    lambda items: sorted(items, key=lambda item: item[:2])
)


def plain(calls, results):
    taken = [-1] * len(calls)
    for number, (trace, message, key) in enumerate(results):
        free = [(m, c) for c, (t, m, k) in enumerate(calls) if t == trace and m < message and k == key and taken[c] < 0]
        if free:
            latest = max(m for m, _ in free)
            taken[min(c for m, c in free if m == latest)] = number
    return taken


def columns(rows):
    table = np.array(rows, np.int64).reshape(-1, 3)
    return [np.ascontiguousarray(table[:, k]) for k in range(3)]


@given(events)
def test_a_result_belongs_to_the_latest_message_that_still_waits(items):
    calls = [item[:3] for item in items if item[3]]
    results = [item[:3] for item in items if not item[3]]
    taken = np.full(len(calls), -1, np.int64)
    join_results(*columns(calls), *columns(results), taken)
    assert taken.tolist() == plain(calls, results)
