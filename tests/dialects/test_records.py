"""Every recorded value of another library, for one pair of lists and for all traces at once."""

from __future__ import annotations

import json

import pytest

from tests.dialects.records import CASEFOLDED, SCHEMAS, question
from tests.dialects.scored import as_column, ask, close
from tracelens.dialects import DIALECTS

ONLY_SINGLE = "turns, chat messages, outputs, functions and constructors have no place in a trace and a suite"


@pytest.fixture(scope="module")
def records(shared):
    with (shared / "conformance" / "dialects.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def refused(record, value, reason):
    """Whether the library refuses as the record says."""
    if "error" not in record:
        return reason is None and value is None
    kind, _, text = record["error"].partition(":")
    return value is None and reason.startswith(kind) and (text.strip()[:20] in reason or "validation" in text)


def test_one_pair_of_lists(records):
    wrong = []
    for record in records:
        metric, params, expected = question(record)
        verdict = DIALECTS[record["dialect"]].verdict(metric, record["actual"], expected, **params)
        good = close(verdict.value, record["value"]) and verdict.reason is None
        if not good and not (record["value"] is None and refused(record, verdict.value, verdict.reason)):
            wrong.append((record, verdict))
    assert len(records) == 2306
    assert wrong == []


def has_no_columns(record, params):
    """Whether a record is about something that a trace or a suite cannot say; see `ONLY_SINGLE`."""
    lists = [*record["actual"], *record["expected"]]
    odd = any(isinstance(each, list) or "role" in each or "output" in each for each in lists)
    return odd or "turns" in params or "model" in params or record["params"].get("model") or CASEFOLDED in str(params)


def test_all_traces_at_once(records, tmp_path):
    asked, traces, wanted = {}, {}, []
    for record in records:
        metric, params, expected = question(record)
        given = {name: value for name, value in params.items() if name != "schemas"}
        if has_no_columns(record, record["params"]) or "<function" in str(given):
            continue
        key = json.dumps([record["dialect"], metric, given])
        trace = json.dumps({"tool_calls": record["actual"], "expected": expected})
        wanted.append((record, asked.setdefault(key, len(asked)), traces.setdefault(trace, len(traces))))
    tools = {name: {"schema": schema} for name, schema in SCHEMAS.items()}
    found = ask(tmp_path, list(map(json.loads, traces)), [tuple(json.loads(key)) for key in asked], tools=tools)
    wrong = []
    for record, which, trace in wanted:
        value = found[which][trace]
        reason = value[1:] if isinstance(value, str) else None
        if not close(value, as_column(record["value"])) and not (reason and refused(record, None, reason)):
            wrong.append((record, value))
    assert len(wanted) > 2262
    assert wrong == []
