"""The pytest plugin, in a pytest of its own inside this one."""

import subprocess
import sys
import textwrap
from importlib.metadata import entry_points

import pytest

from tracelens.errors import InputError, UsageError
from tracelens.pytest_plugin import assert_trace

pytest_plugins = ["pytester"]

# where the package is installed, its entry point has loaded the plugin already
PLUGIN = [] if entry_points(group="pytest11", name="tracelens") else ["-p", "tracelens.pytest_plugin"]

SUITE = """
[tools.book.schema]
type = "object"
properties.id = {type = "string"}
additionalProperties = false
"""

TESTS = """
import pytest

@pytest.mark.tracelens(suite="suite.toml")
def test_good(tracelens):
    tracelens.assert_trace([("book", {"id": "a"})], [("book", {"id": "A "})])

@pytest.mark.tracelens(suite="suite.toml", recall=1.0)
class TestMarked:
    def test_bad(self, tracelens):
        tracelens.assert_trace([("book", {"id": "a", "seat": 1})], [("book", {"id": "b"})])

    @pytest.mark.tracelens(accuracy_optimal=2)
    def test_low(self, tracelens):
        assert tracelens.least == {"recall": 1.0, "accuracy_optimal": 2}
        tracelens.assert_trace(["book"], ["book"])
"""


@pytest.fixture(autouse=True, scope="module")
def _loaded():
    """A pytest inside this one forgets the modules that it loads, and some can be loaded only once."""
    assert_trace(["book"], ["book"])


@pytest.fixture
def pages(pytester):
    pytester.makefile(".toml", suite=SUITE)
    pytester.makepyfile(test_agent=TESTS)
    return pytester


def test_fixture_marker_and_message(pages):
    result = pages.runpytest_inprocess(*PLUGIN, "--strict-markers", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines([
        "E*the trace does not pass: triage",
        "E* • book: Additional properties are not allowed ('seat' was unexpected)",
        'E* • call 0: book.id is "a", expected "b"',
        "E*schema.additionalProperties",
        'E*≠ id * "a"  expected "b"',
        "E*the trace does not pass: scores too low",
        "E* • accuracy_optimal is 1, at least 2 was asked for",
    ])  # fmt: skip
    assert "pytest_plugin.py" not in result.stdout.str()


def test_it_works_with_xdist(pytester, root, monkeypatch):
    """Workers get the fixture with what the marker says; nothing is scored, so nothing heavy is loaded."""
    monkeypatch.setenv("PYTHONPATH", str(root))
    pytester.makepyfile("""
        import sys, pytest

        @pytest.mark.parametrize("least", [0.5, 1])
        @pytest.mark.tracelens({"name": "s"}, recall=0.25)
        def test_least(tracelens, least):
            assert (tracelens.suite, tracelens.least) == ({"name": "s"}, {"recall": 0.25})
            assert "polars" not in sys.modules
            assert least < 1
    """)
    result = pytester.runpytest_subprocess(*PLUGIN, "-n", "1", "-p", "no:cacheprovider", "--strict-markers")
    result.assert_outcomes(passed=1, failed=1)


def test_the_setting(pytester):
    pytester.makefile(".toml", suite='[invariants]\nforbidden_tools = ["rm"]\n')
    pytester.makeini("[pytest]\ntracelens_suite = suite.toml\n")
    pytester.makepyfile("def test_a(tracelens):\n    tracelens.assert_trace(['rm'])\n")
    result = pytester.runpytest_inprocess(*PLUGIN, "-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*rm: a forbidden tool"])


def test_unused_it_loads_nothing():
    code = """
        import sys, tracelens.pytest_plugin
        heavy = {"polars", "numpy", "numba", "duckdb", "pyarrow", "pydantic", "rich"} & set(sys.modules)
        print(sorted(heavy))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n")


def test_forms_of_calls():
    chat = {"id": "x", "function": {"name": "book", "arguments": '{"id": 1}'}}
    assert_trace([chat], [{"name": "book", "arguments": {"id": 1.0}}])
    assert_trace({"tool_calls": [], "trace_id": "mine"}, [], f1=1.0)
    assert_trace((name for name in ["a", "b"]), ["a", ("b", {})])
    with pytest.raises(AssertionError, match=r"f1 is null \(no_reference\), at least 1 was asked for"):
        assert_trace(["a"], f1=1)
    with pytest.raises(UsageError, match="no score 'f2'"):
        assert_trace(["a"], f2=1)
    for wrong in ("abc", 5, [5], [("a", {}, 1)]):
        with pytest.raises(UsageError, match="given as"):
            assert_trace(wrong)
    for wrong in ({"at": object()}, {"x": float("nan")}):
        with pytest.raises(UsageError, match="is no JSON"):
            assert_trace([("a", wrong)])
    with pytest.raises(UsageError, match="least f1 is given as nan"):
        assert_trace(["a"], ["a"], f1=float("nan"))
    with pytest.raises(InputError, match="lone surrogate"):
        assert_trace([("a", {"x": "\ud800"})], [("a", {"x": "b"})])
