"""Evaluation files of other tools: what our own samples say, odd forms, and damaged copies."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

import tracelens as tl
from tests.sources.reading import batches, read, write
from tracelens.cli import main
from tracelens.sources import detect
from tracelens.sources.evaluations.bfcl import alternatives, translated
from tracelens.sources.evaluations.python_calls import calls_in

SAMPLES = Path(detect.__file__).parent / "samples"


def sample(name):
    return SAMPLES / detect.source_named(name).sample


def calls(found, *columns):
    return [tuple(call[column] for column in columns) for call in found["calls"]]


def arguments(rows):
    return [json.loads(row["arguments"]) for row in rows]


# ---------------------------------------------------------------- what the samples say


def test_tau2_keeps_the_agents_calls_and_its_golden_actions():
    found = read(sample("tau2"))
    assert calls(found, "name", "turn", "status", "result") == [
        ("find_book", 1, "ok", "b7"),
        ("find_reader", 1, "error", "no such reader"),
        ("place_hold", 2, "ok", "ok"),
    ]
    assert [row["name"] for row in found["expected"]] == ["find_book", "place_hold"]
    assert arguments(found["expected"])[0] == {"title": "Emma", "fuzzy": {"$optional": {"$any": True}}}
    trace = found["traces"][0]
    assert (trace["case_id"], trace["final_answer"], trace["cost"]) == ("hold", "Emma is on hold.", 0.02)
    assert json.loads(trace["tags"]) == {"reward": 1.0, "trial": 0, "seed": 7, "termination_reason": "user_stop"}
    assert list(found["remarks"]) == ["a call of the simulated user is not the agent's and is left out"]


def test_tau2_results_may_be_a_folder(tmp_path):
    value = json.loads(sample("tau2").read_text())
    (run,) = value.pop("simulations")
    (tmp_path / "run" / "simulations").mkdir(parents=True)
    (tmp_path / "run" / "results.json").write_text(json.dumps(value, indent=1))
    for name in ("s1", "s2"):
        (tmp_path / "run" / "simulations" / f"{name}.json").write_text(json.dumps(run | {"id": name}, indent=1))
    (tmp_path / "run" / "simulations" / "s3.json").write_text('{"id": "s3", "task')
    found, whole = read(tmp_path, "tau2"), read(sample("tau2"))
    keep = ("name", "turn", "status", "result")
    assert [trace["trace_id"].rpartition(":")[2] for trace in found["traces"]] == ["s1", "s2"]
    assert calls(found, *keep) == calls(whole, *keep) * 2
    assert arguments(found["calls"]) == arguments(whole["calls"]) * 2
    assert [row["name"] for row in found["expected"]] == [row["name"] for row in whole["expected"]] * 2
    assert [row["source"] for row in found["rejects"]] == ["run/simulations/s3.json"]
    assert found["n_records"] == 3
    (tmp_path / "run" / "simulations" / "s3.json").unlink()
    assert detect.open_input(tmp_path).format_name == "tau2"
    alone = read(tmp_path / "run" / "simulations" / "s1.json")
    assert (len(alone["calls"]), alone["traces"][0]["n_references"]) == (3, None)


def test_tau2_runs_without_a_task_have_no_reference(tmp_path):
    value = json.loads(sample("tau2").read_text())
    run = value["simulations"][0]
    value["simulations"] += [run | {"id": "sim-2", "task_id": "other"}, run | {"id": "sim-3", "messages": None}]
    value["tasks"].append({"id": "other", "evaluation_criteria": {"actions": None}})
    found = read(write(tmp_path, [json.dumps(value)], "r.json"))
    assert [trace["n_references"] for trace in found["traces"]] == [1, None]
    assert [row["trace"] for row in found["expected"]] == [0, 0]
    assert [row["reason"] for row in found["rejects"]] == [
        "a simulation has no messages (voice runs with ticks are not read)"
    ]
    assert found["n_records"] == 3


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ({"name": None}, "an action has no name"),
        ({"name": "f", "arguments": [1]}, "arguments of an action are no object"),
        ({"name": "f", "arguments": "{}", "compare_args": ["a"]}, "arguments of an action are no object"),
    ],
)
def test_a_run_of_a_task_that_cannot_be_used_is_rejected(tmp_path, action, reason):
    value = json.loads(sample("tau2").read_text())
    value["simulations"].append(value["simulations"][0] | {"id": "sim-2", "task_id": "bad"})
    value["tasks"].append({"id": "bad", "evaluation_criteria": {"actions": [action]}})
    found = read(write(tmp_path, [json.dumps(value)], "r.json"))
    assert [trace["trace_id"] for trace in found["traces"]] == ["sim-1"]
    assert [row["reason"] for row in found["rejects"]] == [f"its task cannot be used: {reason}"]
    task = json.loads(sample("tau2-tasks").read_text())[0]
    task["evaluation_criteria"]["actions"] = [action, {"name": "g", "arguments": {"x": 1}, "compare_args": [{"x": 1}]}]
    assert [row["reason"] for row in read(write(tmp_path, [json.dumps(task)], "t.json"))["rejects"]] == [reason]


def test_a_changed_task_changes_the_trace(tmp_path):
    text = sample("tau2").read_text()
    one = batches(write(tmp_path, [text], "a.json"))[0].traces["record_lo"]
    other = batches(write(tmp_path, [text.replace("place_hold", "drop_hold", 1)], "a.json"))[0].traces["record_lo"]
    assert one != other


def test_inspect_puts_attachments_back_and_keeps_what_could_not_be_parsed():
    found = read(sample("inspect"))
    assert json.loads(found["calls"][0]["arguments"]) == {"title": 'Emma "the novel"'}
    assert calls(found, "name", "status", "error", "turn") == [
        ("find_book", "ok", None, 0),
        ("place_hold", "error", "the arguments are no JSON", 1),
        ("place_hold", "ok", None, 1),
    ]
    results = tl.score(sample("inspect"), {"tools": {"place_hold": {"known": True}}}, progress=False)
    assert results.calls["arguments_state"].to_list() == ["object", "invalid_json", "object"]


def inspect_zip(method=zipfile.ZIP_DEFLATED, samples=3, *, header=True):
    """A log as Inspect zips it, with the samples of our own in several epochs."""
    log = json.loads(sample("inspect").read_text())
    one = log.pop("samples")[0]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        if header:
            archive.writestr("header.json", json.dumps(log, indent=1))
        for epoch in range(samples, 0, -1):
            text = json.dumps(one | {"epoch": epoch, "uuid": f"u-{epoch}"}, indent=1)
            archive.writestr(f"samples/hold_epoch_{epoch}.json", text)
        archive.writestr("summaries.json", "[]")
    return out.getvalue()


def zstd_zip():
    """The same with members in zstd, which the standard library does not write: a stored zip, patched."""
    stored = inspect_zip(zipfile.ZIP_STORED, 1)
    parts, directory, at = [], [], 0
    with zipfile.ZipFile(io.BytesIO(stored)) as archive:
        for info in archive.infolist():
            plain = archive.read(info)
            packed = pa.compress(plain, "zstd", asbytes=True)
            name = info.filename.encode()
            fields = (
                (93).to_bytes(2, "little")
                + bytes(4)
                + info.CRC.to_bytes(4, "little")
                + len(packed).to_bytes(4, "little")
                + len(plain).to_bytes(4, "little")
                + len(name).to_bytes(2, "little")
            )
            parts.append(b"PK\x03\x04" + b"\x3f\x00\x00\x00" + fields + bytes(2) + name + packed)
            entry = b"PK\x01\x02" + b"\x3f\x00\x3f\x00\x00\x00" + fields
            directory.append(entry + bytes(2 + 2 + 2 + 2 + 4) + at.to_bytes(4, "little") + name)
            at += len(parts[-1])
    listed = b"".join(directory)
    count = len(directory).to_bytes(2, "little")
    end = b"PK\x05\x06" + bytes(4) + count * 2 + len(listed).to_bytes(4, "little") + at.to_bytes(4, "little") + bytes(2)
    return b"".join(parts) + listed + end


@pytest.mark.parametrize(
    "data", [inspect_zip(), inspect_zip(zipfile.ZIP_STORED), zstd_zip()], ids=["deflate", "stored", "zstd"]
)
def test_a_zipped_log_gives_what_the_plain_one_gives(tmp_path, data):
    (tmp_path / "log.eval").write_bytes(data)
    found, plain = read(tmp_path / "log.eval"), read(sample("inspect"))
    assert detect.open_input(tmp_path / "log.eval").format_name == "inspect"
    first = [call for call in found["calls"] if call["trace"] == 0]
    keep = ("name", "status", "result", "started_at", "duration_ms")
    assert calls({"calls": first}, *keep) == calls(plain, *keep)
    assert arguments(first[:1]) == arguments(plain["calls"][:1])
    assert [trace["line"] for trace in found["traces"]] == list(range(1, len(found["traces"]) + 1))
    assert json.loads(found["traces"][0]["tags"])["task"] == "library"
    in_small_blocks = read(tmp_path / "log.eval", block_size=1)
    for name in ("traces", "calls", "records", "n_records"):
        assert in_small_blocks[name] == found[name]


def test_a_member_that_is_damaged_is_rejected_and_the_others_are_read(tmp_path):
    data = bytearray(inspect_zip(zipfile.ZIP_STORED))
    at = data.index(b'"epoch": 2')
    data[at + 9 : at + 10] = b"5"
    (tmp_path / "log.eval").write_bytes(data)
    found = read(tmp_path / "log.eval")
    assert [trace["trace_id"] for trace in found["traces"]] == ["u-1", "u-3"]
    assert [row["reason"] for row in found["rejects"]] == [
        "samples/hold_epoch_2.json cannot be read: its checksum is wrong"
    ]
    assert found["n_records"] == 3


def test_numbers_that_are_no_json_are_read_as_null(tmp_path):
    text = sample("inspect").read_text().replace('"value": 3', '"value": NaN').replace("Hold Emma", "NaN and -Infinity")
    found = read(write(tmp_path, [text], "log.json"))
    assert json.loads(found["traces"][0]["tags"])["includes"] == "C"
    assert "steps" not in json.loads(found["traces"][0]["tags"])
    assert any("are read as null" in note for note in found["notes"])
    assert len(found["calls"]) == 3


def test_bfcl_answers_are_matchers_for_results(tmp_path, capsys):
    files = [str(sample(name)) for name in ("bfcl-questions", "bfcl-answers")]
    assert main(["init", *files, "--out", str(tmp_path / "suite.toml")]) == 0
    capsys.readouterr()
    assert main(["lint", str(tmp_path / "suite.toml")]) == 0
    capsys.readouterr()
    suite = tl.Suite.load(tmp_path / "suite.toml")
    assert suite.tools["geo.distance"].aliases == ("geo_distance",)
    results = tl.score(sample("bfcl"), suite, progress=False)
    pairs = results.pairs.select("trace_id", "tool", "status").rows()
    assert pairs == [
        ("simple_0", "geo.distance", "exact"),
        ("parallel_0", "play", "exact"),
        ("parallel_0", "play", "partial"),
    ]
    assert results.findings["code"].to_list()[0] == "arguments.invalid_json"


@pytest.mark.parametrize(
    ("values", "matcher"),
    [
        ([[1, 2], [2, 1]], {"$one_of": [[1, 2], [2, 1]]}),
        ([[{"a": [1]}]], {"$one_of": [[{"a": {"$one_of": [1]}}]]}),
        ([None, True], {"$one_of": [None, True]}),
        ([1e308, ""], {"$optional": {"$one_of": [1e308]}}),
    ],
)
def test_alternatives(values, matcher):
    assert alternatives(values) == matcher


def test_every_schema_of_the_leaderboard_becomes_a_usable_one(shared):
    from tracelens.rungs.schema.truth import compile_schema

    kinds = set()
    for path in (shared / "workloads/bfcl").glob("*.json"):
        for line in path.read_text().splitlines()[:60]:
            for function in json.loads(line)["function"]:
                schema = translated(function["parameters"])
                assert compile_schema(schema).usable
                kinds |= {each.get("type") for each in function["parameters"]["properties"].values()}
    assert {"dict", "float", "string"} <= kinds


def test_results_nested_by_turns_and_steps_are_read_in_order(tmp_path):
    rows = [
        {"id": "m_0", "result": [[[{"a": "{}"}, {"b": {"x": 1}}], [{"c": "{}"}]], [[{"d": "{}"}]]], "latency": 1},
        {"id": "m_1", "result": "I cannot do that.", "latency": 1},
        {"id": "m_2", "result": [], "latency": 1},
        {"id": "m_3", "result": [["[f(a=1)]", "[g()]", "Done."], ["[]"]], "latency": [[0.1, 0.2, 0.3], [0.4]]},
        {"id": "m_4", "result": "Error during inference: 429", "latency": 0},
    ]
    rows[3]["input_token_count"] = [[1, 2, 3], [4]]
    found = read(write(tmp_path, map(json.dumps, rows), "r.json"))
    assert calls(found, "trace", "name", "turn") == [
        *((0, "a", 0), (0, "b", 0), (0, "c", 1), (0, "d", 2)),
        *((3, "f", 0), (3, "g", 1)),
    ]
    assert [trace["has_calls"] for trace in found["traces"]] == [True, True, True, True, False]
    assert [trace["final_answer"] for trace in found["traces"]][1:4] == ["I cannot do that.", None, "Done."]
    assert [trace["input_tokens"] for trace in found["traces"]][3] == 10
    steps = [span for span in found["spans"] if span["trace"] == 3 and span["kind"] == "llm"]
    assert [(span["duration_ms"], span["input_tokens"]) for span in steps] == [(100, 1), (200, 2), (300, 3), (400, 4)]
    assert found["remarks"] == {
        "a trace's result tells of an error of the inference, so its calls count as not recorded": (1, "r.json:5")
    }


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[geo.find(name='Ulm'), stop()]", [("geo.find", '{"name": "Ulm"}'), ("stop", "{}")]),
        ("```python\n[f(a='\\d', b=-1.0)]\n```", [("f", '{"a": "\\\\d", "b": -1.0}')]),
        ("f(a=true, b=1/6, c=x.y, d=(1, [None]), e={1: 2}, f=1e400)",
         [("f", '{"a": "true", "b": "1/6", "c": "x.y", "d": [1, [null]], "e": {"1": 2}, "f": "1e400"}')]),
        ("[f(n=90071992547409930000), 'junk']", [("f", '{"n": 90071992547409930000}'), (None, "'junk'")]),
        ("[f(1, b=2)]", [("f", "1, b=2")]),
        ("[f(**{'a': 1})]", [("f", "**{'a': 1}")]),
        ("[f(a='\\ud800')]", [("f", "a='\\ud800'")]),
        ("[f(a=1)", [("f", "a=1)")]),
        ("[__import__('os').system(command='x')]", [(None, "__import__('os').system(command='x')")]),
        ("[" + "f(a=" * 300, [("f", "a=" + "f(a=" * 299)]),
        ("Note (see below): f(a=1)", None),
        ("[1, 2]", None),
        ("[]", []),
    ],
)  # fmt: skip
def test_calls_written_as_python_are_read_and_never_run(text, wanted):
    found = calls_in(text)
    assert (found if found is None else [(call.name, call.arguments) for call in found]) == wanted


def test_python_text_scores_as_calls_do(tmp_path):
    line = {"id": "p_0", "result": "[play(song='Aria', volume=4), play(song=Fleur]", "latency": 1}
    results = tl.score(write(tmp_path, [json.dumps(line)], "r.json"), progress=False, format="bfcl")
    assert results.calls.select("tool", "arguments_state", "arguments_repair").rows() == [
        ("play", "invalid_json", "the call is written as Python")
    ]
    line["result"] = line["result"].replace("Fleur", "'Fleur')")
    results = tl.score(write(tmp_path, [json.dumps(line)], "r.json"), progress=False, format="bfcl")
    assert results.calls["arguments_state"].to_list() == ["object", "object"]


def test_possible_answers_of_several_turns_are_python_text(tmp_path):
    lines = [
        {"id": "m_0", "ground_truth": [["cd(folder='x')", "ls()"], [], ["rm(file_name='y')"]]},
        {"id": "m_1", "ground_truth": ["add(a=1, b=2)"]},
        {"id": "m_2", "ground_truth": [["cd(folder="]]},
    ]
    found = read(write(tmp_path, map(json.dumps, lines), "a.json"))
    assert [(row["trace"], row["name"], row["arguments"]) for row in found["expected"]] == [
        (0, "cd", '{"folder": "x"}'),
        (0, "ls", "{}"),
        (0, "rm", '{"file_name": "y"}'),
        (1, "add", '{"a": 1, "b": 2}'),
    ]
    assert [row["reason"] for row in found["rejects"]] == ["ground_truth holds a text that is no call"]


def test_an_eval_result_holds_actual_against_expected(tmp_path):
    def turn(*names, text="ok"):
        uses = [{"id": None, "name": name, "args": {"k": name}} for name in names]
        return {"intermediateData": {"toolUses": uses}, "finalResponse": {"parts": [{"text": text}]}}

    result = {
        "evalSetResultId": "r1",
        "evalSetId": "set",
        "evalCaseResults": [
            {
                "evalId": "c1",
                "sessionId": "s1",
                "finalEvalStatus": 2,
                "overallEvalMetricResults": [{"metricName": "tool_trajectory_avg_score", "score": 0.5}],
                "evalMetricResultPerInvocation": [
                    {"actualInvocation": turn("a", "b"), "expectedInvocation": turn("a", "c")},
                    {"actualInvocation": turn("d", text="end"), "expectedInvocation": turn("d")},
                ],
            }
        ],
    }
    found = read(write(tmp_path, [json.dumps(result)], "r.json"))
    assert [call["name"] for call in found["calls"]] == ["a", "b", "d"]
    assert [row["name"] for row in found["expected"]] == ["a", "c", "d"]
    trace = found["traces"][0]
    assert (trace["trace_id"], trace["session_id"], trace["final_answer"]) == ("r1:c1:s1", "s1", "end")
    assert json.loads(trace["tags"]) == {"status": 2, "tool_trajectory_avg_score": 0.5}


def test_adk_cases_score_perfectly_against_themselves():
    results = tl.score(sample("adk-eval"), progress=False)
    assert results.traces["accuracy_optimal"].to_list() == [1.0, 1.0]


def test_every_step_of_a_real_run_has_its_time_and_tokens(shared):
    browser = read(shared / "workloads/inspect/browser.json")["spans"]
    assert [(span["span_id"], span["parent_id"]) for span in browser[:3]] == [
        ("llm-0", None),
        ("call-0", "llm-0"),
        ("llm-1", None),
    ]
    assert browser[0]["started_at"].isoformat() == "2025-05-13T00:27:38.462180+00:00"
    assert (browser[0]["model"], browser[0]["input_tokens"], browser[0]["output_tokens"]) == (
        "openai/gpt-4o-mini", 1124, 23,
    )  # fmt: skip
    assert browser[0]["duration_ms"] == pytest.approx(1101.02, abs=0.01)
    hands = read(shared / "workloads/openhands/multi_swe_bench_output.jsonl")["spans"]
    assert hands[0]["started_at"].isoformat() == "2025-04-30T16:32:54.764683+00:00"
    assert (hands[0]["input_tokens"], hands[0]["output_tokens"], round(hands[0]["duration_ms"])) == (5920, 128, 3057)
    older = [span["cost"] for span in read(shared / "samples/openhands/output.jsonl")["spans"] if span["cost"]]
    assert older[:2] == [0.015396, 0.019719]
    assert sum(older[:4]) == pytest.approx(0.070713)
    atif = read(shared / "samples/atif/openhands_hello-world.trajectory.json")["spans"]
    assert [(span["input_tokens"], span["cost"]) for span in atif if span["kind"] == "llm"] == [
        (100, 0.00075),
        (120, pytest.approx(0.0006)),
    ]


def test_sub_agents_of_atif_stand_deeper_and_copied_steps_are_skipped():
    found = read(sample("atif"))
    assert calls(found, "name", "depth", "agent", "result", "turn") == [
        ("find_book", 0, None, "b7", 0),
        ("ask_clerk", 0, None, "yes", 0),
        ("look_up", 1, "clerk", "free", None),
    ]
    assert found["traces"][0]["cost"] == 0.002
    assert json.loads(found["traces"][0]["tags"]) == {"model_name": "mock", "reward": 1.0}


def test_demonstrations_are_not_made_by_the_run_and_ids_come_again():
    found = read(sample("swe-agent"))
    assert calls(found, "name", "result", "duration_ms") == [
        ("open", "[File: shelf.py]", 200.0),
        ("submit", "diff", 100.0),
    ]


def test_commands_of_mini_swe_agent_are_calls_however_they_were_asked_for():
    found = read(sample("mini-swe-agent"))
    assert arguments(found["calls"]) == [
        {"command": "ls shelf"},
        {"command": "ls"},
        {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"},
    ]
    assert calls(found, "status", "repair") == [
        ("error", None),
        ("ok", None),
        (None, "the command stands in the text of the message"),
    ]


def test_openhands_takes_arguments_from_the_response_that_asked():
    found = read(sample("openhands"))
    assert arguments(found["calls"])[1] == {"command": "view", "path": "/w/shelf.py"}
    assert calls(found, "name", "status", "turn") == [
        ("execute_bash", "ok", 0),
        ("str_replace_editor", "error", 0),
        ("finish", None, 1),
    ]


# ---------------------------------------------------------------- damaged copies


def damaged(data: bytes):
    """Copies: cut off, with flipped bits, twice, with lines out of order."""
    n = len(data)
    for part in (1, 2, 3, 5, 7):
        yield f"cut {part}/8", data[: n * part // 8]
    for k in range(10):
        place = (7919 * (k + 1)) % n
        yield f"flip {k}", data[:place] + bytes([data[place] ^ (1 << k % 8)]) + data[place + 1 :]
    yield "twice", data + data
    rows = data.splitlines(keepends=True)
    yield "reversed", b"".join(reversed(rows))
    yield "a line twice", b"".join([*rows[:1], *rows])
    yield "empty", b""


def test_a_damaged_zip_is_an_error_that_names_it_or_rejects(tmp_path):
    good = inspect_zip()
    for what, data in damaged(good):
        path = tmp_path / f"{what.replace('/', '-')}.eval"
        path.write_bytes(data)
        if what == "empty":
            continue
        if what.startswith("cut") or not zipfile.is_zipfile(path):
            with pytest.raises(tl.errors.InputError, match=path.name):
                read(path, "inspect")
            continue
        found = read(path, "inspect")
        assert len(found["traces"]) + len(found["rejects"]) + found["n_blank"] == found["n_records"], what


def test_a_good_trace_keeps_its_rows_beside_a_bad_one(tmp_path):
    value = json.loads(sample("adk-eval").read_text())
    value["eval_cases"].insert(0, {"eval_id": 5, "conversation": None})
    value["eval_cases"].append("nothing")
    found = read(write(tmp_path, [json.dumps(value, indent=1)], "e.json"))
    assert calls(found, "name") == calls(read(sample("adk-eval")), "name")
    assert [row["reason"] for row in found["rejects"]] == ["a case has no conversation", "a case is no object"]
    assert found["rejects"][0]["line"] == 5
