import itertools
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rungs.frames import call, calls_of, facts_of, traces_of
from tracelens.kernels.reference.normal import Rules
from tracelens.rungs import milestones
from tracelens.rungs.milestones import MilestonePlan
from tracelens.suite import Suite
from tracelens.suite.validate import milestones_from


def read(text):
    return milestones_from(text)[0]


def plan(suite=None, cases=None, **more):
    rows = [(case, None if text is None else json.dumps(text)) for case, text in (cases or {}).items()]
    frame = pl.DataFrame(rows, schema={"case_id": pl.String, "milestones": pl.String}, orient="row")
    own = Suite.from_dict({"name": "x", "milestones": suite}).milestones if suite is not None else None
    return MilestonePlan(own, frame.to_arrow(), read, **more)


def check_milestones(calls, traces, made):
    got = milestones.check_milestones(facts_of(calls, traces.height), calls.to_arrow(), traces.to_arrow(), made)
    gaps = {"incomplete": got.incomplete, "arguments_not_captured": got.not_captured}
    reasons = [next((name for name, rows in gaps.items() if rows[row]), None) for row in range(traces.height)]
    columns = {"milestones_met": got.met, "milestones_total": got.total, "milestones_ok": got.ok}
    verdicts = pl.DataFrame({name: pl.Series(column) for name, column in columns.items()})
    return got.findings, verdicts.with_columns(pl.Series("milestones_reason", reasons, dtype=pl.String))


def run(steps, made, **trace):
    findings, verdicts = check_milestones(calls_of(steps), traces_of(trace), made)
    found = findings.select("code", "message").rows()
    return [(code.removeprefix("milestone."), message) for code, message in found], *verdicts.row(0)


A, B = call("a"), call("b")
BOOKED = call("book", '{"flight_id": "UA-512", "seat": "12A"}')
MUST_BOOK = {"must_call": [{"tool": "book", "arguments": {"flight_id": {"$regex": "^UA"}}}]}
NOT_BOOKED = ("must_call", "book with the arguments asked for was called 0 of 1 times")


@pytest.mark.parametrize(
    ("steps", "suite", "expected"),
    [
        ([A], None, ([], None, None, None, None)),
        ([A], {}, ([], None, None, None, None)),
        ([A], {"must_call": ["a"]}, ([], 1, 1, True, None)),
        ([], {"must_call": ["a"]}, ([("must_call", "a was called 0 of 1 times")], 0, 1, False, None)),
        ([A], {"must_call": [{"tool": "a", "min": 2}, "a"]}, ([("must_call", "a was called 1 of 2 times")], 1, 2, False, None)),
        ([BOOKED], MUST_BOOK, ([], 1, 1, True, None)),
        ([call("book", '{"flight_id": "DL-1"}')], MUST_BOOK, ([NOT_BOOKED], 0, 1, False, None)),
        ([call("book", '{"flight_id":', arguments_state="invalid_json")], MUST_BOOK, ([NOT_BOOKED], 0, 1, False, None)),
        ([call("book", "", arguments_state="empty")], MUST_BOOK, ([NOT_BOOKED], 0, 1, False, None)),
        ([call("book", json.dumps('{"flight_id": "UA-1"}'))], MUST_BOOK, ([], 1, 1, True, None)),
        ([call("book", None, arguments_state="not_captured")], MUST_BOOK, ([], 0, 1, None, "arguments_not_captured")),
        ([call("book", None, arguments_state="truncated"), BOOKED], MUST_BOOK, ([], 1, 1, True, None)),
        ([A, B], {"order": [["a", "b"]]}, ([], 1, 1, True, None)),
        ([B, A, B], {"order": [["a", "b"]]}, ([("order", "a must come before b")], 0, 1, False, None)),
        ([B], {"order": [["a", "b"]]}, ([("order", "a must come before b, and a was not called")], 0, 1, False, None)),
        ([], {"order": [["a", "b"]]}, ([("order", "a must come before b, and a and b were not called")], 0, 1, False, None)),
        ([A], {"max_steps": 0}, ([("max_steps", "1 step, at most 0 are allowed")], 0, 1, False, None)),
        ([A], {"order": [["a", "b", "a"]]}, ([("order", "a must come before b, and b was not called"),
                                             ("order", "b must come before a, and b was not called")], 0, 2, False, None)),
        ([A, B], {"max_steps": 2}, ([], 1, 1, True, None)),
        ([A, B, A], {"max_steps": 2}, ([("max_steps", "3 steps, at most 2 are allowed")], 0, 1, False, None)),
        ([A, call("done", in_score=False)], {"max_steps": 1, "must_call": ["done"]}, ([], 2, 2, True, None)),
    ],
)  # fmt: skip
def test_each_kind(steps, suite, expected):
    assert run(steps, plan(suite)) == expected


def test_incomplete_traces():
    many = {"must_call": ["a", "b"], "order": [["a", "b"]], "max_steps": 5}
    assert run([A], plan(many), complete=False) == ([], 1, 4, None, "incomplete")
    assert run([], plan(many), has_calls=False) == ([], None, 4, None, "incomplete")
    assert run([A], plan({"must_call": ["a"]}), complete=False) == ([], 1, 1, True, None)
    found, met, total, ok, reason = run([A, A], plan({"max_steps": 1}), complete=False)
    assert ([code for code, _ in found], met, total, ok, reason) == (["max_steps"], 0, 1, False, None)


def test_milestones_of_a_case_add_to_those_of_the_suite():
    made = plan({"must_call": ["a"]}, {"c1": {"must_call": ["b"], "max_steps": 1}, "c2": None})
    calls = calls_of([A, B], [A], [A])
    findings, verdicts = check_milestones(calls, traces_of({"case_id": "c1"}, {"case_id": "c2"}, {}), made)
    assert verdicts.select("milestones_met", "milestones_total", "milestones_ok").rows() == [
        (2, 3, False),
        (1, 1, True),
        (1, 1, True),
    ]
    assert findings.select("trace", "code", "rung", "severity").rows() == [(0, "milestone.max_steps", 3, "error")]


def test_names_go_by_their_canonical_name():
    made = plan(
        {"must_call": ["srv__a"], "order": [["srv__a", "b"]]}, canonical_name=lambda name: name.removeprefix("srv__")
    )
    assert run([A, B], made)[1:4] == (2, 2, True)


def test_arguments_are_compared_under_the_rules_of_the_tool():
    suite = {"must_call": [{"tool": "a", "arguments": {"x": "One", "n": 1}}]}
    assert run([call("a", '{"x": " one ", "n": 1.0}')], plan(suite))[3] is True
    strict = plan(suite, rules_of=lambda tool: Rules.compile({tool: {"x": "exact"}}, tool))
    assert run([call("a", '{"x": " one ", "n": 1.0}')], strict)[3] is False


def test_denied_calls_count_unless_the_suite_counts_executed_ones():
    assert run([call("a", status="denied")], plan({"must_call": ["a"]}))[3] is True
    assert run([call("a", status="denied")], plan({"must_call": ["a"]}, executed_only=True))[3] is False


def test_a_plan_of_a_suite_with_references(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"case_id": "c1", "milestones": {"must_call": ["a"]}}\n{"case_id": "c2"}\n')
    suite = Suite.from_dict({"name": "x", "references_file": "r.jsonl", "match": {"count": "executed"}}, tmp_path)
    made = MilestonePlan.of(suite)
    assert made.active
    assert run([A], made, case_id="c1") == ([], 1, 1, True, None)
    assert run([call("a", status="denied")], made, case_id="c1")[3] is False
    assert run([A], made, case_id="c2") == ([], None, None, None, None)


NAMES = st.sampled_from(["a", "b", "c"])
SETS = st.fixed_dictionaries(
    {},
    optional={
        "must_call": st.lists(st.fixed_dictionaries({"tool": NAMES, "min": st.integers(1, 2)}), max_size=2),
        "order": st.lists(st.lists(NAMES, min_size=2, max_size=3), max_size=2),
        "max_steps": st.integers(0, 4),
    },
)
CASES = ["c1", "c2", None]


def in_plain_python(names, wanted):
    verdicts = [names.count(item["tool"]) >= item["min"] for item in wanted.get("must_call", [])]
    for chain in wanted.get("order", []):
        for x, y in itertools.pairwise(chain):
            verdicts.append(x in names and y in names and names.index(x) < names.index(y))
    if "max_steps" in wanted:
        verdicts.append(len(names) <= wanted["max_steps"])
    return verdicts


@given(st.lists(st.tuples(st.lists(NAMES, max_size=6), st.sampled_from(CASES)), min_size=1, max_size=5), SETS, SETS)
def test_names_alone_equal_plain_python(traces, suite, of_case):
    made = plan(suite, {"c1": of_case})
    frames = (
        calls_of(*[[call(name) for name in names] for names, _ in traces]),
        traces_of(*[{"case_id": c} for _, c in traces]),
    )
    findings, verdicts = check_milestones(*frames, made)
    for number, (names, case) in enumerate(traces):
        judged = in_plain_python(names, suite) + (in_plain_python(names, of_case) if case == "c1" else [])
        expected = (sum(judged), len(judged), all(judged)) if judged else (None, None, None)
        assert verdicts.select("milestones_met", "milestones_total", "milestones_ok").row(number) == expected
        assert findings.filter(trace=number).height == judged.count(False)
