import pytest

from benchmarks import workloads
from tracelens.sources.detect import open_input


def rows(path):
    """Everything both inputs can say: ids, calls and expected calls, trace by trace."""
    out = {}
    for parse, block in open_input(path).blocks():
        batch = parse(block)
        assert batch.rejects.num_rows == 0
        ids = batch.traces["trace_id"].to_pylist()
        for trace_id, case_id, n in zip(
            ids, batch.traces["case_id"].to_pylist(), batch.traces["n_references"].to_pylist(), strict=True
        ):
            out[trace_id] = [case_id, n, [], []]
        for place, table in ((2, batch.calls), (3, batch.expected)):
            columns = (table[name].to_pylist() for name in ("trace", "name", "arguments"))
            for trace, name, arguments in zip(*columns, strict=True):
                out[ids[trace]][place].append((name, arguments))
    return out


@pytest.mark.parametrize("name", list(workloads.MAKERS))
def test_lines_and_table_are_the_same_traces_to_the_sources(name, tmp_path):
    files = workloads.write(name, tmp_path, 200)
    lines = rows(files.lines)
    assert lines == rows(files.table)
    made = [trace for chunk in workloads.chunks(name, 200) for trace in chunk]
    assert lines == {trace_id: [trace_id, 1, actual, expected] for trace_id, actual, expected in made}
