"""The wheel, installed alone in a fresh environment, carries its SQL and runs the demo."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel


def run(*command, cwd, **environment):
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, root, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def home(root, wheel, tmp_path_factory):
    """A fresh environment with the wheel; its dependencies are borrowed from this one, so no network is needed."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel, cwd=folder)
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    # A path in a .pth file does not pull in the .pth files over there, so an editable install stays behind.
    (own / "borrowed.pth").write_text("\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))
    borrow_kernels(root / "tracelens", own / "tracelens")
    return folder


def borrow_kernels(checkout, installed):
    """Take over kernels that this environment has compiled: the sources are equal, and compiling takes a minute."""
    for source in checkout.rglob("*.py"):
        twin = installed / source.relative_to(checkout)
        assert twin.read_bytes() == source.read_bytes()
        times = source.stat()
        os.utime(twin, ns=(times.st_atime_ns, times.st_mtime_ns))
    for compiled in checkout.rglob("*.nb[ci]"):
        twin = installed / compiled.relative_to(checkout)
        twin.parent.mkdir(exist_ok=True)
        shutil.copyfile(compiled, twin)


def test_the_wheel_holds_every_sql_file_and_the_type_marker(root, wheel):
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"tracelens/{path.relative_to(root)}" for path in (root / "sql").rglob("*.sql")}
    assert wanted
    assert wanted <= held
    assert "tracelens/py.typed" in held
    assert not [name for name in held if name.startswith(("tests/", "benchmarks/", "sql/")) or "__pycache__" in name]


def test_the_installed_package_is_the_one_from_the_wheel(home):
    code = (
        "import tracelens; from tracelens.store.sqlfiles import sql_root; print(tracelens.__file__); print(sql_root())"
    )
    package, sql = run(home / "bin" / "python", "-c", code, cwd=home).split()
    assert Path(package).is_relative_to(home)
    assert Path(sql) == Path(package).parent / "sql"


def test_the_demo_runs_from_the_wheel(home):
    text = run(home / "bin" / "tracelens", "demo", cwd=home, NO_COLOR="1")
    assert "triage" in text
    assert "'seat' was unexpected" in text
