"""A trace that a writer put into a format comes back as the same calls, as far as the format can carry them."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.reading import read
from tests.sources.writers.messages import NO_IDS, NO_STATUS, RECORDS, SESSIONS, Call, Turn, dumps

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8)
SOME = TEXTS.map(lambda text: text + ".")
VALUES = st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), TEXTS, st.lists(st.integers(), max_size=2))
ARGUMENTS = st.dictionaries(TEXTS, VALUES, max_size=3)


@st.composite
def traces(draw):
    """Turns with up to three calls each, whose ids come again in other turns, and mostly an answer at the end."""
    out = []
    for _ in range(draw(st.integers(0, 3))):
        ids = draw(st.lists(st.sampled_from(["a", "b", "c", "é"]), min_size=1, max_size=3, unique=True))
        calls = tuple(
            Call(one, draw(st.sampled_from(["find", "book", "f.ü"])), draw(ARGUMENTS), draw(SOME), draw(st.booleans()))
            for one in ids
        )
        out.append(Turn(draw(TEXTS), calls))
    return [*out, Turn(draw(SOME))] if draw(st.booleans()) else out


def wanted(trace, format):
    calls = [(turn, call) for turn, each in enumerate(trace) for call in each.calls]
    return [
        (
            call.name,
            call.arguments,
            None if format in NO_IDS else call.id,
            turn,
            call.result,
            None if format in NO_STATUS else "error" if call.failed else "ok",
        )
        for turn, call in calls
    ], trace[-1].text if trace and not trace[-1].calls else None


def found(got, trace, format):
    mine = [call for call in got["calls"] if call["trace"] == trace["trace"]]
    assert [call["call_index"] for call in mine] == list(range(len(mine)))
    rows = [
        (
            call["name"],
            json.loads(call["arguments"]),
            call["call_id"],
            call["turn"],
            json.loads(call["result"])["output"] if format == "google" else call["result"],
            call["status"],
        )
        for call in mine
    ]
    return rows, trace["final_answer"]


@pytest.mark.parametrize("format", [*RECORDS, *SESSIONS])
@settings(max_examples=6)
@given(some=st.lists(traces(), min_size=1, max_size=5))
def test_what_is_written_comes_back(format, some):
    with tempfile.TemporaryDirectory() as folder:
        base = "langchain" if format.startswith("langchain") else format
        if format in RECORDS:
            lines = [dumps(RECORDS[format](trace, f"t{k}")) for k, trace in enumerate(some)]
            Path(folder, "all.jsonl").write_text("\n".join(lines), encoding="utf-8")
        else:
            for k, trace in enumerate(some):
                lines = [dumps(line) for line in SESSIONS[format](trace, f"t{k}")]
                Path(folder, f"t{k}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        got = read(folder, base)
    assert got["rejects"] == []
    by_id = {trace["trace_id"]: trace for trace in got["traces"]}
    assert list(by_id) == [f"t{k}" for k in range(len(some))]
    for k, trace in enumerate(some):
        assert found(got, by_id[f"t{k}"], format) == wanted(trace, format)
