"""Records full of odd values: nothing ends the run with an internal error, and every record is accounted for."""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pytest

import tracelens as tl
from tests.run.scoring import table_bytes, write
from tracelens.errors import InputError
from tracelens.sources.tables.table_columns import KNOWN

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 0.5, 2**31, 2**40, 2**63, 10**400, 1e16, 1e300, -1e300, "", "x", "1", "ok", "error"),
    *("2026-01-01", "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+14:00", "\u0000", "[secret:aws:0123456789ab]"),
    *("password=hunter2x", [], [1], {}, {"a": 1}, [[]], {"name": "f"}, [{"name": "f", "arguments": {"a": 1}}], "{}"),
)
CALL = (*("name", "arguments", "call_id", "turn", "agent", "depth", "status", "result", "error"),
        *("started_at", "duration_ms"))  # fmt: skip
TRACE = (*("trace_id", "session_id", "case_id", "agent", "started_at", "tags", "complete", "tools", "final_answer"),
         *("usage", "expected", "references", "tool_calls"))  # fmt: skip
SUITES: tuple[dict[str, Any], ...] = (
    {"name": "plain"},
    {
        "name": "all",
        "tools": {"f": {"schema": {"type": "object", "properties": {"a": {"type": "integer"}}}, "price": 1e308}},
        "invariants": {"max_identical": 1, "max_cost": 1, "max_tokens": 5, "max_seconds": 1, "after": [["f", "g"]]},
        "milestones": {"must_call": ["f"], "max_steps": 1},
        "answer": {"contains": ["x"]},
        "match": {"parallel": "unordered", "rows": ["optimal", "positional"]},
    },
    {"name": "other", "safety": {"packs": []}, "match": {"depth": "all"}, "schemas_from": "trace"},
)


def _record(rng: random.Random, n: int) -> dict[str, Any]:
    def some(keys: Any, chance: float) -> dict[str, Any]:
        return {key: rng.choice(VALUES) for key in keys if rng.random() < chance}

    calls = [{"name": "f", "arguments": {"a": 1}} | some(CALL, 0.35) for _ in range(rng.randrange(4))]
    record = {"trace_id": str(n), "tool_calls": [*calls, *([rng.choice(VALUES)] * (rng.random() < 0.1))]}
    usage = {"usage": some(("llm_calls", "input_tokens", "output_tokens", "cost"), 0.5)}
    reference = {"expected": [{"name": "f", "arguments": {"a": 1}}]} if rng.random() < 0.3 else {}
    return record | usage | reference | some(TRACE, 0.12)


def _column(rng: random.Random, n: int) -> pa.Array:
    kind, values = rng.choice(
        [
            (pa.int64(), [-1, 0, 1, 2**31, 2**40, 2**62]),
            (pa.uint64(), [0, 2**63, 2**64 - 1]),
            (pa.float64(), [0.0, 1.0, 0.5, float("inf"), float("nan"), 1e300, -1e300, 2.0**63]),
            (pa.string(), ["", "x", "1", "-1", "1e400", "nan", "true", "2026-01-01", "ok", "expected", "trace", "{}"]),
            (pa.bool_(), [True, False]),
            (pa.timestamp(rng.choice(["s", "ms", "us", "ns"]), rng.choice([None, "UTC"])), [0, 2**62, -(2**62), 2**55]),
            (pa.date32(), [0, 5]),
            (pa.null(), [None]),
        ]
    )
    return pa.array([rng.choice([None, *values]) for _ in range(n)], kind)


def _table(rng: random.Random) -> pa.Table:
    n = rng.randrange(1, 8)
    columns = {name: _column(rng, n) for name in KNOWN if rng.random() < 0.3}
    return pa.table(
        columns | {"trace_id": pa.array(rng.choices("abc", k=n)), "name": pa.array(rng.choices(["f", "g", None], k=n))}
    )


@pytest.mark.parametrize("seed", range(8))
def test_odd_values_end_in_tables_rejects_or_a_clear_error(tmp_path, seed):
    rng = random.Random(seed)
    source: Any = _table(rng) if seed % 2 else write(tmp_path, [json.dumps(_record(rng, n)) for n in range(12)])
    suite = SUITES[seed // 2 % len(SUITES)]
    try:
        results = tl.score(source, suite, progress=False)
    except InputError:  # such as a column of dates that should hold numbers
        return
    again = results.rescore(suite)
    for each in (results, again, results.rescore(SUITES[0])):
        row = each.runs.row(0, named=True)
        assert row["n_records"] == row["n_traces"] + row["n_merged"] + row["n_blank"] + row["n_rejects"]
        assert str(each.summary())
    if not any("masked" in note for note in again.runs["notes"][0]):
        assert again.run_id == results.run_id
        assert table_bytes(again) == table_bytes(results)
