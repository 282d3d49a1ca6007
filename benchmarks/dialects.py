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


def seconds(workload: str, traces: int, rounds: int, dialects: tuple[str, ...] = TEN) -> tuple[float, float]:
    """Median seconds of a whole run, results on disk, without dialects and with them.

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
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds):
            for which, suite in enumerate(suites):
                start = time.perf_counter()
                score_run(made.lines, suite, out=Path(folder) / f"{number}-{which}")
                times[which].append(time.perf_counter() - start)
        return statistics.median(times[0]), statistics.median(times[1])


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--workload", default="mixed")
    options.add_argument("--traces", type=int, default=50_000)
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    without, with_all = seconds(chosen.workload, chosen.traces, chosen.rounds)
    print(f"{chosen.workload}, {chosen.traces:,} traces, median of {chosen.rounds}, by turns")
    print(f"without dialects      {without:7.2f} s")
    print(f"with {len(TEN)} dialects     {with_all:7.2f} s  {with_all / without:.2f} x")


if __name__ == "__main__":
    main()
