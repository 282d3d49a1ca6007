import json
import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rungs.safety.examples import BY_PACK, HARMLESS, PROSE
from tests.rungs.safety.test_packs import DEFAULT, answers, frame, plan
from tracelens.rungs.safety import analyse_answer, analyse_call, scan
from tracelens.rungs.safety.analyse import argument_hits
from tracelens.rungs.safety.leaves import unescape
from tracelens.rungs.safety.looks import look_for, window_items
from tracelens.rungs.safety.masking import SHAPES, WINDOWS
from tracelens.rungs.safety.own import widened
from tracelens.rungs.safety.prefilter import marks
from tracelens.rungs.safety.rules import GAP, spread

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
RULES = [(f"{rule.pack}: {rule.what}", rule.compiled(), rule.windows) for rule in DEFAULT.rules]
GATES = [
    *RULES,
    *((f"secrets: {kind}", shape, WINDOWS) for kind, shape in SHAPES),
    ("paths", DEFAULT.restricted.hint, DEFAULT.restricted.windows()),
]
SHAPES_OF_WINDOWS = [
    ("ab",),
    (r"\ba",),
    (r"a\b", "b{3}"),
    (r"[^a-z]a?b*/", "."),
    ("b/[\x80-\xff]",),
    ('a[ab"]*b', r"b+\\"),
    (r"/b{2}/+\b", "abba/b", "R"),
]


def views(text):
    """The text as it is and with its escapes undone once, twice …"""
    out = [text]
    while "\\" in out[-1] and len(out) < 9:
        out.append(unescape(out[-1]))
    return out


def in_plain_python(text, windows):
    """Whether a window, read as a regular expression of Python that never steps back, is found in the text."""
    item = re.compile(r"(\\.|\[.*?[^\\]\]|.)([?*+]|\{\d+\})?", re.DOTALL)
    plain = [
        "".join(one.replace(r"\b", r"[^a-z0-9_]") + (n and n + "+") for one, n in item.findall(w)) for w in windows
    ]
    data = [b"\0" + view.encode("utf-8", "surrogatepass") + b"\0" for view in views(text) if text]
    return any(re.search(w.encode("latin1"), view, re.IGNORECASE | re.DOTALL) for w in plain for view in data)


@given(
    st.lists(st.text('abBR/\\ é"u026', max_size=14) | st.text("a/b", min_size=8, max_size=40), max_size=5),
    st.lists(st.sampled_from(SHAPES_OF_WINDOWS), min_size=1, max_size=3).map(tuple),
)
def test_marks_are_those_of_plain_python(given_texts, groups):
    seen = marks(pl.Series(given_texts, dtype=pl.String), look_for(groups)).tolist()
    for text, mark in zip(given_texts, seen, strict=True):
        assert [bool(mark >> i & 1) for i in range(len(groups))] == [in_plain_python(text, some) for some in groups]


@pytest.mark.parametrize(("name", "gate", "windows"), GATES)
def test_windows_are_in_whatever_a_gate_finds(name, gate, windows):
    look = look_for((tuple(windows),))

    @settings(max_examples=15)
    @given(st.from_regex(gate), st.sampled_from(FRAGMENTS))
    def check(text, around):
        text = text.encode("utf-8", "replace").decode()
        found = [each for each in (text, around + text + around) if gate.search(each)]
        seen = marks(pl.Series([*found, *(json.dumps(json.dumps(each)) for each in found)], dtype=pl.String), look)
        assert seen.all()

    check()


@settings(max_examples=60)
@given(st.text(max_size=8), st.integers(0, 4))
def test_escapes_are_undone_before_windows_are_looked_for(around, level):
    word = "".join(f"\\u{ord(char):04x}" for char in "shred x")
    for _ in range(level):
        word = json.dumps(word)[1:-1]
    assert marks(pl.Series([f"{around} {word}"]), look_for(((r"\bshred\s",),)))[0]


@settings(max_examples=100)
@given(VALUES, SPELLINGS, STATES)
def test_rules_that_are_not_asked_would_find_nothing(value, spelling, state):
    text = spelling(value)
    seen = int(marks(pl.Series([text]), DEFAULT.look(loose=state not in {"object", "not_object"}))[0])
    assert argument_hits("t", text, state, DEFAULT, seen) == argument_hits("t", text, state, DEFAULT)


@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        ('{"args": ["drop", true, "table", "x"]}', "object"),
        ('{"args": ["cmd", {"a": "b"}, "/c", "x"]}', "object"),
        ('{"args": ["cat x", "|", "sh"]}', "object"),
        ('{"args": ["cat x >", "/dev/sda"]}', "object"),
        ('drop "x" table y', "invalid_json"),
        ('{"shell ": true}', "object"),
        ('{"path": "${HOME}.ssh/x"}', "object"),
        ('{"path": "/srv/x/../my\\\\ dir/x"}', "object"),
    ],
)
def test_what_stands_between_the_words_of_a_command_hides_nothing(arguments, state):
    made = plan(["shell", "destructive", "paths"], ("~/.ssh", "/srv/my dir"))
    expected = [(hit.code, hit.path) for hit in analyse_call("t", arguments, state, made)]
    assert expected
    assert scan(frame((0, 0, "t", arguments, state, True)), answers(), made).select("code", "path").rows() == expected


def test_words_of_one_command_may_have_something_between_them():
    look = look_for((tuple(spread([f"cmd{GAP}/c"])),))
    values = pl.Series(["cmd /c", '["cmd", "/c"]', '["cmd", null, "/c"]', '"cmd": "x/c"', 'cmd "x" /c'])
    assert marks(values, look).tolist() == [1, 1, 1, 0, 0]
    assert marks(values, look_for((tuple(spread([f"cmd{GAP}/c"], loose=True)),))).tolist() == [1, 1, 1, 1, 1]


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


def test_marks_see_escaped_texts_and_not_more():
    values = pl.Series(['{"a": "\\/etc\\/x"}', '{"a": "\\u002fetc"}', '{"a": "/etcetera"}', None])
    assert marks(values, look_for((DEFAULT.restricted.windows(),))).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("window", ["", "a?b", "[ab", "a\\", "a{2"])
def test_what_is_no_window_is_an_error(window):
    with pytest.raises(ValueError, match="window"):
        window_items(window)


def test_windows_let_ordinary_texts_alone():
    values = pl.Series(
        [
            '{"text": "naïve\\ndays on the coast because tracking invoice staff refused"}',
            '{"label": "account shows fresh cash", "stay": {"city": "Osaka", "check_in": "2026-03-16"}}',
            '{"shelf": "drop off at noon", "note": "delete the rack, push it and halve it"}',
        ]
    )
    assert marks(values, DEFAULT.look()).tolist() == [0, 0, 0]
