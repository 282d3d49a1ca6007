"""Faults of reading spans, each with its whole kind, through the engine from a file to the scores."""

import json

import pytest

import tracelens as tl
from tests.run.scoring import by_trace, pair_counts
from tests.sources.otlp_writer import chat, line, log, span, tool
from tracelens.run.score import score_run

ROUTE = {"from": "OSL", "to": "BGO"}


def scored(folder, *lines, expected, **suite):
    (folder / "spans.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    references = [{"case_id": "c", "expected": expected}]
    (folder / "references.jsonl").write_text("\n".join(map(json.dumps, references)), encoding="utf-8")
    (folder / "suite.toml").write_text('name = "s"\nreferences_file = "references.jsonl"\n', encoding="utf-8")
    loaded = tl.Suite.load(folder / "suite.toml")
    return tl.score(folder / "spans.jsonl", loaded, progress=False, **suite)


def of(results):
    return next(iter(by_trace(results.traces).values()))


MESSAGE = chat(1, None, 0, ("k1", "find_route", ROUTE))
FLAT = span(
    1, None, 0, openinference__span__kind="LLM",
    **{
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "k1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "find_route",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": json.dumps(ROUTE),
    },
)  # fmt: skip
VERCEL = span(
    1, None, 0, ai__operationId="ai.generateText.doGenerate",
    ai__response__toolCalls=[{"toolCallId": "k1", "toolName": "find_route", "input": json.dumps(ROUTE)}],
)  # fmt: skip
HISTORY = {
    "gen_ai__input__messages": [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "k1", "name": "find_route", "arguments": ROUTE}]}
    ]
}
SPAN = tool(2, 1, 5, tool="find_route", call_id="k1", arguments=json.dumps(ROUTE), end=9)
NO_ID = tool(2, 1, 5, tool="find_route", arguments=json.dumps(ROUTE), end=9)
INNER = tool(3, 2, 6, tool="find_route", mcp__method__name="tools/call", arguments=json.dumps(ROUTE))
AGENT = span(
    9,
    None,
    0,
    99,
    gen_ai__operation__name="invoke_agent",
    **{"pydantic_ai.all_messages": HISTORY["gen_ai__input__messages"]},
)


@pytest.mark.parametrize(
    "spans",
    [
        [MESSAGE, SPAN],
        [SPAN, MESSAGE],
        [MESSAGE, NO_ID],
        [FLAT, SPAN],
        [VERCEL, SPAN],
        [MESSAGE, SPAN, INNER],
        [MESSAGE, SPAN, SPAN],
        [AGENT, MESSAGE, SPAN, chat(4, None, 20, text="done", **HISTORY)],
        [MESSAGE],
        [SPAN],
    ],
    ids=["both", "reordered", "no id", "flat", "double text", "protocol", "twice", "history", "message", "span"],
)
def test_one_call_in_a_message_and_in_a_span_of_its_own(tmp_path, spans):
    lines = [line(*spans, tracelens__case_id="c")]
    results = scored(tmp_path, *lines, expected=[{"name": "find_route", "arguments": ROUTE}])
    row = of(results)
    assert (row["n_calls"], row["accuracy_optimal"], row["strict"]) == (1, 1.0, 1.0)
    assert pair_counts(row)["exact"] == 1
    asked = [one["span_id"][-1] for one in results.spans.to_dicts() if one["call_index"] == 0]
    assert asked == (["2"] if SPAN in spans or NO_ID in spans else [])


def test_repeats_that_happened_stay(tmp_path):
    again = [
        chat(11, None, 20, ("k1", "find_route", ROUTE)),
        tool(12, 11, 25, tool="find_route", call_id="k1", arguments=ROUTE),
    ]
    results = scored(
        tmp_path,
        line(MESSAGE, SPAN, *again, tracelens__case_id="c"),
        expected=[{"name": "find_route", "arguments": ROUTE}],
    )
    assert pair_counts(of(results)) | {"extra": 1} == pair_counts(of(results))


def test_definitions_of_tools_are_no_calls(tmp_path):
    definitions = [
        {"type": "function", "name": "stock", "parameters": {"type": "object", "required": ["sku"]}},
        {"type": "function", "name": "price"},
    ]
    model = {"gen_ai__operation__name": "chat", "gen_ai__tool__definitions": definitions}
    spans = [
        span(1, None, 0, **model),
        tool(2, None, 2, tool="stock", arguments='{"sku":"A"}'),
        span(3, None, 4, **model),
        tool(4, None, 6, tool="stock", arguments="{}"),
        tool(5, None, 8, tool="weight", arguments="{}"),
    ]
    results = scored(
        tmp_path, line(*spans, tracelens__case_id="c"), expected=[{"name": "stock", "arguments": {"sku": "A"}}]
    )
    assert results.calls["tool"].to_list() == ["stock", "stock", "weight"]
    found = results.findings.filter(severity="error", rung=1).select("call_index", "code").rows()
    assert found == [(1, "schema.required"), (2, "tool.unknown")]


@pytest.mark.parametrize("older", [True, False])
def test_arguments_in_events_count(tmp_path, older):
    arguments = {"sku": "P-1", "qty": 1}
    details = "gen_ai.client.inference.operation.details"
    request = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "t1", "name": "add_item", "arguments": arguments}]}
    ]
    response = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "t1", "response": "ok"}]}]
    events = (
        [
            ("gen_ai.tool.message", {"id": "t1", "content": json.dumps(arguments)}),
            ("gen_ai.choice", {"message": '[{"text":"ok"}]'}),
        ]
        if older
        else [(details, {"gen_ai.input.messages": request, "gen_ai.output.messages": response})]
    )
    one = tool(1, tool="add_item", call_id="t1", events=events)
    results = scored(
        tmp_path, line(one, tracelens__case_id="c"), expected=[{"name": "add_item", "arguments": arguments}]
    )
    assert pair_counts(of(results))["exact"] == 1
    assert results.calls["result"].to_list() == ["ok"]


def test_content_in_a_file_of_logs_counts(tmp_path):
    output = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "k1", "name": "find_route", "arguments": ROUTE}]}
    ]
    record = log("gen_ai.client.inference.operation.details", 1, 1, gen_ai__output__messages=output)
    bare = span(1, None, 0, gen_ai__operation__name="chat")
    results = scored(
        tmp_path,
        line(bare, tool(2, 1, 5, tool="find_route", call_id="k1"), tracelens__case_id="c"),
        line(logs=[record]),
        expected=[{"name": "find_route", "arguments": ROUTE}],
    )
    assert pair_counts(of(results))["exact"] == 1
    assert results.runs["n_records"].to_list() == [3]


def test_tables_are_the_same_bytes_whatever_the_threads_and_blocks(tmp_path):
    spans = [[MESSAGE | {"traceId": f"{k:032x}"}, SPAN | {"traceId": f"{k:032x}"}] for k in range(1, 12)]
    lines = [line(pair[1]) for pair in spans[::-1]] + [line(*[pair[0] for pair in spans])]
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    suite = tl.Suite.from_dict({"name": "s"})
    runs = [
        score_run(path, suite, out=tmp_path / str(threads), threads=threads, block_size=size)
        for threads, size in ((1, 1 << 24), (3, 5000))
    ]
    one, two = ({file.name: file.read_bytes() for file in run.glob("*.parquet")} for run in runs)
    assert runs[0].name == runs[1].name
    assert one == two
