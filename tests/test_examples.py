"""What starts a nightly job: each file is read by what reads it, as far as that is here, and its commands exist."""

import configparser
import re
import shlex
import shutil
import subprocess

import pytest

from tracelens.cli.program import app
from tracelens.nightly import Config


@pytest.fixture(scope="module")
def examples(root):
    return root / "examples" / "nightly"


def test_the_job_can_be_read_and_says_what_holds_anyway(examples):
    config = Config.load(examples / "nightly.toml")
    assert config.alerts == Config.of({"input": "a", "out": "b"}).alerts
    assert config.hold_minutes == 60
    assert config.out == examples / "results"


def commands(text):
    return [shlex.split(found) for found in re.findall(r"tracelens (nightly [^\n`&]*)", text)]


def test_every_example_calls_a_command_that_is_there(examples):
    called = [
        words
        for name in ("crontab", "tracelens-nightly.service", "github-actions.yml")
        for words in commands((examples / name).read_text())
    ]
    assert len(called) >= 3
    for words in called:
        app[words[0]]
        assert words[1] == "nightly.toml"


def test_times_are_times(examples):
    lines = [line for line in (examples / "crontab").read_text().splitlines() if re.match(r"[\d*]", line)]
    assert [line.split()[:5] for line in lines] == [["10", "2", "*", "*", "*"]]
    timer = configparser.ConfigParser()
    timer.read(examples / "tracelens-nightly.timer")
    assert timer["Timer"]["OnCalendar"] == "*-*-* 02:10:00"


def test_systemd_takes_its_units(examples, tmp_path):
    service = configparser.ConfigParser(strict=False)
    service.optionxform = str
    service.read(examples / "tracelens-nightly.service")
    assert service["Service"]["Type"] == "oneshot"
    if shutil.which("systemd-analyze"):
        units = [str(examples / f"tracelens-nightly.{kind}") for kind in ("service", "timer")]
        done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
        assert "tracelens" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["airflow_dag.py", "dagster_job.py"])
def test_programs_compile(examples, name):
    compile((examples / name).read_text(), name, "exec")
