"""Faults of pairing and of scores from names: greed, duplicates, nothing at all, directions, calls that do not count."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.run.scoring import (
    COUNTS,
    SCORES,
    SETS,
    by_trace,
    call,
    column,
    columns,
    grouped,
    pair_counts,
    score,
    tools,
    trace,
)


def none_made(**counts):
    return dict.fromkeys(("exact", "partial", "missing", "extra", "malformed"), 0) | counts


def test_an_early_call_does_not_take_a_later_ones_exact_partner(tmp_path):
    """However both lists are ordered, the pairing that earns most is found."""
    plain = ([call("hold", a=7), call("hold", a=1)], [call("hold", a=1), call("hold", a=3)])
    three = (
        [call("hold", a=9), call("hold", a=2), call("ask"), call("hold", a=1)],
        [call("hold", a=1), call("hold", a=2), call("hold", a=5)],
    )
    matchers = ([call("hold", a=1), call("hold", a=2)], [call("hold", a={"$any": True}), call("hold", a=1)])
    lines, wanted = [], {}
    for name, (actual, expected), accuracy, counts in (
        ("plain", plain, 0.75, none_made(exact=1, partial=1)),
        ("three", three, 2.5 / 4, none_made(exact=2, partial=1, extra=1)),
        ("matchers", matchers, 1.0, none_made(exact=2)),
    ):
        for i, a in enumerate(permutations(actual)):
            for j, e in enumerate(permutations(expected)):
                lines.append(trace(f"{name}-{i}-{j}", list(a), list(e)))
                wanted[f"{name}-{i}-{j}"] = (accuracy, counts)
    results = score(tmp_path, lines)
    found = {key: (row["accuracy_optimal"], pair_counts(row)) for key, row in by_trace(results.traces).items()}
    assert found == wanted
    order_free = [*SETS, "subset_partial", "superset_partial", "any_order", "precision", "recall", "f1"]
    for name in ("plain", "three", "matchers"):
        rows = [row for key, row in by_trace(results.traces).items() if key.startswith(name)]
        assert len({tuple(row[score] for score in order_free) for row in rows}) == 1


def test_each_pairing_keeps_its_own_meaning(tmp_path):
    """The best pairing never replaces the other two."""
    rows = ["positional", "best_unused", "optimal"]
    actual, expected = [call("hold", a=7), call("hold", a=1)], [call("hold", a=1), call("hold", a=3)]
    matchers = ([call("hold", a=1), call("hold", a=2)], [call("hold", a={"$any": True}), call("hold", a=1)])
    results = score(
        tmp_path, [trace("values", actual, expected), trace("matchers", *matchers)], {"match": {"rows": rows}}
    )
    names = [f"accuracy_{pairing}" for pairing in rows]
    assert columns(results.traces, *names) == {"values": (0.5, 0.5, 0.75), "matchers": (0.75, 0.75, 1.0)}
    assert grouped(results.pairs, "pairing", "call_index", "expected_index", "status")["values"] == [
        ("positional", 0, 0, "partial"),
        ("positional", 1, 1, "partial"),
        ("best_unused", 0, 0, "partial"),
        ("best_unused", 1, 1, "partial"),
        ("optimal", 0, 1, "partial"),
        ("optimal", 1, 0, "exact"),
    ]


def test_a_suite_may_want_no_rows_at_all(tmp_path):
    results = score(tmp_path, [trace("t", [call("a", x=1)], [call("a", x=2)])], {"match": {"rows": []}})
    assert results.pairs.is_empty()
    assert results.argument_diffs.is_empty()
    row = by_trace(results.traces)["t"]
    assert (row["accuracy_optimal"], row["reasons"][0]) == (0.5, "call 0: a.x is 1, expected 2")


def test_identical_calls_are_each_a_call_of_their_own(tmp_path):
    poll = call("poll", job=5)
    lines = [
        trace("both", [poll] * 2, [poll] * 2),
        trace("five", [poll] * 5, [poll] * 5),
        trace("no arguments", [call("tick")] * 2, [call("tick")] * 2),
        trace("one too many", [poll] * 3, [poll] * 2),
        trace("one too few", [poll] * 2, [poll] * 3),
        trace("between others", [poll, call("wait"), poll], [poll, call("wait"), poll]),
        trace("any arguments", [poll] * 2, [{"name": "poll"}] * 2),
    ]
    results = score(tmp_path, lines)
    rows = by_trace(results.traces)
    assert {name: pair_counts(row) for name, row in rows.items()} == {
        "both": none_made(exact=2),
        "five": none_made(exact=5),
        "no arguments": none_made(exact=2),
        "one too many": none_made(exact=2, extra=1),
        "one too few": none_made(exact=2, missing=1),
        "between others": none_made(exact=3),
        "any arguments": none_made(exact=2),
    }
    for accuracy in ("accuracy_optimal", "accuracy_positional", "accuracy_best_unused", "strict"):
        assert {name: row[accuracy] for name, row in rows.items()} == dict.fromkeys(rows, 1.0) | {
            "one too many": 2 / 3,
            "one too few": 2 / 3,
        }
    assert {tuple(row[name] for name in SETS) for row in rows.values()} == {(1.0, 1.0, 1.0)}


def test_doing_nothing_where_nothing_is_expected_is_perfect(tmp_path):
    a = call("a")
    lines = [
        trace("nothing", [], []),
        trace("no reference", []),
        {"trace_id": "null reference", "tool_calls": [], "expected": None},
        {"trace_id": "no references", "tool_calls": [], "references": []},
        {"trace_id": "one empty reference", "tool_calls": [], "references": [[]]},
        trace("done too much", [a], []),
        trace("done too little", [], [a]),
    ]
    results = score(tmp_path, lines)
    perfect = tuple({"first_divergence": None, "golden_score": 100.0}.get(name, 1.0) for name in SCORES)
    found = columns(results.traces, *SCORES)
    assert found["nothing"] == found["one empty reference"] == perfect
    for name in ("no reference", "null reference", "no references"):
        assert set(found[name]) == {None}
    rows = by_trace(results.traces)
    assert {name: row["n_expected"] for name, row in rows.items()} == {
        "nothing": 0,
        "no reference": None,
        "null reference": None,
        "no references": None,
        "one empty reference": 0,
        "done too much": 0,
        "done too little": 1,
    }
    assert all(rows["nothing"][name] == 0 for name in COUNTS)
    zero = ("strict", "accuracy_optimal", "accuracy_positional", "accuracy_best_unused", "accuracy_graded", "lcs", "f1")
    sets = ("subset", "superset", "subset_partial", "superset_partial", "unordered", "precision", "recall")
    assert [[rows[name][score] for score in zero] for name in ("done too much", "done too little")] == [[0.0] * 7] * 2
    assert [rows["done too much"][score] for score in sets] == [1, 0, 1, 0, 0, 0, 1]
    assert [rows["done too little"][score] for score in sets] == [0, 1, 0, 1, 0, 1, 0]
    assert column(results.traces, "golden_score")["done too much"] == 0.0
    assert {name for name, route in column(results.traces, "route").items() if route == "settled"} == {
        *("nothing", "no reference", "null reference", "no references", "one empty reference"),
    }


def test_arguments_that_are_both_empty_agree(tmp_path):
    """Nothing over nothing is no division."""
    lines = [
        trace(str(n), [{"name": "t", **given}], [{"name": "t", **wanted}])
        for n, (given, wanted) in enumerate(
            [({"arguments": {}}, {"arguments": {}}), ({}, {"arguments": {}}), ({"arguments": "{}"}, {})]
        )
    ]
    results = score(tmp_path, lines)
    assert results.pairs.select("status", "agreement").rows() == [("exact", 1.0)] * 3


@pytest.mark.parametrize("swap", [False, True])
def test_directions_have_unmistakable_names(tmp_path, swap):
    more, fewer = [call("auth"), call("fetch"), call("log")], [call("auth"), call("fetch")]
    actual, expected = (fewer, more) if swap else (more, fewer)
    results = score(tmp_path, [trace("t", actual, expected)])
    names = ("subset", "superset", "covers_expected", "only_expected", "strict", "unordered")
    found = results.sql(f"SELECT {', '.join(names)} FROM traces").row(0)
    covers, only = (0.0, 1.0) if swap else (1.0, 0.0)
    assert found == (covers, only, covers, only, 2 / 3, 2 / 3)


def test_the_answer_as_a_tool_call_counts_only_where_nobody_declared_it(tmp_path):
    work, answer = call("lookup", k=1), call("final_result", answer="42")
    lines = [
        trace("last", [work, answer], [work]),
        trace("both sides", [work, answer], [work, answer]),
        trace("twice", [answer, work, answer], [work]),
    ]
    declared = {"match": {"output_tools": ["final_result"]}, **tools(lookup={})}
    names = ("n_calls", "n_calls_total", "n_expected", "accuracy_optimal", "strict", "superset", "n_findings")
    assert columns(score(tmp_path, lines, declared).traces, *names) == {
        "last": (1, 2, 1, 1.0, 1.0, 1.0, 0),
        "both sides": (1, 2, 1, 1.0, 1.0, 1.0, 0),
        "twice": (1, 3, 1, 1.0, 1.0, 1.0, 0),
    }
    undeclared = score(tmp_path, lines, tools(lookup={}))
    assert columns(undeclared.traces, *names) == {
        "last": (2, 2, 1, 0.5, 0.5, 0.0, 2),
        "both sides": (2, 2, 2, 1.0, 1.0, 1.0, 1),
        "twice": (3, 3, 1, 1 / 3, 0.0, 0.0, 3),
    }
    assert set(undeclared.findings["code"]) == {"tool.unknown", "threshold.accuracy_optimal"}


def test_hand_offs_and_calls_of_sub_agents_do_not_count(tmp_path):
    """A declared hand-off acts on no tool, and what a sub-agent called is its own affair."""
    work = call("lookup", k=1)
    lines = [
        trace("hand-off", [call("transfer_to_sales"), work], [work]),
        trace("sub-agent", [work, {**call("lookup", k=2), "depth": 1}], [work]),
        trace("denied", [{**call("refund"), "status": "denied"}, work], [work]),
    ]
    declared = {"match": {"handoffs": ["transfer_to_*"]}}
    everything = {"match": {"depth": "all", "count": "executed"}}
    assert column(score(tmp_path, lines, declared).traces, "accuracy_optimal") == {
        "hand-off": 1.0,
        "sub-agent": 1.0,
        "denied": 0.5,
    }
    assert column(score(tmp_path, lines, everything).traces, "accuracy_optimal") == {
        "hand-off": 0.5,
        "sub-agent": 0.5,
        "denied": 1.0,
    }


def test_calls_that_do_not_count_keep_the_places_of_those_that_do(tmp_path):
    """A reference that was recorded from a run holds the same pseudo-calls; indices are those of the reference as written."""
    answer, hand_off, work = call("final_result", answer="42"), call("transfer_to_sales"), call("lookup", k=1)
    expected = [hand_off, call("lookup", k={"$range": [1, 2]}), answer, call("book", id=7), call("pay")]
    lines = [trace("t", [work, answer, call("book", id=8)], expected)]
    suite = {
        "match": {"output_tools": ["final_result"], "handoffs": ["transfer_to_*"], "rows": ["optimal", "positional"]}
    }
    results = score(tmp_path, lines, suite)
    row = by_trace(results.traces)["t"]
    assert (row["n_calls"], row["n_expected"], row["accuracy_optimal"], row["lcs"]) == (2, 3, 0.5, 2 / 3)
    for pairing in ("optimal", "positional"):
        rows = results.pairs.filter(pairing=pairing)
        assert rows.select("call_index", "expected_index", "status").rows() == [
            (0, 1, "exact"),
            (2, 3, "partial"),
            (None, 4, "missing"),
        ]
    assert results.argument_diffs.select("pairing", "expected_index", "path").rows() == [
        ("optimal", 3, "id"),
        ("positional", 3, "id"),
    ]
    assert results.steps.select("call_index", "expected_index").rows() == [(0, 1), (2, 3), (None, 4)]
    assert results.expected["expected_index"].to_list() == [0, 1, 2, 3, 4]
    assert "expected call 4: pay was not made" in row["reasons"]
    again = results.rescore({"name": "plain"})
    assert again.traces.select("n_calls", "n_expected").row(0) == (3, 5)
