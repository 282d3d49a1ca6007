"""Strings trimmed and in upper case, against Python's own methods."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracelens import columns
from tracelens.kernels.uppers import KNOWN, upper_into, uppers, width

LOWER = {code: code + 32 for code in range(65, 91)}


def upper(text):
    """What the kernel makes of a text; None where it leaves it to Python."""
    data = columns.padded(text.encode())
    out = np.zeros(data.size, np.uint8)
    size = upper_into(data, 0, len(text.encode()), 0, out, uppers())
    return None if size < 0 else out[:size].tobytes().decode()


@settings(max_examples=80)
@example(" \x1f\tStraße\x0b ")
@example("éÀλя漢😀\u2003x")
@example("\u2003x")
@example("ﬁ")
@given(st.text(max_size=12))
def test_a_decided_string_is_that_of_python(text):
    found = upper(text)
    assert found is None or found == text.strip().upper().translate(LOWER)


def test_what_is_left_to_python():
    assert [upper(text) for text in ("ß", "\u2003", "\u00a0a", chr(KNOWN), "ŉ")] == [None] * 5
    assert upper(" Köln ") == "kÖln"


def test_nothing_gets_longer():
    table = uppers()
    assert all(width(int(table[code])) <= width(code) for code in range(1, KNOWN) if table[code])
