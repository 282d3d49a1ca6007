"""A trace that a writer put into an evaluation file comes back as the same calls and steps, as far as the format carries them."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.reading import read
from tests.sources.test_round_trips import traces
from tests.sources.writers.evaluations import CARRIES, RECORDS, SESSIONS, TIMED, named
from tests.sources.writers.messages import dumps


def wanted(trace, format):
    """The calls of a trace, and its final answer."""
    carries = CARRIES[format]

    def row(turn, call):
        failed = call.failed and format == "tau-bench"
        return (
            f"mcp__s__{call.name}" if format == "codex-exec" else call.name,
            named(call.arguments) if format == "bfcl python" else call.arguments,
            call.id if carries.ids else None,
            turn if carries.turns else None,
            ("Error: " if failed else "") + call.result if carries.results else None,
            ("error" if call.failed else "ok") if carries.status else None,
        )

    answer = trace[-1].text if trace and not trace[-1].calls else None
    if format == "bfcl python" and answer:
        answer = f"So: {answer}"
    return [row(turn, call) for turn, each in enumerate(trace) for call in each.calls], answer


def found(got, number, format):
    mine = [call for call in got["calls"] if call["trace"] == number]
    assert [call["call_index"] for call in mine] == list(range(len(mine)))

    def result(call):
        held = CARRIES[format].output and call["result"] is not None
        return json.loads(call["result"])["output"] if held else call["result"]

    rows = [
        (
            call["name"],
            json.loads(call["arguments"]),
            call["call_id"],
            call["turn"] if CARRIES[format].turns else None,
            result(call),
            call["status"],
        )
        for call in mine
    ]
    return rows, got["traces"][number]["final_answer"]


def check_spans(got, number, trace, format):
    """Every step of the model and every call is a span, and each call stands below the step that asked for it."""
    mine = [span for span in got["spans"] if span["trace"] == number]
    calls = [call for call in got["calls"] if call["trace"] == number]
    tools = [span for span in mine if span["kind"] == "tool"]
    assert [span["call_index"] for span in tools] == list(range(len(calls)))
    if not CARRIES[format].turns or format in {"adk-eval", "tau-bench", "openclaw"}:
        return
    steps = [span["span_id"] for span in mine if span["kind"] == "llm"]
    assert steps == [f"llm-{turn}" for turn in range(len(trace))]
    assert [span["parent_id"] for span in tools] == [f"llm-{call['turn']}" for call in calls]
    of_model = [span for span in mine if span["kind"] == "llm"]
    if format in TIMED:
        told = [span for span in of_model if span["input_tokens"] is not None]
        assert len(told) == sum(bool(turn.calls) or format != "openhands" for turn in trace)
        assert all((span["input_tokens"], span["output_tokens"], span["model"]) == (7, 3, "small-1") for span in told)
        assert all(span["started_at"] is not None for span in told)
        assert got["traces"][number]["input_tokens"] == (7 * len(told) if told else None)


@pytest.mark.parametrize("format", [*RECORDS, *SESSIONS])
@settings(max_examples=4)
@given(some=st.lists(traces(), min_size=1, max_size=5))
def test_what_is_written_comes_back(format, some):
    names = [f"t{k}" for k in range(len(some))]
    with tempfile.TemporaryDirectory() as folder:
        if format in RECORDS:
            lines = [dumps(RECORDS[format](trace, name)) for trace, name in zip(some, names, strict=True)]
            Path(folder, "all.jsonl").write_text("\n".join(lines), encoding="utf-8")
        else:
            for trace, name in zip(some, names, strict=True):
                lines = [dumps(line) for line in SESSIONS[format](trace, name)]
                Path(folder, f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        got = read(folder, format.partition(" ")[0])
    assert got["rejects"] == []
    assert len(got["traces"]) == len(some)
    assert all(name in trace["trace_id"] for name, trace in zip(names, got["traces"], strict=True))
    for number, trace in enumerate(some):
        assert found(got, number, format) == wanted(trace, format)
        if got["spans"]:
            check_spans(got, number, trace, format)
