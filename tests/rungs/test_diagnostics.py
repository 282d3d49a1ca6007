from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rungs.frames import asked, call, calls_of, traces_of
from tracelens.kernels.loops import first_equal
from tracelens.kernels.reference import diagnostics as reference
from tracelens.kernels.reference.diagnostics import Step
from tracelens.rungs import diagnostics

STEPS = st.builds(
    Step,
    tool=st.sampled_from(["a", "b", None]),
    arguments=st.sampled_from(["{}", '{"x":1}', None]),
    status=st.sampled_from(["ok", "error", "denied", None]),
    error=st.sampled_from([None, None, "boom", "bang"]),
)


def diagnose(calls, traces, prices=None):
    return pl.DataFrame(diagnostics.diagnose(*asked(calls, traces), prices or {}))


def row(step):
    state = "object" if step.arguments is not None else "not_captured"
    return call(step.tool, step.arguments, step.status, error=step.error, arguments_state=state)


@given(st.lists(st.lists(STEPS, max_size=9), max_size=5))
def test_every_number_is_that_of_plain_python(traces):
    out = diagnose(calls_of(*[[row(step) for step in steps] for steps in traces]), traces_of(*[{}] * len(traces)))
    for name, define in {
        "n_errors": reference.errors,
        "n_repeated_errors": reference.repeated_errors,
        "n_recovered_errors": reference.recovered_errors,
        "n_identical_repeats": reference.identical_repeats,
        "longest_loop": reference.longest_loop,
        "oscillation": reference.oscillation,
    }.items():
        assert out[name].to_list() == [define(steps) for steps in traces], name
    assert out["n_denied"].to_list() == [sum(s.status == "denied" for s in steps) for steps in traces]
    assert out["n_unknown_status"].to_list() == [sum(s.status is None for s in steps) for steps in traces]


@given(st.lists(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 2), st.integers(0, 2)), max_size=40), max_size=4))
def test_first_equal_row_of_a_group(groups):
    rows = [item for group in groups for item in group]
    offsets = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    name = np.array([item[0] for item in rows], np.int64)
    high, low = (np.array([item[k] for item in rows], np.uint64) for k in (1, 2))
    out = np.empty(len(rows), np.int64)
    first_equal(offsets, name, high, low, out)
    for group, start in zip(groups, offsets, strict=False):
        for i, item in enumerate(group):
            expected = i if item[0] < 0 else group.index(item)
            assert out[start + i] == start + expected


def test_calls_that_were_not_recorded_are_null_and_no_calls_are_zero():
    out = diagnose(calls_of(), traces_of({"has_calls": False}, {}), prices={"a": 1.0})
    counts = [name for name in out.columns if name.startswith("n_")]
    assert out.select(*counts, "longest_loop", "oscillation").row(0) == (None,) * (len(counts) + 2)
    assert out.select("n_errors", "longest_loop", "tool_cost").row(1) == (0, 0, None)


def at(second):
    return datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC)


@pytest.mark.parametrize(
    ("trace", "steps", "expected"),
    [
        ({}, [call("a")], None),
        ({}, [], None),
        ({}, [call("a", started_at=at(1), duration_ms=500.0), call("a", started_at=at(4), duration_ms=1500.0)], 4500.0),
        ({"started_at": at(0)}, [call("a", started_at=at(4))], 4000.0),
        ({"started_at": at(0)}, [call("a")], None),
        ({}, [call("a", duration_ms=20.0), call("a", duration_ms=0.5)], 20.5),
        ({}, [call("a", duration_ms=20.0), call("a")], None),
        ({}, [call("a", started_at=at(1), duration_ms=9000.0), call("a", started_at=at(2), duration_ms=1.0)], 9000.0),
        ({}, [call("a", duration_ms=float("nan"))], 0.0),
    ],
)
def test_duration(trace, steps, expected):
    assert diagnose(calls_of(steps), traces_of(trace))["duration_ms"].to_list() == [expected]


def test_cost_at_the_suites_prices():
    steps = [call("a"), call("a", status="denied"), call("b"), call("free")]
    calls, traces = calls_of(steps, [call("free")]), traces_of({}, {})
    assert diagnose(calls, traces, prices={"a": 0.1, "b": 0.2})["tool_cost"].to_list() == [0.3, None]
    assert diagnose(calls, traces)["tool_cost"].to_list() == [None, None]


def test_sums_of_enormous_numbers_are_numbers_or_null():
    calls, traces = calls_of([call("a", duration_ms=1e14)] * 200, [call("b")]), traces_of({}, {})
    out = diagnose(calls, traces, prices={"a": 1e300, "b": 1e300})
    assert out["tool_cost"].to_list() == [pytest.approx(2e302), 1e300]
    assert out["duration_ms"].to_list() == [pytest.approx(2e16), None]
    assert diagnose(calls, traces, prices={"a": 1e308})["tool_cost"].to_list() == [None, None]
