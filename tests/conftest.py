"""Fixtures every test may use."""

from pathlib import Path

import pytest
from hypothesis import settings

# No time limit per example: the first one of a test compiles kernels, and machines are shared.
settings.register_profile("tracelens", deadline=None)
settings.load_profile("tracelens")

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


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
