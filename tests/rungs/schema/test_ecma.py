"""Regular expressions of ECMA-262: what they mean, which are none, and the automaton against the matcher."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens.kernels import context
from tracelens.kernels.check_text import run_automaton
from tracelens.kernels.memory import address_of
from tracelens.rungs.schema.ecma import PatternError, compile_pattern
from tracelens.rungs.schema.ecma.automaton import build
from tracelens.rungs.schema.ecma.syntax import LAST_POINT, complement


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^abc$", "abc\n", False),
        ("^abc$", "x\nabc", False),
        (r"^\d$", "٣", False),
        (r"^\w$", "é", False),
        (r"^\s$", "\ufeff", True),
        (r"^\s$", "\x1c", False),
        (r"\bé", "aé", True),
        (".", "\u2028", False),
        (".", "\x85", True),
        (r"^\p{Lu}$", "É", True),
        (r"^\P{Lu}$", "É", False),
        (r"^\p{Script=Greek}$", "λ", True),
        (r"^[\p{L}\d]$", "7", True),
        (r"^[^\p{L}]$", "é", False),
        (r"^\ud83d\ude00$", "😀", True),
        (r"^\u{1F600}$", "😀", True),
        ("^.$", "😀", True),
        (r"^\cJ$", "\n", True),
        (r"^\x41\0$", "A\0", True),
        (r"(?<x>a)\k<x>", "aa", True),
        (r"\k<x>(?<x>a)", "a", True),
        (r"^(?:(a)|b)\1$", "b", True),
        (r"^(a)\1$", "ab", False),
        ("(?<=a+)b", "aab", True),
        ("(?<!a)b", "ab", False),
        ("a(?!b)", "ab", False),
        ("[]", "a", False),
        ("^[^]$", "\n", True),
        (r"^[\b]$", "\b", True),
        (r"^[a\-z]+$", "a-z", True),
        (r"^[\w-.]+$", "a-.", True),
        (r"^\@\_$", "@_", True),
        ("^a{,2}$", "a{,2}", True),
        ("^a{2,}?$", "aaa", True),
        ("^}]$", "}]", True),
        ("^[[:alpha:]]$", "a]", True),
        ("^[]^]$", "]^]", False),
    ],
)
def test_meaning(pattern, text, found):
    assert compile_pattern(pattern)(text) is found


@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "[a", "a**", "a++", "*a", "^*", "(?=a)+", "{1}", "a{2,1}", "[z-a]", "\\", r"\a", r"\Z", r"\A", r"\1",
        r"(a)\2", r"\k<x>", r"\u{110000}", r"\u12", r"\x1", r"\c1", r"\p{Nothing}", r"\p{}", r"\pL", "(?i)a",
        "(?P<n>a)", "(?<1>a)", "(?<n>a)(?<n>b)", "(?#c)a", "(?>a)", r"\00", "(" * 200 + ")" * 200,
    ],
)  # fmt: skip
def test_no_regular_expression(pattern):
    with pytest.raises(PatternError):
        compile_pattern(pattern)


parts = st.sampled_from(
    ["a", "b", "[ab]", "[^a]", ".", r"\d", r"\w", r"\s", "^", "$", "(a|b)", "(?:ab|)", "a*", "b+?", "[a-c]{0,2}", "(b|$)", "1", "x{2}", "-"]
)  # fmt: skip
patterns = st.lists(parts, max_size=5).map("".join) | st.tuples(parts, parts).map("|".join)


@settings(max_examples=200)
@given(patterns, st.lists(st.text(alphabet="ab1x- \n", max_size=6), max_size=6))
def test_the_automaton_finds_what_the_matcher_finds(pattern, texts):
    automaton = build(pattern)
    assert automaton is not None
    found = compile_pattern(pattern)
    slots = np.zeros(context.SLOTS, np.int64)
    slots[context.P_STEPS], slots[context.P_MARKS] = address_of(automaton.steps), address_of(automaton.marks)
    for text in ["", *texts]:
        data = np.frombuffer(text.encode() + bytes(16), np.uint8).copy()
        verdict = run_automaton(address_of(data), 0, len(text), 0, address_of(slots))
        assert bool(verdict) == found(text), (pattern, text)


@pytest.mark.parametrize("pattern", ["(?=a)", r"\b", r"(a)\1", r"\p{L}", "(a{60}){60}", "(?:a|b)*a(?:a|b){9}", "("])
def test_too_hard_for_an_automaton(pattern):
    assert build(pattern) is None


def test_complement_of_nothing_is_everything():
    assert complement(()) == ((0, LAST_POINT),)
