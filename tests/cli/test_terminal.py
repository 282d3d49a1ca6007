import os
import pty
import subprocess
import sys

import pytest

from tests.store.fake_run import fake_run

MAIN = "import sys; from tracelens.cli import main; sys.exit(main())"


def in_terminal(*tokens, **environment):
    """What a command prints to a terminal."""
    ours, theirs = pty.openpty()
    variables = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR"}}
    child = subprocess.Popen(
        [sys.executable, "-c", MAIN, *map(str, tokens)], stdout=theirs, env=variables | {"TERM": "xterm"} | environment
    )
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # the terminal is closed at its other end
        pass
    os.close(ours)
    child.wait()
    return b"".join(parts).decode()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fake_run(folder)
    return folder


def test_colours_on_a_terminal_unless_no_color(results):
    assert "\x1b[31m" in in_terminal("explain", results, "t0")
    plain = in_terminal("explain", results, "t0", NO_COLOR="1")
    assert "\x1b[3" not in plain
    assert "search_flights" in plain


def test_no_colours_in_a_pipe(results):
    out = subprocess.check_output([sys.executable, "-c", MAIN, "explain", results, "t0"], text=True)
    assert "\x1b" not in out


def test_a_reader_that_leaves_early_is_no_error(results):
    query = "SELECT range FROM range(200000)"
    command = [sys.executable, "-c", MAIN, "sql", str(results), query, "--output", "csv"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.read(10)
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait() == 0
