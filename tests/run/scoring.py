"""Helpers of the tests that run the whole engine: write a few traces, score them, look at rows by trace."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

import tracelens as tl
from tracelens.tables import STORED_TABLES

SETS = ("unordered", "subset", "superset")
SCORES = (
    *("strict", "unordered", "subset", "superset", "subset_partial", "superset_partial"),
    *("exact_order", "in_order", "any_order", "precision", "recall", "f1", "lcs", "first_divergence"),
    *("accuracy_positional", "accuracy_best_unused", "accuracy_optimal", "accuracy_graded", "golden_score"),
)
PAIRINGS = ("positional", "best_unused", "optimal")
COUNTS = tuple(
    f"n_{status}_{pairing}" for pairing in PAIRINGS for status in ("exact", "partial", "name_only", "missing", "extra")
)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """A call with its arguments."""
    return {"name": tool, "arguments": arguments}


def trace(trace_id: str, calls: Any, expected: Any = None, **more: Any) -> dict[str, Any]:
    """A trace, with its reference where one is given."""
    reference = {} if expected is None else {"expected": expected}
    return {"trace_id": trace_id, "tool_calls": calls, **reference, **more}


def asking(*calls: Any, **more: Any) -> dict[str, Any]:
    """An assistant message that asks for calls."""
    return {"role": "assistant", "tool_calls": list(calls), **more}


def asked(name: str, arguments: Any, call_id: str = "c1") -> dict[str, Any]:
    """A call inside an assistant message."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def write(folder: Path, lines: Iterable[Any], name: str = "in.jsonl") -> Path:
    """A file of those lines: objects are written as JSON, text and bytes as they are."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [line if isinstance(line, bytes) else _text(line).encode() for line in lines]
    path.write_bytes(b"".join(part + b"\n" for part in parts))
    return path


def _text(line: Any) -> str:
    return line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)


def score(folder: Path, lines: Iterable[Any], suite: Mapping[str, Any] | None = None, **more: Any) -> tl.Results:
    """Score lines against a suite, through a file."""
    given = None if suite is None else tl.Suite.from_dict({"name": "s", **suite}, folder)
    return tl.score(write(folder, lines), given, progress=False, **more)


def tools(**schemas: Any) -> dict[str, Any]:
    """The suite's `tools`, from schemas by name."""
    return {"tools": {name: {"schema": schema} for name, schema in schemas.items()}}


def closed(*required: str, **properties: Any) -> dict[str, Any]:
    """A schema of an object without other members."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def by_trace(frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Rows of a table with one row a trace."""
    return {row["trace_id"]: row for row in frame.iter_rows(named=True)}


def column(frame: pl.DataFrame, name: str) -> dict[str, Any]:
    """One column of a table with one row a trace."""
    return dict(zip(frame["trace_id"], frame[name], strict=True))


def columns(frame: pl.DataFrame, *names: str) -> dict[str, tuple[Any, ...]]:
    """Some columns of a table with one row a trace."""
    return {row["trace_id"]: tuple(row[name] for name in names) for row in frame.iter_rows(named=True)}


def grouped(frame: pl.DataFrame, *names: str) -> dict[str, list[Any]]:
    """Some columns of all rows of each trace, in order; values themselves where it is one column."""
    out: dict[str, list[Any]] = {}
    for row in frame.iter_rows(named=True):
        values = tuple(row[name] for name in names)
        out.setdefault(row["trace_id"], []).append(values[0] if len(names) == 1 else values)
    return out


def pair_counts(row: Mapping[str, Any], pairing: str = "optimal") -> dict[str, int | None]:
    """How many pairs of each status a trace has, malformed entries among them."""
    statuses = ("exact", "partial", "missing", "extra")
    return {name: row[f"n_{name}_{pairing}"] for name in statuses} | {"malformed": row["n_malformed"]}


def errors(results: tl.Results) -> dict[str, list[tuple[str, str | None]]]:
    """Code and path of every error finding by trace; traces without one are absent."""
    return grouped(results.findings.filter(pl.col("severity") == "error"), "code", "path")


def table_bytes(results: tl.Results) -> dict[str, bytes]:
    """The bytes of every table file of a run."""
    return {name: (results.path / f"{name}.parquet").read_bytes() for name in STORED_TABLES}
