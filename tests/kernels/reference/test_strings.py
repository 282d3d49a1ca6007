"""String rules over all of Unicode."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracelens.kernels.reference import strings
from tracelens.kernels.reference.strings import WHITE_SPACE, default_string, text, trim

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
# Letters whose folding, composing or trimming depends on what stands beside them.
TRICKY = st.text(
    "aAiIsSßẞſﬁﬆŉǰΐΰΆΑάᾳᾼῼὖ\u0345\u0301\u0308\u0327\u0323İıΣσςÅÅKΩω\u2126µμ \t\u00a0\u2003\u3000\x1c\x85\u180e\u200b\ufeff-.,'’’5٥",
    max_size=10,
)


def test_white_space_is_the_property_and_nothing_else() -> None:
    assert len(WHITE_SPACE) == len(set(WHITE_SPACE)) == 25
    assert trim(WHITE_SPACE + "a b" + WHITE_SPACE) == "a b"
    for kept in "\x1c\x1d\x1e\x1f\u180e\u200b\u2060\ufeff\x00":
        assert trim(f" {kept} ") == kept
        assert default_string(f" {kept} ") == kept


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("  SFO ", "sfo"),
        ("Cafe\u0301", "CAFÉ"),
        ("Straße", "STRASSE"),
        ("ﬁn", "FIN"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("\u212bngström", "Ångström"),
        ("\u03a9", "\u2126"),
        ("\u1fb3", "\u0391\u0345"),
        ("가", "\u1100\u1161"),
        ("\u0390", "\u1fd3"),
    ],
)
def test_equal_under_the_default_rules(a: str, b: str) -> None:
    assert default_string(a) == default_string(b)


@pytest.mark.parametrize(
    ("a", "b"), [("i", "ı"), ("a", "á"), ("a b", "a  b"), ("1", "١"), ("a", "а"), ("½", "1⁄2"), ("Ａ", "A")]
)
def test_different_under_the_default_rules(a: str, b: str) -> None:
    assert default_string(a) != default_string(b)


def test_idempotent_for_every_character() -> None:
    for code in range(sys.maxunicode + 1):
        c = chr(code)
        if unicodedata.category(c) in {"Cn", "Cs", "Co"} or 0xAC00 <= code <= 0xD7A3 or 0x4E00 <= code <= 0x2FA1F:
            continue
        for around in (c, c + "\u0345", c + "\u0301"):
            once = default_string(around)
            assert default_string(once) == once, hex(code)


@given(st.one_of(ANY, TRICKY))
@settings(max_examples=200)
@example("\u0345\u0301α")
@example("ΐ\u0345")
@example("\u1fb7\u0345 ")
def test_every_string_rule_is_idempotent(value: str) -> None:
    rules: list[Callable[[str], str]] = [strings.trim, strings.fold, strings.upper, strings.lower, default_string, text]
    for rule in rules:
        once = rule(value)
        assert rule(once) == once, rule.__name__


@given(st.one_of(ANY, TRICKY))
def test_the_default_form_is_folded_composed_and_trimmed(value: str) -> None:
    form = default_string(value)
    assert form == trim(form)
    assert form == unicodedata.normalize("NFC", form)
    assert default_string(unicodedata.normalize("NFD", value)) == form
    assert default_string(f"\u3000{value}\n") == form


@given(st.text(st.characters(max_codepoint=127), max_size=12))
def test_the_ascii_short_cut_is_the_general_rule(value: str) -> None:
    assert default_string(value) == trim(unicodedata.normalize("NFC", trim(value).casefold()))


@pytest.mark.parametrize(
    ("given_text", "folded"),
    [
        ("  O’Brien,\tJr. ", "o brien jr"),
        ("O'Brien jr", "o brien jr"),
        ("Jean–Luc", "jean luc"),
        ("-5", "-5"),
        ("a -5, b", "a -5 b"),
        ("2026-11-02", "2026 11 02"),
        ("C++", "c++"),
        ("…", ""),
        ("$5", "$5"),
    ],
)
def test_text(given_text: str, folded: str) -> None:
    assert text(given_text) == folded


def test_text_keeps_the_sign() -> None:
    assert text("-5") != text("5")
