"""How the recorded values of other libraries are asked of the dialects."""

from __future__ import annotations

from typing import Any

CASEFOLDED = "callable: compare casefolded json.dumps"
DESCRIPTIONS = {
    "shape",
    "compares",
    "steps",
    "api",
    "expected",
    "checks",
    "note",
    "actual_shape",
    "trajectory_match_mode",
}
"""Parameters of the records that describe how they were made."""

METRICS = {
    "TaskNavigationEfficiency": "task_navigation_efficiency",
    "TaskNavigationEfficiency.precision_score": "precision_score",
    "TaskNavigationEfficiency.recall_score": "recall_score",
    "TaskNavigationEfficiency.f1_score": "f1_score",
    "ToolCorrectnessMetric": "tool_correctness",
    "ToolCallCorrectness": "tool_call_correctness",
    "ToolCorrectness": "tool_correctness",
    "TrajectoryMatch": "trajectory_match",
    "ArgumentCorrectness": "argument_correctness",
    "ToolCallAccuracy": "tool_call_accuracy",
    "ToolCallF1": "tool_call_f1",
    "ToolCalled": "tool_called",
    "ActionEvaluator._check_actions": "check_actions",
    "rung1_structure (error count)": "structure_errors",
    "rung2 exact_match rows": "exact_match",
    "rung4_tool_call_accuracy": "tool_call_accuracy",
    "TraceComparator.trace_score": "trace_score",
}

_FLIGHT = {
    "search_flights": {"origin": {"type": "string"}, "destination": {"type": "string"}, "date": {"type": "string"}},
    "book_flight": {"flight_id": {"type": "string"}},
}
SCHEMAS = {
    name: {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}
    for name, members in _FLIGHT.items()
}
"""What the worked example asks of its two tools."""


def casefolded(one: Any, other: Any) -> bool:
    """The function that the records name."""
    import json

    return json.dumps(one, sort_keys=True).casefold() == json.dumps(other, sort_keys=True).casefold()


def question(record: dict[str, Any]) -> tuple[str, dict[str, Any], list[Any]]:
    """Metric, parameters and expected calls of a record."""
    params = {name: value for name, value in record["params"].items() if name not in DESCRIPTIONS}
    metric, expected = record["metric"], record["expected"]
    if metric == "rung3_trajectory":
        return record["params"]["mode"], {}, expected
    if metric == "rung1_structure (error count)":
        return "structure_errors", {"schemas": SCHEMAS}, expected
    if record["params"].get("shape", "").startswith("all calls parallel"):
        params["parallel"] = True
    overrides = params.get("tool_args_match_overrides")
    if overrides:
        params["tool_args_match_overrides"] = {
            tool: casefolded if how == CASEFOLDED else how for tool, how in overrides.items()
        }
    if record["dialect"] == "mlflow" and record["params"]["expected"] == "name only":
        expected = [{"name": call["name"]} for call in expected]
    return METRICS.get(metric, metric), params, expected
