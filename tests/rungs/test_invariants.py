from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rungs.frames import asked, call, calls_of, traces_of
from tracelens.rungs.invariants import check_invariants
from tracelens.suite import Suite


def rules(**given_rules):
    return Suite.from_dict({"name": "x", "invariants": given_rules}).invariants


def run(steps, trace=None, **given_rules):
    got = check_invariants(*asked(calls_of(steps), traces_of(trace or {})), rules(**given_rules))
    reasons = {"incomplete": got.incomplete[0], "not_captured": got.not_captured[0]}
    ok, reason = got.ok[0].as_py(), next((name for name, holds in reasons.items() if holds), None)
    return (
        [(r["code"].removeprefix("invariant."), r["call_index"]) for r in got.findings.iter_rows(named=True)],
        ok,
        reason,
    )


A, B, DENIED_B, FAILED_B = call("a"), call("b", status="ok"), call("b", status="denied"), call("b", status="error")
LATE = datetime(2026, 1, 1, 0, 3, tzinfo=UTC)
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("steps", "trace", "given_rules", "expected"),
    [
        ([A], {}, {}, ([], None, None)),
        ([A, B], {}, {"forbidden_tools": ["b*"]}, ([("forbidden_tools", 1)], False, None)),
        ([A], {}, {"forbidden_tools": ["B"]}, ([], True, None)),
        ([A, B], {}, {"allowed_tools": ["a", "x*"]}, ([("allowed_tools", 1)], False, None)),
        ([call(None)], {}, {"allowed_tools": ["a"]}, ([], True, None)),
        ([A, A, A], {}, {"max_calls": 1}, ([("max_calls", 1)], False, None)),
        ([], {}, {"max_calls": 0}, ([], True, None)),
        ([A], {}, {"max_calls": 0}, ([("max_calls", 0)], False, None)),
        ([A, B, A], {}, {"max_calls_by_tool": {"a": 1, "b": 1}}, ([("max_calls_by_tool", 2)], False, None)),
        ([A, B, A, A], {}, {"max_identical": 2}, ([("max_identical", 3)], False, None)),
        ([A, call("a", '{"x":1}')], {}, {"max_identical": 1}, ([], True, None)),
        ([FAILED_B, FAILED_B], {}, {"max_errors": 1}, ([("max_errors", 1)], False, None)),
        ([A, A], {}, {"max_errors": 0}, ([], True, None)),
        ([call("a", error="boom")], {}, {"max_errors": 0}, ([("max_errors", 0)], False, None)),
        ([B, A], {}, {"after": [["a", "b"]]}, ([], True, None)),
        ([call("b"), A], {}, {"after": [["a", "b"]]}, ([], True, None)),
        ([A, B], {}, {"after": [["a", "b"]]}, ([("after", 0)], False, None)),
        ([DENIED_B, A, FAILED_B, A, B, A], {}, {"after": [["a", "b"]]}, ([("after", 1), ("after", 3)], False, None)),
        ([B], {}, {"after": [["a", "b"]]}, ([], True, None)),
        ([], {"cost": 0.6}, {"max_cost": 0.5}, ([("max_cost", None)], False, None)),
        ([], {"cost": 0.5}, {"max_cost": 0.5}, ([], True, None)),
        ([], {}, {"max_cost": 0.5}, ([], None, "not_captured")),
        ([], {"input_tokens": 5, "output_tokens": 6}, {"max_tokens": 10}, ([("max_tokens", None)], False, None)),
        ([], {"input_tokens": 2**62, "output_tokens": 2**62}, {"max_tokens": 10}, ([("max_tokens", None)], False, None)),
        ([], {"input_tokens": 5}, {"max_tokens": 10}, ([], None, "not_captured")),
        ([], {"input_tokens": 11}, {"max_tokens": 10}, ([("max_tokens", None)], False, None)),
        ([call("a", started_at=LATE)], {"started_at": START}, {"max_seconds": 120}, ([("max_seconds", None)], False, None)),
        ([call("a", started_at=LATE)], {"started_at": START}, {"max_seconds": 180}, ([], True, None)),
        ([A], {}, {"max_seconds": 120}, ([], None, "not_captured")),
    ],
)  # fmt: skip
def test_each_invariant(steps, trace, given_rules, expected):
    assert run(steps, trace, **given_rules) == expected


@pytest.mark.parametrize("trace", [{"complete": False}, {"has_calls": False}])
@pytest.mark.parametrize(
    "given_rules",
    [{"forbidden_tools": ["wire"]}, {"allowed_tools": ["b"]}, {"max_calls": 3}, {"max_errors": 1}, {"max_identical": 1},
     {"after": [["a", "b"]]}, {"max_calls_by_tool": {"a": 2}}],
)  # fmt: skip
def test_an_incomplete_trace_cannot_pass(trace, given_rules):
    assert run([], trace, **given_rules) == ([], None, "incomplete")


def test_a_violation_in_an_incomplete_trace_stands():
    assert run([A], {"complete": False}, forbidden_tools=["a"], max_calls=5) == ([("forbidden_tools", 0)], False, None)
    # but that something did not happen before is not seen there
    assert run([A], {"complete": False}, after=[["a", "b"]]) == ([], None, "incomplete")


def test_a_denied_call_is_a_violation_without_effect():
    got = check_invariants(*asked(calls_of([DENIED_B, FAILED_B, B]), traces_of({})), rules(forbidden_tools=["b"]))
    assert got.findings["effect"].to_list() == [False, True, True]
    assert got.findings["severity"].unique().to_list() == ["error"]


def test_unknown_arguments_may_be_identical():
    hidden = call("a", None, arguments_state="not_captured")
    assert run([hidden, hidden], max_identical=1) == ([], None, "not_captured")
    assert run([hidden], max_identical=1) == ([], True, None)
    assert run([A, A, hidden], max_identical=1)[1] is False


CALL = st.builds(
    call,
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["{}", "[]"]),
    st.sampled_from(["ok", "error", "denied", None]),
)


@given(st.lists(st.lists(CALL, max_size=6), min_size=1, max_size=4), st.integers(0, 3))
def test_traces_do_not_see_each_other(traces, most):
    made = rules(max_calls=most, max_identical=1, max_errors=most, after=[["a", "b"]], max_calls_by_tool={"c": most})
    together = check_invariants(*asked(calls_of(*traces), traces_of(*[{}] * len(traces))), made)
    for number, steps in enumerate(traces):
        alone = check_invariants(*asked(calls_of(steps), traces_of({})), made)
        mine = together.findings.filter(trace=number).drop("trace")
        assert mine.equals(alone.findings.drop("trace"))
        assert together.ok[number].as_py() is alone.ok[0].as_py()
        assert in_plain_python(steps, most) == sorted(alone.findings.select("code", "call_index").rows())


def in_plain_python(steps, most):
    found = []
    for i, step in enumerate(steps):
        before = steps[:i]
        if len(before) == most:
            found.append(("invariant.max_calls", i))
        if sum((b["tool"], b["arguments"]) == (step["tool"], step["arguments"]) for b in before) == 1:
            found.append(("invariant.max_identical", i))
        if step["status"] == "error" and sum(b["status"] == "error" for b in before) == most:
            found.append(("invariant.max_errors", i))
        if step["tool"] == "c" and sum(b["tool"] == "c" for b in before) == most:
            found.append(("invariant.max_calls_by_tool", i))
        if step["tool"] == "a" and not any(b["tool"] == "b" and b["status"] in {"ok", None} for b in before):
            found.append(("invariant.after", i))
    return sorted(found)


def test_any_object_with_the_keys_will_do():
    loose = SimpleNamespace(**dict.fromkeys(("max_calls", "max_identical", "max_errors", "max_cost", "max_tokens", "max_seconds")),
                            forbidden_tools=["a"], allowed_tools=["*"], max_calls_by_tool={}, after=[])  # fmt: skip
    assert check_invariants(*asked(calls_of([A]), traces_of({})), loose).findings.height == 1
