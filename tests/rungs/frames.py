"""Frames of calls and traces as the engine gives them to rungs, from a few words a call."""

import hashlib

import polars as pl

from tracelens.columns import numbered
from tracelens.rungs.facts import CallFacts
from tracelens.tables import polars_schema

CALLS = {"trace": pl.UInt32, **polars_schema("calls", without=["run_id", "trace_id"])}
TRACES = {
    "trace": pl.UInt32,
    "case_id": pl.String,
    "complete": pl.Boolean,
    "has_calls": pl.Boolean,
    "started_at": pl.Datetime("us", "UTC"),
    "cost": pl.Float64,
    "input_tokens": pl.Int64,
    "output_tokens": pl.Int64,
    "final_answer": pl.String,
}


def call(tool, arguments="{}", status=None, **more):
    """One call; its digest is that of the text, which stands in for canonical arguments."""
    state = more.get("arguments_state", "object")
    known = arguments is not None and state not in {"not_captured", "truncated"}
    digest = hashlib.sha256(arguments.encode()).digest() if known else None
    return {
        "tool": tool,
        "name": tool,
        "malformed": tool is None,
        "arguments": arguments,
        "arguments_state": state,
        "depth": 0,
        "status": status,
        "in_score": tool is not None,
        "output_tool": False,
        "handoff": False,
        "executed": status != "denied",
        "digest_hi": int.from_bytes(digest[:8], "little") if digest else None,
        "digest_lo": int.from_bytes(digest[8:16], "little") if digest else None,
        **more,
    }


def calls_of(*traces):
    """Calls of several traces, each a list of what `call` gives."""
    rows = [{"trace": t, "call_index": i, **row} for t, steps in enumerate(traces) for i, row in enumerate(steps)]
    return pl.DataFrame([{name: row.get(name) for name in CALLS} for row in rows], schema=CALLS)


def traces_of(*rows):
    """Traces from the columns that matter; complete and recorded unless they say otherwise."""
    full = [{"trace": i, "has_calls": True, **row} for i, row in enumerate(rows)]
    return pl.DataFrame([{name: row.get(name) for name in TRACES} for row in full], schema=TRACES)


def facts_of(calls, n_traces):
    """What is known of calls."""
    known = (
        ~calls["arguments_state"].is_in(["not_captured", "truncated"]) & calls["digest_hi"].is_not_null()
    ).to_numpy()
    digests = tuple(calls[name].fill_null(0).to_numpy() for name in ("digest_hi", "digest_lo"))
    tool, names = numbered(calls["tool"].to_arrow())
    return CallFacts.of(calls.to_arrow(), n_traces, tool, names, known, digests)


def asked(calls, traces):
    """Both frames as most rungs take them: facts and tables."""
    return facts_of(calls, traces.height), calls.to_arrow(), traces.to_arrow()
