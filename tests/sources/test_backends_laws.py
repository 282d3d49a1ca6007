"""The laws of flattening, on records of tracing backends: one call is one row, nothing is lost, nothing is made up."""

from __future__ import annotations

import json

import pytest

from tests.sources.reading import read, write
from tracelens.columns import JSON_STRING, JSON_VALUE, NOT_CAPTURED, TRUNCATED
from tracelens.sources.backends.spanned import TIED


def run(key, kind, name, second, parent="r", **more):
    """A LangSmith run that takes a tenth of a second."""
    at = f"2026-11-02T09:00:{second:04.1f}"
    record = {"id": key, "trace_id": "t", "parent_run_id": parent, "run_type": kind, "name": name, "start_time": at}
    return (
        record | {"end_time": at[:-1] + str(int(at[-1]) + 1), "inputs": {"q": 1}, "outputs": {"output": "done"}} | more
    )


def said(*calls, text=""):
    """What a model answered: calls as (id, name, arguments)."""
    asked = [{"id": i, "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in calls]
    return {"choices": [{"message": {"role": "assistant", "content": text, "tool_calls": asked}}]}


ROOT = run("r", "chain", "app", 0.0, None)


def calls(tmp_path, *records, format="langsmith"):
    got = read(write(tmp_path, [json.dumps(record) for record in records]), format)
    assert not got["rejects"]
    return got, [(row["name"], json.loads(row["arguments"]) if row["arguments"] else None) for row in got["calls"]]


def test_an_id_that_comes_again_names_another_call(tmp_path):
    got, found = calls(
        tmp_path,
        ROOT,
        run("m1", "llm", "m", 1.0, outputs=said(("c1", "add", {"a": 1}))),
        run("x1", "tool", "add", 1.2, inputs={"a": 1}, outputs={"output": "one"}, extra={"tool_call_id": "c1"}),
        run("m2", "llm", "m", 2.0, outputs=said(("c1", "sub", {"b": 2}), ("c1", "add", {"a": 3}))),
        run("x2", "tool", "add", 2.2, inputs={"a": 3}, outputs={"output": "three"}, extra={"tool_call_id": "c1"}),
        run("x3", "tool", "sub", 2.4, inputs={"b": 2}, outputs={"output": "two"}, extra={"tool_call_id": "c1"}),
    )
    assert found == [("add", {"a": 1}), ("sub", {"b": 2}), ("add", {"a": 3})]
    assert [row["result"] for row in got["calls"]] == ["one", "two", "three"]
    assert [row["turn"] for row in got["calls"]] == [0, 1, 1]


def test_a_repeat_that_happened_stays_and_a_second_record_does_not(tmp_path):
    inner = run("x2", "tool", "find", 1.3, "x1", inputs={"a": 1}, outputs={"output": "inner"})
    got, found = calls(
        tmp_path,
        ROOT,
        run("x1", "tool", "find", 1.2, inputs={"a": 1}),
        inner,
        run("x3", "tool", "find", 1.5, inputs={"a": 1}),
        run("x3", "tool", "find", 1.5, inputs={"a": 1}),
    )
    assert found == [("find", {"a": 1})] * 2
    assert got["n_merged"] == 1
    assert [row["call_index"] for row in got["spans"] if row["kind"] == "tool"] == [0, None, 1]


def test_models_inside_models_record_a_request_once(tmp_path):
    asked = said(("c1", "find", {"a": 1}))
    got, found = calls(
        tmp_path,
        ROOT,
        run("m1", "llm", "wrapper", 1.0, outputs=asked, prompt_tokens=7),
        run("m2", "llm", "model", 1.01, "m1", outputs=asked, prompt_tokens=5),
        run("m3", "llm", "other tracer", 1.02, outputs=asked),
    )
    assert found == [("find", {"a": 1})]
    assert got["traces"][0]["llm_calls"] == 2
    assert got["traces"][0]["input_tokens"] == 5


def test_only_the_first_choice_of_a_model_counts(tmp_path):
    outputs = said(("c1", "find", {"a": 1}))
    outputs["choices"] += said(("c2", "find", {"a": 2}))["choices"]
    _, found = calls(tmp_path, ROOT, run("m1", "llm", "m", 1.0, outputs=outputs))
    assert found == [("find", {"a": 1})]


def test_what_no_span_ran_is_a_call_with_the_result_that_the_model_was_told(tmp_path):
    told = [{"role": "tool", "tool_call_id": "c1", "content": "Oslo"}, {"role": "tool", "tool_call_id": "c9"}]
    got, found = calls(
        tmp_path,
        ROOT,
        run("m1", "llm", "m", 1.0, outputs=said(("c1", "city", {}), ("c2", "land", {"a": 1}))),
        run("m2", "llm", "m", 2.0, inputs={"messages": told}, outputs=said(text="Oslo it is")),
    )
    assert found == [("city", {}), ("land", {"a": 1})]
    assert [row["result"] for row in got["calls"]] == ["Oslo", None]
    assert [row["status"] for row in got["calls"]] == [None, None]
    assert got["traces"][0]["llm_calls"] == 2


@pytest.mark.parametrize(
    ("inputs", "asked", "wanted"),
    [
        ({"input": "{'a': 1, 'b': None}"}, None, {"a": 1, "b": None}),
        ({"input": '{"a": 1}'}, None, {"a": 1}),
        ({"input": "moss"}, {"topic": "moss"}, {"topic": "moss"}),
        ({"input": "moss"}, None, {"input": "moss"}),
        ({"args": [], "kwargs": {"a": 1}}, None, {"a": 1}),
        ({"args": ["moss"]}, {"topic": "moss"}, {"topic": "moss"}),
        ({"tags": [], "inputs": {"a": 1}}, {"a": 1}, {"a": 1}),
        ({"a": 1, "limit": 10}, {"a": 1}, {"a": 1, "limit": 10}),
        ({}, {}, {}),
    ],
)
def test_arguments_come_from_the_span_or_from_the_request_where_it_lost_them(tmp_path, inputs, asked, wanted):
    model = [] if asked is None else [run("m1", "llm", "m", 1.0, outputs=said(("c1", "find", asked)))]
    tool = run("x1", "tool", "find", 1.2, inputs=inputs, extra={"tool_call_id": "c1"})
    got, found = calls(tmp_path, ROOT, *model, tool)
    assert found == [("find", wanted)]
    assert got["calls"][0]["repair"] == ("python_repr" if "{'" in str(inputs.get("input")) else None)


def test_equal_starts_are_one_turn_and_said_so(tmp_path):
    got, found = calls(
        tmp_path, ROOT, *(run(f"x{k}", "tool", f"t{k}", 1.0 if k < 2 else 2.0, inputs={"k": k}) for k in range(3))
    )
    assert [name for name, _ in found] == ["t0", "t1", "t2"]
    assert [row["turn"] for row in got["calls"]] == [0, 0, 1]
    assert got["remarks"] == {TIED: (1, "trace t")}


def test_calls_that_overlap_are_one_turn(tmp_path):
    long = run("x1", "tool", "a", 1.0) | {"end_time": "2026-11-02T09:00:05"}
    got, _ = calls(
        tmp_path, ROOT, long, run("x2", "tool", "b", 2.0), run("x3", "tool", "c", 4.0), run("x4", "tool", "d", 6.0)
    )
    assert [row["turn"] for row in got["calls"]] == [0, 0, 0, 1]


def test_retrievers_parsers_and_prompts_are_no_calls(tmp_path):
    kinds = ("retriever", "parser", "prompt", "embedding", "chain")
    got, found = calls(tmp_path, ROOT, *(run(f"x{k}", kind, "find", 1.0 + k) for k, kind in enumerate(kinds)))
    assert found == []
    assert {row["kind"] for row in got["spans"]} == {"chain", "other"}


def test_a_trace_whose_outermost_run_is_missing_or_open_is_not_complete(tmp_path):
    tool = run("x1", "tool", "find", 1.0)
    assert calls(tmp_path, tool)[0]["traces"][0]["complete"] is False
    assert calls(tmp_path, ROOT | {"end_time": None}, tool)[0]["traces"][0]["complete"] is False
    assert calls(tmp_path, ROOT, tool)[0]["traces"][0]["complete"] is None


def test_hidden_inputs_are_not_captured_and_empty_ones_are_empty(tmp_path):
    tool = run("x1", "tool", "find", 1.0, inputs={})
    got, _ = calls(tmp_path, ROOT, tool)
    assert got["calls"][0]["arguments_form"] == JSON_VALUE
    assert got["notes"] == []
    got, _ = calls(tmp_path, ROOT | {"inputs": {}}, tool)
    assert got["calls"][0]["arguments_form"] == NOT_CAPTURED
    assert "LANGSMITH_HIDE_INPUTS" in got["notes"][0]
    away = tool | {"inputs": None, "inputs_s3_urls": {"inputs": {"s3_url": "…"}}}
    got, _ = calls(tmp_path, ROOT, away)
    assert got["calls"][0]["arguments_form"] == TRUNCATED


def test_posted_and_patched_runs_are_one(tmp_path):
    post = {key: value for key, value in run("x1", "tool", "find", 1.0).items() if key not in {"end_time", "outputs"}}
    order = "20261102T090000000000Z" + "0" * 36 + ".20261102T090001000000Z" + "1" * 36
    post |= {"id": "1" * 36, "dotted_order": order}
    patch = {"trace_id": "t", "dotted_order": order, "end_time": "2026-11-02T09:00:02", "outputs": {"output": "it"}}
    got, found = calls(tmp_path, ROOT, {"post": [post], "patch": [patch]})
    assert found == [("find", {"q": 1})]
    assert (got["n_records"], got["n_merged"]) == (3, 1)
    assert (got["calls"][0]["result"], got["calls"][0]["duration_ms"]) == ("it", 1000.0)


def test_a_project_is_no_session(tmp_path):
    assert calls(tmp_path, ROOT | {"session_id": "project"})[0]["traces"][0]["session_id"] is None


def test_hand_offs_guardrails_and_cut_fields_of_the_agents_sdk(tmp_path):
    def span(key, second, **data):
        times = {"started_at": f"2026-11-02T09:00:0{second}", "ended_at": f"2026-11-02T09:00:0{second}.5"}
        return {
            "object": "trace.span",
            "id": key,
            "trace_id": "t",
            "parent_id": None,
            "error": None,
            "span_data": data,
        } | times

    records = (
        {"object": "trace", "id": "t", "workflow_name": "w"},
        span("a", 1, type="function", name="find", input='{"q": "moss and fe... [truncated]', output="x"),
        span("b", 2, type="guardrail", name="safe", triggered=False),
        span("c", 3, type="handoff", from_agent="Desk", to_agent="Fern Expert"),
        span("d", 4, type="function", name="find", input=None, output=None),
    )
    got = read(write(tmp_path, [json.dumps(record) for record in records]))
    rows = [(row["name"], row["arguments_form"], row["kind"]) for row in got["calls"]]
    assert rows == [
        ("find", TRUNCATED, None),
        ("transfer_to_fern_expert", NOT_CAPTURED, "handoff"),
        ("find", NOT_CAPTURED, None),
    ]
    assert "trace_include_sensitive_data" in got["notes"][0]


def test_langfuse_spans_are_calls_only_where_something_says_so(tmp_path):
    def observation(key, kind, name, second, **more):
        times = {"startTime": f"2026-11-02T09:00:0{second}.000Z", "endTime": f"2026-11-02T09:00:0{second}.500Z"}
        return (
            {"id": key, "traceId": "t", "type": kind, "name": name, "level": "DEFAULT", "parentObservationId": "r"}
            | times
            | more
        )

    asked = json.dumps(
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": "{}"}}]}
    )
    attributes = {"openinference.span.kind": "TOOL", "tool.name": "look_up"}
    got, found = calls(
        tmp_path,
        observation("r", "SPAN", "app", 0) | {"parentObservationId": None},
        observation("g", "GENERATION", "m", 1, output=asked),
        observation("x", "SPAN", "find", 2, input='{"q": 1}', output="4"),
        observation("y", "SPAN", "format", 3, input='{"q": 1}'),
        observation("z", "SPAN", "step", 4, input='{"q": 2}', metadata={"attributes": attributes}),
        format="langfuse",
    )
    assert found == [("find", {"q": 1}), ("look_up", {"q": 2})]
    assert [row["call_id"] for row in got["calls"]] == ["c1", None]


def test_langfuse_names_its_calls_in_a_list_of_their_own(tmp_path):
    record = {"id": "g", "trace_id": "t", "type": "GENERATION", "name": "m", "start_time": "2026-11-02 09:00:00.000001"}
    record |= {"parent_observation_id": "", "level": "DEFAULT", "end_time": "2026-11-02 09:00:01"}
    record |= {"tool_calls": ['{"id": "1", "arguments": "{\\"a\\": 1}"}', "broken", '{"id": "3", "name": "own"}']}
    record |= {"tool_call_names": ["one", "two"], "tool_definitions": {"one": '{"name": "one", "parameters": {}}'}}
    got, _ = calls(tmp_path, record, format="langfuse")
    assert [(row["name"], row["arguments"], row["call_id"]) for row in got["calls"]] == [
        ("one", '{"a": 1}', "1"),
        ("two", None, None),
        ("own", None, "3"),
    ]
    assert json.loads(got["traces"][0]["tools"]) == [{"name": "one", "parameters": {}}]
    assert got["calls"][0]["arguments_form"] == JSON_STRING


def test_deepeval_says_what_it_expected(tmp_path):
    trace = {"uuid": "u", "toolSpans": [], "llmSpans": [], "toolsCalled": [{"name": "a", "inputParameters": {"x": 1}}]}
    case = {
        "name": "case 1",
        "trace": trace,
        "expectedTools": [{"name": "a", "inputParameters": {"x": 1}}, {"name": "b"}],
    }
    lost = {"name": "case 2", "trace": {**trace, "uuid": "v"}, "expectedTools": [{"inputParameters": {}}]}
    got = read(write(tmp_path, [json.dumps({"testCases": [case, lost], "metricsScores": []})]))
    assert [(row["name"], row["arguments"]) for row in got["calls"]] == [("a", '{"x": 1}')]
    assert [(row["name"], row["arguments"]) for row in got["expected"]] == [("a", '{"x": 1}'), ("b", None)]
    assert got["traces"][0]["n_references"] == 1
    assert got["traces"][0]["case_id"] == "case 1"
    assert [row["reason"] for row in got["rejects"]] == ["an expected tool has no name"]


def test_weave_names_ops_and_leaves_self_out(tmp_path):
    record = {
        "id": "a",
        "op_name": "weave:///me/p/op/Desk.find:abc",
        "trace_id": "t",
        "started_at": "2026-11-02T09:00:00Z",
    }
    record |= {"ended_at": "2026-11-02T09:00:01Z", "attributes": {"kind": "tool"}, "output": 4, "parent_id": None}
    record |= {"inputs": {"self": "weave:///me/p/object/Desk:1", "q": "moss", "n": 1.0}}
    got, found = calls(tmp_path, record, format="weave")
    assert found == [("Desk.find", {"q": "moss", "n": 1.0})]
    assert got["calls"][0]["arguments"].endswith('"n": 1.0}')
    assert got["calls"][0]["result"] == "4"
