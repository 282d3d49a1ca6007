"""Damaged copies of files of tracing backends: no crash, every record accounted for, untouched traces keep their rows."""

from __future__ import annotations

import json
import random

import pytest

from tests.sources.backend_writers import EXTRA, RECORDS
from tests.sources.reading import read
from tests.sources.test_backends import TRACE
from tests.sources.test_damage import damaged

FORMS = {name: (name, records) for name, records in RECORDS.items()} | EXTRA
SPAN_A_RECORD = {"langsmith", "weave", "phoenix", "phoenix rows", "langfuse rows"}
COPIES = 3


def lines_of(form, n=3):
    _, records = FORMS[form]
    traces = [{**TRACE, "id": f"{k:032x}", "turns": TRACE["turns"][k:]} for k in range(n)]
    return [json.dumps(record, ensure_ascii=False) for k, trace in enumerate(traces) for record in records(trace, k)]


def by_trace(got):
    """Rows of calls and spans, and the digest, by the id of their trace."""
    out = {}
    for row in got["traces"]:
        of = {
            name: [{**one, "trace": 0} for one in got[name] if one["trace"] == row["trace"]]
            for name in ("calls", "spans")
        }
        out[row["trace_id"]] = (row["record_hi"], row["record_lo"], of, row["final_answer"], row["tags"])
    return out


@pytest.mark.parametrize("form", FORMS)
def test_every_record_is_accounted_for(tmp_path, form):
    format, _ = FORMS[form]
    random_ = random.Random(5)
    data = ("\n".join(lines_of(form)) + "\n").encode()
    path = tmp_path / "sample.jsonl"
    path.write_bytes(data)
    before = by_trace(read(path, format))
    same = 0
    for _ in range(COPIES):
        copy = damaged(random_, data)
        path.write_bytes(copy)
        got = read(path, format, block_size=random_.choice([6000, 1 << 20]))
        rest = got["n_records"] - got["n_blank"] - len(got["rejects"]) - got["n_merged"]
        assert rest >= len(got["traces"])
        if form in SPAN_A_RECORD:
            assert got["n_records"] == len(copy.split(b"\n")) - copy.endswith(b"\n")
            assert rest == len(got["spans"])
        for key, rows in by_trace(got).items():
            if key in before and rows[:2] == before[key][:2]:
                same += 1
                assert rows == before[key]
    assert same >= 1


@pytest.mark.parametrize("form", FORMS)
def test_interleaved_reordered_and_repeated_records_change_nothing(tmp_path, form):
    format, _ = FORMS[form]
    lines = lines_of(form)
    path = tmp_path / "sample.jsonl"
    path.write_text("\n".join(lines))
    before = by_trace(read(path, format))
    random_ = random.Random(6)
    shuffled = [*lines, *random_.sample(lines, 2)]
    random_.shuffle(shuffled)
    path.write_text("\n".join(shuffled))
    got = read(path, format)
    if format in {"mlflow", "langfuse-chat"}:
        # a trace is a record here, and what repeats it is merged or rejected by the run
        assert got["n_records"] == len(shuffled)
        return
    assert got["n_merged"] == 2 if format != "langfuse" or form == "langfuse rows" else got["n_merged"] > 2
    assert not got["rejects"]
    assert by_trace(got) == before
