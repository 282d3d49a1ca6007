"""Digests of numbers: short ones without a loop, the same as digit by digit, and by value."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracelens import columns
from tracelens.kernels.numbers import hash_long_number, hash_number

whole = st.from_regex(r"-?(0|[1-9][0-9]{0,9})", fullmatch=True)
numbers = st.builds(str.__add__, whole, st.from_regex(r"(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?", fullmatch=True))


def digest(text: str, *, behind: str = "") -> tuple[int, int]:
    """The digest of a number with other bytes around it, by both ways."""
    data = b'["9.' + text.encode() + behind.encode()
    start, end = 4, 4 + len(text)
    short, long = (each(columns.padded(data), start, end) for each in (hash_number, hash_long_number))
    assert tuple(short) == tuple(long)
    return int(short[0]), int(short[1])


@given(numbers, numbers, st.sampled_from(["", ",", "]", "0", ".5", "e7", "-1.5"]))
@settings(max_examples=300)
@example("-0.0", "0", ".")
@example("0.00001", "1e-5", "5")
@example("-1234567", "-1234567.0", "")
@example("12345678", "1234567.8", "9")
@example("100", "1e2", "")
def test_equal_values_have_equal_digests_and_no_others(left: str, right: str, behind: str) -> None:
    same = Decimal(left) == Decimal(right)
    assert (digest(left, behind=behind) == digest(right)) == same
