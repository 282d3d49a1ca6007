"""Spans as OTLP/JSON: one call is one row, whatever tells of it, in whatever dialect and order."""

import gzip
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sources.otlp_writer import TRACE, Structured, chat, line, log, span, tool
from tests.sources.reading import batches, write
from tracelens.columns import ABSENT, JSON_STRING, JSON_VALUE, NOT_CAPTURED, TRUNCATED

ROUTE = {"from": "OSL", "to": "BGO"}


def read(folder, *lines, **options):
    """Calls, traces and spans as rows, and the remarks."""
    found = batches(write(folder, lines, "spans.jsonl"), **options)
    out = {
        name: [row for batch in found for row in getattr(batch, name).to_pylist()]
        for name in ("traces", "calls", "spans")
    }
    out["in_trace"] = rows_in_all(found)
    out["remarks"] = [remark for batch in found for remark in batch.remarks]
    out["merged"] = sum(batch.n_merged for batch in found)
    return out


def rows_in_all(found):
    """Calls with the number of their trace in the whole input."""
    out, n = [], 0
    for batch in found:
        out += [{**row, "trace": row["trace"] + n} for row in batch.calls.to_pylist()]
        n += batch.traces.num_rows
    return out


def told(found, *names):
    """Some columns of the calls."""
    return [tuple(call[name] for name in names) for call in found["calls"]]


def parsed(found):
    return [(call["name"], call["arguments"] and json.loads(call["arguments"])) for call in found["calls"]]


def test_a_message_and_a_span_of_one_call_are_one_row(tmp_path):
    found = read(
        tmp_path,
        line(
            chat(1, None, 0, ("k1", "find_route", ROUTE)),
            tool(2, 1, 5, tool="find_route", call_id="k1", arguments=json.dumps(ROUTE), result="ok"),
        ),
    )
    assert parsed(found) == [("find_route", ROUTE)]
    assert told(found, "call_id", "turn", "status", "result", "duration_ms") == [("k1", 0, "ok", "ok", 1.0)]
    assert [(one["kind"], one["call_index"]) for one in found["spans"]] == [("llm", None), ("tool", 0)]
    assert not found["remarks"]


def test_messages_say_the_order_of_parallel_calls(tmp_path):
    calls = [(f"k{n}", "look", {"n": n}) for n in range(4)]
    tools = [tool(10 + n, 1, 9 - n, tool="look", call_id=f"k{n}", arguments={"n": n}) for n in range(4)]
    found = read(tmp_path, line(*tools, chat(1, None, 0, *calls)))
    assert [arguments["n"] for _, arguments in parsed(found)] == [0, 1, 2, 3]
    assert told(found, "turn") == [(0,)] * 4


def test_an_id_that_comes_again_is_another_call(tmp_path):
    spans = []
    for n in range(3):
        spans += [
            chat(10 + n, None, 10 * n, ("same", "look", {"n": n})),
            tool(20 + n, None, 10 * n + 5, tool="look", call_id="same", arguments={"n": n}, result=f"r{n}"),
        ]
    found = read(tmp_path, line(*spans))
    assert [
        (arguments["n"], row[0]) for (_, arguments), row in zip(parsed(found), told(found, "result"), strict=True)
    ] == [
        (0, "r0"),
        (1, "r1"),
        (2, "r2"),
    ]


def test_without_an_id_name_and_arguments_join(tmp_path):
    found = read(
        tmp_path,
        line(
            chat(1, None, 0, ("k1", "look", {"n": 1}), ("k2", "look", {"n": 2})),
            tool(2, 1, 5, tool="look", arguments='{"n": 2}', result="two"),
            tool(3, 1, 6, tool="look", arguments='{"n":1}', result="one"),
        ),
    )
    assert told(found, "call_id", "result") == [("k1", "one"), ("k2", "two")]
    assert [remark.number for remark in found["remarks"] if "joined by name" in remark.text] == [2]


def test_what_was_asked_for_and_what_ran_alone_are_calls_too(tmp_path):
    found = read(
        tmp_path,
        line(
            chat(1, None, 0, ("k1", "web_search", {"q": "x"}), ("k2", "look", {"n": 2})),
            tool(2, None, 5, tool="look", call_id="k2", arguments={"n": 2}),
            tool(3, None, 6, tool="clean_up", call_id="k3", arguments={}),
            chat(
                4, None, 9, text="done",
                gen_ai__input__messages=[
                    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "k1", "response": {"hits": 3}}]}
                ],
            ),
        ),
    )  # fmt: skip
    assert told(found, "name", "status", "result") == [
        ("web_search", None, '{"hits": 3}'),
        ("look", "ok", None),
        ("clean_up", "ok", None),
    ]
    assert found["traces"][0]["final_answer"] == "done"


def test_definitions_are_no_calls(tmp_path):
    definitions = [{"type": "function", "name": "stock"}, {"type": "function", "name": "price"}]
    model = {"gen_ai__operation__name": "chat", "gen_ai__tool__definitions": definitions}
    found = read(
        tmp_path,
        line(
            span(1, None, 0, name="chat", **model),
            tool(2, None, 3, tool="stock", arguments='{"sku":"A"}'),
            span(3, None, 5, name="chat", **model),
        ),
    )
    assert parsed(found) == [("stock", {"sku": "A"})]
    assert json.loads(found["traces"][0]["tools"]) == definitions


def test_definitions_that_differ_come_together(tmp_path):
    one, two = {"name": "a", "parameters": {"type": "object"}}, {"name": "b"}
    spans = [
        span(k, None, k, gen_ai__operation__name="chat", gen_ai__tool__definitions=[each])
        for k, each in enumerate((one, two, one), 1)
    ]
    spans.append(span(9, None, 9, openinference__span__kind="LLM", **{"llm.tools.0.tool.json_schema": {"name": "c"}}))
    older = {"llm.request.functions.0.name": "d", "llm.request.functions.0.parameters": {"type": "object"}}
    spans.append(span(10, None, 10, llm__request__type="chat", **older))
    spans.append(
        span(11, None, 11, openinference__span__kind="TOOL", tool__name="e", tool__parameters={"type": "object"})
    )
    tools = json.loads(read(tmp_path, line(*spans))["traces"][0]["tools"])
    assert tools == [one, two, {"name": "c"}, *({"name": name, "parameters": {"type": "object"}} for name in "de")]


def test_arguments_may_stand_in_events(tmp_path):
    events = [
        ("gen_ai.tool.message", {"role": "tool", "id": "t1", "content": '{"sku":"P-1","qty":1}'}),
        ("gen_ai.choice", {"id": "t1", "message": '[{"text":"o"},{"text":"k"}]'}),
    ]
    found = read(tmp_path, line(tool(1, tool="add_item", call_id="t1", events=events)))
    assert parsed(found) == [("add_item", {"sku": "P-1", "qty": 1})]
    assert told(found, "result", "arguments_form") == [("ok", JSON_STRING)]


def test_operation_details_on_spans_and_in_logs(tmp_path):
    output = [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "k1", "name": "look", "arguments": {"n": 9007199254740993}}],
        }
    ]
    details = "gen_ai.client.inference.operation.details"
    model = span(
        1, None, 0, gen_ai__operation__name="chat", events=[(details, {"gen_ai.output.messages": Structured(output)})]
    )
    ran = tool(2, None, 5, tool="look", call_id="k1", result="fine")
    wanted = ([("look", {"n": 9007199254740993})], [("fine", JSON_VALUE)])
    first = read(tmp_path, line(model, ran))
    assert (parsed(first), told(first, "result", "arguments_form")) == wanted
    record = log(details, 1, 1, gen_ai__output__messages=Structured(output))
    second = read(tmp_path, line(span(1, None, 0, gen_ai__operation__name="chat"), ran), line(logs=[record]))
    assert (parsed(second), told(second, "result", "arguments_form")) == wanted
    choice = log(
        "gen_ai.choice", 1, 1,
        body={"index": 0, "message": {"role": "assistant", "tool_calls": [
            {"id": "k1", "type": "function", "function": {"name": "look", "arguments": '{"n": 9007199254740993}'}}]}},
    )  # fmt: skip
    third = read(tmp_path, line(logs=[choice]), line(span(1, None, 0, gen_ai__operation__name="chat"), ran))
    assert parsed(third) == wanted[0]
    alone = read(tmp_path, line(logs=[record]))
    assert parsed(alone) == wanted[0]
    assert alone["traces"][0]["has_calls"]


def test_messages_that_are_spread_over_attributes(tmp_path):
    start = "llm.output_messages.0.message.tool_calls."
    flat = {
        f"{start}1.tool_call.function.name": "b",
        f"{start}0.tool_call.id": "k0",
        f"{start}0.tool_call.function.name": "a",
        f"{start}0.tool_call.function.arguments": '{"x": 1}',
        f"{start}10.tool_call.function.name": "c",
    }
    found = read(tmp_path, line(span(1, openinference__span__kind="LLM", **flat)))
    assert told(found, "name", "call_id", "arguments_form") == [
        ("a", "k0", JSON_STRING),
        ("b", None, ABSENT),
        ("c", None, ABSENT),
    ]
    older = {"gen_ai.completion.0.tool_calls.0.name": "d", "gen_ai.completion.0.tool_calls.0.arguments": "{}"}
    found = read(tmp_path, line(span(1, llm__request__type="chat", **older)))
    assert parsed(found) == [("d", {})]


def test_vercel_tells_of_a_call_three_times(tmp_path):
    asked = '[{"toolCallId":"c1","toolName":"tool1","input":{"value":"v"}}]'
    found = read(
        tmp_path,
        line(
            span(1, None, 0, 90, ai__operationId="ai.generateText", ai__response__toolCalls=asked, ai__response__text="all done"),
            span(2, 1, 1, 10, ai__operationId="ai.generateText.doGenerate", ai__response__toolCalls=asked, ai__usage__inputTokens=7),
            span(3, 1, 11, 20, name="ai.toolCall", ai__operationId="ai.toolCall", ai__toolCall__name="tool1", ai__toolCall__id="c1",
                 ai__toolCall__args='{"value":"v"}', ai__toolCall__result='"value-result"'),
        ),
    )  # fmt: skip
    assert parsed(found) == [("tool1", {"value": "v"})]
    assert told(found, "call_id", "status") == [("c1", "ok")]
    trace = found["traces"][0]
    assert (trace["final_answer"], trace["llm_calls"], trace["input_tokens"]) == ("all done", 1, 7)


def test_a_bare_value_gets_its_key_from_the_step_around(tmp_path):
    given = {"input": [{"name": "lookup", "args": {"topic": "bags"}, "id": "call_s", "type": "tool_call"}]}
    message = {"type": "tool", "data": {"content": "2 bags", "tool_call_id": "call_s", "status": "success"}}
    found = read(
        tmp_path,
        line(
            span(1, None, 0, 9, name="tools", openinference__span__kind="CHAIN", input__value=given),
            span(
                2, 1, 1, 3, name="lookup", openinference__span__kind="TOOL", input__value="bags", output__value=message
            ),
        ),
    )
    assert parsed(found) == [("lookup", {"topic": "bags"})]
    assert told(found, "call_id", "repair", "result") == [("call_s", "bare_string", "2 bags")]


def test_wrappers_of_callbacks_come_off(tmp_path):
    wrapper = {"input_str": "{'n': 1}", "tags": [], "metadata": {}, "inputs": {"n": 1}, "kwargs": {}}
    output = {
        "output": {"lc": 1, "type": "constructor", "kwargs": {"content": "r", "tool_call_id": "k", "status": "error"}}
    }
    mine = {"traceloop__span__kind": "tool", "gen_ai__tool__call__result": output}
    found = read(
        tmp_path,
        line(
            tool(1, None, 0, tool="look", arguments=wrapper, **mine),
            tool(2, None, 1, tool="own", arguments={"inputs": {"n": 2}}, traceloop__span__kind="tool"),
        ),
    )
    assert parsed(found) == [("look", {"n": 1}), ("own", {"inputs": {"n": 2}})]
    assert told(found, "call_id", "result", "status")[0] == ("k", "r", "error")


def test_second_records_of_a_call_are_no_calls(tmp_path):
    found = read(
        tmp_path,
        line(
            tool(1, None, 0, tool="look", call_id="k", arguments={"n": 1}, end=9),
            tool(2, 1, 1, tool="look", mcp__method__name="tools/call", arguments={"n": 1}),
        ),
        line(
            span(3, None, 2, 8, openinference__span__kind="TOOL", tool__name="look", input__value={"n": 1}),
            scope="other",
        ),
        line(tool(4, None, 20, tool="(merged tools)", call_id="z"), scope="gcp.vertex.agent"),
        line(tool(5, None, 30, tool="look", call_id="k2", arguments={"n": 1})),
    )
    assert told(found, "name", "call_id") == [("look", "k"), ("look", "k2")]
    assert [one["call_index"] for one in found["spans"]] == [0, None, None, None, 1]


def test_two_instrumentations_of_one_answer(tmp_path):
    call = ("k1", "look", {"n": 1})
    inner = read(tmp_path, line(chat(1, None, 0, call, end=20), chat(2, 1, 5, call, end=10)))
    beside = read(tmp_path, line(chat(1, None, 0, call, end=20)), line(chat(2, None, 5, call, end=10), scope="b"))
    assert len(inner["calls"]) == len(beside["calls"]) == 1


def test_a_span_that_comes_twice_counts_once(tmp_path):
    one = tool(1, None, 0, tool="look", call_id="k", arguments={"n": 1})
    pending = {key: value for key, value in one.items() if key != "endTimeUnixNano"}
    found = read(tmp_path, line(pending), line(one), line(one), line(pending | {"name": "later"}))
    assert told(found, "duration_ms") == [(1.0,)]
    assert found["merged"] == 3
    assert len(found["spans"]) == 1


def test_ids_have_no_case(tmp_path):
    upper = {**tool(2, 1, 5, tool="look", arguments={}), "traceId": TRACE.upper(), "parentSpanId": f"{0xAB:016X}"}
    found = read(
        tmp_path,
        line(span(0xAB, None, 0, 9, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="bob")),
        line(upper),
    )
    assert len(found["traces"]) == 1
    assert told(found, "agent") == [("bob",)]


def test_calls_inside_a_call_are_deeper(tmp_path):
    agent = {"gen_ai__operation__name": "invoke_agent"}
    found = read(
        tmp_path,
        line(
            span(1, None, 0, 99, gen_ai__agent__name="boss", gen_ai__conversation__id="c-1", **agent),
            tool(2, 1, 1, tool="ask_helper", arguments={}, end=80),
            span(3, 2, 2, 70, gen_ai__agent__name="helper", gen_ai__conversation__id="c-2", **agent),
            tool(4, 3, 3, tool="look", arguments={}),
            tool(5, 1, 90, tool="book", arguments={}),
            service__name="desk",
            tracelens__case_id="case-7",
        ),
    )  # fmt: skip
    assert told(found, "name", "depth", "agent") == [
        ("ask_helper", 0, "boss"),
        ("look", 1, "helper"),
        ("book", 0, "boss"),
    ]
    trace = found["traces"][0]
    assert (trace["session_id"], trace["agent"], trace["case_id"], trace["tags"]) == (
        "c-1",
        "boss",
        "case-7",
        '{"service": "desk"}',
    )


def test_capture_that_was_off_is_told_once_with_the_way_to_turn_it_on(tmp_path):
    found = read(tmp_path, line(*[tool(k, None, k, tool="look") for k in range(1, 4)]))
    assert told(found, "arguments", "arguments_form") == [(None, NOT_CAPTURED)] * 3
    (remark,) = found["remarks"]
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in remark.text
    assert (remark.number, remark.place) == (3, "spans.jsonl:1")


def test_an_empty_object_of_adk_says_nothing_where_all_are_empty(tmp_path):
    def adk(number, arguments):
        own = {"gcp.vertex.agent.tool_call_args": arguments}
        return tool(number, None, number, tool="look", **own)

    off = read(tmp_path, line(adk(1, "{}"), adk(2, "{}"), scope="gcp.vertex.agent"))
    on = read(tmp_path, line(adk(1, "{}"), adk(2, '{"n": 1}'), scope="gcp.vertex.agent"))
    assert told(off, "arguments_form") == [(NOT_CAPTURED,)] * 2
    assert told(on, "arguments_form") == [(JSON_STRING,)] * 2


def test_broken_is_not_cut(tmp_path):
    long = json.dumps({"text": "x" * 300})
    cut = tool(1, None, 0, tool="look", arguments=long[:200], result="y" * 200)
    broken = tool(2, None, 1, tool="look", arguments='{"n": ', trace="cd" * 16)
    hidden = tool(3, None, 2, tool="look", arguments="__REDACTED__", trace="ef" * 16)
    marked = tool(4, None, 3, tool="look", arguments='{"n": ... [truncated]', trace="01" * 16)
    found = read(tmp_path, line(cut, broken, hidden, marked))
    assert told(found, "arguments_form") == [(TRUNCATED,), (JSON_STRING,), (NOT_CAPTURED,), (TRUNCATED,)]


def test_arguments_that_were_no_json_come_out_of_what_stands_for_them(tmp_path):
    found = read(tmp_path, line(tool(1, tool="look", arguments={"INVALID_JSON": '{"n": '}), scope="pydantic-ai"))
    assert told(found, "arguments", "arguments_form") == [('{"n": ', JSON_STRING)]
    other = read(tmp_path, line(tool(1, tool="look", arguments={"INVALID_JSON": "x", "n": 1}), scope="pydantic-ai"))
    assert parsed(other) == [("look", {"INVALID_JSON": "x", "n": 1})]


@pytest.mark.parametrize(
    ("more", "status", "error"),
    [
        ({"status": {"code": 2, "message": "boom"}}, "error", "boom"),
        ({"error__type": "timeout"}, "error", "timeout"),
        (
            {"events": [("exception", {"exception.message": "no such flight"})], "status": {"code": 2}},
            "error",
            "no such flight",
        ),
        ({"status": {"code": 1}}, "ok", None),
        ({"status": {"code": "STATUS_CODE_ERROR", "message": "boom"}}, "error", "boom"),
        ({}, "ok", None),
        ({"end": 0, "endTimeUnixNano": 0}, None, None),
    ],
)
def test_errors_are_found(tmp_path, more, status, error):
    gone = more.pop("endTimeUnixNano", None)
    one = tool(1, tool="look", arguments={}, **more)
    if gone is not None:
        del one["endTimeUnixNano"]
    assert told(read(tmp_path, line(one)), "status", "error") == [(status, error)]


def test_a_call_that_was_put_off_has_no_status(tmp_path):
    found = read(
        tmp_path, line(tool(1, None, 0, tool="a", arguments={}, result="r"), tool(2, None, 3, tool="b", arguments={}))
    )
    assert told(found, "name", "status") == [("a", "ok"), ("b", None)]


def test_ties_stand_in_the_order_of_the_input_and_are_told(tmp_path):
    found = read(tmp_path, line(*[tool(9 - k, None, 0, tool=f"t{k}", arguments={}) for k in range(3)]))
    assert told(found, "name") == [("t0",), ("t1",), ("t2",)]
    assert [remark.number for remark in found["remarks"]] == [2]


def test_traces_may_be_spread_over_lines_and_files(tmp_path):
    spans = [
        [
            chat(1, None, 0, ("k", "look", {"n": n}), trace=f"{n:032x}"),
            tool(2, 1, 5, tool="look", call_id="k", arguments={"n": n}, trace=f"{n:032x}"),
        ]
        for n in range(1, 6)
    ]
    write(tmp_path, [line(*[pair[0] for pair in spans])], "a.jsonl")
    write(tmp_path, [line(pair[1]) for pair in spans[::-1]], "b.jsonl")
    for size in (1 << 20, 500):
        found = batches(tmp_path, block_size=size)
        calls = [call for batch in found for call in batch.calls.to_pylist()]
        assert [json.loads(call["arguments"])["n"] for call in calls] == [1, 2, 3, 4, 5]
        assert all(call["status"] == "ok" for call in calls)
        assert sum(batch.n_records for batch in found) == 10


def test_lines_without_agents_are_told_apart(tmp_path):
    lines = [
        line(span(1, name="GET /", http__method="GET")),
        '{"resourceSpans": []}',
        '{"resourceMetrics": []}',
        '{"other": 1}',
        line({"spanId": "01"}),
        line({"traceId": TRACE, "spanId": ""}),
        "",
    ]
    found = batches(write(tmp_path, lines, "spans.jsonl"))
    traces = [row for batch in found for row in batch.traces.to_pylist()]
    assert [(row["trace_id"], row["has_calls"]) for row in traces] == [(TRACE, False)]
    rejects = [(row["line"], row["reason"]) for batch in found for row in batch.rejects.to_pylist()]
    assert [at for at, _ in rejects] == [3, 4, 5, 6]
    assert sum(batch.n_blank for batch in found) == 2
    assert sum(batch.n_records for batch in found) == len(lines)


def test_circles_in_the_tree_do_no_harm(tmp_path):
    found = read(tmp_path, line(tool(1, 2, 0, tool="a", arguments={}), tool(2, 1, 1, tool="b", arguments={})))
    assert told(found, "name") == [("a",), ("b",)]


NAMES = st.sampled_from(["look", "book", "ask"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
CALL_OF_A_TRACE = st.tuples(
    NAMES, st.dictionaries(st.text(max_size=3), VALUES, max_size=3), st.booleans(), st.booleans()
)
TRACES_OF_CALLS = st.lists(st.tuples(st.booleans(), st.lists(CALL_OF_A_TRACE, max_size=5)), min_size=1, max_size=3)
"""Per trace: whether ids were recorded, and by call: name, arguments, whether a message asked and whether a span ran.

Without ids a call that only a message tells of and a later one that only a span tells of cannot be told from one call.
"""


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(traces=TRACES_OF_CALLS, structured=st.booleans(), seed=st.integers(0, 99))
def test_whatever_is_written_as_spans_is_read_back(tmp_path, traces, structured, seed):
    spans, number = [], 0
    for k, (with_id, calls) in enumerate(traces, 1):
        trace = f"{k:032x}"
        spans.append(
            span(1, None, 0, 999, trace=trace, gen_ai__operation__name="invoke_agent", gen_ai__agent__name=f"a{k}")
        )
        for at, (name, arguments, asked, ran) in enumerate(calls, 1):
            number += 2
            held = Structured(arguments) if structured else arguments
            call_id = f"k{number}" if with_id else None
            ran = ran or not with_id  # noqa: PLW2901
            if asked or not ran:
                own = (
                    {"gen_ai__output__messages": Structured(message_of(call_id, name, arguments))} if structured else {}
                )
                spans.append(chat(number, 1, 10 * at, (call_id, name, arguments), trace=trace, **own))
            if ran:
                more = {"gen_ai__tool__call__arguments": held}
                spans.append(tool(number + 1, 1, 10 * at + 5, tool=name, call_id=call_id, trace=trace, **more))
    random.Random(seed).shuffle(spans)
    found = read(tmp_path, *[line(*spans[at : at + 3]) for at in range(0, len(spans), 3)], block_size=1 << 15)
    ids = [row["trace_id"] for row in found["traces"]]
    got = {f"{k:032x}": [] for k in range(1, len(traces) + 1)}
    for call in found["in_trace"]:
        got[ids[call["trace"]]].append((call["name"], json.loads(call["arguments"]), call["status"], call["agent"]))
    assert got == {
        f"{k:032x}": [
            (name, arguments, "ok" if ran or not with_id else None, f"a{k}") for name, arguments, _, ran in calls
        ]
        for k, (with_id, calls) in enumerate(traces, 1)
    }


def message_of(call_id, name, arguments):
    part = {"type": "tool_call", "name": name, "arguments": arguments}
    return [{"role": "assistant", "parts": [part if call_id is None else {**part, "id": call_id}]}]


def test_arrays_documents_and_archives_hold_the_same(tmp_path):
    lines = [line(chat(1, None, 0, ("k", "look", ROUTE))), line(tool(2, 1, 5, tool="look", call_id="k"))]
    wanted = told(read(tmp_path, *lines), "name", "arguments", "status")
    (tmp_path / "array.json").write_text("[" + ",\n".join(lines) + "]", encoding="utf-8")
    whole = {"resourceSpans": [part for each in lines for part in json.loads(each)["resourceSpans"]]}
    (tmp_path / "document.json").write_text(json.dumps(whole, indent=2), encoding="utf-8")
    (tmp_path / "spans.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    for name in ("array.json", "document.json", "spans.jsonl.gz"):
        found = {"calls": [row for batch in batches(tmp_path / name) for row in batch.calls.to_pylist()]}
        assert told(found, "name", "arguments", "status") == wanted, name
    every = batches(tmp_path)
    assert sum(batch.calls.num_rows for batch in every) == 1
    assert sum(batch.n_merged for batch in every) == 6


@pytest.mark.parametrize(
    ("asked", "told_by"),
    [("llm.output_messages.0.message", "llm.input_messages.2.message"), ("gen_ai.completion.0", "gen_ai.prompt.2")],
)
def test_a_client_alone_tells_calls_and_results_in_messages(tmp_path, asked, told_by):
    call = ".tool_call" if asked.startswith("llm") else ""
    inner = ".function" if call else ""
    mark = {"openinference__span__kind": "LLM"} if call else {"llm__request__type": "chat"}
    first = {
        f"{asked}.tool_calls.0{call}.id": "k1",
        f"{asked}.tool_calls.0{call}{inner}.name": "look",
        f"{asked}.tool_calls.0{call}{inner}.arguments": '{"n": 1}',
    }
    second = {
        f"{told_by}.tool_call_id": "k1",
        f"{told_by}.role": "tool",
        f"{told_by}.content": "found it",
        f"{asked}.content": "bye",
    }
    found = read(tmp_path, line(span(1, None, 0, **mark, **first), span(2, None, 9, **mark, **second)))
    assert told(found, "name", "arguments", "status", "result") == [("look", '{"n": 1}', None, "found it")]
    assert (found["traces"][0]["final_answer"], found["traces"][0]["llm_calls"]) == ("bye", 2)


def test_tools_that_the_provider_ran_are_marked(tmp_path):
    parts = [
        {"type": "server_tool_call", "id": "s1", "name": "web_search", "arguments": {"q": "x"}},
        {"type": "tool_call", "id": "k1", "name": "look", "arguments": {}},
        {"type": "reasoning", "content": "hm"},
        {"type": "tool_call_response", "id": "k0", "name": "look", "response": "old"},
    ]
    one = span(1, gen_ai__operation__name="chat", gen_ai__output__messages=[{"role": "assistant", "parts": parts}])
    assert told(read(tmp_path, line(one)), "name", "kind") == [("web_search", "server"), ("look", None)]


def test_a_malformed_entry_keeps_its_place(tmp_path):
    parts = [
        {"type": "tool_call", "id": "a", "name": "one"},
        {"type": "tool_call", "id": "b"},
        "junk",
        {"type": "tool_call", "name": "two"},
    ]
    one = span(1, gen_ai__operation__name="chat", gen_ai__output__messages=[{"role": "assistant", "parts": parts}])
    assert told(read(tmp_path, line(one)), "name", "malformed") == [("one", False), (None, True), ("two", False)]
