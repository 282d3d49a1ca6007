"""Who is measured: one row per contender. Correctness of each is tested elsewhere; here each is only called."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.workload import Workload

Counter = Callable[[], int]


@dataclass(frozen=True)
class Contender:
    """One row of the table.

    Attributes:
        key: Short name, used on the command line of a child process.
        title: What the table says.
        reads: ``lines`` or ``table``.
        call: Takes the workload and an empty folder for results. What it returns counts the rows or traces it
            handled, after the clock has stopped.
    """

    key: str
    title: str
    reads: str
    call: Callable[[Workload, Path], Counter]


def _floor_lines(workload: Workload, _out: Path) -> Counter:
    from benchmarks.floors import read_lines

    rows = read_lines(workload.lines)
    return lambda: rows


def _floor_table(workload: Workload, _out: Path) -> Counter:
    from benchmarks.floors import read_table

    rows = read_table(workload.table)
    return lambda: rows


def _peer(workload: Workload, _out: Path) -> Counter:
    from benchmarks.peer import score_file

    traces = sum(1 for _ in score_file(workload.lines, workload.tools))
    return lambda: traces


def _tracelens(source: Path, workload: Workload, out: Path) -> Counter:
    import tracelens

    results = tracelens.score(source, tracelens.Suite.load(workload.suite), out=out)
    return lambda: int(results.traces.height)


def _tracelens_lines(workload: Workload, out: Path) -> Counter:
    return _tracelens(workload.lines, workload, out)


def _tracelens_table(workload: Workload, out: Path) -> Counter:
    return _tracelens(workload.table, workload, out)


CONTENDERS = (
    Contender("floor-lines", "DuckDB: read only, nothing scored", "lines", _floor_lines),
    Contender("tracelens-lines", "TraceLens: every rung, results on disk", "lines", _tracelens_lines),
    Contender("peer", "plain Python: four rungs, results dropped", "lines", _peer),
    Contender("floor-table", "DuckDB: read and `json_valid` only", "table", _floor_table),
    Contender("tracelens-table", "TraceLens: every rung, results on disk", "table", _tracelens_table),
)


def by_key(key: str) -> Contender:
    """The contender of that name.

    Example:
        >>> by_key("peer").reads
        'lines'
    """
    return next(contender for contender in CONTENDERS if contender.key == key)
