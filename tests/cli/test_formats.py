"""The guide of formats, and the samples by name."""

import json

import pytest

import tracelens as tl
from tracelens.cli import main
from tracelens.errors import UsageError
from tracelens.sources.detect import SOURCES, open_input, source_named


def test_every_format_is_listed_with_what_it_says_of_itself(capsys):
    assert main(["formats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [source.name for source in SOURCES]
    for source, line in zip(SOURCES, lines, strict=True):
        assert source.title in line
        assert ("not seen on real data" in line) is not source.seen


def test_as_json(capsys):
    assert main(["formats", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["command"] for each in found] == [f"tracelens score sample:{source.name}" for source in SOURCES]
    assert main(["formats", "tau2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seen"] is False


@pytest.mark.parametrize("name", [source.name for source in SOURCES])
def test_one_format_is_explained_and_its_sample_is_found_by_its_name(capsys, name):
    assert main(["formats", name]) == 0
    out = capsys.readouterr().out
    assert out.endswith(f"Try it: tracelens score sample:{name}\n")
    sample = source_named(name).sample
    assert open_input(f"sample:{name}").names == (sample,)
    if not sample.endswith(".parquet"):
        assert f"Its sample, {sample}, begins" in out


def test_a_sample_is_scored(capsys):
    assert main(["score", "sample:tau2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "tau2"


def test_a_format_that_is_not_there(capsys):
    assert main(["formats", "otpl"]) == 2
    assert "did you mean 'otlp'?" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"unknown format 'tau3'\. Hint: did you mean 'tau2'"):
        tl.score("sample:tau3", progress=False)
