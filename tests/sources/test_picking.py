"""Rows of a table by run against `pyarrow.compute.take`, starts of runs and dollar signs against plain Python."""

import json

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tracelens.columns import TEXT, bytes_and_offsets, texts
from tracelens.sources.references import matcher_faults
from tracelens.sources.tables.picking import pick, picked, starts_of

TEXTS = st.lists(
    st.none() | st.sampled_from(["", "a", "b", "12345678", "123456789", "a longer text", "é"]), max_size=12
)


@given(st.lists(TEXTS, min_size=1, max_size=3), st.integers(0, 3), st.booleans(), st.data())
def test_pick_is_take(chunks, skipped, ascending, data):
    values = pa.chunked_array(chunks, TEXT).slice(skipped)
    where = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=12)) if len(values) else []
    rows = np.array(sorted(set(where)) if ascending else where, np.int64)
    got = pick(values, rows)
    got.validate(full=True)
    assert got.to_pylist() == values.take(pa.array(rows)).to_pylist()
    table = picked(pa.table({"text": values, "number": pa.array(range(len(values)))}), ["number", "text", "none"], rows)
    assert table.to_pydict() == {"number": rows.tolist(), "text": got.to_pylist()}


def test_kernels_read_picked_texts_where_they_are():
    got = pick(pa.chunked_array([["a", "b"], ["c"]], TEXT), np.array([0, 2]))
    assert np.shares_memory(texts(got).data, bytes_and_offsets(got)[0])
    assert list(texts(got)) == [b"a", b"c"]


@given(TEXTS, st.integers(0, 3))
def test_starts_of_runs(items, skipped):
    ids = pa.array(items, TEXT).slice(skipped)
    items = items[skipped:]
    starts = [k for k in range(len(items)) if k == 0 or items[k] is None or items[k] != items[k - 1]]
    assert starts_of(ids).tolist() == starts


KEYS = st.sampled_from(["$regex", "$near", "a$", "cost", "$", ""])
VALUES = st.recursive(
    st.sampled_from([5, "$5", 'say "$"', "\\u0024", "x" * 15, "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=2), max_size=5), st.booleans(), st.integers(0, 2))
def test_no_matcher_is_missed_however_it_is_written(values, escaped, skipped):
    texts = [json.dumps(value, ensure_ascii=False) for value in values]
    if escaped:
        texts = [text.replace('"$', r'"\u0024') for text in texts]
    names = pa.array(["f"] * len(texts), TEXT)
    one_by_one = [matcher_faults(names[k : k + 1], pa.array([text], TEXT)) for k, text in enumerate(texts)]
    faults, notes = matcher_faults(names.slice(skipped), pa.array(texts, TEXT).slice(skipped))
    assert faults == {k: found[0] for k, (found, _) in enumerate(one_by_one[skipped:]) if found}
    assert set(notes) == {note for _, some in one_by_one[skipped:] for note in some}
    for value, (found, some) in zip(values, one_by_one, strict=True):
        if set(value) == {"$near"}:
            assert some
        if set(value) == {"$regex"} and not isinstance(value["$regex"], str):
            assert found
