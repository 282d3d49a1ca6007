"""No secret is stored, in whatever text column of whatever table it may stand."""

from __future__ import annotations

import json

import polars as pl
import pyarrow as pa
import pytest

import tracelens as tl
from tests.run.scoring import by_trace, call, column, score, trace, write
from tests.rungs.safety.examples import AWS
from tracelens.run.masks import EARLY, masked_differences, masked_findings, masked_table
from tracelens.run.plan import Plan
from tracelens.tables import STORED_TABLES, table
from tracelens.tables.border import schema

PLAN = Plan.compile(tl.Suite.default())
TEXTS = {name: [c.name for c in table(name).columns if c.dtype in {"str", "texts"}] for name in STORED_TABLES}


def filled(name, text):
    """A table with that text in every text column."""
    fields = {each: schema(name).field(each).type for each in TEXTS[name]}
    values = {each: [[text, "x"]] if pa.types.is_large_list(kind) else [text] for each, kind in fields.items()}
    return pa.table(values, schema=pa.schema(fields))


@pytest.mark.parametrize("coded", [False, True], ids=["plain", "dictionary"])
@pytest.mark.parametrize("name", STORED_TABLES)
def test_every_text_column_of_every_table_is_masked(name, coded):
    given = filled(name, f"x {AWS}")
    if coded:
        for at, each in enumerate(given.schema):
            if each.type == pa.large_string() and each.name not in EARLY.get(name, ()):
                given = given.set_column(at, each.name, given.column(at).dictionary_encode())
    early = EARLY.get(name, ())
    out = masked_table(given, skip=early)
    if name == "findings":
        out = pa.table(masked_findings(pl.DataFrame(out), PLAN))
    if name == "argument_diffs":
        out = masked_differences(out, PLAN)
    assert out.column_names == TEXTS[name]
    for each in out.column_names:
        assert AWS not in str(out[each].to_pylist()), each
        assert "[secret:aws:" in str(out[each].to_pylist()), each
    clean = filled(name, "nothing")
    assert masked_table(clean) is clean


HOSTILE = {
    "trace_id": f"t {AWS}",
    "session_id": f"s {AWS}",
    "case_id": f"c {AWS}",
    "agent": f"a {AWS}",
    "tags": {AWS: f"v {AWS}"},
    "final_answer": f"f {AWS}",
    "tools": [{"name": f"{AWS}", "description": AWS}],
    "tool_calls": [
        {"name": AWS, "arguments": {AWS: AWS}, "call_id": f"i {AWS}", "agent": f"b {AWS}", "result": AWS, "error": AWS},
        {"name": AWS, "arguments": {AWS: f"{AWS} other"}, "status": f"odd {AWS}"},
        {"name": AWS, "arguments": f"{{{AWS}"},
    ],
    "expected": [call(AWS, **{AWS: f"{AWS} x"}), call(f"y {AWS}")],
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"in-{AWS}")
    write(folder, [{"case_id": f"missing {AWS}", "expected": []}], "golden.jsonl")
    pl.DataFrame({"trace_id": [f"t {AWS}"], "n": [f"n {AWS}"]}).write_parquet(folder / "db.parquet")
    (folder / "own.py").write_text(
        "import pyarrow as pa\n"
        "def find(tables):\n"
        f"    return pa.table({{'trace_id': tables['traces']['trace_id'][:1], 'message': ['m {AWS}'], 'tool': ['{AWS}']}})\n"
    )
    suite = {
        "name": f"suite {AWS}",
        "references_file": "golden.jsonl",
        "tools": {f"known-{AWS}": {"schema": {}}},
        "state": [{"name": f"st {AWS}", "database": "db.parquet", "sql": "from db", "expect": {"n": f"other {AWS}"}}],
        "check": [{"name": f"own {AWS}", "python": "own:find"}],
        "answer": {"contains": [f"z {AWS}"]},
        "invariants": {"forbidden_tools": [AWS]},
        "waive": [{"case_id": f"c {AWS}", "code": "check.*", "until": "2026-12-31", "reason": f"why {AWS}"}],
        "judge": {"questions": [f"q {AWS}"]},
        "match": {"rows": ["optimal", "positional"]},
    }
    lines = [HOSTILE, HOSTILE, HOSTILE | {"agent": "other"}, f'{{"x": "{AWS}"', {"trace_id": "u", "tool_calls": []}]
    return score(folder, lines, suite, out=folder / "out")


def test_no_table_of_a_run_holds_a_secret(hostile):
    for name in STORED_TABLES:
        frame = getattr(hostile, name)
        for each in TEXTS[name]:
            assert AWS not in str(frame[each].to_list()), (name, each)
    assert AWS not in (hostile.path / "run.json").read_text()
    assert hostile.rejects.height == 2
    assert AWS not in str(hostile.summary())


def test_what_is_masked_was_matched_by_its_true_value(hostile):
    rows = by_trace(hostile.traces)
    masked = next(name for name in rows if name.startswith("t "))
    assert rows[masked]["f1"] == pytest.approx(0.4)
    assert rows[masked]["state_ok"] is False
    checks = hostile.findings.filter(pl.col("code").str.starts_with("check."))
    assert checks["waive_reason"].null_count() == 0
    assert hostile.explain(f"t {AWS}").trace["trace_id"] == masked


def test_a_trace_that_cannot_be_told_from_others_is_rejected_when_scored_again(hostile):
    again = hostile.rescore({"name": "again"})
    assert again.traces["trace_id"].to_list() == ["u"]
    assert again.rejects.height == 3
    assert "masked" in again.rejects["reason"][-1]
    counts = again.runs.row(0, named=True)
    assert counts["n_records"] == counts["n_traces"] + counts["n_merged"] + counts["n_blank"] + counts["n_rejects"]


def test_without_the_pack_nothing_is_masked(tmp_path):
    results = score(tmp_path, [trace(AWS, [call(AWS)])], {"safety": {"packs": []}})
    assert column(results.calls, "tool") == {AWS: AWS}
    assert json.dumps(results.rescore({"safety": {"packs": []}}).calls["name"].to_list()) == json.dumps([AWS])
