"""The shared samples of spans: how many of what, hand-checked calls, and one run told alike by every dialect."""

import json
import random
import re

import pytest

from tests.sources.otlp_writer import line, span
from tests.sources.reading import batches, read, write
from tracelens.columns import JSON_STRING, JSON_VALUE

BIG = 9007199254740993
SFO, OAK = ({"origin": place, "destination": "JFK", "date": "2026-11-02"} for place in ("SFO", "OAK"))
BAGS = "baggage – 手荷物 🧳"
BROKEN = '{"flight_id": "UA-512", "seat": '

PYDANTIC = [
    ("search_flights", SFO),
    ("search_flights", OAK),
    ("book_flight", BROKEN),
    ("book_flight", {"flight_id": "XX-1", "pnr": BIG}),
    ("book_flight", {"flight_id": "UA-512", "pnr": BIG}),
    ("ask_policy", {"q": BAGS}),
    ("lookup", {"topic": "bags"}),
]
AGENTS = [
    *PYDANTIC[:3],
    ("book_flight", {"flight_id": "XX-1"}),
    PYDANTIC[4],
    ("ask_policy", {"input": BAGS}),
    PYDANTIC[6],
]
"""The failing call left ``pnr`` out in this run, and the sub-agent's parameter has another name."""
GRAPH = [*PYDANTIC[:2], *PYDANTIC[4:]]
"""The graph refused the malformed call before any tool ran and its messages leave it out; nothing failed after that."""
ADK = ["search_flights", "search_flights", "book_flight", "book_flight", "policy_agent", "lookup"]
"""The sub-agent is called by its own name, and this run has no malformed call."""

SAMPLES = {
    # file: spans, calls, with arguments, errors, LLM calls, the calls
    "otlp_genai/pydantic_ai_v5_content.otlp.jsonl": (16, 7, 7, 2, 7, PYDANTIC),
    "otlp_genai/pydantic_ai_v2_legacy.otlp.jsonl": (16, 7, 7, 2, 7, PYDANTIC),
    "otlp_genai/pydantic_ai_v5_simple_processor.otlp.jsonl": (16, 7, 7, 2, 7, PYDANTIC),
    "otlp_genai/openai_agents_otel_v2content.otlp.jsonl": (19, 7, 7, 2, None, AGENTS),
    "otlp_genai/openai_agents_otel_v2nocontent.otlp.jsonl": (19, 7, 0, 2, None, [(name, None) for name, _ in AGENTS]),
    "otlp_genai/adk_default.otlp.jsonl": (18, 6, 0, 1, 6, [(name, None) for name in ADK]),
    "otlp_openinference/openai_agents_openinference.otlp.jsonl": (19, 7, 7, 2, None, AGENTS),
    "otlp_openllmetry/langgraph_traceloop.otlp.jsonl": (24, 5, 5, 0, 5, GRAPH),
    "otlp_traceai/langgraph_traceai.otlp.jsonl": (22, 5, 5, 0, 5, GRAPH),
    "otlp/trace.json": (1, 0, 0, 0, None, []),
}


def value(call):
    try:
        return call["arguments"] and json.loads(call["arguments"])
    except ValueError:
        return call["arguments"]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_as_it_was_recorded(shared, name):
    n_spans, n_calls, with_arguments, errors, llm_calls, wanted = SAMPLES[name]
    found = batches(shared / "samples" / name)
    calls = [call for batch in found for call in batch.calls.to_pylist()]
    spans = [row for batch in found for row in batch.spans.to_pylist()]
    (trace,) = [row for batch in found for row in batch.traces.to_pylist()]
    assert [(call["name"], value(call)) for call in calls] == wanted
    assert len(calls) == n_calls
    assert sum(call["arguments_form"] in {JSON_VALUE, JSON_STRING} for call in calls) == with_arguments
    assert sum(call["status"] == "error" for call in calls) == errors
    assert len(spans) == n_spans == sum(batch.n_records for batch in found)
    assert sorted(row["call_index"] for row in spans if row["call_index"] is not None) == list(range(n_calls))
    assert trace["llm_calls"] == llm_calls
    assert not sum(batch.rejects.num_rows for batch in found)
    if wanted:
        assert [call["depth"] for call in calls] == [0] * (n_calls - 1) + [1]
        turns = [call["turn"] for call in calls]
        assert turns[0] == turns[1] < turns[2]
        assert turns[n_calls - 3] == turns[n_calls - 2] < turns[n_calls - 1]
        assert trace["agent"] == "flight_agent"
    else:
        assert not trace["has_calls"]


def test_log_records_without_a_trace_are_rejected(shared):
    found = batches(shared / "samples" / "otlp" / "events.json")
    assert [row["reason"] for batch in found for row in batch.rejects.to_pylist()] == [
        "a span or log record without a traceId"
    ]


def test_results_answers_and_tools_of_samples(shared):
    found = {name: batches(shared / "samples" / name)[1] for name, row in SAMPLES.items() if row[2]}
    for name, batch in found.items():
        results = batch.calls["result"].to_pylist()
        assert "199.5" in results[0], name
        assert str(BIG) in results[-3], name
        assert results[-2] == "2 bags", name
        if "agents" not in name:
            assert batch.traces["final_answer"].to_pylist() == ["Booked UA-512."], name
            assert batch.calls["call_id"].to_pylist()[:2] == ["call_a", "call_b"], name
    for name in (
        "otlp_genai/pydantic_ai_v5_content.otlp.jsonl",
        "otlp_openinference/openai_agents_openinference.otlp.jsonl",
    ):
        tools = {tool["name"]: tool for tool in json.loads(found[name].traces["tools"][0].as_py())}
        assert tools["lookup"]["parameters"]["required"] == ["topic"]


def snapshot(text):
    """The recorded spans of a snapshot file, by test; strings in it are not escaped."""
    for title, body in re.findall(r"exports\[`(.*?)`\] = `\n(.*?)\n`;", text, re.DOTALL):
        spans = []
        for block in re.findall(r"\n  \{\n(.*?)\n  \},", body, re.DOTALL):
            values = dict(re.findall(r'^      "([^"]+)": "(.*)",$', block, re.MULTILINE))
            name = re.search(r'^    "name": "(.*)",$', block, re.MULTILINE)
            spans.append((name.group(1) if name else "", values))
        yield title, spans


def test_recorded_spans_of_vercel(shared, tmp_path):
    text = (shared / "samples" / "vercel_ai" / "legacy-open-telemetry.test.ts.snap").read_text(encoding="utf-8")
    lines, wanted = [], {}
    for number, (_, spans) in enumerate(snapshot(text), 1):
        trace = f"{number:032x}"
        lines.append(
            line(*[span(k, None, k, name=name, trace=trace, **values) for k, (name, values) in enumerate(spans, 1)])
        )
        calls = [values for _, values in spans if values.get("ai.operationId") == "ai.toolCall"]
        wanted[trace] = [(one["ai.toolCall.name"], one.get("ai.toolCall.args")) for one in calls]
    found = read(write(tmp_path, lines, "spans.jsonl"))
    ids = [row["trace_id"] for row in found["traces"]]
    got = {trace: [] for trace in ids}
    for call in found["calls"]:
        got[ids[call["trace"]]].append((call["name"], call["arguments"]))
    assert got == wanted
    assert sum(map(len, wanted.values())) >= 5


def spread(text):
    """A line for each span."""
    for record in text.splitlines():
        for resource in json.loads(record)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for one in scope["spans"]:
                    inner = [{"scope": scope["scope"], "spans": [one]}]
                    yield json.dumps({"resourceSpans": [{"resource": resource["resource"], "scopeSpans": inner}]})


def test_damaged_copies_of_all_samples_at_once(shared, tmp_path):
    """Interleaved, duplicated, reordered, cut and bit-flipped: every record accounted for, untouched traces the same."""
    random_ = random.Random(5)
    texts = [(shared / "samples" / name).read_text(encoding="utf-8") for name in SAMPLES if name.endswith("l")]
    lines = [each for text in texts for each in spread(text)]

    def rows(found):
        ids = [row["trace_id"] for row in found["traces"]]
        out = {each: [] for each in ids}
        for call in found["calls"]:
            out[ids[call["trace"]]].append({key: part for key, part in call.items() if key != "trace"})
        return out

    good = rows(read(write(tmp_path, lines, "good.jsonl")))
    assert sum(map(len, good.values())) == sum(row[1] for row in SAMPLES.values())
    random_.shuffle(lines)
    again = random_.choices(lines, k=30)
    found = read(write(tmp_path, [*lines, *again], "shuffled.jsonl"), block_size=20_000)
    assert rows(found) == good
    assert found["n_records"] == len(lines) + 30
    for _ in range(6):
        at = random_.randrange(len(lines))
        raw = bytearray(lines[at].encode())
        how = random_.randrange(3)
        if how == 0:
            raw[random_.randrange(len(raw))] ^= 1 << random_.randrange(7)
        elif how == 1:
            del raw[random_.randrange(len(raw)) :]
        else:
            where = random_.randrange(len(raw))
            del raw[where : where + 9]
        data = [each.encode() for each in lines]
        data[at] = bytes(raw)
        found = read(write(tmp_path, data, "damaged.jsonl"))
        kept = len(found["spans"]) + found["n_merged"] + found["n_blank"] + len(found["rejects"])
        assert kept == found["n_records"]
        hurt = json.loads(lines[at])["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"]
        calls = rows(found)
        assert {key: row for key, row in calls.items() if key in good and key != hurt} == {
            key: row for key, row in good.items() if key != hurt
        }
