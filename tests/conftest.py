"""Fixtures every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

# The first example of a kernel's test compiles the kernel, so time is no measure of an example. The checks before a
# merge try the same examples every time; at a desk each run tries others.
settings.register_profile(
    "tracelens", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("tracelens")


def pytest_configure(config: pytest.Config) -> None:
    """Drop compiled kernels that are older than some kernel's source.

    Numba keeps compiled code by the file a function stands in, so a change in a function that others call would not
    reach them.
    """
    if hasattr(config, "workerinput"):
        return
    package = ROOT / "tracelens"
    newest = max(path.stat().st_mtime for path in (package / "kernels").glob("*.py"))
    for compiled in package.rglob("__pycache__/*.nb[ic]"):
        if compiled.stat().st_mtime < newest:
            compiled.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of conformance data beside the checkout; a test that needs it is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the conformance data in {SHARED.name}/ beside the checkout, which is not there")
    return SHARED
