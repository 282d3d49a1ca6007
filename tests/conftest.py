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


LONG = ("test_readme.py", "test_wheel.py", "test_notebooks.py", "test_run.py")
"""Files whose tests start processes of their own and take longest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, so that no worker starts one when the others are done."""
    items.sort(key=lambda item: item.path.name not in LONG)
