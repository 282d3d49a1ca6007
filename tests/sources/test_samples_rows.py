"""Real files of tracing backends: traces, calls, arguments, errors and the very calls, as read by eye from the files."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from tests.sources.reading import read
from tracelens.columns import JSON_STRING, JSON_VALUE
from tracelens.errors import InputError
from tracelens.sources.detect import open_input


class Wanted(NamedTuple):
    """What a file holds: calls as (name, arguments), and numbers of errors."""

    format: str
    calls: tuple[tuple[str, object], ...] = ()
    errors: int = 0
    records: int = 1
    merged: int = 0
    answer: str | None = None
    depths: tuple[int, ...] | None = None
    turns: tuple[int, ...] | None = None
    ids: tuple[str | None, ...] | None = None


SFO = {"origin": "SFO", "destination": "JFK", "date": "2026-11-02"}
OAK = {**SFO, "origin": "OAK"}
PNR = {"flight_id": "UA-512", "pnr": 9007199254740993}
CUT = '{"flight_id": "UA-512", "seat": '
POLICY = "baggage – 手荷物 🧳"
WEATHER = {"location": "San Francisco", "unit": "c"}
HOWDY = "Howdy! How can I assist you today?"
BUGS = "Why do programmers hate nature?  \nIt has too many bugs!"
TOPIC = {"topic": "programming"}
BERLIN, NEW_YORK = (
    ("mcp__weather__get_weather", {"city": "Berlin"}),
    ("mcp__weather__get_weather", {"city": "New York"}),
)
TWITTER = ("duckduckgo_search", {"query": "currently trending on Twitter"})

FILES: dict[str, Wanted] = {
    # LangChain keeps no place for a call that it could not parse among the others of its message: it comes last
    "langsmith_gen/langsmith_runs_langgraph.jsonl": Wanted(
        "langsmith",
        (
            *(("search_flights", SFO), ("search_flights", OAK), ("book_flight", PNR), ("ask_policy", {"q": POLICY})),
            *(("book_flight", CUT), ("lookup", {"topic": "bags"})),
        ),
        errors=1,
        records=22,
        answer="Booked UA-512.",
        depths=(0, 0, 0, 0, 0, 1),
        turns=(0, 0, 1, 1, 1, 2),
        ids=("call_a", "call_b", "call_e", "call_f", "call_c", "call_s"),
    ),
    "langsmith/langsmith_js_wrap_openai_stream_no usage.json": Wanted("langsmith", records=2, merged=1, answer=HOWDY),
    "langsmith/langsmith_py_wrap_openai_.json": Wanted("langsmith", records=2, merged=1, answer=HOWDY),
    "langsmith/langsmith_py_wrap_openai_stream.json": Wanted("langsmith", records=2, merged=1, answer=HOWDY),
    "langsmith/langsmith_py_wrap_openai_stream_no_usage.json": Wanted("langsmith", records=2, merged=1, answer=HOWDY),
    "langfuse/agno-2025-06-11.trace.json": Wanted(
        "langfuse", (TWITTER,), records=7, ids=("call_VybxG748CQId8Xxo6wb2pWy1",)
    ),
    "langfuse/autogen-2025-06-06.trace.json": Wanted("langfuse", records=3, answer="Hello World!"),
    "langfuse/claude-agent-2025-12-22.trace.json": Wanted(
        "langfuse",
        (BERLIN, NEW_YORK),
        records=8,
        ids=("toolu_01TKoqQLvY2UWuC49qnD48y7", "toolu_01NtVat4vJLFfVd5TqdLHcA7"),
    ),
    "langfuse/crewai-2025-07-11.trace.json": Wanted("langfuse", records=7),
    "langfuse/google-gemini-2025-08-01.trace.json": Wanted("langfuse", records=2),
    "langfuse/koog-2025-08-26.trace.json": Wanted(
        "langfuse",
        (("HelloTool", {"name": "Bob"}), ("ByeTool", {"name": "Bob"})),
        records=12,
        turns=(0, 0),
        ids=("call_n2HaWg9KFP0BZDqXv6G4b3nJ", "call_dOeEHJDI0liHrCdFWTpkTsuO"),
        answer="Hello my darling Bob! And, bye my dear Bob!",
    ),
    "langfuse/langgraph-js-2025-10-30.trace.json": Wanted(
        "langfuse",
        (("get_weather", {"city": "San Francisco"}),),
        records=21,
        ids=("call_VEZJgIQLgzcb80IIyQJm7JCi",),
    ),
    # the input of the tool is printed by Python; LangChain's callback kept the arguments in the metadata
    "langfuse/langgraph-python-2025-08-22.trace.json": Wanted(
        "langfuse", (("Web-Search", {"query": "example"}),), records=10, ids=("call_1oGK863sxQHlPreFhDdEs3yl",)
    ),
    "langfuse/pydantic-ai-2025-06-06.trace.json": Wanted("langfuse", records=4),
    # the structured output of the second agent is a call that no tool ran
    "langfuse/pydantic-ai-tools-2025-12-04.trace.json": Wanted(
        "langfuse",
        (
            ("get_pun_suggestion", TOPIC),
            ("get_dad_joke_suggestion", TOPIC),
            ("get_one_liner_suggestion", TOPIC),
            ("final_result", ...),
        ),
        records=13,
        turns=(0, 0, 0, 1),
        answer=BUGS,
    ),
    "langfuse/pydantic-ai-with-gemini-2025-12-24.trace.json": Wanted("langfuse", records=2),
    "langfuse/vercel-aisdk-2025-11-17.trace.json": Wanted(
        "langfuse",
        (("getWeather", {"location": "San Francisco"}),),
        records=4,
        ids=("call_DgKARp7a7IhJPDczfifMp6Ra",),
    ),
    "langfuse/vertex-ai-2025-08-01.trace.json": Wanted("langfuse", records=2),
    "langfuse_chatml/agno-2025-06-11.chatml.json": Wanted("langfuse-chat", (TWITTER,)),
    "langfuse_chatml/autogen-2025-06-06.chatml.json": Wanted("langfuse-chat"),
    "langfuse_chatml/claude-agent-2025-12-22.chatml.json": Wanted("langfuse-chat", (BERLIN, NEW_YORK)),
    "langfuse_chatml/crewai-2025-07-11.chatml.json": Wanted("langfuse-chat"),
    # no call ids but the one that the model said; the malformed call and the sub-agent are not in this run
    "mlflow/mlflow_trace_v3.json": Wanted(
        "mlflow",
        (
            *(("search_flights", SFO), ("search_flights", OAK)),
            *(("book_flight", {"flight_id": "XX-1", "pnr": 9007199254740993}), ("book_flight", PNR)),
        ),
        errors=1,
        answer="Booked – 手荷物",
        ids=("call_a", None, None, None),
    ),
    "openai_agents/native_trace_export.jsonl": Wanted(
        "openai-agents",
        (
            *(("search_flights", SFO), ("search_flights", OAK), ("book_flight", CUT)),
            *(("book_flight", {"flight_id": "XX-1"}), ("book_flight", PNR)),
            *(("ask_policy", {"input": POLICY}), ("lookup", {"topic": "bags"})),
        ),
        errors=2,
        records=19,
        depths=(0, 0, 0, 0, 0, 0, 1),
        turns=(0, 0, 1, 2, 3, 3, 4),
    ),
    **{
        f"deepeval_traces/test-{name}.json": Wanted("deepeval", calls, answer=answer)
        for name, calls, answer in (
            ("ai-sdk__expected_ai_sdk_confident_attributes", (), "The capital of France is Paris."),
            ("ai-sdk__expected_ai_sdk_stream_text", (), "1, 2, 3, 4, 5."),
            ("ai-sdk__expected_ai_sdk_tools", (("get_weather", WEATHER),), None),
            ("langchain__langchain_agent_multi_step_schema", (("search_web", {"query": "Apple stock price"}),), None),
            (
                "langchain__langchain_conditional_research_schema",
                (("research_topic", {"topic": "current state of Quantum Computing"}),),
                None,
            ),
            ("langchain__langchain_metric_collection_schema", (("calculate", {"expression": "125 * 5"}),), None),
            ("langchain__langchain_multiple_tools_schema", (("get_weather", {"city": "Tokyo"}),), None),
            (
                "langchain__langchain_parallel_weather_schema",
                (("get_weather", {"city": "Tokyo"}), ("get_weather", {"city": "New York"})),
                None,
            ),
            ("langchain__langchain_simple_schema", (), "Hello!"),
            ("mastra__mastra_full_attributes_schema", (("get_weather", {"city": "London"}),), None),
            (
                "mastra__mastra_multi_tool_schema",
                (("get_weather", {"city": "Tokyo"}), ("calculate", {"expression": "125 * 5"})),
                None,
            ),
            ("mastra__mastra_tool_schema", (("get_weather", {"city": "San Francisco"}),), None),
            ("openai-agents__openai_agents_evals_app_schema", (), None),
            ("openai-agents__openai_agents_simple_schema", (), "Hello!"),
            ("openai-agents__openai_agents_streaming_schema", (), None),
            ("openai__expected_openai_with_trace", (), None),
            ("openai__expected_response_create_with_trace", (), None),
            # the spans of these two have arguments by position; their names are those that the model gave
            ("openai__expected_tool_call_flow_completion", (("get_weather", WEATHER),), None),
            ("openai__expected_tool_call_flow_response", (("get_weather", WEATHER),), None),
        )
    },
    # the retriever is no tool
    "deepeval_traces/test_run_sample.json": Wanted(
        "deepeval",
        (("web_search", {"query": "abrigo cecl forecasting 2026 changelog", "max_results": 3}),),
        answer="CECL (Current Expected Credit Losses) forecasting models lifetime credit losses...",
    ),
}


def arguments(row):
    """A call's arguments, read; as text where they are broken."""
    assert row["arguments_form"] in {JSON_VALUE, JSON_STRING}
    try:
        return json.loads(row["arguments"])
    except ValueError:
        return row["arguments"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_by_eye(shared, name):
    wanted = FILES[name]
    path = shared / "samples" / name
    got = read(path, input_root=path.parent)
    assert open_input(path).format_name == wanted.format
    assert len(got["traces"]) == 1
    assert not got["rejects"]
    assert (got["n_records"], got["n_merged"]) == (wanted.records, wanted.merged)
    assert [row["name"] for row in got["calls"]] == [name for name, _ in wanted.calls]
    for row, (_, expected) in zip(got["calls"], wanted.calls, strict=True):
        assert expected is ... or arguments(row) == expected
    assert sum(row["status"] == "error" for row in got["calls"]) == wanted.errors
    assert all(row["error"] for row in got["calls"] if row["status"] == "error")
    for column, values in (("depth", wanted.depths), ("turn", wanted.turns), ("call_id", wanted.ids)):
        if values is not None:
            assert tuple(row[column] for row in got["calls"]) == values
    if wanted.answer is not None:
        assert got["traces"][0]["final_answer"] == wanted.answer


def test_every_file_of_these_formats_is_looked_at(shared):
    folders = {name.split("/")[0] for name in FILES}
    there = {f"{path.parent.name}/{path.name}" for name in folders for path in (shared / "samples" / name).iterdir()}
    assert there - set(FILES) == {f"langsmith/{name}" for name in NO_RUNS}


NO_RUNS = (
    "anthropic_managed_builtin_tools.jsonl",
    "anthropic_managed_custom_tools.jsonl",
    "anthropic_managed_mcp_tools.jsonl",
)
"""Recorded calls of another library's client, ``[method, value]`` a line: no runs of LangSmith, and no traces."""


@pytest.mark.parametrize("name", NO_RUNS)
def test_what_holds_no_runs_is_refused(shared, name):
    with pytest.raises(InputError, match="the format is not recognised"):
        read(shared / "samples" / "langsmith" / name)


def test_scores_of_other_libraries_are_tags(shared):
    def tags(name):
        (row,) = read(shared / "samples" / name)["traces"]
        return json.loads(row["tags"])

    assert tags("deepeval_traces/test_run_sample.json").items() >= {
        ("deepeval.Answer Relevancy", 0.92),
        ("deepeval.Faithfulness", 0.45),
    }
    claude = tags("langfuse/claude-agent-2025-12-22.trace.json")
    assert (claude["langfuse.correctness"], claude["langfuse.toxicity"]) == (0, 0)
    assert tags("langfuse/crewai-2025-07-11.trace.json")["langfuse.toxicity"] == 0.8


def test_spans_have_tokens_cost_and_models(shared):
    got = read(shared / "samples/langfuse/langgraph-js-2025-10-30.trace.json")
    models = [row for row in got["spans"] if row["kind"] == "llm"]
    assert [(row["model"], row["input_tokens"]) for row in models][-1] == ("gpt-5-mini-2025-08-07", 179)
    assert models[-1]["output_tokens"] == 99
    assert models[-1]["cost"] == pytest.approx(0.00024275)
    assert got["traces"][0]["cost"] == pytest.approx(sum(row["cost"] for row in models))
    run = read(shared / "samples/deepeval_traces/test_run_sample.json")
    kinds = [row["kind"] for row in run["spans"]]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"llm": 4, "agent": 2, "tool": 1, "chain": 1, "other": 1}
    assert run["traces"][0]["input_tokens"] == 1200 + 2200 + 540 + 880
    assert run["traces"][0]["case_id"] == "sample_test_case"
    assert run["calls"][0]["agent"] == "orchestrate_research_response"


def test_tool_definitions_are_found(shared):
    found = {
        "langfuse/vercel-aisdk-2025-11-17.trace.json": ["getWeather"],
        "langfuse/pydantic-ai-tools-2025-12-04.trace.json": None,
        "deepeval_traces/test-openai__expected_tool_call_flow_response.json": ["get_weather"],
    }
    for name, tools in found.items():
        (row,) = read(shared / "samples" / name)["traces"]
        names = [tool["name"] for tool in json.loads(row["tools"])]
        assert names == tools if tools else "get_pun_suggestion" in names
