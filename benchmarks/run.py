"""One command that measures everything and writes the README's table.

    python -m benchmarks.run                          # mixed at 200,000 traces, flights and hostile smaller
    python -m benchmarks.run --scale 0.001 --rounds 1 # a look in seconds
    python -m benchmarks.run --large 2000000          # the same workload, ten times longer: does memory grow?

Each measurement is a process of its own, which has handled a few traces before the clock starts. The
contenders take turns, so that a slow minute of the machine hits all of them; the median of the rounds counts. Rows that
TraceLens loses are printed like the others.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import table
from benchmarks.contenders import CONTENDERS
from benchmarks.costs import costs
from benchmarks.workload import Workload
from benchmarks.workloads import write

ROOT = Path(__file__).resolve().parent.parent
PROFILED = 20_000
"""Most traces of the run whose cost is told by stage."""

SIZES = {"mixed": 200_000, "flights": 200_000, "hostile": 5_000}
"""Traces per workload."""

WARM_UP = 50
"""Traces that each process handles before it is measured: nobody's imports count, nor the loading of compiled code."""


def child(key: str, workload: Workload, warm_up: Workload) -> dict[str, Any]:
    """Measure one contender in a process of its own.

    Args:
        key: The contender.
        workload: On what.
        warm_up: What it handles before the clock starts.

    Returns:
        What ``benchmarks.measure`` printed.

    Raises:
        RuntimeError: The child failed; its error text is in the message.
    """
    command = [
        sys.executable,
        "-m",
        "benchmarks.measure",
        key,
        workload.name,
        str(workload.folder),
        str(workload.traces),
        str(warm_up.folder),
        str(warm_up.traces),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{key} failed on {workload.name}: {done.stderr.strip()[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    processors = Path("/proc/cpuinfo")
    names = (
        [line for line in processors.read_text().splitlines() if "model name" in line] if processors.exists() else []
    )
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "processor": names[0].split(":", 1)[1].strip() if names else platform.processor(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def compare(workload: Workload, warm_up: Workload, rounds: int, keys: list[str]) -> list[dict[str, Any]]:
    """Measure contenders by turns.

    Args:
        workload: On what.
        warm_up: What each handles before.
        rounds: How often each.
        keys: Which contenders.

    Returns:
        One row per contender with the median of seconds and the maximum of memory.
    """
    seen: dict[str, list[dict[str, Any]]] = {key: [] for key in keys}
    for number in range(rounds):
        for key in keys:
            seen[key].append(child(key, workload, warm_up))
            print(f"{workload.name} {number + 1}/{rounds} {key}: {seen[key][-1]['seconds']} s", file=sys.stderr)
    return [_row(workload, key, runs) for key, runs in seen.items()]


def _row(workload: Workload, key: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    contender = next(one for one in CONTENDERS if one.key == key)
    source = workload.lines if contender.reads == "lines" else workload.table
    return {
        "workload": workload.name,
        "traces": workload.traces,
        "input_mb": round(source.stat().st_size / 1e6, 1),
        "contender": key,
        "title": contender.title,
        "reads": contender.reads,
        "seconds": round(statistics.median(float(run["seconds"]) for run in runs), 4),
        "all_seconds": [run["seconds"] for run in runs],
        "peak_mib": max(float(run["peak_mib"]) for run in runs),
    }


def options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--workloads", nargs="+", choices=sorted(SIZES), default=list(SIZES))
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies every workload's size")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", type=int, default=0, help="also score this many traces of mixed, once")
    parser.add_argument("--data", type=Path, default=ROOT / "benchmarks" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results.json")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Measure, write the figures, write the table.

    Args:
        arguments: The command line; None takes the process's own.
    """
    chosen = options(arguments)
    keys = [contender.key for contender in CONTENDERS]
    rows: list[dict[str, Any]] = []
    stages: dict[str, dict[str, float]] = {}
    for name in chosen.workloads:
        few = write(name, chosen.data, WARM_UP)
        workload = write(name, chosen.data, max(1, round(SIZES[name] * chosen.scale)))
        rows += compare(workload, few, chosen.rounds, keys)
        stages[name] = costs(write(name, chosen.data, min(workload.traces, PROFILED)))
    if chosen.large:
        ours = [key for key in keys if key.startswith("tracelens")]
        few = write("mixed", chosen.data, WARM_UP)
        rows += compare(write("mixed", chosen.data, chosen.large), few, 1, ours)
    figures = {"machine": machine(), "rounds": chosen.rounds, "rows": rows, "stages": stages}
    chosen.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    text = table.render(figures)
    table.insert(chosen.readme, text)
    print(text)


if __name__ == "__main__":
    main()
