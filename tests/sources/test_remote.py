"""Inputs in object stores: against a local server that speaks S3, and a store in memory that fails."""

import gzip
import json
import sys
from contextlib import closing
from pathlib import Path

import fsspec
import pytest
import zstandard

import tracelens as tl
from tests.sources.reading import read
from tests.sources.s3_server import serve
from tracelens.errors import InputError
from tracelens.sources.detect import open_input
from tracelens.sources.reading import remote
from tracelens.sources.reading.remote import Remote, copies, find_remote, is_remote, plain


def lines(*ids):
    return "".join(json.dumps({"trace_id": each, "tool_calls": [{"name": "a"}]}) + "\n" for each in ids).encode()


OBJECTS = {
    "traces/day/a.jsonl": lines("a1", "a2"),
    "traces/day/deep/b.jsonl.gz": gzip.compress(lines("b1")),
    "traces/day/notes.txt": b"no traces",
    "traces/runs.eval": b"",
}


@pytest.fixture(scope="module", params=["pyarrow", "s3fs", "s3fs and moto"])
def bucket(request):
    """A bucket with files, and the library that reaches it: what PyArrow brings along, or s3fs where it is there."""
    patch = pytest.MonkeyPatch()
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION")
    for name, value in zip(names, ("testing", "testing", "us-east-1"), strict=True):
        patch.setenv(name, value)
    if request.param == "pyarrow":
        patch.setitem(sys.modules, "s3fs", None)
        patch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    else:
        pytest.importorskip("s3fs", reason="needs s3fs, of the extra `cloud`")
    if request.param == "s3fs and moto":
        moto = pytest.importorskip("moto.server", reason="needs moto[server], which is in no extra: it is large")
        server = moto.ThreadedMotoServer(port=0, verbose=False)
        server.start()
        patch.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server.get_host_and_port()))
        store = fsspec.filesystem("s3", skip_instance_cache=True)
        store.mkdir("traces")
        store.pipe(OBJECTS)
        stop = server.stop
    else:
        server, address = serve(OBJECTS)
        patch.setenv("AWS_ENDPOINT_URL", address)

        def stop():
            server.shutdown()
            server.server_close()

    yield "s3://traces"
    patch.undo()
    stop()


def ids(source, **options):
    return [(row["trace_id"], row["source"]) for row in read(source, **options)["traces"]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
class TestS3:
    def test_one_file(self, bucket):
        assert ids(f"{bucket}/day/a.jsonl") == [("a1", "a.jsonl"), ("a2", "a.jsonl")]

    def test_a_folder(self, bucket):
        assert ids(f"{bucket}/day") == [("a1", "a.jsonl"), ("a2", "a.jsonl"), ("b1", "deep/b.jsonl.gz")]

    def test_a_glob(self, bucket):
        assert ids(f"{bucket}/day/**/*.gz") == [("b1", "b.jsonl.gz")]
        assert open_input([f"{bucket}/day/*.jsonl", f"{bucket}/day/deep/*"]).names == ("a.jsonl", "b.jsonl.gz")

    def test_small_ranges_give_the_same(self, bucket, monkeypatch):
        whole = read(f"{bucket}/day")
        monkeypatch.setattr(remote, "RANGE", 7)
        assert read(f"{bucket}/day") == whole

    def test_scored_from_afar(self, bucket):
        results = tl.score(f"{bucket}/day", progress=False)
        assert results.traces["trace_id"].to_list() == ["a1", "a2", "b1"]

    @pytest.mark.parametrize(
        ("what", "message"),
        [
            ("day/c.jsonl", r"^s3://traces/day/c\.jsonl: no such file"),
            ("day/*.parquet", r"^s3://traces/day/\*\.parquet: no file matches"),
            ("day/notes.txt", r"^s3://traces/day/notes\.txt: the format is not recognised: no record in it is JSON"),
        ],
    )
    def test_what_is_not_there_or_not_known(self, bucket, what, message):
        with pytest.raises(InputError, match=message):
            open_input(f"{bucket}/{what}")


class Flaky:
    """A store that fails, or gives too little, before it gives the bytes."""

    def __init__(self, data, failures):
        self.data, self.failures, self.asked = data, list(failures), []

    def cat_file(self, _path, start, end):
        self.asked.append((start, end))
        failure = self.failures.pop(0) if self.failures else None
        if isinstance(failure, Exception):
            raise failure
        return self.data[start:end][: failure if failure is not None else None]


def fetched(store, size):
    (copy,) = copies([Remote(store, "b/x", size, "s3://b/x")])
    with closing(copy):
        return Path(copy.name).read_bytes()


def test_ranges_are_asked_for_again(monkeypatch):
    monkeypatch.setattr(remote, "RANGE", 4)
    monkeypatch.setattr(remote, "PATIENCE", 0)
    store = Flaky(b"0123456789", [None, ConnectionError("reset"), 2, TimeoutError()])
    assert fetched(store, 10) == b"0123456789"
    assert store.asked == [(0, 4), (4, 8), (4, 8), (4, 8), (4, 8), (8, 10)]


@pytest.mark.parametrize(
    ("failures", "message", "asked"),
    [
        (
            [ConnectionError("reset")] * 9,
            r"^s3://b/x: cannot be read at byte 0, asked 4 times: ConnectionError: reset",
            4,
        ),
        ([1] * 9, r"cannot be read at byte 0, asked 4 times: 1 of 10 bytes came", 4),
        ([PermissionError("denied")], r"cannot be read: PermissionError: denied", 1),
    ],
)
def test_a_store_that_keeps_failing_is_an_error(monkeypatch, failures, message, asked):
    monkeypatch.setattr(remote, "PATIENCE", 0)
    store = Flaky(b"0123456789", failures)
    with pytest.raises(InputError, match=message):
        fetched(store, 10)
    assert len(store.asked) == asked


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(InputError, match=r"needs fsspec\. Hint: install the extra `cloud`"):
        open_input("s3://bucket/a.jsonl")


def test_other_stores_and_kinds_of_address(tmp_path):
    fsspec.filesystem("memory").pipe("/box/a.jsonl", lines("m"))
    assert ids("memory://box/a.jsonl") == [("m", "a.jsonl")]
    (tmp_path / "f.jsonl").write_bytes(lines("f"))
    assert ids(f"file://{tmp_path}/f.jsonl") == [("f", "f.jsonl")]
    with pytest.raises(InputError, match=r"no such kind of address: .*Hint: did you mean 's3'"):
        find_remote("s33://bucket/a", lambda _: True)


def test_no_credentials_are_told():
    assert plain("ftp://ann:secret@host/a.jsonl") == "ftp://host/a.jsonl"
    assert not is_remote("C:\\traces")
    assert not is_remote("a:b")


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst"])
def test_a_line_of_more_than_16_mib(tmp_path, ending):
    long = {"trace_id": "l", "tool_calls": [{"name": "a", "arguments": {"text": "x" * (17 << 20)}}]}
    data = lines("s") + json.dumps(long).encode() + b"\n" + lines("e")
    pack = {"jsonl.gz": lambda data: gzip.compress(data, 1), "jsonl.zst": zstandard.compress}.get(ending, bytes)
    path = tmp_path / f"long.{ending}"
    path.write_bytes(pack(data))
    found = read(path)
    assert [row["trace_id"] for row in found["traces"]] == ["s", "l", "e"]
    assert len(found["calls"][1]["arguments"]) > 17 << 20
