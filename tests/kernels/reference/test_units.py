"""Quantities: exact conversion, cases of symbols, and what is no quantity."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.kernels.reference import units
from tracelens.kernels.reference.strings import default_string
from tracelens.kernels.reference.units import find_unit, load_unit, quantity_pair, quantity_text

NAMES = sorted({*units._EXACT, *units._LOOSE})


@pytest.mark.parametrize(
    ("text", "unit", "found"),
    [
        ("5 km", "km", "5 km"),
        ("5km", "km", "5 km"),
        (" 5.0\u00a0KM ", "km", "5 km"),
        ("5000 metres", "km", "5 km"),
        ("1 mile", "km", "1.609344 km"),
        ("5e3 m", "km", "5 km"),
        ("-3 °C", "K", "270.15 K"),
        ("32 °F", "°C", "0 °C"),
        ("212 fahrenheit", "C", "100 °C"),
        ("90 min", "h", "1.5 h"),
        ("1 KiB", "B", "1024 B"),
        ("8 bit", "B", "1 B"),
        ("36 km/h", "m/s", "10 m/s"),
        ("1 ft", "mi", "1/5280 mi"),
        ("2 mW", "MW", "0.000000002 MW"),
        ("5 square  metres", "m2", "5 m²"),
        ("5 µm", "μm", "5 µm"),
        ("50%", "%", "50 %"),
        ("5 kg", "km", None),
        ("5 parsec", "km", None),
        ("5", "km", None),
        ("km", "km", None),
        ("5 Mb", "MB", None),
        ("05 km", "km", None),
        ("five km", "km", None),
        ("1e999999999 km", "km", None),
        ("", "km", None),
    ],
)
def test_text(text: str, unit: str, found: str | None) -> None:
    assert quantity_text(text, load_unit(unit)) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"value": 5, "unit": "km"}, "5 km"),
        ({"unit": "m", "value": "5000"}, "5 km"),
        ([5, "km"], "5 km"),
        ({"value": True, "unit": "km"}, None),
        ({"value": 5, "unit": "kg"}, None),
        ({"value": 5, "unit": None}, None),
        ({"value": 5, "unit": "km", "note": ""}, None),
        ([5, "km", 1], None),
        ("5 km", None),
        (5, None),
    ],
)
def test_pairs(value: Any, found: str | None) -> None:
    assert quantity_pair(value, load_unit("km")) == found


def test_unknown_unit() -> None:
    with pytest.raises(ValueError, match="unknown unit 'kilometr', did you mean 'kilomet"):
        load_unit("kilometr")


def test_the_table_agrees_with_the_definitions() -> None:
    for name, factor in [("in", "0.0254"), ("lb", "0.45359237"), ("gal", "0.003785411784"), ("nmi", "1852")]:
        unit = find_unit(name)
        assert unit is not None
        assert unit.factor == Fraction(factor)
    yard, foot, inch, mile = (load_unit(name).factor for name in ("yd", "ft", "in", "mi"))
    assert yard == 3 * foot == 36 * inch
    assert mile == 1760 * yard
    assert load_unit("gal").factor == 16 * load_unit("cup").factor == 128 * load_unit("fl oz").factor
    assert load_unit("ac").factor == 4840 * yard**2
    assert load_unit("st").factor == 14 * load_unit("lb").factor == 14 * 16 * load_unit("oz").factor


def test_folding_a_symbol_never_changes_its_unit() -> None:
    # Otherwise text that is normalised twice could become another quantity.
    for name in NAMES:
        folded = find_unit(default_string(name))
        assert folded is None or folded == find_unit(name), name


@given(st.sampled_from(NAMES), st.sampled_from(NAMES), st.decimals(-1000, 1000, places=3))
def test_idempotent_and_reversible(name: str, other: str, size: Any) -> None:
    unit, target = load_unit(name), load_unit(other)
    there = quantity_text(f"{size:f} {name}", target)
    assert (there is None) == (unit.dimension != target.dimension)
    if there is not None:
        assert quantity_text(there, target) == there
        back = quantity_text(there, unit)
        assert back == quantity_text(f"{size:f}{name}", unit)
