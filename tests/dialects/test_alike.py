"""For all traces at once and for one pair of lists the numbers are the same, whatever the calls are."""

from __future__ import annotations

import json
import random

import pytest

from tests.dialects.scored import as_column, ask, close, single
from tracelens.dialects import DIALECTS

WORDS = ["", "a", "A", " a", "1", "1.0", "True", "None", "ß", "SS", "é", '{"a": 1}', "{'a': 1}", "[]", "\\n"]
NUMBERS = [0, 1, -1, 10**20, 2**53 + 1, 2**53, 0.0, -0.0, 1.0, 2.5, 0.1, 0.30000000000000004, 1e-5, 1e16, 1e22, 1e23]
PLAIN = [*WORDS, *NUMBERS, True, False, None]
ODD = ["{not json", "", " ", "null", "[1]", "3", '"x"', "NaN", '"{\\"a\\": 1}"', None, [1], [], 3, 0, True]
"""Arguments that are no object."""


def value(pick, depth=0):
    kind = pick.random()
    if kind < 0.8 or depth > 1:
        return pick.choice(PLAIN)
    inner = [value(pick, depth + 1) for _ in range(pick.randint(0, 2))]
    return inner if kind < 0.9 else dict(zip("ab", inner, strict=False))


def call(pick, odd):
    given = {"name": pick.choice(["f", "g", " f"]), "arguments": {k: value(pick) for k in "abc" if pick.random() < 0.4}}
    if pick.random() < odd:
        given["arguments"] = pick.choice([json.dumps(given["arguments"]), *ODD])
    if pick.random() < odd / 3:
        del given["arguments"]
    return given


def trace(pick):
    """A trace whose calls often are the expected ones, repeated or in another order."""
    odd = pick.choice([0, 0, 0.1, 0.4])
    expected = [call(pick, 0) for _ in range(pick.randint(0, 4))]
    for one in expected:
        if pick.random() < odd:
            one["arguments"] = pick.choice([None, "", json.dumps(one["arguments"])])
    made = [pick.choice(expected) for _ in range(pick.randint(0, 5))] if expected else []
    return {"tool_calls": made + [call(pick, odd) for _ in range(pick.randint(0, 2))], "expected": expected}


QUESTIONS = [
    *((each.name, metric.name, {}) for each in DIALECTS.values() for metric in each.metrics if metric.column),
    ("agentevals", "trajectory_strict_match", {"tool_args_match_mode": "subset"}),
    ("agentevals", "trajectory_strict_match", {"parallel": True}),
    ("agentevals", "trajectory_unordered_match", {"tool_args_match_mode": "superset"}),
    ("agentevals", "trajectory_subset_match", {"tool_args_match_mode": "subset"}),
    ("agentevals", "trajectory_superset_match", {"tool_args_match_mode": "superset"}),
    ("agentevals", "trajectory_superset_match", {"tool_args_match_overrides": {"f": ["a"], "g": "ignore"}}),
    ("ragas", "tool_call_accuracy", {"strict_order": False}),
    ("deepeval", "tool_correctness", {"evaluation_params": ["input_parameters"]}),
    ("deepeval", "tool_correctness_ordered", {"evaluation_params": ["input_parameters"]}),
    ("pydantic-evals", "argument_correctness", {"match_mode": "exact", "occurrence": "last"}),
    ("tau2", "matches", {"compare_args": []}),
    ("tau2", "matches", {"compare_args": ["a"]}),
    ("strands", "in_order_match_scorer", {"trajectory": "json of call"}),
    ("strands", "tool_called", {"tool_name": "g"}),
    ("azure", "f1_score", {"ground_truth": "names"}),
]
QUESTIONS = [each for each in QUESTIONS if each[1] != "structure_errors"]


@pytest.fixture(scope="module")
def traces():
    pick = random.Random(6)
    return [trace(pick) for _ in range(120)]


@pytest.fixture(scope="module")
def found(traces, tmp_path_factory):
    return ask(tmp_path_factory.mktemp("alike"), traces, QUESTIONS)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect(dialect, traces, found):
    for (name, metric, params), answers in zip(QUESTIONS, found, strict=True):
        for given, answer in zip(traces, answers, strict=True) if name == dialect else ():
            wanted = as_column(single(dialect, metric, given, params))
            assert close(answer, wanted) or (str(answer)[:1] == str(wanted)[:1] == "!"), (metric, params, given)


def test_the_traces_tell_dialects_apart(found):
    for question, answers in zip(QUESTIONS, found, strict=True):
        values = {json.dumps(answer) for answer in answers if not str(answer).startswith("!")}
        assert len(values) > 1, question
