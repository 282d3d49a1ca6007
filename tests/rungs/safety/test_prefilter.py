import json
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rungs.safety.examples import BY_PACK, HARMLESS, PROSE
from tests.rungs.safety.test_packs import DEFAULT, answers, frame, plan
from tracelens.columns import texts
from tracelens.kernels.windows import ESCAPED, HIT, mark_texts
from tracelens.rungs.safety import analyse_answer, analyse_call, scan
from tracelens.rungs.safety.masking import GATE, WINDOWS
from tracelens.rungs.safety.own import widened
from tracelens.rungs.safety.prefilter import marks, passes
from tracelens.rungs.safety.rules import rust_gate, window_bytes, window_table

EXAMPLES = [text for rows in [*BY_PACK.values(), HARMLESS, PROSE] for _, text in rows]
KEYS = sorted({key for rows in [*BY_PACK.values(), HARMLESS, PROSE] for key, _ in rows} | {"shell", "größe"})
FRAGMENTS = sorted({word for text in EXAMPLES for word in re.findall(r"\S+", text)})
NOISE = st.sampled_from([*FRAGMENTS, *EXAMPLES, " ", "\n", '"', "'", "\\", "/", "..", "é", "%2f", "$(", "`", "{}", "|"])
TEXTS = st.lists(NOISE, max_size=6).map(" ".join) | st.lists(NOISE, max_size=4).map("".join)
VALUES = st.recursive(
    TEXTS | st.booleans() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=4,
)
SPELLINGS = st.sampled_from(
    [json.dumps, lambda v: json.dumps(v, ensure_ascii=False), lambda v: json.dumps(json.dumps(v))]
)
STATES = st.sampled_from(["object", "not_object", "invalid_json", "truncated", "text"])
RULES = [(f"{rule.pack}: {rule.what}", rule.gate, rule.windows) for rule, _ in DEFAULT.rules]
GATES = [*RULES, ("secrets", GATE, WINDOWS), ("paths", DEFAULT.restricted.gate(), DEFAULT.restricted.windows())]


def in_plain_python(text, windows):
    data = b"\0" + text.encode() + b"\0\0\0"
    sets = [window_bytes(window) for window in windows]
    # one zero byte in front, three behind
    return any(all(data[i + p] in allowed[p] for p in range(4)) for i in range(len(data) - 3) for allowed in sets)


@given(
    st.lists(st.text('abR/\\ é"', max_size=12), max_size=5),
    st.sampled_from([("ab",), ("[^a-z]r", "b/é".encode().decode("latin1")[:3]), (r"a[\s\x00]",)]),
)
def test_marks_are_those_of_plain_python(given_texts, windows):
    seen = texts(given_texts)
    out = np.zeros(len(seen), np.uint8)
    mark_texts(seen.data, seen.offsets, window_table(windows), out)
    assert [bool(mark & HIT) for mark in out] == [in_plain_python(text, windows) for text in given_texts]
    assert [bool(mark & ESCAPED) for mark in out] == ["\\" in text for text in given_texts]


@pytest.mark.parametrize(("name", "gate", "windows"), GATES)
def test_windows_and_rust_let_through_what_a_gate_finds(name, gate, windows):
    compiled = re.compile(gate, re.IGNORECASE | re.ASCII | re.DOTALL)
    table = window_table(windows)

    @settings(max_examples=25)
    @given(st.from_regex(compiled), TEXTS)
    def check(text, around):
        text = text.encode("utf-8", "replace").decode()
        for each in (text, around + text + around, around):
            if compiled.search(each):
                series = pl.Series([each])
                assert marks(series, table)[0] & HIT
                assert series.str.contains(rust_gate([gate]))[0]

    check()


@settings(max_examples=150)
@given(st.lists(st.tuples(VALUES, SPELLINGS, STATES), max_size=5), st.lists(TEXTS, max_size=3))
def test_scanning_equals_the_analysis_of_every_call(values, said):
    rows = []
    for index, (value, spelling, state) in enumerate(values):
        text = spelling(value)
        rows.append((0, index, "t", text if state != "truncated" else text[:-2], state, True))
    found = scan(frame(*rows), answers(*said), DEFAULT)
    expected = [(0, row[1], *hit) for row in rows for hit in analyse_call("t", row[3], row[4], DEFAULT)]
    of_calls = found.filter(pl.col("call_index").is_not_null())
    columns = ("trace", "call_index", "code", "severity", "path", "message", "value")
    assert of_calls.select(columns).rows() == expected
    told = [(i, hit.code, hit.value) for i, text in enumerate(said) for hit in analyse_answer(text, DEFAULT)]
    assert found.filter(pl.col("call_index").is_null()).select("trace", "code", "value").rows() == told


PATTERNS = st.sampled_from(
    [r"(?i)drop\s+table", r"^rm", r"rm$", r"\bx\b", r"a(?!b)", r"[^\s]+@", r"[\s,]x", r"(?i)K", r"\d{2,3}", "é", r"(a)\1",
     r"x|^y", r"\x41", r"a.c", r"(?s)a.c", r"\w+\W", r"[a-c]{1,2}?x", r"\$\(", "a++b", r"\S\D"]
)  # fmt: skip


@settings(max_examples=150)
@given(
    st.lists(PATTERNS, min_size=1, max_size=2),
    st.lists(st.text('ab xy1K\u212a@,\t\x1c\n"\\drm$(é', max_size=8), max_size=5),
)
def test_own_patterns_are_never_filtered_away(regexes, values):
    made = plan(patterns=[(f"p{i}", regex, ["t"]) for i, regex in enumerate(regexes)])
    rows = [(0, i, "t", json.dumps({"k": value}), "object", True) for i, value in enumerate(values)]
    rows += [(1, i, "t", value, "invalid_json", True) for i, value in enumerate(values)]
    found = scan(frame(*rows), answers(), made).select("trace", "call_index", "code", "path").rows()
    expected = [(*row[:2], hit.code, hit.path) for row in rows for hit in analyse_call("t", row[3], row[4], made)]
    assert found == expected


@pytest.mark.parametrize(("regex", "plain"), [("a(?=b)", False), (r"\Bx", False), ("(?P<n>a)", False), ("a{,3}", False),
    ("a*+", False), ("[[a]", False), ("[a&&b]", False), (r"^a\b", True), ("[^a-z]", True), ("(?i)a b", True)])  # fmt: skip
def test_only_plain_patterns_are_given_to_rust(regex, plain):
    assert (widened(regex) is not None) is plain


def test_gates_pass_escaped_texts():
    values = pl.Series(['{"a": "\\/etc\\/x"}', '{"a": "\\u002fetc"}', '{"a": "/etcetera"}', None])
    gate, table = rust_gate([DEFAULT.restricted.gate()]), window_table(DEFAULT.restricted.windows())
    assert passes(values, gate, marks(values, table)).tolist() == [True, True, False, False]


@pytest.mark.parametrize("window", ["", "abcde"])
def test_a_window_has_one_to_four_positions(window):
    with pytest.raises(ValueError, match="one to 4"):
        window_bytes(window)
