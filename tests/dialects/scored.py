"""Dialects asked for all traces at once, for tests that know what each library says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tracelens as tl
from tests.run.scoring import score
from tracelens.dialects import DIALECTS

Asked = tuple[str, str, dict[str, Any]]
"""Dialect, metric and parameters."""

PARTS = {"check_actions": ("action_reward", "matches")}
"""Metrics that are several columns."""


def columns_of(dialect: str, metric: str) -> list[str]:
    """The metrics whose columns hold what is asked."""
    name = DIALECTS[dialect].metric(metric).name
    return list(PARTS.get(name, (name,)))


def suite_of(asked: list[Asked], **more: Any) -> dict[str, Any]:
    """A suite that asks for all of them, the i-th under the label ``<dialect>_i``."""
    entries = [
        {"use": dialect, "name": f"{dialect}_{i}", "metrics": columns_of(dialect, metric), "params": params}
        for i, (dialect, metric, params) in enumerate(asked)
    ]
    return {"match": {"dialects": entries}, **more}


def ask(folder: Path, traces: list[dict[str, Any]], asked: list[Asked], **more: Any) -> list[list[Any]]:
    """The library's values by question and trace, as the columns have them; refusals are texts that begin with ``!``."""
    lines = [{"trace_id": f"{n:05}", **trace} for n, trace in enumerate(traces)]
    frame = score(folder, lines, suite_of(asked, **more)).traces.sort("trace_id")
    return [
        _values(frame, f"{dialect}_{i}__", columns_of(dialect, metric)) for i, (dialect, metric, _) in enumerate(asked)
    ]


def _values(frame: Any, label: str, names: list[str]) -> list[Any]:
    refused = frame[f"{label}refused"].to_list()
    parts = {name: frame[label + name].to_list() for name in names}
    parts = {name: [json.loads(v) if isinstance(v, str) else v for v in values] for name, values in parts.items()}
    rows = [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]
    whole = [next(iter(row.values())) if len(row) == 1 else row for row in rows]
    return [f"!{reason}" if reason else value for value, reason in zip(whole, refused, strict=True)]


def single(dialect: str, metric: str, trace: dict[str, Any], params: dict[str, Any]) -> Any:
    """The same for one pair of lists."""
    verdict = DIALECTS[dialect].verdict(metric, trace["tool_calls"], trace["expected"], **params)
    return f"!{verdict.reason}" if verdict.reason else verdict.value


def as_column(value: Any) -> Any:
    """A library's value as its column has it."""
    return {"yes": 1.0, "no": 0.0}.get(value, value) if isinstance(value, str) else value


def close(one: Any, other: Any) -> bool:
    """Whether two values are equal, up to rounding."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) < 1e-9
    return bool(one == other)


__all__ = ["as_column", "ask", "close", "columns_of", "single", "suite_of", "tl"]
