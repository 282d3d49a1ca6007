"""tau-bench results: a small file of our own, and the real one."""

import json

import duckdb
import pytest

from tests.sources.reading import batches, merged, read
from tests.sources.test_chat import assistant, call, result

ACTIONS = [{"name": "book", "kwargs": {"seat": "1A"}}, {"name": "pay", "kwargs": {}}]


def run(task, trial, actions=ACTIONS, **more):
    traj = [
        assistant(call("book", '{"seat":"1A"}', "x")),
        result("Error: full", "x"),
        assistant(call("book", "{}", "x")),
    ]
    traj += [result("ok", "x"), {"role": "assistant", "content": "done"}, {"role": "user", "content": "###STOP###"}]
    return {
        "task_id": task,
        "trial": trial,
        "reward": 0.5,
        "info": {"task": {"actions": actions}},
        "traj": traj,
        **more,
    }


def test_a_run_is_a_trace_with_its_golden_actions(tmp_path):
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([run(0, 0), run(0, 1, []), run(1, 0, None)], indent=2))
    got = read(path)
    assert [(t["trace_id"], t["case_id"], t["tags"], t["n_references"]) for t in got["traces"]] == [
        ("0-0", "0", '{"reward": 0.5, "trial": 0}', 1),
        ("0-1", "0", '{"reward": 0.5, "trial": 1}', 1),
        ("1-0", "1", '{"reward": 0.5, "trial": 0}', None),
    ]
    assert [(e["trace"], e["name"], json.loads(e["arguments"])) for e in got["expected"]] == [
        (0, "book", {"seat": "1A"}),
        (0, "pay", {}),
    ]
    first = got["calls"][:2]
    assert [(c["status"], c["error"], c["result"], c["turn"]) for c in first] == [
        ("error", "Error: full", "Error: full", 0),
        ("ok", None, "ok", 1),
    ]
    assert {t["final_answer"] for t in got["traces"]} == {"done"}


def test_runs_without_reward_and_trial_have_no_tags(tmp_path):
    some = run(0, 0)
    less = {key: value for key, value in some.items() if key not in {"reward", "trial"}}
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([some, less]))
    assert [t["tags"] for t in read(path)["traces"]] == ['{"reward": 0.5, "trial": 0}', None]


def test_several_files_keep_their_runs_apart(tmp_path):
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps([run(0, 0)]))
    assert [t["trace_id"] for t in read(tmp_path)["traces"]] == ["a.json:0-0", "b.json:0-0"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"traj": None}, "traj is no array"),
        ({"task_id": None}, "there is no task_id"),
        ({"info": {"task": {"actions": [{"kwargs": {}}]}}}, "a golden action has no name"),
        ({"info": {"task": {"actions": [{"name": "a", "kwargs": []}]}}}, "kwargs of a golden action"),
    ],
)
def test_wrong_runs_are_rejected(tmp_path, change, reason):
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([run(0, 0), run(1, 0) | change]))
    got = read(path)
    assert [t["trace_id"] for t in got["traces"]] == ["0-0"]
    assert reason in got["rejects"][0]["reason"]


def test_the_real_file(shared):
    path = shared / "workloads" / "tau-bench" / "gpt-4o-airline.json"
    found = batches(path)
    traces, calls, expected = (merged(found, name) for name in ("traces", "calls", "expected"))
    assert (traces.num_rows, calls.num_rows, expected.num_rows) == (200, 1164, 632)
    assert len(set(traces["trace_id"].to_pylist())) == 200
    assert calls["result"].null_count == 0
    sql = """select f.name, f.arguments from read_json(?, format = 'array', columns = {traj: 'JSON[]'}, maximum_object_size = 100000000),
             unnest(traj) as m(message), unnest(from_json(m.message->'tool_calls', '["JSON"]')) as t(call),
             lateral (select t.call->'function'->>'name' as name, t.call->'function'->>'arguments' as arguments) as f"""
    oracle = duckdb.execute(sql, [str(path)]).fetchall()
    assert sorted(zip(calls["name"].to_pylist(), calls["arguments"].to_pylist(), strict=True)) == sorted(oracle)
    runs = json.loads(path.read_text())
    answers = {}
    for number, one in enumerate(runs):  # the plain reading: a result follows the message that asked
        waiting = []
        for message in one["traj"]:
            if message["role"] == "assistant":
                waiting = list(message.get("tool_calls") or [])
            elif message["role"] == "tool":
                answers.setdefault(number, []).append((waiting.pop(0)["id"], message["content"]))
    mine = {}
    for row in calls.select(["trace", "call_id", "result"]).to_pylist():
        mine.setdefault(row["trace"], []).append((row["call_id"], row["result"]))
    assert mine == answers
