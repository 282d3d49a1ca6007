"""Folding in the kernel equals the plain-Python default rules, code point by code point and string by string."""

from __future__ import annotations

import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens import columns
from tracelens.kernels.fold import POINT, SPACE, fold_into, folds, quote_into
from tracelens.kernels.reference.strings import WHITE_SPACE, default_string, trim
from tracelens.kernels.reference.values import quote
from tracelens.kernels.scan import decode_string
from tracelens.kernels.words import PADDING

TABLE = folds()
SIMPLE = np.flatnonzero(TABLE >= 0)

block = st.sampled_from(
    (
        'ABxyZ \t\n\r\x01\x1c\x7f"\\/',
        "ÀéßſİıÿŸȺⱥ\u00a0\u0085",
        "ΑΣςσώΐϓᾳᾼΆ\u1fef",
        "ЖжЁё",
        "אבאּأئ",
        "\u2000\u2003\u2028–“€→∑≠─●☃",
        "\u3000、アァが\u3099",
        "漢字仮",
        "한국가\u11a8",
        "ＡＢ！\ufb01",
        "😀🎉\ufe0f\u200d🏳",
        "\u0301\u0327\u0345",
        "\ufffd\U00020000\ue000",
    )
)
texts = st.lists(block.flatmap(st.sampled_from), max_size=30).map("".join)
plain_texts = st.text(
    st.sampled_from([chr(point) for point in SIMPLE if point % 37 == 0 or TABLE[point] & SPACE]), max_size=40
)


def contents(text: str, escape: str) -> bytes:
    """The contents of a JSON string: escaped throughout, as little as possible, or with spelled-out escapes."""
    if escape == "ascii":
        return json.dumps(text)[1:-1].encode()
    if escape == "units":
        units = np.frombuffer(text.encode("utf-16-le"), "<u2")
        return "".join(f"\\u{unit:04X}" for unit in units).encode()
    return quote(text)[1:-1].encode()


def folded(text: str, escape: str = "least") -> tuple[str | None, bool]:
    data = contents(text, escape)
    buf, out = columns.padded(data), np.full(len(data) + 2 * PADDING, 255, np.uint8)
    end, changed = fold_into(buf, 0, len(data), out, 0, TABLE)
    assert (out[len(data) + PADDING :] == 255).all(), "no room beyond the contents and padding may be touched"
    return (None if end < 0 else out[:end].tobytes().decode()), changed


def test_every_code_point_of_the_table_behaves_like_the_rules() -> None:
    """Alone, doubled, in front of and behind letters, and composing marks are never missed."""
    for point in SIMPLE.tolist():
        c = chr(point)
        to = chr(int(TABLE[point]) & POINT)
        is_space = bool(TABLE[point] & SPACE)
        assert is_space == (c in WHITE_SPACE)
        assert default_string(c) == ("" if is_space else to), hex(point)
        if not is_space:
            assert default_string(c + c) == to + to, hex(point)
        for before, after in (("a", "a"), ("é", "é"), ("A\u0300", "É")):
            wanted = default_string(before) + to + default_string(after)
            assert default_string(before + c + after) == wanted, hex(point)
        assert len(to.encode()) <= len(c.encode())


def test_marks_that_compose_are_never_simple() -> None:
    marks = [0x0301, 0x0327, 0x0338, 0x0345, 0x3099, 0x309A, 0x09BE, 0x1161, 0x1175, 0x11A8, 0x11C2, 0x0B57]
    assert (TABLE[marks] == -1).all()
    second = [
        int(parts[1], 16)
        for point in range(len(TABLE))
        if len(parts := unicodedata.decomposition(chr(point)).split()) == 2 and not parts[0].startswith("<")
    ]
    assert (TABLE[second] == -1).all()
    assert (TABLE[0x1100 + 0x61 : 0x1200] == -1).all()


@pytest.mark.parametrize("mark", ["\u0301", "\u0327", "\u11a8", "\u3099", "ß", "İ", "\ufb01", "\U00020000"])
def test_strings_with_other_code_points_are_left_alone(mark: str) -> None:
    for text in (mark, "a" + mark, "e" * 9 + mark + "e" * 9, " " + mark):
        assert folded(text)[0] is None
        assert folded(text, "ascii")[0] is None


@given(texts, st.sampled_from(["least", "ascii", "units"]))
@settings(max_examples=300)
def test_folding_equals_the_rules(text: str, escape: str) -> None:
    form, changed = folded(text, escape)
    simple = all(ord(c) < len(TABLE) and TABLE[ord(c)] >= 0 for c in text)
    assert (form is not None) == simple
    if form is not None:
        assert form == default_string(text)
        assert changed == (form != text)


@given(plain_texts, st.sampled_from(["least", "ascii", "units"]))
@settings(max_examples=200)
def test_folding_simple_text_equals_the_rules(text: str, escape: str) -> None:
    assert folded(text, escape) == (default_string(text), default_string(text) != text)


@given(st.text("aB \t\u00a0\u3000é", max_size=24))
@settings(max_examples=200)
def test_trimming_finds_both_ends(text: str) -> None:
    form, _ = folded(text)
    assert form == trim(text).lower()


@given(texts, st.sampled_from(["least", "ascii", "units"]))
@settings(max_examples=200)
def test_quoting_equals_the_rules(text: str, escape: str) -> None:
    data = contents(text, escape)
    plain, out = np.zeros(len(data) + 32, np.uint8), np.full(len(data) + 8, 255, np.uint8)
    size = decode_string(columns.padded(data), 0, len(data), plain, 0)
    end = quote_into(plain, 0, size, out, 0)
    assert out[:end].tobytes().decode() == quote(text)[1:-1]
    assert (out[len(data) :] == 255).all()
