"""The action checks of tau2-bench."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, View, number


def matches(v: View, *, compare_args: Sequence[str] | None = None) -> Any:
    """Whether each golden action was taken."""
    return v.found(Equality.PYTHON, compare_args)


def action_reward(v: View, *, compare_args: Sequence[str] | None = None) -> Any:
    """Whether all were."""
    return number(v.reached(v.found(Equality.PYTHON, compare_args)) == v.m)


def check_actions(v: View, *, compare_args: Sequence[str] | None = None) -> Any:
    """Both together."""
    found = v.found(Equality.PYTHON, compare_args)
    return {"action_reward": number(v.reached(found) == v.m), "matches": found}


tau2 = Dialect(
    name="tau2",
    library="tau2-bench (ActionEvaluator)",
    version="1.0.1, repository at a2c0247, 2026-08-18",
    source="github.com/sierra-research/tau2-bench, src/tau2/evaluator/evaluator_action.py and data_model/tasks.py",
    reading=Reading(
        "refuses",
        "ValidationError: 1 validation error for ToolCall: arguments: Input should be a valid dictionary",
        null="refuses",
    ),
    metrics=(
        Metric("action_reward", action_reward, "1 if every call of E is found in A, else 0", "share"),
        Metric(
            "matches",
            matches,
            "by expected call: whether some call of A has its name and no other arguments",
            "verdicts",
        ),
        Metric("check_actions", check_actions, "action_reward and matches together", "verdicts", column=False),
    ),
    equality=(
        "names as they are; every argument that was made is expected, with an equal value by ==; with compare_args "
        "those arguments are equal or absent on both sides"
    ),
    empties=(
        "where m = 0 the reward is 1; where n = 0 < m it is 0; null for arguments is refused, calls without any, which "
        "its types do not know, are taken for calls with {}"
    ),
    duplicates="calls are not used up: one call answers to any number of expected ones",
    bugs=(
        "without compare_args only the arguments that were made are compared, so a call that leaves all of them out "
        "matches; == takes true for 1; JSON text within arguments is text; the benchmark looks for its actions among the "
        "calls of its simulated user, too, here only among the agent's"
    ),
)
