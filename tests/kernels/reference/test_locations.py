"""File paths and URLs."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracelens.kernels.reference.locations import path, url


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/a/b", "/a/b"),
        ("//a//b///", "/a/b"),
        ("/a/./b/../c", "/a/c"),
        ("/../..", "/"),
        ("a/..", "."),
        ("./a", "a"),
        ("../a", "../a"),
        ("a/../../b", "../b"),
        ("~/x/../y", "~/y"),
        ("$HOME/x", "~/x"),
        ("${HOME}", "~"),
        ("~/..", "~/.."),
        ("~anna/..", "~anna/.."),
        ("a/../~", "./~"),
        ("./~/x", "./~/x"),
        ("./$HOME", "./$HOME"),
        ("A/b", "A/b"),
        ("", ""),
        ("  ", ""),
        ("./ a", "./ a"),
    ],
)
def test_path(text: str, found: str) -> None:
    assert path(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("HTTP://Example.COM", "http://example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("https://example.com:0443/", "https://example.com/"),
        ("http://e/a/./b/../c", "http://e/a/c"),
        ("http://e/a/..", "http://e/"),
        ("http://e/a/.", "http://e/a/"),
        ("http://e/a//b/", "http://e/a//b/"),
        ("http://e/%7Euser/%2f%c3%bc", "http://e/~user/%2F%C3%BC"),
        ("http://e/ü x", "http://e/%C3%BC%20x"),
        ("http://e/?b=1&a=2#Top", "http://e/?b=1&a=2#Top"),
        ("http://e/100%", "http://e/100%25"),
        ("http://Anna:Pw@E/", "http://Anna:Pw@e/"),
        ("http://[::1]:80/x", "http://[::1]/x"),
        ("http://e:x/", None),
        ("example.com", None),
        ("mailto:a@b", None),
        ("", None),
    ],
)
def test_url(text: str, found: str | None) -> None:
    assert url(text) == found


@given(st.one_of(st.text("/.~$HOME{} ab\u3000e\u0301", max_size=16), st.text(max_size=10)))
@example("./ /~")
@example("~/a/../..")
@example("a/ /..")
def test_path_is_idempotent(text: str) -> None:
    once = path(text)
    assert path(once) == once


@given(st.text("/.:@?#%41aZü [] ", max_size=16), st.sampled_from(["http://", "HTTPS://", "x-y://u@h:8/"]))
def test_url_is_idempotent(text: str, scheme: str) -> None:
    once = url(scheme + text)
    assert once is None or url(once) == once
