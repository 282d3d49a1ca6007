"""`exact_raw`: whether the arguments of a pair are the same JSON values before any rule."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tracelens as tl
from tests.run.scoring import trace, write


@pytest.mark.parametrize(
    ("actual", "expected", "status", "same"),
    [
        ('{"a":1}', '{"a":1}', "exact", True),
        ('{"a": 1,"b":2}', '{"b":2, "a":1.0}', "exact", True),
        ('{"a":"x"}', '{"a":"\\u0078"}', "exact", True),
        ('{"a":" x"}', '{"a":"X"}', "exact", False),
        ('{"a":"x","b":2}', '{"a":"X","b":3}', "partial", False),
        ('{"a":"x"}', '{"a":{"$regex":"^x"}}', "exact", False),
        ('{"a":{"$regex":"^x"}}', '{"a":{"$regex":"^x"}}', "partial", True),
        ('{"a":{"$regex":"^x"} }', '{"a":{"$regex":"^x"}}', "partial", True),
        ('{"a":1}', "null", "exact", None),
    ],
)
def test_of_one_pair(tmp_path: Path, actual: str, expected: str, status: str, same: bool | None) -> None:
    calls = [f'{{"name":"f","arguments":{text}}}' for text in (actual, expected)]
    line = f'{{"trace_id":"t","tool_calls":[{calls[0]}],"expected":[{calls[1]}]}}'
    pairs = tl.score(write(tmp_path, [line]), out=tmp_path / "out").pairs.filter(pl.col("pairing") == "optimal")
    assert pairs.select("status", "exact_raw").rows() == [(status, same)]


def test_of_many_pairs_equals_equality_of_parsed_values(tmp_path: Path) -> None:
    values: list[Any] = [{"a": a, "b": b} for a in ("x", "X", " x", 1, 1.0) for b in ([], [1], ["Y", "y"])]
    lines = [
        trace(f"{i}-{j}", [{"name": "f", "arguments": one}], [{"name": "f", "arguments": other}])
        for i, one in enumerate(values)
        for j, other in enumerate(values)
    ]
    pairs = tl.score(write(tmp_path, lines), out=tmp_path / "out").pairs
    for trace_id, same in pairs.filter(pl.col("pairing") == "optimal").select("trace_id", "exact_raw").iter_rows():
        one, other = (values[int(number)] for number in trace_id.split("-"))
        assert same == (one == other), json.dumps([one, other])
