"""How far each stage of a run is from what the machine could do: processor time against bytes moved.

A stage that only copied its input to its output would take the bytes over the machine's copying rate: that is the roof
of all. Stages that parse or encode have a nearer one: the fastest library that does that alone. The notebook
``how_fast_and_why`` draws both; every figure is measured where it runs.
"""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.workload import Workload
from benchmarks.workloads import write
from tracelens.arguments import read_arguments
from tracelens.run.score import score_run
from tracelens.suite import Suite

COPIED = 1 << 27
"""Bytes that are copied to measure the copying rate: more than any cache holds."""

_JSON_TEXT = 3
"""How the table holds arguments: text that should be JSON."""


@dataclass(frozen=True)
class Run:
    """A profiled run on one thread.

    Attributes:
        workload: What was scored.
        seconds: Processor seconds by stage.
        results: The tables it wrote, by name.
        stored: Bytes of their files.
    """

    workload: Workload
    seconds: dict[str, float]
    results: dict[str, pa.Table]
    stored: int


def fastest(work: Callable[[], object], rounds: int = 3) -> float:
    """Processor seconds of the quickest of some rounds."""
    taken = []
    for _ in range(rounds):
        start = time.thread_time()
        work()
        taken.append(time.thread_time() - start)
    return min(taken)


def profiled(workload: Workload, warm_up: Workload) -> Run:
    """Score a workload on one thread.

    Args:
        workload: What is measured.
        warm_up: What is scored before, so that nothing is loaded while the clock runs.
    """
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as folder:
        for number, each in enumerate((warm_up, workload)):
            run = score_run(each.lines, Suite.load(each.suite), out=Path(folder) / str(number), threads=1)
        files = sorted(run.glob("*.parquet"))
        tables = {file.stem: pq.read_table(file) for file in files}
        return Run(workload, _seconds(run), tables, sum(file.stat().st_size for file in files))


def _seconds(run: Path) -> dict[str, float]:
    seconds: dict[str, float] = orjson.loads((run / "run.json").read_bytes())["seconds"]
    return seconds


def rates(run: Run) -> pl.DataFrame:
    """What one core does with bytes, at best: a row a roof.

    Returns:
        Columns ``roof``, ``mb_per_second`` (bytes in and out), ``what``.
    """
    lines = run.workload.lines.read_bytes().splitlines()
    here, there = np.ones(COPIED, np.uint8), np.empty(COPIED, np.uint8)
    size = sum(table.nbytes for table in run.results.values())
    with tempfile.TemporaryDirectory() as folder:

        def encode() -> None:
            for name, table in run.results.items():
                pq.write_table(table, Path(folder) / name)

        def parse() -> None:
            for line in lines:
                orjson.loads(line)

        rows = [
            ("copy", 2 * COPIED / fastest(lambda: np.copyto(there, here)), "NumPy copies an array in memory"),
            ("parse", sum(map(len, lines)) / fastest(parse), "orjson parses"),
            ("encode", (size + run.stored) / fastest(encode), "PyArrow writes the same tables with its defaults"),
        ]
    return pl.DataFrame(
        {
            "roof": [row[0] for row in rows],
            "mb_per_second": [row[1] / 1e6 for row in rows],
            "what": [r[2] for r in rows],
        }
    )


def moved(run: Run) -> dict[str, int]:
    """Bytes that each stage has to read and to write, all in all."""
    lines, given = run.workload.lines.stat().st_size, pq.read_table(run.workload.table)
    arguments = given["arguments"].combine_chunks().cast(pa.large_string())
    tape = sum(part.nbytes for part in read_arguments(arguments, np.full(len(arguments), _JSON_TEXT, np.uint8)).tape)
    size = {name: table.nbytes for name, table in run.results.items()}
    whole = sum(size.values())
    return {
        "read": 2 * lines,
        "parse": lines + given.nbytes,
        "arguments": arguments.nbytes + tape,
        "schemas": tape + size["findings"],
        "matching": size["pairs"] + size["traces"],
        "differences": tape + size["argument_diffs"],
        "tables": whole,
        "write": whole + run.stored,
    }


def stages(run: Run) -> pl.DataFrame:
    """What each stage takes, and the least that its bytes could take.

    Returns:
        A row a stage whose bytes can be counted, in the order of the run: ``stage``, ``us`` (processor time a trace),
        ``bytes`` (read and written a trace), ``mb_per_second``.
    """
    traces = run.workload.traces
    rows = [
        {"stage": stage, "us": run.seconds[stage] * 1e6 / traces, "bytes": size / traces}
        for stage, size in moved(run).items()
    ]
    return pl.DataFrame(rows).with_columns(mb_per_second=pl.col("bytes") / pl.col("us"))


def measured(traces: int, folder: Path) -> Run:
    """The mixed workload of some size, scored.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run = measured(40, Path(folder))
        ...     stages(run)["stage"].to_list()
        ['read', 'parse', 'arguments', 'schemas', 'matching', 'differences', 'tables', 'write']
    """
    return profiled(write("mixed", folder, traces), write("mixed", folder, 50))
