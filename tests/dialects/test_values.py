"""What the libraries themselves said of random traces: duplicates, empty lists, numbers against text, nested arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.dialects.scored import as_column, ask, close, single
from tracelens.dialects import DIALECTS

VALUES, ODD, GIVEN = (
    json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
    for name in ("values.json", "odd.json", "given.json")
)
"""Calls with objects for arguments; with text, lists, numbers and broken JSON for arguments, for mlflow; and for all of
them with and without arguments, with null, blank text, text of all kinds, and a tool's name in the arguments."""


def traces(values, *, names_only):
    """The traces; where only names are expected, without the expected arguments."""
    for each in values["traces"]:
        wanted = [{"name": call["name"]} for call in each["expected"]] if names_only else each["expected"]
        yield {"tool_calls": each["actual"], "expected": wanted}


@pytest.mark.parametrize(
    ("values", "row"), [(values, row) for values in (VALUES, ODD, GIVEN) for row in values["values"]]
)
def test_one_pair_of_lists(values, row):
    given = traces(values, names_only=row["names_only"])
    found = [single(row["dialect"], row["metric"], each, row["params"]) for each in given]
    for value, wanted in zip(found, row["values"], strict=True):
        assert value.startswith("!") if wanted is None else close(value, wanted), row


@pytest.mark.parametrize("values", [VALUES, ODD, GIVEN], ids=["objects", "odd", "given"])
@pytest.mark.parametrize("names_only", [False, True])
def test_all_traces_at_once(tmp_path, values, names_only):
    rows = [row for row in values["values"] if row["names_only"] is names_only]
    asked = [
        (row["dialect"], row["metric"], {name: value for name, value in row["params"].items() if value is not None})
        for row in rows
    ]
    for row, found in zip(rows, ask(tmp_path, list(traces(values, names_only=names_only)), asked), strict=True):
        for value, wanted in zip(found, row["values"], strict=True):
            assert value.startswith("!") if wanted is None else close(value, as_column(wanted)), row["metric"]


def test_a_call_within_openai_s_function():
    made, plain = [{"function": {"name": "f", "arguments": "{}"}}], [{"name": "f", "arguments": {}}]
    futureagi = DIALECTS["futureagi"]
    assert (futureagi.tool_call_accuracy(made, plain), futureagi.strict(made, plain)) == (1.0, 0.0)
    assert (futureagi.strict(made, made), futureagi.strict(made, [str(made[0])])) == (1.0, 1.0)
    assert DIALECTS["agentevals"].trajectory_strict_match(made, plain) is True
