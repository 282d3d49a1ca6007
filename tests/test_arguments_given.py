"""Wrong arguments of the Python face: each is told, with the remedy, and none is guessed at."""

from __future__ import annotations

import json

import pytest

import tracelens as tl
from tracelens.errors import InputError, TraceLensError, UsageError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    (folder / "in.jsonl").write_text(json.dumps({"trace_id": "5", "tool_calls": [{"name": "f"}]}) + "\n")
    return folder


@pytest.fixture(scope="module")
def results(folder):
    return tl.score(folder / "in.jsonl", out=folder / "out")


@pytest.mark.parametrize("suite", [5, [], b"suite.toml", object()])
def test_what_is_no_suite_is_refused(folder, results, suite):
    for call in (lambda: tl.score(folder / "in.jsonl", suite), lambda: results.rescore(suite)):
        with pytest.raises(UsageError, match=r"is no suite.*give a Suite, the path of a suite file, or a dictionary"):
            call()


def test_a_path_may_be_any_path(folder, tmp_path):
    class Somewhere:
        def __fspath__(self):
            return str(tmp_path / "suite.toml")

    (tmp_path / "suite.toml").write_text('name = "here"\n')
    assert tl.score(folder / "in.jsonl", Somewhere()).runs["suite"].to_list() == ["here"]


@pytest.mark.parametrize("source", ["", [""], ["in.jsonl", ""]])
def test_an_empty_path_is_not_the_working_directory(folder, monkeypatch, source):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="the path of an input is empty"):
        tl.score(source)


@pytest.mark.parametrize("source", [None, 5, {}, (x for x in ["in.jsonl"]), b"in.jsonl", [5]])
def test_what_is_no_input_is_refused(source):
    with pytest.raises(InputError, match=r"is no input.*give a path"):
        tl.score(source)


@pytest.mark.parametrize("path", ["", 5, None, b"x"])
def test_what_is_no_path_is_refused(folder, results, monkeypatch, path):
    monkeypatch.chdir(folder)
    calls = [
        lambda: tl.Suite.load(path),
        lambda: tl.open_results(path),
        lambda: tl.connect(path),
        lambda: results.save(path),
        lambda: results.compare(path),
    ]
    if path is not None:
        calls.append(lambda: tl.score("in.jsonl", out=path))
    for call in calls:
        with pytest.raises(UsageError, match=r"(is empty|not as a path).*Hint"):
            call()
    assert not (folder / "runs").exists()


def test_ids_and_names_are_text(folder, results):
    assert results.explain(5).trace["trace_id"] == "5"
    for value in (None, [], 5.0, True, b"5"):
        with pytest.raises(UsageError, match="is no id of a trace"):
            results.explain(value)
    for call in (lambda: results.failures(tool=5), lambda: results.failures(code=5)):
        with pytest.raises(UsageError, match="is given as an int"):
            call()
    with pytest.raises(UsageError, match="the run is given as an int"):
        tl.open_results(folder / "out", 5)
    with pytest.raises(UsageError, match="the format is given as an int"):
        tl.score(folder / "in.jsonl", format=5)
    with pytest.raises(UsageError, match="an int is no suite"):
        tl.Suite.from_dict(5)


NAMES = ["a", "b"]


@pytest.mark.parametrize("make", [iter, tuple, list, lambda names: (name for name in names)])
def test_calls_may_come_from_any_iterable(make):
    assert tl.metrics.f1(make(NAMES), make(NAMES)) == 1.0
    assert tl.metrics.accuracy_optimal(make(NAMES), make(NAMES)) == 1.0
    assert tl.metrics.strict(make(NAMES), make(NAMES), parallel=True) == 1.0
    assert [row["status"] for row in tl.metrics.pairs(make(NAMES), make(NAMES))] == ["exact", "exact"]
    assert tl.metrics.all_scores(make(NAMES), make(NAMES))["f1"] == 1.0


@pytest.mark.parametrize("wrong", ["ab", b"ab", None, 5, {"name": "a"}])
def test_what_is_no_list_of_calls_is_refused(wrong):
    for name in ("f1", "strict", "accuracy_graded", "pairs", "all_scores", "first_divergence"):
        with pytest.raises(UsageError, match="the actual calls are given as"):
            getattr(tl.metrics, name)(wrong, NAMES)
        with pytest.raises(UsageError, match="the expected calls are given as"):
            getattr(tl.metrics, name)(NAMES, wrong)
    if not isinstance(wrong, dict):
        with pytest.raises(TraceLensError, match="a call is given as"):
            tl.metrics.agreement({"name": "a"}, wrong)
