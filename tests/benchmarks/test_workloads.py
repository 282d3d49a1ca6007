import itertools
import json

import jsonschema
import pyarrow.parquet as pq
import pytest

from benchmarks import floors, mixed, workload, workloads


@pytest.mark.parametrize("name", list(workloads.MAKERS))
def test_lines_and_table_hold_the_same_calls(name, tmp_path):
    files = workloads.write(name, tmp_path, 60)
    records = [json.loads(line) for line in files.lines.read_text().splitlines()]
    assert len(records) == 60
    wanted = [
        (record["trace_id"], kind, call["name"])
        for record in records
        for kind, key in (("call", "tool_calls"), ("expected", "expected"))
        for call in record[key]
    ]
    rows = pq.read_table(files.table).to_pylist()
    assert [(row["trace_id"], row["row"], row["name"]) for row in rows if row["row"] != "trace"] == wanted
    assert {row["trace_id"] for row in rows} == {record["trace_id"] for record in records}
    made = [json.loads(row["arguments"]) for row in rows if row["row"] == "call"]
    assert made == [call["arguments"] for record in records for call in record["tool_calls"]]


@pytest.mark.parametrize("name", list(workloads.MAKERS))
def test_a_seed_gives_the_same_traces_and_another_seed_others(name):
    first = next(workloads.chunks(name, 30))
    assert next(workloads.chunks(name, 30)) == first
    assert next(workloads.chunks(name, 30, seed=2)) != first


def test_mixed_has_the_statistics_it_promises():
    traces = [trace for chunk in workloads.chunks("mixed", 6000) for trace in chunk]
    actual = [call for _, calls, _ in traces for call in calls]
    expected = [call for _, _, calls in traces for call in calls]
    assert len(actual) / len(traces) == pytest.approx(5, abs=0.1)
    assert len(expected) / len(traces) == pytest.approx(5, abs=0.1)
    sizes = [len(arguments.encode()) for _, arguments in actual + expected]
    assert sum(sizes) / len(sizes) == pytest.approx(104, abs=10)
    lines = [len(workloads.line(trace).encode()) for trace in traces]
    assert 1400 <= sum(lines) / len(lines) <= 1600
    assert len({json.dumps(calls) for _, *calls in traces}) == len(traces)
    assert {name for name, _ in expected} == set(mixed.TOOLS)
    assert len(mixed.TOOLS) == 6


def test_mixed_drops_changes_and_repeats_what_it_promises():
    dropped = wrong = repeated = total = 0
    for chunk in workloads.chunks("mixed", 4000):
        for _, actual, expected in chunk:
            total += len(expected)
            repeated += sum(a == b for a, b in itertools.pairwise(actual))
            missing = [call for call in expected if call not in actual]
            changed = [call for call in actual if call not in expected]
            wrong += len(changed)
            dropped += len(missing) - len(changed)
    assert dropped / total == pytest.approx(0.05, abs=0.01)
    assert wrong / total == pytest.approx(0.15, abs=0.01)
    assert repeated / total == pytest.approx(0.05, abs=0.01)


def test_every_call_of_the_hostile_tool_is_invalid():
    check = jsonschema.Draft202012Validator(workload.TOOLS["hostile"]["never_right"])
    calls = [
        json.loads(arguments)
        for chunk in workloads.chunks("hostile", 60)
        for _, actual, _ in chunk
        for name, arguments in actual
        if name == "never_right"
    ]
    assert calls
    assert not any(check.is_valid(arguments) for arguments in calls)


def test_the_floors_read_every_call(tmp_path):
    files = workloads.write("mixed", tmp_path, 40)
    calls = sum(len(actual) + len(expected) for chunk in workloads.chunks("mixed", 40) for _, actual, expected in chunk)
    assert floors.read_lines(files.lines) == calls
    assert floors.read_table(files.table) == calls
