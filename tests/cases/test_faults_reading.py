"""Faults of reading: types that change, broken arguments that look empty, bad entries and bad lines."""

from __future__ import annotations

import json

import polars as pl
import pytest

import tracelens as tl
from tests.run.scoring import (
    asked,
    asking,
    by_trace,
    call,
    closed,
    column,
    columns,
    errors,
    grouped,
    pair_counts,
    score,
    tools,
    trace,
    write,
)
from tracelens.cli import main

ODD = [(1.5, 2), (True, 1), (False, 0), ("7", 7), (None, 7), ([7], 7), ({}, 7), (2**53 + 1, 2**53)]
"""Values that a type guessed from a sample would change, and what they would become."""


@pytest.mark.parametrize("kind", ["json lines", "text in json", "parquet", "polars"])
def test_a_late_value_keeps_its_type(tmp_path, kind):
    """A column typed from its first rows casts what comes later."""
    rows = [7] * 3000 + [value for value, _ in ODD]
    wanted = [7] * 3000 + [other for _, other in ODD]
    suite = tools(order=closed("qty", qty={"type": "integer"}))
    if kind in {"json lines", "text in json"}:
        lines = [
            trace(
                f"t{n}",
                [
                    {
                        "name": "order",
                        "arguments": json.dumps({"qty": value}) if kind != "json lines" else {"qty": value},
                    }
                ],
                [call("order", qty=other)],
            )
            for n, (value, other) in enumerate(zip(rows, wanted, strict=True))
        ]
        results = score(tmp_path, lines, suite)
    else:
        table = pl.DataFrame(
            [
                {"trace_id": f"t{n}", "row": row, "name": "order", "arguments": json.dumps({"qty": value})}
                for n, pair in enumerate(zip(rows, wanted, strict=True))
                for row, value in zip(("call", "expected"), pair, strict=True)
            ]
        )
        table.write_parquet(tmp_path / "in.parquet")
        source = tmp_path / "in.parquet" if kind == "parquet" else table
        results = tl.score(source, {"name": "s", **suite}, progress=False)
    assert results.calls["arguments"].to_list() == [json.dumps({"qty": value}) for value in rows]
    assert set(results.traces["accuracy_optimal"][:3000]) == {1.0}
    assert results.traces["accuracy_optimal"][3000:].to_list() == [0.5] * len(ODD)
    states = ["invalid"] * 7 + ["valid"]
    assert results.calls["schema_state"][3000:].to_list() == states


@pytest.mark.parametrize("many", [3, 300])
def test_arguments_are_text_whatever_their_keys(tmp_path, many):
    """Few keys give a struct and many a map where a reader guesses; queries written for one break on the other."""
    lines = [trace(f"t{n}", [call("set", **{f"k{n}": n})]) for n in range(many)]
    lines.append(trace("mixed", [call("set", k0="zero", deep={"k": [1, None]})]))
    results = score(tmp_path, lines)
    assert results.calls.schema["arguments"] == pl.String
    assert results.calls.height == many + 1
    found = results.sql("SELECT count(*) AS n FROM calls WHERE json_extract_string(arguments, '$.k2') = '2'")
    assert found.item() == 1


BROKEN = {
    "two objects": '{"path": "/srv/a"}{"path": "/srv/b"}',
    "two objects, a space between": '{"path": "/srv/a"} {"path": "/srv/b"}',
    "trailing text": '{"path": "/srv/a"} then stop',
    "half an object": '{"path": "/srv/a"',
    "half a string": '{"path": "/srv',
    "only a brace": "{",
    "not a number": '{"path": NaN}',
    "infinity": '{"path": -Infinity}',
    "lone surrogate": '{"path": "\\ud800"}',
    "python": "{'path': '/srv/a'}",
    "trailing comma": '{"path": "/srv/a",}',
    "bare word": "path",
    "two strings": '"a""b"',
    "too deep": '{"path": ' + "[" * 2000 + "]" * 2000 + "}",
}
NO_OBJECT = {"array": '["/srv/a"]', "string": '"/srv/a"', "number": "7", "true": "true", "nested null": "[null]"}
EMPTY = {"no text": "", "blank": "  ", "braces": "{}", "null": "null", "nothing": None}


@pytest.mark.parametrize("kind", ["native", "chat"])
def test_broken_arguments_are_neither_empty_nor_repaired(tmp_path, kind):
    """The name still earns its credit; nothing else does, even where the reference expects no arguments."""
    given = BROKEN | NO_OBJECT | EMPTY
    lines = []
    for name, text in given.items():
        for wanted in ({}, {"path": "/srv/a"}):
            line = {"trace_id": f"{name}/{len(wanted)}", "expected": [{"name": "open", "arguments": wanted}]}
            calls = {"tool_calls": [{"name": "open", "arguments": text}]}
            lines.append(line | (calls if kind == "native" else {"messages": [asking(asked("open", text))]}))
    optional = {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False}
    results = score(tmp_path, lines, tools(open=optional))
    assert results.runs["format"].item() == kind
    states = {name.split("/")[0]: state for name, state in column(results.calls, "arguments_state").items()}
    assert states == (
        dict.fromkeys(BROKEN, "invalid_json") | dict.fromkeys(NO_OBJECT, "not_object") | dict.fromkeys(EMPTY, "empty")
    )
    for key, row in by_trace(results.traces).items():
        name, wanted = key.split("/")
        exact = name in EMPTY and wanted == "0"
        assert pair_counts(row) == {
            **dict.fromkeys(("missing", "extra", "malformed"), 0),
            "exact": int(exact),
            "partial": int(not exact),
        }, key
        assert row["accuracy_optimal"] == (1.0 if exact else 0.5), key
        assert row["route"] == ("settled" if exact else "triage"), key
    codes = {
        key.split("/")[0]: [code for code, _ in found if code != "threshold.accuracy_optimal"]
        for key, found in errors(results).items()
        if key.split("/")[0] not in EMPTY
    }
    assert codes == (
        {name: ["arguments.invalid_json"] for name in BROKEN} | {key_0: ["arguments.not_object"] for key_0 in NO_OBJECT}
    )
    schema = {name.split("/")[0]: state for name, state in column(results.calls, "schema_state").items()}
    assert schema == dict.fromkeys([*BROKEN, *NO_OBJECT], "invalid") | dict.fromkeys(EMPTY, "valid")
    texts = {name.split("/")[0]: text for name, text in column(results.calls, "arguments").items()}
    assert {name: texts[name] for name in BROKEN | NO_OBJECT} == BROKEN | NO_OBJECT


def test_broken_arguments_are_still_scanned(tmp_path):
    """The second object holds the path that the first one hides."""
    texts = [
        '{"path": "/srv/a"}{"path": "/etc/shadow"}',
        '{"path": "/etc/shadow"',
        '{"path": "/srv/a", "other": NaN, "more": "/etc/passwd"}',
    ]
    lines = [trace(str(n), [{"name": "open", "arguments": text}]) for n, text in enumerate(texts)]
    lines.append({"trace_id": "chat", "tool_calls": [{"name": "open", "arguments": '{"path": "/srv/a"}'}]})
    results = score(tmp_path, lines, {"safety": {"packs": ["paths"], "restricted_paths": ["/etc"]}})
    assert column(results.traces, "safety_ok") == {"0": False, "1": False, "2": False, "chat": True}
    found = results.findings.filter(pl.col("code").str.starts_with("safety."), severity="error")
    assert sorted(found["trace_id"].unique()) == ["0", "1", "2"]


def test_text_that_holds_an_object_is_opened_at_most_twice(tmp_path):
    arguments = {"k": 1}
    text = json.dumps(arguments)
    lines = []
    for depth in range(5):
        lines.append(trace(str(depth), [{"name": "t", "arguments": text if depth else arguments}], [call("t", k=1)]))
        text = json.dumps(text) if depth else text
    results = score(tmp_path, lines)
    assert column(results.traces, "accuracy_optimal") == {"0": 1.0, "1": 1.0, "2": 1.0, "3": 0.5, "4": 0.5}
    assert [row["arguments_state"] for row in results.calls.to_dicts()] == ["object"] * 3 + ["not_object"] * 2
    assert column(results.calls, "decoded_times") | {"3": 2, "4": 2} == {"0": 0, "1": 1, "2": 2, "3": 2, "4": 2}
    assert column(results.traces, "n_notes")["2"] == 1


def test_the_last_of_two_equal_keys_counts_everywhere(tmp_path):
    """Schema, match and safety see one value, whichever program would have read the other."""
    text = '{"path": "/etc/passwd", "path": "/srv/a"}'
    results = score(
        tmp_path,
        [
            trace("last", [{"name": "open", "arguments": text}], [call("open", path="/srv/a")]),
            trace("first", [{"name": "open", "arguments": text}], [call("open", path="/etc/passwd")]),
        ],
        tools(open=closed("path", path={"type": "string", "pattern": "^/srv"})),
    )
    assert column(results.traces, "accuracy_optimal") == {"last": 1.0, "first": 0.5}
    assert column(results.calls, "schema_state") == {"last": "valid", "first": "valid"}
    assert results.findings.filter(severity="note")["code"].to_list() == ["arguments.duplicate_keys"] * 2


JUNK = [None, "junk", 7, True, [], {}, {"name": None}, {"name": 5, "arguments": {}}, {"arguments": {}}]


@pytest.mark.parametrize("kind", ["native", "chat"])
def test_a_malformed_entry_never_takes_its_neighbours_along(tmp_path, kind):
    a, d = {"name": "a", "arguments": "{}"}, {"name": "d", "arguments": "{}"}
    if kind == "chat":
        junk = [None, "junk", 7, [], {}, {"id": "c2", "type": "function", "function": None}]
        junk += [{"id": "x", "function": {"arguments": "{}"}}, {"id": "x", "function": {"name": None}}]
        good = [{"id": "1", "function": a}, {"id": "2", "function": d}]
    else:
        junk, good = JUNK, [a, d]
    lines = []
    for n, entry in enumerate([*junk, junk]):
        middle = entry if n == len(junk) else [entry]
        calls = [good[0], *middle, good[1]]
        line = {"trace_id": str(n), "expected": [call("a"), call("d")]}
        lines.append(line | ({"tool_calls": calls} if kind == "native" else {"messages": [asking(*calls)]}))
    results = score(tmp_path, lines)
    assert results.rejects.height == 0
    for n, row in enumerate(results.traces.iter_rows(named=True)):
        bad = len(junk) if n == len(junk) else 1
        assert pair_counts(row) == {"exact": 2, "partial": 0, "missing": 0, "extra": 0, "malformed": bad}
        assert row["n_calls"] == 2 + bad
        assert row["accuracy_optimal"] == 2 / (2 + bad)
        assert row["route"] == "triage"
    statuses = grouped(results.pairs, "status")["0"]
    assert statuses == ["exact", "malformed", "exact"]


def test_a_free_text_tool_is_compared_as_text(tmp_path):
    custom = {"id": "c3", "type": "custom", "custom": {"name": "patch", "input": "free text"}}
    calls = [asked("a", "{}"), {"id": "c2", "type": "function", "function": None}, "junk", custom, asked("d", "{}")]
    line = {"trace_id": "t", "messages": [asking(*calls)], "expected": [call("a"), call("d")]}
    results = score(tmp_path, [line], tools(a={}, d={}, patch=closed("k", k={"type": "integer"})))
    assert results.calls["name"].to_list() == ["a", None, None, "patch", "d"]
    assert results.calls["malformed"].to_list() == [False, True, True, False, False]
    text = results.calls.row(3, named=True)
    assert (text["arguments_state"], text["arguments"], text["kind"]) == ("text", "free text", "custom")
    assert text["schema_state"] == "not_applicable"
    row = by_trace(results.traces)["t"]
    assert pair_counts(row) == {"exact": 2, "partial": 0, "missing": 0, "extra": 1, "malformed": 2}
    assert row["accuracy_optimal"] == 0.4


def test_a_dispatcher_is_unwrapped_by_rule_only(tmp_path):
    inner = {"call": {"tool_name": "list_invoices", "args": {"year": 2026}}}
    expected = [call("list_invoices", year=2026)]
    lines = [
        trace("wrapped", [{"name": "Dispatcher.handle", "arguments": inner}], expected),
        trace("as text", [{"name": "Dispatcher.handle", "arguments": json.dumps(inner)}], expected),
        trace(
            "a tool of its own", [call("log", call={"tool_name": "list_invoices"})], [call("log", call={"$any": True})]
        ),
    ]
    known = tools(list_invoices={}, log={})
    rule = {"wrappers": {"Dispatcher.handle": {"name": "call.tool_name", "arguments": "call.args"}}}
    with_rule = score(tmp_path, lines, {**known, **rule})
    assert columns(with_rule.calls, "tool", "wrapper") == {
        "wrapped": ("list_invoices", "Dispatcher.handle"),
        "as text": ("list_invoices", "Dispatcher.handle"),
        "a tool of its own": ("log", None),
    }
    assert set(with_rule.traces["accuracy_optimal"]) == {1.0}
    without = score(tmp_path, lines, known)
    assert column(without.traces, "accuracy_optimal") == {"wrapped": 0.0, "as text": 0.0, "a tool of its own": 1.0}
    assert column(without.findings.filter(rung=1), "code") == {"wrapped": "tool.unknown", "as text": "tool.unknown"}


SEPARATORS = ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"]
"""What some readers take for the end of a line; VT to RS are control characters, which JSON has escaped."""


def test_records_end_at_newlines_only(tmp_path):
    inside = [f"a{char}b" if char > "\x7f" else "a" + json.dumps(char)[1:-1] + "b" for char in SEPARATORS]
    lines = [f'{{"trace_id": "t{n}", "tool_calls": [], "final_answer": "{text}"}}' for n, text in enumerate(inside)]
    lines[0] = "\ufeff" + lines[0]
    results = score(tmp_path, [*lines, "", "   ", "\r"])
    answers = [f"a{char}b" for char in SEPARATORS]
    assert results.traces["final_answer"].to_list() == answers
    run = results.runs.row(0, named=True)
    assert (run["n_records"], run["n_traces"], run["n_blank"], run["n_rejects"]) == (len(lines) + 3, len(lines), 3, 0)


BAD = {
    "trailing data": (b'{"trace_id": "x", "tool_calls": []}TRAILER', "trailing data"),
    "two records": (b'{"trace_id": "x", "tool_calls": []}{"trace_id": "y", "tool_calls": []}', "trailing data"),
    "lone surrogate": (b'{"trace_id": "x", "tool_calls": [], "final_answer": "\\ud800"}', "surrogate"),
    "NaN": (b'{"trace_id": "x", "tool_calls": [], "score": NaN}', "NaN"),
    "cut off": (b'{"trace_id": "x"', "unterminated"),
    "no UTF-8": (b'{"trace_id": "x", "tool_calls": [], "final_answer": "\xff"}', "UTF-8"),
    "control character": (b'{"trace_id": "x", "tool_calls": [], "final_answer": "a\x0bb"}', "control"),
    "no object": (b"7", "object"),
    "wrong type": (b'{"trace_id": "x", "tool_calls": {}}', "tool_calls"),
    "bad reference": (b'{"trace_id": "x", "tool_calls": [], "expected": [{"name": "a", "arguments": 7}]}', "arguments"),
    "nameless reference": (b'{"trace_id": "x", "tool_calls": [], "expected": [{"arguments": {}}]}', "name"),
}


def test_a_bad_line_is_one_row_of_rejects(tmp_path):
    lines = [b'{"trace_id": "first", "tool_calls": []}']
    starts = []
    for text, _ in BAD.values():
        starts.append(sum(len(line) + 1 for line in lines))
        lines += [text, b""]
    lines.append(b'{"trace_id": "last", "tool_calls": []}')
    results = score(tmp_path, lines)
    assert results.traces["trace_id"].to_list() == ["first", "last"]
    rows = results.rejects
    assert rows["line"].to_list() == list(range(2, 2 + 2 * len(BAD), 2))
    for offset, start, (text, _) in zip(rows["offset"], starts, BAD.values(), strict=True):
        assert start <= offset <= start + len(text)
    assert set(rows["source"]) == {"in.jsonl"}
    for reason, (_, words) in zip(rows["reason"], BAD.values(), strict=True):
        assert words.lower() in reason.lower()
    run = results.runs.row(0, named=True)
    counts = (run["n_records"], run["n_traces"], run["n_merged"], run["n_blank"], run["n_rejects"])
    assert counts == (2 + 2 * len(BAD), 2, 0, len(BAD), len(BAD))


@pytest.mark.parametrize(("allowed", "code"), [(None, 0), (2, 0), (1, 3), (0, 3)])
def test_how_many_rejects_are_too_many_is_the_callers_to_say(tmp_path, capsys, allowed, code):
    path = write(tmp_path, [trace("t", []), "{", "["])
    given = [] if allowed is None else ["--max-rejects", str(allowed)]
    assert main(["score", str(path), "--quiet", *given]) == code
    capsys.readouterr()


@pytest.mark.parametrize("lines", [[], [""], ["{", "["], ["7"]])
def test_an_input_without_a_trace_is_an_error(tmp_path, capsys, lines):
    path = write(tmp_path, lines)
    assert main(["score", str(path), "--quiet"]) == 3
    assert "in.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize("given", [None, "name", "blank"])
def test_results_without_ids_come_by_order_and_name(tmp_path, given):
    """No id, the tool's name as the id, or an empty one: calls stay apart, each with its own result."""
    cities = {"Oslo": 3, "Rome": 21, "Lima": 18}
    ids = {} if given is None else {"id": "temp" if given == "name" else ""}
    asks = [{"functionCall": {"name": "temp", "args": {"city": city}, **ids}} for city in cities]
    gives = [{"functionResponse": {"name": "temp", "response": {"c": value}, **ids}} for value in cities.values()]
    talk = [{"role": "model", "parts": asks}, {"role": "user", "parts": gives}]
    expected = [{"name": "temp", "arguments": {"city": city}} for city in cities]
    results = score(tmp_path, [{"trace_id": "t", "contents": talk, "expected": expected}], {"name": "s"})
    calls = results.calls.sort("call_index")
    found = {json.loads(row["arguments"])["city"]: json.loads(row["result"])["c"] for row in calls.to_dicts()}
    assert found == cities
    assert set(calls["call_id"].to_list()) == ({"temp"} if given == "name" else {None})
    assert pair_counts(by_trace(results.traces)["t"])["exact"] == 3
