"""The actual calls of a batch, read: names, arguments, and which of them enter the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens import columns
from tracelens.arguments import S_EMPTY, S_OBJECT, S_TEXT, STATES, CallArguments
from tracelens.columns import Batch, coded, nullable
from tracelens.run.names import NameCodes, Names
from tracelens.rungs.facts import CallFacts
from tracelens.suite import Suite

B1 = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]

U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Calls:
    """All recorded calls of a batch, row by row.

    Attributes:
        trace: int64[n], trace of each call, ascending.
        index: int32[n], position of each call in its trace.
        names: Codes and kinds.
        arguments: Their arguments.
        executed: bool[n], not denied.
        denied: bool[n].
        malformed: bool[n].
        in_score: bool[n], whether a call enters the scores.
    """

    trace: I64
    index: npt.NDArray[np.int32]
    names: Names
    arguments: CallArguments
    executed: B1
    denied: B1
    malformed: B1
    in_score: B1

    @property
    def scored_rows(self) -> I64:
        """Rows that enter the scores."""
        return np.flatnonzero(self.in_score)


def read_calls(batch: Batch, names: Names, arguments: CallArguments, suite: Suite) -> Calls:
    """Say which calls of a batch count.

    Args:
        batch: Whole traces.
        names: Codes and kinds of their calls.
        arguments: Their arguments.
        suite: Says which calls count.

    Returns:
        The calls, in order.
    """
    table = batch.calls
    malformed = columns.numbers(table["malformed"]).astype(np.bool_)
    denied = columns.numbers(pc.equal(table["status"], "denied"), default=False).astype(np.bool_)
    in_score = ~names.output_tool & ~names.handoff
    if suite.match.depth == "top":
        in_score &= columns.numbers(table["depth"]) == 0
    if suite.match.count == "executed":
        in_score &= ~denied
    trace = columns.numbers(table["trace"]).astype(np.int64)
    index = columns.numbers(table["call_index"])
    return Calls(trace, index, names, arguments, ~denied, denied, malformed, in_score)


def digested(arguments: CallArguments) -> B1:
    """bool[n]: calls whose arguments have a digest, being an object or a text."""
    state = arguments.state
    return np.asarray((state == S_OBJECT) | (state == S_EMPTY) | (state == S_TEXT), np.bool_)


def call_table(batch: Batch, calls: Calls, codes: NameCodes, hi: U64, lo: U64) -> pa.Table:
    """The calls as they are stored, with ``trace``: everything but schema verdicts.

    Args:
        batch: The batch.
        calls: Its calls.
        codes: Their names.
        hi: uint64[n], upper half of the digest of each call's arguments.
        lo: uint64[n], lower half.
    """
    table, unknown = batch.calls, ~digested(calls.arguments)
    as_given = (
        "trace",
        "call_index",
        "malformed",
        "arguments_form",
        "call_id",
        "turn",
        "agent",
        "depth",
        "kind",
    )
    return pa.table(
        {
            **{name: table[name] for name in as_given},
            **{name: table[name] for name in ("status", "wrapper", "result", "error", "started_at", "duration_ms")},
            "name": calls.names.raw,
            "tool": codes.coded(calls.names.code),
            "arguments": argument_texts(batch, calls.arguments),
            "arguments_state": coded(calls.arguments.state, STATES),
            "decoded_times": calls.arguments.distinct.decoded_times[calls.arguments.row],
            "arguments_repair": table["repair"],
            "executed": calls.executed,
            "denied": calls.denied,
            "in_score": calls.in_score,
            "output_tool": calls.names.output_tool,
            "handoff": calls.names.handoff,
            "digest_hi": nullable(hi, unknown),
            "digest_lo": nullable(lo, unknown),
        }
    )


def call_facts(batch: Batch, calls: Calls, names: Sequence[str], hi: U64, lo: U64) -> CallFacts:
    """What several rungs ask of the calls.

    Args:
        batch: The batch.
        calls: Its calls.
        names: Name of each tool.
        hi: uint64[n], upper half of the digest of each call's arguments.
        lo: uint64[n], lower half.
    """
    return CallFacts.of(
        batch.calls, batch.traces.num_rows, calls.names.code, names, digested(calls.arguments), (hi, lo)
    )


def argument_texts(batch: Batch, arguments: CallArguments) -> pa.ChunkedArray:
    """The text of each call's arguments, decoded where that took several steps; null where none was recorded."""
    given = batch.calls["arguments"]
    distinct = arguments.distinct
    reopened = np.flatnonzero(((distinct.decoded_times > 1) & (distinct.state <= S_EMPTY))[arguments.row])
    if reopened.size == 0:
        return given
    texts = given.to_pylist()
    for row in reopened:
        texts[row] = arguments.text(int(row)).decode()
    return pa.chunked_array([pa.array(texts, pa.large_string())])
