"""The actual calls of a batch, read: names, arguments, and which of them enter the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tracelens import columns
from tracelens.arguments import S_OBJECT, STATES, Arguments, read_arguments
from tracelens.columns import Batch
from tracelens.kernels.scan import ERRORS
from tracelens.run.names import NameCodes, Names
from tracelens.suite import Suite

B1 = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]

STATE_TEXTS = pa.array(STATES, pa.large_string())


@dataclass(frozen=True, slots=True)
class Calls:
    """All recorded calls of a batch, row by row.

    Attributes:
        trace: int64[n], trace of each call, ascending.
        names: Codes and kinds.
        arguments: Their arguments.
        executed: bool[n], not denied.
        denied: bool[n].
        malformed: bool[n].
        in_score: bool[n], whether a call enters the scores.
    """

    trace: I64
    names: Names
    arguments: Arguments
    executed: B1
    denied: B1
    malformed: B1
    in_score: B1

    @property
    def scored_rows(self) -> I64:
        """Rows that enter the scores."""
        return np.flatnonzero(self.in_score)


def read_calls(batch: Batch, suite: Suite, codes: NameCodes) -> Calls:
    """Read the calls of a batch.

    Args:
        batch: Whole traces.
        suite: Says which names mean the same, and which calls count.
        codes: Gives out name codes; shared with the expected side.

    Returns:
        The calls, in order.
    """
    table = batch.calls
    names = codes.resolve(table["name"])
    malformed = columns.numbers(table["malformed"]).astype(np.bool_)
    denied = columns.numbers(pc.equal(table["status"], "denied"), default=False).astype(np.bool_)
    in_score = ~names.output_tool & ~names.handoff
    if suite.match.depth == "top":
        in_score &= columns.numbers(table["depth"]) == 0
    if suite.match.count == "executed":
        in_score &= ~denied
    arguments = read_arguments(table["arguments"], columns.numbers(table["arguments_form"]))
    trace = columns.numbers(table["trace"]).astype(np.int64)
    return Calls(trace, names, arguments, ~denied, denied, malformed, in_score)


def call_frame(batch: Batch, calls: Calls, codes: NameCodes) -> pl.DataFrame:
    """The calls as rungs get them, and as they are stored: everything but digests and schema verdicts.

    Texts of few distinct values are categorical.
    """
    table = batch.calls
    state = pa.DictionaryArray.from_arrays(pa.array(calls.arguments.state.astype(np.int32)), STATE_TEXTS)
    tool = pa.DictionaryArray.from_arrays(
        pa.array(calls.names.code, mask=calls.names.code < 0), pa.array(codes.names, pa.large_string())
    )
    arrow = {
        "trace": table["trace"],
        "call_index": table["call_index"],
        "tool": tool.cast(pa.large_string()),
        "name": table["name"],
        "malformed": table["malformed"],
        "arguments": argument_texts(batch, calls.arguments),
        "arguments_form": table["arguments_form"],
        "arguments_state": state.cast(pa.large_string()),
        "decoded_times": pa.array(calls.arguments.decoded_times),
        "arguments_repair": table["repair"],
        **{name: table[name] for name in ("call_id", "turn", "agent", "depth", "kind", "status", "wrapper", "result")},
        **{name: table[name] for name in ("error", "started_at", "duration_ms")},
        "executed": pa.array(calls.executed),
        "denied": pa.array(calls.denied),
        "in_score": pa.array(calls.in_score),
        "scored": pa.array(calls.in_score),
        "output_tool": pa.array(calls.names.output_tool),
        "handoff": pa.array(calls.names.handoff),
    }
    frame = pl.from_arrow(pa.table(arrow))
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table gives a frame; this tells the type checker
    return frame


def argument_texts(batch: Batch, arguments: Arguments) -> pa.ChunkedArray:
    """The text of each call's arguments, decoded where that took several steps; null where none was recorded."""
    given = batch.calls["arguments"]
    reopened = np.flatnonzero((arguments.decoded_times > 1) & (arguments.state <= S_OBJECT + 1))
    if reopened.size == 0:
        return given
    texts = given.to_pylist()
    for row in reopened:
        texts[row] = arguments.text(int(row)).decode()
    return pa.chunked_array([pa.array(texts, pa.large_string())])


def invalid_reason(arguments: Arguments, row: int) -> str:
    """Why a call's arguments are not one JSON value, with the byte where that shows.

    Example:
        >>> got = read_arguments(pa.array(['{"a":1']), np.array([columns.JSON_STRING], np.uint8))
        >>> invalid_reason(got, 0)
        'unterminated: the text ends inside a value (byte 6)'
    """
    return f"{ERRORS[int(arguments.error[row])]} (byte {int(arguments.position[row])})"
