"""Damaged copies of files: no crash, every record accounted for, untouched traces keep their rows."""

import json
import random

import pytest

from tests.sources.reading import read
from tests.sources.test_chat import USER, assistant, call, result
from tests.sources.test_native import FULL
from tests.sources.test_taubench import run

TALK = {
    "id": "x",
    "messages": [USER, assistant(call("a", id="1"), "junk"), result("é", "1"), {"role": "assistant", "content": "z"}],
}
SAMPLES = {
    "native": "\n".join(json.dumps({**FULL, "trace_id": f"t{k}"}, ensure_ascii=False) for k in range(6)) + "\n",
    "chat": "\n".join(json.dumps({**TALK, "id": f"t{k}"}, ensure_ascii=False) for k in range(8)) + "\n",
    "tau-bench": json.dumps([run(k, 0) for k in range(4)], indent=1),
}


def damaged(random_, data):
    out = bytearray(data)
    at = random_.randrange(len(out))
    how = random_.randrange(5)
    if how == 0:
        out[at] ^= 1 << random_.randrange(8)
    elif how == 1:
        del out[at:]
    elif how == 2:
        del out[at : at + random_.randint(1, 30)]
    elif how == 3:
        out[at:at] = random_.randbytes(random_.randint(1, 6))
    else:
        lines = bytes(out).split(b"\n")
        random_.shuffle(lines)
        out = bytearray(b"\n".join([*lines, *random_.choices(lines, k=2)]))
    return bytes(out)


@pytest.mark.parametrize("format", SAMPLES)
def test_every_record_is_accounted_for(tmp_path, format):
    random_ = random.Random(11)
    path = tmp_path / "sample"
    data = SAMPLES[format].encode()
    path.write_bytes(data)
    rows = {row["trace_id"]: row for row in read(path, format)["traces"]}
    same = 0
    for _ in range(50):
        path.write_bytes(damaged(random_, data))
        got = read(path, format, block_size=random_.choice([64, 1 << 20]))
        assert got["n_records"] == len(got["traces"]) + got["n_blank"] + len(got["rejects"])
        for row in got["traces"]:
            known = rows.get(row["trace_id"])
            if known is not None and known["record_hi"] == row["record_hi"]:
                same += 1
                assert {**row, "trace": 0, "line": 0} == {**known, "trace": 0, "line": 0}
    assert same > 50
