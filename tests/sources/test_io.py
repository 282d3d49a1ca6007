"""Files and blocks: compression, arrays, documents, long records, damage."""

import gzip
import json
import zlib

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.reading import read, write
from tracelens.columns import padded
from tracelens.errors import InputError
from tracelens.kernels.records import newlines, split_lines
from tracelens.sources.reading import io
from tracelens.sources.reading.files import File, find_files
from tracelens.sources.reading.io import read_blocks

LINES = [json.dumps({"trace_id": f"t{k}", "tool_calls": [{"name": "a", "arguments": {"k": k}}]}) for k in range(50)]


def ids(got):
    return [row["trace_id"] for row in got["traces"]]


def packed(data, how):
    if how == "gz":
        return gzip.compress(data)
    if how == "gz members":
        return gzip.compress(data[:700]) + gzip.compress(data[700:])
    if how == "zst":
        return zstandard.compress(data)
    return zstandard.compress(data[:700]) + zstandard.compress(data[700:])


@pytest.mark.parametrize("how", ["gz", "gz members", "zst", "zst frames"])
@pytest.mark.parametrize("size", [100, 1 << 20])
def test_compressed_files_read_like_plain_ones(tmp_path, how, size):
    plain = write(tmp_path, LINES)
    path = tmp_path / "traces.packed"
    path.write_bytes(packed(plain.read_bytes(), how))
    one, other = read(plain), read(path, block_size=size)
    assert ids(one) == ids(other) == [f"t{k}" for k in range(50)]
    assert one["calls"] == other["calls"]
    assert one["records"] == other["records"]


def decoded(data, how):
    """What the library of the format itself makes of a file that is cut off."""
    if how == "gz":
        return zlib.decompressobj(31).decompress(data)
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


@pytest.mark.parametrize("how", ["gz", "zst"])
@pytest.mark.parametrize("n", [3, 60, 3000])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.99, 1])
def test_a_cut_off_archive_keeps_all_it_holds_and_says_so(tmp_path, how, n, share):
    rng = np.random.default_rng(0)
    noisy = [json.dumps({"trace_id": f"t{k}", "tool_calls": [], "x": rng.bytes(40).hex()}) for k in range(n)]
    whole = packed(("\n".join(noisy) + "\n").encode(), how)
    cut = whole[: int(len(whole) * share) - (share == 1)]
    path = tmp_path / f"cut.jsonl.{how}"
    path.write_bytes(cut)
    text = decoded(cut, how)
    got = read(path, "native", block_size=1 << 14)
    assert ids(got) == [f"t{k}" for k in range(text.count(b"\n"))]
    damage = got["rejects"][-1]
    assert f"at byte {len(cut)} of {len(cut)}" in damage["reason"]
    assert (damage["line"], damage["offset"]) == (text.count(b"\n") + 1, len(text))
    assert len(got["rejects"]) == 1 + (not text.endswith(b"\n") and text != b"")
    assert got["n_records"] == len(got["traces"]) + len(got["rejects"])


@pytest.mark.parametrize("how", ["gz", "gz members", "zst", "zst frames"])
@pytest.mark.parametrize("tail", [b"more", b"\0" * 600, b"\x1f\x8b", b"\x28\xb5\x2f\xfd"])
def test_bytes_behind_an_archive_lose_nothing(tmp_path, how, tail):
    path = tmp_path / "traces.packed"
    path.write_bytes(packed("\n".join(LINES).encode() + b"\n", how) + tail)
    got = read(path)
    assert ids(got) == [f"t{k}" for k in range(50)]
    (damage,) = got["rejects"]
    assert "damaged or cut off" in damage["reason"]
    assert damage["line"] == 51


def test_a_flipped_bit_keeps_what_stands_before_it(tmp_path):
    rng = np.random.default_rng(0)
    noisy = [json.dumps({"trace_id": f"t{k}", "tool_calls": [], "x": rng.bytes(40).hex()}) for k in range(4000)]
    whole = bytearray(packed(("\n".join(noisy) + "\n").encode(), "gz"))
    whole[len(whole) // 2] ^= 64
    path = tmp_path / "flipped.jsonl.gz"
    path.write_bytes(whole)
    got = read(path, "native")
    assert ids(got)[:1900] == [f"t{k}" for k in range(1900)]
    assert "damaged or cut off" in got["rejects"][-1]["reason"]


@pytest.mark.parametrize("size", [1, 33, 1 << 20])
@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_is_its_elements(tmp_path, size, indent):
    records = [json.loads(line) for line in LINES] + [{"tool_calls": [{"name": "x", "arguments": '}],["'}]}]
    path = tmp_path / "all.json"
    path.write_text(" " + json.dumps(records, indent=indent) + "\n")
    got = read(path, block_size=size)
    assert ids(got)[:50] == [f"t{k}" for k in range(50)]
    assert ids(got)[50] == "all.json[50]"
    assert [row["line"] for row in got["traces"]][:2] == ([1, 1] if indent is None else [2, 13])
    assert got["calls"][50]["arguments"] == '}],["'
    assert got["n_records"] == 51


@pytest.mark.parametrize(
    ("tail", "reason"),
    [("", "the array does not end"), (', {"trace_id"', "unterminated"), ("] x", "trailing data after the array")],
)
def test_a_damaged_array_is_rejected_where_it_is_damaged(tmp_path, tail, reason):
    path = tmp_path / "all.json"
    path.write_text('[\n{"trace_id":"a","tool_calls":[]},\n{"trace_id":NaN},\n{"trace_id":"b","tool_calls":[]}' + tail)
    got = read(path, "native")
    assert ids(got) == ["a", "b"]
    assert [row["line"] for row in got["rejects"]] == [3, 4]
    assert reason in got["rejects"][1]["reason"]
    assert got["n_records"] == 4


def test_a_document_over_several_lines_is_one_record(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"tool_calls": [{"name": "a"}]}, indent=2))
    assert ids(read(path)) == ["one.json:1"]


def test_a_record_longer_than_a_block_gets_its_own(tmp_path):
    long = json.dumps({"trace_id": "long", "tool_calls": [], "final_answer": "x" * 5000})
    path = write(tmp_path, [LINES[0], long, LINES[1]])
    blocks = list(read_blocks(File(path, "a"), "lines", size=300))
    assert len(blocks) >= 2
    assert max(block.size for block in blocks) < 5000 + 300 + 2 * len(LINES[0])
    assert ids(read(path, block_size=300)) == ["t0", "long", "t1"]


def test_a_line_beyond_any_block_is_rejected_and_the_rest_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(io, "LONGEST", 2000)
    path = write(tmp_path, [LINES[0], "x" * 9000, LINES[1]])
    got = read(path, "native", block_size=500)
    assert ids(got) == ["t0", "t1"]
    assert [(row["line"], row["reason"]) for row in got["rejects"]] == [(2, "the line is longer than 2 GiB")]
    assert [row["line"] for row in got["traces"]] == [1, 3]
    assert got["n_records"] == 3


def test_empty_files_and_files_of_blank_lines_hold_nothing(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"")
    (tmp_path / "b.jsonl").write_bytes(b"\n \r\n\t\n")
    (tmp_path / "c.jsonl").write_bytes(b"\xef\xbb\xbf")
    got = read(tmp_path)
    assert (got["n_records"], got["n_blank"], got["traces"]) == (3, 3, [])


@given(st.binary(max_size=80).map(lambda data: data.replace(b"\r", b"\n")))
@settings(max_examples=100)
def test_lines_are_cut_as_split_cuts_them(data):
    starts, ends = np.empty(len(data) + 1, np.int64), np.empty(len(data) + 1, np.int64)
    n = split_lines(padded(data), 0, len(data), starts, ends)
    lines = data.split(b"\n")
    lines = lines[:-1] if not lines[-1] else lines
    assert [data[a:b] for a, b in zip(starts[:n], ends[:n], strict=True)] == lines
    assert newlines(padded(data + b"\n\n"), 0, len(data)) == data.count(b"\n")


def test_inputs_are_paths_globs_folders_and_lists(tmp_path):
    for name in ("b.jsonl", "a.json", "sub/c.ndjson.gz", "sub/d.txt", ".hidden.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert [file.name for file in find_files(tmp_path)] == ["a.json", "b.jsonl", "sub/c.ndjson.gz"]
    assert [file.name for file in find_files(str(tmp_path / "*.json*"))] == ["a.json", "b.jsonl"]
    assert [file.name for file in find_files(str(tmp_path / "**" / "*.txt"), root=tmp_path)] == ["sub/d.txt"]
    both = [tmp_path / "sub" / "d.txt", tmp_path / "b.jsonl", tmp_path / "b.jsonl"]
    assert [file.name for file in find_files(both)] == ["sub/d.txt", "b.jsonl"]
    assert find_files(tmp_path / "sub" / "d.txt")[0].name == "d.txt"
    for wrong in (tmp_path / "*.parquet", tmp_path / "none" / "x.jsonl"):
        with pytest.raises(InputError, match="Hint"):
            find_files(str(wrong))
    with pytest.raises(InputError, match="no input"):
        find_files([])
