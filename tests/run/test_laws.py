"""Laws of the whole engine: what may not change a number or a byte, and what every number must equal."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracelens as tl
from tests.run.random_traces import OBJECTS, lines_of, pairs_of_lists, table_of
from tests.run.scoring import COUNTS, PAIRINGS, SCORES, SETS, by_trace, call, closed, score, table_bytes, tools, write
from tracelens.kernels.reference.normal import canonical_text
from tracelens.kernels.reference.values import parse
from tracelens.run import score_run
from tracelens.tables import STORED_TABLES

EVERY_PAIRING = {"match": {"rows": list(PAIRINGS)}}
ORDER_FREE = (
    *SETS,
    *("subset_partial", "superset_partial", "any_order", "precision", "recall", "f1", "accuracy_optimal"),
    *(name for name in COUNTS if name.endswith("_optimal")),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("laws")


def results_of(pairs: list[Any], folder: Path, suite: dict[str, Any], *, lost: bool) -> tl.Results:
    """Score pairs of lists, from JSON lines or as a table."""
    if lost:
        return tl.score(table_of(pairs), {"name": "s", **suite}, progress=False)
    return score(folder, lines_of(pairs), suite)


def agree(results: tl.Results, pairs: list[Any], *, parallel: bool) -> None:
    """Hold every score, count and pair against the plain-Python definitions."""
    rows = by_trace(results.traces)
    held = results.pairs.partition_by("trace_id", "pairing", as_dict=True)
    for n, (actual, expected) in enumerate(pairs):
        row = rows[f"t{n}"]
        want = tl.metrics.all_scores(actual, expected, parallel=parallel)
        names = set(want) & set(row)
        assert names >= {*SCORES, *COUNTS, "n_wrong_name_positional"}
        assert row["n_malformed"] == want["n_malformed_optimal"]
        found, wanted = ({name: each[name] for name in sorted(names)} for each in (row, want))
        assert found == pytest.approx(wanted, abs=1e-12), (actual, expected)
        for pairing in PAIRINGS:
            frame = held.get((f"t{n}", pairing))
            got = [] if frame is None else frame.select("call_index", "expected_index", "status", "agreement").rows()
            expect = [
                (p["actual"], p["expected"], p["status"], p["agreement"])
                for p in tl.metrics.pairs(actual, expected, pairing, parallel=parallel)
            ]
            assert got == expect, (pairing, actual, expected)


@pytest.mark.parametrize("lost", [False, True], ids=["json", "table"])
@pytest.mark.parametrize("parallel", [False, True], ids=["ordered", "parallel"])
def test_the_engine_equals_the_definitions(folder, lost, parallel):
    suite = {"match": {"rows": list(PAIRINGS), "parallel": "unordered" if parallel else "ordered"}}

    @given(st.lists(pairs_of_lists(lost=lost), min_size=1, max_size=30))
    @settings(max_examples=8)
    def check(pairs):
        agree(results_of(pairs, folder, suite, lost=lost), pairs, parallel=parallel)

    check()


NAMES_SQL = """
WITH
made AS (
    SELECT trace_id,
        list(CASE WHEN NOT malformed THEN tool END ORDER BY call_index) AS names,
        list(CASE WHEN arguments_state = 'not_captured' OR arguments_state = 'truncated' THEN NULL
                  WHEN arguments_state IN ('object', 'empty') THEN coalesce(arguments, '{}')
                  ELSE 'broken' END ORDER BY call_index) AS arguments
    FROM calls WHERE in_score GROUP BY trace_id
),
due AS (
    SELECT trace_id, list(tool ORDER BY expected_index) AS names, list(arguments ORDER BY expected_index) AS arguments
    FROM expected WHERE chosen AND expected_index >= 0 GROUP BY trace_id
),
lists AS (
    SELECT t.*, coalesce(made.names, []) AS a, coalesce(due.names, []) AS e,
        coalesce(made.arguments, []) AS x, coalesce(due.arguments, []) AS y
    FROM traces AS t LEFT JOIN made USING (trace_id) LEFT JOIN due USING (trace_id)
)
"""
MACROS = (*("strict", "unordered", "subset", "superset", "subset_partial", "superset_partial"),
          *("any_order", "precision", "recall", "f1"))  # fmt: skip


@given(st.lists(pairs_of_lists(lost=True, matchers=False), min_size=1, max_size=25))
@settings(max_examples=6)
def test_the_engine_equals_the_sql_macros(pairs):
    plain = [([_plain(each) for each in actual], [_plain(each) for each in expected]) for actual, expected in pairs]
    results = tl.score(table_of(plain), {"name": "s"}, progress=False)
    columns = [f"{name}, tl_{name}(a, e) AS by_macro_{name}" for name in MACROS]
    columns.append("accuracy_optimal, tl_accuracy_optimal(a, e, x, y) AS by_macro_accuracy_optimal")
    for row in results.sql(f"{NAMES_SQL} SELECT {', '.join(columns)} FROM lists").iter_rows(named=True):
        for name in (*MACROS, "accuracy_optimal"):
            assert row[name] == pytest.approx(row[f"by_macro_{name}"], abs=1e-12), (name, row)


def _plain(entry: Any) -> Any:
    """A call whose arguments are written in canonical form, so that equal text means equal arguments."""
    if not isinstance(entry, dict) or not isinstance(entry.get("arguments"), dict):
        return entry
    return entry | {"arguments": canonical_text(entry["arguments"])}


@given(st.data())
@settings(max_examples=8)
def test_no_order_of_the_lists_changes_what_has_no_order(data):
    pairs = data.draw(st.lists(pairs_of_lists(lost=True), min_size=1, max_size=12))
    shuffled = [(data.draw(st.permutations(a)), data.draw(st.permutations(e))) for a, e in pairs]
    rows = tl.score(table_of([*pairs, *shuffled]), {"name": "s"}, progress=False).traces.select(ORDER_FREE).rows()
    for n, pair in enumerate(pairs):
        assert rows[n] == rows[n + len(pairs)], (pair, shuffled[n])


@given(st.lists(OBJECTS, min_size=1, max_size=30))
@settings(max_examples=6)
def test_normalising_what_is_normal_changes_nothing(tmp_path_factory, objects):
    normal = [parse(canonical_text(arguments)) for arguments in objects]
    assert [canonical_text(arguments) for arguments in normal] == [canonical_text(each) for each in objects]
    sent = [{"name": "t", "arguments": each} for each in objects]
    again = [{"name": "t", "arguments": canonical_text(each)} for each in objects]
    lines = [
        {"trace_id": str(n), "tool_calls": [a, b], "expected": [a, b]}
        for n, (a, b) in enumerate(zip(sent, again, strict=True))
    ]
    results = score(tmp_path_factory.mktemp("normal"), lines)
    digests = results.calls.group_by("trace_id").agg(pl.struct("digest_hi", "digest_lo").n_unique())
    assert set(digests["digest_hi"]) == {1}
    assert set(results.pairs["status"]) == {"exact"}


RULES = {
    "day": "date",
    "at": "datetime",
    "zoned": {"datetime": "Europe/Berlin"},
    "n": "number",
    "rounded": {"number": {"decimals": 1}},
    "file": "path",
    "link": "url",
    "note": "text",
    "far": {"unit": "km"},
    "up": "upper",
    "low": ["trim", "lower"],
    "same": "exact",
    "plain": "fold",
}
TEXTS = st.sampled_from(
    ["2026-11-02", "2026-11-02T10:00:00+02:00", "2026-11-02 10:00", " 12.50 ", "1e3", "/a/../b//c/.", "~/x", "5 km",
     "500 m", "HTTPS://Example.org:443/a/../b?x=1", "Hello,  World!", " Straße ", "E\u0301", "", "ﬁn", "İ", "\u00a0x"]
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(sorted(RULES)), TEXTS), min_size=1, max_size=60))
@settings(max_examples=6)
def test_every_rule_leaves_its_own_results_alone(tmp_path_factory, values):
    """What the differences show as canonical is canonical."""

    def shown(arguments: list[dict[str, Any]]) -> list[str | None]:
        lines = [
            {"trace_id": str(n), "tool_calls": [call("t", **each)], "expected": [call("t", other=1)]}
            for n, each in enumerate(arguments)
        ]
        results = score(tmp_path_factory.mktemp("rules"), lines, {"normalize": {"t": RULES}})
        return results.argument_diffs.filter(status="unexpected")["actual"].to_list()

    once = shown([{key: text} for key, text in values])
    twice = shown([{key: json.loads(form)} for (key, _), form in zip(values, once, strict=True)])
    assert twice == once


def corpus() -> list[str]:
    """A few hundred lines of every kind: good, broken, blank, repeated, with and without ids, references and calls."""
    rng = random.Random(7)
    lines = []
    for n in range(240):
        calls = [_some_call(rng) for _ in range(rng.randrange(6))]
        line: dict[str, Any] = {"trace_id": f"t{n}", "case_id": f"c{rng.randrange(40)}", "tool_calls": calls}
        line |= rng.choice([{}, {"expected": [_some_call(rng) for _ in range(rng.randrange(4))]}, {"complete": False}])
        line |= rng.choice(
            [{}, {"agent": rng.choice("xyz"), "tags": {"v": n % 3}}, {"final_answer": "text " * (n % 5)}]
        )
        if n % 17 == 0:
            del line["trace_id"]
        if n % 23 == 0:
            line["tool_calls"] = None
        lines.append(json.dumps(line))
        if n % 29 == 0:
            lines += ["", '{"trace_id": "broken"', lines[-1]]
        if n % 31 == 0:
            lines.append(json.dumps({"trace_id": f"t{n}", "tool_calls": []}))
    return lines


def _some_call(rng: random.Random) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        key: rng.choice([1, "x", " X", None, [1]]) for key in rng.sample("pqr", rng.randrange(4))
    }
    if rng.random() < 0.05:
        arguments["command"] = "rm -rf /srv --token=ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    return {
        "name": rng.choice(["find", "book", "nope"]),
        "arguments": arguments,
        **rng.choice([{}, {"status": "ok"}, {"status": "error", "error": "down"}, {"agent": "x", "duration_ms": 1.5}]),
    }


FULL = {
    **tools(find=closed(p={"type": "integer"}, q={}), book={"type": "object", "required": ["p"]}),
    "match": {"rows": ["optimal", "positional"]},
    "normalize": {"*": {"q": "ignore"}},
    "invariants": {"max_calls": 4, "max_identical": 1, "forbidden_tools": ["nope"]},
    "milestones": {"must_call": ["find"]},
    "safety": {"packs": ["destructive", "secrets"]},
    "answer": {"not_contains": ["text text"]},
    "references_file": "golden.jsonl",
    "judge": {"questions": ["Is it right?"]},
    "waive": [{"case_id": "c1", "code": "schema.*", "until": "2026-12-31", "reason": "known"}],
}
CHECK = {
    "check": [{"name": "first", "sql": "SELECT trace_id, call_index, 'x' AS message FROM calls WHERE tool = 'book'"}]
}


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    rng = random.Random(8)
    cases = [{"case_id": f"c{n}", "expected": [_some_call(rng) for _ in range(n % 4)]} for n in range(45)]
    cases[3] = {"case_id": "c3", "references": [[], [call("find", p=1)], [call("book", p=1), call("find")]]}
    write(folder, cases, "golden.jsonl")
    return folder


BATCHES = ((1, 1 << 22), (2, 1 << 22), (1, 1 << 13), (3, 1 << 14))
"""Threads and bytes of a batch: all in one batch (twice), and many batches on one thread and on several."""


@pytest.mark.parametrize("own", [{}, CHECK], ids=["rungs", "own checks"])
def test_threads_blocks_and_reruns_change_no_byte(golden, tmp_path, own):
    path = write(golden, corpus())
    suite = tl.Suite.from_dict({"name": "full", **FULL, **own}, golden)
    runs = []
    for n, (threads, size) in enumerate(BATCHES):
        run = score_run(path, suite, out=tmp_path / str(n), threads=threads, block_size=size)
        runs.append(tl.open_results(run))
    first = table_bytes(runs[0])
    assert runs[0].rejects.height > 8
    for other in runs[1:]:
        assert other.run_id == runs[0].run_id
        found = table_bytes(other)
        assert [name for name in STORED_TABLES if found[name] != first[name]] == []


def test_blocks_of_a_table_change_no_byte(tmp_path):
    rng = random.Random(9)
    pairs = [([_some_call(rng) for _ in range(rng.randrange(5))], [_some_call(rng)]) for _ in range(150)]
    table, suite = table_of(pairs), tl.Suite.from_dict({"name": "s"})
    found = [
        table_bytes(
            tl.open_results(score_run(table, suite, out=tmp_path / str(size), threads=threads, block_size=size))
        )
        for threads, size in ((1, 1 << 22), (2, 1 << 13), (3, 1 << 14))
    ]
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_the_order_of_the_input_changes_no_row(golden, tmp_path):
    lines = [line for line in dict.fromkeys(corpus()) if line and '"trace_id": "t' in line]
    last = {json.loads(line)["trace_id"]: line for line in reversed(lines)}
    given_order, other_order = list(last.values()), random.Random(3).sample(list(last.values()), len(last))
    keys = ["trace_id", "pairing", "call_index", "expected_index", "reference_index", "step_index"]

    def rows(name: str, order: list[str]) -> dict[str, pl.DataFrame]:
        suite = tl.Suite.from_dict({"name": "full", **FULL, **CHECK}, golden)
        results = tl.score(write(tmp_path, order, f"{name}/in.jsonl"), suite, progress=False)
        out = {}
        for table in STORED_TABLES:
            if table not in {"runs", "rejects"}:
                frame = getattr(results, table).drop("run_id", "line", strict=False)
                by = [key for key in keys if key in frame.columns]
                out[table] = frame.sort(by, nulls_last=True, maintain_order=True)
        return out

    one, other = rows("a", given_order), rows("b", other_order)
    assert [table for table in one if not one[table].equals(other[table])] == []
    assert one["findings"].height > 100


def test_what_else_is_in_the_input_changes_no_row(tmp_path):
    """A trace is scored the same alone as among others."""
    rng = random.Random(11)
    lines = [
        {
            "trace_id": f"t{n}",
            "tool_calls": [_some_call(rng) for _ in range(4)],
            "expected": [_some_call(rng)] * 2,
            **more,
        }
        for n, more in enumerate(
            [{}, {"agent": "x"}, {"tools": [{"name": "find", "input_schema": {}}]}, {"complete": False}]
        )
    ]
    suite = {**tools(find=closed(p={"type": "integer"})), "agents": {"x": {"tools": {"book": {"schema": {}}}}}}
    suite |= {"schemas_from": "trace", "invariants": {"max_calls": 3}}
    together = score(tmp_path, lines, suite)
    for n, line in enumerate(lines):
        alone = score(tmp_path, [line], suite)
        for table in STORED_TABLES:
            if table not in {"runs", "rejects"}:
                mine = getattr(together, table).filter(trace_id=f"t{n}").drop("run_id", "line", strict=False)
                assert mine.equals(getattr(alone, table).drop("run_id", "line", strict=False)), (table, n)
