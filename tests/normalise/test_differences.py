"""What a difference is called by: the path of a value."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens.arguments import read_texts
from tracelens.columns import JSON_VALUE, texts
from tracelens.kernels.reference.paths import render_path
from tracelens.normalise.differences import Written

KEYS = st.sampled_from(["a", "b", "", "a.b", "ä", 'q"', "[0]", "0"])
VALUES = st.recursive(
    st.integers(0, 9), lambda each: st.lists(each, max_size=3) | st.dictionaries(KEYS, each, max_size=3)
)


def paths_of(value, parts=()):
    yield render_path(parts)
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from paths_of(each, (*parts, key))


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=4), min_size=1, max_size=3), st.randoms())
@settings(max_examples=30, deadline=None)
def test_every_entry_has_the_path_by_which_it_is_reached(values, random):
    read = read_texts(texts(json.dumps(each) for each in values), np.full(len(values), JSON_VALUE, np.uint8))
    entries = list(range(read.tape.parent.size))
    random.shuffle(entries)
    written = Written(read)
    assert sorted(written.path(entry) for entry in entries) == sorted(
        path for each in values for path in paths_of(each)
    )
