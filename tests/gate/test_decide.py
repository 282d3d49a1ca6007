"""What a gate lets pass: nothing that is absent, null or too little."""

import json
import xml.etree.ElementTree as ET
from datetime import date

import pytest

from tests.store.fake_run import frame
from tracelens.cli import main
from tracelens.gate import GateRules, decide, github_annotations, junit, markdown
from tracelens.selection import Selection
from tracelens.store import RunWriter, open_run
from tracelens.suite import Suite

SUITE = {"name": "s", "gate": {}}
PASSED = {"route": "settled", "passed": True, "n_references": 1, "accuracy_optimal": 1.0, "safety_hits": 0}
FAILED = {
    "route": "triage",
    "passed": False,
    "n_references": 1,
    "accuracy_optimal": 0.5,
    "safety_hits": 0,
    "reasons": ["x"],
}
UNSCORED = {"route": "unscored", "unscored_reason": "incomplete", "n_references": 1}


def run_of(folder, traces, findings=(), run_id="ab", **facts):
    """A run of these traces; those without a case are cases of their own."""
    with RunWriter(folder) as run:
        rows = [{"trace_id": f"t{i}", **row} for i, row in enumerate(traces)]
        run.write("traces", frame("traces", *rows))
        run.write("findings", frame("findings", *findings))
        run.write("runs", frame("runs", {"suite": "s", "suite_digest": Suite.from_dict(SUITE).digest, **facts}))
        run.commit(run_id, {})
    return open_run(folder, run_id)


def gate(head, rules=None, base=None, **more):
    result = decide(head, Suite.from_dict(SUITE), GateRules(**(rules or {})), base=base, **more)
    return result, {check.name: check for check in result.checks}


def failures(head, rules=None, base=None, **more):
    return [name for name, check in gate(head, rules, base, **more)[1].items() if check.status != "passed"]


def test_a_good_run_passes(tmp_path):
    head = run_of(tmp_path, [PASSED] * 3)
    result, _ = gate(head, {"min": {"pass_rate": 1, "accuracy_optimal": 0.9}, "no_safety_hits": True})
    assert (result.status, result.passed, result.warnings) == ("passed", True, ())


@pytest.mark.parametrize(
    ("traces", "rules", "expected"),
    [
        ([PASSED, PASSED, FAILED], {"min": {"pass_rate": 0.7}}, ["min pass_rate"]),
        ([PASSED, PASSED, FAILED], {"min": {"pass_rate": 2 / 3, "accuracy_optimal": 2.5 / 3}}, []),
        ([PASSED], {"min": {"state_ok": 0}}, ["min state_ok"]),  # null in every trace
        ([PASSED], {"min": {"deepeval__score": 0}}, ["min deepeval__score"]),  # absent
        ([PASSED, PASSED | {"accuracy_optimal": None}], {"min": {"accuracy_optimal": 0}}, ["min accuracy_optimal"]),
        ([PASSED, PASSED | {"accuracy_optimal": None, "n_references": None}], {"min": {"accuracy_optimal": 1}}, []),
        ([PASSED], {"min_scored": 2, "min": {"f1": 0}}, ["scored traces", "min f1"]),
        ([], {}, ["scored traces"]),
        ([PASSED, UNSCORED], {}, ["unscored traces"]),
        ([PASSED, UNSCORED], {"allow_unscored": 1, "min": {"pass_rate": 1, "accuracy_optimal": 1}}, []),
        ([PASSED, PASSED | {"safety_hits": None}], {"no_safety_hits": True}, ["safety hits"]),
        ([PASSED], {"max_drop": {"pass_rate": 1}}, ["max drop pass_rate"]),  # no base
        ([PASSED], {"min": {"pass_rate": float("nan")}}, ["min pass_rate"]),
    ],
)  # fmt: skip
def test_what_does_not_pass(tmp_path, traces, rules, expected):
    assert failures(run_of(tmp_path, traces), rules) == expected


def test_missing_cases_and_unreadable_records_do_not_pass(tmp_path):
    head = run_of(tmp_path, [PASSED], missing_cases=["c1", "c2"], n_rejects=1)
    _, checks = gate(head)
    assert checks["missing cases"].message == "2 cases without a trace: c1, c2"
    assert failures(head) == ["missing cases", "unscored traces"]
    assert failures(head, {"allow_missing": 2, "allow_unscored": 1}) == []


def test_a_run_of_another_suite_does_not_pass(tmp_path):
    assert failures(run_of(tmp_path, [PASSED], suite_digest="other")) == ["suite"]


def test_waived_failures_do_not_count_until_they_expire(tmp_path):
    waived = {"waived_until": date(2026, 12, 1)}
    hit = {"trace_id": "t0", "severity": "error", "code": "safety.shell", **waived}
    head = run_of(tmp_path, [FAILED | waived | {"safety_hits": 1}, PASSED], [hit])
    rules = {"min": {"pass_rate": 1}, "no_safety_hits": True}
    assert failures(head, rules, today=date(2026, 11, 30)) == []
    assert failures(head, rules, today=date(2026, 12, 1)) == ["safety hits", "min pass_rate"]


def test_only_the_traces_that_were_asked_for(tmp_path):
    tags = ['{"critical": true}', '{"critical":false, "x": [1, "y"]}', None, "[]"]
    head = run_of(
        tmp_path, [PASSED | {"tags": tags[0]}, FAILED | {"tags": tags[1]}, FAILED, FAILED | {"tags": tags[3]}]
    )
    rules = {"min": {"pass_rate": 1}}
    assert failures(head, rules, selection=Selection.of(where="critical=true")) == []
    assert failures(head, rules, selection=Selection.of(where="x=y")) == ["min pass_rate"]
    assert failures(head, rules | {"min_scored": 2}, selection=Selection.of(where="critical=true")) == [
        "scored traces",
        "min pass_rate",
    ]
    with pytest.raises(Exception, match="takes no sample"):
        gate(head, selection=Selection.of(sample="10%"))


def cases(n_passed, n_failed):
    return [PASSED | {"case_id": f"c{i}"} for i in range(n_passed)] + [
        FAILED | {"case_id": f"c{n_passed + i}"} for i in range(n_failed)
    ]


def test_a_drop_beyond_the_limit_does_not_pass(tmp_path):
    base, head = run_of(tmp_path / "b", cases(10, 0)), run_of(tmp_path / "h", cases(8, 2), run_id="cd")
    _, checks = gate(head, {"max_drop": {"pass_rate": 0.1, "accuracy_optimal": 0.1}}, base)
    assert (checks["max drop pass_rate"].status, checks["max drop accuracy_optimal"].status) == ("failed", "passed")
    assert checks["max drop pass_rate"].facts["drop"] == pytest.approx(0.2)
    assert failures(head, {"max_drop": {"pass_rate": 0.2}}, base) == []
    assert failures(base, {"max_drop": {"pass_rate": float("nan")}}, base) == ["max drop pass_rate"]
    assert failures(base, {"max_drop": {"pass_rate": 0}}, head) == []


def test_cases_are_paired_by_id_and_may_have_trials(tmp_path):
    base = run_of(tmp_path / "b", [PASSED | {"case_id": c} for c in ("0", "1", "10")])
    head = run_of(
        tmp_path / "h", [PASSED | {"case_id": c} for c in ("10", "1", "10")] + [FAILED | {"case_id": "1"}], run_id="cd"
    )
    _, checks = gate(head, {"max_drop": {"pass_rate": 0.1}, "allow_missing": 1}, base)
    facts = checks["max drop pass_rate"].facts
    assert (facts["n_cases"], facts["base"], facts["head"], facts["n_worse"]) == (2, 1.0, 0.75, 1)
    assert checks["missing cases"].facts["cases"] == ["0"]


def test_a_drop_that_may_be_chance_is_not_decided(tmp_path):
    base, small = run_of(tmp_path / "b", cases(10, 0)), run_of(tmp_path / "s", cases(8, 2), run_id="cd")
    rules = {"max_drop": {"pass_rate": 0.1}, "confidence": 0.95}
    result, checks = gate(small, rules, base)
    assert (result.status, result.passed) == ("inconclusive", False)
    assert "too few cases to tell" in checks["max drop pass_rate"].message
    assert checks["max drop pass_rate"].facts["p_value"] == 0.25
    assert gate(small, rules | {"allow_inconclusive": True}, base)[0].passed
    large, worse = run_of(tmp_path / "l", cases(400, 0)), run_of(tmp_path / "w", cases(340, 60), run_id="ef")
    assert gate(worse, rules, large)[0].status == "failed"
    assert gate(large, rules, worse)[0].status == "passed"


def test_runs_of_different_suites_are_compared_with_a_warning(tmp_path):
    base = run_of(tmp_path / "b", [PASSED], suite_digest="other")
    head = run_of(tmp_path / "h", [PASSED], run_id="cd")
    result, _ = gate(head, {"max_drop": {"pass_rate": 0}}, base)
    assert result.passed
    assert "different suites" in result.warnings[0]
    assert gate(head, {}, head)[0].warnings == ("the base run is the run itself",)


def test_other_forms(tmp_path):
    name = "c\x1b[31m|<b>\u202e,%"
    head = run_of(tmp_path, [FAILED], missing_cases=[name])
    result, _ = gate(head, {"min": {"pass_rate": 1}})
    xml = ET.fromstring(junit(result))  # noqa: S314  our own
    assert xml.attrib | {"name": ""} == {"name": "", "tests": "5", "failures": "2", "skipped": "0", "errors": "0"}
    assert [case.get("name") for case in xml if case.find("failure") is not None] == ["missing cases", "min pass_rate"]
    assert "| missing cases | **failed** | 1 case without a trace: c\\\\x1b\\[31m\\|\\<b\\>\\\\u202e,% |" in markdown(
        result
    )
    assert github_annotations(result).startswith(
        "::error title=TraceLens gate%3A missing cases::1 case without a trace: c\\x1b[31m|<b>"
    )
    assert "\x1b" not in junit(result) + markdown(result) + github_annotations(result)


@pytest.fixture
def suite_file(tmp_path):
    file = tmp_path / "suite.toml"
    file.write_text('name = "s"\n[gate]\nmin = {pass_rate = 0.5}\nno_safety_hits = true\n')
    return file


def test_the_command(tmp_path, suite_file, capsys):
    run_of(tmp_path / "r", [PASSED, FAILED])
    run_of(tmp_path / "b", [PASSED, PASSED], run_id="cd")
    common = ["gate", str(tmp_path / "r"), "--suite", str(suite_file)]
    assert main(common) == 0
    assert "✓ min pass_rate    pass_rate is 0.5000, at least 0.5 (2 scored)" in capsys.readouterr().out
    files = ["--junit", str(tmp_path / "out" / "j.xml"), "--markdown", str(tmp_path / "m.md"), "--json"]
    assert (
        main([*common, "--base", str(tmp_path / "b"), "--max-drop", "pass_rate=0.1", "--min", "pass_rate=0.6", *files])
        == 1
    )
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["base_run_id"]) == ("failed", "cd")
    assert {each["name"]: each["status"] for each in found["checks"]}["max drop pass_rate"] == "failed"
    assert (tmp_path / "m.md").read_text().startswith("### TraceLens gate failed")
    assert main([*common, "--github", "--min", "pass_rate=1"]) == 1
    assert (
        capsys.readouterr().out
        == "::error title=TraceLens gate%3A min pass_rate::pass_rate is 0.5000, below 1 (2 scored)\n"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-drop", "f1=0.1"], "needs a base run"),
        (["--min", "f2=0.1"], "unknown metric 'f2'"),
        (["--min", "f1"], "gives no limit"),
        (["--min", "f1=nan"], "gives no limit"),
        (["--confidence", "95"], "not between 0.5 and 1"),
        (["--min-scored", "0"], "a mean of nothing"),
        (["--allow-unscored", "-1"], "cannot allow -1"),
    ],
)
def test_wrong_usage(tmp_path, suite_file, capsys, options, said):
    run_of(tmp_path / "r", [PASSED])
    assert main(["gate", str(tmp_path / "r"), "--suite", str(suite_file), *options]) == 2
    assert said in capsys.readouterr().err


def test_the_table_of_the_suite():
    problems = {
        "gate": {"min": {"pas_rate": 1}, "confidence": 2, "max_drop": {"f1": -1}},
        "judge": {"prompt": "{x} {question"},
    }
    with pytest.raises(Exception, match="pas_rate") as caught:
        Suite.from_dict(problems)
    assert {problem.place for problem in caught.value.problems} == {
        "gate.min.pas_rate", "gate.confidence", "gate.max_drop.f1", "judge.prompt",
    }  # fmt: skip
    plain = Suite.from_dict({"name": "s"})
    assert Suite.from_dict({"name": "s", "gate": {"min_scored": 9}, "judge": {"model": "m"}}).digest == plain.digest
