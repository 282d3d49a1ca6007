"""Numbers by exact decimal value."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.kernels.reference.decimal_form import close, decimal_form, fraction, is_number, number_text, rounded

DIGITS = st.text("0123456789", min_size=1, max_size=30)
LITERALS = st.builds(
    lambda sign, whole, part, exponent: sign + (whole.lstrip("0") or "0") + part + exponent,
    st.sampled_from(["", "-"]),
    DIGITS,
    st.one_of(st.just(""), DIGITS.map(lambda digits: f".{digits}")),
    st.one_of(
        st.just(""),
        st.builds("{}{}{}".format, st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), st.integers(0, 400)),
    ),
)


@pytest.mark.parametrize(
    ("literal", "form", "text"),
    [
        ("0", "0", "0"),
        ("-0", "0", "0"),
        ("0.000e5", "0", "0"),
        ("1", "1e0", "1"),
        ("1.0", "1e0", "1"),
        ("1e0", "1e0", "1"),
        ("100", "1e2", "100"),
        ("-12.50", "-125e-1", "-12.5"),
        ("0.005", "5e-3", "0.005"),
        ("9007199254740993", "9007199254740993e0", "9007199254740993"),
        ("1e400", "1e400", "1e400"),
        ("1E+2", "1e2", "100"),
        ("12345e-30", "12345e-30", "12345e-30"),
        ("1e00000000002", "1e2", "100"),
    ],
)
def test_forms(literal: str, form: str, text: str) -> None:
    assert decimal_form(literal) == form
    assert number_text(form) == text


def test_doubles_do_not_blur() -> None:
    assert decimal_form("9007199254740993") != decimal_form("9007199254740992")
    assert decimal_form("-5") != decimal_form("5")
    assert decimal_form("0.1") != decimal_form("0.1000000000000000055511151231257827")


def test_lengths_that_int_refuses() -> None:
    nines = "9" * 6000
    assert decimal_form(nines + "000") == f"{nines}e3"
    assert decimal_form("1.5e" + nines) == f"15e{'9' * 5999}8"
    assert rounded(decimal_form("0." + nines), 2) == "1e0"
    assert close(decimal_form(nines), decimal_form("9" * 5999 + "8"), Fraction(1), Fraction(0))
    assert close(decimal_form("1e" + nines), decimal_form("1e" + nines), Fraction(0), Fraction(0))
    assert not close(decimal_form("1e999999999"), decimal_form("2e999999999"), Fraction(10**6), Fraction(1, 10))
    assert close(decimal_form("1e999999999"), decimal_form("1.01e999999999"), Fraction(0), Fraction(1, 10))
    assert close("1e-999999999", "-7e-999999999", Fraction(1, 10**300), Fraction(0))


@pytest.mark.parametrize(
    "text", ["", "+1", "01", "1.", ".5", "1e", "0x1", "NaN", "-Infinity", " 1", "1 ", "١", "1_0", "1\n"]
)
def test_what_json_does_not_call_a_number(text: str) -> None:
    assert not is_number(text)
    with pytest.raises(ValueError, match="is no JSON number"):
        decimal_form(text)


@given(LITERALS, LITERALS)
def test_equal_forms_mean_equal_values(a: str, b: str) -> None:
    assert (decimal_form(a) == decimal_form(b)) == (Fraction(a) == Fraction(b))
    assert fraction(decimal_form(a)) == Fraction(a)
    assert Fraction(number_text(decimal_form(a))) == Fraction(a)
    assert decimal_form(number_text(decimal_form(a))) == decimal_form(a)


@given(LITERALS, st.integers(0, 12))
def test_rounding_is_half_even(literal: str, decimals: int) -> None:
    unit = Decimal(1).scaleb(-decimals)
    right = Decimal(literal).quantize(unit, ROUND_HALF_EVEN, Context(prec=1000))
    form = rounded(decimal_form(literal), decimals)
    assert fraction(form) == Fraction(right)
    assert rounded(form, decimals) == form


@pytest.mark.parametrize(
    ("value", "result"), [("0.5", "0"), ("1.5", "2"), ("2.5", "2"), ("-0.5", "0"), ("0.05", "0"), ("0.51", "1")]
)
def test_halves(value: str, result: str) -> None:
    assert rounded(decimal_form(value), 0) == decimal_form(result)


@given(LITERALS, LITERALS, st.fractions(0, 10), st.fractions(0, 1))
def test_closeness_by_exact_fractions(a: str, b: str, abs_tol: Fraction, rel_tol: Fraction) -> None:
    x, y = Fraction(a), Fraction(b)
    right = abs(x - y) <= max(abs_tol, rel_tol * max(abs(x), abs(y)))
    assert close(decimal_form(a), decimal_form(b), abs_tol, rel_tol) == right
