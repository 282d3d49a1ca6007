"""How long every view and table macro takes over a results folder, also as a ratio to a bare scan of what it reads.

python -m benchmarks.stores FOLDER --traces 1000000
python -m benchmarks.views FOLDER/head --base FOLDER/base

A bare scan reads every column that the plan of the query reads, once, and looks at each value no closer than it must to
keep the last one. Answers are counted in the database, not fetched.
"""

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracelens.store import connect
from tracelens.store.connection import FILE_OF
from tracelens.store.layout import run_folders
from tracelens.store.objects import STORED, quoted
from tracelens.tables import STORED_TABLES

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Timed:
    """What one query took.

    Attributes:
        name: The view, or the call of the macro.
        rows: Rows of its answer.
        seconds: Median time.
        scan: Median time of the bare scan of the columns it reads.
    """

    name: str
    rows: int
    seconds: float
    scan: float

    @property
    def line(self) -> str:
        """A row of the table.

        Example:
            >>> Timed("funnel", 10, 0.2, 0.1).line
            '| `funnel` | 10 | 0.20 | 0.10 | 2.0 |'
        """
        ratio = f"{self.seconds / self.scan:.1f}" if self.scan else "–"  # a plan that reads nothing
        return f"| `{self.name}` | {self.rows:,} | {self.seconds:.2f} | {self.scan:.2f} | {ratio} |"


def queries(duck: "duckdb.DuckDBPyConnection") -> Iterator[tuple[str, str]]:
    """Every view but those of the plain tables, and the macros that give a table of one run: names and queries."""
    views = duck.execute(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = 'main' ORDER BY ALL"
    )
    for (view,) in views.fetchall():
        if view not in STORED_TABLES:
            yield view, f"FROM {view}"
    for name, arguments in (("pass_at_k", "3"), ("pass_hat_k", "3")):
        yield f"{name}({arguments})", f"FROM {name}({arguments})"


def comparisons(base: str, head: str) -> Iterator[tuple[str, str]]:
    """The macros that compare two runs: names and queries."""
    for name in ("compare_cases", "compare"):
        yield f"{name}(base, head)", f"FROM {name}({quoted(base)}, {quoted(head)})"


def columns_read(duck: "duckdb.DuckDBPyConnection", query: str) -> dict[str, set[str]]:
    """The columns that the plan of a query reads, by table."""
    (plan,) = json.loads(duck.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()[0][1])
    found: defaultdict[str, set[str]] = defaultdict(set)
    for names in _scans(plan):
        tables = [name.removeprefix(FILE_OF) for name in names if name.startswith(FILE_OF)]
        for table in tables:
            found[table] |= {name for name in names if not name.startswith(FILE_OF)}
    return dict(found)


def _scans(node: Any) -> Iterator[list[str]]:
    if node["name"].strip() == "READ_PARQUET":
        names = node["extra_info"].get("Projections", [])
        yield [names] if isinstance(names, str) else names
    for child in node["children"]:
        yield from _scans(child)


def _median(duck: "duckdb.DuckDBPyConnection", query: str, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        duck.execute(query).fetchall()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(duck: "duckdb.DuckDBPyConnection", name: str, query: str, rounds: int) -> Timed:
    """Time a query and its bare scan.

    Args:
        duck: What `connection` gave.
        name: What to call it.
        query: It.
        rounds: How often; the median counts.
    """
    scans = [
        f"SELECT {', '.join(f'last({column})' for column in sorted(names)) or 'count(*)'} FROM {STORED}.{table}"
        for table, names in columns_read(duck, query).items()
    ]
    count = f"SELECT count(*) FROM ({query})"
    duck.execute(f"CREATE OR REPLACE TEMP TABLE answer AS {query}")
    seconds = _median(duck, f"CREATE OR REPLACE TEMP TABLE answer AS {query}", rounds)
    return Timed(
        name, duck.execute(count).fetchall()[0][0], seconds, sum(_median(duck, each, rounds) for each in scans)
    )


def main(arguments: list[str] | None = None) -> None:
    """Print the table.

    Args:
        arguments: The command line; None takes the process's own.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.views", description=__doc__.split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--base", type=Path, help="another results folder, to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args(arguments)
    print("| view or macro | rows | seconds | bare scan | ratio |\n|---|---:|---:|---:|---:|")
    with connect(chosen.results) as duck:
        for name, query in queries(duck):
            print(measure(duck, name, query, chosen.rounds).line, flush=True)
    if chosen.base is not None:
        folders = [run_folders(each)[-1] for each in (chosen.base, chosen.results)]
        with connect(*folders) as duck:
            for name, query in comparisons(*(folder.name for folder in folders)):
                print(measure(duck, name, query, chosen.rounds).line, flush=True)


if __name__ == "__main__":
    main()
