"""The judge's queue and the answers that come back."""

import json
import re

import pytest

from tests.store.fake_run import frame
from tracelens.cli import main
from tracelens.errors import InputError, StoreError, UsageError
from tracelens.judge import FORMS, read_answers, write_queue
from tracelens.judge.answers import _row
from tracelens.judge.items import custom_id, items
from tracelens.judge.prompt import Prompts
from tracelens.judge.queue import Layout
from tracelens.store import RunWriter, connect, copy_run, open_run, prune
from tracelens.suite import Suite

TOKEN = "Bearer abcdefghijklmnop1234567890"


@pytest.fixture
def run(tmp_path):
    of = [("a", "judge"), ("b", "triage"), ("c", "judge"), ("d", "settled"), ("e", "judge")]
    calls = [
        {
            "trace_id": "a",
            "call_index": 0,
            "tool": "find",
            "arguments": '{"q":"x"}',
            "result": "found {1}",
            "status": "ok",
        },
        {
            "trace_id": "a",
            "call_index": 1,
            "tool": "pay",
            "arguments": "{}",
            "error": TOKEN,
            "status": "error",
            "depth": 1,
        },
        {"trace_id": "b", "call_index": 0, "tool": "hidden"},
        {"trace_id": "c", "call_index": 0},
    ]
    expected = [
        {"trace_id": "a", "expected_index": 0, "reference_index": index, "chosen": index == 1, "tool": f"e{index}"}
        for index in (0, 1)
    ]
    with RunWriter(tmp_path / "results") as writer:
        for trace_id, route in of:
            row = {
                "trace_id": trace_id,
                "route": route,
                "passed": route != "triage",
                "final_answer": f"answer {trace_id}",
            }
            writer.write("traces", frame("traces", row))
        writer.write("calls", frame("calls", *calls))
        writer.write("expected", frame("expected", *expected))
        facts = {"questions": ["Why?", "Is it so?"], "judge_price_per_1k_tokens": 2.0, "n_traces": 5, "n_calls": 4}
        writer.write("runs", frame("runs", facts))
        writer.commit("ab12", {})
    return open_run(tmp_path / "results")


def lines(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_only_traces_for_the_judge_go_out_each_whole(run, tmp_path):
    made = write_queue(run, tmp_path / "q.jsonl")
    assert (made.files, made.n_traces, made.too_large) == ((tmp_path / "q.jsonl",), 3, ())
    first, *others = lines(tmp_path / "q.jsonl")
    assert [each["trace_id"] for each in others] == ["c", "e"]
    assert (first["questions"], first["final_answer"]) == (["Why?", "Is it so?"], "answer a")
    assert [call["tool"] for call in first["trajectory"]] == ["find", "pay"]
    assert [call["tool"] for call in first["expected"]] == ["e1"]
    assert first["prompt"].startswith(
        'Questions:\n1. Why?\n2. Is it so?\n\nWhat the agent did:\n[0] find({"q":"x"})\n    result: found {1}\n  [1] pay({}) (error)\n'
    )
    assert '"verdict": "pass", "fail" or "unclear"' in first["prompt"]
    assert "It called no tool." in others[1]["prompt"]
    assert "[0] (no name)()" in others[0]["prompt"]
    text = (tmp_path / "q.jsonl").read_text()
    assert TOKEN not in text
    assert "[secret:" in text


def test_the_prompt_of_the_suite(run, tmp_path):
    judge = {"prompt": "{case_id} {{x}} {expected} {trajectory} {trace_id} {final_answer}", "system": "S", "model": "m"}
    prompts = Prompts.of(Suite.from_dict({"judge": judge}).judge)
    write_queue(run, tmp_path / "q.jsonl", prompts=prompts)
    first = lines(tmp_path / "q.jsonl")[0]
    assert first["system"] == "S"
    assert first["prompt"].startswith('(none) {x} e1(any arguments) [0] find({"q":"x"})\n')
    assert first["prompt"].split("\n\nAnswer with one JSON")[0].endswith(" a answer a")


def test_requests_of_providers(run, tmp_path):
    with pytest.raises(UsageError, match="name a model"):
        write_queue(run, tmp_path / "o.jsonl", form="openai")
    write_queue(run, tmp_path / "o.jsonl", form="openai", prompts=Prompts(model="m1"))
    request = lines(tmp_path / "o.jsonl")[0]
    assert (request["custom_id"], request["method"], request["url"]) == (
        custom_id("ab12", "a"),
        "POST",
        "/v1/chat/completions",
    )
    assert [message["role"] for message in request["body"]["messages"]] == ["system", "user"]
    assert (request["body"]["model"], request["body"]["max_completion_tokens"]) == ("m1", 1024)
    write_queue(run, tmp_path / "a.json", form="anthropic", prompts=Prompts(model="m2"))
    requests = json.loads((tmp_path / "a.json").read_text())["requests"]
    assert [sorted(each) for each in requests] == [["custom_id", "params"]] * 3
    assert sorted(requests[0]["params"]) == ["max_tokens", "messages", "model", "system"]
    names = [custom_id("f" * 16, text) for text in ("x" * 1000, "a b", "a\nb", "\N{SNOWMAN}", "")]
    assert len({*names}) == 5
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    assert (FORMS["openai"].most, FORMS["openai"].bytes) == (50_000, 200_000_000)
    assert (FORMS["anthropic"].most, FORMS["anthropic"].bytes) == (100_000, 256_000_000)


def test_files_are_split_at_the_limits(run, tmp_path):
    def request(item, prompt, prompts):
        return {"id": item.trace["trace_id"], "x": "y" * (100 if item.trace["trace_id"] == "c" else 10)}

    made = write_queue(run, tmp_path / "q.jsonl", layout=Layout(request, b"[", b",", b"]", most=2))
    assert [file.name for file in made.files] == ["q-1.jsonl", "q-2.jsonl"]
    assert [[each["id"] for each in json.loads(file.read_text())] for file in made.files] == [["a", "c"], ["e"]]
    made = write_queue(run, tmp_path / "r.jsonl", layout=Layout(request, b"[", b",", b"]", bytes=70))
    assert (made.n_traces, made.too_large) == (2, ("c",))
    assert [each["id"] for each in json.loads((tmp_path / "r.jsonl").read_text())] == ["a", "e"]
    made = write_queue(run, tmp_path / "s.jsonl", layout=Layout(request, b"[", b",", b"]", bytes=50))
    assert [file.stat().st_size <= 50 for file in made.files] == [True, True]
    with pytest.raises(StoreError, match="exists already"):
        write_queue(run, tmp_path / "q.jsonl", layout=Layout(request, b"[", b",", b"]", most=2))
    assert not list(tmp_path.glob(".*part"))


def openai(trace_id, text, **more):
    body = {
        "model": "m1",
        "choices": [{"message": {"content": text}}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 100},
    }
    return {
        "custom_id": custom_id("ab12", trace_id),
        "response": {"status_code": 200, "body": body},
        "error": None,
    } | more


def anthropic(trace_id, *texts, kind="succeeded", **more):
    message = {"model": "m2", "content": [{"type": "text", "text": text} for text in texts]}
    message["usage"] = {"input_tokens": 10, "output_tokens": 5}
    return {"custom_id": custom_id("ab12", trace_id), "result": {"type": kind, "message": message, **more}}


def answers(tmp_path, *rows, name="answers.jsonl"):
    file = tmp_path / name
    file.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n\n", encoding="utf-8"
    )
    return file


def test_answers_in_every_form_are_joined(run, tmp_path):
    file = answers(
        tmp_path,
        openai("a", '```json\n{"verdict": "PASS.", "reason": "fine", "answers": [{"question": 1}]}\n```'),
        anthropic("c", '{"verdict":', ' "fail"}'),
        {"trace_id": "e", "verdict": False, "judge": "ann", "cost": 0.5},
    )
    read = read_answers(run, file)
    assert (read.n_lines, read.n_usable, read.n_unusable, read.n_repeated, read.n_pending) == (3, 3, 0, 0, 0)
    with connect(run.folder) as duck:
        rows = duck.execute(
            "SELECT trace_id, verdict, judge, reason, input_tokens, cost FROM final_verdicts ORDER BY ALL"
        ).fetchall()
        saved = duck.execute(
            "SELECT n_judge, n_answered, n_pending, tokens_spent, cost_spent FROM judge_savings"
        ).fetchall()
    assert rows == [
        ("a", "pass", "m1", "fine", 900, 2.0),
        ("c", "fail", "m2", None, 10, pytest.approx(0.03)),
        ("e", "fail", "ann", None, None, 0.5),
    ]
    assert saved == [(3, 3, 0, 1015, pytest.approx(2.53))]


def test_partial_repeated_and_malformed_answers(run, tmp_path):
    file = answers(
        tmp_path,
        openai("a", "I would say pass"),
        openai("a", '{"verdict": "perhaps"}'),
        openai("a", "[1]"),
        openai("a", "", error={"code": "expired"}),
        anthropic("c", kind="errored", error={"type": "overloaded"}),
        {"trace_id": "e", "verdict": "yes"},
        {"trace_id": "e", "verdict": "unclear"},
        {"trace_id": "b", "verdict": "pass"},
        {"custom_id": "elsewhere", "verdict": "pass"},
        "{cut off",
        '"text"',
    )
    read = read_answers(run, file)
    assert (read.n_lines, read.n_usable, read.n_unusable, read.n_repeated, read.n_pending) == (11, 2, 5, 1, 2)
    assert sorted(read.strangers) == [8, 9, 10, 11]
    assert [read.problems[line].split(":")[0] for line in range(1, 6)] == [
        "the answer holds no JSON object", "perhaps is no verdict", "the answer holds no JSON object",
        "the request failed", "the request errored",
    ]  # fmt: skip
    again = read_answers(run, file)
    assert (again.n_again, again.n_usable, again.n_pending) == (11, 0, 2)
    made = write_queue(run, tmp_path / "rest.jsonl")
    assert (made.n_traces, made.n_answered) == (2, 1)
    assert write_queue(run, tmp_path / "all.jsonl", again=True).n_traces == 3
    more = answers(tmp_path, *({"trace_id": "e", "verdict": word} for word in ("pass", "pass")), name="more.jsonl")
    assert read_answers(run, more).n_repeated == 2
    with connect(run.folder) as duck:
        rows = duck.execute(
            "SELECT trace_id, verdict, n_answers, n_usable, agreement FROM final_verdicts ORDER BY ALL"
        ).fetchall()
    assert rows == [("a", None, 4, 0, None), ("c", None, 1, 0, None), ("e", "pass", 4, 4, pytest.approx(2 / 3))]
    with pytest.raises(InputError, match="no answer about this run: no JSON"):
        read_answers(run, answers(tmp_path, "{", name="none.jsonl"))
    with pytest.raises(InputError, match="cannot be read"):
        read_answers(run, tmp_path / "absent.jsonl")


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (openai("a", 'Seen {x}. {"q": 1} So {"verdict": "pass", "reason": "{}"} {"done": 1}'), "pass"),
        (openai("a", '{"verdict": "pass", "reason": "\\ud800"}', error=None), "pass"),
        (openai("a", None), "the answer has no text"),
        (openai("a", None) | {"response": {"body": {"choices": [{"message": {"content": None, "refusal": "I won't"}}]}}},
         "the answer has no text: I won't"),
        (openai("a", "", response=None, error={"code": "batch_expired", "message": "\ud800"}), "the request failed: {"),
        (openai("a", "", response={"status_code": 429, "body": {"error": {"code": "rate"}}}), "the request failed: {"),
        (openai("a", "", response={"status_code": 200, "body": [1]}), "the answer has no message"),
        (openai("a", '{"verdict": ["pass"]}'), '["pass"] is no verdict'),
        (openai("a", "{" * 5000), "the answer holds no JSON object"),
        (anthropic("a", "x") | {"result": {"type": "succeeded", "message": "pass"}}, "the answer has no text"),
        (anthropic("a", "x") | {"result": {"type": "succeeded", "message": {"content": 5, "stop_reason": "refusal"}}},
         "the answer has no text: refusal"),
        (anthropic("a", "x") | {"result": {"type": "succeeded", "message": {"content": [{"type": "text", "text": 5}]}}},
         "the answer has no text"),
        (anthropic("a", kind="canceled"), "the request canceled"),
        (anthropic("a", kind="expired"), "the request expired"),
        (anthropic("a") | {"result": None}, "the request failed"),
        ({"trace_id": "a", "verdict": None, "cost": 10**400, "input_tokens": 2**62}, "the answer says no verdict"),
        ({"trace_id": "a", "verdict": "pass", "cost": 10**400, "input_tokens": 2**62, "judge": {"a": 1}}, "pass"),
        ({"trace_id": "a", "verdict": {"x": "y" * 900}, "reason": "\ud800"}, '{"x": "y'),
    ],
)  # fmt: skip
def test_answers_of_every_kind_are_kept(answer, found):
    row = _row(json.loads(json.dumps(answer)), 0.5)
    assert (row["verdict"] or row["problem"]).startswith(found)
    assert (row["cost"] or 0) < 1e15
    for text in (row["problem"], row["reason"], row["judge"]):
        assert text is None or text.encode()


def test_verdicts_go_where_their_run_goes(run, tmp_path):
    read_answers(run, answers(tmp_path, {"trace_id": "a", "verdict": "pass", "reason": TOKEN}))
    copy_run(run, tmp_path / "copy")
    with connect(tmp_path / "copy") as duck:
        ((reason,),) = duck.execute("SELECT reason FROM verdicts").fetchall()
        assert "[secret:" in reason
    with RunWriter(tmp_path / "copy") as writer:
        writer.commit("cd34", {})
    assert prune(tmp_path / "copy", keep=1) == ["ab12"]
    assert not (tmp_path / "copy" / "verdicts" / "ab12").exists()


def test_a_run_without_questions_has_an_empty_queue(tmp_path, capsys):
    with RunWriter(tmp_path) as writer:
        writer.write("runs", frame("runs", {"n_traces": 0}))
        folder = writer.commit("ab", {})
    assert list(items(open_run(folder))) == []
    assert write_queue(open_run(folder), tmp_path / "q.jsonl").files == ()
    assert main(["queue", str(tmp_path), "--out", str(tmp_path / "q.jsonl")]) == 0
    told = capsys.readouterr().err
    assert "nothing was written: the suite of the run asks a judge nothing; add `questions" in told
    assert "avoided" not in told
    with connect(tmp_path) as duck:
        (row,) = duck.execute(
            "SELECT n_avoided, share_avoided, tokens_avoided, cost_avoided FROM judge_savings"
        ).fetchall()
    assert row == (None, None, None, None)


def test_the_commands(run, tmp_path, capsys):
    folder = str(tmp_path / "results")
    (tmp_path / "suite.toml").write_text('[judge]\nmodel = "m"\n')
    options = ["--suite", str(tmp_path / "suite.toml"), "--form", "openai"]
    assert main(["queue", folder, "--out", str(tmp_path / "q.jsonl"), *options]) == 0
    out, said = capsys.readouterr()
    assert out == f"{tmp_path / 'q.jsonl'}\n"
    assert "3 traces for the judge; about" in said
    assert "2 of 5 judge calls avoided, about 16 tokens or 0.032 in the currency" in said
    assert lines(tmp_path / "q.jsonl")[0]["body"]["model"] == "m"
    file = answers(tmp_path, openai("a", '{"verdict": "pass"}'), openai("c", "\x1b[31mno"), "{")
    assert main(["verdicts", folder, str(file)]) == 0
    out, said = capsys.readouterr()
    assert "1  answers with a verdict" in out
    assert "2  traces still wait for the judge" in out
    assert "\x1b" not in out
    assert main(["verdicts", folder, str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_again"] == 3
    assert main(["queue", folder, "--out", str(tmp_path / "r.jsonl"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_traces"], found["n_answered"], found["savings"]["n_pending"]) == (2, 1, 2)
    assert main(["queue", folder, "--out", str(tmp_path / "r.jsonl")]) == 3
