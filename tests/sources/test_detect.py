"""Recognising files: what `auto` chooses, how it says so, and what it refuses."""

import json
from pathlib import Path

import pytest

from tests.sources.reading import read, write
from tracelens.cli import main
from tracelens.errors import InputError
from tracelens.sources import detect
from tracelens.sources.detect import SOURCES, open_input
from tracelens.sources.heads import heads_of
from tracelens.sources.reading.files import File

SAMPLES = Path(detect.__file__).parent / "samples"

NATIVE = json.dumps({"trace_id": "n", "tool_calls": [{"name": "a"}]})
CHAT = json.dumps({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]})


@pytest.mark.parametrize(
    ("lines", "format", "why"),
    [
        ([NATIVE], "native", "records have tool_calls"),
        (["broken", "", NATIVE], "native", "records have tool_calls"),
        ([CHAT], "chat", "records have messages with roles"),
        ([json.dumps(json.loads(CHAT)["messages"])] * 2, "chat", "records have messages with roles"),
        ([json.dumps([json.loads(NATIVE)])], "native", "records have tool_calls"),
    ],
)
def test_auto_says_what_it_chose(tmp_path, lines, format, why):
    opened = open_input(write(tmp_path, lines))
    assert opened.format_name == format
    assert opened.explanation == f"traces.jsonl is read as {format}: {why}"
    assert opened.names == ("traces.jsonl",)


def test_a_mixed_folder_is_read_file_by_file(tmp_path):
    write(tmp_path, [NATIVE], "a.jsonl")
    write(tmp_path, [CHAT], "b.jsonl")
    write(tmp_path, [NATIVE.replace('"n"', '"m"')], "c.jsonl")
    opened = open_input(tmp_path)
    assert opened.format_name == "native+chat"
    assert "2 files (a.jsonl, …) are read as native" in opened.explanation
    assert [row["source"] for row in read(tmp_path)["traces"]] == ["a.jsonl", "b.jsonl", "c.jsonl"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"trace_id": "a", "steps": 1}', "it looks like native, but no record has tool_calls"),
        ('{"a": 1, "b": 2}', "its first record has the keys a, b, which no format has together"),
        ("{}", "its first record is {}"),
        ('"text"', "its first record is a string, and no format begins so"),
        ("hello", "no record in it is JSON"),
    ],
)
def test_an_unknown_file_is_refused_with_what_it_looked_like(tmp_path, line, reason):
    with pytest.raises(InputError) as error:
        open_input(write(tmp_path, [line]))
    assert error.value.message == f"the format is not recognised: {reason}"
    assert "`tracelens formats`" in error.value.hint


@pytest.mark.parametrize(
    ("start", "reason", "hint"),
    [
        (b'{"case_id": "a", "expected": [{"name": "f"}]}\n', "it holds references", 'references_file = "in.jsonl"'),
        (b'{"case_id": "a", "references": []}\n', "it holds references", "references_file"),
        (b'[{"type": "function", "function": {"name": "f", "parameters": {}}}]', "it holds definitions", "tools_file"),
        (b'[{"name": "f", "input_schema": {"type": "object"}}]', "it holds definitions", "tools_file"),
        (b'{"f": {"type": "object"}, "g": {"properties": {}}}', "it holds definitions", "tools_file"),
        (b"SQLite format 3\x00\x10\x00\xff\xfe", "it is a SQLite database", "`tracelens formats table`"),
    ],
)
def test_a_file_that_is_no_input_is_refused_with_what_to_do(tmp_path, start, reason, hint):
    (tmp_path / "in.jsonl").write_bytes(start)
    with pytest.raises(InputError) as error:
        open_input(tmp_path)
    assert error.value.message.startswith(f"the format is not recognised: {reason}")
    assert hint in error.value.hint


def test_a_document_longer_than_what_is_looked_at_is_recognised_by_its_beginning(tmp_path):
    runs = [
        {"id": f"s{k}", "task_id": "t", "messages": [{"role": "assistant", "content": "x" * 1000}]} for k in range(900)
    ]
    for indent in (None, 1):
        path = tmp_path / f"r{indent}.json"
        path.write_text(json.dumps({"tasks": [{"id": "t"}], "simulations": runs}, indent=indent))
        assert path.stat().st_size > 3 << 18
        assert open_input(path).format_name == "tau2"
        assert len(read(path)["traces"]) == 900


def test_a_long_first_record_is_still_recognised(tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps([{"noise": "x" * 600_000, "tool_calls": [{"name": "a"}]}]))
    assert [row["name"] for row in read(path)["calls"]] == ["a"]


def test_a_format_that_is_asked_for_is_used(tmp_path):
    path = write(tmp_path, ['{"trace_id":"a"}'])
    assert read(path, "native")["traces"][0]["has_calls"] is False
    assert read(path, "chat")["rejects"][0]["reason"] == "messages is no array"


# ---------------------------------------------------------------- every shared file

FORMATS = {
    "samples/adk_eval": {"adk-eval", "adk-eval-legacy", "adk-session"},
    "samples/atif": {"atif"},
    "samples/deepeval_traces": {"deepeval"},
    "samples/inspect_ai": {"inspect"},
    "samples/langfuse": {"langfuse"},
    "samples/langfuse_chatml": {"langfuse-chat"},
    "samples/langsmith_gen": {"langsmith"},
    "samples/mini_swe_agent": {"mini-swe-agent"},
    "samples/mlflow": {"mlflow"},
    "samples/openai_agents": {"openai-agents"},
    "samples/openhands": {"openhands"},
    "samples/otlp": {"otlp"},
    "samples/otlp_genai": {"otlp"},
    "samples/otlp_openinference": {"otlp"},
    "samples/otlp_openllmetry": {"otlp"},
    "samples/otlp_traceai": {"otlp"},
    "samples/swe_agent_traj": {"swe-agent"},
    "workloads/bfcl": {"bfcl-questions"},
    "workloads/bfcl/possible_answer": {"bfcl-answers"},
    "workloads/inspect": {"inspect"},
    "workloads/openhands": {"openhands"},
    "workloads/tau-bench": {"tau-bench"},
    "workloads/tau2": {"tau2-tasks"},
}


def test_every_shared_file_is_one_format_and_no_two_claim_it(shared):
    wrong = {}
    for path in sorted(path for folder in ("samples", "workloads") for path in (shared / folder).rglob("*")):
        if not path.is_file() or path.name == "SOURCES.md":
            continue
        head = next(heads_of(File(path, path.name)))
        (first, name), (second, _) = sorted(((s.sniff(head).score, s.name) for s in SOURCES), reverse=True)[:2]
        known = FORMATS.get(path.parent.relative_to(shared).as_posix())
        if first >= 50 and (first == second or (known and name not in known)):
            wrong[str(path)] = (name, first, second)
    assert wrong == {}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_no_other_format_claims_the_sample_of_one(source):
    path = SAMPLES / source.sample
    head = next(heads_of(File(path, path.name)))
    scores = sorted(((each.sniff(head).score, each.name) for each in SOURCES), reverse=True)
    assert scores[0][1] == source.name
    assert scores[0][0] > scores[1][0]


def test_samples_of_all_formats_score_in_one_run_that_says_so(capsys):
    assert main(["score", str(SAMPLES), "--quiet"]) == 0
    told = capsys.readouterr().err
    for source in SOURCES:
        assert f"{source.sample} is read as {source.name}: " in told
