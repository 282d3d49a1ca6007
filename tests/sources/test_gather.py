"""Traces spread over records: gathered wherever they lie, whatever the blocks, and every record accounted for."""

import gzip
import json
import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tests.sources.reading import write
from tracelens.columns import CALLS, SPANS, TEXT, TRACES, table
from tracelens.errors import InputError
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ANYTHING, STRING, Projection, Row
from tracelens.run.again import stored_input
from tracelens.run.score import score_run
from tracelens.sources.base import Options, Sniff, Tables
from tracelens.sources.detect import Opened
from tracelens.sources.gather import NO_KEY, GatheredSource
from tracelens.sources.reading.files import find_files
from tracelens.store import open_run
from tracelens.suite import Suite


class Steps(GatheredSource):
    """A call a line: whose, its name and arguments."""

    name, title, sample = "steps", "steps: a call a line", "steps.jsonl"
    keys = Projection(Row("line", capture={"trace": "of"}))
    projection = Projection(Row("line", capture={"name": "name", "arguments": "arguments"}))

    def sniff(self, _):
        return Sniff(0, "never")

    def faults(self, found):
        yield ~found.top.has("name", STRING), "there is no name"

    def tables(self, pieces):
        line = pieces.found["line"]
        arguments, form = line.arguments("arguments")
        index = positions_in(group_offsets(pieces.trace, pieces.n_traces))
        calls = table(
            CALLS,
            line.n,
            trace=pieces.trace.astype(np.uint32),
            call_index=index,
            name=line.text("name"),
            malformed=np.zeros(line.n, bool),
            arguments=arguments,
            arguments_form=form,
            depth=np.zeros(line.n, np.int32),
        )
        spans = table(
            SPANS,
            line.n,
            trace=calls["trace"],
            span_id=line.text("name", *ANYTHING),
            kind=["tool"] * line.n,
            call_index=index,
        )
        return Tables(table(TRACES, pieces.n_traces, **pieces.columns()), calls, spans=spans)


class Files(Steps):
    """The same with a trace a file."""

    def trace_keys(self, found, block):
        return pa.repeat(pa.scalar(block.source, TEXT), found.top.n)


def read(source, path, block_size=1 << 20):
    files = find_files(path)
    blocks = source.blocks(files, Options(block_size, alone=len(files) == 1))
    return [source.parse(block) for block in blocks]


def rows(batches):
    """Names and arguments by trace, with place and digest of the trace, in order."""
    out = {}
    for batch in batches:
        for k, row in enumerate(batch.traces.to_pylist()):
            calls = [one for one in batch.calls.to_pylist() if one["trace"] == k]
            place = (row["source"], row["line"], row["record_hi"], row["record_lo"])
            out[row["trace_id"]] = (place, [(one["call_index"], one["name"], one["arguments"]) for one in calls])
    return out


def step(of, name, **arguments):
    return json.dumps({"of": of, "name": name, "arguments": arguments}, ensure_ascii=False)


def interleaved(n_traces=9, seed=3):
    lines = [step(f"t{k}", f"tool{i}", place="é" * (i + 1), k=k) for k in range(n_traces) for i in range(k % 4 + 1)]
    random.Random(seed).shuffle(lines)
    return lines


def test_traces_are_put_together_whatever_the_blocks(tmp_path):
    lines = interleaved()
    write(tmp_path, lines[:7], "a.jsonl")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines[7:15]).encode()))
    (tmp_path / "c.json").write_text("[" + ",\n".join(lines[15:]) + "]")
    files = find_files(tmp_path)
    options = Options(1 << 20, {file.name: "array" if "c" in file.name else "lines" for file in files}, alone=False)
    source, found = Steps(), []
    for size in (1 << 20, 200, 64):
        batches = [source.parse(block) for block in source.blocks(files, replace(options, block_size=size))]
        found.append(rows(batches))
        assert sum(batch.n_records for batch in batches) == len(lines)
        assert len(batches) == 2 if size == 1 << 20 else len(batches) >= 5
    assert found[0] == found[1] == found[2]
    first = list(dict.fromkeys(json.loads(line)["of"] for line in lines))
    assert list(found[0]) == first
    for key, (place, calls) in found[0].items():
        wanted = [json.loads(line) for line in lines if json.loads(line)["of"] == key]
        assert [(name, json.loads(text)) for _, name, text in calls] == [(w["name"], w["arguments"]) for w in wanted]
        assert [index for index, _, _ in calls] == list(range(len(wanted)))
        at = next(k for k, line in enumerate(lines) if json.loads(line)["of"] == key)
        source_name = "a.jsonl" if at < 7 else "b.jsonl.gz" if at < 15 else "c.json"
        assert place[:2] == (source_name, at + 1 - (0 if at < 7 else 7 if at < 15 else 15))


def test_every_record_counts_once(tmp_path):
    lines = [step("a", "x"), "", "{bad", step("b", "y"), step("a", "x"), '{"name": "z"}', '{"of": "a"}', step("a", "w")]
    path = write(tmp_path, lines)
    batches = read(Steps(), path)
    assert [name for _, name, _ in rows(batches)["a"][1]] == ["x", "w"]
    rejects = [(row["line"], row["reason"]) for batch in batches for row in batch.rejects.to_pylist()]
    assert rejects[1:] == [(6, NO_KEY), (7, "there is no name")]
    assert rejects[0][0] == 3
    assert sum(batch.n_merged for batch in batches) == 1
    assert sum(batch.n_blank for batch in batches) == 1
    assert sum(batch.n_records for batch in batches) == len(lines)


def test_a_trace_of_which_no_record_is_left_is_gone(tmp_path):
    batches = read(Steps(), write(tmp_path, ['{"of": "a"}', step("b", "y")]))
    assert list(rows(batches)) == ["b"]
    assert batches[1].calls["trace"].to_pylist() == [0]


def test_the_digest_of_a_trace_does_not_depend_on_the_order_of_its_records(tmp_path):
    lines = [step("a", "x"), step("b", "y"), step("a", "z")]
    one = rows(read(Steps(), write(tmp_path, lines, "1.jsonl")))["a"][0]
    two = rows(read(Steps(), write(tmp_path, lines[::-1], "2.jsonl")))["a"][0]
    other = rows(read(Steps(), write(tmp_path, [*lines, step("a", "q")], "3.jsonl")))["a"][0]
    assert one[2:] == two[2:] != other[2:]


def test_a_file_may_be_a_trace(tmp_path):
    for k in range(5):
        write(tmp_path, [step("same", f"tool{k}"), step("same", "end")], f"{k}.jsonl")
    batches = read(Files(), tmp_path)
    assert [len(calls) for _, calls in rows(batches).values()] == [2] * 5
    assert list(rows(batches)) == [f"{k}.jsonl" for k in range(5)]
    assert len(batches) == 2


def test_damaged_compression_is_a_reject(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(interleaved(40)).encode())[:-30])
    batches = read(Steps(), path)
    assert "damaged" in batches[0].rejects["reason"].to_pylist()[-1]
    assert sum(batch.traces.num_rows for batch in batches) > 10


def test_a_file_that_shrinks_is_an_error(tmp_path):
    path = write(tmp_path, interleaved())
    files = find_files(path)
    blocks = Steps().blocks(files, Options())
    next(blocks)
    path.write_text("")
    with pytest.raises(InputError, match="shorter"):
        list(blocks)


def test_spans_are_stored_and_scored_again(tmp_path):
    path = write(tmp_path, [*interleaved(), interleaved()[0]])
    files = find_files(path)

    def blocks():
        for block in Steps().blocks(files, Options(300)):
            yield Steps().parse, block

    opened = Opened("steps", "for a test", ("traces.jsonl",), blocks)
    suite = Suite.from_dict({"name": "s"})
    run = open_run(score_run(opened, suite, out=tmp_path / "one", threads=2))
    spans = run.read("spans")
    assert spans.height == len(interleaved())
    assert spans["call_index"].null_count() == 0
    counts = run.read("runs").row(0, named=True)
    assert counts["n_records"] == spans.height + 1
    assert counts["n_merged"] == 1
    again = open_run(score_run(stored_input(run), suite, out=tmp_path / "two"))
    assert again.read("spans").equals(spans.with_columns(run_id=again.read("spans")["run_id"]))
    assert again.read("runs").select("n_records", "n_merged", "notes").row(0) == run.read("runs").select(
        "n_records", "n_merged", "notes"
    ).row(0)
