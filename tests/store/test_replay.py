import numpy as np
import polars as pl
import pytest

from tests.store.fake_run import fill, frame
from tracelens import columns
from tracelens.errors import InternalError
from tracelens.store import RunWriter, open_run, replay

TRACES = [
    {"trace_id": "a", "case_id": "c", "has_calls": True, "source": "x", "line": 1, "n_references": 2}
    | {"reference_source": "trace", "complete": True, "tags": '{"v":1}', "cost": 0.5, "id_given": True},
    {"trace_id": "b", "has_calls": False, "source": "x", "line": 2},
    {"trace_id": "c", "has_calls": True, "source": "x", "line": 3, "n_references": 1, "reference_source": "suite"},
    {"trace_id": "d", "has_calls": True, "source": "x", "line": 4, "n_references": 1, "reference_source": "trace"},
]
CALLS = [
    {"trace_id": "a", "call_index": 0, "name": "f", "tool": "g", "arguments": '{"k":1}', "arguments_form": 3},
    {"trace_id": "a", "call_index": 1, "malformed": True, "arguments_repair": "python", "wrapper": "w"},
    {"trace_id": "c", "call_index": 0, "name": "h", "status": "ok", "result": "r", "depth": 1},
]
EXPECTED = [
    {"trace_id": "a", "reference_source": "trace", "expected_index": 0, "name": "f", "arguments_form": 0},
    {"trace_id": "a", "reference_source": "trace", "reference_index": 1, "expected_index": -1},
    {"trace_id": "c", "reference_source": "suite", "expected_index": 0, "name": "h"},
    {"trace_id": "d", "reference_source": "trace", "expected_index": 0, "name": "e", "arguments": "{}"}
    | {"arguments_form": 2},
]


def stored(folder, calls=CALLS):
    with RunWriter(folder) as run:
        run.write("traces", frame("traces", *TRACES))
        run.write("calls", frame("calls", *calls))
        run.write("expected", frame("expected", *EXPECTED))
        return open_run(run.commit("ab", {}))


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_run_comes_back_as_its_source_gave_it(tmp_path, size):
    batches = list(replay(stored(tmp_path), traces=size))
    assert [batch.n_records for batch in batches] == [size] * (4 // size) + [4 % size] * bool(4 % size)
    whole = {
        name: pl.concat(
            pl.DataFrame(getattr(batch, name)).with_columns(pl.col("trace") + size * i)
            for i, batch in enumerate(batches)
        )
        for name in ("traces", "calls", "expected")
    }
    traces, calls, expected = whole["traces"], whole["calls"], whole["expected"]
    assert traces["n_references"].to_list() == [2, None, None, 1]
    assert traces["has_calls"].to_list() == [True, False, True, True]
    assert traces.row(0, named=True)["tags"] == '{"v":1}'
    assert calls.select("trace", "name", "malformed", "repair", "wrapper", "result").rows() == [
        (0, "f", False, None, None, None),
        (0, None, True, "python", "w", None),
        (2, "h", False, None, None, "r"),
    ]
    assert expected.select("trace", "reference_index", "name", "arguments", "arguments_form").rows() == [
        (0, 0, "f", None, 0),
        (3, 0, "e", "{}", 2),
    ]


def test_batches_keep_the_contract_of_sources(tmp_path):
    (batch,) = replay(stored(tmp_path))
    assert batch.traces.schema == columns.TRACES
    assert batch.calls.schema == columns.CALLS
    assert batch.rejects.num_rows == batch.n_blank == 0


def test_digests_stand_for_the_input_whatever_the_batches(tmp_path):
    run = stored(tmp_path / "a")
    whole = np.concatenate([batch.records for batch in replay(run)])
    assert whole.shape == (4, 2)
    assert np.array_equal(whole, np.concatenate([batch.records for batch in replay(run, traces=3)]))
    assert len(np.unique(whole, axis=0)) == 4
    with RunWriter(tmp_path / "b") as writer:
        fill(writer)
        other = open_run(writer.commit("cd", {}))
    assert next(replay(other)).records[0].tolist() != whole[0].tolist()


def test_a_run_without_traces_gives_nothing(tmp_path):
    with RunWriter(tmp_path) as run:
        folder = run.commit("ab", {})
    assert list(replay(open_run(folder))) == []


def test_the_worked_example_many_times(tmp_path):
    with RunWriter(tmp_path) as run:
        fill(run, 20)
        folder = run.commit("ab", {})
    batches = list(replay(open_run(folder), traces=7))
    assert [batch.traces.num_rows for batch in batches] == [7, 7, 6]
    assert [batch.calls.num_rows for batch in batches] == [21, 21, 18]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_rows_out_of_order_are_noticed(tmp_path, size):
    with pytest.raises(InternalError, match=r"not in the order of traces|not ordered by trace"):
        list(replay(stored(tmp_path, [CALLS[2], CALLS[0], CALLS[1]]), traces=size))
