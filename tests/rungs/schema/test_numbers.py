"""Numbers: the kernel's answers against Python's, where it gives any."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens.kernels import check_number as c
from tracelens.kernels.memory import address_of
from tracelens.kernels.scan import INTEGER
from tracelens.rungs.schema.decimals import decimal_parts, is_multiple, loads

literals = st.one_of(
    st.integers(-(10**25), 10**25).map(str),
    st.integers(-(2**54), 2**54).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr).filter(lambda text: "e" not in text or True),
    st.from_regex(r"\A-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?\Z"),
)
bounds = st.one_of(st.integers(-(2**60), 2**60), st.floats(-1e18, 1e18), st.sampled_from([0, 1, 0.1, 2**53, 2**53 + 1]))


def at(text):
    data = np.frombuffer(text.encode() + bytes(16), np.uint8).copy()
    return data, address_of(data), len(text), INTEGER if text.lstrip("-").isdigit() else 0


def as_integer(bound):
    return int(bound) if abs(bound) < 10**18 and bound == int(bound) else c.NO_INTEGER


@settings(max_examples=200)
@given(literals, bounds)
def test_comparisons(text, bound):
    keep, data, size, flags = at(text)
    value = loads(text)
    expected = {
        c.LESS: value < bound,
        c.LESS_EQUAL: value <= bound,
        c.GREATER: value > bound,
        c.GREATER_EQUAL: value >= bound,
    }
    for relation, holds in expected.items():
        found = c.compare(data, 0, size, flags, relation, float(bound), as_integer(bound))
        assert found in (c.UNSURE, int(holds)), (text, bound, relation)
    assert keep.size


@settings(max_examples=200)
@given(literals)
def test_integers(text):
    keep, data, size, flags = at(text)
    value = loads(text)
    assert c.is_integer(data, 0, size, flags) in (c.UNSURE, int(isinstance(value, int) or value.is_integer()))
    exact = c.read_integer(data, 0, size, flags)
    assert exact in (c.NO_INTEGER, value)
    assert keep.size


@settings(max_examples=200)
@given(literals, st.sampled_from([0.01, 0.5, 1, 2, 3, 7, 1e-8, 123456789, 1e5]))
def test_multiples(text, unit):
    keep, data, size, _ = at(text)
    m, e = decimal_parts(unit)
    assert c.is_multiple(data, 0, size, m, e) in (c.UNSURE, int(is_multiple(loads(text), unit)))
    assert keep.size


def test_common_numbers_are_decided():
    for text in ("0", "-0", "1", "1.0", "19.99", "4.02", "1e3", "-273.15", "37.774929", "9007199254740993", "0.1"):
        keep, data, size, flags = at(text)
        assert c.is_integer(data, 0, size, flags) != c.UNSURE
        assert c.compare(data, 0, size, flags, c.LESS, 100.0, 100) != c.UNSURE
        assert c.is_multiple(data, 0, size, 1, -2) != c.UNSURE
        assert keep.size
