import io
import sys
from types import SimpleNamespace

import pytest

from tracelens.kernels import ahead
from tracelens.results import progress
from tracelens.results.progress import describe, progress_line


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("show", "stream", "shown"), [("auto", io.StringIO, False), ("auto", Terminal, True)])
def test_auto_shows_a_line_on_terminals_only(monkeypatch, show, stream, shown):
    monkeypatch.setattr(sys, "stderr", stream())
    with progress_line(show) as report:
        assert (report is not None) is shown


def test_the_line_follows_the_counts(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_line(show=True) as report:
        report(SimpleNamespace(n_traces=12_000, n_rejects=0))
        sys.stderr.flush()
    assert "12,000 traces" in sys.stderr.getvalue()


def test_nothing_is_shown_when_told_so(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_line(show=False) as report:
        assert report is None
    assert sys.stderr.getvalue() == ""


def test_no_rate_before_the_first_moment():
    assert describe(SimpleNamespace(n_traces=5, n_rejects=0), 0.0) == "5 traces"


def test_compiling_is_shown_and_asked_for_once(monkeypatch):
    asked = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "_looked", [])
    monkeypatch.setattr(ahead, "missing", lambda: asked.append(1) or ["a", "b"])
    monkeypatch.setattr(ahead, "compile_ahead", lambda names, done: done(len(names)))
    progress.compiled()
    progress.compiled()
    assert asked == [1]
    assert "compiling, once after installing: 2 of 2 kernels" in sys.stderr.getvalue()
