"""Runs every block of README.md and writes beneath it what really came out.

    python -m benchmarks.readme            # rewrite the outputs
    python -m benchmarks.readme --check    # only say whether they are up to date

The page is a story in one folder: files that it shows are written there, commands and Python run there, in order. How
a fenced block is meant is said by the words behind its three ticks:

- ``console``: lines that start with ``$ `` are commands; what follows each is its output.
- ``python``: code; all such blocks share their names. A ``text`` block right below it is what it printed.
- any language with ``file=NAME``: a file of that name.
- ``sh setup``: commands that make an environment; a test runs them in a copy of the checkout.
- ``diff``: lines that stand in the file named above them; a test looks for them.

Between ``<!-- finding:start -->`` and ``<!-- finding:end -->`` stands what the notebook about tau-bench found, between
``<!-- views:start -->`` and ``<!-- views:end -->`` what the views of sql/ are.
"""

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tracelens.cli import program
from tracelens.store.objects import documented
from tracelens.store.sqlfiles import sql_files
from tracelens.tables import STORED_TABLES

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
NOTEBOOK = ROOT / "notebooks" / "tau_bench.ipynb"
FINDING = ("<!-- finding:start -->\n", "<!-- finding:end -->")
VIEWS = ("<!-- views:start -->\n", "<!-- views:end -->")
SHELL = {"NO_COLOR": "1", "COLUMNS": "100"}
"""Variables of the shell in which the page's commands run."""

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        words: What stands behind its ticks.
        body: Its lines, each with its end.
        start: Where the body begins in the page.
        end: Where it ends.
    """

    words: tuple[str, ...]
    body: str
    start: int
    end: int

    @property
    def kind(self) -> str:
        """The first word: what language it is in."""
        return self.words[0] if self.words else ""

    @property
    def file(self) -> str | None:
        """The name of the file that it shows."""
        return next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), None)


def blocks(page: str) -> Iterator[Block]:
    r"""The fenced blocks of a page, in order.

    Example:
        >>> [(block.kind, block.file, block.body) for block in blocks("a\n```json file=x.json\n{}\n```\n")]
        [('json', 'x.json', '{}\n')]
    """
    for found in _FENCE.finditer(page):
        yield Block(tuple(found["info"].split()), found["body"], found.start("body"), found.end("body"))


def commands(body: str) -> list[str]:
    r"""The commands of a ``console`` block.

    Example:
        >>> commands("$ one\nout\n$ two \\\n>   more\n")
        ['one', 'two \\\n  more']
    """
    found = re.findall(r"^\$ (.*(?:\n> .*)*)", body, re.MULTILINE)
    return [command.replace("\n> ", "\n") for command in found]


def shell(command: str, folder: Path) -> str:
    """What a command prints, to standard output and to standard error; it may end with any exit code.

    Args:
        command: The command, for the shell.
        folder: Where to run it. Programs beside this Python are found first.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    variables = {**os.environ, **SHELL, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=variables,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout


def plain(command: str) -> list[str] | None:
    """The arguments of a command that is `tracelens` and nothing else, or None: it needs a shell.

    Example:
        >>> plain("tracelens sql results 'SELECT 1 > 0'"), plain("tracelens demo | head")
        (['sql', 'results', 'SELECT 1 > 0'], None)
    """
    parts = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    if parts[0] != "tracelens" or set("$*`\n") & set(command) or any(set(part) <= set("();<>|&") for part in parts):
        return None
    return shlex.split(command)[1:]


def here(arguments: list[str], folder: Path) -> str:
    """What our program prints, run in this process: most of a short command's time goes into starting one.

    Args:
        arguments: Its command line.
        folder: Where to run it.
    """
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    before = dict(os.environ)
    os.environ |= SHELL
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            program.main(arguments)
    finally:
        os.environ.clear()
        os.environ.update(before)
    return printed.buffer.getvalue().decode()


def _console(body: str, folder: Path) -> str:
    """The block with the outputs that its commands have now."""
    parts = []
    for command in commands(body):
        shown, arguments = command.replace("\n", "\n> "), plain(command)
        parts.append(f"$ {shown}\n" + (shell(command, folder) if arguments is None else here(arguments, folder)))
    return "".join(parts)


def _python(body: str, folder: Path, names: dict[str, object]) -> str:
    """What a block of Python prints."""
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec(compile(body, str(README), "exec"), names)  # noqa: S102  our own page
    return printed.getvalue()


def run(page: str, folder: Path) -> str:
    """The page with the outputs that its blocks have now.

    Args:
        page: Markdown.
        folder: An empty folder, in which the story happens.
    """
    (folder / "notebooks").symlink_to(ROOT / "notebooks")
    names: dict[str, object] = {}
    parts, at, printed = [], 0, ""
    for block in blocks(page):
        new = block.body
        if block.file is not None:
            (folder / block.file).write_text(block.body, encoding="utf-8")
        elif block.kind == "console":
            new = _console(block.body, folder)
        elif block.kind == "python":
            printed = _python(block.body, folder, names)
        elif block.kind == "text":
            new, printed = printed, ""
        parts += [page[at : block.start], "\n".join(line.rstrip() for line in new.split("\n"))]
        at = block.end
    return "".join([*parts, page[at:]])


def finding() -> str:
    """What the notebook about tau-bench says last."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    texts = [
        "".join(output["data"]["text/markdown"])
        for cell in notebook["cells"]
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    ]
    return textwrap.fill(texts[-1].strip(), 120, break_long_words=False, break_on_hyphens=False) + "\n"


def renew(page: str, folder: Path) -> str:
    """The page with everything that is generated made anew, but for the table of the benchmarks."""
    for (start, end), text in ((FINDING, finding()), (VIEWS, views())):
        head, rest = page.split(start, 1)
        page = f"{head}{start}{text}{end}{rest.split(end, 1)[1]}"
    return run(page, folder)


def views() -> str:
    """The table of views and of macros that give a table, from the comments of their files.

    Example:
        >>> "| `pass_at_k(k)` | One row per run and case with a trial that was scored" in views()
        True
    """
    lines = ["| view or macro | what a row is |", "|---|---|"]
    for kind in ("views", "macros"):
        for name, text in sql_files(kind):
            of = documented(name, text)
            if of.gives_table and name not in STORED_TABLES:
                sentences = re.split(r"(?<=\.) (?=[A-Z(])", of.comment)
                said = " ".join(sentences[: 2 if len(sentences[0]) < 60 else 1]).removesuffix(".")
                lines.append(f"| `{name}{of.parameters}` | {said} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or check it.

    Args:
        arguments: The command line; None takes the process's own.

    Returns:
        0, or 1 if the page was to be checked and is out of date.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readme", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    chosen = parser.parse_args(arguments)
    page = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        new = renew(page, Path(folder))
    if not chosen.check:
        README.write_text(new, encoding="utf-8")
    return int(chosen.check and new != page)


if __name__ == "__main__":
    sys.exit(main())
