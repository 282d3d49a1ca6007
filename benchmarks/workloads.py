"""Writes a seeded workload: native JSON lines, a Parquet table of calls, the tools and the suite.

Traces are made in chunks, each from a seed of its own, so memory does not grow with their number and any chunk can be
made alone.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import flights, hostile, mixed
from benchmarks.workload import Workload

Call = tuple[str, str]
Trace = tuple[str, list[Call], list[Call]]
"""Trace id, actual calls, expected calls; a call is a tool name and arguments as JSON text."""

CHUNK = 10_000
"""Traces per chunk."""

MAKERS: dict[str, Callable[[Random], tuple[list[Call], list[Call]]]] = {
    "flights": flights.trace,
    "mixed": mixed.trace,
    "hostile": hostile.trace,
}

SUITE = """\
name = "{name}"
tools_file = "tools.json"

[invariants]
max_calls = 12

[safety]
packs = ["shell", "paths", "secrets", "destructive", "network"]
"""

CALL_TABLE = pa.schema(
    [
        ("trace_id", pa.string()),
        ("case_id", pa.string()),
        ("row", pa.string()),
        ("reference_index", pa.int32()),
        ("name", pa.string()),
        ("arguments", pa.string()),
    ]
)
"""One row per call; ``row`` says whether it was made (``call``) or wanted (``expected``), or stands for the trace itself."""


def chunks(name: str, traces: int, seed: int = 1) -> Iterator[list[Trace]]:
    """The traces of a workload, a chunk at a time.

    Args:
        name: The workload.
        traces: How many.
        seed: Another seed gives other traces.

    Yields:
        Lists of at most :data:`CHUNK` traces.

    Example:
        >>> [len(chunk) for chunk in chunks("flights", 10_001)]
        [10000, 1]
    """
    maker = MAKERS[name]
    for start in range(0, traces, CHUNK):
        rng = Random(f"{name}-{seed}-{start}")
        yield [(f"{name}-{index:07d}", *maker(rng)) for index in range(start, min(start + CHUNK, traces))]


def line(trace: Trace) -> str:
    """A trace as one native line.

    Example:
        >>> json.loads(line(("t", [("f", "{}")], [])))["tool_calls"]
        [{'name': 'f', 'arguments': {}}]
    """
    trace_id, actual, expected = trace
    calls = ",".join([f'{{"name":"{tool}","arguments":{arguments}}}' for tool, arguments in actual])
    wanted = ",".join([f'{{"name":"{tool}","arguments":{arguments}}}' for tool, arguments in expected])
    return f'{{"trace_id":"{trace_id}","case_id":"{trace_id}","tool_calls":[{calls}],"expected":[{wanted}]}}\n'


def rows(chunk: list[Trace]) -> pa.Table:
    """A chunk as call rows; a trace without calls, or with nothing expected, is said by a ``trace`` row.

    Args:
        chunk: The traces.

    Returns:
        A table with the columns of :data:`CALL_TABLE`.
    """
    columns: dict[str, list[Any]] = {name: [] for name in CALL_TABLE.names}
    for trace_id, actual, expected in chunk:
        out: list[tuple[str, int | None, str | None, str | None]] = []
        if not (actual and expected):
            out.append(("trace", 0 if not expected else None, None, None))
        out += [("call", None, tool, arguments) for tool, arguments in actual]
        out += [("expected", 0, tool, arguments) for tool, arguments in expected]
        columns["trace_id"] += [trace_id] * len(out)
        columns["case_id"] += [trace_id] * len(out)
        for row, reference, tool, arguments in out:
            columns["row"].append(row)
            columns["reference_index"].append(reference)
            columns["name"].append(tool)
            columns["arguments"].append(arguments)
    return pa.table(columns, schema=CALL_TABLE)


def write(name: str, folder: Path, traces: int, seed: int = 1) -> Workload:
    """Write a workload's files; nothing is done where they are already there.

    Args:
        name: The workload.
        folder: Gets a folder of its own for this workload, size and seed.
        traces: How many traces.
        seed: Another seed gives other traces.

    Returns:
        Where the files are.
    """
    home = folder / f"{name}-{traces}-{seed}"
    workload = Workload(name, home, traces)
    if workload.suite.is_file():
        return workload
    home.mkdir(parents=True, exist_ok=True)
    with (
        workload.lines.open("w", encoding="utf-8", newline="\n") as lines,
        pq.ParquetWriter(workload.table, CALL_TABLE, compression="zstd") as table,
    ):
        for chunk in chunks(name, traces, seed):
            lines.writelines(map(line, chunk))
            table.write_table(rows(chunk))
    (home / "tools.json").write_text(json.dumps(workload.tools, indent=1), encoding="utf-8")
    workload.suite.write_text(SUITE.format(name=name), encoding="utf-8")
    return workload
