"""What the libraries themselves said of random traces: duplicates, empty lists, numbers against text, nested arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.dialects.scored import as_column, ask, close, single

VALUES = json.loads((Path(__file__).parent / "values.json").read_text(encoding="utf-8"))
QUESTIONS = [(each["dialect"], each["metric"], each["params"]) for each in VALUES["values"]]


def traces(*, names_only):
    """The traces; where only names are expected, without the expected arguments."""
    for each in VALUES["traces"]:
        wanted = [{"name": call["name"]} for call in each["expected"]] if names_only else each["expected"]
        yield {"tool_calls": each["actual"], "expected": wanted}


@pytest.mark.parametrize("row", VALUES["values"], ids=lambda row: f"{row['dialect']}-{row['metric']}")
def test_one_pair_of_lists(row):
    found = [
        single(row["dialect"], row["metric"], each, row["params"]) for each in traces(names_only=row["names_only"])
    ]
    for value, wanted in zip(found, row["values"], strict=True):
        assert value.startswith("!") if wanted is None else close(value, wanted)


@pytest.mark.parametrize("names_only", [False, True])
def test_all_traces_at_once(tmp_path, names_only):
    rows = [row for row in VALUES["values"] if row["names_only"] is names_only]
    asked = [
        (row["dialect"], row["metric"], {name: value for name, value in row["params"].items() if value is not None})
        for row in rows
    ]
    for row, found in zip(rows, ask(tmp_path, list(traces(names_only=names_only)), asked), strict=True):
        for value, wanted in zip(found, row["values"], strict=True):
            assert value.startswith("!") if wanted is None else close(value, as_column(wanted)), row["metric"]
