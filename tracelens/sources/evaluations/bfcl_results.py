"""Results of the Berkeley Function Calling Leaderboard: what models answered, as calls or as Python text.

A result is a list of calls, each an object from the function's name to its arguments, an object or JSON text, or it is
Python text, see `tracelens.sources.evaluations.python_calls`. Of several turns it is a list of lists of such results, a
response of the model each. Any other text is an answer in words. A result that tells of an error of the inference is no
answer: its calls count as not recorded. Tokens and seconds are counted for every response, or for all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import CALLS, TEXT, TRACES, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import ARRAY, NUMBER, OBJECT, STRING, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables
from tracelens.sources.chats.messages import Steps
from tracelens.sources.evaluations.alike import first_of, origin, put_together, trace_names
from tracelens.sources.evaluations.bfcl import keys_of, named
from tracelens.sources.evaluations.python_calls import PythonCall, calls_in
from tracelens.sources.evaluations.steps import at_steps, step_spans
from tracelens.sources.oddities import Oddities

I64 = npt.NDArray[np.int64]

COUNTED = {"input_tokens": "input_token_count", "output_tokens": "output_token_count", "latency": "latency"}
"""What is counted for every response, and where."""

FAILED = "Error during inference"
"""How a result begins that is no answer."""

REPAIR = "the call is written as Python"
"""The rule by which a call is read from text."""

_read = lru_cache(4096)(calls_in)


class BfclResults(JsonSource):
    """Results of models."""

    name = "bfcl"
    title = "BFCL results: function calls of models, as JSON or as Python text"
    seen = False
    sample = "bfcl.json"
    projection = Projection(
        Row(
            "line",
            capture={
                "id": "id",
                "result": "result",
                **COUNTED,
            },
            rows=[
                Row(
                    "step",
                    "result[*]",
                    rows=[
                        Row("call", ".*"),
                        Row(
                            "inner",
                            "[*]",
                            rows=[Row("inner_call", ".*"), Row("last", "[*]", rows=[Row("last_call", ".*")])],
                        ),
                    ],
                ),
                *[Row(name, f"{path}[*]", rows=[Row(f"{name}_inner", "[*]")]) for name, path in COUNTED.items()],
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Lines with ``id`` and ``result`` that are no results of something else."""
        keys = keys_of(head)
        if {"id", "result"} <= keys and keys & {"latency", "input_token_count", "output_token_count", "inference_log"}:
            return Sniff(95, "lines have id and result with latency or counts of tokens")
        if {"id", "result"} <= keys:
            return Sniff(60, "lines have id and result")
        return Sniff(0, "lines have no id with result")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line without an id or a result."""
        line = found["line"]
        yield from named(line)
        yield ~line.has("result", ARRAY, STRING), "a line has no result that is a list or a text"

    def tables(self, records: Records) -> Tables:
        """The tables of the good lines."""
        found, line, odd = records.found, records.found["line"], Oddities(records)
        n, said = line.n, Responses(found)
        calls, in_words = said.calls()
        case, result = line.text("id", STRING, NUMBER), line.text("result", STRING)
        failed = pc.fill_null(pc.starts_with(result, FAILED), False).to_numpy(zero_copy_only=False)
        odd.note(line, failed, "result", "tells of an error of the inference, so its calls count as not recorded")
        steps, of_response = said.steps(calls)
        sums = steps.per_trace(n)
        for name in ("input_tokens", "output_tokens"):
            sums[name] = odd.checked(line, name, sums[name], "whole")
        traces = table(
            TRACES,
            n,
            **origin(records),
            **trace_names(records, case),
            case_id=case,
            has_calls=~failed,
            final_answer=in_words,
            **sums,
        )
        return Tables(traces, calls, remarks=odd.found, spans=step_spans(steps, of_response, calls, n))


class Responses:
    """The responses of models in results: texts, and lists of calls.

    Attributes:
        place: int64[responses], ascending, where each begins in the block.
        trace: int64[responses].
    """

    def __init__(self, found: Projected) -> None:
        self._found = found
        line, step, inner = found["line"], found["step"], found["inner"]
        self._traces = [np.arange(line.n), step.parent.astype(np.int64)]
        for name in ("inner", "last"):
            self._traces.append(self._traces[-1][found[name].parent])
        cells = [line.cells("result"), *(found[name].cells("@") for name in ("step", "inner", "last"))]
        self._places = [cell.start.astype(np.int64) for cell in cells]
        self._texts = [line.text("result", STRING), *(found[name].text("@") for name in ("step", "inner", "last"))]
        empty = np.bincount(step.parent, minlength=line.n) == 0
        whole = [
            line.has("result", STRING) | (line.has("result", ARRAY) & (empty | _holds(step, OBJECT, line.n))),
            step.has("@", STRING) | _holds(inner, OBJECT, step.n),
            inner.has("@", STRING, ARRAY),
        ]
        place = np.concatenate([at[mask] for at, mask in zip(self._places, whole, strict=False)])
        trace = np.concatenate([of[mask] for of, mask in zip(self._traces, whole, strict=False)])
        order = np.argsort(place)
        self.place, self.trace = place[order], trace[order]

    def calls(self) -> tuple[pa.Table, pa.Array]:
        """The calls, see `tracelens.columns.CALLS`, and the last words of each trace."""
        found, n = self._found, self._found.top.n
        parts = []
        for level, name in enumerate(("call", "inner_call", "last_call")):
            call, holder = found[name], found[("step", "inner", "last")[level]]
            arguments, form = call.arguments("@")
            columns = {"name": call.text("@key"), "arguments": arguments, "form": form}
            columns |= {"repair": pa.nulls(call.n, TEXT), "response": self._places[level][holder.parent[call.parent]]}
            columns["trace"] = self._traces[level + 1][call.parent]
            parts.append((call.cells("@").start.astype(np.int64), columns))
        words: list[tuple[int, int, str]] = []
        parts += [self._written(level, words) for level in range(4)]
        _, columns = put_together(*parts)
        trace, of = columns["trace"].to_numpy(), at_steps(self.place, columns["response"].to_numpy())
        first = group_offsets(self.trace, n)
        calls = table(
            CALLS,
            trace.size,
            trace=trace.astype(np.uint32),
            call_index=positions_in(group_offsets(trace, n)),
            name=columns["name"],
            malformed=pc.is_null(columns["name"]),
            arguments=columns["arguments"],
            arguments_form=columns["form"],
            turn=pa.array((of - first[trace]).astype(np.int32), mask=of < 0),
            depth=np.zeros(trace.size, np.int32),
            repair=columns["repair"],
        )
        words.sort()
        texts = pa.array([text for *_, text in words], TEXT)
        return calls, first_of(texts, np.array([trace for _, trace, _ in words], np.int64), n, last=True)

    def _written(self, level: int, words: list[tuple[int, int, str]]) -> tuple[I64, dict[str, Any]]:
        """Places and columns of the calls that texts of a level hold; texts that hold none are words."""
        places, traces = self._places[level], self._traces[level]
        rows: list[int] = []
        calls: list[PythonCall] = []
        for row, text in enumerate(self._texts[level].to_pylist()):
            some = None if text is None or text.startswith(FAILED) else _read(text)
            if some is None and text:
                words.append((int(places[row]), int(traces[row]), text))
            calls += some or []
            rows += [row] * len(some or [])
        at = np.array(rows, np.int64)
        above = at if level < len(self._places) - 1 else self._found["last"].parent[at]
        columns = {
            "name": pa.array([call.name for call in calls], TEXT),
            "arguments": pa.array([call.arguments for call in calls], TEXT),
            "form": pa.array([call.form for call in calls], pa.uint8()),
            "repair": pa.repeat(pa.scalar(REPAIR, TEXT), len(calls)),
            "response": self._places[min(level, 2)][above],
            "trace": traces[at],
        }
        return places[at], columns

    def steps(self, calls: pa.Table) -> tuple[Steps, I64]:
        """The calls of the model, and int64[calls]: which of them each call belongs to, -1 where it is not known.

        A result that counts fewer or more of them than it has responses is told as it counts.
        """
        n = self._found.top.n
        counts = {name: _counts(self._found, name) for name in COUNTED}
        responses = np.bincount(self.trace, minlength=n)
        most = np.max([np.bincount(of, minlength=n) for of, _ in counts.values()], axis=0)
        n_steps = np.where(most > 0, most, responses)
        first = group_offsets(np.repeat(np.arange(n), n_steps), n)
        columns = {}
        for name, (of, values) in counts.items():
            at = np.full(int(first[-1]), -1, np.int64)
            at[first[of] + positions_in(group_offsets(of, n))] = np.arange(of.size)
            columns[name] = values.take(pa.array(at, mask=at < 0))
        tokens = {name: columns[name].cast(pa.int64(), safe=False) for name in ("input_tokens", "output_tokens")}
        trace, turn = calls["trace"].to_numpy().astype(np.int64), calls["turn"].fill_null(-1).to_numpy()
        known = (turn >= 0) & (n_steps == responses)[trace]
        steps = Steps(
            np.repeat(np.arange(n), n_steps), tokens | {"duration_ms": pc.multiply(columns["latency"], 1000.0)}
        )
        return steps, np.where(known, first[trace] + turn, -1)


def _holds(rows: Found, kind: int, n: int) -> npt.NDArray[np.bool_]:
    """bool[n]: which rows above have one of that kind."""
    return np.bincount(rows.parent[rows.has("@", kind)], minlength=n) > 0


def _counts(found: Projected, name: str) -> tuple[I64, pa.Array]:
    """The traces and values of what is counted for each response, or once for all of them."""
    line, listed, inner = found["line"], found[name], found[f"{name}_inner"]
    parts = []
    for rows, column, trace in (
        (line, name, np.arange(line.n)),
        (listed, "@", listed.parent),
        (inner, "@", listed.parent[inner.parent]),
    ):
        at = np.flatnonzero(rows.has(column, NUMBER))
        mine = rows.taken(at)
        values = mine.float(column) if name == "latency" else mine.integer(column)
        parts.append(
            (mine.cells(column).start.astype(np.int64), {"value": values, "trace": trace[at].astype(np.int64)})
        )
    _, columns = put_together(*parts)
    return columns["trace"].to_numpy(), columns["value"]
