"""Digests in bulk equal the canonical forms of the plain-Python rules, and so do differences leaf by leaf."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracelens import columns
from tracelens.arguments import read_arguments
from tracelens.kernels.reference.differences import diffs
from tracelens.kernels.reference.normal import AS_SENT, Rules, canonical
from tracelens.kernels.reference.relation import agreement
from tracelens.kernels.reference.values import parse
from tracelens.normalise.canonical import canonical as digests
from tracelens.normalise.canonical import raw_digests
from tracelens.normalise.differences import Compared, differences
from tracelens.normalise.rules import RuleProgram

NORMALIZE: dict[str, dict[str, Any]] = {
    "*": {"note": "exact"},
    "t": {
        "a": {"default": {"value": 1}},
        "b": "null_is_missing",
        "c": "unordered",
        "d": "set",
        "e": "ignore",
        "f.g": "date",
        "h[*].i": "exact",
        "j": {"number": {"decimals": 1}},
        "k": "datetime",
        "l": "path",
    },
}
SCHEMA = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}

strings = st.sampled_from(
    [
        *(
            "x",
            " X ",
            "é",
            "É",
            "E\u0301",
            "ß",
            "SS",
            "\u212a",
            "k",
            "",
            "a\nb",
            'q"',
            "2026-11-02",
            "2026-11-02T23:00:00Z",
        ),
        *("2026-11-03T00:00:00+01:00", "2026-11-02T22:00", "/a/./b", "/a//b", "1.04", "\u00a0x\u2003", "İ", "tab\t"),
        *(
            "Ж ж",
            "ΣΑΣ",
            "漢字\u3000",
            "한국",
            "가\u11a8",
            "か\u3099",
            "ＡＢ",
            "😀",
            "\x01\x1f\x7f/",
            '\\ "É"',
            "שּׁ",
            "Ⱥ",
        ),
    ]
)
numbers = st.sampled_from(
    [
        "0",
        "-0",
        "0.0",
        "1",
        "1.0",
        "10e-1",
        "100",
        "1e2",
        "-5",
        "9007199254740993",
        "9007199254740992",
        "2.50",
        "-0.0",
        "100.0",
        "0.000010",
        "-3.0",
        "10.05",
    ]
)
scalars = st.one_of(
    strings.map(json.dumps),
    strings.map(lambda s: json.dumps(s, ensure_ascii=False)),
    numbers,
    st.sampled_from(["true", "false", "null"]),
)


def objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    keys = st.sampled_from([*"abcdefghijkl", "note", "day", "é", "\\u0061"])
    members = st.lists(st.tuples(keys, inner), max_size=4, unique_by=lambda pair: pair[0].replace("\\u0061", "a"))
    return members.map(lambda pairs: "{" + ",".join(f'"{key}":{text}' for key, text in pairs) + "}")


def containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return objects(inner) | st.lists(inner, max_size=4).map(lambda texts: "[" + ",".join(texts) + "]")


values = st.recursive(scalars, containers, max_leaves=10)
arguments = objects(values)
program = RuleProgram.compile(NORMALIZE, [("t", SCHEMA)])
plain = RuleProgram.compile({}, [])


def compared(texts: list[str], rules: RuleProgram | None, tool: int) -> Compared:
    forms = np.full(len(texts), columns.JSON_VALUE, np.uint8)
    read = read_arguments(pa.array(texts, pa.large_string()), forms)
    return Compared(read, digests(read.data, read.tape, np.full(len(texts), tool), rules))


def keys(side: Compared) -> list[tuple[int, int]]:
    return list(zip(side.canonical.root_hi.tolist(), side.canonical.root_lo.tolist(), strict=True))


def top_of(side: Compared, text: int) -> np.ndarray:
    """Key hashes and digests of a text's top-level arguments."""
    first, count = side.canonical.top_first[text], side.canonical.top_count[text]
    return side.canonical.top.reshape(-1, 3)[first : first + count]


def assert_same_partition(texts: list[str], rules: RuleProgram | None, reference: Rules, tool: int) -> None:
    """Two texts have equal digests exactly where they have equal canonical forms."""
    found = keys(compared(texts, rules, tool))
    forms = [canonical(parse(text), reference) for text in texts]
    for i in range(len(texts)):
        for j in range(i):
            assert (found[i] == found[j]) == (forms[i] == forms[j]), (texts[i], texts[j])


@given(st.lists(arguments, min_size=2, max_size=8))
@settings(max_examples=60)
def test_digests_equal_canonical_forms(texts: list[str]) -> None:
    assert_same_partition(texts, program, program.rules[0], 0)
    assert_same_partition(texts, program, program.rules[1], 1)
    assert_same_partition(texts, plain, plain.rules[0], 0)
    assert_same_partition(texts, None, AS_SENT, 0)


@given(st.lists(arguments, min_size=1, max_size=8))
@settings(max_examples=60)
def test_raw_digests_are_those_without_rules(texts: list[str]) -> None:
    """Also where they are taken from calls that the rules do nothing to."""
    for rules, tool in ((program, 0), (program, 1), (plain, 0)):
        side = compared(texts, rules, tool)
        hi, lo = raw_digests(side.arguments.data, side.arguments.tape, side.canonical, np.ones(len(texts), np.bool_))
        wanted = keys(compared(texts, None, 0))
        assert list(zip(hi.tolist(), lo.tolist(), strict=True)) == wanted


def test_calls_without_change_are_known() -> None:
    texts = [
        '{"x":"a b"}',
        '{"x":"A"}',
        '{"x":" a"}',
        '{"x":"é"}',
        '{"x":"É"}',
        '{"x":"\\u00e9\\n."}',
        '{"x":"e\u0301"}',
        "{}",
    ]
    side = compared(texts, plain, 0)
    assert side.canonical.changed.tolist() == [False, True, True, False, True, False, True, False]
    assert not compared(['{"note":"A","z":1.0}'], program, 0).canonical.changed.any()
    for text in ('{"a":2}', '{"b":1}', '{"c":[]}', '{"d":[]}', '{"e":1}', '{"j":1}'):
        assert compared([text], program, 0).canonical.changed.all(), text


def test_many_members_are_sorted() -> None:
    names = [f"k{i * 7919 % 1000}" for i in range(1000)]
    texts = ["{" + ",".join(f'"{name}":1' for name in order) + "}" for order in (names, sorted(names), names[::-1])]
    side = compared(texts, plain, 0)
    assert len(set(keys(side))) == 1
    hashes = [top_of(side, i)[:, 0] for i in range(3)]
    assert hashes[0].size == 1000
    assert (hashes[0] == np.sort(hashes[0])).all()
    assert (hashes[0] == hashes[1]).all()
    assert (hashes[0] == hashes[2]).all()
    lists = compared(['{"c":' + json.dumps(names) + "}", '{"c":' + json.dumps(names[::-1]) + "}"], program, 0)
    assert len(set(keys(lists))) == 1


def test_equal_values_have_equal_digests() -> None:
    pairs = [
        ('{"x":1,"y":" A "}', '{"y":"a","x":1.0}'),
        ('{"x":"\u212a"}', '{"x":"K"}'),
        ('{"x":"\\u0041b"}', '{"x":"aB"}'),
        ('{"x":[0.5]}', '{"x":[5e-1]}'),
        ('{"x":"STRASSE"}', '{"x":"straße"}'),
    ]
    for left, right in pairs:
        found = keys(compared([left, right], plain, 0))
        assert found[0] == found[1], (left, right)


def rows_of(found: pa.Table) -> list[tuple[str | None, ...]]:
    """Path, status and values of each row."""
    return list(zip(*(found[name].to_pylist() for name in ("path", "status", "actual", "expected")), strict=True))


@given(arguments, arguments)
@example("{}", '{"x":1}')
@example('{"x":1,"y":{}}', "{}")
@example("{}", "{}")
@settings(max_examples=80)
def test_differences_equal_the_reference(left: str, right: str) -> None:
    for tool in (0, 1):
        a, e = compared([left], program, tool), compared([right], program, tool)
        found = differences(a, e, program, np.array([0]), np.array([0]))
        wanted = [tuple(row) for row in diffs(parse(left), parse(right), program.rules[tool])]
        assert sorted(rows_of(found), key=repr) == sorted(wanted, key=repr)


@given(arguments, arguments)
@settings(max_examples=60)
def test_top_level_arguments_give_the_agreement(left: str, right: str) -> None:
    def members(side: Compared) -> dict[int, tuple[int, int]]:
        return {key: (hi, lo) for key, hi, lo in top_of(side, 0).tolist()}

    a, e = members(compared([left], program, 0)), members(compared([right], program, 0))
    union = len(a.keys() | e.keys())
    equal = sum(a[key] == e[key] for key in a.keys() & e.keys())
    wanted = agreement(parse(left), parse(right), program.rules[0])
    assert (round(equal / union, 9) if union else 1.0) == wanted


def test_a_string_first_seen_where_it_is_ignored_has_the_text_of_the_default_rules() -> None:
    """The very string is an open value at three places, of which one is ignored and one is compared as written."""
    left, right = ('{"e":"İX","x":"İX","note":"İX","y":"' + end + '"}' for end in ["İX", "İY"])
    a, e = compared([left], program, 0), compared([right], program, 0)
    found = differences(a, e, program, np.array([0]), np.array([0]))
    wanted = [tuple(row) for row in diffs(parse(left), parse(right), program.rules[0])]
    assert rows_of(found) == wanted


def test_unusable_arguments_are_not_compared() -> None:
    read = read_arguments(pa.array(['{"a":1', "{}"], pa.large_string()), np.array([3, 3], np.uint8))
    side = Compared(read, digests(read.data, read.tape, np.zeros(2, np.int64), plain))
    found = differences(side, side, plain, np.array([0]), np.array([1]))
    assert rows_of(found) == [("", "not_compared", '{"a":1', "{}")]
    assert found["pair"].to_pylist() == [0]
