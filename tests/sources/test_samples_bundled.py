"""Every format brings a small file of its own that is recognised and read."""

from pathlib import Path

import pytest

from tests.sources.reading import read
from tracelens.sources import detect

FOLDER = Path(detect.__file__).parent / "samples"


@pytest.mark.parametrize("source", detect.SOURCES, ids=lambda source: source.name)
def test_the_sample_of_a_format_is_recognised_and_read(source):
    path = FOLDER / source.sample
    opened = detect.open_input(path)
    assert opened.format_name == source.name
    found = read(path)
    assert found["traces"]
    assert found["calls"] or found["expected"] or any(trace["tools"] for trace in found["traces"])
    assert not found["rejects"]
    assert source.title
    assert isinstance(source.seen, bool)


def test_no_sample_lies_around():
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(source.sample for source in detect.SOURCES)
