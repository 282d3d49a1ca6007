"""Faults of schema checks: coercion, broken catalogues, formats, decimals, defaults, agents with tools of their own."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

import tracelens as tl
from tests.run.scoring import (
    by_trace,
    call,
    closed,
    column,
    columns,
    errors,
    grouped,
    score,
    tools,
    trace,
)
from tracelens.lint import lint


def one_each(schema: Any, values: list[Any], key: str = "v") -> tuple[list[Any], dict[str, Any]]:
    """A trace per value of one argument, and the suite whose tool takes it."""
    lines = [trace(str(n), [call("t", **{key: value})]) for n, value in enumerate(values)]
    return lines, tools(t=closed(key, **{key: schema}))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [1, 1.0, -3, 2**60], [True, False, "1", 1.5, None, [1], {}]),
        ({"type": "number"}, [1, 1.5, -0.0, 1e300], [True, "100", "1e3", None, [], {}]),
        ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
        ({"type": "string"}, ["", "1", "02134"], [1, True, None]),
        ({"type": "array", "items": {"type": "integer"}}, [[], [1, 0]], [[True], [1, False], "1", {}]),
        ({"enum": [1, "a"]}, [1, 1.0, "a"], [True, "1", "A"]),
        ({"const": 0}, [0, 0.0], [False, "0", None]),
        ({"type": ["integer", "null"]}, [1, None], [True, "1"]),
        ({"type": "array", "uniqueItems": True}, [[1, True], [0, False], ["1", 1]], [[1, 1.0], [True, True]]),
    ],
)
def test_no_value_is_taken_for_another_type(tmp_path, schema, good, bad):
    lines, suite = one_each(schema, good + bad)
    results = score(tmp_path, lines, suite)
    assert results.calls["schema_state"].to_list() == ["valid"] * len(good) + ["invalid"] * len(bad)
    assert set(errors(results)) == {str(n) for n in range(len(good), len(good) + len(bad))}


def test_findings_say_what_the_validator_says(tmp_path):
    schema = closed("amount", "to", amount={"type": "number"}, to={"type": "string"})
    results = score(tmp_path, [trace("t", [call("transfer", amount="100", to="A9")])], tools(transfer=schema))
    found = results.findings.select("code", "path", "message", "tool", "severity").rows()
    assert found == [("schema.type", "amount", "'100' is not of type 'number'", "transfer", "error")]


UNUSABLE = {
    "missing definition": {"type": "object", "properties": {"x": {"$ref": "#/$defs/Gone"}}},
    "remote": {"type": "object", "properties": {"x": {"$ref": "https://schemas.invalid/x.json"}}},
    "in a branch": {"anyOf": [{"type": "object"}, {"$ref": "#/definitions/Gone"}]},
    "older boolean": {"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"x": {"minimum": 0, "exclusiveMinimum": True}}},
    "no such type": {"type": "object", "properties": {"x": {"type": "integr"}}},
    "bad pattern": {"type": "object", "properties": {"x": {"pattern": "(?<"}}},
    "required is text": {"type": "object", "required": "x"},
}  # fmt: skip


def test_a_broken_schema_blames_nobody_and_stops_nothing(tmp_path, monkeypatch):
    """The verdict is one for the whole tool, whether a call reaches the broken part or not; nothing is fetched."""

    def refuse(*_, **__):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    known = {**UNUSABLE, "erase": closed("id", id={"type": "integer"})}
    lines = [
        trace(f"{name}/{n}", [call(name, **arguments)])
        for name in UNUSABLE
        for n, arguments in enumerate([{"label": "a"}, {"x": {"r": 1}}, {"x": 1}, {"x": 0}, {}])
    ]
    lines += [trace("good", [call("erase", id=7)]), trace("bad", [call("erase", id="7")])]
    lines.append(trace("mixed", [call("missing definition", x=1), call("erase", id="7")]))
    results = score(tmp_path, lines, tools(**known))
    broken = {line["trace_id"] for line in lines if line["trace_id"].split("/")[0] in UNUSABLE}
    states = grouped(results.calls, "schema_state")
    assert {name: states[name] for name in broken} == {key: ["unusable"] for key in broken}
    assert (states["good"], states["bad"], states["mixed"]) == (["valid"], ["invalid"], ["unusable", "invalid"])
    assert set(errors(results)) == {"bad", "mixed"}
    notes = results.findings.filter(code="schema.unusable")
    assert sorted(notes["tool"]) == sorted(UNUSABLE)
    assert set(notes["severity"]) == {"note"}
    assert set(notes["trace_id"]) == {None}
    routes = columns(results.traces, "route", "unscored_reason")
    assert {routes[name] for name in broken} == {("unscored", "schema_unusable")}
    assert (routes["good"], routes["bad"], routes["mixed"]) == (("settled", None), ("triage", None), ("triage", None))
    told = {problem.message for problem in lint(tl.Suite.from_dict({"name": "s", **tools(**known)}))}
    for name in UNUSABLE:
        assert any(repr(name) in message and "cannot be used" in message for message in told)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("uri", ["https://a.example/x"], ["::: nope", "a b"]),
        ("duration", ["P1D", "PT5M"], ["soon", "1 day"]),
        ("date", ["2026-02-28", "2024-02-29"], ["2026-02-30", "2026-2-3", "02/28/2026", "today"]),
        ("date-time", ["2026-11-02T10:00:00Z"], ["2026-11-02", "2026-11-02T25:00:00Z"]),
        ("email", ["a@b.example", "@"], ["nobody"]),
        ("ipv4", ["127.0.0.1"], ["127.0.0.256", "localhost"]),
        ("uuid", ["12345678-1234-1234-1234-123456789abc"], ["12345678"]),
        ("regex", ["^a+$"], ["(("]),
        ("json-pointer", ["/a/0"], ["a/0"]),
    ],
)
def test_formats_are_enforced(tmp_path, name, good, bad):
    """Not annotations, and not only those whose checker happens to be installed."""
    lines, suite = one_each({"type": "string", "format": name}, good + bad)
    results = score(tmp_path, lines, suite)
    assert results.calls["schema_state"].to_list() == ["valid"] * len(good) + ["invalid"] * len(bad)
    assert {code for found in errors(results).values() for code, _ in found} == {"schema.format"}
    told = lint(tl.Suite.from_dict({"name": "s", **suite}))
    assert not [problem for problem in told if "format" in problem.message]


def test_a_format_that_nobody_can_check_is_a_warning(tmp_path):
    lines, suite = one_each({"type": "string", "format": "phone-number"}, ["anything"])
    assert score(tmp_path, lines, suite).calls["schema_state"].to_list() == ["valid"]
    told = [(problem.severity, problem.message) for problem in lint(tl.Suite.from_dict({"name": "s", **suite}))]
    assert [severity for severity, message in told if "phone-number" in message] == ["warning"]


@pytest.mark.parametrize(
    ("step", "good", "bad"),
    [
        (0.01, ["4.02", "19.99", "0.1", "1e2", "4.0200", "1234567890.12", "0"], ["4.021", "0.001", "19.9999999999"]),
        (0.1, ["0.3", "1.1", "2"], ["0.25"]),
        (0.0001, ["0.0075", "1.1111"], ["0.00751"]),
        (3, ["9", "9.0", "9e0"], ["10", "9.1"]),
    ],
)
def test_multiples_are_decided_on_decimals(tmp_path, step, good, bad):
    """4.02 is 402 cents, whatever its nearest binary fraction is."""
    schema = closed("v", v={"type": "number", "multipleOf": step})
    texts = [f'{{"v": {literal}}}' for literal in good + bad]
    lines = [trace(str(n), [{"name": "t", "arguments": text}]) for n, text in enumerate(texts)]
    results = score(tmp_path, lines, tools(t=schema))
    assert results.calls["schema_state"].to_list() == ["valid"] * len(good) + ["invalid"] * len(bad)
    assert set(results.findings["code"]) == {"schema.multipleOf"}


def test_numbers_that_are_none_reach_no_validator(tmp_path):
    schema = closed(amount={"type": "number", "minimum": 0, "maximum": 10})
    literals = ["NaN", "Infinity", "-Infinity", "1e400", "-1e999", "1e-400", "5"]
    texts = [f'{{"amount": {literal}}}' for literal in literals]
    lines = [trace(text, [{"name": "pay", "arguments": f'{{"amount": {text}}}'}]) for text in literals]
    assert len(texts) == len(lines)
    results = score(tmp_path, lines, tools(pay=schema))
    codes = {name: [code for code, _ in found] for name, found in errors(results).items()}
    assert codes == {key: ["arguments.invalid_json"] for key in literals[:3]} | {
        key: ["arguments.number_range"] for key in literals[3:5]
    }


def test_defaults_fold_only_where_asked(tmp_path):
    """A harmless default may be spelt out; an argument nobody declared is never folded away."""
    schema = closed("status", status={"type": "string"}, page={"type": "integer", "default": 1})
    sent = {
        "as expected": {"status": "open"},
        "the default": {"status": "open", "page": 1},
        "the default as 1.0": {"status": "open", "page": 1.0},
        "another page": {"status": "open", "page": 2},
        "null": {"status": "open", "page": None},
        "invented": {"status": "open", "drop_all": True},
        "both": {"status": "open", "page": 1, "drop_all": True},
    }
    lines = [
        trace(name, [call("search", **arguments)], [call("search", status="open")]) for name, arguments in sent.items()
    ]
    folded = {"normalize": {"search": {"page": {"default": {"schema": True}}}}}
    named = {"normalize": {"search": {"page": {"default": {"value": 1}}}}}
    strict = score(tmp_path, lines, tools(search=schema))
    assert column(strict.traces, "accuracy_optimal") == dict.fromkeys(sent, 0.5) | {"as expected": 1.0}
    for rule in (folded, named):
        lenient = score(tmp_path, lines, {**tools(search=schema), **rule})
        assert column(lenient.traces, "accuracy_optimal") == dict.fromkeys(sent, 0.5) | dict.fromkeys(
            ("as expected", "the default", "the default as 1.0"), 1.0
        )
        assert column(lenient.calls, "schema_state") == column(strict.calls, "schema_state")
    assert column(strict.calls, "schema_state") == dict.fromkeys(sent, "valid") | dict.fromkeys(
        ("null", "invented", "both"), "invalid"
    )
    # The reference may be the one that spells the default out.
    swapped = [trace("t", [call("search", status="open")], [call("search", status="open", page=1)])]
    assert score(tmp_path, swapped, {**tools(search=schema), **folded}).traces["accuracy_optimal"].item() == 1.0


def test_null_for_not_given(tmp_path):
    """The schema that was sent may allow a null that the original refuses; matching forgives it only where asked."""
    original = closed("q", q={"type": "string"}, limit={"type": "integer"})
    sent = closed("q", "limit", q={"type": "string"}, limit={"type": ["integer", "null"]})
    recorded = [{"type": "function", "function": {"name": "find", "parameters": sent}}]
    plain = trace("t", [call("find", q="x", limit=None)], [call("find", q="x")])
    line = {**plain, "tools": recorded}
    forgiving = {"normalize": {"find": {"limit": "null_is_missing"}}}
    for suite, schema_state, accuracy in (
        (tools(find=original), "invalid", 0.5),
        (tools(find=sent), "valid", 0.5),
        ({**tools(find=original), "schemas_from": "trace"}, "valid", 0.5),
        ({**tools(find=original), **forgiving}, "invalid", 1.0),
        ({**tools(find=original), "schemas_from": "trace", **forgiving}, "valid", 1.0),
    ):
        results = score(tmp_path, [line], suite)
        assert results.calls["schema_state"].item() == schema_state
        assert results.traces["accuracy_optimal"].item() == accuracy
    # A null that is expected is a value: it is not forgiven as missing without the rule.
    cleared = trace("t", [call("find", q="x")], [call("find", q="x", limit=None)])
    assert score(tmp_path, [cleared], tools(find=sent)).traces["accuracy_optimal"].item() == 0.5


def test_each_agent_has_its_own_tools(tmp_path):
    of_research = {"search": {"schema": closed("q", q={"type": "string"})}}
    of_finance = {
        "search": {"schema": closed("ticker", ticker={"type": "string"})},
        "pay": {"schema": closed("to", to={"type": "string"})},
    }
    suite = {
        "agents": {"research": {"tools": of_research}, "finance": {"tools": of_finance}},
        "tools": {"shared": {"schema": closed()}, "hosted": {"known": True}},
    }
    calls = [
        ("research", call("search", q="x"), "valid"),
        ("finance", call("search", ticker="T"), "valid"),
        ("research", call("search", ticker="T"), "invalid"),
        ("finance", call("search", q="x"), "invalid"),
        ("finance", call("pay", to="A9"), "valid"),
        ("research", call("pay", to="A9"), "unknown_tool"),
        ("research", call("azure_ai_search", query="x"), "unknown_tool"),
        ("research", call("shared"), "valid"),
        (None, call("shared"), "valid"),
        (None, call("pay", to="A9"), "unknown_tool"),
        ("research", call("hosted", anything=1), "no_schema"),
        ("nobody", call("shared", x=1), "invalid"),
    ]
    by_call = trace("call", [{**made, "agent": agent} for agent, made, _ in calls])
    by_name = [trace(f"trace/{n}", [made], agent=agent) for n, (agent, made, _) in enumerate(calls) if agent]
    results = score(tmp_path, [by_call, *by_name], suite)
    states = grouped(results.calls, "schema_state")
    assert states["call"] == [state for *_, state in calls]
    for n, (agent, _, state) in enumerate(calls):
        if agent:
            assert states[f"trace/{n}"] == [state]
    told = results.findings.filter(trace_id="call", code="tool.unknown")
    messages = dict(zip(told["call_index"], told["message"], strict=True))
    assert "another agent" in messages[5]
    assert "another agent" not in messages[6]
    assert sorted(messages) == [5, 6, 9]


def test_no_catalogue_means_no_unknown_tools(tmp_path):
    results = score(tmp_path, [trace("t", [call("anything", x=1)])])
    assert results.findings.is_empty()
    assert by_trace(results.traces)["t"]["route"] == "settled"


def test_definitions_recorded_with_the_trace_are_tools_not_calls(tmp_path):
    """What could be called is the catalogue; what was called is the path."""
    definitions = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("stock", "price")]
    lines = [
        trace("given", [call("stock", sku="A")], [call("stock", sku="A")], tools=definitions),
        trace("as text", [call("stock", sku="A")], [call("stock", sku="A")], tools=json.dumps(definitions)),
        {
            "trace_id": "chat",
            "tools": definitions,
            "tool_calls": [call("rent")],
            "expected": [call("rent")],
        },
    ]
    results = score(tmp_path, lines, {"schemas_from": "trace"})
    assert column(results.traces, "n_calls") == {"given": 1, "as text": 1, "chat": 1}
    assert set(results.traces["strict"]) == {1.0}
    assert column(results.calls, "schema_state") == {"given": "valid", "as text": "valid", "chat": "unknown_tool"}
