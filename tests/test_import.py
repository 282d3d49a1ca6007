"""Importing the package, and using what has nothing to draw, loads nothing heavy."""

import subprocess
import sys

import pytest

FACES = ("rich", "altair", "jinja2", "vl_convert", "cyclopts")
ENGINE = ("pandas", "numba", "duckdb", "polars", "pyarrow", "numpy", "jsonschema", "pydantic")


def loaded_after(code, names):
    probe = f"import sys\n{code}\nprint([name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_import_loads_neither_engine_nor_faces():
    assert loaded_after("import tracelens", FACES + ENGINE) == "[]"


@pytest.mark.parametrize("code", ["tracelens.Suite.default()", "tracelens.score", "tracelens.connect"])
def test_public_verbs_load_no_face(code):
    assert loaded_after(f"import tracelens; {code}", FACES) == "[]"
