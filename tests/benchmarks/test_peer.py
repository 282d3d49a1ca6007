import json

import pytest

from benchmarks import flights, peer

READ = {
    "rung1_structure (error count)": lambda out, _: len(out["errors"]),
    "rung2 exact_match rows": lambda out, _: out["rows"],
    "rung3_trajectory": lambda out, params: out[params["mode"]],
    "rung4_tool_call_accuracy": lambda out, _: out["accuracy"],
    "TraceComparator.trace_score": lambda out, _: out["golden"],
}


def partial_score(row):
    """What can be computed of a row whose arguments are no object: everything that does not look into them."""
    actual, expected = row["actual"], row["expected"]
    names, wanted = [call["name"] for call in actual], [call["name"] for call in expected]
    errors = peer.structure(actual, peer.validators(flights.TOOLS))
    return {"errors": errors, **peer.trajectory(names, wanted), "golden": peer.golden(names, wanted)}


def test_the_peer_reproduces_every_number_of_the_article(shared):
    checks = peer.validators(flights.TOOLS)
    seen = set()
    with (shared / "conformance" / "dialects.jsonl").open(encoding="utf-8") as lines:
        for row in (json.loads(line) for line in lines if '"dialect": "article"' in line):
            seen.add((row["case"], row["metric"], row["params"].get("mode")))
            record = {"tool_calls": row["actual"], "expected": row["expected"]}
            if row.get("error"):
                with pytest.raises(AttributeError):
                    peer.score(record, checks)
                continue
            textual = any(isinstance(call["arguments"], str) for call in row["actual"])
            out = partial_score(row) if textual else peer.score(record, checks)
            assert READ[row["metric"]](out, row["params"]) == row["value"], row
    assert len(seen) == 200


def test_nothing_expected_and_nothing_called_is_zero_in_this_dialect():
    out = peer.score({"tool_calls": [], "expected": []}, {})
    assert (out["strict"], out["unordered"], out["accuracy"], out["subset"]) == (0, 0, 0, 1)
