"""Hand-made run folders: frames that keep the contract, without an engine."""

from pathlib import Path
from typing import Any

import polars as pl

from tracelens import tables
from tracelens.store import RunWriter

_ZERO = {"str": "", "bool": False, "f64": 0.0, "texts": []}


def frame(name: str, *rows: dict[str, Any]) -> pl.DataFrame:
    """A frame of a table without run_id: what a row does not say is null, or zero where null is not allowed."""
    columns = [each for each in tables.table(name).columns if each.name != "run_id"]
    plain = {each.name: None if each.nullable else _ZERO.get(each.dtype, 0) for each in columns}
    known = [plain | row for row in rows]
    assert all(row.keys() == plain.keys() for row in known), set().union(*known) - plain.keys()
    return pl.DataFrame(known, schema=tables.polars_schema(name, without=("run_id",)))


def fill(run: RunWriter, n: int = 1) -> None:
    """Write n copies of the worked example of the documentation, as traces t0, t1, ..."""
    for i in range(n):
        for name, rows in worked_example(f"t{i}").items():
            run.write(name, frame(name, *rows))
    run.write(
        "runs",
        frame(
            "runs",
            {"suite": "flights", "suite_digest": "5a", "input_digest": "1f", "version": "0", "format": "native"}
            | {"sources": ["in.jsonl"], "n_records": n + 1, "n_traces": n, "n_calls": 3 * n, "n_rejects": 1}
            | {"missing_cases": ["flights-9"], "thresholds": '{"accuracy_optimal":1.0}'},
        ),
    )
    run.write("rejects", frame("rejects", {"source": "in.jsonl", "line": n + 1, "reason": "cut off", "text": "{"}))


def fake_run(results: Path, run_id: str = "ab12", n: int = 1) -> Path:
    """A complete run of n worked examples."""
    with RunWriter(results) as run:
        fill(run, n)
        return run.commit(run_id, {"seconds": 0.5})


def worked_example(trace: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of the example: the wrong date, a search too many, and a field that the schema does not know."""
    of = {"trace_id": trace}
    search, book = {"origin": "SFO", "date": "2026-11-03"}, {"flight_id": "UA-512", "seat": "12A"}
    called = [
        ("search_flights", search, "valid"),
        ("search_flights", search, "valid"),
        ("book_flight", book, "invalid"),
    ]
    wanted = [("search_flights", search | {"date": "2026-11-02"}), ("book_flight", {"flight_id": "UA-512"})]
    differs = {"tool": "search_flights", "path": "date", "status": "differs"}
    extra = "Additional properties are not allowed ('seat' was unexpected)"
    reasons = [f"book_flight: {extra}", "search_flights: date differs", "search_flights: 1 call too many"]
    optimal = of | {"pairing": "optimal"}
    return {
        "traces": [
            of
            | {"case_id": "flights-1", "reference_index": 0, "has_calls": True, "complete": True, "source": "in.jsonl"}
            | {"line": 1, "id_given": True, "n_calls": 3, "n_calls_total": 3, "n_expected": 2, "n_references": 1}
            | {"n_exact_optimal": 0, "n_partial_optimal": 2, "n_missing_optimal": 0, "n_extra_optimal": 1}
            | {"strict": 1 / 3, "unordered": 1.0, "subset": 1.0, "superset": 1.0, "f1": 0.8, "lcs": 2 / 3}
            | {"accuracy_positional": 1 / 6, "accuracy_optimal": 1 / 3, "first_divergence": 1, "golden_score": 100.0}
            | {"n_findings": 1, "route": "triage", "passed": False, "failed_rung": 1, "reasons": reasons}
        ],
        "calls": [
            of
            | {"call_index": i, "tool": tool, "name": tool, "executed": True, "in_score": True, "status": "ok"}
            | {"arguments": _text(arguments), "arguments_state": "object", "schema_state": state}
            for i, (tool, arguments, state) in enumerate(called)
        ],
        "expected": [
            of
            | {"expected_index": i, "reference_source": "suite", "chosen": True, "tool": tool, "name": tool}
            | {"arguments": _text(arguments), "arguments_form": 2, "arguments_state": "object"}
            for i, (tool, arguments) in enumerate(wanted)
        ],
        "pairs": [
            optimal
            | {"call_index": 0, "expected_index": 0, "tool": "search_flights", "expected_tool": "search_flights"}
            | {"status": "partial", "exact_raw": False, "agreement": 0.5},
            optimal | {"call_index": 1, "tool": "search_flights", "status": "extra"},
            optimal
            | {"call_index": 2, "expected_index": 1, "tool": "book_flight", "expected_tool": "book_flight"}
            | {"status": "partial", "exact_raw": False, "agreement": 0.5},
        ],
        "argument_diffs": [
            optimal | differs | {"call_index": 0, "actual": '"2026-11-03"', "expected": '"2026-11-02"'},
            optimal | differs | {"path": "origin", "status": "equal", "actual": '"sfo"', "expected": '"sfo"'},
            optimal
            | {"call_index": 2, "expected_index": 1, "tool": "book_flight", "path": "seat", "status": "unexpected"}
            | {"actual": '"12a"'},
            optimal
            | {"call_index": 2, "expected_index": 1, "tool": "book_flight", "path": "flight_id", "status": "equal"}
            | {"actual": '"ua-512"', "expected": '"ua-512"'},
        ],
        "findings": [
            of
            | {"call_index": 2, "rung": 1, "severity": "error", "code": "schema.additionalProperties"}
            | {"tool": "book_flight", "path": "", "message": extra, "value": _text(book)}
        ],
        "steps": [
            of | {"step_index": 0, "call_index": 0, "expected_index": 0, "tool": "search_flights", "status": "correct"},
            of | {"step_index": 1, "call_index": 1, "tool": "search_flights", "status": "unexpected"},
            of | {"step_index": 2, "call_index": 2, "expected_index": 1, "tool": "book_flight", "status": "correct"},
        ],
    }


def _text(arguments: dict[str, str]) -> str:
    return "{" + ",".join(f'"{key}":"{value}"' for key, value in arguments.items()) + "}"
