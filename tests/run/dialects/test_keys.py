"""Digests are equal where the plain-Python equality says that arguments are, and only there."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.test_alike import PLAIN
from tracelens import columns
from tracelens.arguments import read_arguments
from tracelens.dialects.equality import OF_VALUE, of_arguments
from tracelens.dialects.view import Equality
from tracelens.kernels.hash import hash_key
from tracelens.run.dialects.keys import keys_of

values = st.recursive(
    st.sampled_from(PLAIN),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=3,
)
objects = st.dictionaries(st.sampled_from("abc"), values, max_size=3)
TWICE = ['{"a": {"x": 1, "y": 2, "x": 3}}', '{"a": {"x": 3, "y": 2}}', '{"a": 1, "a": 2}', '{"a": 2}', '{"a": 2.50}']


def read(texts):
    return read_arguments(pa.array(texts, pa.large_string()), np.full(len(texts), columns.JSON_VALUE, np.uint8))


@pytest.mark.parametrize("equality", list(Equality))
@settings(max_examples=20)
@given(given=st.lists(objects, min_size=2, max_size=12))
def test_equal_digests_are_equal_arguments(equality, given):
    texts = [*map(json.dumps, given), *TWICE]
    values = list(map(json.loads, texts))
    keys = keys_of(read(texts), equality)
    wanted = [of_arguments(equality, value) for value in values]
    found = list(zip(keys.hi.tolist(), keys.lo.tolist(), strict=True))
    for i, one in enumerate(wanted):
        for j, other in enumerate(wanted):
            assert (found[i] == found[j]) == (one == other), (values[i], values[j])


@pytest.mark.parametrize("equality", list(Equality))
@settings(max_examples=20)
@given(given=st.lists(objects, min_size=2, max_size=8))
def test_equal_members_are_equal_values(equality, given):
    texts = [*map(json.dumps, given), *TWICE[1::2]]
    keys, key = keys_of(read(texts), equality), OF_VALUE[equality]
    known = {}
    for row, text in enumerate(texts):
        members = keys.top.reshape(-1, 3)[keys.top_first[row] : keys.top_first[row] + keys.top_count[row]].tolist()
        assert [member[0] for member in members] == sorted(int(hash_key(name.encode())) for name in json.loads(text))
        of_name = {member[0]: tuple(member[1:]) for member in members}
        for name, value in json.loads(text).items():
            digest = of_name[int(hash_key(name.encode()))]
            assert known.setdefault(digest, key(value)) == key(value)
            known[digest] = key(value)
    assert len(known) == len(set(known.values()))
