import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest

from tests.store.fake_run import fake_run, fill, frame
from tracelens import tables
from tracelens.errors import InternalError, StoreError, UsageError
from tracelens.store import RunWriter, folder, list_runs, open_run, prune
from tracelens.store.layout import INFO, PARTIAL

KILLED = """
import os, sys, time
from pathlib import Path
from tests.store.fake_run import fill
from tracelens.store import RunWriter, folder
with RunWriter(Path(sys.argv[1])) as run:
    fill(run)
    if sys.argv[2] == "renaming":
        def stop(complete, target):
            print("ready", flush=True)
            time.sleep(60)
        folder.publish = stop
        run.commit("ab12", {})
    print("ready", flush=True)
    time.sleep(60)
"""


def hidden(results):
    return sorted(each.name for each in (results / "runs").glob(f"{PARTIAL}*"))


@pytest.fixture
def killed(tmp_path, root):
    def run(where):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), where], stdout=subprocess.PIPE, cwd=root, text=True
        )
        assert child.stdout.readline() == "ready\n"
        return child

    children = []
    yield lambda where: children.append(run(where)) or children[-1]
    for child in children:
        child.kill()
        child.stdout.close()
        child.wait()


def test_a_run_appears_with_all_tables_and_run_json(tmp_path):
    path = fake_run(tmp_path, n=2)
    assert path == tmp_path / "runs" / "ab12"
    assert sorted(each.name for each in path.iterdir()) == sorted(
        [INFO, *(f"{table}.parquet" for table in tables.STORED_TABLES)]
    )
    info = json.loads((path / INFO).read_text())
    assert (info["run_id"], info["seconds"], info["rows"]["calls"], info["rows"]["spans"]) == ("ab12", 0.5, 6, 0)
    assert hidden(tmp_path) == []


def test_the_same_rows_give_the_same_bytes(tmp_path):
    first, second = fake_run(tmp_path / "a"), fake_run(tmp_path / "b")
    for table in tables.STORED_TABLES:
        one, other = ((each / f"{table}.parquet").read_bytes() for each in (first, second))
        assert hashlib.sha256(one).digest() == hashlib.sha256(other).digest()


def test_tables_finished_at_once_are_those_finished_in_turn(tmp_path):
    first = fake_run(tmp_path / "a", n=2)
    with RunWriter(tmp_path / "b") as run:
        fill(run, 2)
        run.complete(threads=3)
        second = run.commit("ab12", {})
    for table in tables.STORED_TABLES:
        assert (first / f"{table}.parquet").read_bytes() == (second / f"{table}.parquet").read_bytes()
    assert list(json.loads((second / INFO).read_text())["rows"]) == list(tables.STORED_TABLES)


def test_nothing_stays_of_a_run_that_was_not_committed(tmp_path):
    with RunWriter(tmp_path) as run:
        fill(run)
        assert hidden(tmp_path)
    assert hidden(tmp_path) == []
    with pytest.raises(StoreError, match="no run in this folder"):
        open_run(tmp_path)


def test_a_killed_run_is_invisible_and_cleaned_by_the_next(tmp_path, killed):
    child = killed("writing")
    assert hidden(tmp_path)
    child.send_signal(signal.SIGKILL)
    child.wait()
    with pytest.raises(StoreError, match="no run in this folder"):
        open_run(tmp_path)
    fake_run(tmp_path, "cd34")
    assert hidden(tmp_path) == []
    assert [run.run_id for run in list_runs(tmp_path)] == ["cd34"]


def test_a_run_killed_when_complete_appears_later(tmp_path, killed):
    child = killed("renaming")
    child.send_signal(signal.SIGKILL)
    child.wait()
    fake_run(tmp_path, "cd34")
    assert [run.run_id for run in list_runs(tmp_path)] == ["ab12", "cd34"]
    assert hidden(tmp_path) == []


def test_a_run_in_progress_is_left_alone(tmp_path, killed):
    killed("writing")
    fake_run(tmp_path, "cd34")
    assert len(hidden(tmp_path)) == 2


def test_a_lock_without_a_folder_goes_when_it_is_old(tmp_path):
    fake_run(tmp_path)
    lock = tmp_path / "runs" / f"{PARTIAL}x.lock"
    lock.touch()
    folder.clean(lock.parent)
    assert lock.exists()
    os.utime(lock, (0, time.time() - 7200))
    folder.clean(lock.parent)
    assert not lock.exists()


def test_scoring_again_replaces_the_run(tmp_path):
    fake_run(tmp_path, n=1)
    fake_run(tmp_path, n=2)
    assert [run.rows["traces"] for run in list_runs(tmp_path)] == [2]
    assert hidden(tmp_path) == []


def test_of_two_complete_folders_the_newer_appears(tmp_path):
    old = fake_run(tmp_path, n=1)
    old.rename(old.with_name(f"{PARTIAL}old"))
    new = fake_run(tmp_path / "other", n=2)
    new.rename(old.with_name(f"{PARTIAL}new"))
    folder.clean(tmp_path / "runs")
    assert open_run(tmp_path).rows["traces"] == 2
    assert hidden(tmp_path) == []


def test_a_finished_table_can_be_read_early_and_not_written_again(tmp_path):
    with RunWriter(tmp_path) as run:
        run.write("rejects", frame("rejects", {"source": "a", "reason": "b"}))
        assert run.finish("rejects").is_file()
        with pytest.raises(InternalError, match="rejects was finished"):
            run.write("rejects", frame("rejects"))
        assert run.rows == {"rejects": 1}


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write here"):
        RunWriter(tmp_path / "file")


def test_the_latest_run_or_a_named_one(tmp_path):
    for name in ("ff", "ab1", "ab2"):
        fake_run(tmp_path, name)
    assert open_run(tmp_path).run_id == "ab2"
    assert open_run(tmp_path, "f").run_id == "ff"
    assert open_run(tmp_path / "runs").run_id == "ab2"
    assert open_run(tmp_path / "runs" / "ff").run_id == "ff"
    with pytest.raises(StoreError, match=r"several runs start with 'ab'.* ff, ab1, ab2"):
        open_run(tmp_path, "ab")
    with pytest.raises(StoreError, match="no run starts with 'x'"):
        open_run(tmp_path, "x")


def test_reading_a_table(tmp_path):
    run = open_run(fake_run(tmp_path))
    for table in tables.STORED_TABLES:
        tables.check(table, run.read(table))
    assert run.read("calls", ["run_id", "tool"]).row(0) == ("ab12", "search_flights")
    with pytest.raises(StoreError, match="did you mean 'calls'"):
        run.read("call")
    (run.folder / "calls.parquet").unlink()
    with pytest.raises(StoreError, match="a table of the run is gone"):
        run.read("calls")


@pytest.mark.parametrize("text", ["{", "[]", '{"run_id": "ab12"}'])
def test_a_broken_run_json_is_reported(tmp_path, text):
    (fake_run(tmp_path) / INFO).write_text(text)
    with pytest.raises(StoreError, match="score the input again"):
        open_run(tmp_path)


def test_prune_keeps_the_latest(tmp_path):
    for name in ("a", "b", "c", "d"):
        fake_run(tmp_path, name)
    assert prune(tmp_path, keep=2, older_than=timedelta(days=1)) == []
    assert prune(tmp_path, keep=3) == ["a"]
    assert prune(tmp_path, older_than=timedelta(0)) == ["b", "c"]
    assert [run.run_id for run in list_runs(tmp_path)] == ["d"]
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("limits", [{}, {"keep": 0}])
def test_prune_needs_a_limit(tmp_path, limits):
    with pytest.raises(UsageError):
        prune(tmp_path, **limits)
