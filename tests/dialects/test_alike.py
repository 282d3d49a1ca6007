"""For all traces at once and for one pair of lists the numbers are the same, whatever the calls are."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.scored import as_column, ask, close, single
from tracelens.dialects import DIALECTS

WORDS = ["", "a", "A", " a", "1", "1.0", "True", "None", "ß", "SS", "é", '{"a": 1}', "{'a': 1}", "[]", "\\n"]
NUMBERS = [0, 1, -1, 10**20, 2**53 + 1, 2**53, 0.0, -0.0, 1.0, 2.5, 0.1, 0.30000000000000004, 1e-5, 1e16, 1e22, 1e23]
plain = st.one_of(st.sampled_from(WORDS), st.sampled_from(NUMBERS), st.booleans(), st.none())
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner), max_leaves=3
)
objects = st.dictionaries(st.sampled_from("abc"), values, max_size=3)
odd = st.one_of(objects.map(json.dumps), st.just("{not json"), st.just([1]), st.just(3))
names = st.sampled_from(["f", "g", " f"])


def calls(arguments):
    one = st.builds(lambda name, given: {"name": name, "arguments": given}, names, arguments)
    return st.lists(one, max_size=4)


@st.composite
def traces(draw):
    """A trace whose calls often are the expected ones, repeated or in another order."""
    expected = draw(calls(objects))
    made = draw(st.lists(st.sampled_from(expected), max_size=5)) if expected else []
    made += draw(calls(st.one_of(objects, objects, objects, odd)))[:2]
    return {"tool_calls": made, "expected": expected}


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


@settings(max_examples=3)
@given(st.lists(traces(), min_size=12, max_size=12))
def test_every_dialect(given_traces):
    with tempfile.TemporaryDirectory() as folder:
        found = ask(Path(folder), given_traces, QUESTIONS)
    for (dialect, metric, params), answers in zip(QUESTIONS, found, strict=True):
        for trace, answer in zip(given_traces, answers, strict=True):
            wanted = as_column(single(dialect, metric, trace, params))
            assert close(answer, wanted) or (str(answer)[:1] == str(wanted)[:1] == "!"), (
                dialect,
                metric,
                params,
                trace,
            )
