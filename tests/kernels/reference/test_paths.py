"""Paths: examples, errors with their position, and the round trip."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.kernels.reference.paths import WILD, Part, parse_path, render_path

MEMBERS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PARTS = st.lists(st.one_of(MEMBERS, st.integers(0, 10**6), st.just(WILD)), max_size=6)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), ""),
        (("a", "b", 0, "c"), "a.b[0].c"),
        (("a", "b.c"), 'a."b.c"'),
        ((0, "x"), "[0].x"),
        ((WILD, WILD), "[*][*]"),
        (("",), '""'),
        (("0",), "0"),
        (("[*]",), '"[*]"'),
        (('say "hi"\n',), '"say \\"hi\\"\\n"'),
        (("größe",), '"größe"'),
    ],
)
def test_rendering_and_its_inverse(parts: tuple[Part, ...], text: str) -> None:
    assert render_path(parts) == text
    assert parse_path(text) == parts


def test_a_suite_need_not_quote_what_is_unambiguous() -> None:
    assert parse_path("größe.$top.two words") == ("größe", "$top", "two words")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (".a", 0),
        ("a.", 2),
        ("a..b", 2),
        ("a[", 1),
        ("a[x]", 1),
        ("a[-1]", 1),
        ("a[01]", 1),
        ("a]b", 1),
        ('a"b"', 1),
        ('"a', 0),
        (r'"\q"', 0),
    ],
)
def test_errors_name_the_position(text: str, position: int) -> None:
    with pytest.raises(ValueError, match=f"at position {position}"):
        parse_path(text)


@given(PARTS)
def test_round_trip(parts: list[Part]) -> None:
    assert parse_path(render_path(parts)) == tuple(parts)
