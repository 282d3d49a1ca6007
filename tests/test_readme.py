"""Everything the README shows is what really happens: each command and each block of Python is run here."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from benchmarks import readme, table
from tracelens.cli import program

PAGE = readme.README.read_text(encoding="utf-8")
BLOCKS = list(readme.blocks(PAGE))
SETUP = [block.body.strip() for block in BLOCKS if block.words == ("sh", "setup")]
SHOWN = [block for block in BLOCKS if block.kind == "diff"]


def test_what_the_page_shows_comes_out(tmp_path):
    """Commands, Python, and the finding of the notebook; `python -m benchmarks.readme` makes them anew."""
    assert readme.renew(PAGE, tmp_path).splitlines() == PAGE.splitlines()


def test_every_block_is_of_a_kind_that_is_checked():
    for before, block in zip([None, *BLOCKS], BLOCKS, strict=False):
        assert block.file or block.kind in {"console", "python", "text", "diff"} or block.words == ("sh", "setup")
        assert block.kind != "text" or before.kind == "python"
    assert {"console", "python", "text", "diff", "sh"} <= {block.kind for block in BLOCKS}


def test_the_example_leads():
    first = next(block for block in BLOCKS if block.kind == "console")
    assert first is BLOCKS[0]
    assert readme.commands(first.body) == ["tracelens demo"]
    assert "'seat' was unexpected" in first.body


@pytest.mark.parametrize("name", [name for name, *_ in program._COMMANDS])
def test_the_table_tells_of_every_command(name):
    assert f"`tracelens {name}`" in PAGE[PAGE.index("## Where to go") : PAGE.index("## The rungs")]


def test_links_to_sections_lead_there():
    titles = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors


def test_links_lead_somewhere(root):
    links = re.findall(r"\]\(([^)#:]+)\)", PAGE)
    assert links
    assert [link for link in links if not (root / link).exists()] == []
    for found in re.findall(r"`((?:tracelens|sql|tests|benchmarks|notebooks)/[\w/.]+)`", PAGE):
        assert (root / found).exists(), found


def test_the_table_of_the_benchmarks_has_its_place():
    assert PAGE.index(table.START) < PAGE.index(table.END)


def test_the_name_on_the_index_is_never_told():
    assert not re.search(r"pip install (-\S+ )*tracelens", PAGE)


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block.body.split("\n", 1)[0][:40])
def test_recipes_show_lines_that_are_there(root, block):
    file = re.findall(r"^`([^`]+)`$", PAGE[: block.start], re.MULTILINE)[-1]
    there = (root / file).read_text(encoding="utf-8").splitlines()
    assert [line for line in block.body.splitlines() if line[0] != "+" or line[1:] not in there] == []


def checkout(root, folder):
    """A copy of what is under version control, with the kernels that are compiled already."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    compiled = [str(path.relative_to(root)) for path in (root / "tracelens").rglob("*.nb[ci]")]
    for name in [*filter(None, listed.stdout.split("\0")), *compiled]:
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)
    return folder


@pytest.mark.wheel
def test_the_two_commands_work_in_a_fresh_copy(root, tmp_path):
    """As they stand, but for what needs a network: pip finds the dependencies in this environment.

    The second command runs one file of the tests; all of them would run this one again.
    """
    copy = checkout(root, tmp_path / "checkout")
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    variables = os.environ | {
        "PYTHONPATH": os.pathsep.join(borrowed), "NO_COLOR": "1", "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTEST_ADDOPTS": "tests/test_tables.py",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    variables.pop("PYTEST_XDIST_WORKER", None)
    printed = []
    for command in SETUP:
        done = subprocess.run(command, shell=True, cwd=copy, env=variables, capture_output=True, text=True, check=False)  # noqa: S602  our own page
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        printed.append(done.stdout)
    assert "'seat' was unexpected" in printed[0]
    assert " passed" in printed[1]


def test_the_checks_install_what_the_second_command_installs(root):
    """`.ci/run` and the README make the same environment, and run the same tests."""
    checks = (root / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"install .*-e '\.\[test(,state)?\]'", checks)
    assert "-m pytest -q" in checks
    assert "-e '.[test]'" in SETUP[1]
    assert "-m pytest -q" in SETUP[1]
