"""Recognising files: what `auto` chooses, how it says so, and what it refuses."""

import json

import pytest

from tests.sources.reading import read, write
from tracelens.errors import InputError
from tracelens.sources.detect import SOURCES, open_input

NATIVE = json.dumps({"trace_id": "n", "tool_calls": [{"name": "a"}]})
CHAT = json.dumps({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]})


@pytest.mark.parametrize(
    ("lines", "format", "why"),
    [
        ([NATIVE], "native", "records have tool_calls"),
        (["broken", "", NATIVE], "native", "records have tool_calls"),
        ([CHAT], "chat", "records have messages with roles"),
        ([json.dumps(json.loads(CHAT)["messages"])] * 2, "chat", "records have messages with roles"),
        ([json.dumps([json.loads(NATIVE)])], "native", "records have tool_calls"),
    ],
)
def test_auto_says_what_it_chose(tmp_path, lines, format, why):
    opened = open_input(write(tmp_path, lines))
    assert opened.format_name == format
    assert opened.explanation == f"traces.jsonl is read as {format}: {why}"
    assert opened.names == ("traces.jsonl",)


def test_a_mixed_folder_is_read_file_by_file(tmp_path):
    write(tmp_path, [NATIVE], "a.jsonl")
    write(tmp_path, [CHAT], "b.jsonl")
    write(tmp_path, [NATIVE.replace('"n"', '"m"')], "c.jsonl")
    opened = open_input(tmp_path)
    assert opened.format_name == "native+chat"
    assert "2 files (a.jsonl, …) is read as native" in opened.explanation
    assert [row["source"] for row in read(tmp_path)["traces"]] == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_an_unknown_file_is_refused_with_all_reasons(tmp_path):
    with pytest.raises(InputError) as error:
        open_input(write(tmp_path, ['{"spans": []}']))
    text = str(error.value)
    for source in SOURCES:
        assert f"{source.name}: " in text
    assert "format=" in text


def test_a_long_first_record_is_still_recognised(tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps([{"noise": "x" * 600_000, "tool_calls": [{"name": "a"}]}]))
    assert [row["name"] for row in read(path)["calls"]] == ["a"]


def test_a_format_that_is_asked_for_is_used(tmp_path):
    path = write(tmp_path, ['{"trace_id":"a"}'])
    assert read(path, "native")["traces"][0]["has_calls"] is False
    assert read(path, "chat")["rejects"][0]["reason"] == "messages is no array"
