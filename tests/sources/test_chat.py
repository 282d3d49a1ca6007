"""Conversations: calls, results, answers, and the faults that readers of messages have."""

import json

import pytest

from tests.sources.reading import read, write
from tracelens.columns import ABSENT, FREE_TEXT, JSON_STRING, JSON_VALUE


def call(name, arguments="{}", id=None):  # noqa: A002
    out = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return out if id is None else {"id": id, **out}


def assistant(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(content, id=None, **more):  # noqa: A002
    return {"role": "tool", "content": content, **({} if id is None else {"tool_call_id": id}), **more}


USER = {"role": "user", "content": "hello"}


def chat(tmp_path, *conversations, **options):
    return read(write(tmp_path, [json.dumps(talk) for talk in conversations]), **options)


@pytest.mark.parametrize("bare", [True, False])
def test_a_conversation_is_a_trace(tmp_path, bare):
    messages = [
        {"role": "system", "content": "s"},
        USER,
        assistant(call("find", '{"q": "é\\n"}', "c1"), call("look", "{}", "c2")),
        result("found", "c1"),
        result([{"type": "text", "text": "loo"}, {"type": "text", "text": "ked"}], "c2"),
        {"role": "assistant", "content": "thinking"},
        assistant(call("find", "", "c3"), content="and"),
        {"role": "assistant", "content": [{"type": "text", "text": "do"}, {"type": "text", "text": "ne"}]},
        USER,
    ]
    got = chat(tmp_path, messages if bare else {"messages": messages, "id": 5, "metadata": {"a": 1}, "case_id": "x"})
    rows = [
        (r["name"], r["arguments"], r["arguments_form"], r["call_id"], r["turn"], r["result"]) for r in got["calls"]
    ]
    assert rows == [
        ("find", '{"q": "é\\n"}', JSON_STRING, "c1", 0, "found"),
        ("look", "{}", JSON_STRING, "c2", 0, "looked"),
        ("find", "", JSON_STRING, "c3", 2, None),
    ]
    trace = got["traces"][0]
    assert (trace["final_answer"], trace["llm_calls"], trace["has_calls"]) == ("done", 4, True)
    expected = ("traces.jsonl:1", False, None, None) if bare else ("5", True, '{"a": 1}', "x")
    assert (trace["trace_id"], trace["id_given"], trace["tags"], trace["case_id"]) == expected


def test_ids_that_come_again_name_the_later_call(tmp_path):
    messages = [
        assistant(call("a", id="x")),
        assistant(call("b", id="x"), call("c", id="x")),
        result("for b", "x"),
        result("for c", "x"),
        result("for a", "x"),
        result("for nobody", "x"),
        assistant(call("d", id="y"), call("e", id="x")),
        result("for e", "x"),
        result("before", "z"),
        assistant(call("f", id="z")),
    ]
    got = chat(tmp_path, messages, [assistant(call("g", id="y"))])
    assert [(r["name"], r["result"]) for r in got["calls"]] == [
        ("a", "for a"),
        ("b", "for b"),
        ("c", "for c"),
        ("d", None),
        ("e", "for e"),
        ("f", None),
        ("g", None),
    ]


def test_the_older_way_of_asking_is_joined_by_name(tmp_path):
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}},
        {"role": "function", "name": "f", "content": "1"},
        {"role": "assistant", "function_call": None, "content": ""},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        assistant(call("g"), call("h")),
        {"role": "tool", "name": "h", "content": "2"},
    ]
    got = chat(tmp_path, messages)
    assert [(r["name"], r["turn"], r["call_index"], r["result"]) for r in got["calls"]] == [
        ("f", 0, 0, "1"),
        ("f", 2, 1, None),
        ("g", 3, 2, None),
        ("h", 3, 3, "2"),
    ]
    assert got["traces"][0]["final_answer"] is None


def test_malformed_entries_stand_alone(tmp_path):
    """One null function, one plain string, one custom tool: three good calls and two malformed rows."""
    entries = [
        call("a", "{}", "c1"),
        {"id": "c2", "type": "function", "function": None},
        "junk",
        {"id": "c3", "type": "custom", "custom": {"name": "b", "input": "free text"}},
        call("d", "{}", "c4"),
        {"id": "c5", "type": "custom", "custom": None},
    ]
    got = chat(tmp_path, [assistant(*entries), result("r", "c4")])
    rows = [(r["name"], r["malformed"], r["kind"], r["arguments_form"]) for r in got["calls"]]
    assert rows == [
        ("a", False, None, JSON_STRING),
        (None, True, None, ABSENT),
        (None, True, None, ABSENT),
        ("b", False, "custom", FREE_TEXT),
        ("d", False, None, JSON_STRING),
        (None, True, None, ABSENT),
    ]
    assert got["calls"][3]["arguments"] == "free text"
    assert [r["result"] for r in got["calls"]] == [None] * 4 + ["r", None]


@pytest.mark.parametrize("text", ['{"path":"/a"}{"path":"/b"}', '{"floor": 1', "NaN", "{'a': 1}", '"{\\"a\\":1}"', " "])
def test_broken_arguments_stay_as_they_were_recorded(tmp_path, text):
    got = chat(tmp_path, [assistant(call("f", text))])
    assert [(r["arguments"], r["arguments_form"], r["malformed"]) for r in got["calls"]] == [(text, JSON_STRING, False)]


def test_arguments_that_are_values_are_kept_as_json(tmp_path):
    got = chat(tmp_path, [assistant(call("f", {"a": 1.0}), call("g", None))])
    first = got["calls"][0]
    assert (first["arguments"], first["arguments_form"]) == ('{"a": 1.0}', JSON_VALUE)


def test_calls_count_only_where_an_assistant_asks(tmp_path):
    got = chat(tmp_path, [{"role": "user", "content": "x", "tool_calls": [call("f")]}, assistant(call("g"))])
    assert [r["name"] for r in got["calls"]] == ["g"]


def test_the_status_is_unknown_unless_a_result_says(tmp_path):
    asked = assistant(*[call("f", id=str(k)) for k in range(5)])
    answers = [
        result("Error: no", "0"),
        result("x", "1", is_error=True),
        result("x", "2", is_error=False),
        result("x", "3", status="error"),
        result("x", "4", status="success"),
    ]
    got = chat(tmp_path, [asked, *answers])
    assert [r["status"] for r in got["calls"]] == [None, "error", "ok", "error", "ok"]


def test_references_may_stand_beside_the_messages(tmp_path):
    got = chat(tmp_path, {"messages": [assistant(call("a"))], "expected": [{"name": "a"}], "trace_id": "t"})
    assert [(r["trace"], r["name"]) for r in got["expected"]] == [(0, "a")]
    assert got["traces"][0]["n_references"] == 1


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"messages": "x"}, "messages is no array"),
        ({"id": 1}, "messages is no array"),
        (5, "must be an object with messages"),
        ([USER, None], "a message is no object"),
        ([{"content": "x"}], "a message has no role"),
        ([{"role": "assistant", "tool_calls": {}}], "tool_calls is no array"),
    ],
)
def test_what_is_no_conversation_is_rejected(tmp_path, record, reason):
    got = chat(tmp_path, [assistant(call("a"))], record, [assistant(call("b"))])
    assert [r["name"] for r in got["calls"]] == ["a", "b"]
    assert len(got["rejects"]) == 1
    assert reason in got["rejects"][0]["reason"]


def test_one_list_of_messages_over_several_lines_is_one_conversation(tmp_path):
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([USER, assistant(call("a")), USER], indent=1))
    got = read(path)
    assert [r["name"] for r in got["calls"]] == ["a"]
    assert [r["trace_id"] for r in got["traces"]] == ["talk.json:1"]
    path.write_text(json.dumps([[USER, assistant(call("a"))], [USER]], indent=1))
    assert [r["trace_id"] for r in read(path)["traces"]] == ["talk.json[0]", "talk.json[1]"]


def test_an_empty_conversation_is_a_trace_without_calls(tmp_path):
    got = chat(tmp_path, [USER], [], {"messages": []})
    assert [(r["has_calls"], r["final_answer"], r["llm_calls"]) for r in got["traces"]] == [(True, None, 0)] * 3


@pytest.mark.parametrize("size", [1, 200, 1000])
def test_blocks_change_nothing(tmp_path, size):
    talks = [
        [USER, assistant(call("a", id="x")), result(str(k), "x"), {"role": "assistant", "content": "z"}]
        for k in range(20)
    ]
    path = write(tmp_path, [json.dumps(talk) for talk in talks])
    assert read(path, block_size=size) == read(path)
