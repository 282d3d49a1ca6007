"""Rung one on batches: states, findings and their order, per agent, from recorded definitions, at any size."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rungs.schema.harness import packed
from tracelens import columns
from tracelens.arguments import read_arguments
from tracelens.columns import numbered
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.shred import shred
from tracelens.rungs.pieces import paths
from tracelens.rungs.schema import catalogue as module
from tracelens.rungs.schema.catalogue import EXEMPT, UNKNOWN, Catalogue
from tracelens.rungs.schema.check import STATES, check
from tracelens.rungs.schema.render import printed
from tracelens.rungs.schema.truth import compile_schema, validate
from tracelens.suite import Suite

CLOSED = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": False}


def catalogue(tools, **more):
    return Catalogue.build(
        Suite.from_dict({"tools": {name: {"schema": schema} for name, schema in tools.items()}, **more})
    )


def read(texts, form=columns.JSON_STRING):
    forms = np.full(len(texts), form, np.uint8)
    forms[[text is None for text in texts]] = columns.NOT_CAPTURED
    return read_arguments(pa.array(texts, pa.large_string()), forms)


def run(tools, name, texts, **more):
    known = catalogue(tools, **more)
    names = pl.Series([name] * len(texts), dtype=pl.String)
    return check(read(texts), known.assign(numbered(names.to_arrow())), known, names)


def states(result):
    return [STATES[code] for code in result.state]


def said(result):
    return result.findings.select("call", "code", "path", "message").rows()


def test_the_worked_example():
    schema = {
        "type": "object",
        "properties": {"flight_id": {"type": "string"}},
        "required": ["flight_id"],
        "additionalProperties": False,
    }
    result = run({"book_flight": schema}, "book_flight", ['{"flight_id": "UA-512", "seat": "12A"}'])
    assert states(result) == ["invalid"]
    assert result.findings.rows(named=True) == [
        {
            "call": 0, "severity": "error", "code": "schema.additionalProperties", "path": "",
            "message": "Additional properties are not allowed ('seat' was unexpected)",
            "value": '{"flight_id": "UA-512", "seat": "12A"}',
        }
    ]  # fmt: skip


def test_states_of_arguments():
    texts = ['{"id": "a"}', '{"id": 1}', "", '{"id": "a"', '{"id":"a"}{"id":"b"}', "[1]", "NaN", '{"id": 1e400}', None]
    result = run({"t": CLOSED}, "t", texts)
    expected = ["valid", "invalid", "invalid", "invalid", "invalid", "invalid", "invalid", "invalid", "not_captured"]
    assert states(result) == expected
    assert said(result) == [
        (1, "schema.type", "id", "1 is not of type 'string'"),
        (2, "schema.required", "", "'id' is a required property"),
        (3, "arguments.invalid_json", "", "not one JSON value: unterminated: the text ends inside a value, at byte 10"),
        (4, "arguments.invalid_json", "", "not one JSON value: trailing data after the value, at byte 10"),
        (5, "arguments.not_object", "", "arguments must be a JSON object, not an array"),
        (6, "arguments.invalid_json", "", "not one JSON value: NaN and Infinity are not JSON, at byte 0"),
        (7, "arguments.number_range", "id", "1e400 lies beyond the range of a double"),
    ]


def test_truncated_arguments_are_not_empty():
    # A tool without required arguments must not take half an object for none.
    schema = {"type": "object", "properties": {"floor": {"type": "integer"}}, "additionalProperties": False}
    assert states(run({"list_rooms": schema}, "list_rooms", ['{"floor": 1', "{}", ""])) == ["invalid", "valid", "valid"]


def test_free_text_and_cut_arguments_are_not_checked():
    known = catalogue({"t": CLOSED})
    names = pl.Series(["t", "t"])
    forms = np.array([columns.FREE_TEXT, columns.TRUNCATED], np.uint8)
    arguments = read_arguments(pa.array(["*** Begin", '{"id'], pa.large_string()), forms)
    result = check(arguments, known.assign(numbered(names.to_arrow())), known, names)
    assert states(result) == ["not_applicable", "not_captured"]
    assert result.findings.height == 0


def test_booleans_are_no_numbers_at_any_depth():
    schema = {
        "type": "object",
        "properties": {"level": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "integer"}}},
    }
    result = run({"toggle": schema}, "toggle", ['{"level": true, "tags": [1, false, 0]}'])
    assert said(result) == [
        (0, "schema.type", "level", "True is not of type 'integer'"),
        (0, "schema.type", "tags[1]", "False is not of type 'integer'"),
    ]


def test_one_unusable_schema_leaves_the_others_alone():
    tools = {
        "draw": {"type": "object", "properties": {"shape": {"$ref": "#/$defs/Shape"}}},
        "set_ttl": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "properties": {"ttl": {"exclusiveMinimum": True}},
        },
        "erase": {"type": "object", "properties": {"id": {"type": "integer"}}},
    }
    known = catalogue(tools)
    names = pl.Series(["draw", "draw", "set_ttl", "erase"])
    arguments = read(['{"label": "x"}', '{"shape": {}}', '{"ttl": 1}', '{"id": "7"}'])
    result = check(arguments, known.assign(numbered(names.to_arrow())), known, names)
    assert states(result) == ["unusable", "unusable", "unusable", "invalid"]
    assert [(each.tool, each.agent) for each in known.unusable] == [("draw", None), ("set_ttl", None)]
    assert "#/$defs/Shape" in known.unusable[0].reason
    assert said(result) == [(3, "schema.type", "id", "'7' is not of type 'integer'")]


def test_formats_are_enforced():
    schema = {
        "type": "object",
        "properties": {
            "url": {"format": "uri"},
            "every": {"format": "duration"},
            "on": {"format": "date"},
            "mail": {"format": "email"},
        },
    }
    result = run({"hook": schema}, "hook", ['{"url": "::: nope", "every": "soon", "on": "2026-02-30", "mail": "@"}'])
    assert [path for _, _, path, _ in said(result)] == ["every", "on", "url"]


def test_money_is_a_multiple_of_a_cent():
    schema = {"type": "object", "properties": {"amount": {"type": "number", "minimum": 0, "multipleOf": 0.01}}}
    texts = ['{"amount":4.02}', '{"amount":19.99}', '{"amount":4.021}', '{"amount":NaN}', '{"amount":1e400}']
    assert states(run({"pay": schema}, "pay", texts)) == ["valid", "valid", "invalid", "invalid", "invalid"]


def test_nothing_is_coerced():
    schema = {"type": "object", "properties": {"amount": {"type": "number"}, "limit": {"type": "integer"}}}
    result = run({"t": schema}, "t", ['{"amount": "100"}', '{"limit": null}', '{"limit": 1.5}', '{"limit": 2.0}'])
    assert states(result) == ["invalid", "invalid", "invalid", "valid"]


def test_tools_differ_by_agent():
    search_q = {**CLOSED, "properties": {"q": {"type": "string"}}, "required": ["q"]}
    search_t = {**CLOSED, "properties": {"ticker": {"type": "string"}}, "required": ["ticker"]}
    suite = Suite.from_dict(
        {
            "tools": {"note": {"known": True}},
            "agents": {
                "research": {"tools": {"search": {"schema": search_q}}},
                "finance": {"tools": {"search": {"schema": search_t}, "pay": {"schema": CLOSED}}},
            },
        }
    )
    known = Catalogue.build(suite)
    names = pl.Series(["search", "search", "search", "pay", "note", "search", None, "nope"])
    agents = pl.Series(["research", "finance", "research", "research", "finance", None, "finance", "finance"])
    texts = ['{"q": "x"}', '{"ticker": "T"}', '{"ticker": "T"}', '{"id": "z"}', "{}", '{"q": "x"}', "{}", "{}"]
    result = check(read(texts), known.assign(numbered(names.to_arrow()), numbered(agents.to_arrow())), known, names)
    unknown = "unknown_tool"
    assert states(result) == ["valid", "valid", "invalid", unknown, "no_schema", unknown, unknown, unknown]
    messages = {row: message for row, code, _, message in said(result) if code == "tool.unknown"}
    assert messages[3] == "tool 'pay' belongs to another agent"
    assert messages[6] == "the call names no tool"
    assert messages[7].startswith("tool 'nope' is unknown")


def test_recorded_definitions():
    recorded = json.dumps(
        [{"type": "function", "function": {"name": "find", "parameters": CLOSED}}, {"name": "book", "input_schema": {}}]
    )
    first = catalogue({"find": {"type": "object"}})
    names = pl.Series(["find", "find", "book", "cook"])
    codes = np.array([0, -1, 0, 0], np.int32)
    ids = first.assign(numbered(names.to_arrow()), None, codes, [recorded])
    assert states(check(read(["{}"] * 4), ids, first, names)) == ["valid", "valid", "valid", "unknown_tool"]
    other = catalogue({"find": {"type": "object"}}, schemas_from="trace")
    ids = other.assign(numbered(names.to_arrow()), None, codes, [recorded])
    assert states(check(read(["{}"] * 4), ids, other, names)) == ["invalid", "valid", "valid", "unknown_tool"]
    assert other.assign(numbered(names.to_arrow()), None, codes, ["not JSON"]).tolist() == [0, 0, UNKNOWN, UNKNOWN]


def test_without_any_tools_nothing_is_unknown():
    known = Catalogue.build(Suite.default())
    names = pl.Series(["x", None])
    assert known.assign(numbered(names.to_arrow())).tolist() == [EXEMPT, EXEMPT]
    assert (
        states(check(read(["{}", "[]"]), known.assign(numbered(names.to_arrow())), known, names))
        == ["not_applicable"] * 2
    )


def test_handoffs_and_output_tools_are_exempt_unless_declared():
    known = catalogue({"transfer_to_sales": CLOSED}, match={"handoffs": ["transfer_to_*"], "output_tools": ["final"]})
    names = pl.Series(["transfer_to_sales", "transfer_to_bob", "final", "other"])
    assert known.assign(numbered(names.to_arrow())).tolist() == [0, EXEMPT, EXEMPT, UNKNOWN]


def test_duplicate_keys_and_layers_of_strings_are_noted():
    known = catalogue({"t": CLOSED})
    texts = ['{"id": 1, "id": "b"}', json.dumps(json.dumps({"id": "c"}))]
    names = pl.Series(["t", "t"])
    result = check(read(texts), known.assign(numbered(names.to_arrow())), known, names, np.ones(2, np.uint8))
    assert states(result) == ["valid", "valid"]
    assert result.findings.select("call", "severity", "code").rows() == [
        (0, "note", "arguments.duplicate_keys"),
        (1, "note", "arguments.decoded"),
    ]


def test_undecided_calls_get_the_reference_s_findings_and_values():
    schema = {
        "properties": {
            "o": {"type": "object", "properties": {"x": {}}, "unevaluatedProperties": False},
            "n": {"type": "null"},
        }
    }
    result = run({"t": schema}, "t", ['{"o": {"y": 1.50}, "n": 2.50}'] * 3 + ['{"o": {"x": 1}}'])
    assert result.n_asked == 4
    assert states(result) == ["invalid"] * 3 + ["valid"]
    assert result.findings["value"].to_list() == ["2.50", '{"y": 1.50}'] * 3
    assert result.findings["path"].to_list() == ["n", "o"] * 3


def test_a_schema_on_which_the_library_fails_blames_nobody():
    draft = "https://json-schema.org/draft/2019-09/schema"
    schema = {"$schema": draft, "properties": {"a": {"items": True, "unevaluatedItems": False}}}
    result = run({"t": schema}, "t", ['{"a": [1]}', '{"a": 1}'])
    assert states(result) == ["unusable", "valid"]
    assert result.findings.select("call", "severity", "code").rows() == [(0, "note", "schema.unusable")]


def test_findings_are_sorted_and_values_cut():
    schema = {"properties": {"b": {"type": "null"}, "a": {"type": "null", "maxLength": 2}}}
    result = run({"t": schema}, "t", [json.dumps({"b": "é" * 600, "a": "xyz"}, ensure_ascii=False)])
    assert [(path, code) for _, code, path, _ in said(result)] == [
        ("a", "schema.maxLength"),
        ("a", "schema.type"),
        ("b", "schema.type"),
    ]
    value = result.findings["value"][2]
    assert len(value) == 500
    assert value == '"' + "é" * 498 + "…"
    assert result.findings["message"][2] == f"'{'é' * 600}' is not of type 'null'"


@settings(max_examples=60)
@given(st.lists(st.text(max_size=5), min_size=1, max_size=4), st.integers(0, 120))
def test_paths_are_those_of_the_reference(keys, index):
    value: object = 1
    for key in reversed(keys):
        value = {key: [0] * index + [value]}
    parts = [part for key in keys for part in (key, index)]
    arguments = read([json.dumps(value)])
    last = arguments.tape.kind.size - 1
    found = paths(arguments.data, arguments.tape, np.array([0, last], np.int64))
    assert found.to_list() == ["", render_path(parts)]


@settings(max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    ),
    st.booleans(),
)
def test_values_are_printed_as_python_prints_them(value, ascii_only):
    data, first, last = packed([json.dumps(value, ensure_ascii=ascii_only, indent=ascii_only or None)])
    tape = shred(data, first, last).tape
    assert list(printed(data, tape, np.array([0], np.int64))) == [repr(value).encode()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"it\'s"', '"it\'s"'),
        ('"\x7f"', "'\\x7f'"),
        ('{"a": 1, "b": 2, "a": 3}', "{'a': 3, 'b': 2}"),
        (
            "[-0, -0.0, 0.0, 1.50, 1e2, 0.0001, 0.00001, 12.25, -7]",
            "[0, -0.0, 0.0, 1.5, 100.0, 0.0001, 1e-05, 12.25, -7]",
        ),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("0.1234567890123456789", "0.12345678901234568"),
        ('{"":[],"x":{},"t":[true,false,null]}', "{'': [], 'x': {}, 't': [True, False, None]}"),
    ],
)
def test_how_python_prints(text, expected):
    data, first, last = packed([text])
    tape = shred(data, first, last).tape
    assert list(printed(data, tape, np.array([0], np.int64))) == [expected.encode()]


def many():
    """Enough strings, errors and depth to make every part of the kernel's memory grow."""
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "(?=.*x)", "format": "hostname"},
            "list": {"type": "array", "items": {"type": "integer"}},
            "deep": {"$ref": "#/$defs/deep"},
        },
        "$defs": {
            "deep": {
                "not": {
                    "not": {
                        "properties": {"deep": {"$ref": "#/$defs/deep"}},
                        "anyOf": [{"type": "object"}, {"const": 1}],
                    }
                }
            }
        },
    }
    texts = [json.dumps({"id": f"host{k}{'x' * (k % 3)}{'_' * (k % 5 == 0)}"}) for k in range(3000)]
    texts += [json.dumps({"list": ["a"] * 3000 + list(range(3000))}), json.dumps({"id": "x" * 300_000})]
    deep: object = 1
    for _ in range(100):
        deep = {"deep": deep}
    return schema, [*texts, json.dumps(deep), json.dumps(deep).replace("1", "2")]


def test_growing():
    schema, texts = many()
    compiled = compile_schema(schema)
    expected = [
        (row, f"schema.{e.keyword}", e.message) for row, text in enumerate(texts) for e in validate(compiled, text)
    ]
    result = run({"t": schema}, "t", texts)
    assert result.n_asked == 0
    assert sorted(result.findings.select("call", "code", "message").rows()) == sorted(expected)


def test_batches_and_threads_change_nothing():
    schema, texts = many()
    known = catalogue({"t": schema})

    def part(chunk):
        names = pl.Series(["t"] * len(chunk))
        return check(read(chunk), known.assign(numbered(names.to_arrow())), known, names).findings.select(
            "code", "path", "message", "value"
        )

    whole = part(texts)
    chunks = [texts[k : k + 700] for k in range(0, len(texts), 700)]
    with ThreadPoolExecutor(4) as pool:
        again = pl.concat(pool.map(part, chunks * 2))
    assert again.equals(pl.concat([whole, whole]))


def test_an_empty_batch():
    known = catalogue({"t": CLOSED})
    names = pl.Series([], dtype=pl.String)
    result = check(read([]), known.assign(numbered(names.to_arrow())), known, names)
    assert result.state.size == 0
    assert result.findings.height == 0


@pytest.mark.parametrize("schema", [True, False])
def test_boolean_schemas(schema):
    known = catalogue({"t": {"properties": {"a": schema}}})
    names = pl.Series(["t"])
    result = check(read(['{"a": 1}']), known.assign(numbered(names.to_arrow())), known, names)
    assert states(result) == ["valid" if schema else "invalid"]
    # The library reports a false member at its parent.
    assert [
        (code, path, value) for _, code, path, value in result.findings.select("call", "code", "path", "value").rows()
    ] == ([] if schema else [("schema.false", "", "1")])


@pytest.mark.parametrize("at_once", [0, 3])
def test_schemas_that_wait_for_a_call_say_the_same(monkeypatch, at_once):
    """Whatever else is made ready at the same time, and however the calls come in batches."""
    tools = {
        f"t{n}": {"properties": {"id": {"maxLength": n, "pattern": f"^[a-{chr(97 + n % 5)}]*$"}}} for n in range(60)
    }
    texts = ['{"id": "abcdefgh"}', '{"id": "aé"}', "{}"]
    whole = catalogue(tools)
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    late = catalogue(tools)
    assert np.count_nonzero(late.roots == module.WAITING) == 60 - at_once
    for first in (57, 3, 4, 58, 0, 20, 21, 22):
        names = pl.Series([f"t{(first + k) % 60}" for k in range(3)])
        ids = [known.assign(numbered(names.to_arrow())) for known in (whole, late)]
        one, other = (check(read(texts), each, known, names) for each, known in zip(ids, (whole, late), strict=True))
        assert states(one) == states(other)
        assert said(one) == said(other)
    assert 60 - np.count_nonzero(late.roots == module.WAITING) >= 8 * 3
