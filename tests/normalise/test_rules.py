"""The trie under the digest kernels equals the plain-Python rules."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kernels.reference.examples import NORMALIZE, OBJECTS, SCHEMAS
from tracelens import columns
from tracelens.errors import SuiteError
from tracelens.kernels.digest import R_DEFAULT, R_EXACT, R_IGNORE, R_SET, R_SLOW, R_UNORDERED
from tracelens.kernels.reference.normal import Rules, canonical, canonical_text
from tracelens.kernels.reference.values import parse
from tracelens.kernels.shred import shred
from tracelens.normalise.canonical import canonical as digests
from tracelens.normalise.rules import RuleProgram


def digest(values: list[Any], program: RuleProgram, tool: int = 0) -> list[tuple[int, int]]:
    packed = columns.texts([json.dumps(value, ensure_ascii=False) for value in values])
    shredded = shred(packed.data, packed.offsets[:-1], packed.offsets[1:])
    assert not shredded.error.any()
    found = digests(packed.data, shredded.tape, np.full(len(values), tool), program)
    return list(zip(found.root_hi.tolist(), found.root_lo.tolist(), strict=True))


@given(st.lists(OBJECTS, min_size=2, max_size=4), NORMALIZE, SCHEMAS)
@settings(deadline=None)
def test_equal_digests_mean_equal_canonical_forms(values: list[Any], normalize: Any, schema: Any) -> None:
    program = RuleProgram.compile(normalize, [("other", None), ("t", schema)])
    found = digest(values, program, 1)
    rules = Rules.compile(normalize, "t", schema)
    forms = [canonical(parse(json.dumps(value)), rules) for value in values]
    for i, form in enumerate(forms):
        for j in range(i):
            assert (found[i] == found[j]) == (form == forms[j])


@given(OBJECTS, NORMALIZE, SCHEMAS)
@settings(deadline=None)
def test_a_canonical_text_has_the_digest_of_what_it_came_from(value: Any, normalize: Any, schema: Any) -> None:
    # a rule for one place of an array speaks of another element once its own is left out or the array is sorted
    assume(not any(re.search(r"\[\d", path) for rules in normalize.values() for path in rules))
    program = RuleProgram.compile(normalize, [("t", schema)])
    text = canonical_text(value, Rules.compile(normalize, "t", schema))
    there, back = digest([value, json.loads(text)], program)
    assert there == back


@pytest.mark.parametrize(
    ("given_rules", "code"),
    [
        ("exact", R_EXACT),
        ("ignore", R_IGNORE),
        ("unordered", R_UNORDERED),
        ("set", R_SET),
        ("null_is_missing", R_DEFAULT),
        ({"default": {"value": 1}}, R_DEFAULT),
        ("date", R_SLOW),
        (["unordered", "trim"], R_SLOW),
        (["unordered", "exact"], R_SLOW),
    ],
)
def test_what_the_kernels_do_themselves(given_rules: Any, code: int) -> None:
    program = RuleProgram.compile({"t": {"a": given_rules}}, [("t", None)])
    child = program.trie.child_node[program.trie.first_child[program.roots[0]]]
    assert program.trie.rule[child] == code
    assert (program.trie.slow[child] >= 0) == (code == R_SLOW)


def test_single_elements_make_their_array_slow() -> None:
    program = RuleProgram.compile({"t": {"a[0]": "exact"}}, [("t", None)])
    child = program.trie.child_node[program.trie.first_child[program.roots[0]]]
    assert program.trie.rule[child] == R_SLOW
    a, b, c = digest([{"a": ["X", "Y"]}, {"a": ["X", "y"]}, {"a": ["x", "Y"]}], program)
    assert a == b != c


def test_tools_have_their_own_roots_and_others_the_common_rules() -> None:
    program = RuleProgram.compile(
        {"*": {"id": "ignore"}, "t": {"on": "exact"}},
        [("t", None), ("u", None), ("t", {"properties": {"on": {"format": "date"}}})],
    )
    assert program.roots.size == 4
    assert (program.roots >= 0).all()
    values = [{"id": 1, "on": "X"}, {"id": 2, "on": "x"}]
    for tool, same in [(0, False), (1, True), (2, False), (3, True), (-1, True)]:
        a, b = digest(values, program, tool)
        assert (a == b) is same


def test_lists_that_say_the_same_are_shared() -> None:
    properties = {f"day{i}": {"format": "date"} for i in range(20)}
    program = RuleProgram.compile({}, [("t", {"properties": properties}), ("u", {"properties": properties})])
    assert len(program.slow) == 1
    assert RuleProgram.compile({}, [("t", {"properties": {"q": {"type": "string"}}})]).roots.tolist() == [-1, -1]


def test_recursive_schemas_stay_small() -> None:
    node = {
        "properties": {
            "on": {"format": "date"},
            "kids": {"items": {"$ref": "#"}},
            "noise": {"properties": {f"p{i}": {} for i in range(50)}},
        }
    }
    program = RuleProgram.compile({}, [("t", node)])
    assert program.trie.rule.size <= 8
    deep = {"kids": [{"kids": [{"kids": [{"on": "2026-11-02T10:00"}]}]}]}
    other = {"kids": [{"kids": [{"kids": [{"on": "2026-11-02"}]}]}]}
    a, b = digest([deep, other], program)
    assert a == b


def test_defaults_inside_defaults() -> None:
    program = RuleProgram.compile(
        {
            "t": {
                "o": {"default": {"value": {"k": 1, "n": " X"}}},
                "o.k": {"default": {"value": 1}},
                "o.l": ["set", {"default": {"value": ["b", "A"]}}],
            }
        },
        [("t", None)],
    )
    found = digest(
        [{}, {"o": {"n": "x"}}, {"o": {"n": "X", "k": 1.0, "l": ["a", "B", "b"]}}, {"o": {"n": "y"}}, {"o": {}}],
        program,
    )
    assert found[0] == found[1] == found[2]
    assert len(set(found)) == 3


def test_tolerances_are_reported() -> None:
    program = RuleProgram.compile({"t": {"x": {"number": {"rel_tol": 0.1}}}}, [("t", None), ("u", None)])
    assert program.has_relation.tolist() == [True, False, False]
    assert program.rules[0].has_relation


def test_slow_answers() -> None:
    program = RuleProgram.compile({"t": {"at": "datetime", "far": {"unit": "km"}}}, [("t", None)])
    by_rule = {rules.nodes[number].rule.steps[0].name: i for i, (rules, number) in enumerate(program.slow)}  # type: ignore[index]
    assert program.apply_slow(by_rule["datetime"], ['"2026-11-02T10:00:00+01:00"', '"X\\u00c9"', "null"]) == [
        "t:2026-11-02T09:00:00Z",
        '"xé"',
        "null",
    ]
    assert program.apply_slow(by_rule["unit"], ['"5000 m"', '{"value":5,"unit":"km"}']) == ["t:5 km", "t:5 km"]
    assert program.apply_slow(-1, ['" É"', "1.50", '["A"]']) == ['"é"', "1.5", '["a"]']


def test_errors_name_the_place() -> None:
    with pytest.raises(SuiteError, match=r"normalize\.t\.a: unknown rule 'dat'"):
        RuleProgram.compile({"t": {"a": "dat"}}, [("t", None)])


SAYING_NOTHING = st.sampled_from([
    {"properties": {"a": {"type": "string", "format": "uuid"}, "b": {"items": {"type": "string"}}}},
    {"properties": {"a": {"type": "string", "default": "x"}, "b": {"prefixItems": [{}, {"default": 1}]}}},
    {"properties": {"format": {"type": "string"}, "a": {"enum": ["date"]}}, "$defs": {"a": {"format": "email"}}},
])  # fmt: skip


@given(OBJECTS, NORMALIZE, SAYING_NOTHING, st.booleans())
@settings(max_examples=80)
def test_tools_share_the_rules_of_all_where_theirs_are_the_same(
    value: Any, normalize: Any, schema: Any, asks: bool
) -> None:
    if asks:
        normalize = {**normalize, "*": {"a": {"default": {"schema": True}}, "b[*]": "number", **normalize.get("*", {})}}
    program = RuleProgram.compile(normalize, [("t", schema), ("u", None), ("v", schema)])
    sent = parse(json.dumps(value))
    for number, tool in enumerate(("t", "u", "v")):
        alone = Rules.compile(normalize, tool, None if tool == "u" else schema)
        assert canonical_text(sent, program.rules[number]) == canonical_text(sent, alone)
    assert digest([value], program, 2)[0] == digest([value], RuleProgram.compile(normalize, [("v", schema)]))[0]


def test_a_format_anywhere_gives_a_tool_its_own_rules() -> None:
    dated = {"properties": {"a": {"$ref": "#/$defs/Day"}}, "$defs": {"Day": {"format": "date"}}}
    program = RuleProgram.compile({}, [("t", dated), ("u", {"properties": {"a": {}}}), ("v", dated)])
    assert (program.roots >= 0).tolist() == [True, False, True, False]
    assert program.rules[1] is program.rules[3]
