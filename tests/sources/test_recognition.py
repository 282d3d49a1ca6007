"""Formats are told apart: a file looks like one of them only, and what looks like none is told why."""

import json
from pathlib import Path

import pytest

from tests.sources.reading import write
from tracelens.errors import InputError
from tracelens.sources import detect
from tracelens.sources.reading.files import find_files

FOLDER = Path(detect.__file__).parent / "samples"


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_a_sample_looks_most_like_one_format(path):
    head, *_ = detect.recognise(find_files(path)[0])
    scores = sorted((source.sniff(head).score for source in detect.SOURCES), reverse=True)
    assert scores[0] >= detect.LEAST
    assert scores[0] > scores[1]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([{"choices": [{"delta": {"tool_calls": []}}]}], "its first record has the keys choices"),
        ([{"messages": [{"text": "x"}]}], "it looks like chat, but messages have no role"),
    ],
)
def test_what_is_not_read_is_refused_with_the_reason(tmp_path, lines, why):
    with pytest.raises(InputError) as error:
        detect.open_input(write(tmp_path, [json.dumps(each) for each in lines]))
    assert why in str(error.value)
