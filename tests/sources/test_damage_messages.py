"""Damaged copies of message lists and sessions: no crash, every record accounted for, untouched traces keep their rows."""

import json
import random
from pathlib import Path

import pytest

from tests.sources.reading import read
from tests.sources.test_damage import damaged
from tests.sources.writers.messages import RECORDS, SESSIONS, Call, Turn, dumps
from tracelens.sources import detect

TRACE = [
    Turn("I look", (Call("a", "find", {"q": "é\n"}, "x\ty", False), Call("b", "find", {}, "no", True))),
    Turn("", (Call("a", "book", {"n": 9007199254740993, "deep": [{"k": None}]}, "ok", False),)),
    Turn("done 🧳"),
]
STREAMS = ("anthropic-stream", "openclaw")


@pytest.mark.parametrize("format", RECORDS)
def test_every_record_is_accounted_for(tmp_path, format):
    random_ = random.Random(5)
    name = "langchain" if format.startswith("langchain") else format
    path = tmp_path / "sample"
    data = "".join(dumps(RECORDS[format](TRACE, f"t{k}")) + "\n" for k in range(6)).encode()
    path.write_bytes(data)
    rows = {row["trace_id"]: row for row in read(path, name)["traces"]}
    same = 0
    for _ in range(5):
        path.write_bytes(damaged(random_, data))
        got = read(path, name, block_size=random_.choice([64, 1 << 20]))
        assert got["n_records"] == len(got["traces"]) + got["n_blank"] + len(got["rejects"])
        for row in got["traces"]:
            known = rows.get(row["trace_id"])
            if known is not None and known["record_hi"] == row["record_hi"]:
                same += 1
                assert {**row, "trace": 0, "line": 0} == {**known, "trace": 0, "line": 0}
    assert same > 5


def kept(found):
    """The calls of the trace that nobody touched."""
    trace = next(row["trace"] for row in found["traces"] if row["source"] == "good.jsonl")
    return [{**call, "trace": 0} for call in found["calls"] if call["trace"] == trace]


@pytest.mark.parametrize("format", [*SESSIONS, *STREAMS])
def test_every_line_of_a_session_is_accounted_for(tmp_path, format):
    random_ = random.Random(7)
    if format in SESSIONS:
        data, good = ("".join(dumps(line) + "\n" for line in SESSIONS[format](TRACE, name)) for name in ("bad", "good"))
    else:
        data = good = (Path(detect.__file__).parent / "samples" / f"{format}.jsonl").read_text(encoding="utf-8")
    (tmp_path / "good.jsonl").write_text(good, encoding="utf-8")
    (tmp_path / "bad.jsonl").write_text(data, encoding="utf-8")
    untouched = kept(read(tmp_path, format))
    assert untouched
    n_good = len(good.splitlines())
    for _ in range(4):
        broken = damaged(random_, data.encode())
        (tmp_path / "bad.jsonl").write_bytes(broken)
        got = read(tmp_path, format, block_size=random_.choice([64, 1 << 20]))
        n_broken = broken.count(b"\n") + bool(broken.split(b"\n")[-1])
        assert got["n_records"] == n_good + n_broken
        of_traces = got["n_records"] - got["n_blank"] - len(got["rejects"]) - got["n_merged"]
        assert n_good <= of_traces + got["n_blank"] <= n_good + n_broken
        assert kept(got) == untouched


@pytest.mark.parametrize("format", SESSIONS)
def test_lines_in_another_order_are_the_same_calls(tmp_path, format):
    """Lines of several sessions may be interleaved, and times say what came first where a session lies in two files."""
    lines = {name: [dumps(line) for line in SESSIONS[format](TRACE, name)] for name in ("s", "t")}
    for name, some in lines.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(some) + "\n", encoding="utf-8")
    names = ("trace", "call_index", "name", "arguments", "turn", "result", "status")
    before = [tuple(call[name] for name in names) for call in read(tmp_path, format)["calls"]]
    if format == "claude-code":
        both = [line for pair in zip(*lines.values(), strict=True) for line in pair]
        (tmp_path / "s.jsonl").write_text("\n".join(both) + "\n", encoding="utf-8")
        (tmp_path / "t.jsonl").unlink()
    else:
        (tmp_path / "t.jsonl").rename(tmp_path / "z.jsonl")
    assert [tuple(call[name] for name in names) for call in read(tmp_path, format)["calls"]] == before


def test_the_writers_write_json():
    assert all(json.loads(dumps(write(TRACE, "x"))) for write in (*RECORDS.values(), *SESSIONS.values()))
