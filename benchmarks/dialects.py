"""What dialects cost: a run with ten of them against the same run without any, by turns in one process.

python -m benchmarks.dialects
python -m benchmarks.dialects --traces 2000 --rounds 1
"""

import argparse
import statistics
import tempfile
import time
import tomllib
from pathlib import Path

from benchmarks.workloads import write

TEN = (
    "article", "futureagi", "agentevals", "adk", "azure", "ragas", "deepeval", "mlflow", "pydantic-evals", "tau2",
)  # fmt: skip
"""Those that reproduce a library's own accuracy, and the article."""


def seconds(
    workload: str, traces: int, rounds: int, dialects: tuple[str, ...] = TEN
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Median seconds of a whole run, results on disk, without dialects and with them: by the clock, and of all cores.

    Args:
        workload: Name of a workload.
        traces: How many.
        rounds: Runs of each kind, by turns.
        dialects: Which.
    """
    from tracelens.run.score import score_run
    from tracelens.suite import Suite

    with tempfile.TemporaryDirectory() as folder:
        made, few = (write(workload, Path(folder) / str(n), n) for n in (traces, min(traces, 50)))
        plain = tomllib.loads(made.suite.read_text(encoding="utf-8"))
        more = {**plain, "match": {**plain.get("match", {}), "dialects": list(dialects)}}
        suites = [Suite.from_dict(each, made.suite.parent) for each in (plain, more)]
        for suite in suites:
            score_run(few.lines, suite, out=Path(folder) / "warm")
        clock: tuple[list[float], list[float]] = ([], [])
        cores: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds):
            for which, suite in enumerate(suites):
                start, worked = time.perf_counter(), time.process_time()
                score_run(made.lines, suite, out=Path(folder) / f"{number}-{which}")
                clock[which].append(time.perf_counter() - start)
                cores[which].append(time.process_time() - worked)
        middle = [(statistics.median(without), statistics.median(with_them)) for without, with_them in (clock, cores)]
        return middle[0], middle[1]


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--workload", default="mixed")
    options.add_argument("--traces", type=int, default=50_000)
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    clock, cores = seconds(chosen.workload, chosen.traces, chosen.rounds)
    print(f"{chosen.workload}, {chosen.traces:,} traces, median of {chosen.rounds}, by turns")
    print(f"without dialects      {clock[0]:7.2f} s   of all cores {cores[0]:7.2f} s")
    print(f"with {len(TEN)} dialects      {clock[1]:7.2f} s   of all cores {cores[1]:7.2f} s")
    print(f"times                 {clock[1] / clock[0]:7.2f}                  {cores[1] / cores[0]:7.2f}")


if __name__ == "__main__":
    main()
