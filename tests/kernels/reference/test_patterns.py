"""Bounded search: the automaton means what the backtracking engine means, and takes over before that one is lost."""

from __future__ import annotations

import math
import re
import time
import warnings

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens.kernels.reference.patterns import PatternFault, python_pattern
from tracelens.kernels.reference.patterns.cost import search_cost
from tracelens.kernels.reference.patterns.linear import Automaton
from tracelens.kernels.reference.patterns.python import read
from tracelens.rungs.schema.ecma import compile_pattern
from tracelens.rungs.schema.ecma.bounded import to_tree
from tracelens.rungs.schema.ecma.emit import emit
from tracelens.rungs.schema.ecma.parse import parse

ATOMS = st.sampled_from(
    ["a", "b", "é", "ß", "K", ".", r"\d", r"\w", r"\W", r"\s", "[ab]", "[^a]", "[a-c1]", r"[^\d]", r"[\w.]", "1", " "]
)
EDGES = st.sampled_from(["^", "$", r"\b", r"\B"])
PYTHON_EDGES = st.sampled_from(["^", "$", r"\b", r"\B", r"\A", r"\Z", "(?m:^)", "(?m:$)", r"(?a:\b)", "(?s:.)"])
COUNTS = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?"])


def patterns(edges: st.SearchStrategy[str], *, looks: bool = True) -> st.SearchStrategy[str]:
    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        parts = [
            st.lists(inner, min_size=1, max_size=4).map("".join),
            st.tuples(inner, COUNTS).map(lambda both: f"(?:{both[0]}){both[1]}"),
            st.lists(inner, min_size=2, max_size=3).map(lambda options: f"({'|'.join(options)})"),
        ]
        if looks:
            parts.append(st.tuples(st.sampled_from(["?=", "?!"]), inner).map(lambda both: f"({both[0]}{both[1]})"))
        return st.one_of(parts)

    behind = st.tuples(st.sampled_from(["(?<=", "(?<!"]), ATOMS).map(lambda both: f"{both[0]}{both[1]})")
    return st.recursive(st.one_of(ATOMS, edges, behind), larger, max_leaves=8)


TEXTS = st.text(st.sampled_from("abcKkéß1 .\n-"), max_size=9)


@settings(max_examples=400)
@given(patterns(PYTHON_EDGES), st.sampled_from(["", "(?i)", "(?s)", "(?m)", "(?a)", "(?is)"]), TEXTS)
def test_the_automaton_finds_what_python_finds(pattern: str, flags: str, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = re.search(flags + pattern, text)
        tree = read(flags + pattern)
    assert (next(Automaton(tree).found(text), None) is not None) == (right is not None)
    start = min(Automaton(tree, backwards=True).found(text), default=None)
    assert start == (None if right is None else right.start())
    if right is not None:
        assert max(Automaton(tree).found(text, right.start())) >= right.end()


@settings(max_examples=300)
@given(patterns(EDGES), TEXTS)
def test_the_automaton_finds_what_ecma_finds(pattern: str, text: str) -> None:
    try:
        tree = parse(pattern)
    except ValueError:
        return
    right = regex.search(emit(tree), text, regex.VERSION0) is not None
    assert (next(Automaton(to_tree(tree)).found(text), None) is not None) == right


@pytest.mark.parametrize(
    ("pattern", "degree"),
    [
        ("^[A-Z]{3}$", 0), ("foo", 1), ("^a+b", 1), (".*foo", 2), (r"\s+$", 2), ("^a*a*a*$", 3), ("^(a+)+$", math.inf),
        ("^(a|aa)+$", math.inf), ("^(?:ab|cd)*$", 1), ("^(?:a+,)*$", 2), (r"^(?=.*\d)(?=.*[a-z]).{8,}$", 1),
        (r"^\d{1,3}(\.\d{1,3}){3}$", 0), ("^(?:a?){30}$", 0), ("^.{0,500}$", 1), ("^(a*)*$", math.inf),
    ],
)  # fmt: skip
def test_what_backtracking_may_cost(pattern: str, degree: float) -> None:
    assert search_cost(read(pattern)).degree == degree


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a+)+$", "^(a|aa)+$", "^(a|a)*$", "(x+x+)+y", "^(a*)*$", "(.*a){25}b", r"^(\w+\s?)*$", "(a?){40}a{40}b", ".*.*.*=",
        "(?:a|b|ab)*c", r"(?=(a+)+b)a", "^(([a-z])+.)+[A-Z]([a-z])+$", r"(?<!b)(a+)+$(?<=b)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", ["a" * 4000 + "!", "ab" * 2000 + "\n", "x" * 3000])
def test_no_search_takes_long(pattern: str, text: str) -> None:
    started = time.process_time()
    found = python_pattern(pattern).found(text)
    assert python_pattern(pattern).span(text) is None or found
    compile_pattern(pattern)(text)
    assert time.process_time() - started < 5


def test_a_pattern_that_only_backtracking_decides_is_used_where_it_is_cheap() -> None:
    quoted = python_pattern(r"""^(["'])(.*?)\1$""")
    assert quoted.found("'a'")
    assert not quoted.found("'a\"")
    assert python_pattern(r"\b(\w+)\s+\1\b").span("it is is so") == (3, 8)
    assert python_pattern(r"(?>a+)b").found("aab")
    assert compile_pattern(r"^(\w)\1*$")("aaa")


@pytest.mark.parametrize("pattern", [r"^(\w+)+\1$", r"^(a+)+(?>b)$", r"((?:a{1,500}b?){1,500}){1,500}c"])
def test_a_pattern_that_may_take_forever_is_refused(pattern: str) -> None:
    with pytest.raises(PatternFault, match="could take forever"):
        python_pattern(pattern)


def test_the_place_is_that_of_python_where_python_decides() -> None:
    assert python_pattern(r"drop\s+table").span("x drop  table y") == (2, 13)
    assert python_pattern("a").span("b") is None
    assert python_pattern("(a+)+b").span("x" + "a" * 600 + "b") == (1, 602)
