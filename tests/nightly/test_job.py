"""A nightly job loses nothing and doubles nothing: run twice, killed anywhere, for a past day, with late files."""

import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import types
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

import tracelens as tl
from tests.report.traffic import FIRST, SUITE, traffic, write
from tracelens.cli import main
from tracelens.errors import InputError, StoreError
from tracelens.nightly import Config, nightly, places, take
from tracelens.nightly import deliver as post
from tracelens.nightly import job as job_module
from tracelens.nightly.alerts import alerts_of
from tracelens.nightly.config import Alerts
from tracelens.report import Numbers, Subject
from tracelens.report import put as put_file
from tracelens.store import list_runs

N_DAYS, A_DAY = 6, 70
DAYS = traffic(N_DAYS, A_DAY, onset_day=5)
LAST = date(2026, 10, 10)
NOW = datetime(2026, 10, 11, 2, tzinfo=UTC)


def put(folder, name, rows, age_minutes=60.0):
    """A file that was changed a while ago."""
    path = write(folder / name, rows)
    at = NOW.timestamp() - 60 * age_minutes
    os.utime(path, (at, at))
    return path


def config(folder, **more):
    suite = folder / "suite.json"
    suite.write_text("")
    values = {"input": "in", "out": "out", "alerts": {"days": 5}} | more
    return Config.of(values, base=folder)


@pytest.fixture
def reporting(tmp_path, monkeypatch):
    """A folder for a job."""
    monkeypatch.setattr(take.Suite, "load", classmethod(lambda cls, _: cls.from_dict(SUITE)))
    (tmp_path / "in").mkdir()
    return tmp_path


NOTHING = Numbers({"suite": "s", "title": "t"}, {"totals": [], "rates": [], "mistakes": []})


@pytest.fixture
def place(reporting, monkeypatch):
    """The same, without numbers in the reports: those follow from the store, and take most of the time."""
    monkeypatch.setattr(job_module, "measure", lambda *_, **__: NOTHING)
    monkeypatch.setattr(job_module, "write_reports", lambda _, **to: [put_file(path, b"page") for path in to.values()])
    return reporting


def ids(folder):
    """Every trace id in the store, over all runs."""
    runs = list_runs(folder / "out")
    return sorted(pl.concat([run.read("traces", ["trace_id"]) for run in runs])["trace_id"])


def every(*days):
    return sorted(row["trace_id"] for day in days for row in day)


def files_of(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "out" / "reports").iterdir())}


def test_night_after_night(reporting):
    place = reporting
    job = config(place, suite="suite.toml")
    for number, day in enumerate(DAYS):
        put(place / "in", f"{number}.jsonl", day)
    outcome = nightly(job, now=NOW)
    assert outcome.day == LAST
    assert ids(place) == every(*DAYS)
    assert outcome.taken.n_files == N_DAYS
    kinds = [alert["kind"] for alert in outcome.alerts]
    assert kinds[0] == "onset"
    found = outcome.alerts[0]
    assert (found["tool"], found["code"], found["agent"], found["version"]) == (
        "book_flight", "schema.additionalProperties", "booker", "1.5",
    )  # fmt: skip
    bad = [row["trace_id"] for row in DAYS[5] if "meal" in row["tool_calls"][-1]["arguments"]]
    assert found["first_trace_id"] == bad[0]
    low = {(alert["dimension"], alert["value"]): alert for alert in outcome.alerts if alert["kind"] == "pass_rate_low"}
    assert {("agent", "booker"), ("tool", "book_flight")} <= low.keys()
    limits = low["agent", "booker"]["limits"]
    share = limits["mean"]
    n = low["agent", "booker"]["n_scored"]
    assert limits["low"] == pytest.approx(share - 3 * (share * (1 - share) / n) ** 0.5)
    kept = files_of(place)
    assert json.loads(kept["2026-10-10.alerts.json"]) == outcome.alerts
    assert found["first_trace_id"] in kept["2026-10-10.html"].decode()
    quiet = nightly(job, now=NOW, day=LAST - timedelta(days=1))
    assert (quiet.taken.run, quiet.taken.n_files, quiet.alerts) == (None, 0, [])
    assert ids(place) == every(*DAYS)
    assert kept.items() <= files_of(place).items()
    assert "2026-10-09.html" in files_of(place)


def test_files_that_grow_and_files_being_written(place):
    job = config(place)
    put(place / "in", "a.jsonl", DAYS[0][:20])
    put(place / "in", "b.jsonl", DAYS[1], age_minutes=2)
    put(place / "in", "empty.jsonl", [])
    first = nightly(job, now=NOW)
    assert ids(place) == every(DAYS[0][:20])
    assert first.taken.n_writing == 1
    put(place / "in", "a.jsonl", DAYS[0], age_minutes=30)
    put(place / "in", "c.jsonl", DAYS[0][10:30], age_minutes=30)
    second = nightly(job, now=NOW + timedelta(hours=1))
    assert ids(place) == every(DAYS[0], DAYS[1])
    assert second.taken.n_known == 20 + 10
    assert nightly(job, now=NOW + timedelta(hours=2)).taken.n_files == 0


def test_a_trace_in_several_files_is_held_until_all_of_them_are_quiet(place, root):
    rows = map(json.loads, (root / "tracelens" / "sources" / "samples" / "langsmith.jsonl").read_text().splitlines())
    first = [row for row in rows if row["trace_id"].startswith("00000001")]
    other = json.loads(json.dumps(first).replace("-0000000000", "-0000000001"))
    put(place / "in", "a.jsonl", [*other, *first[:3]], age_minutes=300)
    put(place / "in", "b.jsonl", first[3:], age_minutes=30)
    job = config(place, hold_minutes=120)
    early = nightly(job, now=NOW)
    assert (early.taken.n_held, len(ids(place))) == (1, 1)
    (run,) = list_runs(place / "out")
    late = nightly(job, now=NOW + timedelta(hours=2))
    assert (late.taken.n_held, late.taken.n_known, late.taken.n_files) == (0, 1, 2)
    assert len(ids(place)) == len(set(ids(place))) == 2
    calls = [each.read("calls")["tool"].sort().to_list() for each in list_runs(place / "out")]
    assert calls[0] == calls[1]
    assert nightly(job, now=NOW + timedelta(hours=3)).taken.n_files == 0
    assert run.run_id != late.taken.run.name


class Objects:
    """As much of a file system of fsspec as is used: the files of a folder as objects by key."""

    def __init__(self, folder):
        self.folder = folder

    def invalidate_cache(self):
        pass

    def find(self, base, *, detail):
        assert detail
        found = {path: path.stat() for path in sorted(self.folder.rglob("*.jsonl"))}
        return {
            f"{base}/{path.relative_to(self.folder)}": {
                "size": status.st_size, "LastModified": datetime.fromtimestamp(status.st_mtime, UTC), "type": "file"
            }
            for path, status in found.items()
        }  # fmt: skip

    def cat_file(self, path, start, end):
        return (self.folder / Path(path).relative_to("bucket/traces")).read_bytes()[start:end]


def fake_bucket(monkeypatch, folder):
    """The address of the files of a folder."""
    core = types.SimpleNamespace(url_to_fs=lambda source: (Objects(folder), source.partition("://")[2]))
    monkeypatch.setitem(sys.modules, "fsspec", types.SimpleNamespace(core=core))
    return "s3://bucket/traces"


def test_a_bucket_is_read_like_a_folder(place, monkeypatch):
    job = config(place, input=fake_bucket(monkeypatch, place / "far"))
    put(place / "far", "a/one.jsonl", DAYS[0])
    put(place / "far", "two.jsonl", DAYS[1], age_minutes=1)
    assert nightly(job, now=NOW).taken.n_writing == 1
    assert ids(place) == every(DAYS[0])
    assert nightly(job, now=NOW + timedelta(hours=1)).taken.n_files == 1
    assert ids(place) == every(DAYS[0], DAYS[1])
    assert list_runs(place / "out")[0].read("runs")["sources"].to_list() == [["a/one.jsonl"]]
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(InputError, match="needs fsspec"):
        nightly(job, now=NOW)


def test_a_reject_is_told_once(place):
    path = put(place / "in", "a.jsonl", DAYS[0][:3])
    with path.open("ab") as file:
        file.write(b"{broken\n")
    os.utime(path, (NOW.timestamp() - 3600,) * 2)
    job = config(place)
    nightly(job, now=NOW)
    with path.open("ab") as file:
        file.write(json.dumps(DAYS[0][3]).encode() + b"\n")
    os.utime(path, (NOW.timestamp(),) * 2)
    nightly(job, now=NOW + timedelta(days=1))
    runs = list_runs(place / "out")
    assert [run.rows["rejects"] for run in runs] == [1, 0]
    assert ids(place) == every(DAYS[0][:4])


def test_a_file_nobody_can_read_keeps_no_other_from_being_taken(place):
    put(place / "in", "a.jsonl", DAYS[0][:3])
    put(place / "in", "b.json", [{"who": "knows"}])
    outcome = nightly(config(place), now=NOW)
    assert ids(place) == every(DAYS[0][:3])
    assert [alert["kind"] for alert in outcome.alerts] == ["unreadable"]
    assert list(outcome.alerts[0]["files"]) == ["b.json"]


def test_a_night_without_traces_is_told():
    before = {"part": "base", "n_traces": 140}
    about = Subject((), "2026-10-10", "before", "UTC", None, (LAST, LAST))
    silent = Numbers({}, {"totals": [before], "rates": [], "mistakes": []})
    (alert,) = alerts_of(silent, about, Alerts())
    assert (alert["kind"], alert["day"], alert["n_before"]) == ("no_traces", "2026-10-10", 140)
    assert alerts_of(Numbers({}, {"totals": [], "rates": [], "mistakes": []}), about, Alerts()) == []


def test_nothing_at_all(place):
    outcome = nightly(config(place), now=NOW)
    assert (outcome.taken.run, outcome.alerts, outcome.files) == (None, [], [])
    with pytest.raises(InputError, match="no such folder"):
        nightly(config(place, input="nowhere"), now=NOW)


def test_what_the_job_writes_is_not_taken(place):
    put(place / "in", "a.jsonl", DAYS[0][:3])
    job = Config.of({"input": "in", "out": "in/results", "quiet_minutes": 0}, base=place)
    assert nightly(job, now=NOW).taken.n_there == 1
    again = nightly(job, now=NOW + timedelta(days=9))
    assert (again.taken.n_there, again.taken.n_files, again.alerts) == (1, 0, [])


def test_odd_names_and_times(place):
    """Names that are no text, links that lead nowhere, a time in the future: each is taken or told."""
    for row, name in enumerate(("a\x1b[31m.jsonl", os.fsdecode(b"bad\xff.jsonl"))):
        put(place / "in", name, [DAYS[0][row]])
    (place / "in" / "gone.jsonl").symlink_to("nowhere")
    (place / "in" / "folder.jsonl").mkdir()
    os.mkfifo(place / "in" / "pipe.jsonl")
    put(place / "in", "later.jsonl", DAYS[1], age_minutes=-3000)
    outcome = nightly(config(place), now=NOW)
    assert ids(place) == every(DAYS[0][:2])
    assert list(outcome.alerts[0]["files"]) == ["later.jsonl"]
    assert "in the future" in outcome.alerts[0]["message"]
    assert nightly(config(place), now=NOW).taken.n_files == 0
    assert nightly(config(place), now=NOW + timedelta(days=3)).taken.n_files == 1


def test_a_file_that_breaks_while_it_is_read_is_told_and_tried_again(place, monkeypatch):
    for name in "abc":
        put(place / "in", f"{name}.jsonl", [DAYS[0]["abc".index(name)]])
    parse = take.Sieve._parsed

    def breaking(sieve, of, block):
        batch = parse(sieve, of, block)
        if batch.traces.num_rows and batch.traces["source"][0].as_py() == "b.jsonl":
            raise InputError("cannot be read: gone", where=str(place / "in" / "b.jsonl"))
        return batch

    with monkeypatch.context() as patch:
        patch.setattr(take.Sieve, "_parsed", breaking)
        outcome = nightly(config(place), now=NOW)
    assert outcome.alerts[0]["files"] == {"b.jsonl": "cannot be read: gone"}
    assert ids(place) == every([DAYS[0][0], DAYS[0][2]])
    assert nightly(config(place), now=NOW).taken.n_files == 1
    assert ids(place) == every(DAYS[0][:3])


def test_new_rejects_without_a_new_trace_are_told_until_a_run_holds_them(place):
    path = put(place / "in", "a.jsonl", DAYS[0][:2])
    job = config(place)
    nightly(job, now=NOW)
    with path.open("ab") as file:
        file.write(b"{broken\n")
    os.utime(path, (NOW.timestamp() - 3000,) * 2)
    for _ in range(2):
        outcome = nightly(job, now=NOW)
        assert [alert["files"] for alert in outcome.alerts] == [
            {"a.jsonl": "has records that cannot be read, and no new trace"}
        ]
    put(place / "in", "b.jsonl", DAYS[1][:1])
    assert nightly(job, now=NOW).alerts == []
    assert [run.rows["rejects"] for run in list_runs(place / "out")] == [0, 1]
    assert nightly(job, now=NOW).taken.n_files == 0


def test_a_sample_is_the_same_every_night(place):
    job = config(place, sample="30%")
    put(place / "in", "a.jsonl", DAYS[0])
    nightly(job, now=NOW)
    some = ids(place)
    assert 5 < len(some) < 45
    put(place / "in", "a.jsonl", DAYS[0] + DAYS[1])
    nightly(job, now=NOW + timedelta(hours=3))
    assert set(some) <= set(ids(place)) < set(every(DAYS[0], DAYS[1]))
    assert len(set(ids(place))) == len(ids(place))


def test_old_runs_may_go_and_their_files_are_not_taken_again(place):
    job = config(place)
    put(place / "in", "a.jsonl", DAYS[0])
    nightly(job, now=NOW)
    put(place / "in", "b.jsonl", DAYS[1])
    nightly(job, now=NOW)
    from tracelens import store

    store.prune(place / "out", keep=1)
    assert nightly(job, now=NOW).taken.n_files == 0
    assert ids(place) == every(DAYS[1])


class Killed(BaseException):
    """What stands for the end of the process."""


def killed_at(monkeypatch, step, *, before):
    """Let the process end at the n-th change of the disk that counts: a copy of an object, or a rename."""
    count = [0]

    def watched(original):
        def change(*args, **named):
            count[0] += 1
            if count[0] == step and before:
                raise Killed
            done = original(*args, **named)
            if count[0] == step:
                raise Killed
            return done

        return change

    monkeypatch.setattr(os, "replace", watched(os.replace))
    monkeypatch.setattr(Path, "rename", watched(Path.rename))
    monkeypatch.setattr(places, "fill", watched(places.fill))
    return count


def test_killed_at_any_change_of_the_disk_nothing_is_lost_or_doubled(place, monkeypatch):
    def fresh(name):
        folder = place / name
        put(folder / "in", "a.jsonl", DAYS[0][:8])
        put(folder / "in", "b.jsonl", DAYS[1][:8])
        return folder, config(folder, input=fake_bucket(monkeypatch, folder / "in"))

    whole, job = fresh("whole")
    with monkeypatch.context() as patch:
        count = killed_at(patch, -1, before=True)
        nightly(job, now=NOW)
    assert count[0] >= 7  # two copies, run, list of files, page, numbers, alerts
    for step, before in [*((step, True) for step in range(1, count[0] + 1)), (count[0], False)]:
        folder, job = fresh(f"{step}-{before}")
        with monkeypatch.context() as patch:
            killed_at(patch, step, before=before)
            with pytest.raises(Killed):
                nightly(job, now=NOW)
        nightly(job, now=NOW)
        assert ids(folder) == every(DAYS[0][:8], DAYS[1][:8]), (step, before)
        assert files_of(folder) == files_of(whole), (step, before)


def test_really_killed(place, monkeypatch):
    """A process of its own, killed while it works; the next one does the rest."""
    put(place / "in", "a.jsonl", DAYS[0])
    (place / "job.toml").write_text('input = "in"\nout = "out"\nquiet_minutes = 0\n')
    command = [sys.executable, "-m", "tracelens", "nightly", "job.toml", "--day", "2026-10-05"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    runs, until = place / "out" / "runs", time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until and not (runs.is_dir() and any(runs.iterdir())):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    monkeypatch.chdir(place)
    assert main(["nightly", "job.toml", "--day", "2026-10-05"]) == 0
    assert ids(place) == every(DAYS[0])
    assert not [path for path in runs.iterdir() if path.name.startswith(".partial") and path.suffix != ".lock"]


class Hook(http.server.BaseHTTPRequestHandler):
    """Takes what is posted, or refuses it."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.headers["Idempotency-Key"], json.loads(body)))
        self.send_response(self.server.answer)
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def hook():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    server.got, server.answer = [], 200
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_alerts_are_posted_once(tmp_path, hook):
    address = f"http://127.0.0.1:{hook.server_address[1]}/secret-token"
    alerts = [{"kind": "no_traces", "message": "none"}]
    hook.answer = 500
    with pytest.raises(StoreError, match="HTTP 500") as told:
        post.deliver(alerts, address, tmp_path, pause=0.0)
    assert "secret-token" not in str(told.value)
    assert len(hook.got) == 3
    hook.answer = 200
    assert post.deliver(alerts, address, tmp_path, pause=0.0)
    assert not post.deliver(alerts, address, tmp_path, pause=0.0)
    assert len(hook.got) == 4
    assert len({key for key, _ in hook.got}) == 1
    assert hook.got[-1][1]["alerts"] == alerts


@pytest.fixture
def odd_server():
    """Takes connections; says nothing, or nonsense."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.mark.parametrize(
    ("address", "problem"),
    [("http://127.0.0.1:port/", "InvalidURL"), ("http://a b/", "InvalidURL"), ("http://[::1", "ValueError"),
     ("http://127.0.0.1:9/", "URLError"), ("silent", "TimeoutError|URLError"), ("nonsense", "BadStatusLine")],
)  # fmt: skip
def test_webhooks_that_cannot_take_anything(tmp_path, monkeypatch, odd_server, address, problem):
    monkeypatch.setattr(post, "_SECONDS", 0.1)
    if "://" not in address:
        if address == "nonsense":

            def answer():
                for _ in range(post.TRIES):
                    with odd_server.accept()[0] as caller:
                        caller.recv(65536)
                        caller.sendall(b"nonsense\r\n\r\n")

            threading.Thread(target=answer, daemon=True).start()
        address = f"http://127.0.0.1:{odd_server.getsockname()[1]}/secret"
    with pytest.raises(StoreError, match=rf"did not take the alerts \(({problem})\).*run the job again") as told:
        post.deliver([{"kind": "no_traces"}], address, tmp_path, pause=0.0)
    assert "secret" not in str(told.value)
    assert not (tmp_path / "sent").exists()


def test_the_command(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    write(place / "in" / "a.jsonl", DAYS[0])
    write(place / "in" / "b.json", [{"who": "knows"}])
    (place / "job.toml").write_text('input = "in"\nout = "out"\nquiet_minutes = 0\n')
    assert main(["nightly", "job.toml", "--day", str(FIRST.date()), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["alerts"][0]["kind"] == "unreadable"
    assert told["taken"]["run"]
    (place / "in" / "b.json").unlink()
    assert main(["nightly", "job.toml", "--day", "2026-10-02"]) == 0
    assert "no new trace" in capsys.readouterr().out
    assert main(["nightly", "job.toml", "--day", "today"]) == 2
    assert main(["nightly", "missing.toml"]) == 2
    assert tl.open_results(place / "out").summary().n_traces == A_DAY
