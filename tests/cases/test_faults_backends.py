"""Faults of reading the records of tracing backends, each with its whole kind, through the engine from a file to scores."""

import json

import pytest

import tracelens as tl
from tests.run.scoring import by_trace, pair_counts, write
from tests.sources.backend_writers import RECORDS
from tests.sources.test_backends import FORMS, TRACE
from tests.sources.test_backends_laws import ROOT, run, said


def scored(path, expected=None, case="lend-1", **suite):
    """The results of a file, with a reference for its case."""
    references = [{"case_id": case, "expected": expected}] if expected is not None else []
    write(path.parent, references, "references.jsonl")
    suite = {"name": "s", **({"references_file": "references.jsonl"} if references else {}), **suite}
    return tl.score(path, tl.Suite.from_dict(suite, path.parent), progress=False)


def of(results):
    return next(iter(by_trace(results.traces).values()))


TOP = [{"name": call["name"], "arguments": call["arguments"]} for calls in TRACE["turns"] for call in calls]
"""The calls of the trace's own agent."""


@pytest.mark.parametrize("form", ["langsmith", "langfuse", "mlflow", "openai-agents"])
def test_a_call_in_a_message_and_in_a_span_is_one(tmp_path, form):
    _, records = FORMS[form]
    row = of(scored(write(tmp_path, records(TRACE)), TOP))
    assert (row["n_calls"], row["n_calls_total"]) == (5, 6)
    assert pair_counts(row)["exact"] == 5
    assert (row["accuracy_optimal"], row["strict"]) == (1.0, 1.0)


def test_a_dispatcher_is_unwrapped_by_rule_and_its_inner_tool_counts_once(tmp_path):
    trace = RECORDS["mlflow"]({**TRACE, "turns": []})[0]
    spans = trace["data"]["spans"]

    def tool(key, parent, name, inputs):
        about = {"mlflow.spanType": json.dumps("TOOL"), "mlflow.spanInputs": json.dumps(inputs)}
        times = {"start_time_unix_nano": 1_790_000_000_000_000_000, "end_time_unix_nano": 1_790_000_000_000_000_009}
        return {"span_id": key, "parent_span_id": parent, "name": name, "attributes": about, "status": {}} | times

    real = {"year": 2026}
    spans += [
        tool("eA==", spans[0]["span_id"], "Dispatcher.handle", {"call": {"tool_name": "list_invoices", "args": real}}),
        tool("eQ==", "eA==", "list_invoices", real),
    ]
    path = write(tmp_path, [trace])
    expected = [{"name": "list_invoices", "arguments": real}]
    rule = {"Dispatcher.handle": {"name": "call.tool_name", "arguments": "call.args"}}
    results = scored(path, expected, wrappers=rule)
    assert pair_counts(of(results)) == {"exact": 1, "partial": 0, "missing": 0, "extra": 0, "malformed": 0}
    assert results.calls.filter(depth=0)["tool"].to_list() == ["list_invoices"]
    without = scored(path, expected)
    assert without.calls.filter(depth=0)["tool"].to_list() == ["Dispatcher.handle"]
    assert of(without)["accuracy_optimal"] == 0


def test_the_answer_as_a_tool_call_is_left_out_only_where_declared(tmp_path):
    models = [
        run("m1", "llm", "m", 1.0, outputs=said(("c1", "look", {"k": 1}))),
        run("x1", "tool", "look", 1.2, inputs={"k": 1}, extra={"tool_call_id": "c1"}),
        run("m2", "llm", "m", 2.0, outputs=said(("c2", "final_result", {"answer": "42"}))),
    ]
    root = ROOT | {"extra": {"metadata": {"case_id": "lend-1"}}}
    path = write(tmp_path, [root, *models])
    expected = [{"name": "look", "arguments": {"k": 1}}]
    declared = of(scored(path, expected, match={"output_tools": ["final_result"]}))
    assert (declared["n_calls"], declared["accuracy_positional"], declared["strict"]) == (1, 1.0, 1.0)
    assert of(scored(path, expected))["n_extra_optimal"] == 1


def test_nothing_seen_is_not_nothing_done(tmp_path):
    root = ROOT | {"extra": {"metadata": {"case_id": "lend-1"}}}
    tool = run("x1", "tool", "look", 1.2, inputs={"k": 1}) | {"extra": root["extra"]}
    expected = [{"name": "wire", "arguments": {}}]
    forbidden = {"forbidden_tools": ["wire"]}
    whole = of(scored(write(tmp_path, [root, tool], "a.jsonl"), expected, invariants=forbidden))
    assert (whole["n_missing_optimal"], whole["invariants_ok"]) == (1, True)
    for k, records in enumerate(([tool], [root | {"end_time": None}, tool])):
        row = of(scored(write(tmp_path, records, f"{k}.jsonl"), expected, invariants=forbidden))
        assert (row["accuracy_optimal"], row["invariants_ok"], row["route"]) == (None, None, "unscored")
    seen = of(scored(write(tmp_path, [run("x1", "tool", "wire", 1.2)], "c.jsonl"), invariants=forbidden))
    assert seen["invariants_ok"] is False


def test_arguments_that_were_not_captured_are_neither_right_nor_wrong(tmp_path):
    trace = RECORDS["mlflow"]({**TRACE, "turns": TRACE["turns"][3:]})[0]
    for span in trace["data"]["spans"]:
        if json.loads(span["attributes"]["mlflow.spanType"]) in {"TOOL", "CHAT_MODEL"}:
            del span["attributes"]["mlflow.spanInputs"]
            if span["name"] == "model":
                del span["attributes"]["mlflow.spanOutputs"]
    tools = {"lend": {"schema": {"type": "object", "required": ["book"]}}}
    results = scored(write(tmp_path, [trace]), [{"name": "lend", "arguments": {"book": "B-2", "days": 5}}], tools=tools)
    row = of(results)
    assert (row["strict"], row["accuracy_optimal"], row["null_reason"]) == (1.0, None, "arguments_not_captured")
    assert row["route"] == "unscored"
    assert results.findings.filter(severity="error").is_empty()
    assert any("mlflow.spanInputs" in note for note in results.runs["notes"][0])


@pytest.mark.parametrize("text", ['{"a": 1', '{"a": 1}{"a": 2}', '{"a": NaN}'])
def test_broken_arguments_are_neither_empty_nor_repaired(tmp_path, text):
    root = ROOT | {"extra": {"metadata": {"case_id": "lend-1"}}}
    asked = {"choices": [{"message": {"tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": text}}]}}]}
    path = write(tmp_path, [root, run("m1", "llm", "m", 1.0, outputs=asked)])
    results = scored(path, [{"name": "look", "arguments": {}}])
    assert results.calls["arguments_state"].to_list() == ["invalid_json"]
    assert of(results)["accuracy_optimal"] == 0.5
    assert "arguments.invalid_json" in results.findings["code"].to_list()
