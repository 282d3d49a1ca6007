import datetime as dt
import json
import uuid
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.rungs.state.values import canonical, column_texts


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1.0),
        (1, Decimal("1.000")),
        (0, -0.0),
        (1e3, 1000),
        (Decimal("1E+2"), 100),
        (0.1, Decimal("0.1")),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": Decimal(1)}),
        (dt.date(2026, 11, 2), "2026-11-02"),
        (dt.datetime(2026, 11, 2, 10), "2026-11-02T10:00:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_equal_values_have_equal_text(left, right):
    assert canonical(left) == canonical(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (True, 1),
        (False, 0),
        ("1", 1),
        ("true", True),
        (None, "null"),
        (None, 0),
        ("A", "a"),
        ("a ", "a"),
        (9007199254740993, 9007199254740992),
        (0.1, Decimal("0.1000000000000000055")),
        ([1, 2], [2, 1]),
        (dt.datetime(2026, 11, 2, 10, tzinfo=dt.UTC), dt.datetime(2026, 11, 2, 10)),
    ],
)
def test_different_values_have_different_text(left, right):
    assert canonical(left) != canonical(right)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def equal(left, right):
    """Typed equality, said plainly."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return left == right


@given(JSON, JSON)
def test_texts_are_equal_exactly_when_values_are(left, right):
    assert (canonical(left) == canonical(right)) == equal(left, right)


@given(JSON)
def test_text_is_json_of_the_same_value(value):
    assert equal(json.loads(canonical(value), parse_float=Decimal, parse_int=Decimal), value)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_no_digit_of_a_number_is_lost(number):
    assert Decimal(canonical(number)) == number


def test_instants_are_equal_in_any_zone_and_a_day_is_none():
    column = pa.chunked_array(
        [pa.array([dt.datetime(2026, 11, 2, 10, tzinfo=dt.UTC)], pa.timestamp("us", "Europe/Berlin"))]
    )
    texts = column_texts(column).to_list()
    assert (
        texts
        == [canonical("2026-11-02T11:00:00+01:00", instant=True)]
        == [canonical("2026-11-02T10:00:00.000Z", instant=True)]
    )
    assert canonical("2026-11-02", instant=True) == '"2026-11-02"'
    assert canonical("never, sadly", instant=True) == '"never, sadly"'


def test_columns_of_every_kind_become_text():
    table = {
        "single": (pa.array([1.1, float("nan"), None], pa.float32()), ["1.1", '"NaN"', "null"]),
        "money": (pa.array([Decimal("1.50"), None], pa.decimal128(9, 2)), ["1.5", "null"]),
        "yes": (pa.array([True, False, None]), ["true", "false", "null"]),
        "list": (pa.array([[1, 2], None]), ["[1,2]", "null"]),
        "struct": (pa.array([{"a": 1, "b": None}]), ['{"a":1,"b":null}']),
        "bytes": (pa.array([b"\x01\xff"]), ['"01ff"']),
        "time": (pa.array([dt.time(10, 30)], pa.time64("us")), ['"10:30:00"']),
        "json": (pa.array(['{"b": 1.0, "a": [true]}'], pa.json_()), ['{"a":[true],"b":1}']),
        "numeric": (
            pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "numeric", "PostgreSQL"), pa.array(["2.50", None])),
            ["2.5", "null"],
        ),
        "interval": (
            pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "interval", "PostgreSQL"), pa.array(["1 day"])),
            ['"1 day"'],
        ),
    }
    for name, (array, texts) in table.items():
        assert column_texts(pa.chunked_array([array])).to_list() == texts, name


COLUMNS = st.one_of(
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)).map(lambda values: pa.array(values, pa.int64())),
    st.lists(st.none() | st.booleans()).map(lambda values: pa.array(values, pa.bool_())),
    st.lists(st.none() | st.dates()).map(lambda values: pa.array(values, pa.date32())),
    st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]))).map(
        lambda values: pa.array(values, pa.string())
    ),
    st.lists(st.none() | st.text("ab 1é")).map(lambda values: pa.array(values, pa.large_string())),
)


@given(COLUMNS)
def test_columns_read_at_once_equal_values_read_one_by_one(array):
    texts = column_texts(pa.chunked_array([array])).to_list()
    assert texts == [canonical(value) for value in array.to_pylist()]
