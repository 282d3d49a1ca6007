"""Kernels give back the memory of their arrays, and none is older than what it is made of."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tracelens.kernels import link
from tracelens.kernels.jit import kernel

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@kernel
def _made(n):
    return np.ones(n)


@kernel
def _used(n):
    first = _made(n)
    second = first + 1.0
    return second.sum()


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read from /proc")
@pytest.mark.parametrize("compiled", [_made, _used], ids=["given to Python", "dropped within"])
def test_arrays_are_given_back(compiled):
    size = 1 << 20
    compiled(size)
    before = resident()
    for _ in range(30):
        compiled(size)
    assert resident() - before < 10 * 8 * size


def test_code_made_of_another_version_of_any_kernel_is_not_taken(tmp_path, monkeypatch):
    file = tmp_path / "kernels" / "link.py"
    file.parent.mkdir()
    file.write_text("")
    other = file.with_name("other.py")
    other.write_text("a = 1\n")
    monkeypatch.setattr(link, "__file__", str(file))
    stamps = [link._sources.__wrapped__()]
    other.write_text("a = 10\n")
    stamps.append(link._sources.__wrapped__())
    assert stamps[0] != stamps[1] == link._sources.__wrapped__()
    assert link.whole(_made.py_func, {})._cache._cache_file._source_stamp == link._sources()
