"""The digest changes with content, and with nothing else."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.suite.test_references import JSON
from tracelens.suite import Suite
from tracelens.suite.digest import compact

BASE = {
    "tools": {"f": {"schema": {"type": "object", "required": ["a"]}, "aliases": ["g", "h"]}},
    "thresholds": {"f1": 0.5, "recall": 1},
    "references_file": "r.jsonl",
    "state": [{"name": "s", "database": "postgresql://${U}@h/d", "sql": "select 1"}],
}
REFERENCES = (
    '{"case_id": 1, "expected": [{"name": "f", "arguments": {"a": 1, "b": "é"}}]}\n{"case_id": 2, "state": {"n": 1}}\n'
)


def digest(tmp_path, data=BASE, references=REFERENCES):
    (tmp_path / "r.jsonl").write_text(references, encoding="utf-8")
    return Suite.from_dict(data, tmp_path).digest


def test_layout_does_not_count(tmp_path, monkeypatch):
    first = digest(tmp_path)
    assert len(first) == 64
    shuffled = {key: BASE[key] for key in reversed(BASE)} | {"thresholds": {"recall": 1.0, "f1": 0.5}}
    assert digest(tmp_path, shuffled) == first
    lines = REFERENCES.splitlines()
    spaced = lines[1] + "\n\n" + '{ "expected":[{"arguments":{"a":1 ,  "b":"é"},"name":"f"}],"case_id":"1"}\n'
    assert digest(tmp_path, references=spaced) == first
    monkeypatch.setenv("U", "someone")
    assert digest(tmp_path) == first


def test_the_way_a_tool_is_written_down_does_not_count(tmp_path):
    schema = '{"type": "object", "required": ["a"]}'
    inline = Suite.from_dict({"tools": {"f": {"schema": schema}}})
    (tmp_path / "t.json").write_text(f'[{{"name": "f", "input_schema": {schema}}}]')
    assert Suite.from_dict({"tools_file": "t.json"}, tmp_path).digest == inline.digest
    (tmp_path / "s.toml").write_text('# a comment\n[tools.f.schema]\ntype = "object"\nrequired = ["a"]\n')
    loaded = Suite.load(tmp_path / "s.toml")
    assert loaded.digest == inline.digest


@pytest.mark.parametrize(
    "change",
    [
        {"thresholds": {"f1": 0.5}}, {"name": "other"}, {"match": {"depth": "all"}}, {"safety": {"packs": []}},
        {"tools": {"f": {"schema": {"required": ["a"], "type": "object"}, "aliases": ["g", "h"]}}},
        {"tools": {"f": {"schema": {"type": "object", "required": ["b"]}, "aliases": ["g", "h"]}}},
        {"fields": {"f": {"a": {"equals": 1}}}}, {"normalize": {"f": {"a": "fold"}}}, {"schemas_from": "trace"},
    ],
)  # fmt: skip
def test_content_counts(tmp_path, change):
    assert digest(tmp_path, BASE | change) != digest(tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"a": 1', '"a": 1.0'), ('"a": 1', '"a": 9007199254740993'), ('"n": 1', '"n": 2'), ("é", "e"), ('"name": "f"', '"name": "g"'),
     ('"case_id": 2', '"case_id": 3'), (', "arguments": {"a": 1, "b": "é"}', "")],
)  # fmt: skip
def test_references_count(tmp_path, old, new):
    assert digest(tmp_path, references=REFERENCES.replace(old, new)) != digest(tmp_path)


@given(st.lists(JSON, max_size=5), st.sampled_from([", ", " ,\n\t"]), st.booleans())
def test_compact_texts_are_those_without_white_space(values, comma, ascii_only):
    spaced = [json.dumps(v, separators=(comma, " : "), ensure_ascii=ascii_only).encode() for v in values]
    plain = [json.dumps(v, separators=(",", ":"), ensure_ascii=ascii_only).encode() for v in values]
    offsets = np.cumsum([0, *map(len, spaced)])
    data, borders = compact(np.frombuffer(b"".join(spaced), np.uint8), offsets)
    assert [data[a:b].tobytes() for a, b in itertools.pairwise(borders)] == plain


def test_blocks_do_not_change_what_is_read(tmp_path, monkeypatch):
    first = digest(tmp_path)
    monkeypatch.setattr("tracelens.suite.digest._BLOCK", 1)
    assert digest(tmp_path, references=REFERENCES.replace("é", "e")) != first
    assert digest(tmp_path) == digest(tmp_path)
