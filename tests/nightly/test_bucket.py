"""The nightly job on a bucket: against a local server that speaks S3."""

import gc
import sys
import warnings
from datetime import UTC, datetime, timedelta

import fsspec
import pytest

from tests.nightly.test_job import Killed, ids, place, reporting  # noqa: F401  fixtures
from tests.sources.s3_server import CHANGED, serve
from tests.sources.test_remote import lines
from tracelens.cli import main
from tracelens.errors import InputError
from tracelens.nightly import Config, nightly, places

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


class Box:
    """A bucket: how objects get into it, and the time at which they were changed."""

    def __init__(self, address, put, changed=None):
        self.address, self.put, self._changed = address, put, changed

    def taken(self, config, minutes):
        """What is taken some minutes after the objects were changed."""
        return nightly(config, now=(self._changed or datetime.now(UTC)) + timedelta(minutes=minutes)).taken


@pytest.fixture(scope="module", params=["pyarrow", "s3fs and moto"])
def far(request):
    """Makes buckets of a local server that speaks S3: a small one, reached by PyArrow, or moto, by s3fs."""
    with pytest.MonkeyPatch.context() as patch:
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION")
        for name, value in zip(names, ("testing", "testing", "us-east-1"), strict=True):
            patch.setenv(name, value)
        if request.param == "pyarrow":
            patch.setitem(sys.modules, "s3fs", None)
            patch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
            objects = {}
            server, address = serve(objects)
            patch.setenv("AWS_ENDPOINT_URL", address)
            yield lambda name: Box(
                f"s3://{name}",
                lambda found: objects.update({f"{name}/{key}": data for key, data in found.items()}),
                datetime.fromisoformat(CHANGED),
            )
            server.shutdown()
            server.server_close()
            return
        moto = pytest.importorskip("moto.server", reason="needs moto[server], which is in no extra: it is large")
        pytest.importorskip("s3fs", reason="needs s3fs, of the extra `cloud`")
        server = moto.ThreadedMotoServer(port=0, verbose=False)
        server.start()
        patch.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server.get_host_and_port()))
        store = fsspec.filesystem("s3", skip_instance_cache=True)

        def made(name):
            store.mkdir(name)
            put = lambda found: store.pipe({f"{name}/{key}": data for key, data in found.items()})  # noqa: E731
            return Box(f"s3://{name}", put)

        yield made
        server.stop()
        type(store).clear_instance_cache()  # others have servers of their own
        with warnings.catch_warnings():  # s3fs leaves its connections to the garbage collector
            warnings.simplefilter("ignore")
            gc.collect()


@pytest.fixture
def box(far, request):
    """A bucket of the test's own."""
    return far("-".join(request.node.originalname.split("_"))[:40])


def job(folder, address, **more):
    return Config.of({"input": address, "out": "out", "quiet_minutes": 10} | more, base=folder)


def test_night_after_night(place, box):  # noqa: F811
    config = job(place, f"{box.address}/traces")
    box.put({"elsewhere/c.jsonl": lines("c1"), "traces/notes.txt": b"no traces"})
    assert (box.taken(config, 20).n_there, box.taken(config, 20).run) == (0, None)
    box.put({"traces/a.jsonl": lines("a1", "a2"), "traces/deep/b.jsonl": lines("b1")})
    assert box.taken(config, 5).n_writing == 2
    first = box.taken(config, 20)
    assert (first.n_files, first.n_writing, first.unreadable) == (2, 0, {})
    assert ids(place) == ["a1", "a2", "b1"]
    assert box.taken(config, 20).n_files == 0
    box.put({"traces/a.jsonl": lines("a1", "a2", "a3"), "traces/broken.json": b'[{"who": "knows"}]'})
    second = box.taken(config, 20)
    assert (second.n_files, second.n_known, list(second.unreadable)) == (2, 2, ["broken.json"])
    assert ids(place) == ["a1", "a2", "a3", "b1"]
    alone = job(place, f"{box.address}/elsewhere/c.jsonl")
    assert (box.taken(alone, 20).n_files, box.taken(alone, 20).n_files) == (1, 0)
    assert not (place / "out" / "nightly" / "spool").exists()


@pytest.mark.parametrize("far", ["s3fs and moto"], indirect=True)
def test_keys_that_are_no_paths_and_changes_that_no_time_shows(place, box):  # noqa: F811
    keys = ("a.jsonl", "a.jsonl/b.jsonl", "deep/../../up.jsonl", "x//y.jsonl", "[n\u00e4 me]?.jsonl")
    box.put({f"traces/{key}": lines(f"{n}") for n, key in enumerate(keys)})
    config = job(place, f"{box.address}/traces")
    assert (box.taken(config, 20).unreadable, ids(place)) == ({}, ["0", "1", "2", "3", "4"])
    box.put({"traces/a.jsonl": lines("5")})  # of the same size, perhaps within the same second
    box.taken(config, 20)
    assert ids(place) == ["0", "1", "2", "3", "4", "5"]
    assert not list(place.parent.rglob("up.jsonl"))
    with pytest.raises(InputError, match=r"^s3://no-such-bucket/x: no such file"):
        box.taken(job(place, "s3://no-such-bucket/x"), 1)


def test_killed_while_it_copies(place, box, monkeypatch):  # noqa: F811
    box.put({f"{name}.jsonl": lines(name) for name in "abc"})
    config, fill = job(place, f"{box.address}/*.jsonl", quiet_minutes=0), places.fill

    def dying(copy, file):
        fill(copy, file)
        if file.path.endswith("b.jsonl"):
            raise Killed

    monkeypatch.setattr(places, "fill", dying)
    with pytest.raises(Killed):
        box.taken(config, 1)
    monkeypatch.setattr(places, "fill", fill)
    assert box.taken(config, 1).n_files == 3
    assert ids(place) == ["a", "b", "c"]


def test_an_object_that_cannot_be_copied(place, box, monkeypatch, capsys):  # noqa: F811
    box.put({f"{name}.jsonl": lines(name) for name in "ab"})
    fill = places.fill

    def refusing(copy, file):
        if file.path.endswith("a.jsonl"):
            raise InputError("cannot be read: PermissionError: denied", where=file.address)
        fill(copy, file)

    monkeypatch.setattr(places, "fill", refusing)
    (place / "job.toml").write_text(f'input = "{box.address}"\nout = "out"\nquiet_minutes = 0\n')
    assert main(["nightly", str(place / "job.toml")]) == 1
    assert "1 file cannot be read, such as a.jsonl: cannot be read: PermissionError" in capsys.readouterr().out
    assert ids(place) == ["b"]
    monkeypatch.setattr(places, "fill", fill)
    assert main(["nightly", str(place / "job.toml")]) == 0
    assert ids(place) == ["a", "b"]
