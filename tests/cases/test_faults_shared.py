"""The collected faults, run mechanically where a case is a list of calls; every other field names the test that covers it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracelens as tl
from tests.run.scoring import SETS, by_trace, grouped, pair_counts, write

ELSEWHERE = {
    "B01": {"invariant": "pairing: test_an_early_call_does_not_take_a_later_ones_exact_partner"},
    "B02": dict.fromkeys(
        ("calls", "pairs_optimal", "accuracy_optimal", "strict", "provenance"),
        "spans: test_one_call_in_a_message_and_in_a_span_of_its_own",
    ),
    "B04": dict.fromkeys(("row_20481", "row_20482"), "reading: test_a_late_value_keeps_its_type"),
    "B06": {"accuracy": "evidence: test_what_could_not_be_scored_stays_out_of_means_and_is_counted"}
    | dict.fromkeys(("gate_1", "gate_2", "gate_3", "exit_code"), "evidence: test_a_gate_fails_closed"),
    "B08": dict.fromkeys(("state", "milestones", "route"), "evidence: test_a_check_without_a_question_never_passes"),
    "B11": dict.fromkeys(
        ("calls", "tool_catalogue", "strict", "unknown_tool_errors"), "spans: test_definitions_of_tools_are_no_calls"
    ),
    "B12": dict.fromkeys(
        ("arguments", "arguments_raw_kept", "arguments_error", "json_values_found"),
        "reading: test_broken_arguments_are_neither_empty_nor_repaired",
    )
    | {"safety": "reading: test_broken_arguments_are_still_scanned"},
    "B14": dict.fromkeys(
        ("arguments", "arguments_error"), "reading: test_broken_arguments_are_neither_empty_nor_repaired"
    ),
    "B15": dict.fromkeys(
        ("calls", "requested", "executed", "succeeded", "safety", "accuracy_optimal", "state_check"),
        "evidence: test_asked_for_refused_failed_and_done_are_four_things",
    ),
    "B16": dict.fromkeys(
        ("t1", "t2", "t3", "gate_denominator", "route"), "evidence: test_nothing_seen_is_not_nothing_done"
    ),
    "B17": {"schema_errors": "schema: test_no_value_is_taken_for_another_type"},
    "B19": dict.fromkeys(
        ("tool_schema_status", "rows", "run_aborted", "network_fetch"),
        "schema: test_a_broken_schema_blames_nobody_and_stops_nothing",
    ),
    "B20": dict.fromkeys(
        ("tool_schema_status", "rows", "agent_blamed", "other_tools"),
        "schema: test_a_broken_schema_blames_nobody_and_stops_nothing",
    ),
    "B23": dict.fromkeys(
        ("calls", "result", "arguments_source", "pairs_optimal"), "spans: test_arguments_in_events_count"
    ),
    "B21": dict.fromkeys(("results_by_order", "ids"), "reading: test_results_without_ids_come_by_order_and_name"),
    "B26": dict.fromkeys(("schema_errors", "formats_not_enforceable"), "schema: test_formats_are_enforced")
    | {"lint": "schema: test_a_format_that_nobody_can_check_is_a_warning"},
    "B27": dict.fromkeys(("errors", "raised"), "schema: test_numbers_that_are_none_reach_no_validator"),
    "B30": {"schema_errors": "schema: test_findings_say_what_the_validator_says"},
    "B31": {"row_2_status": "schema: test_defaults_fold_only_where_asked"},
    "B32": dict.fromkeys(("against_original", "against_sent_schema"), "schema: test_null_for_not_given"),
    "B33": {"langchain_definitions": "pairing: test_directions_have_unmistakable_names"},
    "B35": dict.fromkeys(
        ("joined_by", "accuracy", "mean", "missing_cases"), "evidence: test_cases_are_joined_by_id_never_by_place"
    ),
    "B37": dict.fromkeys(("row_1", "row_2"), "matching: test_names_are_equal_only_as_declared"),
    "B38": dict.fromkeys(("rows", "raised"), "schema: test_each_agent_has_its_own_tools"),
    "B40": dict.fromkeys(("traces", "blank_lines"), "reading: test_records_end_at_newlines_only")
    | {
        "rejected": "reading: test_a_bad_line_is_one_row_of_rejects",
        "exit": "reading: test_how_many_rejects_are_too_many_is_the_callers_to_say",
    },
    "B42": {
        "calls": "reading: test_a_free_text_tool_is_compared_as_text",
        "malformed_rows": "reading: test_a_malformed_entry_never_takes_its_neighbours_along",
        "raised": "reading: test_a_malformed_entry_never_takes_its_neighbours_along",
    },
    "B43": dict.fromkeys(("calls", "wrapper", "pairs_optimal"), "reading: test_a_dispatcher_is_unwrapped_by_rule_only"),
    "B46": {"compared_as": "matching: test_a_declared_time_is_compared_as_an_instant"},
    "B49": {
        "ignored_paths": "matching: test_arguments_of_the_framework_are_ignored_where_declared",
        "masked": "matching: test_a_bearer_token_is_masked_and_still_compared",
    },
    "B51": {"output_calls": "pairing: test_the_answer_as_a_tool_call_counts_only_where_nobody_declared_it"},
    "B52": dict.fromkeys(
        ("args_column_type", "rows", "query_works"), "reading: test_arguments_are_text_whatever_their_keys"
    ),
}
"""Fields of a case that are not one number of one trace, and the tests that hold them."""

WAITING: dict[str, str] = {}
"""Cases about formats that are not read yet."""

WAITING_FIELDS: dict[str, dict[str, str]] = {}
"""Fields of other cases that wait."""

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "B31": {
        "strict_args": {},
        "with_schema_defaults_folded": {"normalize": {"*": {"page": {"default": {"schema": True}}}}},
    },
    "B32": {"raw": {}, "with_null_equals_missing": {"normalize": {"find": {"limit": "null_is_missing"}}}},
    "B33": {"article_definitions": {}},
    "B46": {"under_rule_exact": {"normalize": {"book": {"at": "exact"}}}, "by_default (format date-time)": {}},
    "B49": {"with_ignore": {"normalize": {"*": {"_auth": "ignore"}}}, "without_ignore": {}},
}
"""Suites under which a case has results of its own."""

PLAIN = ("accuracy_optimal", "accuracy_positional", "strict", *SETS)
CHECKED = {*PLAIN, "pairs_optimal", "schema_valid", "calls", "calls_scored", "arguments_state"}
"""Fields that are read off the tables."""


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in json.loads((shared / "cases" / "faults.json").read_text(encoding="utf-8"))}


def calls_of(case: dict[str, Any]) -> bool:
    """Whether the case is one list of calls, native or as a chat message."""
    given = case["input"]
    return case["id"] not in WAITING and any(
        key in given for key in ("actual", "actual_raw_arguments", "message", "contents")
    )


def scored(folder: Path, given: dict[str, Any], extra: dict[str, Any]) -> tl.Results:
    """The case through the engine."""
    line: dict[str, Any] = {"trace_id": "t"}
    if "message" in given:
        line["messages"] = [{"role": "assistant", **given["message"]}]
    elif "contents" in given:
        line["contents"] = given["contents"]
    elif "actual" in given:
        line["tool_calls"] = given["actual"]
    else:
        tool = next(iter(given["tools"]))
        line["tool_calls"] = [{"name": tool, "arguments": text} for text in given["actual_raw_arguments"]]
    if "expected" in given:
        line["expected"] = given["expected"]
    suite = {"name": "s", "tools": {name: {"schema": schema} for name, schema in given.get("tools", {}).items()}}
    if "output_tools" in given:
        suite["match"] = {"output_tools": given["output_tools"]}
    return tl.score(write(folder, [line]), {**suite, **extra}, progress=False)


def observed(results: tl.Results, field: str, wanted: Any) -> Any:
    """What the tables say about a field."""
    row = by_trace(results.traces)["t"]
    if field == "pairs_optimal":
        counts = pair_counts(row)
        return counts if "malformed" in wanted else {name: counts[name] for name in wanted}
    if field == "schema_valid":
        blamed = results.findings.filter(severity="error", rung=1)["call_index"].to_list()
        valid = [index not in blamed for index in grouped(results.calls, "call_index")["t"]]
        return valid if isinstance(wanted, list) else all(valid)
    if field == "arguments_state":
        return results.calls["arguments_state"].item()
    return {"calls": row["n_calls_total"], "calls_scored": row["n_calls"]}.get(field, row.get(field))


def mechanical(case: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The results of a case that can be read off: where they stand, what the suite says more, the fields."""
    right, variants = case["right_result"], VARIANTS.get(case["id"], {})
    skip = {*ELSEWHERE.get(case["id"], {}), *WAITING_FIELDS.get(case["id"], {}), *variants}
    plain = {field: value for field, value in right.items() if field not in skip}
    if plain:
        yield "", {}, plain
    for name, extra in variants.items():
        yield name, extra, right[name]


def test_cases_of_lists_of_calls(cases, tmp_path):
    wrong, n = [], 0
    for key, case in cases.items():
        if not calls_of(case):
            continue
        for place, extra, fields in mechanical(case):
            unknown = set(fields) - CHECKED
            assert not unknown, (key, place, unknown)
            results = scored(tmp_path / f"{key}-{place[:4]}", case["input"], extra)
            n += len(fields)
            for field, wanted in fields.items():
                found = observed(results, field, wanted)
                if found != (pytest.approx(wanted, abs=5e-5) if isinstance(wanted, float) else wanted):
                    wrong.append((key, place, field, found, wanted))
    assert wrong == []
    assert n >= 100


def test_every_field_of_every_case_is_accounted_for(cases):
    for key, case in cases.items():
        if key in WAITING:
            assert key not in ELSEWHERE
            continue
        fields = set(case["right_result"])
        listed = {*ELSEWHERE.get(key, {}), *WAITING_FIELDS.get(key, {}), *VARIANTS.get(key, {})}
        assert listed <= fields, (key, listed - fields)
        left = fields - listed
        assert left <= (CHECKED if calls_of(case) else set()), (key, left)


def test_what_is_listed_exists(cases):
    assert {*WAITING, *ELSEWHERE, *WAITING_FIELDS, *VARIANTS} <= set(cases)
    for fields in ELSEWHERE.values():
        for place in fields.values():
            module, test = place.split(": ")
            text = (Path(__file__).parent / f"test_faults_{module}.py").read_text(encoding="utf-8")
            assert f"\ndef {test}(" in text, place
