import json

import pytest

from benchmarks import measure, run, table, workload, workloads
from benchmarks.contenders import CONTENDERS


@pytest.mark.parametrize("name", list(workloads.MAKERS))
@pytest.mark.parametrize("key", [contender.key for contender in CONTENDERS])
def test_every_contender_handles_every_workload(key, name, tmp_path):
    result = measure.measure(key, workloads.write(name, tmp_path, 20))
    assert result["seconds"] > 0
    assert result["peak_mib"] > 10
    traces = next(workloads.chunks(name, 20))
    calls = sum(len(actual) + len(expected) for _, actual, expected in traces)
    assert result["handled"] == (calls if key.startswith("floor") else 20)


def test_one_command_writes_figures_and_table(tmp_path):
    page = tmp_path / "README.md"
    page.write_text(f"# Title\n{table.START}\n{table.END}\n")
    figures = tmp_path / "results.json"
    size = ["--scale", "0.0001", "--rounds", "1", "--workloads", "mixed"]
    run.main([*size, "--data", str(tmp_path / "data"), "--out", str(figures), "--readme", str(page)])
    rows = json.loads(figures.read_text())["rows"]
    assert [row["contender"] for row in rows] == [contender.key for contender in CONTENDERS]
    assert {row["traces"] for row in rows} == {20}
    lines = [line for line in page.read_text().splitlines() if line.startswith("| mixed")]
    assert len(lines) == len(CONTENDERS)


def test_a_child_that_fails_tells_why(tmp_path):
    missing = workload.Workload("mixed", tmp_path, 1)
    with pytest.raises(RuntimeError, match=r"(?s)peer failed on mixed: .*No such file"):
        run.child("peer", missing, missing)
