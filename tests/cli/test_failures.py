"""What the commands say and return when something is wrong: JSON for who asked for it, exit codes, safe text."""

import io
import json
import subprocess
import sys

import pytest

from tests.store.fake_run import fake_run
from tracelens import __version__
from tracelens.cli import main

GOOD = '{"trace_id": "t", "tool_calls": []}\n'


@pytest.fixture
def tl(capsys):
    """Run a command: its exit code, what it printed, and what it said on the side."""

    def call(*tokens):
        code = main([str(token) for token in tokens])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def bad(tmp_path):
    """A suite with two problems."""
    path = tmp_path / "bad.toml"
    path.write_text("thresholdz = 1\n[match]\nparallel = 'x'\n")
    return path


@pytest.mark.parametrize("command", ["score", "rescore", "lint"])
def test_a_suite_that_does_not_load_is_an_object_too(tl, tmp_path, bad, command):
    (tmp_path / "in.jsonl").write_text(GOOD)
    fake_run(tmp_path / "results", "aa", 1)
    tokens = {
        "score": ("score", tmp_path / "in.jsonl", "--suite", bad),
        "rescore": ("rescore", tmp_path / "results", "--suite", bad),
        "lint": ("lint", bad),
    }[command]
    code, out, said = tl(*tokens, "--json")
    error = json.loads(out)["error"]
    assert (code, error["exit_code"]) == (2, 2)
    assert [problem["place"].split(": ")[-1] for problem in error["problems"]] == ["thresholdz", "match.parallel"]
    assert error["problems"][0]["hint"] == "did you mean 'thresholds'?"
    assert "2 problems" in said
    assert tl(*tokens)[:2] == (2, "")


@pytest.mark.parametrize(
    ("tokens", "code"),
    [
        (("score", "missing.jsonl", "--json"), 3),
        (("score", "--json"), 2),
        (("score", "x", "--nonsense", "--json"), 2),
        (("lint", "missing.toml", "--json"), 2),
        (("explain", "nowhere", "t", "--json"), 3),
        (("rescore", "nowhere", "--suite", "x.toml", "--json"), 3),
        (("sql", "nowhere", "SELECT 1", "--output", "json"), 3),
        (("sql", "nowhere", "SELECT 1", "--output=json"), 3),
    ],
)
def test_every_failure_is_an_object(tl, tokens, code):
    found, out, said = tl(*tokens)
    error = json.loads(out)["error"]
    assert (found, error["exit_code"]) == (code, code)
    assert error["message"]
    assert said


def test_one_document_where_a_summary_was_printed(tl, tmp_path):
    (tmp_path / "in.jsonl").write_text(GOOD + "{\n")
    code, out, said = tl("score", tmp_path / "in.jsonl", "--json", "--max-rejects", 0)
    assert code == 3
    assert json.loads(out)["n_rejects"] == 1
    assert "1 record could not be read, more than --max-rejects 0" in said


def test_nothing_scored_is_code_3(tl, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"trace_id": "t", "complete": false, "tool_calls": []}\n')
    (tmp_path / "suite.toml").write_text("[route]\nrequire_reference = true\n")
    code, out, said = tl("score", tmp_path / "in.jsonl", "--suite", tmp_path / "suite.toml")
    assert code == 3
    assert "none scored" in out
    assert "nothing was scored: 1 trace, all unscored" in said


def test_a_negative_number_of_rejects_is_wrong_usage(tl, tmp_path):
    (tmp_path / "in.jsonl").write_text(GOOD)
    assert tl("score", tmp_path / "in.jsonl", "--max-rejects", "-1")[0] == 2


def test_a_panic_is_an_internal_error(tl, monkeypatch):
    class PanicException(BaseException):
        """As Rust raises it."""

    def fails(*_, **__):
        raise PanicException("overflow")

    monkeypatch.setattr("tracelens.results.explain.explain", fails)
    monkeypatch.setattr("tracelens.results.open_results", fails)
    code, out, said = tl("explain", "x", "t", "--json")
    assert (code, json.loads(out)["error"]["message"]) == (4, "overflow")
    assert "internal error" in said


def test_nothing_from_the_input_reaches_the_terminal_raw(tl, tmp_path):
    bad_call = '"tool_calls": [{"name": "f", "arguments": "{"}]'
    (tmp_path / "in.jsonl").write_text('{"trace_id": "a\\u001b[31m b", ' + bad_call + "}\n")
    _, _, said = tl("score", tmp_path / "in.jsonl", "--out", tmp_path / "my results")
    assert "\x1b" not in said
    assert f"tracelens explain '{tmp_path}/my results' 'a\\x1b[31m b'" in said


@pytest.mark.parametrize(("text", "hint"), [("", "--format"), ('{"tool_calls": 5}\n{\n', "2 records rejected")])
def test_init_of_no_traces_writes_nothing(tl, tmp_path, text, hint):
    (tmp_path / "in.jsonl").write_text(text)
    code, out, said = tl("init", tmp_path / "in.jsonl", "--out", tmp_path / "suite.toml", "--format", "native")
    assert (code, out) == (3, "")
    assert hint in said
    assert not (tmp_path / "suite.toml").exists()


def test_init_tells_what_it_left_out(tl, tmp_path):
    (tmp_path / "in.jsonl").write_text(GOOD + "{\n")
    code, _, said = tl("init", tmp_path / "in.jsonl", "--out", tmp_path / "suite.toml")
    assert code == 0
    assert "note: 1 record rejected and left out, the first: in.jsonl:2: " in said


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "duckdb"])
def test_export_replaces_nothing_unasked(tl, tmp_path, form):
    fake_run(tmp_path / "results", "aa", 1)
    target = tmp_path / ("out.duckdb" if form == "duckdb" else "out")
    tokens = ("export", tmp_path / "results", f"--{form}", target)
    assert tl(*tokens)[0] == 0
    code, out, said = tl(*tokens)
    assert (code, out) == (3, "")
    assert "exists already" in said
    assert tl(*tokens, "--force")[0] == 0


def test_standard_input(tl, tmp_path, monkeypatch):
    for name in ("-", "/dev/stdin"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.replace('"trace_id": "t", ', "").encode())))
        code, out, _ = tl("score", name, "--json", "--out", tmp_path / name[-1])
        assert (code, json.loads(out)["n_traces"]) == (0, 1)
        assert (
            tl("sql", tmp_path / name[-1], "SELECT trace_id FROM traces", "--output", "csv")[1] == "trace_id\nstdin:1\n"
        )


def test_a_pipe_is_read_like_a_file(tmp_path):
    script = f"printf '%s' '{GOOD}' | {sys.executable} -m tracelens score - --json"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=False)
    assert json.loads(done.stdout)["n_traces"] == 1


def test_the_module_is_the_program():
    done = subprocess.run([sys.executable, "-m", "tracelens", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{__version__}\n")
    assert subprocess.run([sys.executable, "-m", "tracelens", "scor"], capture_output=True, check=False).returncode == 2
