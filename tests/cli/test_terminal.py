import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from tests.store.fake_run import fake_run

MAIN = "import sys; from tracelens.cli import main; sys.exit(main())"


def in_terminal(*tokens, columns=100, **environment):
    """What a command prints to a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    variables = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
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


def without_styles(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


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


@pytest.mark.parametrize("columns", [60, 80])
def test_pages_fit_a_narrow_terminal(results, columns):
    page = without_styles(in_terminal("explain", results, "t0", "--lesson", columns=columns)).splitlines()
    assert max(map(len, page)) <= columns
    wide = without_styles(in_terminal("explain", results, "t0", "--lesson"))
    assert " ".join(" ".join(page).split()) == " ".join(wide.split())


def test_tables_wider_than_the_terminal_become_blocks(results):
    query = "SELECT 1.5 AS a, ['x'] AS list, NULL AS nothing, repeat('y', 70) AS long"
    wide, narrow = (without_styles(in_terminal("sql", results, query, columns=columns)) for columns in (200, 60))
    assert wide.split()[:4] == ["a", "list", "nothing", "long"]
    assert narrow.splitlines()[:4] == ["── 1 ", "a        1.5", 'list     ["x"]', "nothing  –"]


def test_summary_and_hint_stay_in_order_in_one_file(results, tmp_path):
    command = [sys.executable, "-c", MAIN, "prune", str(results), "--keep", "5"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    assert done.stdout == "0 runs removed, 1 left\n"
    command = [sys.executable, "-c", MAIN, "sql", str(results), "SELECT range FROM range(50)"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    assert done.stdout.splitlines()[-1].startswith("10 more rows")


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


def test_the_prompt_completes_names_and_keeps_what_was_typed(results, tmp_path):
    ours, theirs = pty.openpty()
    state = {"XDG_STATE_HOME": str(tmp_path), "TERM": "xterm", "NO_COLOR": "1"}
    child = subprocess.Popen(
        [sys.executable, "-c", MAIN, "sql", str(results)], stdin=theirs, stdout=theirs, stderr=theirs,
        env=os.environ | state, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    for typed in (
        b"",
        b"SELECT\nnonsense FROM runs;\n",
        b"SELECT n_trac\t AS n FROM funn\t WHERE step = 'judge';\n",
        b"\x04",
    ):
        os.write(ours, typed)
        want = seen.count(b"tracelens> ") + 1
        while seen.count(b"tracelens> ") < want and (part := _read(ours)):
            seen += part
    assert child.wait() == 0
    os.close(ours)
    shown = without_styles(seen.decode())
    assert "Binder Error" in shown
    assert "SELECT n_traces AS n FROM funnel" in shown
    assert "n\r\n─\r\n0\r\n" in shown
    kept = (tmp_path / "tracelens" / "sql_history").read_text()
    assert "SELECT n_traces AS n FROM funnel WHERE step = 'judge';" in kept


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # it is closed at its other end
        return b""
