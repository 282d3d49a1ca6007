"""Parsing: strict JSON with exact numbers, the same texts as the kernel takes."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracelens.kernels import shred as kernel
from tracelens.kernels.reference.values import MAX_DEPTH, Number, number_form, parse, plain_text

JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=6)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)),
    max_leaves=8,
)


def accepts(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def kernel_accepts(text: str) -> bool:
    raw = text.encode("utf-8", "surrogatepass")
    data = np.zeros(len(raw) + 16, np.uint8)
    data[: len(raw)] = np.frombuffer(raw, np.uint8)
    return int(kernel.shred(data, np.array([0]), np.array([len(raw)])).error[0]) == 0


def test_numbers_keep_their_literal() -> None:
    assert parse("[1.10, -0, 1e999]") == [Number("1.10"), Number("-0"), Number("1e999")]


def test_the_last_of_duplicate_keys_counts() -> None:
    assert parse('{"a": 1, "a": null}') == {"a": None}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NaN",
        "[Infinity]",
        '"\\ud800"',
        '{"a": "\\udfff", "a": 1}',
        "{}{}",
        "[1,]",
        "'a'",
        '"\t"',
        "01",
        "\ufeff1",
        '{"a"}',
        "[" * 200,
    ],
)
def test_refused(text: str) -> None:
    assert not accepts(text)
    assert not kernel_accepts(text)


def test_depth_is_the_kernel_s() -> None:
    assert MAX_DEPTH == kernel.MAX_DEPTH
    deep, deeper = "[" * MAX_DEPTH + "]" * MAX_DEPTH, "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)
    assert accepts(deep)
    assert not accepts(deeper)
    assert kernel_accepts(deep)
    assert not kernel_accepts(deeper)
    assert accepts(json.dumps("[" * 500))


@given(
    JSON, st.integers(0, 60), st.sampled_from(['"', "{", "]", ",", "\\", "\\ud800", "e", "-", "0", " ", "\x00", "é"])
)
@example({"a": ""}, 1, '"')
def test_accepts_what_the_kernel_accepts(value: Any, position: int, junk: str) -> None:
    text = json.dumps(value)
    mutated = text[:position] + junk + text[position:]
    assert accepts(text)
    assert accepts(mutated) == kernel_accepts(mutated)


@given(JSON)
def test_plain_text_keeps_the_value(value: Any) -> None:
    text = plain_text(value)
    assert json.loads(text, parse_float=Decimal) == json.loads(json.dumps(value), parse_float=Decimal)
    assert plain_text(parse(text)) == text


def test_numbers_of_python() -> None:
    assert number_form(True) is None
    assert number_form(10) == number_form(10.0) == number_form(Decimal("1E+1")) == "1e1"
    assert number_form(1e22) == "1e22"
    for bad in (float("nan"), float("inf"), Decimal("NaN")):
        with pytest.raises(ValueError, match="is no JSON number"):
            number_form(bad)
