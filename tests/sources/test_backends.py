"""One trace through every backend's format: the same calls, as far as the format can carry them."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.backend_writers import EXTRA, RECORDS
from tests.sources.reading import read, write

FORMS = {name: (name, records) for name, records in RECORDS.items()} | EXTRA

TRACE = {
    "id": "0af7651916cd43dd8448eb211c80319c",
    "session": "visit-7",
    "case": "lend-1",
    "question": "Lend me a book on moss",
    "answer": "You have The Moss Book until Friday.",
    "turns": [
        [
            {
                "name": "find_book",
                "arguments": {"topic": "moss", "max": 9007199254740993},
                "id": "c1",
                "result": "2 books",
            },
            {"name": "find_book", "arguments": {"topic": "mosses – 苔"}, "id": "c2", "result": "no books"},
        ],
        [{"name": "lend", "arguments": {"book": "B-9", "days": 1.0}, "id": "c3", "error": "lent out", "result": ""}],
        [
            {
                "name": "ask_desk",
                "arguments": {"question": "when is B-9 back?"},
                "id": "c4",
                "result": "on Monday",
                "inner": [[{"name": "calendar", "arguments": {}, "id": "c5", "result": "Monday"}]],
            }
        ],
        [{"name": "lend", "arguments": {"book": "B-2", "days": 5}, "id": "c6", "result": "lent"}],
    ],
}


def wanted(trace):
    """The calls of a trace in order: those of sub-agents behind all that were asked for with their call."""
    out = []

    def walk(turns, depth, agent):
        for calls in turns:
            out.extend((call, depth, agent, tuple(one["id"] for one in calls)) for call in calls)
            for call in calls:
                walk(call.get("inner", []), depth + 1, "helper")

    walk(trace["turns"], 0, "main")
    return out


def check(form, trace, got):
    calls = wanted(trace)
    assert [row["name"] for row in got["calls"]] == [call["name"] for call, *_ in calls]
    assert [json.loads(row["arguments"]) for row in got["calls"]] == [call["arguments"] for call, *_ in calls]
    assert [row["call_id"] for row in got["calls"]] == [call["id"] for call, *_ in calls]
    turns = {}
    for row, (*_, group) in zip(got["calls"], calls, strict=True):
        assert turns.setdefault(row["turn"], group) == group
    if form == "langfuse-chat":
        return  # the form tells no more than messages
    assert [row["depth"] for row in got["calls"]] == [depth for _, depth, *_ in calls]
    assert [row["error"] for row in got["calls"]] == [call.get("error") for call, *_ in calls]
    assert [row["status"] for row in got["calls"]] == ["error" if call.get("error") else "ok" for call, *_ in calls]
    results = [None if call.get("error") else call["result"] for call, *_ in calls]
    assert [row["result"] for row in got["calls"]] == results
    assert all(row["started_at"] is not None for row in got["calls"])


@pytest.mark.parametrize("form", FORMS)
def test_the_same_calls_come_out_of_every_format(tmp_path, form):
    format, records = FORMS[form]
    got = read(write(tmp_path, [json.dumps(record, ensure_ascii=False) for record in records(TRACE)]))
    check(form, TRACE, got)
    (row,) = got["traces"]
    assert row["final_answer"] == TRACE["answer"]
    assert not got["rejects"]
    assert got["remarks"] == {}
    if format != "langfuse-chat":
        assert row["session_id"] == TRACE["session"]
        assert row["case_id"] == TRACE["case"]
        assert row["agent"] == "main"
        assert row["llm_calls"] == 7
        assert row["input_tokens"] == 70
        assert row["output_tokens"] == 35
        assert row["complete"] is None
        if format != "langsmith":
            assert row["trace_id"] == TRACE["id"]


@pytest.mark.parametrize("form", FORMS)
def test_spans_say_which_call_they_are(tmp_path, form):
    format, records = FORMS[form]
    got = read(write(tmp_path, [json.dumps(record) for record in records(TRACE)]))
    if format == "langfuse-chat":
        assert {row["kind"] for row in got["spans"]} == {"llm"}
        return
    ran = {row["call_index"]: row for row in got["spans"] if row["call_index"] is not None}
    assert sorted(ran) == list(range(len(got["calls"])))
    assert all(ran[row["call_index"]]["name"] == row["name"] for row in got["calls"])
    assert all(ran[row["call_index"]]["duration_ms"] == row["duration_ms"] for row in got["calls"])
    kinds = [row["kind"] for row in got["spans"]]
    assert kinds.count("llm") == 7
    assert kinds.count("tool") == 6


@pytest.mark.parametrize("form", FORMS)
def test_order_layout_and_blocks_make_no_difference(tmp_path, form):
    format, records = FORMS[form]
    other = {**TRACE, "id": "f" * 32, "turns": TRACE["turns"][1:], "answer": "Another."}
    lines = [json.dumps(record) for seed, trace in ((1, TRACE), (2, other)) for record in records(trace, seed)]
    (tmp_path / "a").mkdir()
    straight = read(write(tmp_path / "a", lines))
    array = tmp_path / "array.json"
    array.write_text("[" + ",\n".join(lines[::-1]) + "]")
    for got in (read(tmp_path / "a", block_size=4000), read(array, block_size=6000)):
        by_trace = {row["trace"]: row["trace_id"] for row in got["traces"]}
        first = {row["trace"]: row["trace_id"] for row in straight["traces"]}
        if format == "langfuse-chat":
            continue
        assert sorted(by_trace.values()) == sorted(first.values())
        key = lambda row, names: (names[row["trace"]], row["call_index"])  # noqa: E731
        rows = {key(row, by_trace): {**row, "trace": 0} for row in got["calls"]}
        assert rows == {key(row, first): {**row, "trace": 0} for row in straight["calls"]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2),
)
CALL = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["alpha", "beta", "gamma"]),
        "arguments": st.dictionaries(st.sampled_from(["a", "b", "å"]), JSON, max_size=3),
        "result": st.text(alphabet="xyz é\n", min_size=1, max_size=6).map(lambda one: f"r{one}"),
        "error": st.sampled_from([None, None, "it failed"]),
    }
)


def single(got, trace):
    """What was read of one trace of several."""
    return {**got, "calls": [row for row in got["calls"] if row["trace"] == trace]}


@settings(max_examples=2)
@given(st.lists(st.lists(st.lists(CALL, min_size=1, max_size=3), max_size=3), min_size=5, max_size=7))
def test_any_trace_comes_back(tmp_path_factory, several):
    numbers = itertools.count()
    named = [[[{**call, "id": f"call_{next(numbers)}"} for call in calls] for calls in turns] for turns in several]
    traces = [{**TRACE, "id": f"{k:032x}", "turns": turns} for k, turns in enumerate(named)]
    folder = tmp_path_factory.mktemp("any")
    for form, (format, records) in FORMS.items():
        lines = [json.dumps(record) for k, trace in enumerate(traces) for record in records(trace, k)]
        got = read(write(folder, lines, f"{format}.jsonl"), format)
        for k, trace in enumerate(traces):
            check(form, trace, single(got, k))


def test_runs_of_langsmith_may_hold_their_children(tmp_path):
    runs = {run["id"]: {**run, "child_runs": []} for run in RECORDS["langsmith"](TRACE)}
    for run in runs.values():
        if run["parent_run_id"]:
            runs[run["parent_run_id"]]["child_runs"].append(run)
    got = read(write(tmp_path, [json.dumps(next(iter(runs.values())))]))
    check("langsmith", TRACE, got)
    assert (got["n_records"], len(got["spans"]), got["rejects"]) == (len(runs), len(runs), [])
