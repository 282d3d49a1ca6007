"""Kernels are compiled as wholes of parts, and those of a first use ahead of it."""

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from tracelens.cli import main
from tracelens.kernels import ahead, jit
from tracelens.kernels.first import FIRST, TUPLES


@jit.lean
def add(a, b):
    return a + b


@jit.kernel
def sums(values):
    out = np.empty(len(values), np.int64)
    total = 0
    for i in range(len(values)):
        total = add(total, values[i])
        out[i] = total
    return out


def test_a_whole_takes_its_parts_in_and_runs_where_nothing_can_be_cached(monkeypatch):
    def nowhere(_self):
        raise RuntimeError("no locator available")

    monkeypatch.setattr(Dispatcher, "enable_caching", nowhere)
    assert sums(np.array([1, 2, 3])).tolist() == [1, 3, 6]
    assert sums.is_cached(())


def test_the_kernels_of_a_first_use_are_those_of_the_demo(monkeypatch, capsys):
    used, call = {}, jit.Kernel.__call__

    def noted(self, *args):
        name = f"{self.__module__.removeprefix(ahead.PACKAGE + '.')}.{self.__name__}"
        used.setdefault(name, set()).add(tuple(numba.typeof(each) for each in args))
        return call(self, *args)

    monkeypatch.setattr(jit.Kernel, "__call__", noted)
    assert main(["demo"]) == 0
    assert "search_flights" in capsys.readouterr().out
    assert set(used) - set(FIRST) == set()
    assert {name for name in used if ahead.types_of(name) not in used[name]} == set()
    assert set(TUPLES) >= {word for words in FIRST.values() for word in words.split() if "." in word}
    assert ahead.missing() == []


ECHO = "import sys; [print(line, end='', flush=True) for line in sys.stdin] #{path}"


@pytest.mark.parametrize(("program", "done"), [(ECHO, [1, 2, 3]), ("raise SystemExit(1) #{path}", [])])
def test_several_processes_share_the_work_and_may_fail(monkeypatch, program, done):
    told = []
    monkeypatch.setattr(ahead, "_PROGRAM", program)
    ahead.compile_ahead(["a", "b", "c"], told.append)
    assert told == done
