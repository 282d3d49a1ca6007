"""A results folder with two runs: some days of traffic, and the same with the days after, in which things go wrong."""

from datetime import date

import pytest

import tracelens as tl
from tests.report.traffic import SUITE, traffic, write
from tracelens.report import measure, subject

EVIL = {
    "tool": "<script>alert(1)</script>",
    "agent": "</td><img src=x onerror=alert(2)>",
    "trace": "t'\"><svg onload=alert(3)>",
    "value": "\x1b[31mred\u202egnp.exe",
}


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    days = traffic(8, 60, onset_day=6)
    rows = [row for day in days for row in day]
    rows[-3]["tool_calls"].append({"name": EVIL["tool"], "arguments": {"x": EVIL["value"]}, "status": "ok"})
    rows[-4]["tool_calls"].append({"name": "run\u202e_evil\x07", "arguments": {"cmd": "run(x, shell=True)"}})
    rows[-5]["agent"], rows[-6]["trace_id"] = EVIL["agent"], EVIL["trace"]
    rows[-6]["tool_calls"].append({"name": "run_shell", "arguments": {"cmd": "cat /etc/shadow"}, "status": "denied"})
    rows[-7]["final_answer"], rows[-8]["case_id"] = EVIL["value"], "`x` | [a](http://evil.example) <b>"
    results = folder / "results"
    first = tl.score(write(folder / "old.jsonl", rows[:360]), SUITE, out=results, progress=False)
    second = tl.score(write(folder / "new.jsonl", rows), SUITE, out=results, progress=False)
    return results, first, second


@pytest.fixture(scope="session")
def whole(store):
    """The numbers of the second run, held against the first."""
    return measure(subject(store[0]))


@pytest.fixture(scope="session")
def last_days(store):
    """The numbers of the last two days."""
    return measure(subject(store[0], since=date(2026, 10, 11), until=date(2026, 10, 12)))
