"""Message lists of providers and frameworks: where calls, results, errors and answers stand, and what goes wrong there."""

import json

import pytest

import tracelens as tl
from tests.sources.reading import read, write
from tracelens.columns import ABSENT, FREE_TEXT, JSON_STRING, JSON_VALUE, NOT_CAPTURED
from tracelens.sources.detect import open_input


def got(tmp_path, *records, format="auto"):
    return read(write(tmp_path, [json.dumps(each) for each in records]), format)


def rows(found, *names):
    return [tuple(call[name] for name in names) for call in found["calls"]]


def use(id, name, input, type="tool_use"):  # noqa: A002
    return {"type": type, "id": id, "name": name, "input": input}


def model(*parts):
    return {"role": "model", "parts": list(parts)}


def calls_of_google(*cities):
    return [{"functionCall": {"name": "temp", "args": {"city": city}}} for city in cities]


def answers_of_google(*values, **more):
    return [{"functionResponse": {"name": "temp", "response": {"c": value}, **more}} for value in values]


# ------------------------------------------------------------------------------------------------- Google contents


@pytest.mark.parametrize("spelling", ["camel", "snake"])
def test_calls_without_ids_get_their_results_by_order_and_name(tmp_path, spelling):
    talk = [
        model(*calls_of_google("Oslo", "Rome", "Lima")),
        {"role": "user", "parts": answers_of_google(3, 21, 18)},
        model(*calls_of_google("Oslo")),
        {"role": "user", "parts": answers_of_google(4)},
        model({"text": "do"}, {"text": "ne"}),
    ]
    text = json.dumps({"contents": talk})
    if spelling == "snake":
        text = text.replace("functionCall", "function_call").replace("functionResponse", "function_response")
    found = read(write(tmp_path, [text]))
    answers = [(json.loads(c["arguments"])["city"], json.loads(c["result"])["c"], c["turn"]) for c in found["calls"]]
    assert answers == [("Oslo", 3, 0), ("Rome", 21, 0), ("Lima", 18, 0), ("Oslo", 4, 1)]
    assert found["traces"][0]["final_answer"] == "done"


def test_an_id_that_is_the_name_is_no_id(tmp_path):
    """Some providers give the tool's name as the id of every call of it."""
    parts = calls_of_google("Oslo", "Rome")
    for part in parts:
        part["functionCall"]["id"] = "temp"
    found = got(tmp_path, {"contents": [model(*parts), {"role": "user", "parts": answers_of_google(3, 21, id="temp")}]})
    assert rows(found, "call_id", "result") == [("temp", '{"c": 3}'), ("temp", '{"c": 21}')]


def test_of_several_candidates_the_first_counts(tmp_path):
    candidates = [{"content": model(*calls_of_google(city)), "index": k} for k, city in enumerate(("Oslo", "Rome"))]
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}
    found = got(tmp_path, {"candidates": candidates, "usageMetadata": usage, "modelVersion": "g"})
    assert [call["arguments"] for call in found["calls"]] == ['{"city": "Oslo"}']
    assert (found["traces"][0]["input_tokens"], found["traces"][0]["output_tokens"]) == (7, 5)


def test_code_that_the_provider_ran(tmp_path):
    code = {"executableCode": {"language": "PYTHON", "code": "1 + 1"}}
    ran = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
    failed = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}}
    found = got(tmp_path, [model(code, ran, code, failed, {"text": "two"})])
    wanted = [("code_execution", "server", "2", "ok", 0), ("code_execution", "server", "no", "error", 1)]
    assert rows(found, "name", "kind", "result", "status", "turn") == wanted
    assert found["traces"][0]["final_answer"] == "two"


def test_a_response_with_an_error_failed(tmp_path):
    parts = [{"functionResponse": {"name": "temp", "response": {"error": "no such city"}}}]
    found = got(tmp_path, {"contents": [model(*calls_of_google("X")), {"role": "user", "parts": parts}]})
    assert rows(found, "status", "error") == [("error", "no such city")]


# ------------------------------------------------------------------------------------------------- Anthropic


def test_blocks_of_the_provider_stay_in_their_message(tmp_path):
    content = [
        use("s1", "web_search", {"query": "a"}, "server_tool_use"),
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]},
        use("s2", "web_fetch", {"url": "u"}, "server_tool_use"),
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "s2",
            "content": {"type": "web_fetch_tool_result_error", "error_code": "unavailable"},
        },
        use("m1", "lookup", {}, "mcp_tool_use"),
        {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": True, "content": [{"type": "text", "text": "no"}]},
        {"type": "text", "text": "Nothing"},
        {"type": "text", "text": " found."},
    ]
    response = {"id": "msg_1", "type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn"}
    found = got(tmp_path, response)
    wanted = [("web_search", "server", "ok", 0), ("web_fetch", "server", "error", 1), ("lookup", "server", "error", 2)]
    assert rows(found, "name", "kind", "status", "turn") == wanted
    assert found["calls"][2]["error"] == "no"
    assert (found["traces"][0]["final_answer"], found["traces"][0]["llm_calls"]) == ("Nothing found.", 1)


def test_text_before_calls_is_no_answer(tmp_path):
    talk = [
        {"role": "assistant", "content": "early"},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": [{"type": "text", "text": "now"}, use("1", "a", {})]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]},
    ]
    assert got(tmp_path, {"messages": talk})["traces"][0]["final_answer"] == "early"


def test_tokens_count_the_cache(tmp_path):
    usage = {"input_tokens": 1, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 100, "output_tokens": 5}
    record = {"type": "message", "role": "assistant", "content": [], "stop_reason": None, "usage": usage, "model": "m"}
    trace = got(tmp_path, record)["traces"][0]
    assert (trace["input_tokens"], trace["output_tokens"]) == (111, 5)


# ------------------------------------------------------------------------------------------------- Responses


def item(type, **members):
    return {"type": type, **members}


def test_every_type_of_item(tmp_path):
    items = [
        item("function_call", call_id="f", name="find", namespace="crm", arguments='{"a": 1}'),
        item("function_call_output", call_id="f", output=[{"type": "input_text", "text": "found"}]),
        item("custom_tool_call", call_id="c", name="patch", input="*** Begin"),
        item("custom_tool_call_output", call_id="c", output="ok"),
        item("local_shell_call", call_id="l", action={"type": "exec", "command": ["ls"]}, status="completed"),
        item("local_shell_call_output", call_id="l", output="files"),
        item("file_search_call", id="fs", queries=["q"], results=[{"file_id": "1"}], status="completed"),
        item("code_interpreter_call", id="ci", code='print("x")', outputs=[], status="failed"),
        item("mcp_call", id="m", name="ask", server_label="s", arguments="{}", output=None, error="gone"),
        item("function_call", call_id="n", name="bare"),
        item("computer_call", call_id="k", action={"type": "click", "x": 1}),
        item("message", role="assistant", content=[{"type": "output_text", "text": "done"}]),
    ]
    found = got(tmp_path, items)
    wanted = [
        ("crm.find", '{"a": 1}', JSON_STRING, None, None, "found"),
        ("patch", "*** Begin", FREE_TEXT, "custom", None, "ok"),
        ("local_shell", '{"type": "exec", "command": ["ls"]}', JSON_VALUE, None, None, "files"),
        ("file_search", '{"queries": ["q"]}', JSON_VALUE, "server", "ok", '[{"file_id": "1"}]'),
        ("code_interpreter", '{"code": "print(\\"x\\")"}', JSON_VALUE, "server", "error", "[]"),
        ("ask", "{}", JSON_STRING, "server", "error", None),
        ("bare", None, NOT_CAPTURED, None, None, None),
        ("computer", '{"type": "click", "x": 1}', JSON_VALUE, None, None, None),
    ]
    assert rows(found, "name", "arguments", "arguments_form", "kind", "status", "result") == wanted
    assert found["calls"][5]["error"] == "gone"
    assert found["traces"][0]["final_answer"] is None  # said in one breath with a call


def test_what_was_approved_comes_once_and_what_was_refused_is_denied(tmp_path):
    items = [
        item("mcp_approval_request", id="r1", name="pay", server_label="s", arguments='{"to": "a"}'),
        item("mcp_approval_response", approval_request_id="r1", approve=True),
        item("mcp_call", id="m1", approval_request_id="r1", name="pay", arguments='{"to": "a"}', output="paid"),
        item("mcp_approval_request", id="r2", name="pay", server_label="s", arguments='{"to": "b"}'),
        item("mcp_approval_response", approval_request_id="r2", approve=False),
    ]
    found = got(tmp_path, {"items": items})
    assert rows(found, "name", "call_id", "status") == [("pay", "m1", None), ("pay", "r2", "denied")]


def test_an_id_that_comes_again_names_the_later_call(tmp_path):
    items = []
    for k in range(3):
        items.append(item("function_call", call_id="x", name=f"f{k}", arguments="{}"))
        items.append(item("function_call_output", call_id="x", output=str(k)))
    assert rows(got(tmp_path, items), "name", "turn", "result") == [("f0", 0, "0"), ("f1", 1, "1"), ("f2", 2, "2")]


def test_input_comes_before_output_wherever_it_stands(tmp_path):
    record = {
        "output": [item("function_call", call_id="b", name="second", arguments="{}")],
        "input": [
            item("function_call", call_id="a", name="first", arguments="{}"),
            item("function_call_output", call_id="a", output="1"),
        ],
    }
    assert rows(got(tmp_path, record), "name", "call_index", "turn") == [("first", 0, 0), ("second", 1, 1)]


def test_tools_that_a_server_lists_are_definitions(tmp_path):
    record = {
        "object": "response",
        "tools": [{"type": "mcp", "server_label": "s"}],
        "output": [item("mcp_list_tools", tools=[{"name": "ask", "input_schema": {"type": "object"}}])],
    }
    listed = json.loads(got(tmp_path, record, {"object": "response", "output": []})["traces"][0]["tools"])
    assert [[each.get("name", each.get("type")) for each in some["tools"]] for some in listed] == [["mcp"], ["ask"]]


def test_calls_of_the_providers_tools_are_known_by_their_definitions(tmp_path):
    tools = [{"type": "programmatic_tool_calling"}, {"type": "web_search_preview"}]
    calls = [item("program", call_id="p", code="x"), item("web_search_call", id="w", action={"type": "search"})]
    path = write(tmp_path, [json.dumps({"object": "response", "tools": tools, "output": calls})])
    results = tl.score(path, progress=False)
    assert results.calls["tool"].to_list() == ["program", "web_search"]
    assert "tool.unknown" not in results.findings["code"].to_list()
    unknown = [item("function_call", call_id="f", name="made_up", arguments="{}")]
    path = write(tmp_path, [json.dumps({"object": "response", "tools": tools, "output": unknown})])
    assert "tool.unknown" in tl.score(path, progress=False).findings["code"].to_list()


# ------------------------------------------------------------------------------------------------- LangChain


def test_the_providers_own_form_counts_only_where_there_is_no_other(tmp_path):
    raw = [{"id": "r", "function": {"name": "raw", "arguments": "{}"}}]
    call = {"name": "good", "args": {}, "id": "g"}
    talk = [
        {"type": "ai", "content": "", "tool_calls": [call], "additional_kwargs": {"tool_calls": raw}},
        {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": raw}},
        {"type": "ai", "content": [{"type": "text", "text": "x"}], "tool_calls": []},
    ]
    found = got(tmp_path, {"messages": talk})
    assert rows(found, "name", "turn") == [("good", 0), ("raw", 1)]
    assert found["traces"][0]["final_answer"] == "x"


def test_a_constructor_without_a_type_is_known_by_its_class(tmp_path):
    def constructed(name, **kwargs):
        return {"kwargs": kwargs, "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name]}

    talk = [
        constructed("AIMessageChunk", content="", tool_calls=[{"name": "a", "args": {"x": 1}, "id": "1"}]),
        constructed("ToolMessage", content="r", tool_call_id="1"),
    ]
    assert rows(got(tmp_path, talk), "name", "arguments", "result") == [("a", '{"x": 1}', "r")]


# ------------------------------------------------------------------------------------------------- Pydantic AI


def part(kind, **members):
    return {"part_kind": kind, **members}


def asked(*parts):
    return {"kind": "request", "parts": list(parts)}


def said(*parts):
    return {"kind": "response", "parts": list(parts)}


def test_what_the_library_hid_is_taken_out(tmp_path):
    call = part("tool-call", tool_name="f", args={"INVALID_JSON": '{"a": '}, tool_call_id="1")
    found = got(tmp_path, [said(call)])
    assert rows(found, "arguments", "arguments_form", "repair") == [('{"a": ', JSON_STRING, "invalid_json")]


def test_retries_denials_and_tools_of_the_provider(tmp_path):
    talk = [
        said(
            part("tool-call", tool_name="f", args="{}", tool_call_id="1"),
            part("tool-call", tool_name="g", args="{}", tool_call_id="2"),
            part("builtin-tool-call", tool_name="web_search", args={"q": 1}, tool_call_id="3"),
            part("builtin-tool-return", tool_name="web_search", content=[], tool_call_id="3"),
        ),
        asked(
            part("retry-prompt", content="answer in JSON"),  # about no tool
            part("retry-prompt", tool_name="f", content="bad", tool_call_id="1"),
            part("tool-return", tool_name="g", content="no", tool_call_id="2", outcome="denied"),
        ),
    ]
    wanted = [("f", None, "error", "bad"), ("g", None, "denied", None), ("web_search", "server", "ok", None)]
    assert rows(got(tmp_path, talk), "name", "kind", "status", "error") == wanted


def test_an_answer_may_be_a_call(tmp_path):
    final = part("tool-call", tool_name="final_result", args={"city": "Oslo"}, tool_call_id="1")
    text = said(part("text", content="hello"))
    done = asked(part("tool-return", tool_name="final_result", content="ok", tool_call_id="1"))
    assert got(tmp_path, [text, said(final), done])["traces"][0]["final_answer"] == '{"city": "Oslo"}'
    assert got(tmp_path, [said(final), done, text])["traces"][0]["final_answer"] == "hello"


# ------------------------------------------------------------------------------------------------- Azure AI evaluation


def test_a_response_may_be_text_of_what_it_is(tmp_path):
    call = {"type": "tool_call", "tool_call_id": "1", "name": "f", "arguments": {"a": 1}}
    result = {"role": "tool", "tool_call_id": "1", "content": [{"type": "tool_result", "tool_result": {"b": 2}}]}
    answer = {"role": "assistant", "content": "done"}
    history = [{"role": "assistant", "content": [call]}]
    whole = [{"role": "assistant", "content": [call]}, result, answer]
    inside = [{"role": "assistant", "content": json.dumps([call])}, result, answer]
    found = got(
        tmp_path,
        {"query": history, "response": whole},
        {"query": "q", "response": json.dumps(whole)},
        {"query": "q", "response": inside},
        {"query": "q", "response": "just text"},
    )
    wanted = [(0, "f", '{"a": 1}', '{"b": 2}', None)] + [(k, "f", '{"a": 1}', '{"b": 2}', "json_text") for k in (1, 2)]
    assert rows(found, "trace", "name", "arguments", "result", "repair") == wanted
    assert [trace["final_answer"] for trace in found["traces"]] == ["done", "done", "done", "just text"]


# ------------------------------------------------------------------------------------------------- all of them

MALFORMED = {
    "anthropic": {"messages": [{"role": "assistant", "content": [use("1", "a", {}), None, "x", use("2", None, {})]}]},
    "responses": [
        item("function_call", call_id="1", name="a", arguments="{}"),
        item("function_call", call_id="2", name=None, arguments="{}"),
    ],
    "google": [model({"functionCall": {"name": "a", "args": {}}}, None, {"functionCall": "x"})],
    "langchain": [{"type": "ai", "content": "", "tool_calls": [{"name": "a", "args": {}}, None]}],
    "pydantic-ai": [said(part("tool-call", tool_name="a", args={}), None, part("tool-call", args={}))],
    "azure-evaluation": {
        "query": "",
        "response": [{"role": "assistant", "content": [{"type": "tool_call", "name": "a"}, {"type": "tool_call"}, 5]}],
    },
    "gemini-cli": {"sessionId": "s", "messages": [{"type": "gemini", "content": "", "toolCalls": [{"name": "a"}, 1]}]},
}


@pytest.mark.parametrize("format", MALFORMED)
def test_a_malformed_entry_never_takes_its_neighbours_along(tmp_path, format):
    found = got(tmp_path, MALFORMED[format], format=format)
    assert found["rejects"] == []
    assert rows(found, "name", "malformed") == [("a", False), (None, True)]


BROKEN = '{"a": 1'
BROKEN_TALKS = {
    "responses": [item("function_call", call_id="1", name="f", arguments=BROKEN)],
    "pydantic-ai": [said(part("tool-call", tool_name="f", args=BROKEN))],
    "langchain": [{"type": "ai", "content": "", "invalid_tool_calls": [{"name": "f", "args": BROKEN}]}],
    "azure-evaluation": {
        "query": "",
        "response": [{"role": "assistant", "content": [{"type": "tool_call", "name": "f", "arguments": BROKEN}]}],
    },
}


@pytest.mark.parametrize("text", [BROKEN, '{"a":1}{"b":2}', "NaN", ""])
@pytest.mark.parametrize("format", BROKEN_TALKS)
def test_broken_arguments_stay_as_they_were(tmp_path, format, text):
    record = json.loads(json.dumps(BROKEN_TALKS[format]).replace(json.dumps(BROKEN), json.dumps(text)))
    assert rows(got(tmp_path, record, format=format), "arguments", "arguments_form") == [(text, JSON_STRING)]


ABSENT_TALKS = {
    "anthropic": (
        {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f"}]}]},
        ABSENT,
    ),
    "responses": ([item("function_call", call_id="1", name="f")], NOT_CAPTURED),
    "google": ([model({"functionCall": {"name": "f"}})], ABSENT),
    "langchain": ([{"type": "ai", "content": "", "tool_calls": [{"name": "f"}]}], ABSENT),
}


@pytest.mark.parametrize("format", ABSENT_TALKS)
def test_no_arguments_are_not_the_same_everywhere(tmp_path, format):
    """Where a call without arguments may leave them out they are empty, elsewhere they were not captured."""
    record, form = ABSENT_TALKS[format]
    assert rows(got(tmp_path, record, format=format), "arguments", "arguments_form") == [(None, form)]


def test_bad_records_are_rejected_with_a_reason(tmp_path):
    good = {"contents": [model(*calls_of_google("Oslo"))]}
    found = got(tmp_path, good, 5, {"contents": "x"}, {"a": 1}, good, format="google")
    assert len(found["calls"]) == 2
    reasons = [reject["reason"] for reject in found["rejects"]]
    assert reasons[0].startswith("a conversation must be an object with contents or candidates")
    assert len(reasons) == 3


def test_blocks_do_not_change_what_is_read(tmp_path):
    usage = {"input_tokens": 3, "output_tokens": 4}
    plain = {"messages": [{"role": "assistant", "content": [use("1", "a", {})]}]}
    counted = {"type": "message", "role": "assistant", "stop_reason": None, "content": [], "usage": usage, "model": "m"}
    path = write(tmp_path, [json.dumps(each) for each in (plain, counted, plain)])
    seen = []
    for size in (1, 1 << 20):
        opened = open_input(path, block_size=size)
        batches = [parse(block) for parse, block in opened.blocks()]
        seen.append([row for batch in batches for row in batch.spans.drop_columns("trace").to_pylist()])
    assert seen[0] == seen[1]
    assert len(seen[0]) == 1
