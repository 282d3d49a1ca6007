"""Faults of normalisation and matching: booleans as numbers, texts as numbers, names, times, arguments to ignore."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import tracelens as tl
from tests.run.scoring import SETS, call, closed, column, columns, grouped, score, tools, trace
from tracelens.errors import SuiteError


def equal(folder, pairs: list[tuple[Any, Any]], suite: dict[str, Any] | None = None) -> list[bool]:
    """Whether the engine takes the two values of each pair for equal, at the top and deep inside alike."""
    lines = []
    for n, (left, right) in enumerate(pairs):
        lines.append(trace(f"{n}/top", [call("t", v=left)], [call("t", v=right)]))
        lines.append(trace(f"{n}/swapped", [call("t", v=right)], [call("t", v=left)]))
        if suite is None:
            deep = [{"name": "t", "arguments": {"a": [{"b": [0, value]}]}} for value in (left, right)]
            lines.append(trace(f"{n}/deep", deep[:1], deep[1:]))
    results = score(folder, lines, suite)
    found: dict[str, set[float]] = {}
    for key, value in column(results.traces, "accuracy_optimal").items():
        found.setdefault(key.split("/")[0], set()).add(value)
    assert all(len(values) == 1 for values in found.values()), found
    assert set(results.traces["strict"]) == {1.0}
    return [found[str(n)] == {1.0} for n in range(len(pairs))]


DIFFERENT = [
    (True, 1), (False, 0), (True, "true"), (None, False), (None, 0), (None, ""), (None, "null"), ([], {}), ([], None),
    ("100", 100), ("1.0", 1), ("02134", "2134"), ("1e3", "1000"), (-5, 5), (2**53 + 1, 2**53), (0.1, 0.10000000000000001e1),
    (12345678901234567890, 12345678901234567891), ([1, 0], [True, False]), ([1, 2], [2, 1]), ([1], [1, 1]), ([1], 1),
    ("a b", "ab"), ("a  b", "a b"), ("résumé", "resume"), ({"K": 1}, {"k": 1}), ({"k": None}, {}), ("", " x"), ("ß", "s"),
]  # fmt: skip
SAME = [
    (1, 1.0), (0, -0.0), (100, 1e2), (10**15, 1e15), ("SFO", " sfo\t"), ("Zürich", "ZU\u0308RICH"), ("straße", "STRASSE"),
    ("\u00a0x\u3000", "x"), ("ﬁ", "FI"), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([], []), ({}, {}), (None, None), ("", "  "),
]  # fmt: skip


def test_values_of_different_types_are_different(tmp_path):
    assert equal(tmp_path, DIFFERENT) == [False] * len(DIFFERENT)


def test_one_value_in_two_spellings_is_one_value(tmp_path):
    assert equal(tmp_path, SAME) == [True] * len(SAME)


def test_numbers_in_text_match_only_where_asked_and_never_satisfy_a_schema(tmp_path):
    schema = closed(amount={"type": "number"}, code={"type": "string"})
    lines = [
        trace("amount", [call("pay", amount="100")], [call("pay", amount=100)]),
        trace("spelling", [call("pay", amount="1e2")], [call("pay", amount=100)]),
        trace("code", [call("pay", code="02134")], [call("pay", code="2134")]),
        trace("exponent", [call("pay", code="1e3")], [call("pay", code="1000")]),
    ]
    strict = score(tmp_path, lines, tools(pay=schema))
    assert set(strict.traces["accuracy_optimal"]) == {0.5}
    lenient = score(tmp_path, lines, {**tools(pay=schema), "normalize": {"pay": {"amount": "number"}}})
    assert column(lenient.traces, "accuracy_optimal") == {"amount": 1.0, "spelling": 1.0, "code": 0.5, "exponent": 0.5}
    for results in (strict, lenient):
        assert results.calls["schema_state"].to_list() == ["invalid", "invalid", "valid", "valid"]
    assert column(lenient.traces, "route")["amount"] == "triage"


INSTANT = ["2026-11-02T10:00:00+01:00", "2026-11-02T09:00:00Z", "2026-11-02t09:00:00z", "2026-11-02T09:00:00.000+00:00",
           "2026-11-02T04:00:00-05:00", "2026-11-02T09:00:00.0Z"]  # fmt: skip
OTHERS = ["2026-11-02T09:00:00", "2026-11-02", "2026-11-02T09:00:01Z", "2026-11-02T09:00:00.001Z", "soon", ""]


def test_a_declared_time_is_compared_as_an_instant(tmp_path):
    """Zones and trailing zeros are spelling; a time without a zone is another thing, and nothing raises."""
    suite = tools(t=closed(v={"type": "string", "format": "date-time"}))
    same = [(one, INSTANT[1]) for one in INSTANT]
    other = [(one, INSTANT[1]) for one in OTHERS]
    assert equal(tmp_path, same + other, suite) == [True] * len(same) + [False] * len(other)
    exact = {**suite, "normalize": {"t": {"v": "exact"}}}
    assert equal(tmp_path, same + other, exact) == [one == INSTANT[1] for one, _ in same + other]
    assert equal(tmp_path, [("2026-11-02T09:00:00", "2026-11-02T09:00:00.0"), ("soon", " SOON")], suite) == [True, True]
    undeclared = tools(t=closed(v={"type": "string"}))
    assert equal(tmp_path, [(INSTANT[0], INSTANT[1]), (INSTANT[2], INSTANT[1])], undeclared) == [False, True]


def test_a_declared_date_is_the_calendar_date_as_written(tmp_path):
    suite = tools(t=closed(v={"type": "string", "format": "date"}))
    day = "2026-11-02"
    same = [
        "2026-11-02",
        "2026-11-02T23:30:00-08:00",
        "2026-11-02T00:30:00+02:00",
        "2026-11-02 10:00",
        "2026-11-02T10:00:00",
    ]
    other = ["2026-11-03", "2026-11-03T00:30:00+02:00", "02.11.2026", "2026-11-2", "2026-13-45", "2026-11-02nd"]
    assert equal(tmp_path, [(one, day) for one in same + other], suite) == [True] * len(same) + [False] * len(other)


def test_a_rule_gives_naive_times_a_zone(tmp_path):
    zoned = {"normalize": {"t": {"v": {"datetime": "Europe/Berlin"}}}}
    pairs = [("2026-11-02T10:00:00", "2026-11-02T09:00:00Z"), ("2026-07-02T10:00:00", "2026-07-02T09:00:00Z")]
    assert equal(tmp_path, pairs, zoned) == [True, False]


SECRET_FREE = {"safety": {"packs": []}}


@pytest.mark.parametrize(
    ("rules", "forgiven"),
    [
        ({"*": {"_auth": "ignore"}}, {"top", "missing", "added"}),
        ({"list": {"_auth": "ignore"}}, {"top", "missing", "added"}),
        ({"other": {"_auth": "ignore"}}, set()),
        ({"*": {"meta.id": "ignore"}}, {"nested"}),
        ({"*": {"items[*].at": "ignore"}}, {"in an array"}),
        ({"*": {'"a.b"': "ignore"}}, {"dotted key"}),
        ({"*": {"_auth": "ignore"}, "list": {"_auth": "exact"}}, set()),
        ({}, set()),
    ],
)
def test_arguments_of_the_framework_are_ignored_where_declared(tmp_path, rules, forgiven):
    """By path, on both sides; ignored is said in the differences, and ids of calls are never compared."""
    org = {"org": "acme"}
    pairs = {
        "top": ({**org, "_auth": "q1"}, {**org, "_auth": "z9"}),
        "missing": (org, {**org, "_auth": "z9"}),
        "added": ({**org, "_auth": "q1"}, org),
        "nested": ({**org, "meta": {"id": 1, "v": 2}}, {**org, "meta": {"id": 3, "v": 2}}),
        "in an array": (
            {"items": [{"at": 1, "n": 1}, {"at": 2, "n": 2}]},
            {"items": [{"at": 8, "n": 1}, {"at": 9, "n": 2}]},
        ),
        "dotted key": ({**org, "a.b": 1}, {**org, "a.b": 2}),
        "another value": ({"org": "x", "_auth": "q1"}, {**org, "_auth": "z9"}),
    }
    lines = [
        trace(name, [{**call("list", **sent), "call_id": "mine"}], [call("list", **wanted)])
        for name, (sent, wanted) in pairs.items()
    ]
    results = score(tmp_path, lines, {"normalize": rules, **SECRET_FREE})
    exact = {name for name, value in column(results.traces, "accuracy_optimal").items() if value == 1.0}
    assert exact == forgiven
    assert {tuple(row) for row in results.traces.select(*SETS).rows()} == {(1.0, 1.0, 1.0)}
    statuses = dict(grouped(results.argument_diffs, "path", "status")["another value"])
    ignoring = rules in ({"*": {"_auth": "ignore"}}, {"list": {"_auth": "ignore"}})
    assert statuses == {"org": "differs", "_auth": "ignored" if ignoring else "differs"}


def test_ignored_is_not_ignored_by_schema_and_safety(tmp_path):
    schema = closed(org={"type": "string"}, _auth={"type": "integer"})
    suite = {
        **tools(list=schema),
        "normalize": {"*": {"_auth": "ignore"}},
        "safety": {"packs": [], "patterns": [{"name": "marker", "regex": "q1"}]},
    }
    lines = [trace("t", [call("list", org="acme", _auth="q1")], [call("list", org="acme", _auth=3)])]
    results = score(tmp_path, lines, suite)
    assert results.traces["accuracy_optimal"].item() == 1.0
    assert set(results.findings["code"]) == {"schema.type", "safety.marker"}
    assert results.traces["route"].item() == "triage"


def test_a_bearer_token_is_masked_and_still_compared(tmp_path):
    lines = [
        trace("other", [call("list", _auth="Bearer q1abcdefgh")], [call("list", _auth="Bearer z9abcdefgh")]),
        trace("same", [call("list", _auth="Bearer q1abcdefgh")], [call("list", _auth="Bearer q1abcdefgh")]),
    ]
    results = score(tmp_path, lines, {"safety": {"packs": ["secrets"]}})
    assert column(results.traces, "accuracy_optimal") == {"other": 0.5, "same": 1.0}
    for name in ("calls", "expected", "argument_diffs", "findings", "traces"):
        text = getattr(results, name).write_ndjson()
        assert "q1abcdefgh" not in text
        assert "z9abcdefgh" not in text


def test_names_are_equal_only_as_declared(tmp_path):
    """Case, separators and scripts are part of a name; an empty name is nobody's."""
    known = tools(**{"Web Search": {}, "搜索工具": {}, "get_user": {}, "get_User": {}})
    actual = [call("Web_Search", q="a"), call("", q="b"), call("get_User")]
    expected = [call("Web Search", q="a"), call("搜索工具", q="b"), call("get_user")]
    strict = score(tmp_path, [trace("t", actual, expected)], {**known, "match": {"rows": ["optimal"]}})
    assert strict.traces.select("accuracy_optimal", "unordered", "n_extra_optimal", "n_missing_optimal").row(0) == (
        0,
        0,
        3,
        3,
    )
    assert strict.calls["schema_state"].to_list() == ["unknown_tool", "unknown_tool", "valid"]
    known["tools"]["Web Search"]["aliases"] = ["Web_Search"]
    named = score(tmp_path, [trace("t", actual, expected)], known)
    assert named.pairs.filter(pl.col("status") == "exact").select("call_index", "expected_index").rows() == [(0, 0)]
    assert named.calls["tool"][0] == "Web Search"
    assert named.calls["name"].to_list() == ["Web_Search", "", "get_User"]
    both = score(tmp_path, [trace("t", [call("Web Search", q="a")], [call("Web_Search", q="a")])], known)
    assert both.traces["accuracy_optimal"].item() == 1.0


def test_two_nameless_calls_are_not_one_tool(tmp_path):
    lines = [
        trace("t", [call(""), call("")], [call("a")]),
        trace("names", [call("搜索"), call("工具")], [call("搜索"), call("工具")]),
    ]
    results = score(tmp_path, lines)
    assert columns(results.traces, "unordered", "superset_partial", "accuracy_optimal") == {
        "t": (0.0, 0.0, 0.0),
        "names": (1.0, 1.0, 1.0),
    }


@pytest.mark.parametrize("name", ["mcp__air__book", "book", "mcp__sea__book", "mcp__air__mcp__air__book", "mcp__air__"])
def test_prefixes_go_only_where_declared(tmp_path, name):
    suite = {**tools(book={}), "server_prefixes": ["mcp__air__"]}
    lines = [trace("actual", [call(name)], [call("book")]), trace("expected", [call("book")], [call(name)])]
    found = set(score(tmp_path, lines, suite).traces["accuracy_optimal"])
    assert found == ({1.0} if name in {"mcp__air__book", "book"} else {0.0})


def test_an_alias_that_two_tools_claim_is_refused():
    with pytest.raises(SuiteError, match="Web_Search"):
        tl.Suite.from_dict(
            {
                "name": "s",
                "tools": {name: {"known": True, "aliases": ["Web_Search"]} for name in ("Web Search", "WebSearch")},
            }
        )


def test_matchers_hold_for_any_spelling(tmp_path):
    wanted = {
        "any": {"$any": True},
        "regex": {"$regex": "^UA-"},
        "one of": {"$one_of": ["ua-1", "UA-512"]},
        "optional": {"$optional": "UA-512"},
        "literal": {"$literal": "UA-512"},
        "range": {"$range": [1, 9]},
    }
    lines = []
    for name, matcher in wanted.items():
        lines.append(trace(f"{name}/text", [call("book", id="UA-512")], [call("book", id=matcher)]))
        lines.append(trace(f"{name}/number", [call("book", id=5)], [call("book", id=matcher)]))
        lines.append(trace(f"{name}/missing", [call("book")], [call("book", id=matcher)]))
    found = {key for key, value in column(score(tmp_path, lines).traces, "accuracy_optimal").items() if value == 1.0}
    assert found == {
        *("any/text", "any/number", "regex/text", "one of/text", "optional/text", "optional/missing"),
        *("literal/text", "range/number"),
    }
