"""The file of a nightly job: every problem is told, with its place."""

import pytest

from tracelens.errors import UsageError
from tracelens.nightly import Config
from tracelens.nightly.config import webhook_of


def test_paths_are_relative_to_the_file(tmp_path):
    file = tmp_path / "job.toml"
    file.write_text(
        'input = "in"\nout = "results"\nsuite = "s.toml"\nquiet_minutes = 5\n[alerts]\nby = ["tag:model"]\n'
    )
    config = Config.load(file)
    assert config.input == str(tmp_path / "in")
    assert (config.out, config.suite) == (tmp_path / "results", tmp_path / "s.toml")
    assert (config.quiet_minutes, config.alerts.by, config.alerts.days) == (5.0, ("tag:model",), 28)


def test_every_problem_is_told():
    wrong = {
        "inputs": "a",
        "quiet_minutes": "soon",
        "hold_minutes": -1,
        "sample": 0.1,
        "alerts": {"dais": 3, "by": ["colour"]},
    }
    with pytest.raises(UsageError) as told:
        Config.of(wrong)
    for words in (
        "inputs: unknown key, did you mean 'input'?", "quiet_minutes: should be a number, not a str",
        "hold_minutes: should be between 0 and 1,000,000", "sample: should be a text", "alerts.dais: unknown key", "input: is missing",
        "out: is missing", "alerts.by: 'colour' is neither",
    ):  # fmt: skip
        assert words in told.value.message
    with pytest.raises(UsageError, match="alerts: should be a table"):
        Config.of({"input": "a", "out": "b", "alerts": 3})


@pytest.mark.parametrize("text", [None, "input = ", "input = 'a'\nout = '${NOT_SET_ANYWHERE}'"])
def test_files_that_cannot_be_used(tmp_path, text):
    file = tmp_path / "job.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError):
        Config.load(file)


def test_secrets_come_from_the_environment(monkeypatch):
    config = Config.of({"input": "s3://bucket/traces", "out": "b", "alerts": {"webhook": "${TL_HOOK}"}})
    assert config.input == "s3://bucket/traces"
    with pytest.raises(UsageError, match="no variable TL_HOOK"):
        webhook_of(config)
    monkeypatch.setenv("TL_HOOK", "file:///etc/passwd")
    with pytest.raises(UsageError, match="no web address") as told:
        webhook_of(config)
    assert "passwd" not in str(told.value)
    monkeypatch.setenv("TL_HOOK", "https://example.invalid/x")
    assert webhook_of(config) == "https://example.invalid/x"
