"""What a batch costs in steps does not grow with its traces. Steps are counted, not timed, so a slow machine says the same."""

import sys
import threading

import pytest

from benchmarks import workloads
from tracelens.run.score import score_run
from tracelens.suite import Suite

MOST = 60_000
"""Calls of Python and built-in functions in a run of one batch; there were 43,000 when this was written."""


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """Function calls of a run over one batch, by number of traces."""
    folder = tmp_path_factory.mktemp("guard")

    def counted(traces):
        workload, n = workloads.write("mixed", folder / str(traces), traces), 0

        def seen(_frame, event, _arg):
            nonlocal n
            n += event in ("call", "c_call")

        suite = Suite.load(workload.suite)
        score_run(workload.lines, suite, out=folder / f"before{traces}", threads=1)
        threading.setprofile(seen)
        sys.setprofile(seen)
        try:
            score_run(workload.lines, suite, out=folder / f"out{traces}", threads=1)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return n

    return {traces: counted(traces) for traces in (250, 2000)}


def test_no_step_is_taken_for_each_trace(steps):
    assert steps[2000] < 1.05 * steps[250]


def test_a_batch_takes_no_more_steps_than_it_did(steps):
    assert 1_000 < steps[250] < MOST
